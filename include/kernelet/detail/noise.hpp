#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/median.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/poll.hpp>
#include <kernelet/detail/squared_distances.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

/// The noise deviation of y, from the data alone: each sample is predicted from its neighbours by a local
/// polynomial, and the residual divided by what noise alone would make of it. A median over the samples
/// ignores the places where the signal is too rough for the polynomial.
namespace kernelet::detail {

inline double deviation_from_median(const std::vector<double>& absolute_residuals) {
    constexpr double median_of_absolute_normal = 0.6744897501960817;
    return median(absolute_residuals) / median_of_absolute_normal;
}

/// One input. Samples at one place are averaged; the others interpolate it by polynomials of degree 1, 3, 5
/// and 7 through as many neighbours on each side, and the smoothest account, the least of the four medians,
/// is believed. O(n log n).
inline double noise_deviation_1d(const Vector& x, const Vector& y) {
    const Index n = x.size();
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return x(a) < x(b); });
    struct Place {
        double x, y, count;
    };
    std::vector<Place> places;
    double within = 0.0;  // squared deviations among repeated samples
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        double mean = 0.0;
        while (end < order.size() && x(order[end]) == x(order[i])) mean += y(order[end++]);
        mean /= static_cast<double>(end - i);
        for (std::size_t j = i; j < end; ++j) within += (y(order[j]) - mean) * (y(order[j]) - mean);
        places.push_back({x(order[i]), mean, static_cast<double>(end - i)});
        i = end;
    }
    const auto repeats = static_cast<double>(n) - static_cast<double>(places.size());
    constexpr double enough_repeats = 0.3;  // of the samples: then their own scatter is the better witness
    if (repeats >= enough_repeats * static_cast<double>(n) && repeats >= 1.0)
        return std::sqrt(within / repeats);

    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t neighbours : {2U, 4U, 6U, 8U}) {
        if (places.size() < neighbours + 4) break;
        std::vector<double> residuals;
        for (std::size_t i = neighbours / 2; i + neighbours / 2 < places.size(); ++i) {
            double prediction = 0.0, variance = 1.0 / places[i].count;
            for (std::size_t j = i - neighbours / 2; j <= i + neighbours / 2; ++j) {
                if (j == i) continue;
                double weight = 1.0;  // Lagrange's
                for (std::size_t l = i - neighbours / 2; l <= i + neighbours / 2; ++l)
                    if (l != i && l != j) weight *= (places[i].x - places[l].x) / (places[j].x - places[l].x);
                prediction += weight * places[j].y;
                variance += weight * weight / places[j].count;
            }
            residuals.push_back(std::abs(places[i].y - prediction) / std::sqrt(variance));
        }
        best = std::min(best, deviation_from_median(residuals));
    }
    return std::isfinite(best) ? best : 0.0;
}

/// Visits at most 500 samples spread over all, each with the numbers of its `count` nearest others: visit(probe,
/// sample, neighbours), on several threads. Returns the number of probes. O(500 n d).
template <class Visit>
Index visit_neighbours(const Matrix& x, Index count, const Poll& poll, const Visit& visit) {
    constexpr Index most_probes = 500, probes_per_part = 16;
    const Index n = x.cols(), probes = std::min(n, most_probes);
    const Matrix coordinates = transposed<>(x);
    const auto visit_part = [&](Index part) {
        Vector squares(n);
        std::vector<std::pair<double, Index>> distances(static_cast<std::size_t>(n));
        std::vector<Index> neighbours(static_cast<std::size_t>(count));
        const Index end = std::min(probes, (part + 1) * probes_per_part);
        for (Index probe = part * probes_per_part; probe < end; ++probe) {
            poll();
            const Index i = probe * n / probes;
            squared_distances<false>(coordinates, &x(0, i), nullptr, squares.data());
            squares(i) = -1.0;
            for (Index j = 0; j < n; ++j) distances[static_cast<std::size_t>(j)] = {squares(j), j};
            std::partial_sort(distances.begin(), distances.begin() + count + 1, distances.end());
            std::transform(distances.begin() + 1, distances.begin() + 1 + count, neighbours.begin(),
                           [](const auto& entry) { return entry.second; });
            visit(probe, i, neighbours);
        }
    };
    parallel_for((probes + probes_per_part - 1) / probes_per_part, visit_part, probes * n);
    return probes;
}

/// P (P'P)⁻¹ e₁: the weights with which the values at the rows of P make the first coefficient of the plane through
/// them. Rows in a lower dimension take a trace of ridge, whose bias one step of refinement squares.
template <class Scalar>
Matrix constant_term_weights(const Matrix& plane) {
    constexpr double ridge = 1e-10;
    const Matrix gram = product_tn<Scalar>(plane, plane), first = Matrix::Identity(plane.cols(), 1);
    const auto solve = [&](Matrix right) {
        Matrix ridged = gram;
        add_to_diagonal(ridged, ridge);
        ldlt_solve<Scalar>(ridged, right);
        return right;
    };
    Matrix solution = solve(first), left = first;
    add_scaled<Scalar>(left, -1.0, product<Scalar>(gram, solution));
    add_scaled<Scalar>(solution, 1.0, solve(left));
    return product<Scalar>(plane, solution);
}

/// Several inputs: a plane through the nearest neighbours of each of at most 500 samples. O(500 n d).
template <class Scalar = double>
double noise_deviation_nd(const Matrix& x, const Vector& y, const Poll& poll = {}) {
    const Index d = x.rows(), n = x.cols(), count = 2 * (d + 1) + 2;
    if (n < count + 2) return 0.0;
    std::vector<double> residuals(static_cast<std::size_t>(n));
    const Index probes =
        visit_neighbours(x, count, poll, [&](Index probe, Index i, const std::vector<Index>& neighbours) {
            Matrix plane(count, d + 1);
            Vector values(count);
            const double farthest = std::sqrt(squared_distance(&x(0, neighbours.back()), &x(0, i), d));
            for (Index k = 0; k < count; ++k) {
                const Index j = neighbours[static_cast<std::size_t>(k)];
                plane(k, 0) = 1.0;
                for (Index c = 0; c < d; ++c)
                    plane(k, 1 + c) = (x(c, j) - x(c, i)) / (farthest > 0.0 ? farthest : 1.0);
                values(k) = y(j) - y(i);
            }
            const Matrix weights = constant_term_weights<Scalar>(plane);
            residuals[static_cast<std::size_t>(probe)] =
                std::abs(dot<Scalar>(weights, values)) / std::sqrt(1.0 + squared_norm<Scalar>(weights));
        });
    residuals.resize(static_cast<std::size_t>(probes));
    return deviation_from_median(residuals);
}

/// Calls visit(indices) for each place that samples stand at. O(d n log n).
template <class Visit>
void visit_places(const Matrix& x, const Visit& visit) {
    std::vector<Index> order(static_cast<std::size_t>(x.cols()));
    std::iota(order.begin(), order.end(), Index{0});
    const auto before = [&](Index a, Index b) {
        const double *p = &x(0, a), *q = &x(0, b);
        return std::lexicographical_compare(p, p + x.rows(), q, q + x.rows());
    };
    std::stable_sort(order.begin(), order.end(), before);
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i + 1;
        while (end < order.size() && !before(order[i], order[end])) ++end;
        visit(std::vector<Index>(order.begin() + static_cast<std::ptrdiff_t>(i),
                                 order.begin() + static_cast<std::ptrdiff_t>(end)));
        i = end;
    }
}

/// Σ_o Σ_i (y_oi − mean over these samples)².
inline double squares_about_mean(const Matrix& y, const std::vector<Index>& samples) {
    double squares = 0.0;
    for (Index o = 0; o < y.rows(); ++o) {
        double mean = 0.0;
        for (const Index i : samples) mean += y(o, i) / static_cast<double>(samples.size());
        for (const Index i : samples) squares += (y(o, i) - mean) * (y(o, i) - mean);
    }
    return squares;
}

/// The least residual any function can have: samples at one place get one prediction. The root mean squared
/// deviation from the mean of each place (aggregate), or the largest half range (per sample). O(d n log n).
inline double duplicate_residual(const Matrix& x, const Matrix& y, Scope scope) {
    double squares = 0.0, half_range = 0.0;
    visit_places(x, [&](const std::vector<Index>& place) {
        squares += squares_about_mean(y, place);
        for (Index o = 0; o < y.rows(); ++o) {
            double lo = y(o, place.front()), hi = lo;
            for (const Index i : place) {
                lo = std::min(lo, y(o, i));
                hi = std::max(hi, y(o, i));
            }
            half_range = std::max(half_range, 0.5 * (hi - lo));
        }
    });
    return scope == Scope::per_sample ? half_range : std::sqrt(squares / static_cast<double>(y.size()));
}

/// A noise deviation. Its precision is that of an estimate from `known` residuals per sample.
struct NoiseEstimate {
    double deviation{};
    double known{};
    double floor = 0.0;     ///< what repeated samples show: the noise is not smaller
    bool is_bound = false;  ///< signal may count as noise: the noise is not larger
};

/// The noise that samples repeated at one place show without any model: √(Σ (y − mean of the place)² / (n −
/// places)), over all outputs; 0 where there are too few of them. O(d n log n).
inline NoiseEstimate replicate_noise(const Matrix& x, const Matrix& y) {
    constexpr Index least_repeated = 10;  // the estimate is then known to about a fifth
    double squares = 0.0;
    Index repeated = 0;
    visit_places(x, [&](const std::vector<Index>& place) {
        squares += squares_about_mean(y, place);
        repeated += static_cast<Index>(place.size()) - 1;
    });
    if (repeated < least_repeated) return {};
    return {std::sqrt(squares / static_cast<double>(repeated * y.rows())),
            static_cast<double>(repeated) / static_cast<double>(y.cols())};
}

/// The share of labels ±1 that the vote of the nearest other samples contradicts, over at most 500 samples
/// and all outputs: how much of a classification no function of x can explain. O(500 n d).
inline double label_noise(const Matrix& x, const Matrix& y, const Poll& poll = {}) {
    constexpr Index most_voters = 7;
    const Index n = x.cols(), voters = std::min(n - 1, most_voters);
    if (voters < 1) return 0.0;
    std::vector<Index> wrong(static_cast<std::size_t>(n));
    const Index probes =
        visit_neighbours(x, voters, poll, [&](Index probe, Index i, const std::vector<Index>& neighbours) {
            for (Index o = 0; o < y.rows(); ++o) {
                double votes = 0.0;
                for (const Index j : neighbours) votes += y(o, j);
                wrong[static_cast<std::size_t>(probe)] += votes * y(o, i) < 0.0 ? 1 : 0;
            }
        });
    return static_cast<double>(std::accumulate(wrong.begin(), wrong.end(), Index{0})) /
           static_cast<double>(probes * y.rows());
}

/// Over q outputs: the root of the mean variance; not below what repeated samples show, since noise whose
/// size changes is more than its median. x is d x n, y is q x n.
template <class Scalar = double>
NoiseEstimate noise_estimate(const Matrix& x, const Matrix& y, const Poll& poll = {}) {
    // On a line, at 0.5 one in five of the chirps at n = 51 collapses to a single kernel; at 2 nothing
    // changes. In more dimensions neighbours are far apart and signal counts as noise: an airfoil's 0.31, of
    // which models that generalise leave 0.2.
    constexpr double known_on_a_line = 1.0, known_elsewhere = 0.2;
    double variance = 0.0;
    for (Index o = 0; o < y.rows(); ++o) {
        Vector target(y.cols());
        for (Index i = 0; i < y.cols(); ++i) target(i) = y(o, i);
        const double deviation =
            x.rows() == 1 ? noise_deviation_1d(Eigen::Map<const Vector>(x.data(), x.cols()), target)
                          : noise_deviation_nd<Scalar>(x, target, poll);
        variance += deviation * deviation / static_cast<double>(y.rows());
    }
    const NoiseEstimate smooth{std::sqrt(variance), x.rows() == 1 ? known_on_a_line : known_elsewhere};
    const NoiseEstimate repeated = replicate_noise(x, y);
    NoiseEstimate out = repeated.deviation > smooth.deviation ? repeated : smooth;
    out.floor = repeated.deviation;
    out.is_bound = x.rows() > 1;
    return out;
}

template <class Scalar = double>
double noise_deviation(const Matrix& x, const Matrix& y) {
    return noise_estimate<Scalar>(x, y).deviation;
}

}  // namespace kernelet::detail
