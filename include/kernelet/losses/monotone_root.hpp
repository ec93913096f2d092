#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace kernelet::detail {

/// A number x ≥ 0 and a function's value there.
struct Sampled {
    double x{};
    double h{};
};

/// How many doubles are between 0 ≤ a ≤ b.
inline std::uint64_t doubles_between(double a, double b) {
    return std::bit_cast<std::uint64_t>(b) - std::bit_cast<std::uint64_t>(a);
}

/// The double halfway when they are counted so: about the geometric mean of numbers far apart, the mean of
/// close ones. Halving so ends after 64 steps, whatever the scale.
inline double middle_double(double a, double b) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) + doubles_between(a, b) / 2);
}

/// The least x, up to rounding, at which a nondecreasing h reaches 0, given lo.h < 0 ≤ hi.h; h may jump and
/// be infinite. By secants (Illinois' rule: an end that stays counts half) in rounds of four; a round that
/// does less than four halvings would is followed by four of them. About 10 steps where h is smooth, 130 at
/// most. What is returned has h ≥ 0.
template <class Function>
double monotone_root(const Function& h, Sampled lo, Sampled hi) {
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    constexpr int round = 4;
    constexpr int most_steps = 2 * 64 + 2 * round;
    std::uint64_t width = doubles_between(lo.x, hi.x);
    double kept_lo = 1.0, kept_hi = 1.0;
    bool rose = false;  // whether the last step moved lo
    bool halve = false;
    for (int step = 1; step <= most_steps && hi.x - lo.x > 4.0 * rounding * hi.x; ++step) {
        const double below = kept_lo * lo.h, above = kept_hi * hi.h;
        const double secant = lo.x - below * ((hi.x - lo.x) / (above - below));
        // Never so close to an end that the step is lost: once the root is known, this closes the bracket.
        const double edge = 3.0 * rounding * hi.x;
        double x = std::min(std::max(secant, lo.x + edge), hi.x - edge);
        if (halve || !std::isfinite(secant) || !(x > lo.x && x < hi.x)) x = middle_double(lo.x, hi.x);
        if (!(x > lo.x && x < hi.x)) break;
        const double value = h(x);
        const bool rises = !(value >= 0.0);
        (rises ? lo : hi) = {x, value};
        kept_lo = rises || rose ? 1.0 : 0.5 * kept_lo;
        kept_hi = !rises || !rose ? 1.0 : 0.5 * kept_hi;
        rose = rises;
        if (step % round == 0) {
            const std::uint64_t left = doubles_between(lo.x, hi.x);
            halve = left > (width >> round) + 1;
            width = left;
        }
    }
    return hi.x;
}

/// The root on [lo, ∞), from a first guess; none where h is still negative at 1e290. The steps outwards
/// square: 2, 4, 16, ...
template <class Function>
std::optional<double> monotone_root(const Function& h, Sampled lo, double guess) {
    constexpr double farthest = 1e290;
    double growth = 2.0;
    for (double x = guess; x < farthest; x *= growth, growth *= growth) {
        const double value = h(x);
        if (value >= 0.0) return monotone_root(h, lo, Sampled{x, value});
        lo = {x, value};
    }
    return std::nullopt;
}

/// The value and the slope of a function.
struct Sloped {
    double value{};
    double slope{};
};

/// The x > 0 at which a positive, smooth and decreasing T falls to `bound`, given T(0) > bound: by Newton's method on
/// T^(−½), which is linear where T is the square of 1/(1 + cx) (Hebden 1973), kept in a bracket; none where T is
/// still larger at 1e290. 4 to 8 steps.
template <class Function>
std::optional<double> decreasing_root(const Function& t, double bound, double guess) {
    constexpr double farthest = 1e290, accuracy = 1e-13;
    constexpr int most_steps = 200;
    double lo = 0.0, hi = std::numeric_limits<double>::infinity(), growth = 2.0, x = guess;
    for (int step = 0; step < most_steps && x < farthest; ++step) {
        const Sloped at = t(x);
        (at.value > bound ? lo : hi) = x;
        double next = x - 2.0 * (std::sqrt(at.value / bound) - 1.0) * at.value / at.slope;
        if (std::abs(next - x) <= accuracy * x) return next;
        if (!(next > lo && next < hi)) {
            next = std::isinf(hi) ? growth * x : middle_double(lo, hi);
            growth *= growth;
            if (!(next > lo && next < hi)) return hi;
        }
        x = next;
    }
    return std::isinf(hi) ? std::nullopt : std::optional(hi);
}

}  // namespace kernelet::detail
