#pragma once

#include <kernelet/refit/goal.hpp>
#include <kernelet/refit/slide.hpp>

#include <utility>

namespace kernelet {

/// The node whose kernel explains most of what is left, the largest ‖Σ_i w_i r_i k_i‖² / Σ_i w_i k_i²: the
/// highest peak of the residual's field among the candidates, each kernel at norm one. residual is q x n.
/// O(n B).
template <KernelFamily Kernel>
Index most_explaining(const Kernel& kernel, const detail::TiledPoints& points, const ConstMatrixRef& nodes,
                      const ConstMatrixRef& residual, const ConstVectorRef& weights) {
    const Matrix weighted = residual * weights.asDiagonal();
    // A kernel that sees less than a sample's worth of data would explain that sample's noise alone.
    const double least_norm = weights.sum() / static_cast<double>(points.size());
    Vector explained = Vector::Zero(nodes.cols());
    detail::parallel_for(
        nodes.cols(),
        [&](Index j) {
            Vector k(detail::TiledPoints::tile), inner = Vector::Zero(residual.rows());
            double norm = 0.0;
            for (Index t = 0; t < points.tiles(); ++t) {
                if (detail::out_of_reach(kernel, points, t, nodes.col(j))) continue;
                const Index m = points.count(t);
                kernel.values(points.rows(t), nodes.col(j), k.head(m));
                inner.noalias() += weighted.middleCols(points.first(t), m) * k.head(m);
                norm += k.head(m).cwiseAbs2().dot(weights.segment(points.first(t), m));
            }
            if (norm > 0.0) explained(j) = inner.squaredNorm() / std::max(norm, least_norm);
        },
        nodes.cols() * points.size());
    Index best = 0;
    if (explained.size() > 0) explained.maxCoeff(&best);
    return best;
}

/// While the goal is not met, adds the candidate that explains most of the residual and slides, up to `most`
/// kernels; stops early where a kernel more is not worth it. residual_of(model) is q x n.
template <KernelFamily Kernel, Domain Omega, class Residual>
Slid complete(const Kernel& kernel, const detail::TiledPoints& points, const Slide<Kernel, Omega>& slide,
              const Goal& goal, const Matrix& candidates, const Vector& weights, const Residual& residual_of,
              Slid model, Index most, const SlideOptions& options) {
    while (model.size() < most && candidates.cols() > 0 && !goal.met(model)) {
        Matrix more(candidates.rows(), model.size() + 1);
        more << model.nodes,
            candidates.col(most_explaining(kernel, points, candidates, residual_of(model), weights));
        Slid next = slide(std::move(more), options);
        if (!goal.worth(model, next)) break;
        model = std::move(next);
    }
    return model;
}

}  // namespace kernelet
