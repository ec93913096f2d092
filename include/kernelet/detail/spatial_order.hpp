#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace kernelet::detail {

/// An order of samples that depends on their values alone: by the columns of x, then of y, then by weight. A fit that
/// begins with it does not depend on the order in which the samples were given. O(n log n).
inline std::vector<Index> lexicographic_order(const Samples& samples) {
    std::vector<Index> order(static_cast<std::size_t>(samples.x.cols()));
    std::iota(order.begin(), order.end(), Index{0});
    const auto compare = [](const Matrix& values, Index a, Index b) {
        for (Index row = 0; row < values.rows(); ++row)
            if (values(row, a) != values(row, b)) return values(row, a) < values(row, b) ? -1 : 1;
        return 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        if (const int by_x = compare(samples.x, a, b); by_x != 0) return by_x < 0;
        if (const int by_y = compare(samples.y, a, b); by_y != 0) return by_y < 0;
        if (samples.weights(a) != samples.weights(b)) return samples.weights(a) < samples.weights(b);
        return samples.tolerances.size() > 0 && samples.tolerances(a) < samples.tolerances(b);
    });
    return order;
}

/// An order of the columns of x in which neighbours in the list are neighbours in space, so that a tile of
/// points has a small bounding box: along the line in one dimension, along Morton's curve in two and three,
/// as given beyond. O(n log n).
inline std::vector<Index> spatial_order(const Matrix& x) {
    const Index d = x.rows();
    const Index n = x.cols();
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    if (d > 3 || n == 0) return order;
    if (d == 1) {
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return x(0, a) < x(0, b); });
        return order;
    }
    constexpr int bits = 20;  // of each coordinate: 60 in three dimensions
    Vector lo(d), extent(d);  // halved: a range may exceed the largest double
    for (Index c = 0; c < d; ++c) {
        double hi = lo(c) = 0.5 * x(c, 0);
        for (Index i = 1; i < n; ++i) {
            lo(c) = std::min(lo(c), 0.5 * x(c, i));
            hi = std::max(hi, 0.5 * x(c, i));
        }
        extent(c) = std::max(hi - lo(c), std::numeric_limits<double>::min());
    }
    std::vector<std::uint64_t> key(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
        for (int bit = bits - 1; bit >= 0; --bit)
            for (Index c = 0; c < d; ++c) {
                const auto cell =
                    static_cast<std::uint64_t>((0.5 * x(c, i) - lo(c)) / extent(c) * ((1 << bits) - 1));
                auto& k = key[static_cast<std::size_t>(i)];
                k = (k << 1U) | ((cell >> static_cast<unsigned>(bit)) & 1U);
            }
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
    });
    return order;
}

}  // namespace kernelet::detail
