#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/search/forward_selection.hpp>
#include <kernelet/search/partial_problem.hpp>

#include <algorithm>

namespace kernelet {

/// A model for a fit that was stopped before its search had one: orthogonal matching pursuit over some nodes on a
/// part of the samples, then the coefficients once more on a larger part. Takes some hundredths of a second for any
/// number of samples, and does not poll the observer.
template <class Scalar = double>
KernelExpansion quick_model(SearchProblem problem, const Matrix& nodes, Index max_kernels) {
    constexpr Index pursuit_samples = 400, final_samples = 2000, most_kernels = 8, most_nodes = 500;
    constexpr std::uint64_t stream = 51;
    problem.watch = nullptr;
    const Index n = problem.points.size();
    const auto part = [&](Index count) {
        return detail::random_part(n, std::min(n, count), detail::CounterRandom(problem.seed, stream));
    };
    const PartialProblem some(problem, part(pursuit_samples));
    Evaluation<Scalar> evaluation(some.problem());
    const Matrix candidates = detail::columns_of<Scalar>(
        nodes, detail::random_part(nodes.cols(), std::min(nodes.cols(), most_nodes),
                                   detail::CounterRandom(problem.seed, stream + 1)));
    CandidateGains<Scalar> among(some.problem(), candidates, pursuit_samples);
    Matrix chosen(nodes.rows(), 0);
    const Index count = std::min({max_kernels, most_kernels, candidates.cols()});
    for (Index k = 0; k < count; ++k) {
        const FittedKernels model = evaluation.at(chosen);
        const Vector gains = among(model.fit);
        if (!(detail::max_abs(gains) > 0.0)) break;
        chosen = with_best_candidate(model.fit, candidates, gains);
    }
    const PartialProblem more(problem, part(final_samples));
    return Evaluation<Scalar>(more.problem()).at(chosen).fit;
}

}  // namespace kernelet
