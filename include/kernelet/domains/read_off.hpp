#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/median.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

/// Default domains, read off the samples.
namespace kernelet {

/// From this dimension on a box is mostly empty of data and centers are drawn around the samples.
inline constexpr Index around_samples_from_dimension = 4;

namespace detail {

/// The median distance to the nearest other place, over at most 256 samples; 0 where all samples are one
/// place.
inline double median_neighbour_distance(const Matrix& x) {
    const Index n = x.cols();
    std::vector<double> distances;
    if (x.rows() == 1) {
        std::vector<double> places;
        for (Index i = 0; i < n; ++i) places.push_back(x(0, i));
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        for (std::size_t i = 0; i < places.size() && places.size() > 1; ++i) {
            const double left = i > 0 ? places[i] - places[i - 1] : std::numeric_limits<double>::infinity();
            const double right =
                i + 1 < places.size() ? places[i + 1] - places[i] : std::numeric_limits<double>::infinity();
            distances.push_back(std::min(left, right));
        }
        return median(distances);
    }
    constexpr Index most_probes = 256;
    const Index probes = std::min(n, most_probes);
    for (Index probe = 0; probe < probes; ++probe) {
        const Index i = probe * n / probes;
        double nearest = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < n; ++j)
            if (const double square = squared_distance(&x(0, j), &x(0, i), x.rows()); square > 0.0)
                nearest = std::min(nearest, square);
        if (std::isfinite(nearest)) distances.push_back(std::sqrt(nearest));
    }
    return median(distances);
}

}  // namespace detail

/// Half the diagonal of the samples' box and its margins; 1 where all samples are one place.
inline double half_diagonal(const Matrix& x) {
    const auto [lo, hi] = detail::bounding_box(x);
    const double diagonal = (1.0 + 2.0 * AroundSamples::box_margin) *
                            std::sqrt(detail::squared_distance(lo.data(), hi.data(), x.rows()));
    return diagonal > 0.0 ? 0.5 * diagonal : 1.0;
}

/// From the median nearest-neighbour distance to half the diagonal of the samples' box and its margins. Where
/// all samples are one place there is no scale to read, and widths are one.
inline Interval widths_from_samples(const Matrix& x) {
    const double widest = half_diagonal(x), nearest = detail::median_neighbour_distance(x);
    if (!(nearest > 0.0)) return {widest, widest};
    return {std::min(nearest, widest), widest};
}

/// The samples' bounding box and a tenth more on each side.
inline Box box_from_samples(const Matrix& x) {
    auto [lo, hi] = detail::bounding_box(x, AroundSamples::box_margin);
    return {std::move(lo), std::move(hi), widths_from_samples(x)};
}

}  // namespace kernelet
