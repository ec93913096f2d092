#pragma once

#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kernelet {

namespace detail {

/// |ŷ − y| ≤ radius holds on all of C, with room: twice the farthest of one sample, or twice what one
/// sample may use of the sum. Where C is unbounded (hinge, logistic) it is a box around every decision
/// that matters.
template <class Loss>
double redundant_radius(const FeasibleSet<Loss>& feasible, double target, Index i) {
    const double samples =
        feasible.scope() == Scope::aggregate ? static_cast<double>(feasible.target().size()) : 1.0;
    return 2.0 * farthest(feasible.loss(), target, feasible.tolerance(i), samples);
}

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution StochasticSupergradient::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                            const ObserverFunction& observer) const {
    problem.refuse_intercept("StochasticSupergradient");
    const FeasibleSet<Loss>& feasible = problem.feasible;
    const Loss& loss = feasible.loss();
    const Index n = problem.samples();
    const Index outputs = problem.outputs();
    const bool aggregate = feasible.scope() == Scope::aggregate;
    const double tau = penalty::threshold(problem.gamma);
    Matrix lambda = problem.warm_start ? *problem.warm_start : Matrix::Zero(outputs, n);
    // one μ if there is one constraint
    Matrix mu = Matrix::Constant(aggregate ? 1 : outputs, aggregate ? 1 : n, options_.initial_mu);

    DualSolution solution;
    solution.status = Status::iteration_limit;
    Matrix prediction(outputs, n);
    for (Index t = 0; t < options_.iterations; ++t) {
        solution.iterations = t + 1;
        // ŷ_d = argmin μ c(ŷ, y) + λŷ, within the redundant box, and d_μ = c(ŷ_d, y)
        double excess = 0.0;
        for (Index i = 0; i < n; ++i)
            for (Index o = 0; o < outputs; ++o) {
                const double target = feasible.target()(o, i);
                const double epsilon = loss.level(feasible.tolerance(i));
                const double multiplier = aggregate ? mu(0, 0) * feasible.weights()(i) : mu(o, i);
                prediction(o, i) = detail::argmin(loss, lambda(o, i), multiplier, target,
                                                  detail::redundant_radius(feasible, target, i));
                const double c = loss.value(prediction(o, i), target) - epsilon;
                if (aggregate)
                    excess += feasible.weights()(i) * c;
                else
                    mu(o, i) = std::max(0.0, mu(o, i) + options_.eta_mu * c);
            }
        if (aggregate) mu(0, 0) = std::max(0.0, mu(0, 0) + options_.eta_mu * excess);
        // d_λ = ŷ_d − (1/B) Σ_k α_d(z_k, w_k) k(x_i, z_k; w_k)
        const Quadrature batch = problem.draw_random(options_.batch, static_cast<std::uint64_t>(t) + 1);
        const Matrix alpha = thresholded(problem.field(lambda, batch.nodes), tau);
        detail::add_scaled(lambda, options_.eta_lambda, prediction);
        detail::add_scaled(lambda, -options_.eta_lambda,
                           problem.values(batch.nodes, weighted(alpha, batch.weights)));
        if (!detail::all_finite(lambda)) {
            lambda.setZero();  // η_λ too large: nothing of this run is of use
            solution.status = Status::diverged;
            break;
        }
        if (observer && observer({"dual", t, options_.iterations, 0.0,
                                  std::numeric_limits<double>::infinity(), 0.0}) == Verdict::stop) {
            solution.status = Status::stopped;
            break;
        }
    }
    complete_solution(problem, solution, std::move(lambda), problem.nodes(options_.evaluation_nodes));
    return solution;
}

}  // namespace kernelet
