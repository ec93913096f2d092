#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/search/levenberg_marquardt.hpp>
#include <kernelet/search/partial_problem.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

/// How long a search is expected to take, for the observer alone: nothing here changes a result. The numbers are
/// means over chirps, bumps in two and three dimensions and overlapping classes: `time_limit 0.5 verbose`.
namespace kernelet {

/// The phases of a SearchStrategy: the start from all peaks, two starts from peaks of one sign, one kernel more,
/// shapes, polish; with the fraction of the search that each is expected to take.
struct SearchPhases {
    static constexpr std::array<double, 6> weights{20.0, 20.0, 20.0, 16.0, 1.0, 3.0};

    static constexpr Index count() { return static_cast<Index>(weights.size()); }
    static constexpr Index extension() { return 3; }
    static constexpr Index shapes() { return 4; }
    static constexpr Index polish() { return 5; }

    /// The fraction of the search before a phase.
    static double before(Index phase) {
        double done = 0.0, all = 0.0;
        for (Index k = 0; k < count(); ++k) {
            all += weights[static_cast<std::size_t>(k)];
            if (k < phase) done += weights[static_cast<std::size_t>(k)];
        }
        return done / all;
    }
};

/// Levenberg–Marquardt steps of a search: 300 to 2500, whatever the problem, each of them counted twice for its share of
/// Gram matrices.
inline constexpr double usual_search_steps = 2000.0;
/// Kernels of a model on the way.
inline constexpr Index typical_kernels = 12;

/// The seconds that a search is expected to take before anything is known of its kernels: one step is timed on a part
/// of the samples with a typical number of kernels of typical widths.
template <class Scalar = double>
double expected_search_seconds(SearchProblem problem, const Matrix& candidates, Index max_kernels) {
    using Clock = std::chrono::steady_clock;
    constexpr Index timed_samples = 1000, typical_classifier = 4;
    problem.watch = nullptr;
    const Index n = problem.points.size(), timed = std::min(n, timed_samples);
    const Index typical = problem.loss.loss().is_classification() ? typical_classifier : typical_kernels;
    const Index kernels = std::min({typical, max_kernels, candidates.cols()});
    const PartialProblem part(problem, detail::random_part(n, timed, detail::CounterRandom(problem.seed)));
    Matrix nodes(candidates.rows(), kernels);
    for (Index j = 0; j < kernels; ++j) {
        Vector node = detail::column_ref(candidates, j * candidates.cols() / kernels);
        for (Index row = problem.domain.dimension(); row < node.size(); ++row)
            if (problem.domain.free(row)) node(row) = problem.priors.widths.typical;
        problem.domain.project(node);
        detail::copy(node, detail::Block(nodes).columns(j, 1));
    }
    Evaluation<Scalar> evaluation(part.problem());
    double step = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 3; ++repeat) {  // the quickest: other programs may be running
        const Clock::time_point start = Clock::now();
        evaluation.at(nodes);
        step = std::min(step, std::chrono::duration<double>(Clock::now() - start).count());
    }
    // Most steps are made on the first level of samples, few on all.
    constexpr double steps_on_all = 40.0;
    const Index first = std::min(n, SearchOptions{}.levels.first(problem.loss.loss().is_classification()));
    const double on_all = n > first ? steps_on_all * static_cast<double>(n) : 0.0;
    return step * (usual_search_steps * static_cast<double>(first) + on_all) / static_cast<double>(timed);
}

/// The estimate once the start of a search is known, from the seconds of its evaluation: later models are smaller.
inline double expected_search_seconds(double start_evaluation) {
    constexpr double later_models = 0.5;
    return usual_search_steps * later_models * start_evaluation;
}

}  // namespace kernelet
