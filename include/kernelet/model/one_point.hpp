#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/exponentials.hpp>
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

/// A kernel that is the exponential of a number that it returns for one point, see Gaussian::exponent.
template <class Kernel>
concept HasExponent = requires(const Kernel& kernel, const double* x, Index stride,
                               const ConstVectorRef& node) {
    { kernel.exponent(x, stride, node) } -> std::same_as<double>;
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
    /// The coordinates, lane_count apart.
    const double* data() const { return on_heap_.empty() ? on_stack_.data() : on_heap_.data(); }
    ConstMatrixRef tile() const { return matrix_ref(ConstBlock(data(), lane_count, dimension_, lane_count)); }
    /// The point as one row.
    ConstMatrixRef row() const { return matrix_ref(ConstBlock(data(), 1, dimension_, lane_count)); }

private:
    static constexpr Index few = 64;

    Index dimension_;
    alignas(64) std::array<double, static_cast<std::size_t>(few* lane_count)> on_stack_;
    std::vector<double> on_heap_;
};

/// Σ_j a_j k(x, z_j; θ_j) at one point, a the K coefficients of one output: the exponents of many kernels, then their
/// exponentials together. The bits of expansion_strips().
template <HasExponent Kernel>
double exponential_sum(const Kernel& kernel, const ScaledPoint& point, const Matrix& nodes, const double* a) {
    constexpr Index together = 64;
    constexpr double rounding = 0x1p-53, vanishing = -36.8;  // e^vanishing < rounding
    alignas(64) double k[together];
    double factors[together];
    double sum = 0.0;
    Index count = 0;
    const auto add = [&] {
        const Index whole = (count + lane_count - 1) / lane_count * lane_count;
        for (Index i = count; i < whole; ++i) k[i] = 0.0;
        exponentials<double>(k, whole);
        for (Index i = 0; i < count; ++i)
            if (k[i] >= rounding) sum = multiply_add(factors[i], k[i], sum);
        count = 0;
    };
    for (Index j = 0; j < nodes.cols(); ++j) {
        const double exponent = kernel.exponent(point.data(), lane_count, column_ref(nodes, j));
        if (exponent < vanishing) continue;
        k[count] = exponent;
        factors[count++] = a[j];
        if (count == together) add();
    }
    add();
    return sum;
}

}  // namespace kernelet::detail
