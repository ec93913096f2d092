#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>

/// Helpers of many tests: random matrices, the chirp, and the message of an exception.
namespace support {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// Independent, uniform on [lo, hi); a seed means the same everywhere.
inline Matrix uniforms(Index rows, Index cols, std::uint64_t seed, double lo = 0.0, double hi = 1.0) {
    const kernelet::detail::CounterRandom random(seed, 1001);
    Matrix values(rows, cols);
    for (Index k = 0; k < values.size(); ++k)
        values(k) = lo + (hi - lo) * random.uniform(static_cast<std::uint64_t>(k));
    return values;
}

/// Independent, standard normal.
inline Matrix normals(Index rows, Index cols, std::uint64_t seed) {
    const kernelet::detail::CounterRandom random(seed, 1002);
    Matrix values(rows, cols);
    for (Index k = 0; k < values.size(); ++k) values(k) = random.normal(static_cast<std::uint64_t>(k));
    return values;
}

/// y = sin(½πx²) + noise of variance 1e-3 at n equispaced x in [−5, 5].
struct Chirp {
    Matrix x{};  // 1 x n
    Vector y{};
    Vector clean{};
};

inline Chirp chirp(Index n, std::uint64_t seed) {
    Chirp signal;
    signal.x = Vector::LinSpaced(n, -5.0, 5.0).transpose();
    signal.clean = (0.5 * std::numbers::pi * signal.x.row(0).array().square()).sin().transpose();
    signal.y = signal.clean + std::sqrt(1e-3) * normals(n, 1, seed);
    return signal;
}

/// The message of the std::invalid_argument that a call throws; empty where it throws nothing.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

inline bool same_bits(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

}  // namespace support
