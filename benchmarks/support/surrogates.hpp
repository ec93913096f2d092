#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

/// The classical test functions of surrogate modelling on the unit cube, and designs of samples.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

struct SurrogateFunction {
    std::string name{};
    Index inputs{};
    std::function<double(const double*)> value{};  ///< of a point of the unit cube
};

/// Flow through a borehole (Harper and Gupta 1983), m³ per year.
inline double borehole(const double* u) {
    const double radius = 0.05 + 0.1 * u[0], influence = 100.0 + 49900.0 * u[1],
                 upper = 63070.0 + 52530.0 * u[2], upper_head = 990.0 + 120.0 * u[3],
                 lower = 63.1 + 52.9 * u[4], lower_head = 700.0 + 120.0 * u[5],
                 length = 1120.0 + 560.0 * u[6], conductivity = 9855.0 + 2190.0 * u[7];
    const double log_ratio = std::log(influence / radius);
    return 2.0 * std::numbers::pi * upper * (upper_head - lower_head) /
           (log_ratio *
            (1.0 + 2.0 * length * upper / (log_ratio * radius * radius * conductivity) + upper / lower));
}

/// Midpoint voltage of an output transformerless push-pull circuit (Ben-Ari and Steinberg 2007).
inline double otl_circuit(const double* u) {
    const double b1 = 50.0 + 100.0 * u[0], b2 = 25.0 + 45.0 * u[1], f = 0.5 + 2.5 * u[2],
                 c1 = 1.2 + 1.3 * u[3], c2 = 0.25 + 0.95 * u[4], beta = 50.0 + 250.0 * u[5];
    const double base = 12.0 * b2 / (b1 + b2), gain = beta * (c2 + 9.0);
    return (base + 0.74) * gain / (gain + f) + 11.35 * f / (gain + f) + 0.74 * f * gain / ((gain + f) * c1);
}

/// Friedman 1991, the first: five of the ten inputs are idle.
inline double friedman(const double* u) {
    return 10.0 * std::sin(std::numbers::pi * u[0] * u[1]) + 20.0 * (u[2] - 0.5) * (u[2] - 0.5) +
           10.0 * u[3] + 5.0 * u[4];
}

/// Ishigami and Homma 1990 with a = 7, b = 0.1.
inline double ishigami(const double* u) {
    const auto at = [&](int c) { return std::numbers::pi * (2.0 * u[c] - 1.0); };
    return std::sin(at(0)) + 7.0 * std::pow(std::sin(at(1)), 2) + 0.1 * std::pow(at(2), 4) * std::sin(at(0));
}

inline double branin(const double* u) {
    constexpr double pi = std::numbers::pi;
    const double x = 15.0 * u[0] - 5.0, y = 15.0 * u[1];
    return std::pow(y - 5.1 / (4.0 * pi * pi) * x * x + 5.0 / pi * x - 6.0, 2) +
           10.0 * (1.0 - 1.0 / (8.0 * pi)) * std::cos(x) + 10.0;
}

/// Franke 1979.
inline double franke(const double* u) {
    const double x = 9.0 * u[0], y = 9.0 * u[1];
    return 0.75 * std::exp(-0.25 * ((x - 2.0) * (x - 2.0) + (y - 2.0) * (y - 2.0))) +
           0.75 * std::exp(-(x + 1.0) * (x + 1.0) / 49.0 - (y + 1.0) / 10.0) +
           0.5 * std::exp(-0.25 * ((x - 7.0) * (x - 7.0) + (y - 3.0) * (y - 3.0))) -
           0.2 * std::exp(-(x - 4.0) * (x - 4.0) - (y - 7.0) * (y - 7.0));
}

inline std::vector<SurrogateFunction> surrogate_functions() {
    return {{"borehole", 8, borehole}, {"OTL circuit", 6, otl_circuit}, {"Friedman 1", 10, friedman},
            {"Ishigami", 3, ishigami}, {"Branin", 2, branin},           {"Franke", 2, franke}};
}

/// n points of a Latin hypercube in d dimensions: each of n equal slices of every coordinate holds one point. d x n.
inline Matrix latin_hypercube(Index d, Index n, std::uint64_t seed) {
    const kernelet::detail::CounterRandom random(seed, 51);
    Matrix x(d, n);
    for (Index c = 0; c < d; ++c) {
        std::vector<std::pair<double, Index>> order;
        for (Index i = 0; i < n; ++i)
            order.emplace_back(random.uniform(static_cast<std::uint64_t>(2 * (c * n + i))), i);
        std::sort(order.begin(), order.end());
        for (Index i = 0; i < n; ++i) {
            const double within = random.uniform(static_cast<std::uint64_t>(2 * (c * n + i) + 1));
            x(c, order[static_cast<std::size_t>(i)].second) =
                (static_cast<double>(i) + within) / static_cast<double>(n);
        }
    }
    return x;
}

/// Samples of a function with noise of so many of its deviations, and clean values at 2000 points of the cube.
struct SurrogateData {
    Matrix x{}, test{};
    Vector y{}, truth{};
    double deviation{};  ///< of the clean function over the cube
};

inline SurrogateData surrogate_data(const SurrogateFunction& function, Index n, double noise,
                                    std::uint64_t design) {
    constexpr Index tested = 2000;
    const kernelet::detail::CounterRandom uniform(design, 52), normal(design, 53);
    SurrogateData data{latin_hypercube(function.inputs, n, design), Matrix(function.inputs, tested),
                       Vector(n), Vector(tested)};
    for (Index i = 0; i < data.test.size(); ++i)
        data.test(i) = uniform.uniform(static_cast<std::uint64_t>(i));
    for (Index i = 0; i < tested; ++i) data.truth(i) = function.value(&data.test(0, i));
    data.deviation = std::sqrt((data.truth.array() - data.truth.mean()).square().mean());
    for (Index i = 0; i < n; ++i)
        data.y(i) = function.value(&data.x(0, i)) +
                    noise * data.deviation * normal.normal(static_cast<std::uint64_t>(i));
    return data;
}

}  // namespace bench
