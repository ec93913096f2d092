#pragma once

#include <kernelet/search/gram_matrices.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

/// How the coefficients of a quadratic loss are penalised.
struct EliminationTerms {
    double ridge{};    ///< of ‖a‖², Σ w included
    Index outputs{1};  ///< q
};

/// The minimum over (a, b) of a quadratic loss.
struct EliminatedCoefficients {
    double cost{};          ///< Σ h ‖Φa + Tb − t‖² + ridge ‖a‖²
    Matrix coefficients{};  ///< a, K x q
    Matrix trend{};         ///< b, t x q
};

/// The curvature of the cost in the nodes of the kernels that move, the coefficients of all eliminated (variable
/// projection), with the sums that it follows from: kernels are removed from them, or held, without another pass over
/// the samples.
struct QuadraticModel {
    MovingKernels kernels{};  ///< at which it was computed
    GramMatrices sums{};      ///< W the weights, or half the curvature of the loss
    double total{};           ///< Σ h, the trace of W
    Matrix inverse{};         ///< G⁻¹ = (Φ'WΦ + ridge)⁻¹, K x K
    Matrix cross{};           ///< Φ'WB, K x mf, m kernels moving
    Matrix reduced{};         ///< M = B'WB − B'WΦ G⁻¹ Φ'WB, mf x mf
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

/// [Φ t B]'W[Φ t B] of what the trend leaves of every column: a constant takes off the weighted mean.
template <class Scalar = double>
Matrix gram_without_trend(const GramMatrices& sums, double total) {
    Matrix full = sums.gram;
    if (sums.trend.size() == 0) return full;
    Matrix half = transposed<Scalar>(sums.cross);
    solve_lower<Scalar>(gram_factor<Scalar>(sums.trend, 0.0, total), half);
    rank_update_tn<Scalar>(full, half, -1.0);
    mirror_lower(full);
    return full;
}

/// b = (T'WT)⁻¹ T'W (t − Φa).
template <class Scalar = double>
Matrix trend_beside(const GramMatrices& sums, double total, const Matrix& a) {
    const Index t = sums.trend.cols(), k = a.rows(), q = a.cols();
    Matrix b(t, q);
    if (t == 0) return b;
    b = transposed<Scalar>(ConstBlock(sums.cross).part(k, 0, q, t));
    add_product_tn<Scalar>(b, ConstBlock(sums.cross).part(0, 0, k, t), a, -1.0);
    cholesky_solve<Scalar>(gram_factor<Scalar>(sums.trend, 0.0, total), b);
    return b;
}

}  // namespace detail

/// The minimum over (a, b) from the sums over the samples without B: the last q columns are those of the targets.
/// O(K³).
template <class Scalar = double>
EliminatedCoefficients eliminate_coefficients(const GramMatrices& sums, double total,
                                              const EliminationTerms& terms) {
    const Index q = terms.outputs, k = sums.gram.cols() - q;
    const Matrix full = detail::gram_without_trend<Scalar>(sums, total);
    EliminatedCoefficients out;
    for (Index o = 0; o < q; ++o) out.cost += full(k + o, k + o);
    out.coefficients = detail::ConstBlock(full).part(0, k, k, q).copied();
    if (k > 0) {
        const Matrix right = out.coefficients;  // Φ'Wt
        detail::cholesky_solve<Scalar>(
            detail::gram_factor<Scalar>(detail::ConstBlock(full).part(0, 0, k, k).copied(), terms.ridge,
                                        total),
            out.coefficients);
        out.cost -= detail::dot<Scalar>(right, out.coefficients);
    }
    out.trend = detail::trend_beside<Scalar>(sums, total, out.coefficients);
    return out;
}

/// What follows from the sums with B: M = B'WB − B'WΦ G⁻¹ Φ'WB through L⁻¹Φ'WB, G = LL'. O(K (m f)²).
template <class Scalar = double>
void eliminate_coefficients(QuadraticModel& quadratic, const EliminationTerms& terms) {
    const Index k = quadratic.kernels.size(), first = k + terms.outputs;
    const Matrix full = detail::gram_without_trend<Scalar>(quadratic.sums, quadratic.total);
    const detail::ConstBlock all(full);
    const Index slopes = full.cols() - first;
    const Matrix factor =
        detail::gram_factor<Scalar>(all.part(0, 0, k, k).copied(), terms.ridge, quadratic.total);
    quadratic.inverse = Matrix::Identity(k, k);
    detail::cholesky_solve<Scalar>(factor, quadratic.inverse);
    quadratic.cross = all.part(0, first, k, slopes).copied();
    quadratic.reduced = all.part(first, first, slopes, slopes).copied();
    Matrix half = quadratic.cross;
    detail::solve_lower<Scalar>(factor, half);
    detail::rank_update_tn<Scalar>(quadratic.reduced, half, -1.0);
    detail::mirror_lower(quadratic.reduced);
}

/// Coefficients of a loss other than the squared one, and the cost without the prior on widths.
struct NewtonCoefficients {
    double cost{};          ///< Σ w ℓ + ridge ‖a‖²
    Matrix coefficients{};  ///< K x q
    Vector offset{};        ///< q
    Matrix slopes{};        ///< d x q, or none
    Matrix prediction{};    ///< Φa + trend, q x n
};

/// Minimises Σ w ℓ(Φa + Tb) + ridge ‖a‖² over (a, b) by Newton's method on the smoothed loss, a step halved until
/// the cost falls. O(n K²) per step.
template <class Scalar = double>
class NewtonElimination {
public:
    /// Φ is n x K. Holds references.
    NewtonElimination(const SearchProblem& problem, const detail::ConstBlock& phi, EliminationTerms terms)
        : problem_(problem), terms_(terms), phi_(phi), trend_(problem.trend, problem.points) {}

    /// `start` may be empty. Ends early where a cost below `needed` is out of reach: steps gain less and less.
    NewtonCoefficients minimize(const KernelExpansion& start, const NewtonOptions& options,
                                double needed = std::numeric_limits<double>::infinity()) const {
        const Index k = phi_.cols, q = problem_.outputs();
        const bool begun = start.coefficients.rows() == k && start.offset.size() == q;
        NewtonCoefficients now;
        now.coefficients = begun ? start.coefficients : Matrix::Zero(k, q);
        now.offset = begun ? start.offset : Vector::Zero(q);
        if (trend_.size() > 1)
            now.slopes = begun && start.slopes.size() > 0 ? start.slopes : Matrix::Zero(trend_.size() - 1, q);
        now.prediction = values(now.coefficients, now.offset, now.slopes);
        now.cost = cost(now.prediction, now.coefficients);
        for (Index step = 0; step < options.max_steps; ++step) {
            const double before = now.cost;
            if (!advance(now)) break;
            const double decrease = before - now.cost;
            if (decrease <= options.min_decrease * before || now.cost - decrease > needed) break;
        }
        detail::require(std::isfinite(now.cost), "the ", problem_.loss.loss().held_name(), " loss or the ",
                        problem_.kernel.held_name(), " kernel returned a value that is not finite");
        return now;
    }

private:
    Matrix values(const Matrix& a, const Vector& offset, const Matrix& slopes) const {
        Matrix f = detail::transposed<Scalar>(detail::product<Scalar>(phi_, a));
        detail::add_to_rows(f, offset);
        detail::add_slopes(f, problem_.points, slopes);
        return f;
    }

    double cost(const Matrix& f, const Matrix& a) const {
        return problem_.loss.cost(f) + terms_.ridge * detail::squared_norm<Scalar>(a);
    }

    /// One damped Newton step; false, and nothing changed, where no length lowers the cost.
    bool advance(NewtonCoefficients& now) const {
        constexpr double shortest = 1e-4;
        const WorkingSquares working = problem_.loss.linearize(now.prediction);
        const auto fill = [&](Index first, const detail::Block& to) {
            detail::copy(phi_.part(first, 0, to.rows, to.cols), to);
        };
        const EliminatedCoefficients newton = eliminate_coefficients<Scalar>(
            value_gram_matrices<Scalar>(problem_, phi_.cols, working, fill), working.total, terms_);
        const Vector offset = trend_.offset(newton.trend);
        const Matrix slopes = trend_.slopes(newton.trend);
        const Matrix towards = values(newton.coefficients, offset, slopes) - now.prediction;
        for (double length = 1.0; length > shortest; length *= 0.5) {
            NewtonCoefficients next = now;
            detail::scale<Scalar>(next.coefficients, 1.0 - length);
            detail::add_scaled<Scalar>(next.coefficients, length, newton.coefficients);
            detail::add_scaled<Scalar>(next.prediction, length, towards);
            next.cost = cost(next.prediction, next.coefficients);
            if (!(next.cost < now.cost)) continue;
            detail::scale<Scalar>(next.offset, 1.0 - length);
            detail::add_scaled<Scalar>(next.offset, length, offset);
            detail::scale<Scalar>(next.slopes, 1.0 - length);
            detail::add_scaled<Scalar>(next.slopes, length, slopes);
            now = std::move(next);
            return true;
        }
        return false;
    }

    const SearchProblem& problem_;
    EliminationTerms terms_;
    detail::ConstBlock phi_;
    detail::TrendBasis trend_;
};

}  // namespace kernelet
