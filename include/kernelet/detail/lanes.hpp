#pragma once

#include <kernelet/types.hpp>

#include <cmath>

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

/// a b + c, rounded once where the processor can, and then everywhere: compilers fuse some products with some sums, not the
/// same ones in every loop, and a point is to have the same bits alone and among others.
inline Lanes multiply_add(const Lanes& a, const Lanes& b, const Lanes& c) {
#ifdef __FMA__
    return Eigen::internal::pmadd<Eigen::internal::packet_traits<double>::type>(a, b, c);
#else
    return a * b + c;
#endif
}
inline double multiply_add(double a, double b, double c) {
#ifdef __FMA__
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

}  // namespace kernelet::detail
