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
Vector explained_by(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                    const Matrix& pull, const Vector& weights) {
    // A kernel that sees less than a sample's worth of data would explain that sample's noise alone.
    const double least_norm = detail::sum(weights) / static_cast<double>(points.size());
    Vector explained = Vector::Zero(nodes.cols());
    detail::parallel_for(
        nodes.cols(),
        [&](Index j) {
            Vector k(detail::TiledPoints::tile), inner = Vector::Zero(pull.rows());
            const ConstVectorRef node = detail::column_ref(nodes, j);
            const double reach = detail::reach_of(kernel, node);
            double norm = 0.0;
            for (Index t = 0; t < points.tiles(); ++t) {
                if (!points.touches(t, node.data(), reach)) continue;
                const Index m = points.count(t), first = points.first(t);
                kernel.values(points.rows(t), node, detail::run_ref(k.data(), m));
                detail::add_matrix_vector(inner.data(), detail::ConstBlock(pull).columns(first, m), k.data());
                for (Index i = 0; i < m; ++i) norm += k(i) * k(i) * weights(first + i);
            }
            if (norm > 0.0) explained(j) = detail::squared_norm(inner) / std::max(norm, least_norm);
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
            return coherence(kernel, points, detail::column_ref(candidates, other),
                             detail::column_ref(candidates, candidate)) > most_coherent;
        });
        if (apart) chosen.push_back(candidate);
    }
    return chosen;
}

}  // namespace kernelet
