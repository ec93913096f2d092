#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace kernelet {

/// ℓ(ŷ, y) = max(0, 1 − yŷ), y = ±1: the soft margin (paper (25)). The tolerance t bounds the loss: per sample yŷ ≥ 1 − t,
/// aggregate Σ wℓ ≤ t Σ w. Both sets are unbounded: the dual is finite for yλ ≥ 0 only. With the margin m =
/// yŷ, |ŷ − y| = |m − 1|.
class HingeLoss {
public:
    static constexpr std::string_view name = "hinge";
    static constexpr bool classification = true;

    double value(double prediction, double target) const { return std::max(0.0, 1.0 - target * prediction); }
    double derivative(double prediction, double target) const {
        return target * prediction < 1.0 ? -target : 0.0;
    }
    double level(double tolerance) const { return tolerance; }
    Interval interval(double target, double tolerance) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return target > 0.0 ? Interval{1.0 - tolerance, infinity} : Interval{-infinity, tolerance - 1.0};
    }

    /// argmin of κℓ + ½(ŷ − v)²: the margin larger by κ, up to 1.
    double proximal(double point, double kappa, double target) const {
        const double margin = target * point;
        if (margin >= 1.0) return point;
        return margin >= 1.0 - kappa ? target : point + kappa * target;
    }
    /// 0, and ∞ at the margin 1, where ŷ sticks.
    double curvature(double prediction, double target) const {
        return prediction == target ? std::numeric_limits<double>::infinity() : 0.0;
    }
    /// value() of runs of predictions, in packets.
    template <class Run, class Out>
    void values(const Run& prediction, const Run& target, Out& out) const {
        out = (1.0 - target * prediction).max(0.0);
    }
    template <class Run, class Out>
    void derivatives(const Run& prediction, const Run& target, Out& out) const {
        out = (target * prediction < 1.0).select(-target, 0.0);
    }
    /// ℓ*(s) = sy for −1 ≤ sy ≤ 0.
    double conjugate(double slope, double target) const {
        const double along = slope * target;
        return along <= 0.0 && along >= -1.0 ? along : std::numeric_limits<double>::infinity();
    }
    /// argmin over |m − 1| ≤ radius of μℓ + λŷ: the margin 1 for 0 ≤ yλ ≤ μ, an end of the box beyond.
    double argmin(double lambda, double mu, double target, double radius) const {
        const double along = target * lambda;
        if (along < 0.0) return target * (1.0 + radius);
        return along <= mu ? target : target * (1.0 - radius);
    }
};

}  // namespace kernelet
