#pragma once

#include <kernelet/search/evaluation.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// What a search has computed so far.
struct SearchCounters {
    Index minimizations{};  ///< by Levenberg and Marquardt's method
    Index steps{};          ///< of these
    Index accepted{};       ///< steps that lowered the cost
    Index evaluations{};    ///< of the objective at given nodes
};

/// Moves all centers and parameters of Σ_j a_j k(x, z_j; θ_j) + b at once, the coefficients eliminated (variable
/// projection, Golub and Pereyra 1973):
///     minimise over (z, log θ) of  min over (a, b) of  Σ w ℓ(Φa + b, y) + ridge Σ w ‖a‖²  +  WidthPrior.
/// Levenberg–Marquardt with Kaufman's Jacobian −P⊥ (∂Φ) a from Gram matrices: with B = ∂Φ/∂(z/w, log θ),
/// J'J = M ∘ (a a') and J'r = a ∘ B'P⊥y, for any number of outputs. Steps are in widths; the mask and the bounds of
/// the domain are kept; the ridge keeps coincident kernels safe. O(n (K̄ (1 + f))² + (K f)³) per step, K̄ kernels in
/// reach of a tile and f free rows per kernel. Asks the problem's watch once per step.
template <class Scalar = double>
class LevenbergMarquardt {
public:
    /// Holds a reference to the problem.
    explicit LevenbergMarquardt(const SearchProblem& problem) : evaluation_(problem) {}
    explicit LevenbergMarquardt(SearchProblem&&) = delete;

    const SearchProblem& problem() const { return evaluation_.problem(); }
    /// f, the rows of a node that may move.
    Index free_rows() const { return evaluation_.steps().size(); }
    double energy() const { return evaluation_.energy(); }
    double ridge() const { return evaluation_.ridge(); }
    void set_ridge(double ridge) { evaluation_.set_ridge(ridge); }
    const SearchCounters& counters() const { return counters_; }

    /// The model at these nodes; nothing moves.
    FittedKernels evaluate(Matrix nodes) {
        problem().poll();
        ++counters_.evaluations;
        return evaluation_.at(std::move(nodes));
    }

    FittedKernels minimize(Matrix nodes, const LevenbergMarquardtOptions& options = {}) {
        return resume(evaluate(std::move(nodes)), options);
    }

    /// Continues from where an earlier minimisation ended.
    FittedKernels resume(FittedKernels now, const LevenbergMarquardtOptions& options = {}) {
        constexpr double min_damping = 1e-9;
        ++counters_.minimizations;
        double damping = options.damping;
        NormalEquations system = equations(now);
        for (Index step = 0; step < options.max_steps && now.size() > 0; ++step) {
            problem().poll();
            ++counters_.steps;
            ++counters_.evaluations;
            Matrix moved =
                evaluation_.steps().move(now.fit.nodes, direction(system, now.fit.nodes, damping).step);
            std::optional<FittedKernels> next = evaluation_.improved(std::move(moved), now);
            if (!next) {
                damping *= options.damping_increase;
                if (damping > options.max_damping) break;
                continue;
            }
            ++counters_.accepted;
            const bool converged = now.cost - next->cost <= options.min_decrease * now.cost;
            now = std::move(*next);
            system = equations(now);
            damping = std::max(min_damping, options.damping_decrease * damping);
            if (converged) break;
        }
        return now;
    }

    /// The cost predicted after kernel j is removed and the others make one damped step: all matrices are
    /// downdated, no sample is visited. O((K f)³).
    double predicted_cost_without(const FittedKernels& now, Index j, double damping) const {
        const Index k = now.size(), f = free_rows();
        const Vector g = detail::column_ref(now.quadratic.inverse, j);
        const Matrix removed = detail::rows_of<Scalar>(now.fit.coefficients, {j});
        // a ← a − g a_j/g_j; P⊥ gains the part of φ_j that the others do not span: M ← M + B'WΦg g'Φ'WB/g_j.
        Matrix a = now.fit.coefficients, m = now.quadratic.reduced, pull = now.quadratic.pull;
        const Matrix v = detail::product_tn<Scalar>(now.quadratic.cross, g);
        detail::add_outer<Scalar>(a, -1.0 / g(j), g.data(), removed.data());
        detail::add_outer<Scalar>(m, 1.0 / g(j), v.data(), v.data());
        detail::add_outer<Scalar>(pull, 1.0 / g(j), v.data(), removed.data());
        std::vector<Index> kernels, slopes;  // the other kernels and the columns of B that are theirs
        for (Index i = 0; i < k; ++i) {
            if (i == j) continue;
            kernels.push_back(i);
            for (Index c = 0; c < f; ++c) slopes.push_back(i * f + c);
        }
        const Matrix nodes = without_column(now.fit.nodes, j);
        const NormalEquations others =
            equations(nodes, detail::rows_of<Scalar>(a, kernels),
                      detail::entries_of<Scalar>(m, slopes, slopes), detail::rows_of<Scalar>(pull, slopes));
        return now.cost + now.removal_cost(j) - evaluation_.width_cost(&now.fit.nodes(0, j)) -
               direction(others, nodes, damping).gain;
    }

private:
    /// J'J + prior and J'r − slope of the prior, Kf.
    struct NormalEquations {
        Matrix system{};
        Vector right{};
    };

    struct Direction {
        Vector step{};
        double gain{};  // of the cost, in the quadratic model
    };

    NormalEquations equations(const FittedKernels& now) const {
        return equations(now.fit.nodes, now.fit.coefficients, now.quadratic.reduced, now.quadratic.pull);
    }

    NormalEquations equations(const Matrix& nodes, const Matrix& coefficients, const Matrix& reduced,
                              const Matrix& pull) const {
        const NodeSteps& steps = evaluation_.steps();
        const WidthPrior& prior = evaluation_.width_prior();
        const Index k = nodes.cols(), f = free_rows();
        const Matrix a = detail::transposed<Scalar>(coefficients);  // q x K
        const Matrix outer = detail::product_tn<Scalar>(a, a);
        NormalEquations out{Matrix(k * f, k * f), Vector(k * f)};
        for (Index i = 0; i < k * f; ++i) {
            out.right(i) = 0.0;
            for (Index o = 0; o < a.rows(); ++o) out.right(i) += pull(i, o) * a(o, i / f);
            for (Index j = 0; j < k * f; ++j) out.system(j, i) = reduced(j, i) * outer(j / f, i / f);
        }
        Index at = 0;
        for (Index j = 0; j < k; ++j)
            for (const Index row : steps.rows()) {
                if (steps.is_width(row)) {
                    out.right(at) -= prior.strength * prior.excess(nodes(row, j));
                    out.system(at, at) += prior.strength;
                }
                ++at;
            }
        return out;
    }

    /// (J'J + prior + damping·diag) δ = J'r − slope of the prior, without the coordinates that press against the
    /// boundary; at most one width per coordinate.
    Direction direction(NormalEquations equations, const Matrix& nodes, double damping) const {
        Matrix& system = equations.system;
        Vector& right = equations.right;
        const Index size = right.size();
        if (size == 0) return {right, 0.0};
        double largest = system(0, 0);
        for (Index i = 0; i < size; ++i) largest = std::max(largest, system(i, i));
        const double floor = 1e-12 * largest + std::numeric_limits<double>::min();
        const std::vector<char> blocked = pressing(nodes, right);
        for (Index i = 0; i < size; ++i) {
            if (blocked[static_cast<std::size_t>(i)] != 0) {
                for (Index other = 0; other < size; ++other) system(i, other) = system(other, i) = 0.0;
                system(i, i) = largest + floor;  // any positive number of the right unit
                right(i) = 0.0;
            } else {
                system(i, i) += damping * system(i, i) + floor;
            }
        }
        Vector step = right;
        detail::ldlt_solve<Scalar>(system, step);
        const double gain = detail::dot<Scalar>(step, right);
        for (Index i = 0; i < size; ++i) step(i) = std::clamp(step(i), -1.0, 1.0);
        return {std::move(step), gain};
    }

    /// The coordinates that a step along `right` would not move: they press against the boundary of the domain.
    std::vector<char> pressing(const Matrix& nodes, const Vector& right) const {
        constexpr double probe = 1e-3;
        Vector step(right.size());
        for (Index i = 0; i < right.size(); ++i)
            step(i) = right(i) > 0.0 ? probe : right(i) < 0.0 ? -probe : 0.0;
        const Matrix moved = evaluation_.steps().move(nodes, step);
        std::vector<char> blocked;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : evaluation_.steps().rows())
                blocked.push_back(moved(row, j) == nodes(row, j) ? 1 : 0);
        return blocked;
    }

    Evaluation<Scalar> evaluation_;
    SearchCounters counters_{};
};

}  // namespace kernelet
