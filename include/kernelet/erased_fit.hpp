#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/dual/dual_solver.hpp>
#include <kernelet/dual/warm_start.hpp>
#include <kernelet/kernels/any_kernel.hpp>
#include <kernelet/losses/any_loss.hpp>
#include <kernelet/options.hpp>
#include <kernelet/report.hpp>
#include <kernelet/sources/any_source.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

/// The boundary between an estimator, a template of kernel, loss and solver, and the fit, which is compiled once
/// for all of them.
namespace kernelet::detail {

/// A dual solver on the one type of problem that a fit makes.
using ErasedSolver = std::function<DualSolution(const ErasedDualProblem&, const ObserverFunction&)>;

/// Not inline, so that `extern template` spares a file its compilation.
template <class Solver>
ErasedSolver erase_solver(const Solver& solver) {
    return [solver](const ErasedDualProblem& problem, const ObserverFunction& observer) -> DualSolution {
        return solver.solve(problem, observer);
    };
}

/// Turns the reports of consecutive fits into those of the whole: fraction and seconds go on where the last fit ended.
class PathObserver {
public:
    PathObserver(ObserverFunction observer, std::size_t fits) : observer_(std::move(observer)), fits_(fits) {}

    /// The observer of the next fit. Refers to this object.
    ObserverFunction next() {
        if (!observer_) return {};
        const double before = seconds_;
        const auto index = static_cast<double>(begun_++);
        return [this, before, index](Progress progress) {
            const bool last = begun_ == fits_;
            if (progress.stage == "done" && !last) progress.stage = "search";
            progress.seconds += before;
            seconds_ = progress.seconds;
            const double later = static_cast<double>(fits_) - index - 1.0;
            progress.seconds_left += later * (progress.seconds + progress.seconds_left) / (index + 1.0);
            progress.fraction = (index + progress.fraction) / static_cast<double>(fits_);
            return observer_(progress);
        };
    }

private:
    ObserverFunction observer_;
    std::size_t fits_;
    std::size_t begun_ = 0;
    double seconds_ = 0.0;
};

/// The parts of an estimator.
struct FitProblem {
    AnyKernel kernel;
    AnyLoss loss;
    ErasedSolver solver;
    Options options{};
};

/// The samples with sizes and values checked, y as q x n and weights filled in.
template <class Scalar = double>
Samples checked_samples(const FitProblem& problem, Samples samples);

/// A model in the fit's own units.
struct ErasedModel {
    Matrix nodes{};         ///< (d + p) x K
    Matrix coefficients{};  ///< K x q
    Vector offset{};        ///< q
    Matrix slopes{};        ///< d x q, where the trend is linear
    ModelStatistics statistics{};
};

/// A model of another size than the one that was found.
struct SizedModel {
    ErasedModel model{};
    double residual{};  ///< as Report::residual
};

/// The result of a fit, in the fit's own units where a scaling applies.
struct ErasedFit : ErasedModel {
    InputScaling scaling{};
    Matrix field_x{};       ///< the samples of the dual, d x m
    Matrix field_lambda{};  ///< q x m
    Report report{};
    Matrix
        multipliers{};  ///< λ, q x n, in the order of the samples given; of those held where a source was given
    std::vector<SizedModel> sizes{};  ///< by rising size, where FitRequest::wants_sizes
};

/// The inputs of a fit besides its samples.
struct FitRequest {
    std::optional<AnyDomain> domain{};  ///< read off the samples where none is given
    ObserverFunction observer{};
    WarmStart warm{};
    bool keeps_multipliers = false;  ///< returns λ and prices of all n samples, not of none
    bool wants_sizes = false;        ///< also models of other sizes
};

/// samples → dual → field → peaks → search → model.
template <class Scalar = double>
ErasedFit fit_samples(const FitProblem& problem, const Samples& samples, FitRequest request);

/// fit_samples() on samples that are read in blocks; at most StreamOptions::held_samples are held in memory.
template <class Scalar = double>
ErasedFit fit_source(const FitProblem& problem, const AnySource& source, FitRequest request);

}  // namespace kernelet::detail
