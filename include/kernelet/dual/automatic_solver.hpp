#pragma once

#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/dual/solver_options.hpp>

namespace kernelet {

/// The default: chooses solver and nodes from n, d, the outputs and the domain, by default.
///     nodes    the domain's rule where it has one (a box up to d = 3, candidate centers); elsewhere, around the
///              samples, drawn, in numbers that double until the integrals agree
///     steps    AugmentedNewton; CoordinateAscent for many samples of one input, and where a tolerance for
///              each sample and more samples than newton.dense_samples would leave Newton to conjugate
///              gradients; not for several outputs or a trend
/// benchmarks/paper/dual_solvers measured the borders.
class AutomaticSolver {
public:
    explicit AutomaticSolver(AutomaticSolverOptions options = {}) : options_(options) {
        detail::require_valid(options_);
    }

    const AutomaticSolverOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    AutomaticSolverOptions options_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/dual/automatic_solver_impl.hpp>
#endif
