#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/lanes.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

namespace kernelet::detail {

/// A kernel with a closed form of its integral over a box, see Gaussian::integral.
template <class Kernel>
concept HasIntegral = requires(const Kernel& kernel, const ConstVectorRef& corner) {
    { kernel.integral(corner, corner, corner) } -> std::same_as<double>;
};

/// One point in the units of a fit, as a tile of as many equal rows as a register has numbers: kernels then compute the
/// same bits as in a strip of many points. Names what is wrong with it. On the stack up to 64 inputs.
class ScaledPoint {
public:
    template <class Derived>
    ScaledPoint(const Eigen::MatrixBase<Derived>& x, const InputScaling& scaling)
        : dimension_(scaling.shift.size()),
          on_heap_(static_cast<std::size_t>(dimension_ > few ? dimension_ * lane_count : 0)) {
        require(x.cols() == 1, "x has ", x.cols(), " columns; this takes one point");
        require(x.rows() == dimension_, "x has ", x.rows(), " rows; the model has ", dimension_, " inputs");
        double* rows = on_heap_.empty() ? on_stack_.data() : on_heap_.data();
        for (Index c = 0; c < dimension_; ++c) {
            const auto value = static_cast<double>(x.derived().coeff(c, 0));
            require(std::isfinite(value), "x(", c, ", 0) is ", value, "; every entry must be finite");
            const double scaled = (value - scaling.shift(c)) * (1.0 / scaling.scale(c));
            for (Index k = 0; k < lane_count; ++k) rows[c * lane_count + k] = scaled;
        }
    }

    double operator()(Index c) const { return data()[c * lane_count]; }
    ConstMatrixRef tile() const { return matrix_ref(ConstBlock(data(), lane_count, dimension_, lane_count)); }
    /// Of one row.
    ConstMatrixRef row() const { return matrix_ref(ConstBlock(data(), 1, dimension_, lane_count)); }

private:
    static constexpr Index few = 64;

    const double* data() const { return on_heap_.empty() ? on_stack_.data() : on_heap_.data(); }

    Index dimension_;
    alignas(64) std::array<double, static_cast<std::size_t>(few* lane_count)> on_stack_;
    std::vector<double> on_heap_;
};

}  // namespace kernelet::detail
