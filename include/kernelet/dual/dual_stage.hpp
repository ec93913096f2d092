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
/// `contradicted` is the fraction of labels that their neighbours contradict, detail::label_noise.
template <class Loss>
double default_label_tolerance(const Loss& loss, const Matrix& y, double contradicted, bool intercept) {
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
    // of a loss that is 1 where undecided
    return std::clamp(undecided * 2.0 * contradicted, share_of_nothing * nothing, most_of_nothing * nothing);
}

/// The tolerance of a regression where the user gave none: the mean loss of noise of `noise_multiple` times the
/// deviation estimated, within bounds.
template <class Loss>
double default_tolerance(const Loss& loss, const Matrix& x, const Matrix& y, double noise_deviation,
                         const Options& options) {
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

/// From samples to λ: the threshold chosen, the tolerance relaxed where it must be. Refers to all it is made of.
template <class Kernel, class Loss, class DomainType, class Solver>
struct DualStage {
    const Kernel& kernel;
    const Loss& loss;
    const DomainType& domain;
    const detail::TiledPoints& points;
    const Matrix& y;          ///< q x n
    const Vector& weights;    ///< n
    const Vector& tolerance;  ///< n
    const Solver& solver;
    const Options& options;
    detail::Watch* watch = nullptr;  ///< of the fit, or none

    using Problem = DualProblem<Kernel, Loss, DomainType>;

    FeasibleSet<Loss> feasible(const Vector& tolerances) const {
        return {loss, y, options.scope, tolerances, weights};
    }
    Problem problem(const FeasibleSet<Loss>& set, double gamma = 0.0) const {
        Problem made{kernel, domain, points, set, gamma, options.seed};
        if (options.has_dual_trend()) made.trend = options.asked_trend();
        made.watch = watch;
        return made;
    }

    /// Solves the dual at γ = 0, sets the threshold by it and solves again from there. Where the tolerance is
    /// infeasible, names the samples to blame and doubles it until it is not, so that there is a best point to keep.
    /// Where the fit is interrupted, the status is stopped, λ the last one known, or zero, and nothing is certified.
    SolvedDual solve(const WarmStart& warm, const ObserverFunction& observer) const {
        SolvedDual solved;
        solved.unsparse_height = warm.unsparse_height.value_or(0.0);
        try {
            for (solved.relaxation = 1.0;; solved.relaxation *= 2.0) {
                solved.tolerances = relaxed(tolerance, solved);
                const FeasibleSet<Loss> set = feasible(solved.tolerances);
                Problem at = problem(set);
                solve_at(at, warm, observer, solved);
                solved.certificate.gamma = at.gamma;
                solved.certificate.iterations = solved.solution.iterations;
                const bool infeasible = solved.solution.status == Status::infeasible &&
                                        smallest(solved.tolerances) < most_relaxed * detail::max_abs(y);
                if (!infeasible) {
                    // Point masses may be none: zero then meets the tolerance.
                    const bool has_nodes =
                        solved.solution.quadrature.nodes.cols() > 0 || solved.solution.atomic;
                    if (solved.solution.status != Status::stopped && has_nodes)
                        solved.certificate = certify(at, solved.solution);
                    break;
                }
                if (!solved.infeasible) solved.culprits = culprits(solved.solution.lambda);
                solved.infeasible = true;
            }
        } catch (const Interrupted&) {
            solved.solution.status = Status::stopped;
        }
        if (solved.solution.lambda.size() == 0) solved.solution.lambda = Matrix::Zero(y.rows(), y.cols());
        return solved;
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
    /// One tolerance: without sparsity first, where γ is not given, then at the threshold that follows from it.
    void solve_at(Problem& at, const WarmStart& warm, const ObserverFunction& observer,
                  SolvedDual& solved) const {
        const std::optional<double> gamma = given_gamma(warm);
        at.gamma = gamma.value_or(0.0);
        at.warm_start = warm.lambda.size() > 0 && !solved.infeasible ? &warm.lambda : nullptr;
        // Without sparsity all nodes are on, and only the height of ᾱ₀ is needed: few nodes suffice.
        const Quadrature few = gamma ? Quadrature{} : at.nodes(unsparse_nodes);
        if (!gamma) at.fixed_nodes = &few;
        if (!gamma) at.slack = unsparse_slack;
        solved.solution = run(at, observer);
        at.fixed_nodes = nullptr;
        at.slack = 1.0;
        at.warm_start = nullptr;
        if (gamma || (solved.solution.status != Status::converged &&
                      solved.solution.status != Status::iteration_limit))
            return;
        // √(2γ) = s·max‖ᾱ₀‖, ᾱ₀ the solution without sparsity, which is also where the next solve begins
        const Matrix unsparse = at.field(solved.solution.lambda, solved.solution.quadrature.nodes);
        solved.unsparse_height = detail::largest_column_norm(unsparse);
        at.gamma = threshold_to_gamma(solved.unsparse_height);
        const Matrix lambda = solved.solution.lambda;
        at.warm_start = &lambda;
        solved.solution = run(at, observer);
        at.warm_start = nullptr;
    }

    /// γ where it is known beforehand.
    std::optional<double> given_gamma(const WarmStart& warm) const {
        if (options.gamma) return options.gamma;
        if (warm.gamma) return warm.gamma;
        if (options.sparsity == 0.0) return 0.0;
        if (warm.unsparse_height) return threshold_to_gamma(*warm.unsparse_height);
        return std::nullopt;
    }

    /// The solver's result, or λ = 0 if λ or its squares are not finite, as at a γ far beyond the size of y; the status is
    /// then diverged, unless the fit was stopped.
    DualSolution run(const Problem& at, const ObserverFunction& observer) const {
        DualSolution solution = [&] {
            if constexpr (requires { solver(at, observer); })
                return solver(at, observer);
            else
                return solver.solve(at, observer);
        }();
        const bool stopped = solution.status == Status::stopped;  // with no values yet
        const bool finite =
            std::isfinite(detail::squared_norm(solution.lambda)) &&
            (stopped || (std::isfinite(solution.dual_value) && std::isfinite(solution.primal_value) &&
                         std::isfinite(solution.violation)));
        if (finite) return solution;
        DualSolution none;
        none.lambda = Matrix::Zero(y.rows(), y.cols());
        none.iterations = solution.iterations;
        none.status = stopped ? Status::stopped : Status::diverged;
        return none;
    }

    double scale() const { return detail::root_mean_square(y); }

    static double smallest(const Vector& tolerances) {
        return *std::min_element(tolerances.data(), tolerances.data() + tolerances.size());
    }

    double threshold_to_gamma(double unsparse_height) const {
        const double tau = options.sparsity * unsparse_height;
        return 0.5 * tau * tau;
    }

    static constexpr Index unsparse_nodes = 2048;   // on which ᾱ₀ is found: 4096 move its height by 2 %
    static constexpr double unsparse_slack = 20.0;  // a gap of 2 %, as much as the nodes are worth
    // Relaxing a tolerance of zero begins at this share of the size of y, and ends where zero itself is long
    // feasible for every sample and under all weights: beyond the largest of y, a sample's tolerance as well as the mean.
    static constexpr double first_relaxed = 1e-3;
    static constexpr double most_relaxed = 4.0;
};

}  // namespace kernelet
