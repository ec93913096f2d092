#pragma once

#include <kernelet/search/search_state.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// The kernels whose removal is tried, by the cost predicted after it.
template <class Scalar>
std::vector<Index> removal_order(SearchState<Scalar>& state, FittedKernels& model) {
    const BackwardEliminationOptions& options = state.options.backward;
    state.lm.linearize(model);
    const Vector predicted = state.lm.predicted_costs_without(model, options.damping);
    std::vector<Index> order(static_cast<std::size_t>(model.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index l, Index r) { return predicted(l) < predicted(r); });
    if (static_cast<Index>(order.size()) > options.tries)
        order.resize(static_cast<std::size_t>(options.tries));
    return order;
}

/// The model without kernel j, of which the neighbours of j may move.
template <class Scalar>
FittedKernels without_kernel(SearchState<Scalar>& state, const FittedKernels& model, Index j) {
    return state.lm.without(model, j,
                            state.lm.neighbours(model.fit.nodes, column_ref(model.fit.nodes, j),
                                                1 + state.options.moving_kernels));
}

}  // namespace detail

/// Removes kernels one by one while the score falls. removal_order() lists the trials. A trial
/// minimises over the neighbours of the removed kernel; the first trial that lowers the score is accepted. A trial
/// that is not expected to lower it ends early.
template <class Scalar = double>
FittedKernels backward_elimination(SearchState<Scalar>& state, FittedKernels model) {
    Score score = state.criterion.score(model);
    for (bool removed = true; removed && model.size() > 0;) {
        removed = false;
        const double needed = state.criterion.cost_to_beat(score, model.size() - 1);
        for (const Index j : detail::removal_order(state, model)) {
            FittedKernels trial =
                state.lm.resume(detail::without_kernel(state, model, j), state.options.trial, needed);
            if (!(state.criterion.score(trial) < score)) continue;
            model = detail::settled(state, std::move(trial));
            score = state.criterion.score(model);
            state.offer(model, score);
            removed = true;
            break;
        }
    }
    return model;
}

}  // namespace kernelet
