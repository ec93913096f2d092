#pragma once

#include <kernelet/detail/parallel.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <utility>
#include <vector>

/// The two passes in which all kernel values are computed, a cache-sized tile at a time:
///     analyze:    ᾱ(z_j, w_j) = Σ_i λ_i k(x_i, z_j; w_j)      at nodes,   from samples
///     synthesize: f(x_i)      = Σ_j a_j k(x_i, z_j; w_j)      at samples, from nodes
/// Neither holds more than one tile of kernel values; sums run in a fixed order whatever the threads.
namespace kernelet::detail {

/// A kernel whose values past a distance may be dropped, see Gaussian::reach.
template <class Kernel>
concept HasReach = requires(const Kernel& kernel, const ConstVectorRef& node) {
    { kernel.reach(node) } -> std::convertible_to<double>;
};

/// Points laid out for the passes: one coordinate a column, cut into tiles that know their bounding box.
class TiledPoints {
public:
    static constexpr Index tile = 32;  // 32 doubles of x, k and λ a coordinate: a few KB, well inside L1

    explicit TiledPoints(const ConstMatrixRef& x)
        : xt_(x.transpose()), lo_(x.rows(), tiles()), hi_(x.rows(), tiles()) {
        for (Index t = 0; t < tiles(); ++t) {
            lo_.col(t) = rows(t).colwise().minCoeff().transpose();
            hi_.col(t) = rows(t).colwise().maxCoeff().transpose();
        }
    }

    Index size() const { return xt_.rows(); }
    Index dimension() const { return xt_.cols(); }
    Index tiles() const { return (xt_.rows() + tile - 1) / tile; }
    Index first(Index t) const { return t * tile; }
    Index count(Index t) const { return std::min(tile, size() - first(t)); }
    ConstMatrixRef rows(Index t) const { return xt_.middleRows(first(t), count(t)); }

    /// The points begin ... begin + count − 1 as points of their own.
    TiledPoints range(Index begin, Index count) const {
        return TiledPoints(xt_.middleRows(begin, count).transpose());
    }

    /// Some of the points as points of their own.
    TiledPoints some(const std::vector<Index>& which) const {
        return TiledPoints(xt_(which, Eigen::all).transpose());
    }

    /// Whether some point of tile t may lie within `reach` of z: the box's distance along each coordinate.
    bool touches(Index t, const ConstVectorRef& z, double reach) const {
        for (Index c = 0; c < z.size(); ++c)
            if (z(c) < lo_(c, t) - reach || z(c) > hi_(c, t) + reach) return false;
        return true;
    }

private:
    Matrix xt_;       // n x d
    Matrix lo_, hi_;  // d x tiles
};

/// Whether the node's kernel can be dropped on tile t.
template <class Kernel, class Node>
bool out_of_reach(const Kernel& kernel, const TiledPoints& points, Index t, const Node& node) {
    if constexpr (HasReach<Kernel>)
        return !points.touches(t, node.head(points.dimension()), kernel.reach(node));
    else
        return false;
}

/// One column of kernel values, k(x_i, node) for all n points; returns the range of rows outside of which it
/// is zero. O(n d).
template <class Kernel>
std::pair<Index, Index> kernel_column(const Kernel& kernel, const TiledPoints& points,
                                      const ConstVectorRef& node, VectorRef column) {
    Index begin = points.size(), end = 0;
    for (Index t = 0; t < points.tiles(); ++t) {
        auto part = column.segment(points.first(t), points.count(t));
        if (out_of_reach(kernel, points, t, node)) {
            part.setZero();
        } else {
            kernel.values(points.rows(t), node, part);
            begin = std::min(begin, points.first(t));
            end = points.first(t) + points.count(t);
        }
    }
    return {begin, end};
}

/// ᾱ at the columns of `nodes`: q x B from λ, q x n. Tiles where λ vanishes are skipped. O(|supp λ| B d).
template <class Kernel>
Matrix analyze(const Kernel& kernel, const TiledPoints& points, const ConstMatrixRef& lambda,
               const ConstMatrixRef& nodes) {
    constexpr Index node_tile = 32;
    Matrix field = Matrix::Zero(lambda.rows(), nodes.cols());
    std::vector<char> live(static_cast<std::size_t>(points.tiles()));
    for (Index t = 0; t < points.tiles(); ++t)
        live[static_cast<std::size_t>(t)] =
            (lambda.middleCols(points.first(t), points.count(t)).array() != 0.0).any();
    parallel_for(
        (nodes.cols() + node_tile - 1) / node_tile,
        [&](Index block) {
            Vector k(TiledPoints::tile);
            const Index end = std::min(nodes.cols(), (block + 1) * node_tile);
            for (Index j = block * node_tile; j < end; ++j)
                for (Index t = 0; t < points.tiles(); ++t) {
                    if (!live[static_cast<std::size_t>(t)] || out_of_reach(kernel, points, t, nodes.col(j)))
                        continue;
                    const Index m = points.count(t);
                    kernel.values(points.rows(t), nodes.col(j), k.head(m));
                    field.col(j).noalias() += lambda.middleCols(points.first(t), m) * k.head(m);
                }
        },
        points.size() * nodes.cols());
    return field;
}

/// f at the points: q x n from coefficients a, q x B. Nodes with a = 0 are skipped. O(n |supp a| d).
template <class Kernel>
Matrix synthesize(const Kernel& kernel, const TiledPoints& points, const ConstMatrixRef& nodes,
                  const ConstMatrixRef& a) {
    Matrix values = Matrix::Zero(a.rows(), points.size());
    std::vector<Index> active;
    for (Index j = 0; j < a.cols(); ++j)
        if ((a.col(j).array() != 0.0).any()) active.push_back(j);
    parallel_for(
        points.tiles(),
        [&](Index t) {
            const Index m = points.count(t);
            Vector k(m);
            for (const Index j : active) {
                if (out_of_reach(kernel, points, t, nodes.col(j))) continue;
                kernel.values(points.rows(t), nodes.col(j), k);
                values.middleCols(points.first(t), m).noalias() += a.col(j) * k.transpose();
            }
        },
        points.size() * static_cast<Index>(active.size()));
    return values;
}

}  // namespace kernelet::detail
