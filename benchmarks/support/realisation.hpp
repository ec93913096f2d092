#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string_view>
#include <vector>

/// The paper's synthetic signals, sampled with noise, and their clean values on a fine grid.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

constexpr double noise_variance = 1e-3;  // the paper's ξ
constexpr Index grid_points = 1001;

struct Realisation {
    Matrix x{};
    Vector y{};
    Matrix grid{};
    Vector truth{};
};

/// Samples of a function on [lo, hi], equispaced or uniform at random, with noise.
inline Realisation sampled(const std::function<double(double)>& f, double lo, double hi, Index n, bool random,
                           std::uint64_t seed, double variance = noise_variance) {
    const kernelet::detail::CounterRandom uniform(seed, 11), normal(seed, 12);
    Realisation r{Matrix(1, n), Vector(n), Vector::LinSpaced(grid_points, lo, hi).transpose(),
                  Vector(grid_points)};
    for (Index i = 0; i < n; ++i) {
        const double share = random ? uniform.uniform(static_cast<std::uint64_t>(i))
                                    : static_cast<double>(i) / static_cast<double>(n - 1);
        r.x(0, i) = lo + (hi - lo) * share;
        r.y(i) = f(r.x(0, i)) + std::sqrt(variance) * normal.normal(static_cast<std::uint64_t>(i));
    }
    for (Index i = 0; i < grid_points; ++i) r.truth(i) = f(r.grid(0, i));
    return r;
}

constexpr double chirp_edge = 5.0;

/// sin(½πx²) on [−5, 5].
inline Realisation chirp(Index n, bool random, std::uint64_t seed) {
    return sampled([](double x) { return std::sin(0.5 * std::numbers::pi * x * x); }, -chirp_edge, chirp_edge,
                   n, random, seed);
}

/// Where the Gaussians of the mixture stand. The paper prints U(1, 2), the law of the amplitudes, for the
/// centers too, and does not state where the samples are. Centers over the whole domain of the samples is
/// the reading under which its figures make sense.
enum class Reading { over_the_domain, as_printed };

constexpr Reading readings[] = {Reading::over_the_domain, Reading::as_printed};
constexpr double mixture_lo = 0.0, mixture_hi = 10.0;  // where the samples are uniform, in both readings

constexpr std::string_view to_string(Reading reading) {
    return reading == Reading::over_the_domain ? "centers uniform on [0, 10]" : "centers U(1, 2) as printed";
}

/// m Gaussians of one width, amplitudes uniform on [1, 2], samples uniform on [0, 10].
inline Realisation gaussians(Index m, double width, Index n, std::uint64_t seed,
                             Reading reading = Reading::over_the_domain) {
    const kernelet::detail::CounterRandom random(seed, 13);
    std::vector<double> centers, amplitudes;
    for (Index j = 0; j < m; ++j) {
        const double u = random.uniform(static_cast<std::uint64_t>(2 * j));
        centers.push_back(reading == Reading::as_printed ? 1.0 + u
                                                         : mixture_lo + (mixture_hi - mixture_lo) * u);
        amplitudes.push_back(1.0 + random.uniform(static_cast<std::uint64_t>(2 * j + 1)));
    }
    const auto f = [=](double x) {
        double sum = 0.0;
        for (std::size_t j = 0; j < centers.size(); ++j)
            sum += amplitudes[j] * std::exp(-0.5 * std::pow((x - centers[j]) / width, 2));
        return sum;
    };
    return sampled(f, mixture_lo, mixture_hi, n, true, seed);
}

/// Against the clean signal on the grid.
template <class Model>
double mean_squared_error(const Model& model, const Realisation& r) {
    return (model.predict(r.grid) - r.truth).squaredNorm() / static_cast<double>(r.truth.size());
}

}  // namespace bench
