#pragma once

#include <kernelet/detail/noise.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/dual/warm_start.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/options.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// The mean loss of labels ±1, of which a share p is +1, under the best constant: at the root of
/// pℓ'(c, 1) + (1 − p)ℓ'(c, −1), which grows with c, by halving.
template <class Loss>
double loss_of_constant(const Loss& loss, double p) {
    double lo = -50.0, hi = 50.0;  // a probability of e⁻⁵⁰ is none
    for (int halving = 0; halving < 60; ++halving) {
        const double c = 0.5 * (lo + hi);
        (p * loss.derivative(c, 1.0) + (1.0 - p) * loss.derivative(c, -1.0) < 0.0 ? lo : hi) = c;
    }
    return p * loss.value(hi, 1.0) + (1.0 - p) * loss.value(hi, -1.0);
}

}  // namespace detail

/// The tolerance for classes where the user gave none: half of what no kernel at all costs (zero, or with an
/// intercept the best constant), or, where neighbours contradict each other more often, what they would cost.
template <class Loss>
double default_label_tolerance(const Loss& loss, const Matrix& x, const Matrix& y, bool intercept) {
    constexpr double share_of_nothing = 0.5, most_of_nothing = 0.9;
    constexpr double least_of_undecided = 1e-3;  // of labels that hardly differ
    const double undecided = loss.value(0.0, 1.0);
    double nothing = undecided;
    if (intercept) {
        nothing = 0.0;
        const Vector sums = detail::row_sums(y);
        for (Index o = 0; o < y.rows(); ++o)
            nothing += detail::loss_of_constant(loss, 0.5 + 0.5 * sums(o) / static_cast<double>(y.cols())) /
                       static_cast<double>(y.rows());
        nothing = std::max(nothing, least_of_undecided * undecided);
    }
    const double contradicted = 2.0 * detail::label_noise(x, y);  // of a loss that is 1 where undecided
    return std::clamp(undecided * contradicted, share_of_nothing * nothing, most_of_nothing * nothing);
}

/// The tolerance where the user gave none. Regression: the mean loss of noise of `noise_multiple` times the
/// deviation estimated, within bounds. Classes: see default_label_tolerance.
template <class Loss>
double default_tolerance(const Loss& loss, const Matrix& x, const Matrix& y, double noise_deviation,
                         const Options& options) {
    if (detail::is_classification(loss))
        return default_label_tolerance(loss, x, y, options.intercept.value_or(false));
    // The smallest, relative to the size of y: noise-free data need not be met to the last bit.
    constexpr double least_relative = 5e-3;
    // And the largest: among few samples in many dimensions rough signal looks like noise, and a dual solved at
    // the deviation of y itself has no peaks. The information criterion decides later what is noise.
    constexpr double most_relative = 0.5;
    constexpr double room = 1.1;  // over what no function can go below
    const double deviation = detail::root_mean_square(y);
    const double chosen =
        std::max({std::min(options.noise_multiple * noise_deviation, most_relative * deviation),
                  least_relative * deviation, room * detail::duplicate_residual(x, y, options.scope)});
    return options.scope == Scope::per_sample
               ? chosen
               : detail::tolerance_of_level(loss, detail::noise_level(loss, chosen));
}

/// A dual solved, and at what.
struct SolvedDual {
    DualSolution solution{};
    Certificate certificate{};
    double unsparse_height = 0.0;  ///< max‖ᾱ₀‖
    bool infeasible = false;       ///< as asked
    double relaxation = 1.0;       ///< of the tolerance, where infeasible
    Vector tolerances{};           ///< solved at
    std::vector<Index> culprits{};
};

/// From samples to λ: the threshold chosen, the tolerance relaxed where it must be. Refers to all it is made
/// of.
template <class Kernel, class Loss, class Omega, class Solver>
struct DualStage {
    const Kernel& kernel;
    const Loss& loss;
    const Omega& domain;
    const detail::TiledPoints& points;
    const Matrix& y;          ///< q x n
    const Vector& weights;    ///< n
    const Vector& tolerance;  ///< n
    const Solver& solver;
    const Options& options;

    FeasibleSet<Loss> feasible(const Vector& tolerances) const {
        return {loss, y, options.scope, tolerances, weights};
    }
    DualProblem<Kernel, Loss, Omega> problem(const FeasibleSet<Loss>& set, double gamma = 0.0) const {
        DualProblem<Kernel, Loss, Omega> made{kernel, domain, points, set, gamma, options.seed};
        made.intercept = options.intercept.value_or(false);
        return made;
    }

    /// Solves the dual at γ = 0, sets the threshold by it and solves again from there. Where the tolerance is
    /// infeasible, says whom to blame and doubles it until it is not, so that there is a best point to keep.
    SolvedDual solve(const WarmStart& warm, const ObserverFunction& watch) const {
        std::optional<double> gamma = options.gamma ? options.gamma : warm.gamma;
        if (!gamma && options.sparsity == 0.0) gamma = 0.0;
        if (!gamma && warm.unsparse_height) gamma = threshold_to_gamma(*warm.unsparse_height);
        SolvedDual solved;
        solved.unsparse_height = warm.unsparse_height.value_or(0.0);
        for (double relaxation = 1.0;; relaxation *= 2.0) {
            solved.relaxation = relaxation;
            const Vector relaxed = this->relaxed(tolerance, solved);
            const FeasibleSet<Loss> set = feasible(relaxed);
            DualProblem<Kernel, Loss, Omega> at = problem(set, gamma.value_or(0.0));
            at.warm_start = warm.lambda.size() > 0 && !solved.infeasible ? &warm.lambda : nullptr;
            // Without sparsity all nodes are on, and only the height of ᾱ₀ is asked for: few nodes do.
            const Quadrature few = gamma ? Quadrature{} : at.nodes(unsparse_nodes);
            if (!gamma) at.fixed_nodes = &few;
            solved.solution = run(at, watch);
            at.fixed_nodes = nullptr;
            if (!gamma && (solved.solution.status == Status::converged ||
                           solved.solution.status == Status::iteration_limit)) {
                // √(2γ) = s·max‖ᾱ₀‖, ᾱ₀ the solution without sparsity, which is also where the next solve
                // begins
                const Matrix unsparse = at.field(solved.solution.lambda, solved.solution.quadrature.nodes);
                solved.unsparse_height = detail::largest_column_norm(unsparse);
                at.gamma = threshold_to_gamma(solved.unsparse_height);
                const Matrix lambda = solved.solution.lambda;
                at.warm_start = &lambda;
                solved.solution = run(at, watch);
                at.warm_start = nullptr;
            }
            if (solved.solution.status == Status::infeasible &&
                detail::max_abs(relaxed) < most_relaxed * scale()) {
                if (!solved.infeasible) solved.culprits = culprits(solved.solution.lambda);
                solved.infeasible = true;
                continue;
            }
            solved.tolerances = relaxed;
            solved.certificate = certify(at, solved.solution);
            return solved;
        }
    }

    /// These tolerances, relaxed as they were for a solution.
    Vector relaxed(const Vector& tolerances, const SolvedDual& solved) const {
        if (!solved.infeasible) return tolerances;
        Vector relaxed = tolerances;
        const double least = first_relaxed * scale();
        for (Index i = 0; i < relaxed.size(); ++i)
            relaxed(i) = solved.relaxation * std::max(relaxed(i), least);
        return relaxed;
    }

private:
    DualSolution run(const DualProblem<Kernel, Loss, Omega>& at, const ObserverFunction& watch) const {
        if constexpr (requires { solver(at, watch); })
            return solver(at, watch);
        else
            return solver.solve(at, watch);
    }

    double scale() const { return detail::root_mean_square(y); }

    double threshold_to_gamma(double unsparse_height) const {
        const double tau = options.sparsity * unsparse_height;
        return 0.5 * tau * tau;
    }

    static constexpr Index unsparse_nodes = 2048;  // on which ᾱ₀ is found: 4096 move its height by 2 %
    // Relaxing a tolerance of zero begins at this share of the size of y, and ends where zero itself is long
    // feasible.
    static constexpr double first_relaxed = 1e-3;
    static constexpr double most_relaxed = 4.0;
};

}  // namespace kernelet
