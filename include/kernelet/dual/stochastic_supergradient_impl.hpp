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

namespace detail {

/// λ and μ of Algorithm 1.
struct Multipliers {
    Matrix lambda{};  ///< q x n
    Matrix mu{};      ///< one if there is one constraint, else q x n
};

/// ŷ_d = argmin μ c(ŷ, y) + λŷ, within the redundant box, and μ ← [μ + η_μ d_μ]_+ with d_μ = c(ŷ_d, y).
template <class Loss>
Matrix predict_and_raise(const FeasibleSet<Loss>& feasible, Multipliers& now, double eta_mu) {
    const Loss& loss = feasible.loss();
    const bool aggregate = feasible.scope() == Scope::aggregate;
    Matrix prediction(now.lambda.rows(), now.lambda.cols());
    double excess = 0.0;
    for (Index i = 0; i < prediction.cols(); ++i)
        for (Index o = 0; o < prediction.rows(); ++o) {
            const double target = feasible.target()(o, i);
            const double epsilon = loss.level(feasible.tolerance(i));
            const double multiplier = aggregate ? now.mu(0, 0) * feasible.weights()(i) : now.mu(o, i);
            prediction(o, i) =
                argmin(loss, now.lambda(o, i), multiplier, target, redundant_radius(feasible, target, i));
            const double c = loss.value(prediction(o, i), target) - epsilon;
            if (aggregate)
                excess += feasible.weights()(i) * c;
            else
                now.mu(o, i) = std::max(0.0, now.mu(o, i) + eta_mu * c);
        }
    if (aggregate) now.mu(0, 0) = std::max(0.0, now.mu(0, 0) + eta_mu * excess);
    return prediction;
}

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution StochasticSupergradient::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                            const ObserverFunction& observer) const {
    problem.refuse_trend("StochasticSupergradient");
    const Index n = problem.samples(), outputs = problem.outputs();
    const bool aggregate = problem.feasible.scope() == Scope::aggregate;
    const double tau = penalty::threshold(problem.gamma);
    detail::Multipliers now{
        problem.warm_start ? *problem.warm_start : Matrix::Zero(outputs, n),
        Matrix::Constant(aggregate ? 1 : outputs, aggregate ? 1 : n, options_.initial_mu)};
    DualSolution solution;
    solution.status = Status::iteration_limit;
    try {
        for (Index t = 0; t < options_.iterations; ++t) {
            solution.iterations = t + 1;
            const Matrix prediction = detail::predict_and_raise(problem.feasible, now, options_.eta_mu);
            // d_λ = ŷ_d − (1/B) Σ_k α_d(z_k, w_k) k(x_i, z_k; w_k)
            const Quadrature batch = problem.draw_random(options_.batch, static_cast<std::uint64_t>(t) + 1);
            const Matrix alpha = thresholded(problem.field(now.lambda, batch.nodes), tau);
            const Matrix values = problem.values(batch.nodes, weighted(alpha, batch.weights));
            detail::add_scaled(now.lambda, options_.eta_lambda, prediction);
            detail::add_scaled(now.lambda, -options_.eta_lambda, values);
            if (!detail::all_finite(now.lambda)) {
                now.lambda.setZero();  // η_λ too large: nothing of this run is of use
                solution.status = Status::diverged;
                break;
            }
            Progress progress;
            progress.stage = "dual";
            progress.iteration = t;
            progress.iterations = options_.iterations;
            if (observer && observer(progress) == Verdict::stop) {
                solution.status = Status::stopped;
                break;
            }
        }
        complete_solution(problem, solution, now.lambda, problem.nodes(options_.evaluation_nodes));
    } catch (const Interrupted&) {
        solution.status = Status::stopped;
        solution.lambda = std::move(now.lambda);
    }
    return solution;
}

}  // namespace kernelet
