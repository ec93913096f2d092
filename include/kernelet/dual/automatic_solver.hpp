#pragma once

#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/dual/coordinate_ascent.hpp>
#include <kernelet/dual/sampled_ascent.hpp>

namespace kernelet {

struct AutomaticSolverOptions {
    AugmentedNewtonOptions newton{};
    CoordinateAscentOptions blocks{};
    SampledAscentOptions sampling{};
    /// One input: from this many samples on, blocks of neighbours, which far ones hardly feel; up to so many,
    /// beyond which nodes that are on are few beside the samples and Newton solves in them.
    Index blocks_from = 300;
    Index blocks_to = 5000;

    void validate() const {
        newton.validate();
        blocks.validate();
        sampling.validate();
        detail::require_at_least(blocks_from, 0, "solver.blocks_from");
        detail::require_at_least(blocks_to, 0, "solver.blocks_to");
    }
};

/// The default: chooses solver and nodes from n, d, the outputs and the domain, so that nobody has to.
///     nodes    the domain's rule where it has one (a box up to d = 3, candidate centers); elsewhere (d = 4
///     to
///              20 and beyond: around the samples) drawn, in numbers that double until the integrals agree
///     steps    AugmentedNewton; CoordinateAscent for many samples of one input, and where a tolerance for
///              each sample and more samples than newton.dense_samples would leave Newton to conjugate
///              gradients; not for several outputs or an intercept
/// benchmarks/paper/dual_solvers measured the borders.
class AutomaticSolver {
public:
    explicit AutomaticSolver(AutomaticSolverOptions options = {}) : options_(options) { options_.validate(); }

    const AutomaticSolverOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        const bool line = problem.points.dimension() == 1 && problem.samples() >= options_.blocks_from &&
                          problem.samples() <= options_.blocks_to;
        const bool many = problem.feasible.scope() == Scope::per_sample &&
                          problem.samples() > options_.newton.dense_samples;
        if (problem.outputs() == 1 && !problem.intercept && (line || many))
            return solve_with(CoordinateAscent(options_.blocks), problem, observer);
        return solve_with(AugmentedNewton(options_.newton), problem, observer);
    }

private:
    template <class Steps, class Problem>
    DualSolution solve_with(const Steps& steps, const Problem& problem,
                            const ObserverFunction& observer) const {
        const bool has_nodes =
            problem.fixed_nodes != nullptr || problem.domain.rule(steps.options().stopping.max_nodes);
        if (has_nodes) return steps.solve(problem, observer);
        return SampledAscent<Steps>(options_.sampling, steps).solve(problem, observer);
    }

    AutomaticSolverOptions options_;
};

}  // namespace kernelet
