#pragma once

#include <kernelet/kernels/matern.hpp>

#include <string_view>

namespace kernelet {

namespace detail {

/// P = 1, k = e^−s: the Matérn family of smoothness ½.
struct LaplacianProfile {
    static constexpr double rate = 1.0;
    static constexpr double reach = 36.8;                // e^−36.8 = 1.04e-16 < 2^-53
    static constexpr double smallest_distance = 1e-150;  // below it s² underflows: taken for the kink itself
    static auto polynomial(const auto& s) { return s.Constant(s.rows(), s.cols(), 1.0); }
    static auto steepness(const auto& s) { return s.max(smallest_distance).inverse(); }
};

}  // namespace detail

/// k(x, z; w) = exp(−‖x − z‖ / w): one width. At x = z there is a kink and no derivative in z; the jet has
/// zero there, the middle of the one-sided slopes.
class Laplacian : public detail::HalfIntegerMatern<detail::LaplacianProfile> {
public:
    static constexpr std::string_view name = "laplacian";
};

}  // namespace kernelet
