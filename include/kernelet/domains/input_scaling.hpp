#pragma once

#include <kernelet/detail/compensated_sum.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>

namespace kernelet {

/// x ↦ (x − shift)/scale, coordinate by coordinate: between the user's units and those of a fit.
struct InputScaling {
    Vector shift{};
    Vector scale{};

    static InputScaling identity(Index dimension) {
        return {Vector::Zero(dimension), Vector::Ones(dimension)};
    }

    /// Mean zero and deviation one; a coordinate that never changes keeps its scale.
    static InputScaling standard(const ConstMatrixRef& x) {
        InputScaling scaling = identity(x.rows());
        for (Index c = 0; c < x.rows(); ++c) {
            // Halves throughout, so that values near the largest double do not overflow.
            const auto n = static_cast<double>(x.cols());
            // Sums are compensated, so that the order of the samples does not show in the last bit.
            bool constant = true;
            detail::CompensatedSum halves, squares;
            for (Index i = 0; i < x.cols(); ++i) {
                constant = constant && x(c, i) == x(c, 0);
                halves.add(0.5 * x(c, i) / n);
            }
            const double mean = halves.total();
            double spread = 0.0;
            scaling.shift(c) = constant ? x(c, 0) : 2.0 * mean;  // the mean of equal numbers may be rounded
            for (Index i = 0; i < x.cols(); ++i) spread = std::max(spread, std::abs(0.5 * x(c, i) - mean));
            if (constant || !(spread > 0.0)) continue;
            for (Index i = 0; i < x.cols(); ++i)
                squares.add((0.5 * x(c, i) - mean) / spread * ((0.5 * x(c, i) - mean) / spread));
            scaling.scale(c) = 2.0 * spread * std::sqrt(squares.total() / n);
        }
        return scaling;
    }

    Matrix to_internal(const ConstMatrixRef& x) const {
        Matrix out(x.rows(), x.cols());
        for (Index i = 0; i < x.cols(); ++i)
            for (Index c = 0; c < x.rows(); ++c) out(c, i) = (x(c, i) - shift(c)) / scale(c);
        return out;
    }

    Matrix to_user(const ConstMatrixRef& x) const {
        Matrix out(x.rows(), x.cols());
        for (Index i = 0; i < x.cols(); ++i)
            for (Index c = 0; c < x.rows(); ++c) out(c, i) = x(c, i) * scale(c) + shift(c);
        return out;
    }

    /// Whether one scale serves all coordinates, so that an isotropic width stays one number.
    bool isotropic() const {
        for (Index c = 1; c < scale.size(); ++c)
            if (scale(c) != scale(0)) return false;
        return true;
    }
};

}  // namespace kernelet
