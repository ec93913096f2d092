#pragma once

#include <kernelet/types.hpp>

namespace kernelet::detail {

/// Numbers of one register, and that register: a vector of g++ and clang++, for loops that Eigen's expressions would take
/// through memory. A vector wider than the registers would be slow.
#if defined(__AVX512F__)
inline constexpr Index lane_count = 8;
#elif defined(__AVX__)
inline constexpr Index lane_count = 4;
#else
inline constexpr Index lane_count = 2;
#endif
using Lanes = double __attribute__((vector_size(lane_count * sizeof(double))));

}  // namespace kernelet::detail
