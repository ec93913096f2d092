#pragma once

#include <kernelet/types.hpp>

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
            if (x.row(c).minCoeff() == x.row(c).maxCoeff()) {  // whose mean, rounded, may be another number
                scaling.shift(c) = x(c, 0);
                continue;
            }
            // halved, so that values near the largest double do not overflow
            const double n = static_cast<double>(x.cols());
            scaling.shift(c) = 2.0 * (0.5 * x.row(c).array() / n).sum();
            const double spread = (0.5 * x.row(c).array() - 0.5 * scaling.shift(c)).abs().maxCoeff();
            if (!(spread > 0.0)) continue;
            const double relative =
                ((0.5 * x.row(c).array() - 0.5 * scaling.shift(c)) / spread).square().mean();
            scaling.scale(c) = 2.0 * spread * std::sqrt(relative);
        }
        return scaling;
    }

    Matrix to_internal(const ConstMatrixRef& x) const {
        return ((x.colwise() - shift).array().colwise() / scale.array()).matrix();
    }

    Matrix to_user(const ConstMatrixRef& x) const {
        return ((x.array().colwise() * scale.array()).colwise() + shift.array()).matrix();
    }

    /// Whether one scale serves all coordinates, so that an isotropic width stays one number.
    bool isotropic() const { return (scale.array() == scale(0)).all(); }
};

}  // namespace kernelet
