#pragma once

#include <kernelet/dual/dual_function.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace kernelet {

/// Two other quadratures of ρ, to see how far the integrals can be trusted: two coarser orders of the
/// domain's rule where it has one, two independent draws of as many nodes elsewhere.
template <class Kernel, class Loss, class Domain>
std::array<Quadrature, 2> other_quadratures(const DualProblem<Kernel, Loss, Domain>& problem, Index nodes) {
    constexpr std::array<std::uint64_t, 2> streams{1001,
                                                   1002};  // apart from every stream a solver draws from
    std::array<Quadrature, 2> others;
    for (std::size_t k = 0; k < others.size(); ++k) {
        std::optional<Quadrature> rule = problem.domain.rule(nodes * (k == 0 ? 3 : 2) / 4);
        others[k] = rule ? std::move(*rule) : problem.draw(0, nodes, streams[k]);
    }
    return others;
}

/// The largest change of D from a quadrature to two others, relative to D, for ᾱ of λ on the first. 2 |supp λ| B kernel
/// values.
template <class Kernel, class Loss, class Domain>
double integration_error(const DualProblem<Kernel, Loss, Domain>& problem, const DualSolution& solution,
                         const Matrix& field) {
    if (solution.dual_value == 0.0) return 0.0;
    const double tau = penalty::threshold(problem.gamma);
    const double here = phi(field, solution.quadrature.weights, tau);
    double largest = 0.0;
    for (const Quadrature& other : other_quadratures(problem, solution.quadrature.nodes.cols())) {
        const double there = phi(problem.field(solution.lambda, other.nodes), other.weights, tau);
        largest = std::max(largest, std::abs(there - here) / std::abs(solution.dual_value));
    }
    return largest;
}

/// The certificate of a solution: D, P, whose equality is the paper's Theorem 1, ρ{α ≠ 0} (paper (7)), and how far D moves on other quadratures. 3 |supp λ| B
/// kernel values.
template <class Kernel, class Loss, class Domain>
Certificate certify(const DualProblem<Kernel, Loss, Domain>& problem, const DualSolution& solution) {
    const double tau = penalty::threshold(problem.gamma);
    const Vector& weights = solution.quadrature.weights;
    const Matrix field = problem.field(solution.lambda, solution.quadrature.nodes);
    Certificate certificate;
    certificate.certified = solution.status != Status::stopped && solution.status != Status::diverged;
    certificate.dual_value = solution.dual_value;
    certificate.primal_value = solution.primal_value;
    certificate.max_violation = solution.violation;
    certificate.gamma = problem.gamma;
    certificate.nodes = solution.quadrature.nodes.cols();
    certificate.iterations = solution.iterations;
    double highest = 0.0;
    for (Index j = 0; j < field.cols(); ++j) {
        const double length = detail::column_norm(field, j);
        highest = std::max(highest, length);
        if (length > tau && !solution.atomic) certificate.support_measure += weights(j);
    }
    certificate.threshold_ratio = highest > 0.0 ? tau / highest : 0.0;
    if (solution.atomic) return certificate;
    certificate.integration_error = integration_error(problem, solution, field);
    return certificate;
}

}  // namespace kernelet
