#pragma once

#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/types.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace kernelet::detail {

/// Room for a few numbers: on the stack up to 130, enough for one point of 64 inputs with a parameter each.
class PointBuffer {
public:
    explicit PointBuffer(Index count) : on_heap_(static_cast<std::size_t>(count > few ? count : 0)) {}
    double* data() { return on_heap_.empty() ? on_stack_.data() : on_heap_.data(); }
    const double* data() const { return on_heap_.empty() ? on_stack_.data() : on_heap_.data(); }

private:
    static constexpr Index few = 130;
    std::array<double, few> on_stack_;
    std::vector<double> on_heap_;
};

/// A number per point of a strip, on the stack.
class StripBuffer {
public:
    explicit StripBuffer(Index count) : count_(count) {}

    template <class Scalar = double>
    VectorRefOf<Scalar> ref() {
        return RunMap<Scalar>(values_.data(), count_).matrix();
    }
    template <class Scalar = double>
    void scale(double factor) {
        RunMap<Scalar>(values_.data(), count_) *= factor;
    }

    /// out_i += factor v_i u_i, u = (z − x_i) inverse.
    template <class Scalar = double>
    void add_offset_products(double* out, const double* x, double z, double inverse,
                             double factor = 1.0) const {
        const ConstRunMap<Scalar> v(values_.data(), count_), points(x, count_);
        if (factor == 1.0)
            RunMap<Scalar>(out, count_) += v * ((z - points) * inverse);
        else
            RunMap<Scalar>(out, count_) += v * ((z - points) * inverse) * factor;
    }

private:
    static constexpr Index most = 256;  // strip_rows
    Index count_;
    std::array<double, most> values_;
};

}  // namespace kernelet::detail
