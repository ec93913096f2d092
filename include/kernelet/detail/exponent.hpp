#pragma once

/// What the exponential families share.
namespace kernelet::detail {

/// exp(−80) = 1.8e-35: far below what changes a sum with k(z, z) = 1, and far above where products of two kernel
/// values are denormal, and ten times slower.
inline constexpr double smallest_exponent = -80.0;
inline constexpr double gaussian_reach = 8.6;  // in widths: exp(−8.6²/2) = 8.7e-17 < 2^-53

}  // namespace kernelet::detail
