#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace kernelet {

/// ℓ(ŷ, y) = max(0, |ŷ − y| − ε): no loss inside of a tube, |ŷ − y| for ε = 0. The tolerance t comes on top,
/// in y's unit: per sample |ŷ − y| ≤ ε + t, aggregate Σ wℓ ≤ t Σ w.
class EpsilonInsensitiveLoss {
public:
    static constexpr std::string_view name = "epsilon_insensitive";

    explicit EpsilonInsensitiveLoss(double epsilon = 0.0) : epsilon_(epsilon) {
        detail::require_nonnegative(epsilon, "loss.epsilon");
    }

    /// ε, half the width of the tube.
    double epsilon() const { return epsilon_; }

    double value(double prediction, double target) const {
        return std::max(0.0, std::abs(prediction - target) - epsilon_);
    }
    double derivative(double prediction, double target) const {
        const double residual = prediction - target;
        return std::abs(residual) <= epsilon_ ? 0.0 : std::copysign(1.0, residual);
    }
    double level(double tolerance) const { return tolerance; }
    Interval interval(double target, double tolerance) const {
        return {target - (epsilon_ + tolerance), target + (epsilon_ + tolerance)};
    }

    /// argmin of κℓ + ½(ŷ − v)²: by κ towards the tube, no further than its edge.
    double proximal(double point, double kappa, double target) const {
        const double residual = point - target;
        if (std::abs(residual) <= epsilon_) return point;
        if (std::abs(residual) <= epsilon_ + kappa) return target + std::copysign(epsilon_, residual);
        return point - std::copysign(kappa, residual);
    }
    /// 0, and ∞ at the edges, where ŷ sticks.
    double curvature(double prediction, double target) const {
        const bool kink = prediction == target + epsilon_ || prediction == target - epsilon_;
        return kink ? std::numeric_limits<double>::infinity() : 0.0;
    }
    /// ℓ*(s) = sy + ε|s| for |s| ≤ 1.
    double conjugate(double slope, double target) const {
        if (std::abs(slope) > 1.0) return std::numeric_limits<double>::infinity();
        return slope * target + epsilon_ * std::abs(slope);
    }
    /// argmin over |ŷ − y| ≤ radius of μℓ + λŷ: an edge of the tube for |λ| ≤ μ, an end of the box beyond.
    double argmin(double lambda, double mu, double target, double radius) const {
        if (lambda == 0.0) return target;
        const double distance = std::abs(lambda) <= mu ? std::min(epsilon_, radius) : radius;
        return target - std::copysign(distance, lambda);
    }

private:
    double epsilon_;
};

}  // namespace kernelet
