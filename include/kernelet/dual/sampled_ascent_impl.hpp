#pragma once

#include <kernelet/dual/coordinate_ascent_impl.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/sampled_ascent.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace kernelet {

template <class Inner>
template <class Kernel, class Loss, class Domain>
DualSolution SampledAscent<Inner>::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                         const ObserverFunction& observer) const {
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
        try {
            const double here = phi(problem.field(solution.lambda, nodes.nodes), nodes.weights, tau);
            const double there = phi(problem.field(solution.lambda, unseen.nodes), unseen.weights, tau);
            if (std::abs(there - here) <= options_.integration * std::abs(solution.dual_value))
                return solution;
        } catch (const Interrupted&) {
            solution.status = Status::stopped;
            return solution;
        }
        lambda = std::move(solution.lambda);
    }
}

}  // namespace kernelet
