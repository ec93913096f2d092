#pragma once

#include <kernelet/dual/augmented_newton_impl.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/coordinate_ascent_impl.hpp>
#include <kernelet/dual/sampled_ascent_impl.hpp>

namespace kernelet {

template <class Kernel, class Loss, class Domain>
DualSolution AutomaticSolver::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                    const ObserverFunction& observer) const {
    const auto solve_with = [&](const auto& steps) {
        const bool has_nodes =
            problem.fixed_nodes != nullptr || problem.domain.rule(steps.options().stopping.max_nodes);
        return has_nodes ? steps.solve(problem, observer)
                         : SampledAscent(options_.sampling, steps).solve(problem, observer);
    };
    const bool line = problem.points.dimension() == 1 && problem.samples() >= options_.blocks_from &&
                      problem.samples() <= options_.blocks_to;
    const bool many =
        problem.feasible.scope() == Scope::per_sample && problem.samples() > options_.newton.dense_samples;
    if (problem.outputs() == 1 && !problem.has_trend() && (line || many))
        return solve_with(CoordinateAscent(options_.blocks));
    return solve_with(AugmentedNewton(options_.newton));
}

}  // namespace kernelet
