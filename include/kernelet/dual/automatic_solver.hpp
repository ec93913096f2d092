#pragma once

#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/dual/proximal_ascent.hpp>

namespace kernelet {

struct AutomaticSolverOptions {
    AugmentedNewtonOptions newton{};
    ProximalAscentOptions stochastic{};
    /// Most samples for which Newton's method on fixed nodes is used: its passes cost n x nodes kernel values
    /// each, some hundred of them. Above it, stochastic proximal steps.
    Index newton_samples = 20000;

    void validate() const {
        newton.validate();
        stochastic.validate();
        detail::require_at_least(newton_samples, 0, "solver.newton_samples");
    }
};

/// The default: chooses solver and nodes from n and the domain, so that nobody has to.
///     n ≤ newton_samples   AugmentedNewton, on the domain's rule where it has one (a box up to d = 3,
///     candidate centers),
///                          on low-discrepancy nodes drawn once elsewhere (d = 4 to 20 and beyond: around the
///                          samples)
///     n above              ProximalAscent, whose memory is O(n + B)
class AutomaticSolver {
public:
    explicit AutomaticSolver(AutomaticSolverOptions options = {}) : options_(options) { options_.validate(); }

    const AutomaticSolverOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        if (problem.samples() <= options_.newton_samples)
            return AugmentedNewton(options_.newton).solve(problem, observer);
        return ProximalAscent(options_.stochastic).solve(problem, observer);
    }

private:
    AutomaticSolverOptions options_;
};

}  // namespace kernelet
