#pragma once

#include <kernelet/types.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

/// Counter-based random numbers: a value depends on (seed, stream, counter) alone, so that any thread may
/// draw any of them in any order and a seed means the same on every platform.
namespace kernelet::detail {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits with full avalanche.
constexpr std::uint64_t mix_bits(std::uint64_t bits) {
    bits ^= bits >> 30;
    bits *= 0xbf58476d1ce4e5b9ULL;
    bits ^= bits >> 27;
    bits *= 0x94d049bb133111ebULL;
    bits ^= bits >> 31;
    return bits;
}

/// Two independent standard normals from two uniforms on [0, 1) (Box and Muller).
inline std::pair<double, double> normal_pair(double u, double v) {
    const double radius = std::sqrt(-2.0 * std::log1p(-u));
    const double angle = 2.0 * std::numbers::pi * v;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

class CounterRandom {
public:
    explicit constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream = 0)
        : key_(mix_bits(mix_bits(seed + golden_gamma) ^ (stream * golden_gamma + 1))) {}

    constexpr std::uint64_t bits(std::uint64_t counter) const {
        return mix_bits(key_ + (counter + 1) * golden_gamma);
    }

    /// Uniform on [0, 1): the 53 leading bits.
    constexpr double uniform(std::uint64_t counter) const {
        return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
    }

    /// Standard normal, from the uniforms 2·counter and 2·counter + 1.
    double normal(std::uint64_t counter) const {
        return normal_pair(uniform(2 * counter), uniform(2 * counter + 1)).first;
    }

private:
    static constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd
    std::uint64_t key_;
};

/// `count` of the numbers 0 ... n − 1, ascending, every choice equally likely (Knuth's algorithm S). O(n).
inline std::vector<Index> random_part(Index n, Index count, const CounterRandom& random) {
    std::vector<Index> part;
    part.reserve(static_cast<std::size_t>(count));
    for (Index i = 0; i < n; ++i) {
        const auto wanted = static_cast<double>(count - static_cast<Index>(part.size()));
        if (random.uniform(static_cast<std::uint64_t>(i)) * static_cast<double>(n - i) < wanted)
            part.push_back(i);
    }
    return part;
}

/// Points first, first + 1, ... of the additive recurrence u_k = frac(shift + k·φ^-c), c = 1 ... m, φ the
/// root of φ^(m+1) = φ + 1: a low-discrepancy sequence in any dimension m, randomly shifted, so that averages
/// over it are unbiased; consecutive batches continue one sequence and so stratify each other. m x count.
inline Matrix low_discrepancy(Index dimension, Index first, Index count, const CounterRandom& random) {
    double phi = 2.0;
    for (int iteration = 0; iteration < 64; ++iteration)
        phi = std::pow(1.0 + phi, 1.0 / (static_cast<double>(dimension) + 1.0));
    Matrix points(dimension, count);
    double step = 1.0;
    for (Index c = 0; c < dimension; ++c) {
        step /= phi;
        const double shift = random.uniform(static_cast<std::uint64_t>(c));
        for (Index k = 0; k < count; ++k) {
            const double value = shift + static_cast<double>(first + k) * step;
            points(c, k) = value - std::floor(value);
        }
    }
    return points;
}

}  // namespace kernelet::detail
