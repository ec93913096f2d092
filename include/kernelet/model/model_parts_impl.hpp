#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/model/model_parts.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kernelet::detail {

inline void require_sizes(const ModelParts& model) {
    const Index d = model.dimension(), p = static_cast<Index>(model.lengths.size());
    const Index q = model.outputs(), kernels = model.nodes.cols();
    require(d > 0, "scaling.shift is empty; a model needs at least one input");
    require(model.scaling.scale.size() == d, "scaling.scale has ", model.scaling.scale.size(),
            " entries, scaling.shift ", d);
    require(model.nodes.rows() == d + p, "nodes has ", model.nodes.rows(), " rows; ", d + p,
            " are needed for ", d, " inputs");
    require(model.coefficients.rows() == kernels, "coefficients has ", model.coefficients.rows(),
            " rows for ", kernels, " kernels");
    require(q > 0 && model.coefficients.cols() == q, "coefficients has ", model.coefficients.cols(),
            " columns for ", q, " outputs");
    const Matrix& slopes = model.trend.slopes;
    require(slopes.size() == 0 || (slopes.rows() == d && slopes.cols() == q), "slopes is ", slopes.rows(),
            " x ", slopes.cols(), "; ", d, " x ", q, " are needed, or none");
}

/// A length whose inverse is a number with room to spare.
inline bool is_length(double value) {
    constexpr double least = 1e-300, most = 1e300;
    return value >= least && value <= most;
}

/// Lengths are in range, and the sum of coefficients of an output, which bounds its predictions, is a number.
inline void require_numbers(const ModelParts& model) {
    constexpr std::string_view range = " must be between 1e-300 and 1e300";
    require_finite(model.scaling.shift, "scaling.shift");
    require_finite(model.nodes, "nodes");
    require_finite(model.coefficients, "coefficients");
    require_finite(model.trend.offset, "offset");
    require_finite(model.trend.slopes, "slopes");
    const Index d = model.dimension();
    for (Index c = 0; c < d; ++c) {
        const double scale = model.scaling.scale(c);
        require(is_length(scale), "scaling.scale(", c, ") = ", scale, range);
    }
    for (Index j = 0; j < model.nodes.cols(); ++j)
        for (Index row = d; row < model.nodes.rows(); ++row) {
            const double value = model.nodes(row, j);
            require(!model.lengths[static_cast<std::size_t>(row - d)] || is_length(value), "nodes(", row,
                    ", ", j, ") = ", value, range);
        }
    for (Index o = 0; o < model.outputs(); ++o) {
        double sum = std::abs(model.trend.offset(o));
        for (Index j = 0; j < model.nodes.cols(); ++j) sum += std::abs(model.coefficients(j, o));
        require(std::isfinite(sum), "coefficients of output ", o, " and its offset have no finite sum");
    }
}

/// As many entries as wanted or none, none negative.
inline void require_deviations(const Vector& values, Index wanted, std::string_view name) {
    require(values.size() == 0 || values.size() == wanted, name, " has ", values.size(), " entries; ", wanted,
            " are needed, or none");
    require_finite(values, name);
    for (Index i = 0; i < values.size(); ++i)
        require(values(i) >= 0.0, name, "(", i, ") = ", values(i), " must be >= 0");
}

/// Shares add up to one at most; deviations and variances are not negative.
inline void require_statistics(const ModelParts& model) {
    const ModelStatistics& known = model.statistics;
    const Index q = model.outputs(), size = known.covariance.rows();
    require_deviations(known.shares, model.nodes.cols(), "statistics.shares");
    require_deviations(known.noise, q, "statistics.noise");
    require_deviations(known.discrepancy, q, "statistics.discrepancy");
    constexpr double rounding = 1e-9;
    double sum = 0.0, largest = 0.0;
    for (Index j = 0; j < known.shares.size(); ++j) sum += known.shares(j);
    require(sum <= 1.0 + rounding, "statistics.shares add up to ", sum, "; at most 1");

    // of coefficients, centers and θ; then of the trend, where the covariance knows it
    const Index parameters = model.nodes.cols() * (q + model.nodes.rows());
    const Index functions = model.trend.slopes.size() > 0 ? 1 + model.dimension() : size > parameters ? 1 : 0;
    const Index wanted = parameters + q * functions;
    require(known.covariance.size() == 0 || (size == wanted && known.covariance.cols() == wanted),
            "statistics.covariance is ", size, " x ", known.covariance.cols(), "; ", wanted, " x ", wanted,
            " are needed, or none");
    require_finite(known.covariance, "statistics.covariance");
    for (Index i = 0; i < size; ++i) largest = std::max(largest, known.covariance(i, i));
    for (Index i = 0; i < size; ++i)
        require(known.covariance(i, i) >= -rounding * largest, "statistics.covariance(", i, ", ", i,
                ") = ", known.covariance(i, i), " must be >= 0");
}

template <class Scalar>
void require_model(const ModelParts& model) {
    require_sizes(model);
    require_numbers(model);
    require_statistics(model);
}

}  // namespace kernelet::detail
