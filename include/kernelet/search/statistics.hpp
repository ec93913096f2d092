#pragma once

#include <kernelet/domains/any_domain.hpp>
#include <kernelet/search/kernel_expansion.hpp>
#include <kernelet/search/least_squares.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelet {

/// ‖a_j k_j‖ over the samples, relative to the sum of all: K. O(n K).
template <class Scalar = double>
Vector shares_of(const AnyKernel& kernel, const detail::TiledPoints& points, const KernelExpansion& model,
                 const Vector& weights) {
    Vector shares(model.size()), column(points.size());
    for (Index j = 0; j < model.size(); ++j) {
        detail::kernel_column(kernel, points, detail::column_ref(model.nodes, j), column.data());
        double squares = 0.0, height = 0.0;
        for (Index i = 0; i < column.size(); ++i) squares += column(i) * column(i) * weights(i);
        for (Index o = 0; o < model.coefficients.cols(); ++o)
            height += model.coefficients(j, o) * model.coefficients(j, o);
        shares(j) = std::sqrt(height * squares);
    }
    if (const double all = detail::sum<Scalar>(shares); all > 0.0) detail::scale<Scalar>(shares, 1.0 / all);
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

/// The parameters of a model that were free to move: all coefficients, then the free rows of the nodes, numbered as
/// in ModelStatistics::covariance.
inline std::vector<Index> free_parameters(const AnyDomain& domain, const KernelExpansion& model) {
    const Index k = model.size(), q = model.coefficients.cols(), rows = model.nodes.rows();
    std::vector<Index> moving;
    for (Index at = 0; at < k * q; ++at) moving.push_back(at);
    for (Index j = 0; j < k; ++j)
        for (Index row = 0; row < rows; ++row)
            if (domain.free(row)) moving.push_back(k * q + j * rows + row);
    return moving;
}

/// Σ_o J_o' W J_o / σ_o², lower triangle; only ratios of the weights count. O(n q (K (q + d + p))²).
template <class Scalar = double>
Matrix information_matrix(const LeastSquaresProblem& problem, const KernelExpansion& model,
                          const Vector& noise) {
    const TiledPoints& points = problem.points;
    const Index k = model.size(), q = model.coefficients.cols(), rows = model.nodes.rows();
    const Index parameters = k * (q + rows);
    const double mean_weight = sum<Scalar>(problem.weights) / static_cast<double>(points.size());
    Matrix information = Matrix::Zero(parameters, parameters);
    Matrix jet(TiledPoints::tile, 1 + rows), design(TiledPoints::tile, parameters);
    Vector root(TiledPoints::tile);
    for (Index t = 0; t < points.tiles(); ++t) {
        problem.poll();
        const Index m = points.count(t);
        const Block tile = Block(jet).part(0, 0, m, 1 + rows);
        const Block columns = Block(design).part(0, 0, m, parameters);
        for (Index o = 0; o < q; ++o) {
            if (!(noise(o) > 0.0)) continue;
            for (Index i = 0; i < m; ++i)
                root(i) = std::sqrt(problem.weights(points.first(t) + i) / mean_weight) / noise(o);
            fill(columns, 0.0);
            for (Index j = 0; j < k; ++j) {
                problem.kernel.jet(points.rows(t), column_ref(model.nodes, j), matrix_ref(tile));
                scale_rows<Scalar>(columns.columns(o * k + j, 1), root.data(), tile.columns(0, 1));
                scale_rows<Scalar>(columns.columns(k * q + j * rows, rows), root.data(),
                                   tile.columns(1, rows), model.coefficients(j, o));
            }
            rank_update_tn<Scalar>(information, columns);
        }
    }
    return information;
}

}  // namespace detail

/// Shares, noise and parameter covariance of a model fitted by least squares: linearised at the fit, all that was
/// free to move taken into account,
///     covariance = (Σ_o J_o' W J_o / σ_o² + ridge)⁻¹,   J_o = [k_j,  Σ_j a_jo ∂k_j/∂(z, log θ)],
///     σ_o² = Σ_i w_i r_oi² / (Σ w · (1 − parameters/(q n))).
/// Right where the outputs' noises are alike: the nodes minimise the sum of squares over all outputs. Left out where
/// it would hold more than 1000² numbers.
template <class Scalar = double>
ModelStatistics statistics_of(const LeastSquaresProblem& problem, const AnyDomain& domain,
                              const KernelExpansion& model) {
    constexpr Index max_parameters = 1000;
    constexpr double rounding = 1e-12;
    const Index k = model.size(), q = problem.y.rows(), n = problem.points.size();
    ModelStatistics statistics;
    statistics.shares = shares_of<Scalar>(problem.kernel, problem.points, model, problem.weights);
    const std::vector<Index> moving = detail::free_parameters(domain, model);
    const double spent = static_cast<double>(moving.size()) / static_cast<double>(q * n);
    const double total = detail::sum<Scalar>(problem.weights);
    const Matrix prediction = expansion_values(problem.kernel, problem.points, model);
    statistics.noise = Vector::Zero(q);
    for (Index o = 0; o < q; ++o) {
        double squares = 0.0;
        for (Index i = 0; i < n; ++i) {
            const double residual = problem.y(o, i) - prediction(o, i);
            squares += residual * residual * problem.weights(i);
        }
        statistics.noise(o) =
            std::sqrt(squares / (total * std::max(1.0 - spent, 1.0 / static_cast<double>(n))));
    }
    if (k * (q + model.nodes.rows()) > max_parameters || k == 0) return statistics;
    statistics.covariance =
        detail::ridged_inverse<Scalar>(detail::information_matrix<Scalar>(problem, model, statistics.noise),
                                       moving, problem.ridge + rounding);
    return statistics;
}

}  // namespace kernelet
