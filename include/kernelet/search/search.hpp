#pragma once

#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/options.hpp>
#include <kernelet/search/first_order_search.hpp>
#include <kernelet/search/linear_elimination.hpp>
#include <kernelet/search/quick_model.hpp>
#include <kernelet/search/strategy.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// The result of a search.
struct SearchResult {
    KernelExpansion model{};
    Bound bound = Bound::criterion;  ///< what decided on the number of kernels
    std::optional<Score> score{};    ///< of the model; none after a first-order search or a stop
    SearchCounters counters{};
    double ridge{};                 ///< with which the coefficients were fitted
    bool used_first_order = false;  ///< the model was too large for the second-order search
    bool repeatable = true;         ///< small enough to be searched for again from other peaks
    SampleScales scales{};          ///< with the noise that the search took for that of the samples
    Hyperparameters hyper{};        ///< of its priors
    Trend trend = Trend::none;      ///< fitted with the kernels
};

/// How much of a search is done from where it begins.
enum class SearchEffort {
    whole,   ///< several starts, kernels added, removed and replaced
    refine,  ///< kernels moved, added and removed once
    polish   ///< kernels moved to where the optimum decides
};

/// The start and the goal of a search.
struct SearchRequest {
    const Matrix& peaks;       ///< (d + p) x peaks, or the nodes of a model to go on from
    const Matrix& candidates;  ///< (d + p) x B: from which kernels are added
    const SampleScales& scales;
    /// The feasible set of the tolerance; none: the information criterion decides.
    const FeasibleSet<AnyLoss>* tolerance = nullptr;
    SearchEffort effort = SearchEffort::whole;
    bool last = true;  ///< no search on more samples follows
    /// A model to return where the search is stopped before it has found one.
    const KernelExpansion* known = nullptr;
    double price = 1.0;  ///< of a kernel, relative to that of Criterion
};

/// The search for the fewest kernels: second order, one kernel at a time, or first order where models are too large
/// for that. Holds references: lives no longer than what it was made of.
template <class Scalar = double>
class Search {
public:
    Search(const SearchProblem& problem, const SearchRequest& request, const Options& options)
        : problem_(problem),
          request_(request),
          options_(options),
          lm_(problem),
          candidates_(problem, request.candidates, options.search.forward.gain_samples),
          affordable_(std::max<Index>(1, problem.loss.target().size() / parameters())),
          limit_(std::min(affordable_, options.max_kernels.value_or(affordable_))) {}

    /// Whether a second-order search would take too long even on the first samples of SearchInLevels.
    bool needs_first_order() const {
        return kernelet::needs_first_order(std::min(problem_.points.size(), search().levels.first(labels())),
                                           lm_.free_rows(), std::min(limit_, movable()),
                                           search().first_order);
    }

    /// Where the fit is interrupted, the result is the best model so far, or a quick one where there is none yet.
    SearchResult run() {
        try {
            return uninterrupted();
        } catch (const Interrupted&) {
            return with_counters({.model = best_so_far(), .bound = Bound::observer, .repeatable = false});
        }
    }

private:
    SearchResult uninterrupted() {
        problem_.poll();
        if (request_.effort != SearchEffort::whole) return by_second_order(request_.peaks);
        const Matrix start = detail::columns_of<Scalar>(
            request_.peaks, linear_elimination<Scalar>(least_squares_problem(), request_.peaks, movable()));
        return needs_first_order() ? by_first_order(start) : by_second_order(start);
    }

    /// A minimisation costs (K f)³: where there are more peaks, those of least effect are removed before.
    Index movable() const {
        return std::max(search().min_start_kernels,
                        search().max_parameters / std::max<Index>(1, lm_.free_rows()));
    }

    SearchResult with_counters(SearchResult result) const {
        result.counters = lm_.counters();
        result.ridge = lm_.ridge();
        return result;
    }

    KernelExpansion best_so_far() const {
        if (incumbent_ && incumbent_->size() <= limit_) return *incumbent_;
        if (request_.known != nullptr && request_.known->size() <= limit_) return *request_.known;
        return quick_model<Scalar>(problem_, request_.peaks.cols() > 0 ? request_.peaks : request_.candidates,
                                   limit_);
    }

    const SearchOptions& search() const { return options_.search; }
    bool labels() const { return problem_.loss.loss().is_classification(); }
    const Matrix& y() const { return problem_.loss.target(); }
    const Vector& weights() const { return problem_.loss.weights(); }
    bool has_tolerance() const { return request_.tolerance != nullptr; }
    /// The parameters of one kernel: its coefficients and the rows of its node that may move.
    Index parameters() const { return lm_.free_rows() + problem_.outputs(); }

    LeastSquaresProblem least_squares_problem() const {
        return {problem_.kernel,
                problem_.points,
                y(),
                weights(),
                lm_.ridge(),
                problem_.trend,
                detail::poll_of(problem_.watch)};
    }

    Criterion criterion(Index max_kernels) const {
        const SampleScales& scales = request_.scales;
        Criterion out;
        out.residuals = static_cast<double>(y().size());
        out.energy = problem_.loss.is_squared() ? scales.energy : lm_.energy();
        out.noise = scales.noise_level * detail::sum<Scalar>(weights()) *
                    static_cast<double>(problem_.outputs()) / out.energy;
        // Widths that share a prior share a price: with each counted, `airfoil` has a tenth more error.
        out.parameters =
            static_cast<double>(parameters() - std::max<Index>(0, Priors::free_widths(problem_.domain) - 1));
        out.max_kernels = max_kernels;
        out.noise_degree = scales.noise_degree;
        out.known_noise = scales.known_noise;
        out.bend = options_.noise_multiple * options_.noise_multiple;
        out.options = search().criterion;
        out.price_fraction = request_.price;
        if (labels()) out.likelihood_unit = scales.mean_weight;
        if (has_tolerance())
            out.violation = [this](const KernelExpansion& model) {
                return request_.tolerance->violation(problem_.prediction(model));
            };
        return out;
    }

    SearchResult by_second_order(const Matrix& start) {
        const Criterion wanted = criterion(limit_);
        SearchOptions options = search();
        // On many samples a small relative decrease of the cost is worth several kernels.
        options.trial.min_decrease = std::min(options.trial.min_decrease, wanted.negligible_decrease());
        SearchState<Scalar> state{lm_, wanted, candidates_, options};
        try {
            FittedKernels model = request_.effort == SearchEffort::whole
                                      ? SearchStrategy<Scalar>(state, limit_).run(start, request_.last)
                                      : refined(state, start);
            SearchResult result;
            result.repeatable = model.size() * lm_.free_rows() <= search().max_parameters;
            state.offer(model);
            if (!request_.last) {
                result.model = std::move(model.fit);
                return with_counters(std::move(result));
            }
            model = with_bounded_coefficients(std::move(model), wanted);
            if (state.incumbent) state.incumbent->model = model;
            bool more_wanted = false;
            if (model.size() >= limit_)
                more_wanted = has_tolerance() ? !wanted.met(model.fit) : another_is_worth_it(model);
            result.bound = bound(model.size(), more_wanted);
            result.score = wanted.score(model);
            result.model = std::move(model.fit);
            return with_counters(std::move(result));
        } catch (const Interrupted&) {
            if (state.incumbent) incumbent_ = std::move(state.incumbent->model.fit);
            throw;
        }
    }

    /// A model that was found on fewer samples.
    FittedKernels refined(SearchState<Scalar>& state, const Matrix& start) {
        FittedKernels model = lm_.minimize(start, state.options.trial);
        state.offer(model);
        if (request_.effort == SearchEffort::refine)
            model = backward_elimination(state, forward_selection(state, std::move(model), limit_));
        return request_.last ? lm_.resume(std::move(model), search().polish) : model;
    }

    /// Raises the ridge while a coefficient is so large that other kernels must nearly cancel its own.
    FittedKernels with_bounded_coefficients(FittedKernels model, const Criterion& wanted) {
        const PriorOptions& prior = search().priors;
        const double bound = prior.max_coefficient_ratio * detail::largest_column_norm(y());
        for (Index raised = 0;
             !labels() && !options_.ridge && raised < prior.max_ridge_increases && model.size() > 0 &&
             detail::max_abs(detail::row_norms<Scalar>(model.fit.coefficients)) > bound;
             ++raised) {
            lm_.set_ridge(prior.ridge_increase * lm_.ridge());
            FittedKernels calmer = lm_.minimize(model.fit.nodes);
            if (has_tolerance() && wanted.met(model.fit) && !wanted.met(calmer.fit)) break;
            model = std::move(calmer);
        }
        return model;
    }

    /// Whether forward selection would add a kernel beyond the limit.
    bool another_is_worth_it(const FittedKernels& model) {
        const Criterion wider = criterion(limit_ + 1);
        SearchOptions options = search();
        options.trial = LevenbergMarquardtOptions{};
        SearchState<Scalar> state{lm_, wider, candidates_, options};
        return forward_selection(state, model, limit_ + 1).size() > limit_;
    }

    SearchResult by_first_order(const Matrix& start) {
        const Criterion wanted = criterion(limit_);
        typename FirstOrderSearch<Scalar>::StopPredicate met;
        if (has_tolerance()) met = [&](const KernelExpansion& model) { return wanted.met(model); };
        FirstOrderSearch<Scalar> first_order(problem_, search(), met);
        try {
            FirstOrderResult found = first_order.run(start, request_.candidates, limit_);
            SearchResult result;
            result.used_first_order = true;
            result.repeatable = false;
            result.bound = bound(found.model.size(), found.more_wanted);
            if (result.bound == Bound::criterion) result.bound = Bound::held_out;
            result.model = std::move(found.model);
            return with_counters(std::move(result));
        } catch (const Interrupted&) {
            incumbent_ = first_order.best();
            throw;
        }
    }

    /// The reason why the search ended: a limit, where one more kernel would lower the score.
    Bound bound(Index kernels, bool more_wanted) const {
        if (more_wanted && kernels >= limit_)
            return options_.max_kernels && limit_ == *options_.max_kernels ? Bound::max_kernels
                                                                           : Bound::samples;
        return has_tolerance() ? Bound::tolerance : Bound::criterion;
    }

    const SearchProblem& problem_;
    const SearchRequest& request_;
    const Options& options_;
    LevenbergMarquardt<Scalar> lm_;
    CandidateGains<Scalar> candidates_;
    Index affordable_;  // never more parameters than samples: so many kernels could follow the noise anywhere
    Index limit_;
    std::optional<KernelExpansion> incumbent_{};  // the best model so far, where the search was interrupted
};

}  // namespace kernelet
