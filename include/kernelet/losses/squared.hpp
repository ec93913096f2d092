#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/losses/projection.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

namespace kernelet {

/// ℓ(ŷ, y) = (ŷ − y)². The tolerance t is in y's unit: per sample |ŷ − y| ≤ t, aggregate Σ wℓ ≤ t² Σ w.
class SquaredLoss {
public:
    static constexpr std::string_view name = "squared";
    static constexpr bool smooth = true;

    double value(double prediction, double target) const {
        return (prediction - target) * (prediction - target);
    }
    double derivative(double prediction, double target) const { return 2.0 * (prediction - target); }

    /// ε of the constraint c = ℓ − ε that tolerance t stands for.
    double level(double tolerance) const { return tolerance * tolerance; }

    /// {ŷ : ℓ(ŷ, y) ≤ level(t)}.
    Interval interval(double target, double tolerance) const {
        return {target - tolerance, target + tolerance};
    }

    /// argmin of κℓ + ½(ŷ − v)²:  y + (v − y)/(1 + 2κ).
    double proximal(double point, double kappa, double target) const {
        return target + (point - target) / (1.0 + 2.0 * kappa);
    }
    double curvature(double /*prediction*/, double /*target*/) const { return 2.0; }

    /// ℓ*(s) = sy + s²/4.
    double conjugate(double slope, double target) const { return slope * target + 0.25 * slope * slope; }

    /// argmin over |ŷ − y| ≤ radius of μ ℓ(ŷ, y) + λ ŷ = y − λ/2μ, clamped. The box is redundant for a radius
    /// of at least the tolerance and keeps the dual finite as μ → 0.
    double argmin(double lambda, double mu, double target, double radius) const {
        if (lambda == 0.0) return target;
        const double step = mu > 0.0 ? lambda / (2.0 * mu) : std::copysign(radius, lambda);
        return target - std::min(std::max(step, -radius), radius);
    }

    /// The largest |ŷ − y| where ℓ ≤ samples·level(t): t √samples.
    double farthest(double tolerance, double samples) const { return tolerance * std::sqrt(samples); }

    /// min of ⟨λ, ŷ⟩ over Σ w (ŷ − y)² ≤ t² Σ w:  ⟨λ, y⟩ − t √(q Σ w) ‖λ/√w‖. All arguments q x n, w of n.
    double aggregate_minimum(const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                             const ConstVectorRef& weights, double tolerance) const {
        double product = 0.0, squares = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i)
            for (Index o = 0; o < lambda.rows(); ++o) {
                product += lambda(o, i) * target(o, i);
                squares += lambda(o, i) * lambda(o, i) / weights(i);
            }
        return product - radius(target, weights, tolerance) * std::sqrt(squares);
    }

    /// Projection onto the same ellipsoid: ŷ − y = (v − y)/(1 + κw) with κ ≥ 0 the root of Σ w (ŷ − y)² = R²
    /// (Newton on R/‖·‖ − 1, which is concave and increasing in κ), Jacobian A − A g gᵀ A / gᵀ A g, A = 1/(1
    /// + κw), g = w (ŷ − y). O(qn) per Newton step.
    Projection aggregate_projection(const ConstMatrixRef& point, const ConstMatrixRef& target,
                                    const ConstVectorRef& weights, double tolerance) const {
        const Index q = point.rows(), n = point.cols();
        const double bound = radius(target, weights, tolerance);
        Projection result{point, Matrix::Ones(q, n), Matrix::Zero(q, n)};
        const Vector squares = squared_offsets(point, target);  // ‖v_i − y_i‖²
        // h(κ) = √Σ w ‖v − y‖² a², a = 1/(1 + κw), and −h' = Σ w² ‖v − y‖² a³ / h
        const auto size_and_slope = [&](double kappa) {
            double size = 0.0, slope = 0.0;
            for (Index i = 0; i < n; ++i) {
                const double a = 1.0 / (1.0 + kappa * weights(i));
                size += weights(i) * squares(i) * a * a;
                slope += weights(i) * weights(i) * squares(i) * a * a * a;
            }
            size = std::sqrt(size);
            return std::pair(size, slope / size);
        };
        auto [size, slope] = size_and_slope(0.0);
        if (size <= bound) return result;
        // Far below rounding the ellipsoid is a point, and κ, which grows as size/bound, would overflow.
        constexpr double point_like = 1e-30;
        if (bound <= point_like * size) return {target, Matrix::Zero(q, n), result.direction};
        double kappa = 0.0;
        for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
            const double step = (size / bound - 1.0) * size / slope;
            kappa += step;
            std::tie(size, slope) = size_and_slope(kappa);
            if (step <= 1e-15 * kappa) break;
        }
        double curvature = 0.0;  // gᵀ A g
        for (Index i = 0; i < n; ++i) {
            const double a = 1.0 / (1.0 + kappa * weights(i));
            for (Index o = 0; o < q; ++o) {
                const double residual = (point(o, i) - target(o, i)) * a, gradient = weights(i) * residual;
                result.point(o, i) = target(o, i) + residual;
                result.diagonal(o, i) = a;
                result.direction(o, i) = a * gradient;
                curvature += a * gradient * gradient;
            }
        }
        if (curvature > 0.0) detail::scale(result.direction, 1.0 / std::sqrt(curvature));
        return result;
    }

private:
    static constexpr int most_newton_steps = 60;  // quadratic convergence: 3 to 8 are seen

    static Vector squared_offsets(const ConstMatrixRef& point, const ConstMatrixRef& target) {
        Vector squares(point.cols());
        for (Index i = 0; i < point.cols(); ++i) {
            squares(i) = 0.0;
            for (Index o = 0; o < point.rows(); ++o)
                squares(i) += (point(o, i) - target(o, i)) * (point(o, i) - target(o, i));
        }
        return squares;
    }

    /// R with Σ w (ŷ − y)² ≤ R² = t² q Σ w: the RMS over all q n residuals is at most t.
    static double radius(const ConstMatrixRef& target, const ConstVectorRef& weights, double tolerance) {
        return tolerance * std::sqrt(static_cast<double>(target.rows()) * detail::sum(weights));
    }
};

}  // namespace kernelet
