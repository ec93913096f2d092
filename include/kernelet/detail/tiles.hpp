#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/poll.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <limits>
#include <utility>
#include <vector>

/// The two passes in which all kernel values are computed, one cache-sized tile at a time:
///     analyze:    ᾱ(z_j, w_j) = Σ_i λ_i k(x_i, z_j; w_j)      at nodes,   from samples
///     synthesize: f(x_i)      = Σ_j a_j k(x_i, z_j; w_j)      at samples, from nodes
/// Neither holds more than one tile of kernel values; sums run in a fixed order whatever the threads.
namespace kernelet::detail {

/// A kernel whose values past a distance may be dropped, see Gaussian::reach.
template <class Kernel>
concept HasReach = requires(const Kernel& kernel, const ConstVectorRef& node) {
    { kernel.reach(node) } -> std::convertible_to<double>;
};

// The views that kernels are handed, each made in one way only: every other way to make one is compiled anew.
inline ConstVectorRef column_ref(const ConstBlock& a, Index j) {
    return Eigen::Map<const Vector>(a.column(j), a.rows);
}
inline VectorRef run_ref(double* values, Index count) { return Eigen::Map<Vector>(values, count); }
inline ConstMatrixRef matrix_ref(const ConstBlock& a) {
    return Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(a.data, a.rows, a.cols,
                                                             Eigen::OuterStride<>(a.stride));
}
inline MatrixRef matrix_ref(const Block& a) {
    return Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(a.column(0), a.rows, a.cols,
                                                       Eigen::OuterStride<>(a.stride));
}

/// Points laid out for the passes: one coordinate per column, cut into tiles that know their bounding box.
class TiledPoints {
public:
    static constexpr Index tile = 32;  // 32 doubles of x, k and λ per coordinate: a few KB, well inside L1

    /// x is d x n.
    explicit TiledPoints(const ConstBlock& x)
        : xt_(transposed_copy(x)), lo_(x.rows, tiles()), hi_(x.rows, tiles()) {
        for (Index t = 0; t < tiles(); ++t)
            for (Index c = 0; c < dimension(); ++c) {
                const double* first = xt_.data() + c * size() + this->first(t);
                lo_(c, t) = *std::min_element(first, first + count(t));
                hi_(c, t) = *std::max_element(first, first + count(t));
            }
    }

    Index size() const { return xt_.rows(); }
    Index dimension() const { return xt_.cols(); }
    Index tiles() const { return (xt_.rows() + tile - 1) / tile; }
    Index first(Index t) const { return t * tile; }
    Index count(Index t) const { return std::min(tile, size() - first(t)); }
    /// Tile t, count(t) x d.
    ConstMatrixRef rows(Index t) const {
        return matrix_ref(ConstBlock(xt_.data() + first(t), count(t), dimension(), size()));
    }
    /// All points, n x d.
    const Matrix& transposed() const { return xt_; }

    /// The points begin ... begin + count − 1 as points of their own.
    TiledPoints range(Index begin, Index count) const {
        Matrix x(dimension(), count);
        for (Index i = 0; i < count; ++i)
            for (Index c = 0; c < dimension(); ++c) x(c, i) = xt_(begin + i, c);
        return TiledPoints(x);
    }

    /// Some of the points as points of their own.
    TiledPoints some(const std::vector<Index>& which) const {
        Matrix x(dimension(), static_cast<Index>(which.size()));
        for (Index i = 0; i < x.cols(); ++i)
            for (Index c = 0; c < dimension(); ++c) x(c, i) = xt_(which[static_cast<std::size_t>(i)], c);
        return TiledPoints(x);
    }

    /// Whether some point of tile t may lie within `reach` of z: the box's distance along each coordinate.
    bool touches(Index t, const double* z, double reach) const {
        for (Index c = 0; c < dimension(); ++c)
            if (z[c] < lo_(c, t) - reach || z[c] > hi_(c, t) + reach) return false;
        return true;
    }

private:
    static Matrix transposed_copy(const ConstBlock& x) {
        Matrix xt(x.cols, x.rows);
        for (Index i = 0; i < x.cols; ++i)
            for (Index c = 0; c < x.rows; ++c) xt(i, c) = x(c, i);
        return xt;
    }

    Matrix xt_;       // n x d
    Matrix lo_, hi_;  // d x tiles
};

/// The distance past which the node's kernel may be dropped; infinite for a family without a reach.
template <class Kernel>
double reach_of([[maybe_unused]] const Kernel& kernel, [[maybe_unused]] const ConstVectorRef& node) {
    if constexpr (HasReach<Kernel>)
        return kernel.reach(node);
    else
        return std::numeric_limits<double>::infinity();
}

/// One column of kernel values, k(x_i, node) for all n points, to `column`; returns the range of rows outside
/// of which it is zero. O(n d).
template <class Kernel>
std::pair<Index, Index> kernel_column(const Kernel& kernel, const TiledPoints& points,
                                      const ConstVectorRef& node, double* column) {
    const double reach = reach_of(kernel, node);
    Index begin = points.size(), end = 0;
    for (Index t = 0; t < points.tiles(); ++t) {
        double* part = column + points.first(t);
        if (!points.touches(t, node.data(), reach)) {
            std::fill_n(part, points.count(t), 0.0);
        } else {
            kernel.values(points.rows(t), node, run_ref(part, points.count(t)));
            begin = std::min(begin, points.first(t));
            end = points.first(t) + points.count(t);
        }
    }
    return {begin, end};
}

/// ᾱ at the columns of `nodes`: q x B from λ, q x n. Tiles where λ vanishes are skipped. O(|supp λ| B d).
template <class Kernel>
Matrix analyze(const Kernel& kernel, const TiledPoints& points, const ConstBlock& lambda,
               const ConstBlock& nodes, const Poll& poll = {}) {
    constexpr Index node_tile = 32;
    Matrix field = Matrix::Zero(lambda.rows, nodes.cols);
    std::vector<char> live(static_cast<std::size_t>(points.tiles()));
    for (Index t = 0; t < points.tiles(); ++t)
        live[static_cast<std::size_t>(t)] = any_nonzero(lambda.columns(points.first(t), points.count(t)));
    parallel_for((nodes.cols + node_tile - 1) / node_tile,
                 [&](Index block) {
                     poll();
                     Vector k(TiledPoints::tile);
                     const Index end = std::min(nodes.cols, (block + 1) * node_tile);
                     for (Index j = block * node_tile; j < end; ++j) {
                         const ConstVectorRef node = column_ref(nodes, j);
                         const double reach = reach_of(kernel, node);
                         for (Index t = 0; t < points.tiles(); ++t) {
                             if (!live[static_cast<std::size_t>(t)] || !points.touches(t, node.data(), reach))
                                 continue;
                             const Index m = points.count(t);
                             kernel.values(points.rows(t), node, run_ref(k.data(), m));
                             add_matrix_vector(field.data() + j * lambda.rows,
                                               lambda.columns(points.first(t), m), k.data());
                         }
                     }
                 },
                 points.size() * nodes.cols);
    return field;
}

/// f at the points: q x n from coefficients a, q x B. Nodes with a = 0 are skipped. O(n |supp a| d).
template <class Kernel>
Matrix synthesize(const Kernel& kernel, const TiledPoints& points, const ConstBlock& nodes,
                  const ConstBlock& a, const Poll& poll = {}) {
    Matrix values = Matrix::Zero(a.rows, points.size());
    std::vector<Index> active;
    std::vector<double> reach;
    for (Index j = 0; j < a.cols; ++j)
        if (any_nonzero(a.columns(j, 1))) {
            active.push_back(j);
            reach.push_back(reach_of(kernel, column_ref(nodes, j)));
        }
    parallel_for(
        points.tiles(),
        [&](Index t) {
            poll();
            const Index m = points.count(t);
            Vector k(m);
            const Block here = Block(values).columns(points.first(t), m);
            for (std::size_t slot = 0; slot < active.size(); ++slot) {
                const Index j = active[slot];
                if (!points.touches(t, nodes.column(j), reach[slot])) continue;
                kernel.values(points.rows(t), column_ref(nodes, j), run_ref(k.data(), m));
                if (a.rows == 1)
                    add_scaled(Block(here.column(0), m, 1, m), a(0, j), k);
                else
                    add_outer(here, 1.0, a.column(j), k.data());
            }
        },
        points.size() * static_cast<Index>(active.size()));
    return values;
}

}  // namespace kernelet::detail
