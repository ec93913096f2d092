#pragma once

#include <kernelet/losses/projection.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

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
        double norm = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i) norm += lambda.col(i).squaredNorm() / weights(i);
        return lambda.cwiseProduct(target).sum() - radius(target, weights, tolerance) * std::sqrt(norm);
    }

    /// Projection onto the same ellipsoid: ŷ − y = (v − y)/(1 + κw) with κ ≥ 0 the root of Σ w (ŷ − y)² = R²
    /// (Newton on R/‖·‖ − 1, which is concave and increasing in κ), Jacobian A − A g gᵀ A / gᵀ A g, A = 1/(1
    /// + κw), g = w (ŷ − y).
    Projection aggregate_projection(const ConstMatrixRef& point, const ConstMatrixRef& target,
                                    const ConstVectorRef& weights, double tolerance) const {
        const double bound = radius(target, weights, tolerance);
        const Matrix offset = point - target;
        Projection result{point, Matrix::Ones(point.rows(), point.cols()),
                          Matrix::Zero(point.rows(), point.cols())};
        const auto shrink = [&](double kappa) {
            return (1.0 + kappa * weights.array()).inverse().matrix().eval();
        };
        const auto norm = [&](const Vector& a) {
            return std::sqrt((offset * a.asDiagonal()).cwiseAbs2().colwise().sum().dot(weights.transpose()));
        };
        if (norm(shrink(0.0)) <= bound) return result;
        if (bound == 0.0) return {target, Matrix::Zero(point.rows(), point.cols()), result.direction};
        double kappa = 0.0;
        Vector a = shrink(kappa);
        for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
            const double size = norm(a);
            // h(κ) = ‖·‖_w, h' = −Σ w² offset² a³ / h; Newton on 1/h, convex-free and monotone from the left.
            const Matrix cubed =
                offset.cwiseAbs2() * (a.array().cube() * weights.array().square()).matrix().asDiagonal();
            const double slope = cubed.sum() / size;
            const double step = (size / bound - 1.0) * size / slope;
            kappa += step;
            a = shrink(kappa);
            if (step <= 1e-15 * kappa) break;
        }
        const Matrix residual = offset * a.asDiagonal();
        const Matrix gradient = residual * weights.asDiagonal();
        result.point = target + residual;
        result.diagonal = a.transpose().replicate(point.rows(), 1);
        result.direction = gradient * a.asDiagonal();
        const double curvature = result.direction.cwiseProduct(gradient).sum();
        if (curvature > 0.0) result.direction /= std::sqrt(curvature);
        return result;
    }

private:
    static constexpr int most_newton_steps = 60;  // quadratic convergence: 3 to 8 are seen

    /// R with Σ w (ŷ − y)² ≤ R² = t² q Σ w: the RMS over all q n residuals is at most t.
    static double radius(const ConstMatrixRef& target, const ConstVectorRef& weights, double tolerance) {
        return tolerance * std::sqrt(static_cast<double>(target.rows()) * weights.sum());
    }
};

}  // namespace kernelet
