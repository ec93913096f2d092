#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_solution.hpp>

namespace kernelet {

struct StochasticSupergradientOptions {
    double eta_lambda = 0.01;       ///< η_λ
    double eta_mu = 1.0;            ///< η_μ
    Index batch = 500;              ///< B
    Index iterations = 1000;        ///< T
    double initial_mu = 1.0;        ///< μ(0) > 0
    Index evaluation_nodes = 4096;  ///< on which the values of the report are integrated at the end

    void validate() const {
        detail::require_positive(eta_lambda, "solver.eta_lambda");
        detail::require_positive(eta_mu, "solver.eta_mu");
        detail::require_at_least(batch, 1, "solver.batch");
        detail::require_at_least(iterations, 1, "solver.iterations");
        detail::require_positive(initial_mu, "solver.initial_mu");
        detail::require_at_least(evaluation_nodes, 1, "solver.evaluation_nodes");
    }
};

/// Algorithm 1 of the paper as printed: supergradient ascent on λ and μ with fixed steps and B nodes drawn
/// afresh from ρ each time. Mended: the sign of λŷ in its line 3 (the Lagrangian has +), and the range of
/// ŷ_d, bounded by a redundant box so that the dual stays finite as μ reaches 0. Its steps and T are the
/// user's to choose; the default solver needs neither.
class StochasticSupergradient {
public:
    explicit StochasticSupergradient(StochasticSupergradientOptions options = {}) : options_(options) {
        options_.validate();
    }

    const StochasticSupergradientOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    StochasticSupergradientOptions options_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#endif
