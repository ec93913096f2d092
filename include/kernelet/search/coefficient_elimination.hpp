#pragma once

#include <kernelet/search/gram_matrices.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

/// The cost as a quadratic function of the nodes around a model, its coefficients eliminated (variable
/// projection): all that Levenberg and Marquardt's method needs.
struct QuadraticModel {
    Matrix inverse{};  ///< G⁻¹ = (Φ'WΦ + ridge)⁻¹, W the weights, or half the curvature of the loss, K x K
    Matrix cross{};    ///< Φ'WB, K x Kf
    Matrix reduced{};  ///< M = B'WB − B'WΦ G⁻¹ Φ'WB, Kf x Kf
    Matrix pull{};     ///< B'W(y − Φa), Kf x q
};

/// The minimum over (a, b) of a quadratic loss.
struct EliminatedCoefficients {
    double cost{};          ///< Σ h ‖Φa + b − t‖² + ridge ‖a‖²
    Matrix coefficients{};  ///< a, K x q
    Vector offset{};        ///< b, q; 0 without an intercept
    QuadraticModel quadratic{};
};

namespace detail {

/// The factor L of G = Φ'WΦ + ridge, to whose diagonal rounding is added until it is positive definite: kernels
/// that coincide, or values that are far apart in size.
template <class Scalar = double>
Matrix gram_factor(const Matrix& gram, double ridge, double total) {
    constexpr double rounding = 1e-13;  // of the sums, relative
    Matrix factor = gram;
    add_to_diagonal(factor, ridge + rounding * total);
    double largest = 0.0;
    for (Index j = 0; j < gram.cols(); ++j) largest = std::max(largest, gram(j, j));
    for (double jitter = rounding; !cholesky<Scalar>(factor); jitter *= 10.0) {
        require(jitter < 1.0,
                "the kernel returned values that are not finite, or not representable together");
        factor = gram;
        add_to_diagonal(factor, ridge + jitter * std::max(total, largest));
    }
    return factor;
}

/// Where the columns of Φ, B and t stand in GramMatrices with b columns per kernel.
struct GramColumns {
    std::vector<Index> values{}, slopes{}, targets{};

    GramColumns(Index kernels, Index b, Index outputs) {
        for (Index j = 0; j < kernels; ++j) {
            values.push_back(j * b);
            for (Index c = 1; c < b; ++c) slopes.push_back(j * b + c);
        }
        for (Index o = 0; o < outputs; ++o) targets.push_back(kernels * b + o);
    }
};

/// The minimum without kernels, Σ h t²; with an intercept, about the weighted mean.
template <class Scalar = double>
EliminatedCoefficients eliminated_without_kernels(const WorkingSquares& working, bool intercept) {
    const Index q = working.target.cols();
    EliminatedCoefficients out;
    out.cost = squared_norm<Scalar>(working.target);
    out.coefficients = Matrix::Zero(0, q);
    out.offset = Vector::Zero(q);
    if (!intercept) return out;
    add_product_tn<Scalar>(out.offset, working.target, working.root, 1.0 / working.total);
    out.cost -= working.total * squared_norm<Scalar>(out.offset);
    return out;
}

}  // namespace detail

/// How the coefficients of a quadratic loss are penalised.
struct EliminationTerms {
    double ridge{};  ///< of ‖a‖², Σ w included
    bool intercept = false;
};

/// The minimum over (a, b) from the sums over the samples, with B or without. An intercept takes the weighted mean
/// from every column. O((K (1 + f))³).
template <class Scalar = double>
EliminatedCoefficients eliminate_coefficients(const GramMatrices& sums, const WorkingSquares& working,
                                              Index kernels, const EliminationTerms& terms) {
    const Index q = working.target.cols(), k = kernels, b = k > 0 ? (sums.gram.cols() - q) / k : 1;
    EliminatedCoefficients out = detail::eliminated_without_kernels<Scalar>(working, terms.intercept);
    if (k == 0) return out;
    Matrix full = sums.gram;
    detail::mirror_lower(full);
    const detail::GramColumns columns(k, b, q);
    if (terms.intercept)
        detail::add_outer<Scalar>(full, -1.0 / working.total, sums.totals.data(), sums.totals.data());
    const Matrix factor = detail::gram_factor<Scalar>(
        detail::entries_of<Scalar>(full, columns.values, columns.values), terms.ridge, working.total);
    QuadraticModel& quadratic = out.quadratic;
    quadratic.inverse = Matrix::Identity(k, k);
    detail::cholesky_solve<Scalar>(factor, quadratic.inverse);
    const Matrix right = detail::entries_of<Scalar>(full, columns.values, columns.targets);  // Φ'Wt
    out.coefficients = right;
    detail::cholesky_solve<Scalar>(factor, out.coefficients);
    out.cost -= detail::dot<Scalar>(right, out.coefficients);
    for (Index o = 0; terms.intercept && o < q; ++o)
        for (Index j = 0; j < k; ++j)
            out.offset(o) -= out.coefficients(j, o) * sums.totals(j * b) / working.total;
    quadratic.cross = detail::entries_of<Scalar>(full, columns.values, columns.slopes);
    quadratic.reduced = detail::entries_of<Scalar>(full, columns.slopes, columns.slopes);
    quadratic.pull = detail::entries_of<Scalar>(full, columns.slopes, columns.targets);
    // M = B'WB − B'WΦ G⁻¹ Φ'WB through L⁻¹Φ'WB, G = LL', and B'W(t − Φa)
    Matrix half = quadratic.cross;
    detail::solve_lower<Scalar>(factor, half);
    detail::add_product_tn<Scalar>(quadratic.reduced, half, half, -1.0);
    detail::add_product_tn<Scalar>(quadratic.pull, quadratic.cross, out.coefficients, -1.0);
    return out;
}

/// Coefficients of a loss other than the squared one, and the cost without the prior on widths.
struct NewtonCoefficients {
    double cost{};          ///< Σ w ℓ + ridge ‖a‖²
    Matrix coefficients{};  ///< K x q
    Vector offset{};        ///< q
    Matrix prediction{};    ///< Φa + b, q x n
    Vector masses{};        ///< Σ_i w_i k_ij² / mean w, K
};

/// Minimises Σ w ℓ(Φa + b) + ridge ‖a‖² over (a, b) by Newton's method on the smoothed loss, a step halved until
/// the cost falls. `start` may be empty. O(n K²) per step; holds Φ, n x K.
template <class Scalar = double>
class NewtonElimination {
public:
    NewtonElimination(const SearchProblem& problem, const Matrix& nodes, EliminationTerms terms)
        : problem_(problem), terms_(terms), phi_(problem.points.size(), nodes.cols()) {
        for (Index j = 0; j < nodes.cols(); ++j)
            detail::kernel_column(problem.kernel, problem.points, detail::column_ref(nodes, j), &phi_(0, j));
    }

    NewtonCoefficients minimize(const KernelExpansion& start) const {
        constexpr int max_steps = 25;
        constexpr double settled = 1e-7;  // relative decrease of the cost
        const Index k = phi_.cols(), q = problem_.outputs();
        const bool begun = start.coefficients.rows() == k && start.offset.size() == q;
        NewtonCoefficients now{0.0,
                               begun ? start.coefficients : Matrix::Zero(k, q),
                               begun ? start.offset : Vector::Zero(q),
                               {},
                               masses()};
        now.prediction = values(now.coefficients, now.offset);
        now.cost = cost(now.prediction, now.coefficients);
        for (int step = 0; step < max_steps; ++step) {
            const double before = now.cost;
            if (!advance(now)) break;
            if (before - now.cost <= settled * before) break;
        }
        detail::require(std::isfinite(now.cost), "the ", problem_.loss.loss().held_name(), " loss or the ",
                        problem_.kernel.held_name(), " kernel returned a value that is not finite");
        return now;
    }

private:
    Vector masses() const {
        const Vector& weights = problem_.loss.weights();
        const double mean = detail::sum<Scalar>(weights) / static_cast<double>(weights.size());
        Vector out = Vector::Zero(phi_.cols());
        for (Index j = 0; j < phi_.cols(); ++j)
            for (Index i = 0; i < phi_.rows(); ++i) out(j) += weights(i) * phi_(i, j) * phi_(i, j) / mean;
        return out;
    }

    Matrix values(const Matrix& a, const Vector& offset) const {
        Matrix f = detail::transposed<Scalar>(detail::product<Scalar>(phi_, a));
        detail::add_to_rows(f, offset);
        return f;
    }

    double cost(const Matrix& f, const Matrix& a) const {
        return problem_.loss.cost(f) + terms_.ridge * detail::squared_norm<Scalar>(a);
    }

    /// One damped Newton step; false, and nothing changed, where no length lowers the cost.
    bool advance(NewtonCoefficients& now) const {
        constexpr double shortest = 1e-4;
        const WorkingSquares working = problem_.loss.linearize(now.prediction);
        const EliminatedCoefficients newton = eliminate_coefficients<Scalar>(
            held_gram_matrices<Scalar>(phi_, working), working, phi_.cols(), terms_);
        const Matrix towards = values(newton.coefficients, newton.offset) - now.prediction;
        for (double length = 1.0; length > shortest; length *= 0.5) {
            NewtonCoefficients next = now;
            detail::scale<Scalar>(next.coefficients, 1.0 - length);
            detail::add_scaled<Scalar>(next.coefficients, length, newton.coefficients);
            detail::add_scaled<Scalar>(next.prediction, length, towards);
            next.cost = cost(next.prediction, next.coefficients);
            if (!(next.cost < now.cost)) continue;
            detail::scale<Scalar>(next.offset, 1.0 - length);
            detail::add_scaled<Scalar>(next.offset, length, newton.offset);
            now = std::move(next);
            return true;
        }
        return false;
    }

    const SearchProblem& problem_;
    EliminationTerms terms_;
    Matrix phi_;
};

}  // namespace kernelet
