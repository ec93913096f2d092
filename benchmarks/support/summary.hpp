#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

/// Many numbers in a few words.
namespace bench {

/// The value that a share p of the values lies below; p = 1: the largest.
inline double quantile(std::vector<double> values, double p) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(p * static_cast<double>(values.size())))];
}

inline double mean(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

/// About the mean, of the values themselves.
inline double deviation(const std::vector<double>& values) {
    const double center = mean(values);
    double sum = 0.0;
    for (const double v : values) sum += (v - center) * (v - center);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

/// The share of the values for which `holds`; between 0 and 1.
template <class Values, class Holds>
double share(const Values& values, const Holds& holds) {
    return static_cast<double>(std::count_if(values.begin(), values.end(), holds)) /
           static_cast<double>(values.size());
}

/// How many values fall into each of `bins` equal parts of [lo, hi]; what lies outside counts in the nearest.
inline std::vector<double> histogram(const std::vector<double>& values, double lo, double hi,
                                     std::size_t bins) {
    std::vector<double> counts(bins, 0.0);
    for (const double v : values) {
        const double place = std::clamp((v - lo) / (hi - lo), 0.0, 1.0) * static_cast<double>(bins);
        counts[std::min(bins - 1, static_cast<std::size_t>(place))] += 1.0;
    }
    return counts;
}

}  // namespace bench
