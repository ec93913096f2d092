#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace kernelet {

/// ℓ(ŷ, y) = log(1 + e^{−yŷ}), y = ±1: the negative log-likelihood of y when P(y = 1) = 1/(1 + e^{−ŷ}). The
/// tolerance t bounds the loss: per sample yŷ ≥ −log(e^t − 1), aggregate Σ wℓ ≤ t Σ w. Both sets are
/// unbounded: the dual is finite for yλ ≥ 0 only. No ŷ has a loss of 0: a tolerance below the spacing of
/// doubles at 1, 2.2e-16, stands for that (margins of 36, where probability() is 1 up to rounding).
class LogisticLoss {
public:
    static constexpr std::string_view name = "logistic";
    static constexpr bool classification = true;
    static constexpr bool smooth = true;
    static constexpr bool log_likelihood = true;  ///< −log p(y | f), up to a constant

    /// P(y = 1) at a decision ŷ: 1/(1 + e^{−ŷ}).
    static double probability(double decision) { return 1.0 / (1.0 + std::exp(-decision)); }

    double value(double prediction, double target) const { return soft_plus(-target * prediction); }
    double derivative(double prediction, double target) const {
        return -target * probability(-target * prediction);
    }
    double level(double tolerance) const { return std::max(tolerance, least_level); }
    Interval interval(double target, double tolerance) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        // −log(e^t − 1) = −t − log(1 − e^{−t})
        const double t = level(tolerance);
        const double margin = -t - std::log(-std::expm1(-t));
        return target > 0.0 ? Interval{margin, infinity} : Interval{-infinity, -margin};
    }

    /// argmin of κℓ + ½(ŷ − v)²: the margin m becomes M with M − m = κ/(1 + e^M), by Newton steps on M from
    /// near the root: 3 to 5 of them, one exponential each.
    double proximal(double point, double kappa, double target) const {
        if (!(kappa > 0.0)) return point;
        constexpr int most_newton_steps = 60;
        const double margin = target * point;
        double found = kappa <= 1.0 ? margin + kappa * probability(-margin) : near_proximal(margin, kappa);
        for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
            const double p = probability(-found);
            const double step = ((found - margin) - kappa * p) / (1.0 + kappa * p * (1.0 - p));
            found -= step;
            if (!(std::abs(step) > newton_accuracy * std::max(1.0, std::abs(found)))) break;
        }
        return target * found;
    }
    /// proximal() of runs, in packets, by Newton from the ŷ given: g(M) = M − m − κ/(1 + e^M) grows with M, and
    /// its root is between m and m + min(κ, max(1, log κ − m)).
    template <class Run, class Out>
    void proximals(const Run& point, const Run& kappa, const Run& target, Out& found) const {
        constexpr int most_newton_steps = 200, few_newton_steps = 8;
        // dependent, so that a file that only includes this does not instantiate the expressions below
        using Some = Eigen::Array<typename Out::Scalar, Eigen::Dynamic, 1, 0, block, 1>;
        for (Index first = 0; first < found.size(); first += block) {
            const Index n = std::min(block, found.size() - first);
            const Some y = target.segment(first, n), k = kappa.segment(first, n);
            Some lo = y * point.segment(first, n), m = lo, p(n), g(n), next(n);
            Some hi = m + (k.log() - m).max(1.0).min(k);
            Some at = (y * found.segment(first, n)).max(lo).min(hi);
            for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
                p = (-at.abs()).exp();
                p = (at > 0.0).select(p, 1.0) / (p + 1.0);
                g = (at - m) - k * p;
                hi = (g > 0.0).select(at, hi);
                lo = (g < 0.0).select(at, lo);
                next = at - g / (1.0 + k * p * (1.0 - p));
                // Far left of the root a step is 1, however far: every other one halves what is left.
                const double most_step = iteration >= few_newton_steps && iteration % 2 == 1
                                             ? newton_accuracy
                                             : std::numeric_limits<double>::infinity();
                p = (next - at).abs() / next.abs().max(1.0);
                const double step = p.maxCoeff();
                const auto newton = next >= lo && next <= hi && p <= most_step;
                const bool settled = newton.all() && !(step > newton_accuracy);
                next = newton.select(next, 0.5 * (lo + hi));
                at = next;
                if (settled) break;
            }
            found.segment(first, n) = y * at;
        }
    }
    /// p(1 − p) = e^{−|ŷ|}/(1 + e^{−|ŷ|})².
    double curvature(double prediction, double /*target*/) const {
        const double e = std::exp(-std::abs(prediction));
        return e / ((1.0 + e) * (1.0 + e));
    }
    /// value() of runs of predictions, in packets: with e = e^{−|ŷ|}, ℓ = max(−yŷ, 0) + log(1 + e),
    /// ℓ' = −y p(−yŷ) and ℓ'' = e/(1 + e)².
    template <class Run, class Out>
    void values(const Run& prediction, const Run& target, Out& out) const {
        // log(1 + e) = e log(u)/(u − 1) with u = 1 + e rounded, which is accurate for any e (Goldberg 1991)
        out = (-prediction.abs()).exp();
        const auto u = out + 1.0;
        out = (u == 1.0).select(out, u.log() * out / (u - 1.0)) + (-(target * prediction)).max(0.0);
    }
    template <class Run, class Out>
    void derivatives(const Run& prediction, const Run& target, Out& out) const {
        out = (-prediction.abs()).exp();
        out = (target * prediction > 0.0).select(out, 1.0) / (out + 1.0) * -target;
    }
    template <class Run, class Out>
    void curvatures(const Run& prediction, const Run& /*target*/, Out& out) const {
        out = (-prediction.abs()).exp();
        out = out / (out + 1.0).square();
    }
    /// ℓ*(s) = u log u + (1 − u) log(1 − u), u = −sy in [0, 1].
    double conjugate(double slope, double target) const {
        const double u = -slope * target;
        if (!(u >= 0.0 && u <= 1.0)) return std::numeric_limits<double>::infinity();
        return (u > 0.0 ? u * std::log(u) : 0.0) + (u < 1.0 ? (1.0 - u) * std::log1p(-u) : 0.0);
    }
    /// argmin over |ŷ − y| ≤ radius of μℓ + λŷ: the margin log((1 − u)/u), u = yλ/μ, inside of the box.
    double argmin(double lambda, double mu, double target, double radius) const {
        const double along = target * lambda;
        if (along == 0.0 && !(mu > 0.0)) return target;
        if (!(along > 0.0)) return target * (1.0 + radius);
        if (!(along < mu)) return target * (1.0 - radius);
        const double margin = std::log((mu - along) / along);
        return target * std::clamp(margin, 1.0 - radius, 1.0 + radius);
    }

private:
    static constexpr Index block = 64;  // numbers of a run at a time
    static constexpr double least_level = std::numeric_limits<double>::epsilon();

    static constexpr double newton_accuracy = 1e-9;  // of the last step but one: squared, below rounding

    /// The root above up to 1e-3, for a κ that may be large. With δ = M − m and u = log δ, it is that of
    ///     u + log(1 + e^{m + exp u}) − log κ,
    /// convex in u with a slope of at least 1: from a u that is too large the steps only descend.
    static double near_proximal(double margin, double kappa) {
        constexpr int most_newton_steps = 60;
        constexpr double near = 1e-3;
        const double log_kappa = std::log(kappa);
        // δ ≤ κ/(1 + e^m), and δ ≤ log κ − m or δ ≤ 1
        double u = std::min(log_kappa - soft_plus(margin), std::log(std::max(1.0, log_kappa - margin)));
        double delta = std::exp(u);
        for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
            const double step =
                (u + soft_plus(margin + delta) - log_kappa) / (1.0 + delta * probability(margin + delta));
            u -= step;
            const double next = std::exp(u);
            const bool reached = !(delta - next > near);
            delta = next;
            if (reached) break;
        }
        return margin + delta;
    }

    /// log(1 + e^x) without overflow.
    static double soft_plus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
};

}  // namespace kernelet
