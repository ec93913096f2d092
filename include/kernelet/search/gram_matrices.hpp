#pragma once

#include <kernelet/search/node_steps.hpp>
#include <kernelet/search/search_problem.hpp>

#include <algorithm>
#include <vector>

namespace kernelet {

/// Sums over the samples of a weighted least-squares problem, Φ the kernel values, B = ∂Φ/∂(z/w, log θ) and t the
/// targets. The columns of one kernel stand together: [φ_j, B_j] for j = 1 ... K, then t.
struct GramMatrices {
    Matrix gram{};    ///< [Φ B t]' W [Φ B t], lower triangle
    Vector totals{};  ///< [Φ B t]' W 1
};

namespace detail {

/// One tile of samples of √W [φ_j, B_j] for the kernels within reach.
class GramTile {
public:
    /// Kernels farther from a tile than this fraction of their reach are left out: exp(−6²/2) = 1.5e-8 for a
    /// Gaussian. The final coefficients are fitted with nothing left out.
    static constexpr double reach_fraction = 0.7;

    GramTile(const SearchProblem& problem, const NodeSteps& steps, const Matrix& nodes, Index outputs)
        : problem_(problem),
          steps_(steps),
          nodes_(nodes),
          jet_(TiledPoints::tile, 1 + nodes.rows()),
          packed_(TiledPoints::tile, nodes.cols() * (1 + steps.size()) + outputs),
          reach_(nodes.cols()) {
        for (Index j = 0; j < nodes.cols(); ++j)
            reach_(j) = reach_fraction * reach_of(problem.kernel, column_ref(nodes, j));
    }

    /// Fills the tile with √W [φ_j, B_j], kernel by kernel, then √W t.
    void pack(Index t, const WorkingSquares& working) {
        const TiledPoints& points = problem_.points;
        const Index m = points.count(t), first = points.first(t);
        const double* root = working.root.data() + first;
        const Block jet = Block(jet_).part(0, 0, m, jet_.cols());
        const Block packed = Block(packed_).part(0, 0, m, packed_.cols());
        Index column = 0;
        kernels_.clear();
        for (Index j = 0; j < nodes_.cols(); ++j) {
            const ConstVectorRef node = column_ref(nodes_, j);
            if (!points.touches(t, node.data(), reach_(j))) continue;
            kernels_.push_back(j);
            problem_.kernel.jet(points.rows(t), node, matrix_ref(jet));
            scale_rows(packed.columns(column++, 1), root, jet.columns(0, 1));
            for (const Index row : steps_.rows())
                scale_rows(packed.columns(column++, 1), root, jet.columns(1 + row, 1),
                           steps_.unit(node, row));
        }
        copy(ConstBlock(working.target).part(first, 0, m, working.target.cols()),
             packed.columns(column, working.target.cols()));
    }

    /// The kernels within reach of the tile.
    const std::vector<Index>& kernels() const { return kernels_; }
    ConstBlock columns(Index rows, Index count) const { return ConstBlock(packed_).part(0, 0, rows, count); }

private:
    const SearchProblem& problem_;
    const NodeSteps& steps_;
    const Matrix& nodes_;
    Matrix jet_, packed_;
    Vector reach_;
    std::vector<Index> kernels_{};
};

/// Adds a small block to a matrix, from (row, column) on.
inline void add_small(Matrix& to, Index row, Index column, const ConstBlock& from) {
    for (Index j = 0; j < from.cols; ++j)
        for (Index i = 0; i < from.rows; ++i) to(row + i, column + j) += from(i, j);
}

}  // namespace detail

/// The sums at these nodes, tile by tile over the kernels that reach the tile. O(n (K̄ (1 + f))²), K̄ kernels in
/// reach of a tile. Holds one tile.
template <class Scalar = double>
GramMatrices gram_matrices(const SearchProblem& problem, const NodeSteps& steps, const Matrix& nodes,
                           const WorkingSquares& working) {
    const Index k = nodes.cols(), q = working.target.cols(), b = 1 + steps.size(), all = k * b + q;
    GramMatrices out{Matrix::Zero(all, all), Vector::Zero(all)};
    Matrix small(all, all);
    detail::GramTile tile(problem, steps, nodes, q);
    detail::add_product_tn<Scalar>(detail::Block(out.totals).part(k * b, 0, q, 1), working.target,
                                   working.root);
    for (Index t = 0; t < problem.points.tiles(); ++t) {
        tile.pack(t, working);
        const std::vector<Index>& here = tile.kernels();
        const auto count = static_cast<Index>(here.size());
        if (count == 0) continue;
        const Index m = problem.points.count(t), width = count * b + q;
        const detail::Block part = detail::Block(small).part(0, 0, width, width);
        detail::fill(part, 0.0);
        detail::rank_update_tn<Scalar>(part, tile.columns(m, width));
        Matrix column_sums = Matrix::Zero(count * b, 1);
        detail::add_product_tn<Scalar>(
            column_sums, tile.columns(m, count * b),
            detail::ConstBlock(working.root).part(problem.points.first(t), 0, m, 1));
        for (Index u = 0; u < count; ++u) {
            const Index ju = here[static_cast<std::size_t>(u)];
            for (Index c = 0; c < b; ++c) out.totals(ju * b + c) += column_sums(u * b + c);
            for (Index v = u; v < count; ++v)
                detail::add_small(out.gram, here[static_cast<std::size_t>(v)] * b, ju * b,
                                  part.part(v * b, u * b, b, b));
            detail::add_small(out.gram, k * b, ju * b, part.part(count * b, u * b, q, b));
        }
    }
    return out;
}

/// The sums without B, from kernel values Φ that are held, n x K. O(n K²).
template <class Scalar = double>
GramMatrices held_gram_matrices(const Matrix& phi, const WorkingSquares& working) {
    constexpr Index strip = 256;  // rows: with ten kernels, 20 KB
    const Index k = phi.cols(), q = working.target.cols();
    GramMatrices out{Matrix::Zero(k + q, k + q), Vector::Zero(k + q)};
    Matrix packed(strip, k + q);
    for (Index first = 0; first < phi.rows(); first += strip) {
        const Index m = std::min(strip, phi.rows() - first);
        const double* root = working.root.data() + first;
        const detail::Block rows = detail::Block(packed).part(0, 0, m, k + q);
        detail::scale_rows<Scalar>(rows.columns(0, k), root, detail::ConstBlock(phi).part(first, 0, m, k));
        detail::copy(detail::ConstBlock(working.target).part(first, 0, m, q), rows.columns(k, q));
        detail::rank_update_tn<Scalar>(out.gram, rows);
        detail::add_product_tn<Scalar>(out.totals, rows, detail::ConstBlock(root, m, 1, m));
    }
    return out;
}

}  // namespace kernelet
