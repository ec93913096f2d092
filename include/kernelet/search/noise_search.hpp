#pragma once

#include <kernelet/search/model_noise.hpp>
#include <kernelet/search/search.hpp>

#include <algorithm>

namespace kernelet {

namespace detail {

/// The same scales with another noise, of the squared loss.
inline SampleScales with_noise(SampleScales scales, double deviation) {
    scales.noise_deviation = deviation;
    scales.noise_level = deviation * deviation;
    return scales;
}

}  // namespace detail

/// A search whose noise is estimated with its model. Neighbouring samples in several dimensions differ by more than
/// their noise, so that their estimate is only where the search begins: while the model that is found leaves much less,
/// the search goes on from there with that noise and the priors that follow from it. Where the noise is known (one
/// input, a tolerance) or the loss is not the squared one, a single search.
template <class Scalar = double>
SearchResult search_with_noise(const SearchProblem& problem, const SearchRequest& request,
                               const Options& options) {
    const NoiseOptions& noise = options.search.noise;
    SearchResult found = Search<Scalar>(problem, request, options).run();
    found.scales = request.scales;
    if (!request.scales.noise_is_bound || request.tolerance != nullptr || found.used_first_order)
        return found;
    for (Index round = 0; round < noise.max_rounds && found.bound == Bound::criterion; ++round) {
        SearchProblem again = problem;
        const auto set_noise = [&](const SampleScales& scales) {
            found.scales = scales;
            again.priors = Priors::from(scales, problem.domain, options);
        };
        set_noise(found.scales);
        double left = found.scales.noise_floor;
        try {
            left = std::max(left, noise_of_model<Scalar>(again, found.scales, found.model).deviation);
        } catch (const Interrupted&) {
            found.bound = Bound::observer;  // what was found is the best so far
            return found;
        }
        if (!(left < (1.0 - noise.min_decrease) * found.scales.noise_deviation)) break;
        set_noise(detail::with_noise(found.scales, left));
        const SearchResult before = found;
        SearchRequest next{before.model.nodes, request.candidates, before.scales};
        next.effort = SearchEffort::refine;
        next.last = request.last;
        next.known = &before.model;
        found = Search<Scalar>(again, next, options).run();
        found.counters += before.counters;
        found.scales = before.scales;
    }
    return found;
}

}  // namespace kernelet
