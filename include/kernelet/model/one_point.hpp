#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>

#include <cmath>
#include <concepts>

namespace kernelet::detail {

/// A kernel with a closed form of its integral over a box, see Gaussian::integral.
template <class Kernel>
concept HasIntegral = requires(const Kernel& kernel, const ConstVectorRef& corner) {
    { kernel.integral(corner, corner, corner) } -> std::same_as<double>;
};

/// One point in the units of a fit, as a tile of one row. Names what is wrong with it.
class ScaledPoint {
public:
    template <class Derived>
    ScaledPoint(const Eigen::MatrixBase<Derived>& x, const InputScaling& scaling)
        : dimension_(scaling.shift.size()), buffer_(dimension_) {
        require(x.cols() == 1, "x has ", x.cols(), " columns; this takes one point");
        require(x.rows() == dimension_, "x has ", x.rows(), " rows; the model has ", dimension_, " inputs");
        double* point = buffer_.data();
        for (Index c = 0; c < dimension_; ++c) {
            const auto value = static_cast<double>(x.derived().coeff(c, 0));
            require(std::isfinite(value), "x(", c, ", 0) is ", value, "; every entry must be finite");
            point[c] = (value - scaling.shift(c)) * (1.0 / scaling.scale(c));
        }
    }

    const double* data() const { return buffer_.data(); }
    ConstMatrixRef tile() const { return matrix_ref(ConstBlock(buffer_.data(), 1, dimension_, 1)); }

private:
    Index dimension_;
    PointBuffer buffer_;
};

}  // namespace kernelet::detail
