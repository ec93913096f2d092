#pragma once

/// What the exponential families share.
namespace kernelet::detail {

inline constexpr double smallest_exponent = -700.0;  // past it exp is denormal, and several times slower
inline constexpr double gaussian_reach = 8.6;        // in widths: exp(−8.6²/2) = 8.7e-17 < 2^-53

}  // namespace kernelet::detail
