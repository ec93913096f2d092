#pragma once

#include <kernelet/fit_run.hpp>
#include <kernelet/source_fit.hpp>
#include <kernelet/sources/matrix_source.hpp>
#include <kernelet/target_unit.hpp>

#include <utility>

/// The definitions that an estimator calls, included where they are compiled.
namespace kernelet::detail {

/// A fit to samples that are all held, in the unit of y.
template <class Scalar>
ErasedFit fit_in_unit(const FitProblem& problem, const Samples& given, FitRequest request) {
    Watch watch(std::move(request.observer));
    const OrderedSamples samples = ordered_samples<Scalar>(problem, given);
    const FitUnits units = FitUnits::of(problem.options, samples.samples.x, request.domain);
    return FitRun<Scalar>(problem, units.scaling, units.domain, watch)(samples, request.warm,
                                                                       request.wants_sizes);
}

/// fit_in_unit() in a unit of y that keeps squares in range.
template <class Scalar>
ErasedFit fit_held(const FitProblem& problem, const Samples& given, FitRequest request) {
    const TargetUnit unit = TargetUnit::of(problem, given.y);
    if (unit.is_one()) return fit_in_unit<Scalar>(problem, given, std::move(request));
    checked_samples<Scalar>(problem, given);  // messages in the user's unit
    return unit.fit(
        fit_in_unit<Scalar>(unit.problem(problem), unit.samples(given), unit.request(std::move(request))),
        problem);
}

/// More samples than are held go through the passes of a source. Tolerances per sample need all of them at once.
template <class Scalar>
ErasedFit fit_samples(const FitProblem& problem, const Samples& given, FitRequest request) {
    require(!request.wants_sizes || given.x.cols() <= problem.options.search.streams.held_samples,
            "kernel_path holds all samples, at most ", problem.options.search.streams.held_samples,
            " (options.search.streams.held_samples), and x has ", given.x.cols(), " columns");
    if (given.x.cols() <= problem.options.search.streams.held_samples || given.tolerances.size() > 0)
        return fit_held<Scalar>(problem, given, std::move(request));
    request.keeps_multipliers = true;
    const MatrixSource<double> source(given.x, given.y, given.weights.size() > 0 ? &given.weights : nullptr);
    return fit_source<Scalar>(problem, AnySource(source), std::move(request));
}

}  // namespace kernelet::detail
