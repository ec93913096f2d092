#pragma once

#include <kernelet/detail/input_gradient.hpp>
#include <kernelet/model/expansion_strips.hpp>

#include <algorithm>

namespace kernelet::detail {

/// The sums over kernels of one strip: m points in the units of the fit, x m x d; out m x d q, output o in columns o d ...
/// `slopes`, m x d, is room for those of one kernel. O(m K d q).
template <class Kernel>
void add_gradients(const Kernel& kernel, const ConstBlock& x, const ExpansionView& model, const Block& slopes,
                   const Block& out) {
    const Index d = x.cols, q = model.coefficients.cols();
    Matrix box(d, 2);
    for (Index c = 0; c < d; ++c) range_run(x.column(c), x.rows, box(c, 0), box(c, 1));
    const ConstMatrixRef xt = matrix_ref(x);
    for (Index j = 0; j < model.nodes.cols(); ++j) {
        const ConstVectorRef node = column_ref(model.nodes, j);
        if (!strip_touches(box, node.data(), reach_of(kernel, node))) continue;
        if (q == 1) {
            add_input_gradient(kernel, {xt, node}, model.coefficients(j, 0), matrix_ref(out));
            continue;
        }
        for (Index c = 0; c < d; ++c) std::fill_n(slopes.column(c), x.rows, 0.0);
        add_input_gradient(kernel, {xt, node}, 1.0, matrix_ref(slopes));
        for (Index o = 0; o < q; ++o) add_scaled(out.columns(o * d, d), model.coefficients(j, o), slopes);
    }
}

/// ∂f/∂x of Σ_j a_j k(x_i, z_j; θ_j) + trend at points in the user's units, d q x n: output o in rows o d ... By the
/// chain rule ∂f/∂x_c = (∂f/∂u_c)/scale_c, u = (x − shift)/scale. O(n K d q).
template <class Kernel, class Scalar>
Matrix gradient_strips(const Kernel& kernel, const PointStrips<Scalar>& points, const InputScaling& scaling,
                       const ExpansionView& model) {
    const Index d = points.dimension, n = points.count, q = model.offset.size();
    Matrix gradients(d * q, n);
    const Index strips = strips_of(n);
    constexpr Index strips_per_run = 16;
    parallel_for(
        (strips + strips_per_run - 1) / strips_per_run,
        [&](Index run) {
            Matrix x(strip_rows, d), slopes(strip_rows, d), sums(strip_rows, d * q);
            for (Index s = run * strips_per_run; s < std::min(strips, (run + 1) * strips_per_run); ++s) {
                const Index first = s * strip_rows, m = std::min(strip_rows, n - first);
                const Block strip = Block(x).part(0, 0, m, d), out = Block(sums).part(0, 0, m, d * q);
                points.scale_into(strip, first, scaling);
                for (Index k = 0; k < d * q; ++k)
                    std::fill_n(out.column(k), m, model.slopes.size() > 0 ? model.slopes(k) : 0.0);
                add_gradients(kernel, strip, model, Block(slopes).part(0, 0, m, d), out);
                for (Index k = 0; k < d * q; ++k) {
                    const double unit = 1.0 / scaling.scale(k % d);
                    for (Index i = 0; i < m; ++i) gradients(k, first + i) = unit * out(i, k);
                }
            }
        },
        n * model.nodes.cols());
    return gradients;
}

}  // namespace kernelet::detail
