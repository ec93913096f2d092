#pragma once

#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/dual/solver_options.hpp>

namespace kernelet {

/// The augmented dual by semismooth Newton steps on all of λ. Meant for n up to some tens of thousands.
/// Second order, since K = ∫kk is numerically singular and gradient steps crawl:
/// benchmarks/paper/dual_solvers compares them.
class AugmentedNewton {
public:
    explicit AugmentedNewton(AugmentedNewtonOptions options = {}) : options_(options) { options_.validate(); }

    const AugmentedNewtonOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    AugmentedNewtonOptions options_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/dual/augmented_newton_impl.hpp>
#endif
