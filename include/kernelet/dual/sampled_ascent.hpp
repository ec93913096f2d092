#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/coordinate_ascent.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace kernelet {

struct SampledAscentOptions {
    /// Nodes drawn in the first stage; each stage draws twice as many, all new.
    Index first_nodes = 1024;
    /// No stage draws more.
    Index max_nodes = 4096;
    /// Change of D from a stage's nodes to as many new ones, relative to D, at which the integrals count as
    /// good enough. Their error falls with the number of nodes, somewhere between its root and itself.
    double integration = 1e-2;

    void validate() const {
        detail::require_at_least(first_nodes, 1, "solver.first_nodes");
        detail::require(max_nodes >= first_nodes, "solver.max_nodes = ", max_nodes,
                        " must be at least solver.first_nodes = ", first_nodes);
        detail::require_positive(integration, "solver.integration");
    }
};

/// The dual on drawn nodes, for domains that have no rule (d ≥ 4) and samples too many for dense systems: a
/// stage draws B nodes, the next of one low-discrepancy sequence under ρ, solves the dual on them with Inner,
/// begun at the last stage's λ, and looks at D on as many nodes again, which λ has not seen. It stops where
/// the two agree, not after a fixed T; otherwise B doubles. Most of the way is thus gone on few nodes.
///
/// Second-order steps on a frozen batch, rather than a new batch for each gradient step: K = ∫kk is
/// numerically singular, and at n = 1000 accelerated proximal steps with growing batches and averaging came
/// to no certificate in a minute where this takes a second.
/// Memory O(n + B) with CoordinateAscent inside.
template <class Inner = CoordinateAscent>
class SampledAscent {
public:
    explicit SampledAscent(SampledAscentOptions options = {}, Inner inner = Inner{})
        : options_(options), inner_(std::move(inner)) {
        options_.validate();
    }

    const SampledAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        const double tau = penalty::threshold(problem.gamma);
        DualProblem<Kernel, Loss, Domain> stage = problem;
        std::optional<Matrix> lambda;
        Index drawn = 0, iterations = 0;
        for (Index count = options_.first_nodes;; count = std::min(2 * count, options_.max_nodes)) {
            const Quadrature nodes = problem.draw(drawn, count);
            drawn += count;
            stage.fixed_nodes = &nodes;
            if (lambda) stage.warm_start = &*lambda;
            DualSolution solution = inner_.solve(stage, observer);
            solution.iterations = iterations += solution.iterations;
            if (solution.status == Status::stopped || count == options_.max_nodes) return solution;
            // Too few nodes may not carry data that more of them do.
            if (solution.status == Status::infeasible) continue;
            const Quadrature unseen = problem.draw(drawn, count);
            const double here = phi(problem.field(solution.lambda, nodes.nodes), nodes.weights, tau);
            const double there = phi(problem.field(solution.lambda, unseen.nodes), unseen.weights, tau);
            if (std::abs(there - here) <= options_.integration * std::abs(solution.dual_value))
                return solution;
            lambda = std::move(solution.lambda);
        }
    }

private:
    SampledAscentOptions options_;
    Inner inner_;
};

}  // namespace kernelet
