#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/types.hpp>
#include <kernelet/validation/scores.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

/// Whether what is predicted with probability p is true in a share p of all cases.
namespace kernelet {

/// How probabilities are divided into bins.
enum class Binning {
    equal_count,  ///< as many samples in each as can be; equal probabilities stay together
    equal_width   ///< intervals of the same width between 0 and 1
};

struct CalibrationOptions {
    Index bins = 10;  ///< bins without samples are left out
    Binning binning = Binning::equal_count;

    void validate() const { detail::require_at_least(bins, 1, "options.bins"); }
};

/// The samples of one bin.
struct CalibrationBin {
    double predicted{};  ///< mean predicted probability
    double observed{};   ///< share of samples for which it was true
    Index count{};
};

namespace detail {

/// A predicted probability, and whether what it was predicted for is true.
using Forecast = std::pair<double, bool>;

inline std::vector<CalibrationBin> calibration_of(std::vector<Forecast> forecasts,
                                                  const CalibrationOptions& options) {
    options.validate();
    std::sort(forecasts.begin(), forecasts.end());
    const std::size_t n = forecasts.size(), bins = static_cast<std::size_t>(options.bins);
    const auto bin_of = [&](std::size_t k) {
        const double share = options.binning == Binning::equal_width
                                 ? forecasts[k].first
                                 : static_cast<double>(k) / static_cast<double>(n);
        return std::min(static_cast<std::size_t>(share * static_cast<double>(bins)), bins - 1);
    };
    std::vector<CalibrationBin> table;
    std::size_t current = bins;
    for (std::size_t k = 0; k < n; ++k) {
        const bool tied =
            options.binning == Binning::equal_count && k > 0 && forecasts[k - 1].first == forecasts[k].first;
        if (const std::size_t bin = bin_of(k); bin != current && !tied) {
            current = bin;
            table.emplace_back();
        }
        table.back().predicted += forecasts[k].first;
        table.back().observed += forecasts[k].second ? 1.0 : 0.0;
        ++table.back().count;
    }
    for (CalibrationBin& bin : table) {
        bin.predicted /= static_cast<double>(bin.count);
        bin.observed /= static_cast<double>(bin.count);
    }
    return table;
}

}  // namespace detail

/// Two classes: P(+1) and targets −1 and +1 in the same shape. The bins in ascending order of probability.
template <class P, class Y>
std::vector<CalibrationBin> calibration_table(const Eigen::MatrixBase<P>& probabilities,
                                              const Eigen::MatrixBase<Y>& y,
                                              const CalibrationOptions& options = {}) {
    const Matrix p = probabilities.template cast<double>(), targets = y.template cast<double>();
    detail::require_two_classes(p, targets);
    std::vector<detail::Forecast> forecasts;
    for (Index k = 0; k < p.size(); ++k) forecasts.emplace_back(p.data()[k], targets.data()[k] > 0.0);
    return detail::calibration_of(std::move(forecasts), options);
}

/// Several classes: the largest probability of each sample, and whether its class is the label. probabilities is
/// classes x n, rows in the order of `classes`, ascending; n labels in a std::vector or an Eigen vector.
template <class P, class Labels, ClassLabel Label>
std::vector<CalibrationBin> calibration_table(const Eigen::MatrixBase<P>& probabilities, const Labels& labels,
                                              const std::vector<Label>& classes,
                                              const CalibrationOptions& options = {}) {
    const Matrix p = probabilities.template cast<double>();
    const std::vector<Index> rows = detail::class_rows<Label>(p, detail::gathered_labels(labels), classes);
    std::vector<detail::Forecast> forecasts;
    for (Index i = 0; i < p.cols(); ++i) {
        Index top = 0;
        for (Index c = 1; c < p.rows(); ++c)
            if (p(c, i) > p(top, i)) top = c;
        forecasts.emplace_back(p(top, i), rows[static_cast<std::size_t>(i)] == top);
    }
    return detail::calibration_of(std::move(forecasts), options);
}

/// Expected calibration error: Σ count/n |observed − predicted| over the bins of a calibration table. Above zero for
/// exact probabilities, too: the shares of few samples vary by chance.
inline double expected_calibration_error(const std::vector<CalibrationBin>& table) {
    double sum = 0.0, count = 0.0;
    for (const CalibrationBin& bin : table) {
        sum += static_cast<double>(bin.count) * std::abs(bin.observed - bin.predicted);
        count += static_cast<double>(bin.count);
    }
    detail::require(count > 0.0, "table has no samples");
    return sum / count;
}

}  // namespace kernelet
