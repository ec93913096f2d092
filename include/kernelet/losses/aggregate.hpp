#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/losses/projection.hpp>
#include <kernelet/losses/separable.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

/// Support function and projection of the two feasible sets of a separable loss: the product of the samples'
/// intervals, and the level set of the sum. Matrices are q x n, weights and tolerances n.
namespace kernelet::detail {

template <class Loss>
concept HasAggregateMinimum = requires(const Loss& loss, const ConstMatrixRef& matrix,
                                       const ConstVectorRef& weights, double number) {
    { loss.aggregate_minimum(matrix, matrix, weights, number) } -> std::convertible_to<double>;
};
template <class Loss>
concept HasAggregateProjection = requires(const Loss& loss, const ConstMatrixRef& matrix,
                                          const ConstVectorRef& weights, double number) {
    { loss.aggregate_projection(matrix, matrix, weights, number) } -> std::same_as<Projection>;
};

/// A multiplier of the wrong sign for a set that is unbounded on its side counts as zero up to this part of
/// the largest multiplier: what rounding in v + ηP(−v/η) leaves, not a way to −∞.
inline constexpr double barrier_rounding = 1e-12;

/// Whether λŷ has no lower bound on the interval.
inline bool unbounded(const Interval& interval, double lambda) {
    return lambda != 0.0 && std::isinf(lambda > 0.0 ? interval.lo : interval.hi);
}

/// min of ⟨λ, ŷ⟩ over the product of the intervals {ℓ(ŷ_i, y_i) ≤ level(t_i)}; −∞ where there is none. O(qn).
template <class Loss>
double interval_minimum(const Loss& loss, const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                        const ConstVectorRef& tolerances) {
    const double negligible = barrier_rounding * max_abs(lambda);
    double sum = 0.0;
    for (Index i = 0; i < lambda.cols(); ++i)
        for (Index o = 0; o < lambda.rows(); ++o) {
            const double multiplier = lambda(o, i);
            if (multiplier == 0.0) continue;  // 0·∞ = 0
            const Interval bounds = loss.interval(target(o, i), tolerances(i));
            if (unbounded(bounds, multiplier) && std::abs(multiplier) <= negligible) continue;
            sum += multiplier * (multiplier > 0.0 ? bounds.lo : bounds.hi);
        }
    return sum;
}

/// The nearest point of that product. O(qn).
template <class Loss>
Projection interval_projection(const Loss& loss, const ConstMatrixRef& point, const ConstMatrixRef& target,
                               const ConstVectorRef& tolerances) {
    Projection result{point, Matrix::Ones(point.rows(), point.cols()),
                      Matrix::Zero(point.rows(), point.cols())};
    for (Index i = 0; i < point.cols(); ++i)
        for (Index o = 0; o < point.rows(); ++o) {
            const Interval bounds = loss.interval(target(o, i), tolerances(i));
            result.point(o, i) = bounds.clamp(point(o, i));
            result.diagonal(o, i) = bounds.contains(point(o, i)) && bounds.lo < bounds.hi ? 1.0 : 0.0;
        }
    return result;
}

/// min of ⟨λ, ŷ⟩ over Σ_i w_i Σ_o ℓ ≤ E = level(t) q Σ w, by its dual in one number,
///     max over μ ≥ 0 of φ(μ) = −Σ μw ℓ*(−λ/μw) − μE,   φ'(μ) = Σ wℓ(ŷ_μ) − E,   ŷ_μ = argmin of μwℓ + λŷ.
/// Every μ is a lower bound, so what rounding leaves of the search can only lower the result. −∞ outside of
/// the barrier cone. O(qn) per step.
template <class Loss>
double aggregate_minimum(const Loss& loss, const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                         const ConstVectorRef& weights, double tolerance) {
    if constexpr (HasAggregateMinimum<Loss>) {
        return loss.aggregate_minimum(lambda, target, weights, tolerance);
    } else {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double largest = max_abs(lambda);
        if (largest == 0.0) return 0.0;
        const auto at_level = [&] {
            return interval_minimum(loss, lambda, target, Vector::Constant(lambda.cols(), tolerance));
        };
        const double bound = loss.level(tolerance) * static_cast<double>(target.rows()) * sum(weights);
        if (!(bound > 0.0)) return at_level();  // no sample may lose anything

        // The least μ at which every −λ/μw is a slope of ℓ.
        Matrix multipliers = lambda;
        double least = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i)
            for (Index o = 0; o < lambda.rows(); ++o) {
                double& multiplier = multipliers(o, i);
                if (multiplier == 0.0) continue;
                const Interval range = slopes(loss, target(o, i));
                const double steepest = multiplier > 0.0 ? -range.lo : range.hi;
                if (steepest > 0.0)
                    least = std::max(least, std::abs(multiplier) / (weights(i) * steepest));
                else if (std::abs(multiplier) <= barrier_rounding * largest)
                    multiplier = 0.0;
                else
                    return -infinity;
            }
        const auto h = [&](double mu) {  // −φ'
            double total = 0.0;
            for (Index i = 0; i < multipliers.cols(); ++i)
                for (Index o = 0; o < multipliers.rows(); ++o) {
                    const double best =
                        argmin(loss, multipliers(o, i), mu * weights(i), target(o, i), infinity);
                    total += weights(i) * loss.value(best, target(o, i));
                }
            return bound - total;
        };
        // Just above the least μ: there ŷ is inside of its set also where −λ/μw is off by rounding.
        const double start = least * (1.0 + 8.0 * std::numeric_limits<double>::epsilon());
        const double excess = least > 0.0 ? h(start) : -infinity;
        std::optional<double> mu = least;
        if (!(excess >= 0.0))
            mu = monotone_root(h, Sampled{start, excess}, start > 0.0 ? 2.0 * start : largest);
        if (!mu) return at_level();  // the bound is too small to show in the sum
        double total = 0.0;
        for (Index i = 0; i < multipliers.cols(); ++i)
            for (Index o = 0; o < multipliers.rows(); ++o) {
                const double multiple = *mu * weights(i);
                const double slope = slopes(loss, target(o, i)).clamp(-multipliers(o, i) / multiple);
                total -= multiple * conjugate(loss, slope, target(o, i));
            }
        return total - *mu * bound;
    }
}

/// A loss whose proximal map comes by the run, in packets, from a guess.
template <class Loss>
concept HasProximalRuns = requires(const Loss& loss, const Eigen::Map<const Eigen::ArrayXd>& run,
                                   Eigen::Map<Eigen::ArrayXd> out) {
    loss.proximals(run, run, run, out);
    loss.values(run, run, out);
    loss.derivatives(run, run, out);
    loss.curvatures(run, run, out);
};

/// The arguments of a projection, q x n and n.
struct ProximalPass {
    const ConstMatrixRef& point;
    const ConstMatrixRef& target;
    const ConstVectorRef& weights;
};

/// T = Σ w ℓ(ŷ) and dT/dκ = −Σ (wℓ')²/(1 + κwℓ'') at ŷ = argmin of κwℓ + ½(ŷ − v)², found from the ŷ given, which it
/// replaces. O(qn).
template <class Loss>
Sloped proximal_runs(const Loss& loss, const ProximalPass& pass, double kappa, Matrix& prediction) {
    constexpr Index length = 128;
    using Run = Eigen::Map<const Eigen::ArrayXd>;
    using Some = Eigen::Array<double, Eigen::Dynamic, 1, 0, length, 1>;
    const Index q = pass.point.rows(), all = pass.point.size();
    const Matrix point = pass.point, target = pass.target;
    Sloped total;
    for (Index first = 0; first < all; first += length) {
        const Index n = std::min(length, all - first);
        Some weight(n), result(n);
        for (Index k = 0; k < n; ++k) weight(k) = pass.weights((first + k) / q);
        const Some scaled = kappa * weight;
        Eigen::Map<Eigen::ArrayXd> found(prediction.data() + first, n), out(result.data(), n);
        const Run v(point.data() + first, n), y(target.data() + first, n), at(prediction.data() + first, n);
        loss.proximals(v, Run(scaled.data(), n), y, found);
        loss.values(at, y, out);
        total.value += (weight * result).sum();
        loss.derivatives(at, y, out);
        weight = (weight * result).square();
        loss.curvatures(at, y, out);
        total.slope -= (weight / (1.0 + scaled * result)).sum();
    }
    return total;
}

/// The nearest point of Σ_i w_i Σ_o ℓ ≤ E = level(t) q Σ w: ŷ_i = argmin of κw_iℓ + ½(ŷ − v_i)² with κ ≥ 0
/// the root of Σ wℓ(ŷ) = E, which decreases in κ. Jacobian A − A g gᵀ A / gᵀ A g with A = 1/(1 + κwℓ''), 0 at
/// kinks, and g = wℓ'(ŷ). O(qn) per step, 10 to 20 steps, or 4 to 8 where ℓ is smooth
/// and evaluated by the run.
template <class Loss>
Projection aggregate_projection(const Loss& loss, const ConstMatrixRef& point, const ConstMatrixRef& target,
                                const ConstVectorRef& weights, double tolerance) {
    if constexpr (HasAggregateProjection<Loss>) {
        return loss.aggregate_projection(point, target, weights, tolerance);
    } else {
        const auto at_level = [&] {
            return interval_projection(loss, point, target, Vector::Constant(point.cols(), tolerance));
        };
        const double bound = loss.level(tolerance) * static_cast<double>(target.rows()) * sum(weights);
        if (!(bound > 0.0)) return at_level();  // no sample may lose anything
        Projection result{point, Matrix::Ones(point.rows(), point.cols()),
                          Matrix::Zero(point.rows(), point.cols())};
        const auto h = [&](double kappa) {  // E − Σ wℓ(ŷ)
            double total = 0.0;
            for (Index i = 0; i < point.cols(); ++i)
                for (Index o = 0; o < point.rows(); ++o) {
                    double& prediction = result.point(o, i);
                    if (kappa > 0.0)
                        prediction = proximal(loss, point(o, i), kappa * weights(i), target(o, i));
                    total += weights(i) * loss.value(prediction, target(o, i));
                }
            return bound - total;
        };
        const double outside = h(0.0);
        if (outside >= 0.0) return result;
        // κ of a Newton step from 0: (Σ wℓ − E) / Σ (wℓ')²
        double steepness = 0.0;
        for (Index i = 0; i < point.cols(); ++i)
            for (Index o = 0; o < point.rows(); ++o)
                steepness += std::pow(weights(i) * loss.derivative(point(o, i), target(o, i)), 2);
        double guess = -outside / steepness;
        if (!(std::isfinite(guess) && guess > 0.0)) guess = 1.0;
        std::optional<double> kappa;
        if constexpr (HasProximalRuns<Loss>) {
            h(guess);  // from where proximal_runs() begins
            const auto at = [&](double k) {
                return proximal_runs(loss, {point, target, weights}, k, result.point);
            };
            kappa = decreasing_root(at, bound, guess);
            if (kappa) at(*kappa);
        } else {
            kappa = monotone_root(h, Sampled{0.0, outside}, guess);
            if (kappa) h(*kappa);
        }
        if (!kappa) return at_level();  // the bound is too small to show in the sum
        double normal = 0.0;
        for (Index i = 0; i < point.cols(); ++i)
            for (Index o = 0; o < point.rows(); ++o) {
                const double prediction = result.point(o, i);
                const double gradient = weights(i) * loss.derivative(prediction, target(o, i));
                const double slope =
                    proximal_slope(loss, point(o, i), *kappa * weights(i), target(o, i), prediction);
                result.diagonal(o, i) = slope;
                result.direction(o, i) = slope * gradient;
                normal += gradient * slope * gradient;
            }
        if (normal > 0.0) scale(result.direction, 1.0 / std::sqrt(normal));
        return result;
    }
}

}  // namespace kernelet::detail
