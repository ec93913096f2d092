#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_solution.hpp>

#include <optional>

namespace kernelet {

struct StochasticSupergradientOptions {
    /// η_λ and η_μ: both given, Algorithm 1 as printed, with fixed steps. Unset, steps are chosen.
    std::optional<double> eta_lambda{};
    std::optional<double> eta_mu{};
    Index batch = 500;        ///< B; with chosen steps the first batch
    Index iterations = 1000;  ///< T; with chosen steps the most there may be, in all batches
    // Algorithm 1 as printed:
    double initial_mu = 1.0;        ///< μ(0) > 0
    Index evaluation_nodes = 4096;  ///< on which the values of the report are integrated at the end
    // With chosen steps:
    /// Relative gap, and violation of the averaged α relative to the size of y, at which the dual counts as solved.
    double gap = 5e-3;
    double violation = 5e-3;
    /// A batch grows fourfold while D changes by more than this, relative to it, on other nodes ...
    double integration = 5e-3;
    Index max_batch = 16384;  ///< ... up to this.
    /// r of the metric, see SketchedMetric: n r numbers are held.
    Index rank = 64;

    bool as_printed() const { return eta_lambda.has_value(); }

    void validate() const {
        if (eta_lambda) detail::require_positive(*eta_lambda, "solver.eta_lambda");
        if (eta_mu) detail::require_positive(*eta_mu, "solver.eta_mu");
        detail::require(eta_lambda.has_value() == eta_mu.has_value(),
                        "solver.eta_lambda and solver.eta_mu are given together, or neither is");
        detail::require_at_least(batch, 1, "solver.batch");
        detail::require_at_least(iterations, 1, "solver.iterations");
        detail::require_positive(initial_mu, "solver.initial_mu");
        detail::require_at_least(evaluation_nodes, 1, "solver.evaluation_nodes");
        detail::require_positive(gap, "solver.gap");
        detail::require_positive(violation, "solver.violation");
        detail::require_positive(integration, "solver.integration");
        detail::require(max_batch >= batch, "solver.max_batch = ", max_batch,
                        " must be at least solver.batch = ", batch);
        detail::require_at_least(rank, 1, "solver.rank");
    }
};

/// Algorithm 1 of the paper: ascent on λ along stochastic supergradients, on batches of nodes drawn from ρ.
///
/// With η_λ and η_μ given, as printed: fixed steps on λ and μ, B new nodes in each step, T iterations. Corrected:
/// the sign of λŷ in its line 3 (the Lagrangian has +), and the range of ŷ_d, bounded by a redundant box so that the dual
/// stays finite as μ reaches 0. No trend.
///
/// Without them there is nothing to tune, see PrimalDualAscent: μ is eliminated by a proximal step on λ; K = ∫kk,
/// sketched at rank r, takes the place of 1/η_λ; α moves by proximal steps to its threshold, so that its averages are
/// feasible and the gap is known on the way; a batch is an order of the domain's rule or, where it has none, the next run
/// of a randomly shifted low-discrepancy sequence; it is kept until the dual is solved on it, and batches grow until D
/// agrees on other nodes. It stops on the gap. Fresh nodes in
/// every step do not allow such steps: the noise of a batch of B nodes is multiplied by K⁻¹, and B would have to exceed
/// the largest k'P⁻¹k of a node, thousands, for the iteration to be stable. Any loss, scope, number of outputs and trend;
/// memory O(r n + B), where AugmentedNewton holds n² numbers or those of the nodes that are on squared.
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
