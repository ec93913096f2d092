#pragma once

#include <kernelet/search/correlation_gain.hpp>
#include <kernelet/search/search_state.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// The gain of each candidate over a model. Where samples are many, on every so many-th of them: they are in
/// spatial order, and the order of the candidates is known from a part.
template <class Scalar = double>
Vector candidate_gains(const SearchProblem& problem, const KernelExpansion& model, const Matrix& candidates,
                       const ForwardSelectionOptions& options) {
    const Index n = problem.points.size(), stride = (n + options.gain_samples - 1) / options.gain_samples;
    const Matrix prediction = problem.prediction(model);
    const Matrix pull = problem.loss.pull(prediction);
    const Vector curvature = problem.loss.curvature(prediction);
    if (stride == 1)
        return correlation_gain<Scalar>(problem.kernel, {problem.points, pull, curvature}, candidates,
                                        detail::poll_of(problem.watch));
    std::vector<Index> some;
    for (Index i = 0; i < n; i += stride) some.push_back(i);
    const detail::TiledPoints points = problem.points.some(some);
    const Matrix some_pull = detail::columns_of<Scalar>(pull, some);
    const Vector some_curvature = detail::entries_of<Scalar>(curvature, some);
    return correlation_gain<Scalar>(problem.kernel, {points, some_pull, some_curvature}, candidates,
                                    detail::poll_of(problem.watch));
}

/// The nodes of a model and the candidate of the largest gain.
inline Matrix with_best_candidate(const KernelExpansion& model, const Matrix& candidates,
                                  const Vector& gains) {
    const double* first = gains.data();
    const Index best = std::max_element(first, first + gains.size()) - first;
    return with_column(model.nodes, detail::column_ref(candidates, best));
}

namespace detail {

/// The model with `count` candidates more, each of the largest gain over what the last left, then minimised.
template <class Scalar>
FittedKernels with_batch(SearchState<Scalar>& state, FittedKernels model, Index count) {
    for (Index added = 0; added < count; ++added) {
        const Vector gains =
            candidate_gains<Scalar>(state.problem(), model.fit, state.candidates, state.options.forward);
        model = state.lm.evaluate(with_best_candidate(model.fit, state.candidates, gains));
    }
    return state.lm.resume(std::move(model), state.options.trial);
}

/// The model with one candidate more, minimised: the one of the largest gain, or, where that is not worth it, the
/// best of some incoherent ones.
template <class Scalar>
FittedKernels with_one_more(SearchState<Scalar>& state, const FittedKernels& model,
                            const FittedKernels& best) {
    const ForwardSelectionOptions& options = state.options.forward;
    const Matrix& candidates = state.candidates;
    const Vector gains = candidate_gains<Scalar>(state.problem(), model.fit, candidates, options);
    FittedKernels next =
        state.lm.minimize(with_best_candidate(model.fit, candidates, gains), state.options.trial);
    if (state.criterion.worth(best, next)) return next;
    const std::vector<Index> others =
        best_incoherent<Scalar>(state.problem().kernel, state.problem().points, candidates, gains,
                                {options.tries, options.max_coherence});
    for (std::size_t other = 1; other < others.size(); ++other) {
        FittedKernels trial = state.lm.minimize(
            with_column(model.fit.nodes, column_ref(candidates, others[other])), state.options.trial);
        if (state.criterion.score(trial) < state.criterion.score(next)) next = std::move(trial);
    }
    return next;
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
                         state.candidates.cols() > 0 && !criterion.met(model.fit);) {
        const Index batch =
            std::min(std::max<Index>(1, model.size() * state.lm.free_rows() / parameters_per_addition),
                     max_kernels - model.size());
        FittedKernels next = batch > 1 ? detail::with_batch(state, model, batch) : FittedKernels{};
        if (batch == 1 || !criterion.worth(best, next)) next = detail::with_one_more(state, model, best);
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
