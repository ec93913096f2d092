#pragma once

#include <kernelet/types.hpp>

#include <cmath>
#include <numbers>

namespace kernelet::detail {

/// ∫ exp(−t²/2w²) dt from range.lo to range.hi = w √(π/2) [erf(hi/√2w) − erf(lo/√2w)]. On one side of zero by erfc, which
/// keeps its digits where erf is near one.
inline double gaussian_integral(const Interval& range, double w) {
    const double a = range.lo / (std::numbers::sqrt2 * w), b = range.hi / (std::numbers::sqrt2 * w);
    const double difference = a > 0.0   ? std::erfc(a) - std::erfc(b)
                              : b < 0.0 ? std::erfc(-b) - std::erfc(-a)
                                        : std::erf(b) - std::erf(a);
    return w * difference / (std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
}

}  // namespace kernelet::detail
