#pragma once

#include <kernelet/search/search.hpp>
#include <kernelet/search/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelet {

/// A model as it is returned: kernels by falling share, without redundant ones, and what is known about them.
struct FinalModel {
    KernelExpansion model{};
    ModelStatistics statistics{};
    Index redundant{};  ///< kernels left out because the others span them up to rounding
};

namespace detail {

/// Kernels by falling share.
template <class Scalar = double>
FinalModel by_share(const SearchProblem& problem, const KernelExpansion& model) {
    const Vector shares = shares_of<Scalar>(problem.kernel, problem.points, model, problem.loss.weights());
    std::vector<Index> order(static_cast<std::size_t>(model.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index l, Index r) { return shares(l) > shares(r); });
    FinalModel out;
    out.model = {columns_of<Scalar>(model.nodes, order), rows_of<Scalar>(model.coefficients, order),
                 model.offset, model.slopes};
    out.statistics.shares = entries_of<Scalar>(shares, order);
    return out;
}

/// What the search took for known of nodes, and what a kernel cost it: see Priors and Criterion.
inline NodePrecisions node_precisions(const SearchProblem& problem, const SearchResult& found) {
    const auto samples = static_cast<double>(found.scales.samples);
    const double half = found.scales.half_diagonal, s = found.hyper.log_width_deviation;
    if (!(half > 0.0) || !(samples > 1.0)) return {};  // after a first-order search
    const auto d = static_cast<double>(problem.domain.dimension());
    const double parameters = static_cast<double>(problem.outputs()) + d + 1.0;
    return {3.0 * d / (half * half), 1.0 / (s * s), parameters * std::log(samples)};
}

/// Fits the coefficients once more by a rank-revealing factorisation with no kernel value left out, and computes
/// the statistics of least squares.
template <class Scalar = double>
FinalModel by_least_squares(const SearchProblem& problem, const SearchResult& found) {
    const LeastSquaresProblem linear{problem.kernel,         problem.points, problem.loss.target(),
                                     problem.loss.weights(), found.ridge,    found.trend,
                                     poll_of(problem.watch)};
    LeastSquaresFit fit = least_squares<Scalar>(linear, found.model.nodes);
    std::vector<Index> kept;
    for (Index j = 0; j < found.model.size(); ++j)
        if (!std::binary_search(fit.redundant.begin(), fit.redundant.end(), j)) kept.push_back(j);
    FinalModel out = by_share<Scalar>(
        problem, {columns_of<Scalar>(found.model.nodes, kept), rows_of<Scalar>(fit.coefficients, kept),
                  std::move(fit.offset), std::move(fit.slopes)});
    out.redundant = static_cast<Index>(fit.redundant.size());
    out.statistics =
        statistics_of<Scalar>(linear, problem.domain, out.model, node_precisions(problem, found));
    return out;
}

}  // namespace detail

/// The last step of a fit: least squares once more for the squared loss. After a stop, and for other losses, the model
/// is taken as the search left it, with its shares alone. O(n (K + q)² + n (K (q + d + p))²).
template <class Scalar = double>
FinalModel final_model(const SearchProblem& problem, const SearchResult& found) {
    try {
        if (problem.loss.is_squared() && found.bound != Bound::observer)
            return detail::by_least_squares<Scalar>(problem, found);
    } catch (const Interrupted&) {
        // as after any other stop
    }
    return detail::by_share<Scalar>(problem, found.model);
}

}  // namespace kernelet
