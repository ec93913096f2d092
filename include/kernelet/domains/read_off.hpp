#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/median.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/squared_distances.hpp>
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
    const Matrix coordinates = transposed<>(x);
    std::vector<double> nearest(static_cast<std::size_t>(probes), std::numeric_limits<double>::infinity());
    parallel_for(
        probes,
        [&](Index probe) {
            Vector squares(n);
            squared_distances<false>(coordinates, &x(0, probe * n / probes), nullptr, squares.data());
            double& least = nearest[static_cast<std::size_t>(probe)];
            for (Index j = 0; j < n; ++j)
                if (squares(j) > 0.0) least = std::min(least, squares(j));
        },
        probes * n);
    for (const double square : nearest)
        if (std::isfinite(square)) distances.push_back(std::sqrt(square));
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

/// From the median nearest-neighbour distance, of one input half of it, to half the diagonal of the samples' box and its
/// margins. At half the sampling interval a Gaussian is e⁻² at the samples next to its center: a peak one sample
/// wide, as spikes and cusps have, and narrower ones look the same. Where all samples are at one place there is no
/// scale, and widths are one.
inline Interval widths_from_samples(const Matrix& x) {
    const double widest = half_diagonal(x), nearest = detail::median_neighbour_distance(x);
    if (!(nearest > 0.0)) return {widest, widest};
    return {std::min(x.rows() == 1 ? 0.5 * nearest : nearest, widest), widest};
}

/// The bounds of one of several widths of a kernel, from those of a single one, in d dimensions. Below: the distance w
/// to a neighbour is w/√d along one coordinate. Above: at 4 half diagonals, all coordinates together change a kernel
/// by ½ Σ_c (½ side/width)² = 1/32 across the box, which switches off those that do not matter.
inline Interval coordinate_widths(Interval widths, Index dimension) {
    constexpr double wider = 4.0;
    return {widths.lo / std::sqrt(static_cast<double>(dimension)), wider * widths.hi};
}

/// The samples' bounding box and a tenth more on each side.
inline Box box_from_samples(const Matrix& x) {
    auto [lo, hi] = detail::bounding_box(x, AroundSamples::box_margin);
    const Interval widths = widths_from_samples(x);
    return Box(std::move(lo), std::move(hi), widths)
        .with_coordinate_widths(coordinate_widths(widths, x.rows()));
}

/// Centers around the samples.
inline AroundSamples around_samples(const Matrix& x) {
    const Interval widths = widths_from_samples(x);
    return AroundSamples(x, widths).with_coordinate_widths(coordinate_widths(widths, x.rows()));
}

}  // namespace kernelet
