#pragma once

#include <kernelet/search/search.hpp>
#include <kernelet/search/statistics.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelet {

/// A model as it is handed out: kernels by falling share, without redundant ones, and what is known about them.
struct FinalModel {
    KernelExpansion model{};
    ModelStatistics statistics{};
    Index redundant{};  ///< kernels left out because the others span them up to rounding
};

/// The last step of a fit. For the squared loss the coefficients are fitted once more by a rank-revealing
/// factorisation with no kernel value left out. After a stop the model is taken as it is, with its shares alone.
/// O(n (K + q)² + K³).
template <class Scalar = double>
FinalModel final_model(const SearchProblem& problem, const SearchResult& found) {
    const Vector& weights = problem.loss.weights();
    const bool refit = problem.loss.is_squared() && found.bound != Bound::observer;
    const LeastSquaresProblem linear{problem.kernel, problem.points, problem.loss.target(),
                                     weights,        found.ridge,    problem.intercept};
    KernelExpansion model = found.model;
    FinalModel out;
    if (refit) {
        LeastSquaresFit fit = least_squares<Scalar>(linear, model.nodes);
        out.redundant = static_cast<Index>(fit.redundant.size());
        std::vector<Index> kept;
        for (Index j = 0; j < model.size(); ++j)
            if (!std::binary_search(fit.redundant.begin(), fit.redundant.end(), j)) kept.push_back(j);
        model = {detail::columns_of<Scalar>(model.nodes, kept),
                 detail::rows_of<Scalar>(fit.coefficients, kept), std::move(fit.offset)};
    }
    const Vector shares = shares_of<Scalar>(problem.kernel, problem.points, model, weights);
    std::vector<Index> order(static_cast<std::size_t>(model.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index l, Index r) { return shares(l) > shares(r); });
    out.model = {detail::columns_of<Scalar>(model.nodes, order),
                 detail::rows_of<Scalar>(model.coefficients, order), std::move(model.offset)};
    if (refit)
        out.statistics = statistics_of<Scalar>(linear, problem.domain, out.model);
    else
        out.statistics.shares = detail::entries_of<Scalar>(shares, order);
    return out;
}

}  // namespace kernelet
