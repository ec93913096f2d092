#pragma once

#include <kernelet/dual/augmented_newton_impl.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/peaks/point_mass_limit.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// One exchange of atoms, see PointMassLimit.
struct AtomExchange {
    const PointMassLimitOptions& options_;

    static constexpr double seed_share = 0.8;

    /// Maxima of ‖ᾱ_λ‖ above a level.
    template <class Problem>
    Matrix maxima(const Problem& problem, const Matrix& grid, const Matrix& lambda, double level) const {
        const Matrix x = transposed(problem.points.transposed());
        // A maximum between nodes is higher than they are: ascents begin below the level.
        const double seeded = seed_share * level;
        const CoefficientField values(problem.kernel, x, lambda, 0.5 * seeded * seeded,
                                      InputScaling::identity(x.rows()));
        const ExtractedPeaks found =
            extract_peaks(values, problem.domain, grid, {problem.points, options_.peaks, problem.poll()});
        std::vector<Index> high;
        for (std::size_t j = 0; j < found.peaks.size(); ++j)
            if (found.peaks[j].height > level) high.push_back(static_cast<Index>(j));
        Matrix nodes(problem.domain.rows(), static_cast<Index>(high.size()));
        for (Index j = 0; j < nodes.cols(); ++j)
            copy(found.peaks[static_cast<std::size_t>(high[static_cast<std::size_t>(j)])].node,
                 Block(nodes).columns(j, 1));
        return nodes;
    }

    /// The problem on given atoms: nodes of measure one and a threshold τ' that no ‖m‖ reaches, so that a
    /// node costs τ'‖m‖; then in the unit where τ' is τ.
    template <class Problem>
    DualSolution on_atoms(const Problem& problem, const Matrix& atoms, double tau) const {
        constexpr double far = 30.0;  // times the size of y: a coefficient beyond it lives on cancellation
        const Matrix& y = problem.feasible.target();
        const double size = std::max(root_mean_square(y), 1e-300);
        const Quadrature fixed{atoms, Vector::Ones(atoms.cols())};
        Problem restricted = problem;
        restricted.fixed_nodes = &fixed;
        restricted.warm_start = nullptr;
        const double high = far * size;
        restricted.gamma = 0.5 * high * high;
        AugmentedNewtonOptions newton;
        newton.stopping.gap = 0.1 * options_.gap;
        DualSolution solution = AugmentedNewton(newton).solve(restricted);
        const double unit = tau / high;
        scale(solution.lambda, unit);
        solution.dual_value *= unit;
        solution.primal_value *= unit;
        return solution;
    }

    /// Keeps what an exchange found: the larger D, and the α that belongs to the last atoms.
    template <class Problem>
    void record(DualSolution& best, const Problem& problem, const DualSolution& now, const Matrix& higher,
                double tau) const {
        double highest = tau;
        if (higher.cols() > 0)
            highest = std::max(tau, largest_column_norm(problem.field(now.lambda, higher)));
        const double dual = tau / highest * problem.feasible.minimum(now.lambda);
        if (best.quadrature.nodes.cols() == 0 || dual > best.dual_value) {
            best.dual_value = dual;
            // at the threshold and a trace above, so that the atoms are peaks that exceed it
            best.lambda = now.lambda;
            scale(best.lambda, (1.0 + options_.gap) * tau / highest);
        }
        best.primal_value = now.primal_value;
        best.violation = now.violation;
        best.alpha = now.alpha;
        best.quadrature = now.quadrature;
    }

    /// Whether two sets of atoms are the same, in the same order.
    static bool same(const Matrix& a, const Matrix& b) {
        return a.cols() == b.cols() && std::equal(a.data(), a.data() + a.size(), b.data());
    }

    /// The atoms that have mass, and the new ones.
    Matrix exchanged(const DualSolution& now, const Matrix& higher) const {
        const Vector mass = column_norms(now.alpha);
        const double least = 1e-6 * max_abs(mass);
        std::vector<Index> kept;
        for (Index j = 0; j < mass.size(); ++j)
            if (mass(j) > least) kept.push_back(j);
        return beside(columns_of(now.quadrature.nodes, kept), higher);
    }
};

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution PointMassLimit::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                   const ObserverFunction& observer) const {
    const detail::AtomExchange exchange_of{options_};
    const double tau = problem.gamma > 0.0 ? penalty::threshold(problem.gamma) : 1.0;
    const Matrix grid = problem.nodes(options_.max_nodes).nodes;
    DualSolution best;
    best.atomic = true;
    best.quadrature = {Matrix(problem.domain.rows(), 0), Vector(0)};
    best.lambda = problem.feasible.target();
    best.alpha = Matrix(problem.outputs(), 0);
    best.violation = problem.feasible.violation(Matrix::Zero(problem.outputs(), problem.samples()));
    if (!(best.violation > 0.0)) {  // zero meets the tolerance, at no cost
        best.lambda.setZero();
        best.status = Status::converged;
        return best;
    }
    // Problems on atoms that Newton's method did not solve: each took all of its iterations, so that few are tried.
    constexpr int most_unsolved = 5;
    int unsolved = 0;
    try {
        // The first atoms: the nodes themselves, of which few get mass.
        Matrix atoms = grid;
        for (Index exchange = 0; exchange < options_.max_exchanges; ++exchange) {
            const DualSolution now = exchange_of.on_atoms(problem, atoms, tau);
            best.iterations = exchange + 1;
            if (now.status == Status::stopped || now.status == Status::infeasible) {
                best.status = now.status;
                if (now.status == Status::infeasible) best.lambda = now.lambda;
                return best;
            }
            const Matrix higher = exchange_of.maxima(problem, grid, now.lambda, (1.0 - options_.gap) * tau);
            exchange_of.record(best, problem, now, higher, tau);
            // P counts only where the problem on the atoms was solved, and its α is within the tolerance.
            if (now.status == Status::converged && std::abs(best.relative_gap()) <= options_.gap) {
                best.status = Status::converged;
                return best;
            }
            Progress progress;
            progress.stage = "dual";
            progress.iteration = exchange;
            progress.iterations = options_.max_exchanges;
            progress.dual_value = best.dual_value;
            progress.gap = best.relative_gap();
            if (observer && observer(progress) == Verdict::stop) throw Interrupted();
            if (now.status != Status::converged && ++unsolved == most_unsolved) break;
            Matrix next = exchange_of.exchanged(now, higher);
            if (exchange_of.same(next, atoms)) break;  // no exchange would find anything else
            atoms = std::move(next);
        }
    } catch (const Interrupted&) {
        best.status = Status::stopped;
    }
    return best;
}

}  // namespace kernelet
