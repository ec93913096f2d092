#pragma once

#include <kernelet/search/search_state.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// The kernels whose removal is tried, the best first: the increase of the cost without a step picks some, the
/// cost predicted after one step of the others orders them.
template <class Scalar>
std::vector<Index> removal_order(const SearchState<Scalar>& state, const FittedKernels& model) {
    const BackwardEliminationOptions& options = state.options.backward;
    std::vector<std::pair<double, Index>> order;
    for (Index j = 0; j < model.size(); ++j) order.emplace_back(model.removal_cost(j), j);
    std::sort(order.begin(), order.end());
    if (static_cast<Index>(order.size()) > options.predictions)
        order.resize(static_cast<std::size_t>(options.predictions));
    for (auto& [cost, j] : order) cost = state.lm.predicted_cost_without(model, j, options.damping);
    std::sort(order.begin(), order.end());
    if (static_cast<Index>(order.size()) > options.tries)
        order.resize(static_cast<std::size_t>(options.tries));
    std::vector<Index> kernels(order.size());
    std::transform(order.begin(), order.end(), kernels.begin(),
                   [](const auto& entry) { return entry.second; });
    return kernels;
}

}  // namespace detail

/// Removes kernels one by one while the score falls. removal_order() says which are tried; a minimisation over the
/// nodes that remain decides.
template <class Scalar = double>
FittedKernels backward_elimination(SearchState<Scalar>& state, FittedKernels model) {
    Score score = state.criterion.score(model);
    while (model.size() > 0) {
        const std::optional<Score> good_enough = state.criterion.early_accept_threshold(score);
        std::optional<Incumbent> best;
        for (const Index j : detail::removal_order(state, model)) {
            FittedKernels trial = state.lm.minimize(without_column(model.fit.nodes, j), state.options.trial);
            const Score value = state.criterion.score(trial);
            if (!best || value < best->score) best = {std::move(trial), value};
            if (good_enough && best->score < *good_enough) break;
        }
        if (!best || !(best->score < score)) break;
        model = std::move(best->model);
        score = best->score;
        state.offer(model, score);
    }
    return model;
}

}  // namespace kernelet
