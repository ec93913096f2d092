#pragma once

#include <kernelet/refit/goal.hpp>
#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <utility>

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

/// The same, of what a model leaves over.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Vector explained_by(const Slide<Kernel, Omega, Loss>& slide, const Slid& model, const Matrix& candidates) {
    const Matrix prediction = slide.prediction(model);
    return explained_by(slide.kernel(), slide.points(), candidates, slide.loss().pull(prediction),
                        slide.loss().curvature(prediction));
}

/// The model's nodes and the candidate that explains most of what it leaves over.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Matrix with_one_more(const Slide<Kernel, Omega, Loss>& slide, const Slid& model, const Matrix& candidates) {
    Index best = 0;
    explained_by(slide, model, candidates).maxCoeff(&best);
    Matrix more(candidates.rows(), model.size() + 1);
    more << model.nodes, candidates.col(best);
    return more;
}

/// While the goal is not met, adds the candidate that explains most of what is left and slides, up to `most`
/// kernels; stops early where a kernel more is not worth it. A slide costs (K f)³: the larger the model, the
/// more kernels are added, each to what the last left over, before all of them slide.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Slid complete(const Slide<Kernel, Omega, Loss>& slide, const Goal& goal, const Matrix& candidates, Slid model,
              Index most, const SlideOptions& options) {
    constexpr Index parameters_a_kernel = 75;  // of the model, for each kernel added before a slide
    while (model.size() < most && candidates.cols() > 0 && !goal.met(model)) {
        const Index batch = std::max<Index>(1, model.size() * slide.free_rows() / parameters_a_kernel);
        const auto extended = [&](Index count) {
            Slid next = model;
            for (Index added = 0; added < count; ++added)
                next = slide(with_one_more(slide, next, candidates), {.max_steps = 0});
            return slide.from(std::move(next), options);
        };
        Slid next = extended(std::min(batch, most - model.size()));
        if (batch > 1 && !goal.worth(model, next)) next = extended(1);
        if (!goal.worth(model, next)) break;
        model = std::move(next);
    }
    return model;
}

}  // namespace kernelet
