#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

/// An unpenalised trend in the dual: f = ∫ α k + bT, T the t functions of the trend at the samples, t x n. Maximising
/// ⟨λ, f⟩ over b leaves the dual finite only where λT' = 0, for a constant Σ_i λ_i = 0 and for a linear trend Σ_i λ_i x_i
/// = 0 too; g is the same function on that subspace.
namespace kernelet {

namespace detail {

/// Minimises, for one output, Σ_i |λ_i| exp(sign(λ_i) T_i·c), which is convex in c and whose gradient is T λ(c)',
/// λ(c) = λ_i exp(sign(λ_i) T_i·c), by Newton's method. Where no c is best (a line separates the signs), λ ← 0.
template <class Scalar = double>
void balance_output(Matrix& lambda, Index o, const Matrix& functions) {
    constexpr int max_steps = 60;
    constexpr double least_left = 1e-9, longest = 1.0, accuracy = 1e-15, balanced_up_to = 1e-10;
    const Index n = lambda.cols(), t = functions.rows();
    const auto total = [&] {
        double sum = 0.0;
        for (Index i = 0; i < n; ++i) sum += std::abs(lambda(o, i));
        return sum;
    };
    const double first = total();
    double before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < max_steps; ++step) {
        Matrix hessian = Matrix::Zero(t, t);
        Vector gradient = Vector::Zero(t);
        for (Index i = 0; i < n; ++i) {
            const double size = std::abs(lambda(o, i));
            for (Index c = 0; c < t && size > 0.0; ++c) {
                gradient(c) += lambda(o, i) * functions(c, i);
                for (Index r = c; r < t; ++r) hessian(r, c) += size * functions(c, i) * functions(r, i);
            }
        }
        const double left = total();
        if (!(left > least_left * first)) break;
        const double off = max_abs(gradient) / left;
        if (off <= accuracy || (off <= balanced_up_to && off > 0.5 * before))
            return;  // as close as rounding allows
        before = off;
        add_to_diagonal(hessian, accuracy * left);
        if (!cholesky<Scalar>(hessian)) break;
        cholesky_solve<Scalar>(hessian, gradient);
        double largest = 0.0;
        const auto along = [&](Index i) {
            double sum = 0.0;
            for (Index c = 0; c < t; ++c) sum += functions(c, i) * gradient(c);
            return sum;
        };
        for (Index i = 0; i < n; ++i)
            if (lambda(o, i) != 0.0) largest = std::max(largest, std::abs(along(i)));
        const double length = largest > longest ? longest / largest : 1.0;
        for (Index i = 0; i < n; ++i) {
            const double sign = lambda(o, i) < 0.0 ? -1.0 : 1.0;
            lambda(o, i) *= std::exp(-sign * length * along(i));
        }
    }
    for (Index i = 0; i < n; ++i) lambda(o, i) = 0.0;
}

}  // namespace detail

/// A λ near this one with λT' = 0, of the same signs, so that it does not leave the barrier cone of an unbounded C, as
/// it would where its trend is taken off. A constant: of the positive and the negative entries those with the larger
/// sum are scaled to the smaller. Linear: every entry times a positive factor, see detail::balance_output(). O(q n t²)
/// per Newton step.
inline Matrix balanced(Matrix lambda, const Matrix& functions) {
    if (functions.rows() > 1) {
        for (Index o = 0; o < lambda.rows(); ++o) detail::balance_output(lambda, o, functions);
        return lambda;
    }
    for (Index o = 0; o < lambda.rows(); ++o) {
        double above = 0.0, below = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i) {
            above += std::max(lambda(o, i), 0.0);
            below -= std::min(lambda(o, i), 0.0);
        }
        const double least = std::min(above, below);
        for (Index i = 0; i < lambda.cols(); ++i)
            if (lambda(o, i) != 0.0) lambda(o, i) *= least / (lambda(o, i) > 0.0 ? above : below);
    }
    return lambda;
}

/// t more nodes of the augmented dual, with the functions of the trend as kernels, without threshold or penalty: only
/// their proximal term,
///     max over b of ⟨b, λT'⟩ − (δ/2)‖b − b_k‖²,   attained at b = b_k + λT'/δ.
struct ProximalTrend {
    Matrix functions{};  ///< T, t x n
    Matrix anchor{};     ///< b_k, q x t

    bool exists() const { return functions.rows() > 0; }
    /// b
    Matrix at(const Matrix& lambda, double delta) const {
        Matrix b = anchor;
        detail::add_scaled(b, 1.0 / delta, detail::product_nt(lambda, functions));
        return b;
    }
    /// The maximum: ⟨b_k, λT'⟩ + ‖λT'‖²/(2δ), 0 where there is no trend.
    double value(const Matrix& lambda, double delta) const {
        if (!exists()) return 0.0;
        const Matrix sums = detail::product_nt(lambda, functions);
        return detail::dot(anchor, sums) + 0.5 / delta * detail::squared_norm(sums);
    }
    /// The b of least squares for values, q x n: vT' (TT')⁻¹.
    Matrix of(const Matrix& values) const {
        constexpr double rounding = 1e-13;
        Matrix gram = detail::product_nt(functions, functions), b = detail::product_nt(functions, values);
        detail::add_to_diagonal(gram, rounding * static_cast<double>(values.cols()));
        detail::ldlt_solve(gram, b);
        return detail::transposed(b);
    }
    /// Values without their trend.
    Matrix without(Matrix values) const {
        if (exists()) detail::add_product(values, of(values), functions, -1.0);
        return values;
    }
};

/// The root mean square of y about its trend, where that may carry it; never 0.
inline double size_about_trend(const Matrix& y, const ProximalTrend& trend) {
    constexpr double rounding = 1e-12;  // of what is left where the trend carries all
    const Matrix about = trend.without(y);
    const bool something = detail::max_abs(about) > rounding * detail::max_abs(y);
    const double size = detail::root_mean_square(something ? about : y);
    return size > 0.0 ? size : std::numeric_limits<double>::min();
}

}  // namespace kernelet
