#pragma once

#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/primal_dual_ascent.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
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

/// λ and μ of Algorithm 1.
struct Multipliers {
    Matrix lambda{};  ///< q x n
    Matrix mu{};      ///< one if there is one constraint, else q x n
};

/// ŷ_d = argmin μ c(ŷ, y) + λŷ (paper (11)), within the redundant box, and μ ← [μ + η_μ d_μ]_+ with d_μ = c(ŷ_d, y)
/// (paper (20b), (21b)).
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

/// Algorithm 1 with fixed steps: λ ← λ + η_λ d_λ (paper (20a)).
template <class Kernel, class Loss, class Domain>
DualSolution solve_as_printed(const DualProblem<Kernel, Loss, Domain>& problem,
                              const StochasticSupergradientOptions& options,
                              const ObserverFunction& observer) {
    problem.refuse_trend("StochasticSupergradient with given steps");
    const Index n = problem.samples(), outputs = problem.outputs();
    const bool aggregate = problem.feasible.scope() == Scope::aggregate;
    const double tau = penalty::threshold(problem.gamma);
    Multipliers now{problem.warm_start ? *problem.warm_start : Matrix::Zero(outputs, n),
                    Matrix::Constant(aggregate ? 1 : outputs, aggregate ? 1 : n, options.initial_mu)};
    DualSolution solution;
    solution.status = Status::iteration_limit;
    try {
        for (Index t = 0; t < options.iterations; ++t) {
            solution.iterations = t + 1;
            const Matrix prediction = predict_and_raise(problem.feasible, now, *options.eta_mu);
            // Paper (21a): d_λ = ŷ_d − (1/B) Σ_k α_d(z_k, w_k) k(x_i, z_k; w_k)
            const Quadrature batch = problem.draw_random(options.batch, static_cast<std::uint64_t>(t) + 1);
            const Matrix alpha = thresholded(problem.field(now.lambda, batch.nodes), tau);
            const Matrix values = problem.values(batch.nodes, weighted(alpha, batch.weights));
            add_scaled(now.lambda, *options.eta_lambda, prediction);
            add_scaled(now.lambda, -*options.eta_lambda, values);
            if (!all_finite(now.lambda)) {
                now.lambda.setZero();  // η_λ too large: nothing of this run is of use
                solution.status = Status::diverged;
                break;
            }
            Progress progress;
            progress.stage = "dual";
            progress.iteration = t;
            progress.iterations = options.iterations;
            if (observer && observer(progress) == Verdict::stop) {
                solution.status = Status::stopped;
                break;
            }
        }
        complete_solution(problem, solution, now.lambda, problem.nodes(options.evaluation_nodes));
    } catch (const Interrupted&) {
        solution.status = Status::stopped;
        solution.lambda = std::move(now.lambda);
    }
    return solution;
}

/// Algorithm 1 with chosen steps: one batch after the other, each begun at the λ of the last.
template <class Kernel, class Loss, class Domain>
class SupergradientBatches {
public:
    using Problem = DualProblem<Kernel, Loss, Domain>;

    SupergradientBatches(const Problem& problem, const StochasticSupergradientOptions& options,
                         const ObserverFunction& observer)
        : problem_(problem), options_(options), observer_(observer) {}

    DualSolution solve() {
        try {
            for (Index count = options_.batch;; count = std::min(growth * count, options_.max_batch)) {
                Quadrature nodes = batch(count);
                // A rule has no more nodes than its finest order, whatever the budget.
                const bool last = problem_.fixed_nodes != nullptr || count == options_.max_batch ||
                                  nodes.nodes.cols() <= best_.quadrature.nodes.cols();
                Ascent ascent(problem_, std::move(nodes), options_.rank,
                              lambda_ ? &*lambda_ : problem_.warm_start);
                // Too few nodes may not carry data that more of them do; and integrals that agree at a λ do not make
                // it the λ of more nodes, so that the first batch is never the last.
                const bool solved = improve(ascent, last ? 1.0 : rough);
                if (!last && (!solved || count == options_.batch || !integrals_agree())) {
                    if (finished()) return std::move(best_);
                    lambda_ = best_.lambda;
                    continue;
                }
                if (!last) improve(ascent, 1.0);
                return std::move(best_);
            }
        } catch (const Interrupted&) {
            best_.status = Status::stopped;
        }
        return std::move(best_);
    }

private:
    using Ascent = PrimalDualAscent<Kernel, Loss, Domain>;

    static constexpr Index growth = 4;
    // On a batch that may not be the last: the multiple of the goals, and the share of the iterations.
    static constexpr double rough = 3.0;
    static constexpr Index rough_share = 10;
    static constexpr double loosest = 0.02;  // goal, whatever the slack

    bool finished() const { return best_.status == Status::stopped || best_.status == Status::diverged; }

    /// Whether the goals, times `slack`, are met.
    bool improve(Ascent& ascent, double slack) {
        const double all = slack * problem_.slack;
        const auto goal = [&](double asked) { return std::min(all * asked, std::max(asked, loosest)); };
        const Index left = std::max<Index>(0, options_.iterations - done_);
        const Index most = slack > 1.0 ? std::min(left, options_.iterations / rough_share) : left;
        best_ =
            ascent.run({goal(options_.gap), goal(options_.violation)}, most, [&](const DualSolution& now) {
                Progress progress;
                progress.stage = "dual";
                progress.iteration = done_ + now.iterations - 1;
                progress.iterations = options_.iterations;
                progress.dual_value = now.dual_value;
                progress.gap = now.relative_gap();
                return !observer_ || observer_(progress) != Verdict::stop;
            });
        best_.iterations = done_ += best_.iterations;
        return best_.status == Status::converged;
    }

    /// The nodes given; else the domain's rule, which stratifies it, or the next nodes of a low-discrepancy sequence.
    Quadrature batch(Index count) {
        if (problem_.fixed_nodes != nullptr) return *problem_.fixed_nodes;
        if (std::optional<Quadrature> rule = problem_.domain.rule(count)) return std::move(*rule);
        drawn_ += count;
        return problem_.draw(drawn_ - count, count);
    }

    /// Whether D at the best λ is the same on other nodes, those of its certificate. The next nodes of the sequence would
    /// not do: runs of it stratify each other and agree better than either agrees with ρ.
    bool integrals_agree() const {
        const Matrix field = problem_.field(best_.lambda, best_.quadrature.nodes);
        return integration_error(problem_, best_, field) <= options_.integration;
    }

    const Problem& problem_;
    const StochasticSupergradientOptions& options_;
    const ObserverFunction& observer_;
    std::optional<Matrix> lambda_{};  // of the last batch
    DualSolution best_{};             // of the last batch
    Index done_ = 0;                  // iterations
    Index drawn_ = 0;                 // nodes
};

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution StochasticSupergradient::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                            const ObserverFunction& observer) const {
    if (options_.as_printed()) return detail::solve_as_printed(problem, options_, observer);
    return detail::SupergradientBatches<Kernel, Loss, Domain>(problem, options_, observer).solve();
}

}  // namespace kernelet
