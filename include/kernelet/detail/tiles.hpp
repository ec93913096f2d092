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

// The views passed to kernels. Each is made in one way only, since every other way is compiled again.
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

/// Points laid out for the passes: one coordinate per column, cut into tiles, each with its bounding box.
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
    /// Points first ... first + count − 1, count x d.
    ConstMatrixRef rows(Index first, Index count) const {
        return matrix_ref(ConstBlock(xt_.data() + first, count, dimension(), size()));
    }
    /// All points, n x d.
    const Matrix& transposed() const { return xt_; }

    /// A copy of the points begin ... begin + count − 1.
    TiledPoints range(Index begin, Index count) const {
        Matrix x(dimension(), count);
        for (Index i = 0; i < count; ++i)
            for (Index c = 0; c < dimension(); ++c) x(c, i) = xt_(begin + i, c);
        return TiledPoints(x);
    }

    /// A copy of some of the points.
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

    /// From the first to behind the last of the points [begin, end) whose tile is within `reach` of z; begin is the
    /// first point of a tile.
    std::pair<Index, Index> within(Index begin, Index end, const double* z, double reach) const {
        Index first = begin / tile, last = (end + tile - 1) / tile;
        while (first < last && !touches(first, z, reach)) ++first;
        while (first < last && !touches(last - 1, z, reach)) --last;
        return {std::min(first * tile, end), std::min(last * tile, end)};
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

/// k(x_i, node) for the points begin ... begin + values.rows − 1, zero beyond reach; begin is the first point of a
/// tile. O(m d).
template <class Kernel>
void kernel_run(const Kernel& kernel, const TiledPoints& points, const ConstVectorRef& node, Index begin,
                const Block& values) {
    const auto [from, to] = points.within(begin, begin + values.rows, node.data(), reach_of(kernel, node));
    double* run = values.column(0);
    std::fill(run, run + (from - begin), 0.0);
    if (to > from)
        kernel.values(points.rows(from, to - from), node, run_ref(run + (from - begin), to - from));
    std::fill(run + (to - begin), run + values.rows, 0.0);
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

/// Points that a pass hands to a kernel at a time.
inline constexpr Index strip_rows = 8 * TiledPoints::tile;
inline Index strips_of(Index points) { return (points + strip_rows - 1) / strip_rows; }

/// A run of points, of whole tiles but for the last.
struct Strip {
    Index first{};
    Index rows{};
};

/// Strip s of strips_of(points): as nearly equal as tiles allow, so that as many strips are as much work.
inline Strip equal_strip(Index s, Index points) {
    const Index tiles = (points + TiledPoints::tile - 1) / TiledPoints::tile, strips = strips_of(points);
    const Index first = s * tiles / strips * TiledPoints::tile;
    return {first, std::min(points, (s + 1) * tiles / strips * TiledPoints::tile) - first};
}

/// ᾱ at the columns of `nodes`: q x B from λ, q x n. Strips where λ vanishes are skipped. O(|supp λ| B d).
template <class Kernel>
Matrix analyze(const Kernel& kernel, const TiledPoints& points, const ConstBlock& lambda,
               const ConstBlock& nodes, const Poll& poll = {}) {
    constexpr Index node_tile = 32;
    const Index n = points.size(), q = lambda.rows;
    Matrix field = Matrix::Zero(q, nodes.cols);
    std::vector<char> live(static_cast<std::size_t>(strips_of(n)));
    for (Index s = 0; s < strips_of(n); ++s)
        live[static_cast<std::size_t>(s)] =
            any_nonzero(lambda.columns(s * strip_rows, std::min(strip_rows, n - s * strip_rows)));
    parallel_for(
        (nodes.cols + node_tile - 1) / node_tile,
        [&](Index block) {
            poll();
            Vector k(strip_rows);
            for (Index j = block * node_tile; j < std::min(nodes.cols, (block + 1) * node_tile); ++j) {
                const ConstVectorRef node = column_ref(nodes, j);
                const double reach = reach_of(kernel, node);
                for (Index s = 0; s < strips_of(n); ++s) {
                    if (!live[static_cast<std::size_t>(s)]) continue;
                    const auto [from, to] =
                        points.within(s * strip_rows, std::min(n, (s + 1) * strip_rows), node.data(), reach);
                    if (from == to) continue;
                    kernel.values(points.rows(from, to - from), node, run_ref(k.data(), to - from));
                    add_matrix_vector(field.data() + j * q, lambda.columns(from, to - from), k.data());
                }
            }
        },
        n * nodes.cols);
    return field;
}

/// f at the points: q x n from coefficients a, q x B. Nodes with a = 0 are skipped. O(n |supp a| d).
template <class Kernel>
Matrix synthesize(const Kernel& kernel, const TiledPoints& points, const ConstBlock& nodes,
                  const ConstBlock& a, const Poll& poll = {}) {
    const Index n = points.size();
    Matrix values = Matrix::Zero(a.rows, n);
    std::vector<Index> active;
    std::vector<double> reach;
    for (Index j = 0; j < a.cols; ++j)
        if (any_nonzero(a.columns(j, 1))) {
            active.push_back(j);
            reach.push_back(reach_of(kernel, column_ref(nodes, j)));
        }
    parallel_for(
        strips_of(n),
        [&](Index s) {
            poll();
            Vector k(strip_rows);
            for (std::size_t slot = 0; slot < active.size(); ++slot) {
                const Index j = active[slot];
                const auto [from, to] = points.within(s * strip_rows, std::min(n, (s + 1) * strip_rows),
                                                      nodes.column(j), reach[slot]);
                if (from == to) continue;
                kernel.values(points.rows(from, to - from), column_ref(nodes, j),
                              run_ref(k.data(), to - from));
                const Block here = Block(values).columns(from, to - from);
                if (a.rows == 1)
                    add_scaled(Block(here.column(0), to - from, 1, to - from), a(0, j),
                               ConstBlock(k.data(), to - from, 1, to - from));
                else
                    add_outer(here, 1.0, a.column(j), k.data());
            }
        },
        n * static_cast<Index>(active.size()));
    return values;
}

}  // namespace kernelet::detail

namespace kernelet {

/// Points in the form that the stages of a fit take, for direct calls of these.
using detail::TiledPoints;

}  // namespace kernelet
