#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace kernelet {

/// ℓ(ŷ, y) = r² for |r| ≤ δ, 2δ|r| − δ² beyond, r = ŷ − y: squares for most samples, and outliers pull no
/// harder than one at δ. The tolerance t is in y's unit: per sample |r| ≤ t, aggregate Σ wℓ ≤ ℓ(t) Σ w.
/// Without δ a fit chooses it by the noise of the data (adapted); used as it is, the loss is then the squared
/// loss, δ = ∞.
class HuberLoss {
public:
    static constexpr std::string_view name = "huber";

    explicit HuberLoss(std::optional<double> delta = {}) : chosen_(delta.has_value()) {
        if (!delta) return;
        detail::require_positive(*delta, "loss.delta");
        delta_ = *delta;
    }

    /// δ, infinite where it is still to be chosen.
    double delta() const { return delta_; }

    /// The loss for data with this deviation of the noise: δ = 1.345 of it where δ was not given. Data
    /// without noise show no scale: the loss stays as it is.
    HuberLoss adapted(double noise_deviation) const {
        constexpr double efficient = 1.345;  // δ/σ at which normal noise costs 5 % more variance than squares
        detail::require_nonnegative(noise_deviation, "noise_deviation");
        if (chosen_ || noise_deviation == 0.0) return *this;
        return HuberLoss(efficient * noise_deviation);
    }

    double value(double prediction, double target) const {
        const double size = std::abs(prediction - target);
        return size <= delta_ ? size * size : delta_ * (2.0 * size - delta_);
    }
    double derivative(double prediction, double target) const {
        return 2.0 * std::clamp(prediction - target, -delta_, delta_);
    }
    double level(double tolerance) const { return value(tolerance, 0.0); }
    Interval interval(double target, double tolerance) const {
        return {target - tolerance, target + tolerance};
    }

    /// argmin of κℓ + ½(ŷ − v)²: r/(1 + 2κ) where that is at most δ, r ∓ 2κδ beyond.
    double proximal(double point, double kappa, double target) const {
        const double residual = point - target;
        const double shrunk = residual / (1.0 + 2.0 * kappa);
        if (std::abs(shrunk) <= delta_) return target + shrunk;
        return point - std::copysign(2.0 * kappa * delta_, residual);
    }
    double curvature(double prediction, double target) const {
        return std::abs(prediction - target) <= delta_ ? 2.0 : 0.0;
    }
    /// ℓ*(s) = sy + s²/4 for |s| ≤ 2δ.
    double conjugate(double slope, double target) const {
        if (std::abs(slope) > 2.0 * delta_) return std::numeric_limits<double>::infinity();
        return slope * target + 0.25 * slope * slope;
    }
    /// argmin over |ŷ − y| ≤ radius of μℓ + λŷ = y − λ/2μ where that is within δ, an end of the box beyond.
    double argmin(double lambda, double mu, double target, double radius) const {
        if (lambda == 0.0) return target;
        const double step = std::abs(lambda) <= 2.0 * delta_ * mu ? std::abs(lambda) / (2.0 * mu) : radius;
        return target - std::copysign(std::min(step, radius), lambda);
    }

private:
    bool chosen_;
    double delta_ = std::numeric_limits<double>::infinity();
};

}  // namespace kernelet
