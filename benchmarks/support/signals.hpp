#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>

/// Signals and a clock for the benchmark programs.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

inline double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Data {
    Matrix x{};
    Vector y{};
};

/// The chirp sin(½πx²) in the first coordinate on [−5, 5] where d = 1; a smooth ridge function of all
/// coordinates, uniform on [−1, 1]^d, elsewhere. Noise of variance 1e-3.
inline Data regression(Index n, Index d, std::uint64_t seed) {
    const kernelet::detail::CounterRandom uniform(seed, 1), normal(seed, 2);
    Data data{Matrix(d, n), Vector(n)};
    for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < d; ++c)
            data.x(c, i) = 2.0 * uniform.uniform(static_cast<std::uint64_t>(i * d + c)) - 1.0;
        if (d == 1)
            data.x(0, i) = n > 1 ? -5.0 + 10.0 * static_cast<double>(i) / static_cast<double>(n - 1) : 0.0;
        const double clean = d == 1 ? std::sin(0.5 * std::numbers::pi * data.x(0, i) * data.x(0, i))
                                    : std::sin(4.0 * data.x(0, i)) * std::exp(-data.x.col(i).squaredNorm());
        data.y(i) = clean + std::sqrt(1e-3) * normal.normal(static_cast<std::uint64_t>(i));
    }
    return data;
}

}  // namespace bench
