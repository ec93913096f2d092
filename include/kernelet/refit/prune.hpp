#pragma once

#include <kernelet/refit/goal.hpp>
#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

struct PruneOptions {
    /// Kernels whose loss is predicted with a step of the others, the cheapest without one.
    Index predicted = 12;
    /// Of these, how many are dropped and slid for real before the best is taken.
    Index tries = 6;
    /// Of the predicted step: as in a slide's first steps.
    double damping = 0.1;
};

/// Drops kernels while the goal's score falls. Which one: the rise a_j²/(G⁻¹)_jj of the cost without a slide
/// picks a few, the rise after one predicted step of the others ranks them, a slide decides. Dropping only
/// the cheapest stops too early: on a chirp at one kernel a lobe, 26 of them, where 16 do.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Slid prune(const Slide<Kernel, Omega, Loss>& slide, const Goal& goal, Slid model, const SlideOptions& sliding,
           const PruneOptions& options = {}) {
    double score = goal.score(model);
    while (model.size() > 0) {
        std::vector<std::pair<double, Index>> order;
        for (Index j = 0; j < model.size(); ++j) order.emplace_back(model.at.price(j), j);
        std::sort(order.begin(), order.end());
        if (static_cast<Index>(order.size()) > options.predicted)
            order.resize(static_cast<std::size_t>(options.predicted));
        for (auto& [rise, j] : order) rise = slide.predicted_without(model, j, options.damping);
        std::sort(order.begin(), order.end());
        Slid best;
        double least = std::numeric_limits<double>::infinity();
        for (Index i = 0; i < options.tries && i < static_cast<Index>(order.size()); ++i) {
            Slid trial =
                slide(without_column(model.nodes, order[static_cast<std::size_t>(i)].second), sliding);
            const double value = goal.score(trial);
            if (value < least) {
                least = value;
                best = std::move(trial);
            }
            if (least < goal.bargain(score)) break;
        }
        if (!(least < score)) break;
        model = std::move(best);
        score = least;
    }
    return model;
}

}  // namespace kernelet
