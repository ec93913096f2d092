#pragma once

#include <kernelet/search/backward_elimination.hpp>
#include <kernelet/search/forward_selection.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// The fewest kernels that a criterion allows, from the peaks of a dual solution. Three starts: all peaks, those of
/// one sign, those of the other, since a wave is one broad kernel with dips as well as one kernel per half wave, and
/// no sequence of single removals leads from one to the other. Forward selection and backward elimination improve
/// each start; the best by the score then gets one kernel more and one elimination without shortcuts, and its kernels
/// try other shapes. Replacing its kernels one by one, or adding again, changed nothing beyond rounding on generated
/// problems of eight kinds. For several outputs, "sign" is along the axis in which the coefficients vary most. Holds a
/// reference to the state.
template <class Scalar = double>
class SearchStrategy {
public:
    SearchStrategy(SearchState<Scalar>& state, Index max_kernels)
        : state_(state), max_kernels_(max_kernels) {}

    /// `last`: no search on more samples follows, and the result is minimised to the end.
    FittedKernels run(const Matrix& peaks, bool last = true) {
        begin(0);
        const FittedKernels all = state_.lm.resume(timed_evaluation(peaks), state_.options.trial);
        state_.offer(all);
        FittedKernels first = improved(all);
        best_.score = state_.criterion.score(first);
        best_.model = std::move(first);
        if (best_.model.size() * state_.lm.free_rows() <= state_.options.max_parameters) {
            try_signs(peaks, all);
            begin(phases_.extension());
            if (state_.candidates.size() > 0) consider(extended(best_.model));
            eliminate_carefully();
        }
        change_shapes();
        if (!last) return std::move(best_.model);
        begin(phases_.polish());
        FittedKernels polished = best_.model;
        polished.quadratic.reset();
        polished = state_.lm.resume(std::move(polished), state_.options.polish);
        return state_.criterion.score(polished) <= best_.score ? std::move(polished) : std::move(best_.model);
    }

private:
    /// The first evaluation; its seconds give the estimate of the time of the search.
    FittedKernels timed_evaluation(const Matrix& peaks) {
        detail::Watch* watch = state_.problem().watch;
        const double before = watch != nullptr ? watch->seconds() : 0.0;
        FittedKernels first = state_.lm.evaluate(peaks);
        if (watch != nullptr && first.size() >= typical_kernels)  // smaller starts grow
            watch->expect(expected_search_seconds(watch->seconds() - before));
        return first;
    }

    void begin(Index phase) { state_.begin_phase(phase, phases_); }

    FittedKernels improved(FittedKernels model) {
        return backward_elimination(state_, forward_selection(state_, std::move(model), max_kernels_));
    }

    bool consider(FittedKernels model) {
        const Score score = state_.criterion.score(model);
        if (!(score < best_.score)) return false;
        best_ = {std::move(model), score};
        return true;
    }

    void try_signs(const Matrix& peaks, const FittedKernels& all) {
        if (all.size() == 0) return;
        const Matrix& a = all.fit.coefficients;
        const Vector side =
            detail::product<Scalar>(a, detail::leading_axis<Scalar>(detail::product_tn<Scalar>(a, a)));
        for (const double sign : {-1.0, 1.0}) {
            std::vector<Index> kept;
            for (Index j = 0; j < peaks.cols(); ++j)
                if (sign * side(j) > 0.0) kept.push_back(j);
            const auto count = static_cast<Index>(kept.size());
            if (count == 0 || count == peaks.cols()) continue;
            begin(sign < 0.0 ? 1 : 2);
            consider(
                improved(state_.lm.minimize(detail::columns_of<Scalar>(peaks, kept), state_.options.trial)));
        }
    }

    /// The model with the candidate of the largest gain, improved.
    FittedKernels extended(FittedKernels model) {
        const Vector gains = state_.candidates(model.fit);
        return backward_elimination(
            state_, detail::with_candidate(state_, model, best_candidate(state_.candidates.nodes(), gains)));
    }

    /// Once more without what makes trials short: all kernels move, by exact curvatures, to the end.
    void eliminate_carefully() {
        SearchOptions careful = state_.options;
        careful.moving_kernels = std::max<Index>(1, best_.model.size());
        careful.backward.tries = careful.careful_tries;
        careful.trial.race_steps = careful.trial.max_steps;
        careful.trial.steps_per_curvature = 1;
        SearchState<Scalar> state{state_.lm, state_.criterion, state_.candidates, careful, state_.incumbent};
        consider(backward_elimination(state, best_.model));
    }

    /// No step leads from one shape to another: each kernel tries them all.
    void change_shapes() {
        const std::vector<double> shapes = state_.problem().kernel.shapes();
        if (shapes.empty()) return;
        begin(phases_.shapes());
        for (Index j = 0; j < best_.model.size(); ++j)
            for (const double shape : shapes) {
                const Matrix& nodes = best_.model.fit.nodes;
                if (j >= best_.model.size() || nodes(nodes.rows() - 1, j) == shape) continue;
                Matrix other = nodes;
                other(other.rows() - 1, j) = shape;
                consider(
                    backward_elimination(state_, state_.lm.minimize(std::move(other), state_.options.trial)));
            }
    }

    SearchState<Scalar>& state_;
    Index max_kernels_;
    SearchPhases phases_{};
    Incumbent best_{};
};

}  // namespace kernelet
