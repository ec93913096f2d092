#pragma once

#include <kernelet/detail/parallel.hpp>
#include <kernelet/peaks/coherence.hpp>
#include <kernelet/search/search_problem.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kernelet {

/// The residual of a model at some samples: slope and curvature of the loss.
struct LossResidual {
    const detail::TiledPoints& points;
    const Matrix& pull;       ///< −½ ∂Σwℓ/∂f, q x n: w (y − f) for the squared loss
    const Vector& curvature;  ///< h = ½ ∂²Σwℓ/∂f², n: w for the squared loss
};

/// The decrease of the cost, to second order, by a kernel at each node with its best coefficient and all else
/// fixed: ‖Σ_i p_i k_i‖² / Σ_i h_i k_i², the field of the residual with each kernel at norm one. O(n B). CandidateGains
/// computes it for many models, and is tested against this.
template <class Scalar = double>
Vector correlation_gain(const AnyKernel& kernel, const LossResidual& residual, const Matrix& nodes,
                        const detail::Poll& poll = {}) {
    const detail::TiledPoints& points = residual.points;
    // A kernel whose effective number of samples is below one would fit only the noise of that sample.
    const double least_norm = detail::sum<Scalar>(residual.curvature) / static_cast<double>(points.size());
    Vector gain = Vector::Zero(nodes.cols());
    detail::parallel_for(
        nodes.cols(),
        [&](Index j) {
            poll();
            Vector k(detail::TiledPoints::tile), inner = Vector::Zero(residual.pull.rows());
            const ConstVectorRef node = detail::column_ref(nodes, j);
            const double reach = detail::reach_of(kernel, node);
            double norm = 0.0;
            for (Index t = 0; t < points.tiles(); ++t) {
                if (!points.touches(t, node.data(), reach)) continue;
                const Index m = points.count(t), first = points.first(t);
                kernel.values(points.rows(t), node, detail::run_ref(k.data(), m));
                detail::add_matrix_vector<Scalar>(
                    inner.data(), detail::ConstBlock(residual.pull).columns(first, m), k.data());
                for (Index i = 0; i < m; ++i) norm += k(i) * k(i) * residual.curvature(first + i);
            }
            if (norm > 0.0) gain(j) = detail::squared_norm<Scalar>(inner) / std::max(norm, least_norm);
        },
        nodes.cols() * points.size());
    return gain;
}

/// How candidates are chosen.
struct IncoherentChoice {
    Index count{};              ///< at most
    double max_coherence{0.5};  ///< between two of them
};

/// The candidates of the largest gain, by falling gain, no two of them coherent: both would explain the same part
/// of the residual. O(B log B) and a few coherences per candidate looked at.
template <class Scalar = double>
std::vector<Index> best_incoherent(const AnyKernel& kernel, const detail::TiledPoints& points,
                                   const Matrix& candidates, const Vector& gain,
                                   const IncoherentChoice& choice) {
    std::vector<Index> order(static_cast<std::size_t>(candidates.cols())), chosen;
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index l, Index r) { return gain(l) > gain(r); });
    for (const Index candidate : order) {
        if (static_cast<Index>(chosen.size()) == choice.count || !(gain(candidate) > 0.0)) break;
        const bool incoherent = std::none_of(chosen.begin(), chosen.end(), [&](Index other) {
            return coherence(kernel, points, detail::column_ref(candidates, other),
                             detail::column_ref(candidates, candidate)) > choice.max_coherence;
        });
        if (incoherent) chosen.push_back(candidate);
    }
    return chosen;
}

}  // namespace kernelet
