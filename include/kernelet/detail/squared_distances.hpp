#pragma once

#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/detail/lanes.hpp>

#include <cstring>

namespace kernelet::detail {

/// One of the sums below, the same bits: of the point x_0, x_stride, x_2 stride, ...
template <bool Scaled>
double squared_distance_of(const double* x, Index stride, Index d, const double* z,
                           [[maybe_unused]] const double* widths) {
    double sum = 0.0;
    for (Index c = 0; c < d; ++c) {
        double difference = x[c * stride] - z[c];
        if constexpr (Scaled) difference *= 1.0 / widths[c];
        sum = multiply_add(difference, difference, sum);
    }
    return sum;
}

/// s_i = Σ_c (x_ic − z_c)², x with a coordinate per column; with `widths`, Σ_c ((x_ic − z_c)/w_c)². Four registers of
/// points at a time, whose sums stay there. O(n d).
template <bool Scaled>
[[gnu::noinline]] void squared_distances(const ConstBlock& x, const double* z,
                                         [[maybe_unused]] const double* widths, double* s) {
    constexpr Index lanes = lane_count, block = 4 * lanes;
    const Index d = x.cols;
    Index i = 0;
    for (; i + block <= x.rows; i += block) {
        Lanes s0{}, s1{}, s2{}, s3{};
        const double* at = x.data + i;
        for (Index c = 0; c < d; ++c, at += x.stride) {
            Lanes a, b, e, f;
            std::memcpy(&a, at, sizeof a);
            std::memcpy(&b, at + lanes, sizeof b);
            std::memcpy(&e, at + 2 * lanes, sizeof e);
            std::memcpy(&f, at + 3 * lanes, sizeof f);
            a -= z[c], b -= z[c], e -= z[c], f -= z[c];
            if constexpr (Scaled) {  // divided before they are squared: w² underflows where w does not
                const double factor = 1.0 / widths[c];
                a *= factor, b *= factor, e *= factor, f *= factor;
            }
            s0 = multiply_add(a, a, s0), s1 = multiply_add(b, b, s1);
            s2 = multiply_add(e, e, s2), s3 = multiply_add(f, f, s3);
        }
        std::memcpy(s + i, &s0, sizeof s0);
        std::memcpy(s + i + lanes, &s1, sizeof s1);
        std::memcpy(s + i + 2 * lanes, &s2, sizeof s2);
        std::memcpy(s + i + 3 * lanes, &s3, sizeof s3);
    }
    for (; i < x.rows; ++i) s[i] = squared_distance_of<Scaled>(x.data + i, x.stride, d, z, widths);
}

}  // namespace kernelet::detail
