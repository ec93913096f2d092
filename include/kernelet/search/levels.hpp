#pragma once

#include <kernelet/search/evidence_search.hpp>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// Every so many-th of n samples, `count` in all: in spatial order, as all are.
inline std::vector<Index> spread_part(Index n, Index count) {
    std::vector<Index> part;
    for (Index k = 0; k < count; ++k) part.push_back(k * n / count);
    return part;
}

/// The feasible set restricted to some samples.
inline FeasibleSet<AnyLoss> part_of(const FeasibleSet<AnyLoss>& whole, const std::vector<Index>& part) {
    Vector tolerances(static_cast<Index>(part.size()));
    for (Index i = 0; i < tolerances.size(); ++i)
        tolerances(i) = whole.tolerance(part[static_cast<std::size_t>(i)]);
    return {whole.loss(), columns_of(whole.target(), part), whole.scope(), std::move(tolerances),
            entries_of(whole.weights(), part)};
}

}  // namespace detail

/// A search on many samples, from few to all: the whole search on some of them, then kernels moved, added and removed
/// on `growth` times as many, again and again. Few kernels are known from a few thousand samples up to details; those
/// need all samples, but few steps. Priors are those of all samples; what the criterion compares is the level's own.
/// Where a model is too large for the second-order search, all samples at once.
template <class Scalar = double>
class SearchInLevels {
public:
    /// Holds references.
    SearchInLevels(const SearchProblem& problem, const SearchRequest& request, const Options& options)
        : problem_(problem), request_(request), options_(options) {}

    SearchResult run() {
        const std::vector<Index> counts = level_sizes();
        Search<Scalar> whole(problem_, request_, options_);
        if (whole.needs_first_order()) {
            SearchResult found = whole.run();
            found.trend = problem_.trend;
            return found;
        }
        SearchResult found;
        found.model.nodes = request_.peaks;
        found.scales = request_.scales;
        found.hyper = given();
        found.trend = problem_.trend;
        if (counts.empty()) {
            SearchProblem all = problem_;
            all.priors = Priors::from(found.scales, options_, found.hyper);
            return EvidenceSearch<Scalar>(all, request_, options_).run(found.hyper);
        }
        SearchCounters counters;
        SearchEffort effort = SearchEffort::whole;
        for (const Index count : counts) {
            found = on_part(found, count, effort);
            counters += found.counters;
            found.counters = counters;
            if (found.bound == Bound::observer) return found;
            effort = SearchEffort::refine;
        }
        const SearchResult level = std::move(found);
        SearchProblem all = problem_;
        all.priors = Priors::from(level.scales, options_, level.hyper);
        all.trend = level.trend;
        const SearchRequest last{level.model.nodes,  request_.candidates,  level.scales,
                                 request_.tolerance, SearchEffort::refine, true,
                                 known(level.model)};
        found = Search<Scalar>(all, last, options_).run();
        counters += found.counters;
        found.counters = counters;
        found.scales = level.scales;
        found.hyper = level.hyper;
        found.trend = level.trend;
        return found;
    }

private:
    /// The priors before anything is learned. Labels with a tolerance have nearly none: it bounds the coefficients.
    Hyperparameters given() const {
        constexpr double bounded_by_tolerance = 1e3;
        const PriorOptions& priors = options_.search.priors;
        double deviation = priors.coefficient_deviation;
        if (problem_.loss.loss().is_classification())
            deviation = request_.tolerance == nullptr ? priors.decision_deviation : bounded_by_tolerance;
        return Hyperparameters::given(problem_.domain, priors, deviation);
    }

    /// A model of an earlier level; none where there are only nodes yet.
    static const KernelExpansion* known(const KernelExpansion& model) {
        return model.offset.size() > 0 ? &model : nullptr;
    }

    /// Samples of the levels before the last, in steps of equal ratio.
    std::vector<Index> level_sizes() const {
        const LevelOptions& levels = options_.search.levels;
        const Index n = problem_.points.size(),
                    first = levels.first(problem_.loss.loss().is_classification());
        if (n <= first) return {};
        const double growth = static_cast<double>(n) / static_cast<double>(first);
        const double steps = std::ceil(std::log(growth) / std::log(static_cast<double>(levels.growth)));
        std::vector<Index> sizes;
        for (double step = 0.0; step < steps; ++step)
            sizes.push_back(static_cast<Index>(static_cast<double>(first) * std::pow(growth, step / steps)));
        return sizes;
    }

    /// From the result of the level before, on so many samples.
    SearchResult on_part(const SearchResult& before, Index count, SearchEffort effort) {
        const KernelExpansion& model = before.model;
        const std::vector<Index> part = detail::spread_part(problem_.points.size(), count);
        SampleScales scales = before.scales;
        scales.samples = count;
        SearchProblem whole = problem_;
        whole.trend = before.trend;
        const PartialProblem some(whole, part, Priors::from(scales, options_, before.hyper));
        scales.energy = 0.0;
        const SearchProblem& level = some.problem();
        for (Index i = 0; i < count; ++i)
            scales.energy += detail::column_squares(level.loss.target(), i) * level.loss.weights()(i);
        if (!(scales.energy > 0.0)) return before;  // zero at all of these samples
        std::optional<FeasibleSet<AnyLoss>> tolerance;
        if (request_.tolerance != nullptr) tolerance = detail::part_of(*request_.tolerance, part);
        const SearchRequest request{
            model.nodes, request_.candidates, scales, tolerance ? &*tolerance : nullptr, effort,
            false,       known(model)};
        SearchResult found;
        if (effort == SearchEffort::whole) {
            found = EvidenceSearch<Scalar>(level, request, options_).run(before.hyper);
        } else {
            found = Search<Scalar>(level, request, options_).run();
            found.hyper = before.hyper;
            found.trend = before.trend;
        }
        // From here on the sums are over all samples again.
        const double noise = found.scales.noise_deviation;
        found.scales = before.scales;
        if (effort == SearchEffort::whole && noise > 0.0 && noise != before.scales.noise_deviation)
            found.scales = detail::with_noise(before.scales, noise);
        return found;
    }

    const SearchProblem& problem_;
    const SearchRequest& request_;
    const Options& options_;
};

}  // namespace kernelet
