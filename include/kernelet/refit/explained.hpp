#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/peaks/coherence.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kernelet {

/// How much of what is left each node's kernel explains, ‖Σ_i p_i k_i‖² / Σ_i h_i k_i²: the field of what is
/// left at the candidates, each kernel at norm one. `pull` is q x n, p_i = w_i (y_i − f_i) for the squared
/// loss; `weights` are h. O(n B).
template <KernelFamily Kernel>
Vector explained_by(const Kernel& kernel, const detail::TiledPoints& points, const ConstMatrixRef& nodes,
                    const ConstMatrixRef& pull, const ConstVectorRef& weights) {
    // A kernel that sees less than a sample's worth of data would explain that sample's noise alone.
    const double least_norm = weights.sum() / static_cast<double>(points.size());
    Vector explained = Vector::Zero(nodes.cols());
    detail::parallel_for(
        nodes.cols(),
        [&](Index j) {
            Vector k(detail::TiledPoints::tile), inner = Vector::Zero(pull.rows());
            double norm = 0.0;
            for (Index t = 0; t < points.tiles(); ++t) {
                if (detail::out_of_reach(kernel, points, t, nodes.col(j))) continue;
                const Index m = points.count(t);
                kernel.values(points.rows(t), nodes.col(j), k.head(m));
                inner.noalias() += pull.middleCols(points.first(t), m) * k.head(m);
                norm += k.head(m).cwiseAbs2().dot(weights.segment(points.first(t), m));
            }
            if (norm > 0.0) explained(j) = inner.squaredNorm() / std::max(norm, least_norm);
        },
        nodes.cols() * points.size());
    return explained;
}

/// Of the candidates, up to `count` that explain most, by falling share; none that is coherent with another,
/// since both would explain the same. O(B log B) and a few coherences a candidate looked at.
template <KernelFamily Kernel>
std::vector<Index> foremost(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& candidates,
                            const Vector& explained, Index count) {
    constexpr double most_coherent = 0.5;
    std::vector<Index> order(static_cast<std::size_t>(candidates.cols())), chosen;
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index l, Index r) { return explained(l) > explained(r); });
    for (const Index candidate : order) {
        if (static_cast<Index>(chosen.size()) == count || !(explained(candidate) > 0.0)) break;
        const bool apart = std::none_of(chosen.begin(), chosen.end(), [&](Index other) {
            return coherence(kernel, points, candidates.col(other), candidates.col(candidate)) >
                   most_coherent;
        });
        if (apart) chosen.push_back(candidate);
    }
    return chosen;
}

}  // namespace kernelet
