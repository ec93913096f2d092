#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/lanes.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// Points as they are given, d x n, a point per column.
template <class Scalar>
struct PointStrips {
    const Scalar* data;
    Index dimension, count, stride;

    /// Points first ... of one strip in the units of a fit, a coordinate per column. Names the first number that is
    /// not finite.
    void scale_into(const Block& to, Index first, const InputScaling& scaling) const {
        const Scalar* from = data + first * stride;
        bool finite = true;
        for (Index c = 0; c < dimension; ++c)
            finite =
                scaled_run(from + c, to.column(c), to.rows, {scaling.shift(c), 1.0 / scaling.scale(c)}) &&
                finite;
        for (Index i = 0; !finite && i < to.rows; ++i)
            for (Index c = 0; c < dimension; ++c) {
                const auto value = static_cast<double>(data[(first + i) * stride + c]);
                require(std::isfinite(value), "x(", c, ", ", first + i, ") is ", value,
                        "; every entry must be finite");
            }
    }

private:
    struct Affine {
        double shift, factor;
    };

    /// One coordinate of n points in the units of a fit; whether all are finite. A register of points
    /// at a time: their numbers are `stride` apart.
    bool scaled_run(const Scalar* from, double* to, Index n, const Affine& scaling) const {
        const auto at = [&](Index i) { return static_cast<double>(from[i * stride]); };
        Lanes zeros{};  // NaN where a number is not finite
        Index i = 0;
        for (; i + lane_count <= n; i += lane_count) {
            Lanes v = [&]<Index... k>(std::integer_sequence<Index, k...>) { return Lanes{at(i + k)...}; }
            (std::make_integer_sequence<Index, lane_count>{});
            v = (v - scaling.shift) * scaling.factor;
            std::memcpy(to + i, &v, sizeof v);
            zeros += v * 0.0;
        }
        double zero = 0.0;
        for (Index k = 0; k < lane_count; ++k) zero += zeros[k];
        for (; i < n; ++i) {
            to[i] = (at(i) - scaling.shift) * scaling.factor;
            zero += to[i] * 0.0;
        }
        return zero == 0.0;
    }
};

/// An expansion as a model holds it: nodes (d + p) x K, coefficients K x q, offset q, slopes d x q or none.
struct ExpansionView {
    const Matrix& nodes;
    const Matrix& coefficients;
    const Vector& offset;
    const Matrix& slopes;
};

/// A kernel with the points and the node where it is evaluated.
struct KernelAt {
    ConstMatrixRef points;
    ConstVectorRef node;
};

/// Kernel values at a tile of whole registers. Of a kernel with a reach, values below rounding are zero, so that a sum does
/// not depend on whether they were computed or skipped: a point has the same prediction alone and among others.
template <class Kernel>
void significant_values(const Kernel& kernel, const KernelAt& at, double* values) {
    const Index n = at.points.rows();
    kernel.values(at.points, at.node, run_ref(values, n));
    if constexpr (HasReach<Kernel>) {
        constexpr double rounding = 0x1p-53;
        for (Index i = 0; i < n; i += lane_count) {
            Lanes v;
            std::memcpy(&v, values + i, sizeof v);
            const Lanes kept = v < rounding ? Lanes{} : v;
            v = v < -rounding ? v : kept;
            std::memcpy(values + i, &v, sizeof v);
        }
    }
}

/// to_i += a v_i.
inline void add_multiple(double* to, Index n, double a, const double* v) {
    Index i = 0;
    for (; i + lane_count <= n; i += lane_count) {
        Lanes sum, term;
        std::memcpy(&sum, to + i, sizeof sum);
        std::memcpy(&term, v + i, sizeof term);
        sum = multiply_add(Lanes{} + a, term, sum);
        std::memcpy(to + i, &sum, sizeof sum);
    }
    for (; i < n; ++i) to[i] = multiply_add(a, v[i], to[i]);
}

/// Whether some point of a strip may be within `reach` of z.
inline bool strip_touches(const ConstBlock& lo_hi, const double* z, double reach) {
    for (Index c = 0; c < lo_hi.rows; ++c)
        if (z[c] < lo_hi(c, 0) - reach || z[c] > lo_hi(c, 1) + reach) return false;
    return true;
}

/// Σ_j a_j k(x_i, z_j; θ_j) + trend at points in the user's units, q x n. Each strip is scaled, evaluated and forgotten;
/// kernels out of its reach are skipped, where that is seen to happen. O(n K d).
template <class Kernel, class Scalar>
Matrix expansion_strips(const Kernel& kernel, const PointStrips<Scalar>& points, const InputScaling& scaling,
                        const ExpansionView& model) {
    const Index d = points.dimension, n = points.count, k = model.nodes.cols(), q = model.offset.size();
    Matrix values(q, n);
    Vector reach(k);
    for (Index j = 0; j < k; ++j) reach(j) = reach_of(kernel, column_ref(model.nodes, j));
    const bool bounded = k > 0 && std::isfinite(*std::min_element(reach.data(), reach.data() + k));
    constexpr Index strips_per_run = 16;
    const Index strips = strips_of(n);
    parallel_for((strips + strips_per_run - 1) / strips_per_run,
                 [&](Index run) {
                     Matrix x(strip_rows + 8, d),
                         box(d, 2);  // columns a power of two apart share their place in the cache
                     Vector column(strip_rows);
                     bool skips = bounded;  // until a strip is within reach of all kernels
                     for (Index s = run * strips_per_run; s < std::min(strips, (run + 1) * strips_per_run);
                          ++s) {
                         const Index first = s * strip_rows, m = std::min(strip_rows, n - first);
                         const Block strip = Block(x).part(0, 0, m, d);
                         points.scale_into(strip, first, scaling);
                         const Index whole = (m + lane_count - 1) / lane_count * lane_count;
                         for (Index c = 0; c < d; ++c)
                             for (Index i = m; i < whole; ++i) x(i, c) = x(m - 1, c);
                         const ConstMatrixRef padded = matrix_ref(ConstBlock(x).part(0, 0, whole, d));
                         for (Index c = 0; skips && c < d; ++c)
                             range_run(strip.column(c), m, box(c, 0), box(c, 1));
                         const Block out = Block(values).columns(first, m);
                         for (Index i = 0; i < m; ++i)
                             for (Index o = 0; o < q; ++o) out(o, i) = 0.0;
                         Index touched = 0;
                         for (Index j = 0; j < k; ++j) {
                             if (skips && !strip_touches(box, &model.nodes(0, j), reach(j))) continue;
                             ++touched;
                             significant_values(kernel, {padded, column_ref(model.nodes, j)}, column.data());
                             if (q == 1)
                                 add_multiple(out.column(0), m, model.coefficients(j, 0), column.data());
                             else
                                 for (Index i = 0; i < m; ++i)
                                     for (Index o = 0; o < q; ++o)
                                         out(o, i) += model.coefficients(j, o) * column(i);
                         }
                         skips = skips && touched < k;
                         for (Index c = 0; c < model.slopes.rows(); ++c)
                             for (Index i = 0; i < m; ++i)
                                 for (Index o = 0; o < q; ++o)
                                     out(o, i) = multiply_add(model.slopes(c, o), strip(i, c), out(o, i));
                         add_to_rows(out, model.offset);
                     }
                 },
                 n * k);
    return values;
}

}  // namespace kernelet::detail
