#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <limits>
#include <string_view>

namespace kernelet {

/// ℓ(ŷ, y) = max(τ(y − ŷ), (τ − 1)(y − ŷ)), the pinball: its mean is least at the τ-quantile of y. The
/// tolerance t bounds the loss: per sample y − t/τ ≤ ŷ ≤ y + t/(1 − τ), aggregate Σ wℓ ≤ t Σ w.
class QuantileLoss {
public:
    static constexpr std::string_view name = "quantile";

    explicit QuantileLoss(double quantile = 0.5) : below_(quantile), above_(1.0 - quantile) {
        detail::require(quantile > 0.0 && quantile < 1.0, "loss.quantile = ", quantile,
                        " must be > 0 and < 1");
    }

    /// τ
    double quantile() const { return below_; }

    double value(double prediction, double target) const {
        const double residual = prediction - target;
        return residual < 0.0 ? -below_ * residual : above_ * residual;
    }
    double derivative(double prediction, double target) const {
        return prediction == target ? 0.0 : prediction < target ? -below_ : above_;
    }
    double level(double tolerance) const { return tolerance; }
    Interval interval(double target, double tolerance) const {
        return {target - tolerance / below_, target + tolerance / above_};
    }

    /// argmin of κℓ + ½(ŷ − v)²: by κτ up or κ(1 − τ) down, no further than y.
    double proximal(double point, double kappa, double target) const {
        const double residual = point - target;
        if (residual < -kappa * below_) return point + kappa * below_;
        if (residual > kappa * above_) return point - kappa * above_;
        return target;
    }
    /// 0, and ∞ at y, where ŷ sticks.
    double curvature(double prediction, double target) const {
        return prediction == target ? std::numeric_limits<double>::infinity() : 0.0;
    }
    /// ℓ*(s) = sy for −τ ≤ s ≤ 1 − τ.
    double conjugate(double slope, double target) const {
        if (slope < -below_ || slope > above_) return std::numeric_limits<double>::infinity();
        return slope * target;
    }
    /// argmin over |ŷ − y| ≤ radius of μℓ + λŷ: y for −μ(1 − τ) ≤ λ ≤ μτ, an end of the box beyond.
    double argmin(double lambda, double mu, double target, double radius) const {
        if (lambda > mu * below_) return target - radius;
        if (lambda < -mu * above_) return target + radius;
        return target;
    }

private:
    double below_;  // τ, how steep it is for ŷ < y
    double above_;  // 1 − τ
};

}  // namespace kernelet
