#pragma once

#include <kernelet/search/candidate_gains.hpp>
#include <kernelet/search/search_state.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

/// The candidate of the largest gain.
inline ConstVectorRef best_candidate(const Matrix& candidates, const Vector& gains) {
    const double* first = gains.data();
    return detail::column_ref(candidates, std::max_element(first, first + gains.size()) - first);
}

/// The nodes of a model and that candidate.
inline Matrix with_best_candidate(const KernelExpansion& model, const Matrix& candidates,
                                  const Vector& gains) {
    return with_column(model.nodes, best_candidate(candidates, gains));
}

namespace detail {

/// The model with `count` candidates more, each of the largest gain over what the last left, then minimised.
template <class Scalar>
FittedKernels with_batch(SearchState<Scalar>& state, FittedKernels model, Index count) {
    for (Index added = 0; added < count; ++added) {
        const Vector gains = state.candidates(model.fit);
        model = state.lm.evaluate(with_best_candidate(model.fit, state.candidates.nodes(), gains), model.fit);
    }
    return settled(state, std::move(model));
}

/// The model with one candidate more, minimised over that and its neighbours.
template <class Scalar>
FittedKernels with_candidate(SearchState<Scalar>& state, const FittedKernels& model,
                             const ConstVectorRef& node,
                             double needed = std::numeric_limits<double>::infinity()) {
    std::vector<Index> moving = state.lm.neighbours(model.fit.nodes, node, state.options.moving_kernels);
    moving.push_back(model.size());
    return state.lm.resume(state.lm.with(model, node, std::move(moving)), state.options.trial, needed);
}

/// The model with one candidate more, minimised: the one of the largest gain, or, where that is not worth it, the
/// best of some incoherent ones.
template <class Scalar>
FittedKernels with_one_more(SearchState<Scalar>& state, const FittedKernels& model, const FittedKernels& best,
                            Index tries) {
    const ForwardSelectionOptions& options = state.options.forward;
    const Matrix& candidates = state.candidates.nodes();
    const double needed = state.criterion.cost_to_beat(state.criterion.score(best), model.size() + 1);
    const std::vector<Index> chosen =
        best_incoherent<Scalar>(state.problem().kernel, state.problem().points, candidates,
                                state.candidates(model.fit), {tries, options.max_coherence});
    FittedKernels next;
    for (const Index candidate : chosen) {
        FittedKernels trial = with_candidate(state, model, column_ref(candidates, candidate), needed);
        if (state.criterion.worth(best, trial)) return settled(state, std::move(trial));
        if (next.size() == 0 || state.criterion.score(trial) < state.criterion.score(next))
            next = std::move(trial);
    }
    return next.size() > 0 ? next : model;
}

}  // namespace detail

/// While the criterion is not met, adds the candidate of the largest gain and minimises over all nodes, up to
/// `max_kernels`; stops, at the best model seen, where more kernels are not worth it. The larger the model, the
/// more kernels are added per minimisation.
template <class Scalar = double>
FittedKernels forward_selection(SearchState<Scalar>& state, FittedKernels model, Index max_kernels) {
    const Criterion& criterion = state.criterion;
    const Index parameters_per_addition = std::max<Index>(1, state.options.max_parameters / 2);
    FittedKernels best = model;
    for (Index idle = 0; idle <= state.options.forward.patience && model.size() < max_kernels &&
                         state.candidates.size() > 0 && !criterion.met(model.fit);) {
        const Index batch =
            std::min(std::max<Index>(1, model.size() * state.lm.free_rows() / parameters_per_addition),
                     max_kernels - model.size());
        FittedKernels next = batch > 1 ? detail::with_batch(state, model, batch) : FittedKernels{};
        if (batch == 1 || !criterion.worth(best, next))
            next = detail::with_one_more(state, model, best, idle == 0 ? state.options.forward.tries : 1);
        model = std::move(next);
        ++idle;
        if (criterion.worth(best, model)) {
            best = model;
            idle = 0;
            state.offer(best);
        }
    }
    return criterion.met(model.fit) ? model : best;
}

}  // namespace kernelet
