#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/options.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <cstdint>

namespace support {

/// A small random problem: n 2 to 60, d 1 to 4, duplicated points, outliers a million times
/// the scale, scales of x and y from 1e-6 to 1e6, tolerance, scope and sparsity given or not.
struct RandomProblem {
    kernelet::Matrix x{};
    kernelet::Vector y{};
    kernelet::Options options{};

    /// This problem in other units.
    RandomProblem scaled(double of_x, double of_y) const {
        RandomProblem other{of_x * x, of_y * y, options};
        if (options.tolerance) other.options.tolerance = of_y * *options.tolerance;
        return other;
    }
};

inline RandomProblem random_problem(std::uint64_t seed) {
    using kernelet::Index;
    const kernelet::detail::CounterRandom random(seed, 99);
    std::uint64_t counter = 0;
    const auto u = [&] { return random.uniform(counter++); };
    const Index n = 2 + static_cast<Index>(u() * 59.0), d = 1 + static_cast<Index>(u() * 4.0);
    const double sx = std::pow(10.0, -6.0 + 12.0 * u()), sy = std::pow(10.0, -6.0 + 12.0 * u());
    RandomProblem problem{kernelet::Matrix(d, n), kernelet::Vector(n), {}};
    for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < d; ++c) problem.x(c, i) = sx * (2.0 * u() - 1.0);
        problem.y(i) = sy * (std::sin(5.0 * problem.x(0, i) / sx) + 0.1 * (u() - 0.5));
        if (i > 0 && u() < 0.15)
            problem.x.col(i) = problem.x.col(static_cast<Index>(u() * static_cast<double>(i))).eval();
        if (u() < 0.03) problem.y(i) *= 1e6;
    }
    if (u() < 0.5) problem.options.tolerance = sy * std::pow(10.0, -4.0 + 4.0 * u());
    if (u() < 0.4) problem.options.scope = kernelet::Scope::per_sample;
    if (u() < 0.3) problem.options.sparsity = 2.0 * u();
    return problem;
}

}  // namespace support
