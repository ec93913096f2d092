#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/model/model_statistics.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelet {

/// ‖a_j k_j‖ over the samples, relative to the sum of all: K. O(n K).
template <KernelFamily Kernel>
Vector shares_of(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                 const Matrix& a, const Vector& weights) {
    Vector shares(nodes.cols()), column(points.size());
    for (Index j = 0; j < nodes.cols(); ++j) {
        detail::kernel_column(kernel, points, detail::column_ref(nodes, j), column.data());
        double squares = 0.0, height = 0.0;
        for (Index i = 0; i < column.size(); ++i) squares += column(i) * column(i) * weights(i);
        for (Index o = 0; o < a.cols(); ++o) height += a(j, o) * a(j, o);
        shares(j) = std::sqrt(height * squares);
    }
    if (const double all = detail::sum(shares); all > 0.0) detail::scale(shares, 1.0 / all);
    return shares;
}

namespace detail {

/// The inverse of a symmetric matrix, of which the lower triangle is given, restricted to the rows `moving`, zero
/// elsewhere. `ridge` is added to the diagonal in units of each entry's own size. O(n³).
template <class Scalar = double>
Matrix ridged_inverse(Matrix full, const std::vector<Index>& moving, double ridge) {
    mirror_lower(full);
    Matrix reduced = entries_of<Scalar>(full, moving, moving);
    const Index count = reduced.cols();
    Vector unit(count);
    for (Index i = 0; i < count; ++i) unit(i) = reduced(i, i) > 0.0 ? 1.0 / std::sqrt(reduced(i, i)) : 0.0;
    const auto in_units = [&](Matrix& matrix) {
        scale_rows<Scalar>(matrix, unit.data(), matrix);
        matrix = with_scaled_columns<Scalar>(matrix, unit.data());
    };
    in_units(reduced);
    add_to_diagonal(reduced, ridge);
    Matrix inverse = Matrix::Identity(count, count);
    ldlt_solve<Scalar>(reduced, inverse);
    in_units(inverse);
    Matrix out = Matrix::Zero(full.rows(), full.cols());
    for (Index j = 0; j < count; ++j)
        for (Index i = 0; i < count; ++i)
            out(moving[static_cast<std::size_t>(i)], moving[static_cast<std::size_t>(j)]) =
                0.5 * (inverse(i, j) + inverse(j, i));
    return out;
}

}  // namespace detail

/// Shares and parameter covariance of a fitted model Σ_j a_j k(x, z_j; θ_j), nodes (d + p) x K, a K x q,
/// residual q x n: linearised at the fit, all that was free to move taken into account,
///     covariance = (Σ_o J_o' W J_o / σ_o² + ridge)⁻¹,   J_o = [k_j,  Σ_j a_jo ∂k_j/∂(z, log θ)],
///     σ_o² = Σ_i w_i r_oi² / (Σ w · (1 − parameters/(q n))).
/// Right where the outputs' noises are alike: the kernels were slid by the sum of squares over all outputs.
/// Left out where it would hold more than `most_parameters`². O(n q (K (q + d + p))²).
template <KernelFamily Kernel, Domain Omega>
ModelStatistics statistics_of(const Kernel& kernel, const detail::TiledPoints& points, const Omega& domain,
                              const Matrix& nodes, const Matrix& a, const Matrix& residual,
                              const Vector& weights, double ridge) {
    constexpr Index most_parameters = 1000;
    constexpr double rounding = 1e-12;
    const Index k = nodes.cols(), q = a.cols(), rows = nodes.rows(), n = points.size();
    const Index parameters = k * (q + rows);
    ModelStatistics statistics;
    statistics.shares = shares_of(kernel, points, nodes, a, weights);
    std::vector<Index> moving;  // the parameters that were free
    for (Index at = 0; at < k * q; ++at) moving.push_back(at);
    for (Index j = 0; j < k; ++j)
        for (Index row = 0; row < rows; ++row)
            if (domain.free(row)) moving.push_back(k * q + j * rows + row);
    const double spent = static_cast<double>(moving.size()) / static_cast<double>(q * n);
    statistics.noise = Vector::Zero(q);
    const double total = detail::sum(weights);
    for (Index o = 0; o < q; ++o) {
        double squares = 0.0;
        for (Index i = 0; i < n; ++i) squares += residual(o, i) * residual(o, i) * weights(i);
        statistics.noise(o) =
            std::sqrt(squares / (total * std::max(1.0 - spent, 1.0 / static_cast<double>(n))));
    }
    if (parameters > most_parameters || k == 0) return statistics;

    const double mean_weight = total / static_cast<double>(n);  // only their ratios count
    Matrix information = Matrix::Zero(parameters, parameters);
    Matrix jet(detail::TiledPoints::tile, 1 + rows), design(detail::TiledPoints::tile, parameters);
    Vector root(detail::TiledPoints::tile);
    for (Index t = 0; t < points.tiles(); ++t) {
        const Index m = points.count(t);
        const detail::Block tile = detail::Block(jet).part(0, 0, m, 1 + rows);
        const detail::Block columns = detail::Block(design).part(0, 0, m, parameters);
        for (Index o = 0; o < q; ++o) {
            if (!(statistics.noise(o) > 0.0)) continue;
            for (Index i = 0; i < m; ++i)
                root(i) = std::sqrt(weights(points.first(t) + i) / mean_weight) / statistics.noise(o);
            detail::fill(columns, 0.0);
            for (Index j = 0; j < k; ++j) {
                kernel.jet(points.rows(t), detail::column_ref(nodes, j), detail::matrix_ref(tile));
                detail::scale_rows(columns.columns(o * k + j, 1), root.data(), tile.columns(0, 1));
                detail::scale_rows(columns.columns(k * q + j * rows, rows), root.data(),
                                   tile.columns(1, rows), a(j, o));
            }
            detail::rank_update_tn(information, columns);
        }
    }
    statistics.covariance = detail::ridged_inverse(information, moving, ridge + rounding);
    return statistics;
}

}  // namespace kernelet
