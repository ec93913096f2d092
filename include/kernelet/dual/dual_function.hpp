#pragma once

#include <kernelet/dual/dual_problem.hpp>

#include <utility>

namespace kernelet {

/// g(λ) on a quadrature, with its supergradient and the α that attains it.
struct DualEvaluation {
    double value{};       ///< g(λ) = min over C of ⟨λ, ŷ⟩ − Φ(λ), paper (9), (10)
    double phi{};         ///< Φ(λ) = Σ_j ρ_j [½‖ᾱ_j‖² − γ]_+, paper (16)
    Matrix alpha{};       ///< α_d: ᾱ where ‖ᾱ‖ > √(2γ), else 0, paper (13); q x nodes
    Matrix prediction{};  ///< f(x_i) = Σ_j ρ_j α_d,j k(x_i, ·): ∇Φ, q x n
};

/// α_d = ᾱ·1[‖ᾱ‖ > τ], τ = √(2γ), column by column (paper, Proposition 2 and (13)).
inline Matrix thresholded(const Matrix& field, double tau) {
    Matrix alpha = field;
    for (Index j = 0; j < field.cols(); ++j)
        if (detail::column_norm(field, j) <= tau) std::fill_n(&alpha(0, j), alpha.rows(), 0.0);
    return alpha;
}

/// Φ = Σ_j ρ_j [½‖ᾱ_j‖² − γ]_+ from ᾱ at the nodes (paper (12), (15), (16), with the sign of a cost). O(q B).
inline double phi(const Matrix& field, const Vector& weights, double tau) {
    double sum = 0.0;
    for (Index j = 0; j < field.cols(); ++j)
        sum += weights(j) * penalty::conjugate(detail::column_norm(field, j), tau);
    return sum;
}

/// ρ_j a_j: coefficients of an integral as those of a sum. O(q B).
inline Matrix weighted(const Matrix& a, const Vector& weights) {
    return detail::with_scaled_columns(a, weights.data());
}

/// P = Σ_j ρ_j φ**(α_j). O(q B).
inline double primal_cost(const Matrix& alpha, const Vector& weights, double tau) {
    double sum = 0.0;
    for (Index j = 0; j < alpha.cols(); ++j)
        sum += weights(j) * penalty::envelope(detail::column_norm(alpha, j), tau);
    return sum;
}

/// The dual function g (paper (9), (10)) and its supergradient's parts on a quadrature. |supp λ| B + n |supp α| kernel
/// values.
template <class Kernel, class Loss, class Domain>
DualEvaluation evaluate_dual(const DualProblem<Kernel, Loss, Domain>& problem, const ConstMatrixRef& lambda,
                             const Quadrature& quadrature) {
    const double tau = penalty::threshold(problem.gamma);
    const Matrix field = problem.field(lambda, quadrature.nodes);
    DualEvaluation result;
    result.phi = phi(field, quadrature.weights, tau);
    result.value = problem.feasible.minimum(lambda) - result.phi;
    result.alpha = thresholded(field, tau);
    result.prediction = problem.values(quadrature.nodes, weighted(result.alpha, quadrature.weights));
    return result;
}

/// Completes a solution that has only λ: computes D, α_d, its cost and its violation on one quadrature.
template <class Kernel, class Loss, class Domain>
void complete_solution(const DualProblem<Kernel, Loss, Domain>& problem, DualSolution& solution,
                       Matrix lambda, Quadrature quadrature) {
    DualEvaluation evaluation = evaluate_dual(problem, lambda, quadrature);
    solution.dual_value = evaluation.value;
    solution.primal_value =
        primal_cost(evaluation.alpha, quadrature.weights, penalty::threshold(problem.gamma));
    solution.violation = problem.feasible.violation(evaluation.prediction);
    solution.lambda = std::move(lambda);
    solution.alpha = std::move(evaluation.alpha);
    solution.quadrature = std::move(quadrature);
}

/// The s ≥ 0 at which g(sλ) = s·min⟨λ, ŷ⟩ − Φ(sλ) is largest; `linear` is min⟨λ, ŷ⟩ and `field` ᾱ of λ. g is concave in
/// s and ᾱ is linear in it, so that a search by thirds costs O(B) per trial and no kernel value. 0 where λ shows no ascent.
inline double best_multiple(double linear, const Matrix& field, const Vector& weights, double tau) {
    const Vector lengths = detail::column_norms(field);
    const auto g = [&](double s) {
        double sum = s * linear;
        for (Index j = 0; j < lengths.size(); ++j)
            sum -= weights(j) * penalty::conjugate(s * lengths(j), tau);
        return sum;
    };
    const double largest = detail::max_abs(lengths);
    if (!(linear > 0.0) || !(largest > 0.0)) return 0.0;
    double best = tau / largest;  // up to here Φ = 0 and g only grows
    if (!(best > 0.0)) best = linear / (2.0 * phi(field, weights, 0.0));  // the maximum, where τ = 0
    while (g(2.0 * best) > g(best) && best < 1e300) best *= 2.0;
    double lo = 0.5 * best, hi = 2.0 * best;
    constexpr int thirds = 40;  // (2/3)^40 = 1e-7 of the bracket
    for (int iteration = 0; iteration < thirds; ++iteration) {
        const double third = (hi - lo) / 3.0;
        if (g(lo + third) < g(hi - third))
            lo += third;
        else
            hi -= third;
    }
    return 0.5 * (lo + hi);
}

/// L: the largest eigenvalue of ∫ k(x_i, ·) k(x_j, ·) dρ, by power iterations; 1/L is the step of a gradient
/// method at γ = 0. From all-ones, which a nonnegative kernel cannot be orthogonal to.
template <class Kernel, class Loss, class Domain>
double curvature(const DualProblem<Kernel, Loss, Domain>& problem, const Quadrature& quadrature) {
    constexpr int power_iterations = 20;
    constexpr double settled = 1e-2;
    Matrix v = Matrix::Ones(1, problem.samples());
    double largest = 0.0;
    for (int iteration = 0; iteration < power_iterations; ++iteration) {
        detail::scale(v, 1.0 / detail::norm(v));
        const Matrix field = problem.field(v, quadrature.nodes);
        v = problem.values(quadrature.nodes, weighted(field, quadrature.weights));
        const double before = std::exchange(largest, detail::norm(v));
        if (!(largest > 0.0) || largest - before <= settled * largest) break;
    }
    return largest;
}

}  // namespace kernelet
