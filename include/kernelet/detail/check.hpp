#pragma once

#include <kernelet/types.hpp>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

/// The checks of the public entries: every failure names the argument, the value and the rule.
namespace kernelet::detail {

/// Joins its arguments into one text; for messages only.
template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    return stream.str();
}

/// Throws std::invalid_argument with the joined message unless `holds`.
template <class... Parts>
void require(bool holds, const Parts&... message) {
    if (!holds) throw std::invalid_argument(text("kernelet: ", message...));
}

/// Every entry finite, or the first (column-major) that is not is named.
template <class Derived>
void require_finite(const Eigen::DenseBase<Derived>& values, std::string_view name) {
    for (Index column = 0; column < values.cols(); ++column)
        for (Index row = 0; row < values.rows(); ++row)
            if (!std::isfinite(values(row, column)))
                throw std::invalid_argument(text("kernelet: ", name, "(", row, ", ", column, ") is ",
                                                 values(row, column), "; every entry must be finite"));
}

/// Points a model is asked about, d x n: as many rows as it has inputs, all finite.
template <class Derived>
Matrix checked_points(const Eigen::MatrixBase<Derived>& x, Index inputs) {
    Matrix points = x.template cast<double>();
    require(points.rows() == inputs, "x has ", points.rows(), " rows; the model has ", inputs,
            " inputs (x is d x n, one sample a column)");
    require_finite(points, "x");
    return points;
}

/// The number itself finite and inside an inequality that the message states.
inline void require_positive(double value, std::string_view name) {
    require(std::isfinite(value) && value > 0.0, name, " = ", value, " must be finite and > 0");
}

inline void require_nonnegative(double value, std::string_view name) {
    require(std::isfinite(value) && value >= 0.0, name, " = ", value, " must be finite and >= 0");
}

inline void require_at_least(Index value, Index least, std::string_view name) {
    require(value >= least, name, " = ", value, " must be >= ", least);
}

/// A range of kernel widths: finite, positive, not reversed.
inline void require_widths(Interval widths, std::string_view name) {
    require_positive(widths.lo, text(name, ".lo"));
    require_positive(widths.hi, text(name, ".hi"));
    require(widths.lo <= widths.hi, name, " = [", widths.lo, ", ", widths.hi, "] must have lo <= hi");
}

}  // namespace kernelet::detail
