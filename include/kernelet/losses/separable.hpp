#pragma once

#include <kernelet/losses/monotone_root.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

/// The functions of a loss ℓ(ŷ, y) of one number that the dual needs, from value, derivative, level and
/// interval alone, or by the loss's own closed form where it has one. All generic searches are by bracketing
/// on the derivative, which only has to be monotone: 10 to 100 evaluations each.
namespace kernelet::detail {

template <class Loss>
concept HasProximal = requires(const Loss& loss, double number) {
    { loss.proximal(number, number, number) } -> std::convertible_to<double>;
};
template <class Loss>
concept HasCurvature = requires(const Loss& loss, double number) {
    { loss.curvature(number, number) } -> std::convertible_to<double>;
};
template <class Loss>
concept HasConjugate = requires(const Loss& loss, double number) {
    { loss.conjugate(number, number) } -> std::convertible_to<double>;
};
template <class Loss>
concept HasArgmin = requires(const Loss& loss, double number) {
    { loss.argmin(number, number, number, number) } -> std::convertible_to<double>;
};

template <class Loss>
concept HasFarthest = requires(const Loss& loss, double number) {
    { loss.farthest(number, number) } -> std::convertible_to<double>;
};

/// Whether targets must be −1 or +1.
template <class Loss>
constexpr bool is_classification() {
    if constexpr (requires { Loss::classification; })
        return Loss::classification;
    else
        return false;
}

/// Whether targets must be −1 or +1, of a loss that decides this at run time.
template <class Loss>
bool is_classification([[maybe_unused]] const Loss& loss) {
    if constexpr (requires { loss.is_classification(); })
        return loss.is_classification();
    else
        return is_classification<Loss>();
}

/// Whether a loss has a continuous curvature everywhere.
template <class Loss>
constexpr bool is_smooth() {
    if constexpr (requires { Loss::smooth; })
        return Loss::smooth && HasCurvature<Loss>;
    else
        return false;
}

/// Whether a loss chooses its scale by the noise.
template <class Loss>
inline constexpr bool adapts = requires(const Loss& loss, double number) {
    { loss.adapted(number) } -> std::same_as<Loss>;
};

/// The loss for data of this noise: unchanged, except for a loss that chooses its scale by the noise.
template <class Loss>
Loss adapted(const Loss& loss, double noise_deviation) {
    if constexpr (requires {
                      { loss.adapted(noise_deviation) } -> std::same_as<Loss>;
                  })
        return loss.adapted(noise_deviation);
    else
        return loss;
}

/// The size from which a prediction counts as infinite: far beyond all data, and its square is still finite.
inline constexpr double farthest_prediction = 1e150;

/// The slopes of ℓ(·, y) from one end to the other: the domain of its conjugate, up to its boundary.
template <class Loss>
Interval slopes(const Loss& loss, double target) {
    return {loss.derivative(-farthest_prediction, target), loss.derivative(farthest_prediction, target)};
}

/// The ŷ nearest to y at which the slope of ℓ reaches s: the maximiser of sŷ − ℓ(ŷ, y). An end of |ŷ − y| ≤
/// radius where it is not reached inside.
template <class Loss>
double at_slope(const Loss& loss, double slope, double target, double radius) {
    const double start = loss.derivative(target, target);
    if (start == slope) return target;
    const double side = start < slope ? 1.0 : -1.0;
    const double most = std::min(radius, farthest_prediction);
    const auto h = [&](double distance) {
        return side * (loss.derivative(target + side * distance, target) - slope);
    };
    const double last = h(most);
    if (!(last >= 0.0)) return target + side * radius;
    return target + side * monotone_root(h, {0.0, side * (start - slope)}, {most, last});
}

/// argmin over ŷ of κℓ(ŷ, y) + ½(ŷ − v)².
template <class Loss>
double proximal(const Loss& loss, double point, double kappa, double target) {
    if constexpr (HasProximal<Loss>) {
        return loss.proximal(point, kappa, target);
    } else {
        // ŷ = v − sδ, s the sign of ℓ' at v, with δ the root of δ − κ sℓ'(v − sδ), which is in [0, κ sℓ'(v)].
        const double force = kappa * loss.derivative(point, target);
        if (force == 0.0) return point;
        const double side = force > 0.0 ? 1.0 : -1.0;
        const double most = std::min(std::abs(force), 2.0 * farthest_prediction);
        const auto h = [&](double distance) {
            return distance - kappa * side * loss.derivative(point - side * distance, target);
        };
        return point - side * monotone_root(h, {0.0, -std::abs(force)}, {most, std::max(h(most), 0.0)});
    }
}

/// The slope of v ↦ proximal(v, κ, y) where it is ŷ: 1/(1 + κℓ''(ŷ)), 0 at a kink of ℓ, where ŷ sticks. In
/// general by a difference of the proximal map itself, which is monotone and 1-Lipschitz even where ℓ' jumps;
/// across such a place it is a mean of the slopes on both sides, an element of the generalised Jacobian
/// too.
template <class Loss>
double proximal_slope(const Loss& loss, double point, double kappa, double target, double prediction) {
    if constexpr (HasCurvature<Loss>) {
        return 1.0 / (1.0 + kappa * loss.curvature(prediction, target));
    } else {
        // A step small relative to the residual and the shift, on which ℓ'' changes, but not so small that
        // rounding of v or y shows: both errors below 1e-8 of the slope.
        const double change = std::max(std::abs(prediction - target), std::abs(point - prediction));
        const double size = std::max(std::abs(point), std::abs(target));
        constexpr double rounding = std::numeric_limits<double>::epsilon();
        const double step = std::max(std::cbrt(rounding) * change, std::sqrt(rounding) * size);
        if (!(step > 0.0)) return 1.0;
        const double rise =
            proximal(loss, point + step, kappa, target) - proximal(loss, point - step, kappa, target);
        return std::clamp(rise / ((point + step) - (point - step)), 0.0, 1.0);
    }
}

/// ℓ*(s) = sup over ŷ of sŷ − ℓ(ŷ, y); +∞ for slopes that ℓ does not have.
template <class Loss>
double conjugate(const Loss& loss, double slope, double target) {
    if constexpr (HasConjugate<Loss>) {
        return loss.conjugate(slope, target);
    } else {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double best = at_slope(loss, slope, target, infinity);
        return std::isfinite(best) ? slope * best - loss.value(best, target) : infinity;
    }
}

/// argmin over |ŷ − y| ≤ radius of μℓ(ŷ, y) + λŷ (paper (11), Algorithm 1, line 3): where the slope of ℓ is −λ/μ. The radius may
/// be infinite, and then the result.
template <class Loss>
double argmin(const Loss& loss, double lambda, double mu, double target, double radius) {
    if constexpr (HasArgmin<Loss>) {
        return loss.argmin(lambda, mu, target, radius);
    } else {
        if (!(mu > 0.0)) return lambda == 0.0 ? target : target - std::copysign(radius, lambda);
        return at_slope(loss, -lambda / mu, target, radius);
    }
}

/// A bound on |ŷ − y| where ℓ(ŷ, y) ≤ samples·level(t), for the box of Algorithm 1: by convexity the interval
/// of t, so many times as long. Where the interval has no end, a decision no classifier needs to exceed.
template <class Loss>
double farthest(const Loss& loss, double target, double tolerance, double samples) {
    if constexpr (requires { loss.farthest_of(target, tolerance, samples); }) {
        return loss.farthest_of(target, tolerance, samples);
    } else if constexpr (HasFarthest<Loss>) {
        return loss.farthest(tolerance, samples);
    } else {
        constexpr double sure = 10.0;  // P(y) = 0.99995 for the logistic loss
        const Interval bounds = loss.interval(target, tolerance);
        double distance = 0.0;
        for (const double end : {bounds.lo, bounds.hi})
            distance = std::max(distance, std::isfinite(end) ? samples * std::abs(end - target) : sure);
        return distance;
    }
}

}  // namespace kernelet::detail
