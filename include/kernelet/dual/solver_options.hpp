#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

/// When a second-order solver is done.
struct StoppingOptions {
    /// Relative gap at which the dual counts as solved.
    double gap = 1e-3;
    /// Violation of the recovered α, relative to the root mean square of y, up to which its cost counts.
    double violation = 1e-4;
    /// Most nodes of the quadrature; drawn in this number where the domain has no rule.
    Index max_nodes = 8192;
    /// See InfeasibilityTest: the size of α, relative to that of y, beyond which a problem counts as infeasible.
    double most_amplification = 1e6;

    void validate() const {
        detail::require_positive(gap, "solver.stopping.gap");
        detail::require_positive(violation, "solver.stopping.violation");
        detail::require_at_least(max_nodes, 1, "solver.stopping.max_nodes");
        detail::require_positive(most_amplification, "solver.stopping.most_amplification");
    }
};

struct AugmentedNewtonOptions {
    StoppingOptions stopping{};
    /// Most Newton steps in all. 15 to 100 are seen.
    Index max_iterations = 300;
    /// Up to this many samples times outputs the Newton system is a dense matrix, factored: 18 MB at 1500. Above
    /// it, conjugate gradients on tiles; with several outputs and aggregate scope also below it, until they fail.
    Index dense_samples = 1500;
    /// Up to this many nodes that are on, and fewer than there are samples, it is dense in the nodes instead
    /// (one output, aggregate scope).
    Index dense_nodes = 4096;
    /// Most conjugate gradient steps for one Newton step; where they do not suffice, they have failed.
    Index max_inner = 100;

    void validate() const {
        stopping.validate();
        detail::require_at_least(max_iterations, 1, "solver.max_iterations");
        detail::require_at_least(dense_samples, 0, "solver.dense_samples");
        detail::require_at_least(dense_nodes, 0, "solver.dense_nodes");
        detail::require_at_least(max_inner, 1, "solver.max_inner");
    }
};

struct CoordinateAscentOptions {
    StoppingOptions stopping{};
    /// Most sweeps over all blocks.
    Index max_sweeps = 500;
    /// Samples of one block: its Newton system is a dense matrix of this order.
    Index block = 128;

    void validate() const {
        stopping.validate();
        detail::require_at_least(max_sweeps, 1, "solver.max_sweeps");
        detail::require_at_least(block, 1, "solver.block");
    }
};

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

struct AutomaticSolverOptions {
    AugmentedNewtonOptions newton{};
    CoordinateAscentOptions blocks{};
    SampledAscentOptions sampling{};
    /// With one input, coordinate ascent on blocks of neighbours from this many samples on, since distant
    /// samples hardly interact, ...
    Index blocks_from = 300;
    /// ... up to so many. Beyond, active nodes are few compared with samples and Newton solves in them.
    Index blocks_to = 5000;

    void validate() const {
        newton.validate();
        blocks.validate();
        sampling.validate();
        detail::require_at_least(blocks_from, 0, "solver.blocks_from");
        detail::require_at_least(blocks_to, 0, "solver.blocks_to");
    }
};

}  // namespace kernelet
