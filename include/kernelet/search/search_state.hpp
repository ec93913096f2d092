#pragma once

#include <kernelet/search/candidate_gains.hpp>
#include <kernelet/search/criterion.hpp>
#include <kernelet/search/levenberg_marquardt.hpp>
#include <kernelet/search/search_progress.hpp>
#include <kernelet/search_options.hpp>

#include <optional>

namespace kernelet {

/// A model with its score.
struct Incumbent {
    FittedKernels model{};
    Score score{};
};

/// The data that all parts of a search share. Holds references: lives no longer than what it was made of.
template <class Scalar = double>
struct SearchState {
    LevenbergMarquardt<Scalar>& lm;
    const Criterion& criterion;
    CandidateGains<Scalar>& candidates;  ///< from which kernels are added
    const SearchOptions& options;
    /// The best model seen so far, kept only where an observer may stop the search.
    std::optional<Incumbent> incumbent{};

    const SearchProblem& problem() const { return lm.problem(); }

    /// Tells the observer that a phase of the search begins.
    void begin_phase(Index phase, const SearchPhases& phases) const {
        if (problem().watch == nullptr) return;
        problem().watch->advance(phases.before(phase), phases.before(phase + 1));
        Progress progress;
        progress.iteration = phase;
        progress.iterations = phases.count();
        problem().watch->report(progress);
    }

    void offer(const FittedKernels& model) {
        if (problem().watch != nullptr && problem().watch->watched()) offer(model, criterion.score(model));
    }
    void offer(const FittedKernels& model, const Score& score) {
        if (problem().watch == nullptr || !problem().watch->watched()) return;
        if (!incumbent || score < incumbent->score) incumbent = {model, score};
    }
};

namespace detail {

/// A model of which some kernels have moved, after all of them have.
template <class Scalar>
FittedKernels settled(SearchState<Scalar>& state, FittedKernels model) {
    state.lm.linearize(model);
    LevenbergMarquardtOptions options = state.options.trial;
    options.max_steps = state.options.settling_steps;
    return state.lm.resume(std::move(model), options);
}

}  // namespace detail

}  // namespace kernelet
