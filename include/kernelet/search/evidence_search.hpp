#pragma once

#include <kernelet/search/learned_priors.hpp>

#include <utility>

namespace kernelet {

namespace detail {

/// The scales with another noise deviation, for the squared loss.
inline SampleScales with_noise(SampleScales scales, double deviation) {
    scales.noise_deviation = deviation;
    scales.noise_level = deviation * deviation;
    return scales;
}

}  // namespace detail

/// A search whose noise, priors and number of kernels follow from the evidence of its models. The noise that the search
/// begins with is that of neighbouring samples, which in several dimensions differ by more than their noise; the price
/// per kernel is that of Criterion. Each round goes on from the best model with the noise and the priors that it shows,
/// and is kept where its evidence is better; where it is not, the next rounds are at a lower price. Where the noise is
/// known (one input, a tolerance) or the loss is no log likelihood, a single search. Holds references.
template <class Scalar = double>
class EvidenceSearch {
public:
    EvidenceSearch(const SearchProblem& problem, const SearchRequest& request, const Options& options)
        : problem_(problem), request_(request), options_(options) {}

    /// `hyper`: what the priors of the problem were made with.
    SearchResult run(const Hyperparameters& hyper) {
        if (!applies()) return finished(Search<Scalar>(problem_, request_, options_).run(), hyper);
        SearchRequest first = request_;
        first.last = false;
        best_.found = finished(Search<Scalar>(problem_, first, options_).run(), hyper);
        if (best_.found.bound == Bound::observer) return std::move(best_.found);
        try {
            best_.evidence = evidence_of<Scalar>(problem_, best_.found.scales, best_.found.model);
            improve();
            if (request_.last && best_.found.bound != Bound::observer)
                best_.found = searched({best_.found.scales, best_.found.hyper, best_.found.trend},
                                       {.effort = SearchEffort::polish, .last = true});
        } catch (const Interrupted&) {
            best_.found.bound = Bound::observer;
        }
        return std::move(best_.found);
    }

private:
    struct Assumptions {
        SampleScales scales;
        Hyperparameters hyper;
        Trend trend;
    };
    struct Effort {
        SearchEffort effort = SearchEffort::refine;
        bool last = false;
        double price = 1.0;
    };

    const EvidenceOptions& limits() const { return options_.search.evidence; }

    bool applies() const {
        const bool noise_unknown = problem_.loss.is_squared() && request_.scales.noise_is_bound;
        return request_.tolerance == nullptr && limits().max_rounds > 0 &&
               (noise_unknown || problem_.loss.loss().is_log_likelihood());
    }

    SearchResult finished(SearchResult found, const Hyperparameters& hyper) const {
        found.scales = request_.scales;
        found.hyper = hyper;
        found.trend = problem_.trend;
        return found;
    }

    /// One round with the trend of the problem; where that is left to the evidence, one with a linear one, and where that
    /// is better, one with its constant alone; then rounds with the best of these.
    void improve() {
        const double gain = may_go_on() ? accepts(refined(1.0, best_.found.trend)) : 0.0;
        const bool free = options_.asked_trend() == Trend::automatic && problem_.loss.is_squared();
        // Also for a model without kernels: a plane may be all there is.
        const bool linear = free && !stopped() && accepts(refined(1.0, Trend::linear)) > 0.0;
        if (linear && !stopped()) accepts(refined(1.0, Trend::constant));
        // Where nothing was accepted, a round at the same price would repeat the search.
        improve_at_falling_prices(gain > 0.0 || linear ? 1.0 : limits().price_decrease);
    }

    bool stopped() const { return best_.found.bound == Bound::observer; }
    bool may_go_on() const { return !stopped() && best_.found.model.size() > 0; }

    void improve_at_falling_prices(double price) {
        for (Index round = 0; round < limits().max_rounds && price >= limits().min_price; ++round) {
            if (!may_go_on()) return;
            if (!(accepts(refined(price, best_.found.trend)) > limits().gain_per_kernel))
                price *= limits().price_decrease;
        }
    }

    /// −2 log evidence that a model gains on the best, less the preference for fewer kernels. It is the best where that
    /// is positive. After a stop the best so far remains,
    /// with Bound::observer.
    double accepts(AssessedModel next) {
        if (next.found.bound == Bound::observer) {
            best_.found.bound = Bound::observer;
            return 0.0;
        }
        const double gain = best_.evidence.value - next.evidence.value -
                            limits().gain_per_kernel *
                                static_cast<double>(next.found.model.size() - best_.found.model.size());
        if (gain > 0.0) best_ = std::move(next);
        return gain;
    }

    /// From the best model, with the noise and the priors that it shows.
    AssessedModel refined(double price, Trend trend) {
        Assumptions assumed{best_.found.scales, learned_priors(problem_, best_, options_.search.priors),
                            trend};
        if (problem_.loss.is_squared())
            assumed.scales = detail::with_noise(assumed.scales, best_.evidence.noise_deviation);
        AssessedModel next;
        next.found = searched(assumed, {.price = price});
        if (next.found.bound != Bound::observer)
            next.evidence = evidence_of<Scalar>(problem_with(assumed), assumed.scales, next.found.model);
        return next;
    }

    SearchProblem problem_with(const Assumptions& assumed) const {
        SearchProblem out = problem_;
        out.priors = Priors::from(assumed.scales, options_, assumed.hyper);
        out.trend = assumed.trend;
        return out;
    }

    SearchResult searched(const Assumptions& assumed, const Effort& effort) {
        const SearchProblem problem = problem_with(assumed);
        const SearchResult& before = best_.found;
        const Matrix candidates = with_widths_of_prior(request_.candidates, problem_, assumed.hyper);
        SearchRequest request{before.model.nodes, candidates, assumed.scales};
        request.effort = effort.effort;
        request.last = effort.last;
        request.price = effort.price;
        request.known = &before.model;
        Options options = options_;
        options.search.trial = limits().trial;
        SearchResult found = Search<Scalar>(problem, request, options).run();
        found.counters += before.counters;
        found.scales = assumed.scales;
        found.hyper = assumed.hyper;
        found.trend = assumed.trend;
        return found;
    }

    const SearchProblem& problem_;
    const SearchRequest& request_;
    const Options& options_;
    AssessedModel best_{};
};

}  // namespace kernelet
