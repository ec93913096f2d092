#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <utility>

namespace kernelet::detail {

/// The corners of the smallest box around the columns of x, each side longer by `margin` of itself at both
/// ends. x is d x n, n >= 1. O(d n).
inline std::pair<Vector, Vector> bounding_box(const Matrix& x, double margin = 0.0) {
    std::pair<Vector, Vector> corners{Vector(x.rows()), Vector(x.rows())};
    for (Index c = 0; c < x.rows(); ++c) {
        double lo = x(c, 0), hi = x(c, 0);
        for (Index i = 1; i < x.cols(); ++i) {
            lo = std::min(lo, x(c, i));
            hi = std::max(hi, x(c, i));
        }
        corners.first(c) = lo - margin * (hi - lo);
        corners.second(c) = hi + margin * (hi - lo);
    }
    return corners;
}

/// The nearest point of the box, in place; d numbers.
inline void clamp_to_box(double* point, const Vector& lo, const Vector& hi) {
    for (Index c = 0; c < lo.size(); ++c) point[c] = std::min(std::max(point[c], lo(c)), hi(c));
}

}  // namespace kernelet::detail
