#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/peaks/extract_peaks.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

struct PointMassLimitOptions {
    /// Relative gap at which it stops; also how far below the threshold a maximum of ‖ᾱ‖ still is an atom.
    double gap = 1e-3;
    /// Most exchanges of atoms.
    Index max_exchanges = 50;
    /// Nodes among which maxima are looked for, off which they are then followed.
    Index max_nodes = 4096;
    PeakOptions peaks{};

    void validate() const {
        detail::require_positive(gap, "solver.gap");
        detail::require_at_least(max_exchanges, 1, "solver.max_exchanges");
        detail::require_at_least(max_nodes, 1, "solver.max_nodes");
        peaks.validate();
    }
};

/// The limit γ → ∞, where α tends to point masses m_j at nodes ω_j and the problem to total variation:
///     minimise τ Σ_j ‖m_j‖   subject to   f = Σ_j m_j k(·, ω_j) ∈ C,         τ = √(2γ),
///     maximise min over C of ⟨λ, ŷ⟩   subject to   ‖ᾱ(ω)‖ ≤ τ for all ω.
/// Sliding Frank–Wolfe by exchange: solve on the atoms at hand; where ‖ᾱ‖ exceeds τ, its maxima, found off
/// the grid by the ascents that find the peaks of every field, join the atoms, and those without mass leave.
/// An atom thus slides to the top of its hill. The certificate is its own: λ τ/max‖ᾱ‖ is feasible for the
/// dual over all of Ω that the ascents see, P is the mass of a feasible model, and both are exact sums:
/// there is no integral and no error of one.
///
/// It stands right of field and peaks in the flow, being made of them; it is a dual solver in every other
/// respect. Without a threshold (γ = 0) τ = 1: mass has no other unit.
class PointMassLimit {
public:
    explicit PointMassLimit(PointMassLimitOptions options = {}) : options_(options) { options_.validate(); }

    const PointMassLimitOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
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
        // The first atoms: the nodes themselves, of which few get mass.
        Matrix atoms = grid;
        for (Index exchange = 0; exchange < options_.max_exchanges; ++exchange) {
            DualSolution now = on_atoms(problem, atoms, tau);
            best.iterations = exchange + 1;
            if (now.status == Status::infeasible) {
                best.status = Status::infeasible;
                best.lambda = now.lambda;
                return best;
            }
            const Matrix higher = maxima(problem, grid, now.lambda, (1.0 - options_.gap) * tau);
            double highest = tau;
            if (higher.cols() > 0)
                highest = std::max(tau, problem.field(now.lambda, higher).colwise().norm().maxCoeff());
            const double dual = tau / highest * problem.feasible.minimum(now.lambda);
            if (best.quadrature.nodes.cols() == 0 || dual > best.dual_value) {
                best.dual_value = dual;
                // at the threshold and a trace above, so that the atoms are peaks that exceed it
                best.lambda = (1.0 + options_.gap) * tau / highest * now.lambda;
            }
            best.primal_value = now.primal_value;
            best.violation = now.violation;
            best.alpha = now.alpha;
            best.quadrature = now.quadrature;
            if (best.relative_gap() <= options_.gap) {
                best.status = Status::converged;
                return best;
            }
            if (observer && observer({"dual", exchange, options_.max_exchanges, best.dual_value,
                                      best.relative_gap(), 0.0}) == Verdict::stop) {
                best.status = Status::stopped;
                return best;
            }
            atoms = exchanged(now, higher);
        }
        return best;
    }

private:
    static constexpr double seed_share = 0.8;

    /// Maxima of ‖ᾱ_λ‖ above a level.
    template <class Problem>
    Matrix maxima(const Problem& problem, const Matrix& grid, const Matrix& lambda, double level) const {
        Matrix x(problem.points.dimension(), problem.samples());
        for (Index t = 0; t < problem.points.tiles(); ++t)
            x.middleCols(problem.points.first(t), problem.points.count(t)) =
                problem.points.rows(t).transpose();
        // A maximum between nodes is higher than they are: ascents begin below the level.
        const double seeded = seed_share * level;
        const CoefficientField values(problem.kernel, x, lambda, 0.5 * seeded * seeded,
                                      InputScaling::identity(x.rows()));
        const ExtractedPeaks found =
            extract_peaks(values, problem.domain, problem.points, grid, options_.peaks);
        std::vector<Index> high;
        for (std::size_t j = 0; j < found.peaks.size(); ++j)
            if (found.peaks[j].height > level) high.push_back(static_cast<Index>(j));
        Matrix nodes(problem.domain.rows(), static_cast<Index>(high.size()));
        for (Index j = 0; j < nodes.cols(); ++j)
            nodes.col(j) = found.peaks[static_cast<std::size_t>(high[static_cast<std::size_t>(j)])].node;
        return nodes;
    }

    /// The problem on given atoms: nodes of measure one and a threshold τ' that no ‖m‖ reaches, so that a
    /// node costs τ'‖m‖; then in the unit where τ' is τ.
    template <class Problem>
    DualSolution on_atoms(const Problem& problem, const Matrix& atoms, double tau) const {
        constexpr double far = 30.0;  // times the size of y: a coefficient beyond it lives on cancellation
        const Matrix& y = problem.feasible.target();
        const double size = std::max(y.norm() / std::sqrt(static_cast<double>(y.size())), 1e-300);
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
        solution.lambda *= unit;
        solution.dual_value *= unit;
        solution.primal_value *= unit;
        return solution;
    }

    /// The atoms that have mass, and the new ones.
    Matrix exchanged(const DualSolution& now, const Matrix& higher) const {
        const Vector mass = now.alpha.colwise().norm();
        const double least = 1e-6 * mass.maxCoeff();
        std::vector<Index> kept;
        for (Index j = 0; j < mass.size(); ++j)
            if (mass(j) > least) kept.push_back(j);
        Matrix atoms(higher.rows(), static_cast<Index>(kept.size()) + higher.cols());
        atoms << now.quadrature.nodes(Eigen::all, kept), higher;
        return atoms;
    }

    PointMassLimitOptions options_;
};

}  // namespace kernelet
