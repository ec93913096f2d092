#pragma once

#include <kernelet/domains/any_domain.hpp>
#include <kernelet/search/evidence.hpp>
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

/// The number of functions of the trend: 1 + d for a linear one, 1 for a constant.
inline Index trend_functions(const LeastSquaresProblem& problem) {
    return TrendBasis(problem.trend, problem.points).size();
}

/// The parameters of a model that were free to move: all coefficients, then the free rows of the nodes, then the trend,
/// numbered as in ModelStatistics::covariance.
inline std::vector<Index> free_parameters(const AnyDomain& domain, const KernelExpansion& model,
                                          Index functions) {
    const Index k = model.size(), q = model.coefficients.cols(), rows = model.nodes.rows();
    std::vector<Index> moving;
    for (Index at = 0; at < k * q; ++at) moving.push_back(at);
    for (Index j = 0; j < k; ++j)
        for (Index row = 0; row < rows; ++row)
            if (domain.free(row)) moving.push_back(k * q + j * rows + row);
    for (Index at = 0; at < q * functions; ++at) moving.push_back(k * (q + rows) + at);
    return moving;
}

/// Σ_o J_o' W J_o / σ_o², lower triangle; only ratios of the weights count. O(n q P²), P = K (q + d + p) and the trend.
template <class Scalar = double>
Matrix information_matrix(const LeastSquaresProblem& problem, const KernelExpansion& model,
                          const Vector& noise) {
    const TiledPoints& points = problem.points;
    const Index k = model.size(), q = model.coefficients.cols(), rows = model.nodes.rows(),
                functions = trend_functions(problem);
    const Index of_kernels = k * (q + rows), parameters = of_kernels + q * functions;
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
            for (Index c = 0; c < functions; ++c)
                for (Index i = 0; i < m; ++i)
                    columns(i, of_kernels + o * functions + c) =
                        root(i) * (c == 0 ? 1.0 : points.transposed()(points.first(t) + i, c - 1));
            rank_update_tn<Scalar>(information, columns);
        }
    }
    return information;
}

}  // namespace detail

/// The priors on the nodes, as precisions.
struct NodePrecisions {
    double centers = 0.0, log_widths = 0.0;
    double price = 0.0;  ///< −2 log likelihood that a kernel had to bring
};

namespace detail {

/// Sizes and priors of a model whose parameters are judged.
struct ParameterTerms {
    Index dimension{};             ///< d
    Index functions{};             ///< of the trend, t
    double residuals{};            ///< N, numbers that were fitted
    double coefficient_penalty{};  ///< ridge·n: that of ‖a‖² where weights have mean 1
    NodePrecisions nodes{};
};

/// The roots of the prior precisions of all parameters, numbered as in ModelStatistics::covariance.
inline Vector root_precisions(const KernelExpansion& model, const ParameterTerms& terms,
                              const Vector& noise) {
    const Index k = model.size(), q = model.coefficients.cols(), rows = model.nodes.rows();
    Vector roots = Vector::Zero(k * (q + rows) + q * terms.functions);
    for (Index o = 0; o < q; ++o)
        for (Index j = 0; j < k && noise(o) > 0.0; ++j)
            roots(o * k + j) = std::sqrt(terms.coefficient_penalty) / noise(o);
    for (Index j = 0; j < k; ++j)
        for (Index row = 0; row < rows; ++row)
            roots(k * q + j * rows + row) =
                std::sqrt(row < terms.dimension ? terms.nodes.centers : terms.nodes.log_widths);
    return roots;
}

/// The share of N residuals that parameters leave free.
inline double free_share(double residuals, double spent) {
    return std::max(1.0 - spent / residuals, 1.0 / residuals);
}

/// The deviation that a model leaves of each output where `spent` of the N residuals are parameters.
template <class Scalar = double>
Vector residual_deviations(const LeastSquaresProblem& problem, const KernelExpansion& model, double spent) {
    const Index q = problem.y.rows(), n = problem.points.size();
    const Matrix prediction = expansion_values(problem.kernel, problem.points, model);
    const double free = free_share(static_cast<double>(problem.y.size()), spent);
    Vector out(q);
    for (Index o = 0; o < q; ++o) {
        double squares = 0.0;
        for (Index i = 0; i < n; ++i) {
            const double residual = problem.y(o, i) - prediction(o, i);
            squares += residual * residual * problem.weights(i);
        }
        out(o) = std::sqrt(squares / (sum<Scalar>(problem.weights) * free));
    }
    return out;
}

}  // namespace detail

namespace detail {

/// Adds what follows from J'WJ/σ² to shares and noise, of which the latter counts all of the `moving` parameters as
/// spent: the covariance, and the noise with the effective number of parameters instead. `information` is empty where
/// the covariance is left out.
template <class Scalar = double>
void add_covariance(ModelStatistics& statistics, Matrix information, const Vector& roots,
                    const std::vector<Index>& moving, const ParameterTerms& terms) {
    constexpr double rounding = 1e-12;
    if (information.size() > 0) {
        mirror_lower(information);
        if (!all_finite(information)) fill(information, 0.0);  // noise that squares to zero
        const Vector determined = posterior<Scalar>(entries_of<Scalar>(information, moving, moving),
                                                    entries_of<Scalar>(roots, moving), terms.residuals)
                                      .determined;
        // σ² ∝ 1/(N − γ), for all outputs alike.
        const double ratio = free_share(terms.residuals, static_cast<double>(moving.size())) /
                             free_share(terms.residuals, sum<Scalar>(determined));
        scale<Scalar>(information, 1.0 / ratio);
        scale<Scalar>(statistics.noise, std::sqrt(ratio));
        for (Index i = 0; i < information.cols(); ++i) information(i, i) += roots(i) * roots(i);
        statistics.covariance = ridged_inverse<Scalar>(std::move(information), moving, rounding);
    }
    statistics.discrepancy = statistics.noise;
    scale<Scalar>(statistics.discrepancy, std::sqrt(terms.nodes.price / terms.residuals));
}

/// Whether a covariance of so many parameters is computed: it holds at most 1000² numbers.
inline bool has_covariance(const KernelExpansion& model) {
    constexpr Index max_parameters = 1000;
    return model.size() > 0 &&
           model.size() * (model.coefficients.cols() + model.nodes.rows()) <= max_parameters;
}

}  // namespace detail

/// Shares, noise and parameter covariance of a model fitted by least squares: linearised at the fit, all that was
/// free to move taken into account,
///     covariance = (Σ_o J_o' W J_o / σ_o² + P)⁻¹,   J_o = [k_j,  Σ_j a_jo ∂k_j/∂(z, log θ),  trend],
///     σ_o² = Σ_i w_i r_oi² / (Σ w · (1 − γ/(q n))),   γ = Σ e/(1 + e) as in ModelEvidence, P the precisions.
/// Right where the outputs' noises are alike: the nodes minimise the sum of squares over all outputs. The covariance is
/// left out where it would hold more than 1000² numbers; γ then is the number of parameters.
template <class Scalar = double>
ModelStatistics statistics_of(const LeastSquaresProblem& problem, const AnyDomain& domain,
                              const KernelExpansion& model, const NodePrecisions& prior = {}) {
    const detail::ParameterTerms terms{problem.points.dimension(), detail::trend_functions(problem),
                                       static_cast<double>(problem.y.size()),
                                       problem.ridge * static_cast<double>(problem.points.size()), prior};
    ModelStatistics statistics;
    statistics.shares = shares_of<Scalar>(problem.kernel, problem.points, model, problem.weights);
    const std::vector<Index> moving = detail::free_parameters(domain, model, terms.functions);
    statistics.noise =
        detail::residual_deviations<Scalar>(problem, model, static_cast<double>(moving.size()));
    const Vector roots = detail::root_precisions(model, terms, statistics.noise);
    Matrix information;
    if (detail::has_covariance(model))
        information = detail::information_matrix<Scalar>(problem, model, statistics.noise);
    detail::add_covariance<Scalar>(statistics, std::move(information), roots, moving, terms);
    return statistics;
}

}  // namespace kernelet
