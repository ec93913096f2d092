#pragma once

#include <kernelet/losses/separable.hpp>
#include <kernelet/losses/smoothing.hpp>
#include <kernelet/losses/squared.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>

/// The cost of noise of a given deviation under a loss: for default tolerances and criteria.
namespace kernelet::detail {

/// The mean loss of normal noise of deviation σ about the constant that suits the loss best,
/// min over c of E ℓ(c, σZ). For the squared loss σ². About 10⁴ evaluations of ℓ.
template <class Loss>
double noise_level(const Loss& loss, double deviation) {
    if constexpr (requires { loss.noise_level(deviation); }) return loss.noise_level(deviation);
    if constexpr (std::same_as<Loss, SquaredLoss>) return deviation * deviation;
    constexpr int places = 200;
    constexpr double reach = 5.0;  // deviations
    constexpr int trisections = 40;
    const auto mean = [&](double c) {
        double sum = 0.0, weights = 0.0;
        for (int k = 0; k < places; ++k) {
            const double z = reach * ((k + 0.5) / (0.5 * places) - 1.0);
            const double weight = std::exp(-0.5 * z * z);
            sum += weight * loss.value(deviation * c, deviation * z);
            weights += weight;
        }
        return sum / weights;
    };
    double lo = -reach, hi = reach;  // convex in c
    for (int step = 0; step < trisections; ++step) {
        const double third = (hi - lo) / 3.0;
        if (mean(lo + third) <= mean(hi - third))
            hi -= third;
        else
            lo += third;
    }
    return mean(0.5 * (lo + hi));
}

/// How the mean loss grows with the deviation, ∂ log noise_level/∂ log σ: 2 for the squared loss, 1 for an
/// absolute one.
template <class Loss>
double noise_degree(const Loss& loss, double deviation) {
    if (is_squared(loss)) return 2.0;
    constexpr double step = 1.25;
    const double before = noise_level(loss, deviation / step), after = noise_level(loss, deviation * step);
    constexpr double least = 0.5, most = 4.0;  // flat inside a tube that is wider than the noise
    if (!(before > 0.0)) return most;
    return std::clamp(0.5 * std::log(after / before) / std::log(step), least, most);
}

/// The tolerance that stands for a mean loss: level(t) = that. level is nondecreasing.
template <class Loss>
double tolerance_of_level(const Loss& loss, double level) {
    if (is_squared(loss)) return std::sqrt(level);
    if (!(level > loss.level(0.0))) return 0.0;
    double hi = level;
    while (loss.level(hi) < level && hi < farthest_prediction) hi *= 2.0;
    double lo = 0.0;
    constexpr int halvings = 80;
    for (int k = 0; k < halvings; ++k) {
        const double middle = 0.5 * (lo + hi);
        (loss.level(middle) < level ? lo : hi) = middle;
    }
    return hi;
}

}  // namespace kernelet::detail
