#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

namespace kernelet {

/// What a fit knows about its model beside the model: all empty where nothing is known.
struct ModelStatistics {
    /// K: the size of each kernel's part over the samples, ‖a_j k_j‖ relative to the sum of all. They add up
    /// to one.
    Vector shares{};
    /// q: the deviation of what the model leaves over.
    Vector noise{};
    /// Of all parameters, linearised at the fit: the coefficients (output o, kernel j at o K + j), then
    /// each kernel's center and log parameter (row r of kernel j at q K + j (d + p) + r, in the units of the
    /// fit). Zero rows for what was not free to move.
    Matrix covariance{};
};

/// ‖a_j k_j‖ over the samples, relative to the sum of all: K. O(n K).
template <KernelFamily Kernel>
Vector shares_of(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                 const Matrix& a, const Vector& weights) {
    Vector shares(nodes.cols()), column(points.size());
    for (Index j = 0; j < nodes.cols(); ++j) {
        detail::kernel_column(kernel, points, nodes.col(j), column);
        shares(j) = a.row(j).norm() * std::sqrt(column.cwiseAbs2().dot(weights));
    }
    if (shares.size() > 0 && shares.sum() > 0.0) shares /= shares.sum();
    return shares;
}

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
    for (Index o = 0; o < q; ++o)
        statistics.noise(o) =
            std::sqrt(residual.row(o).cwiseAbs2().dot(weights.transpose()) /
                      (weights.sum() * std::max(1.0 - spent, 1.0 / static_cast<double>(n))));
    if (parameters > most_parameters || k == 0) return statistics;

    const double mean_weight = weights.mean();  // only their ratios count
    Matrix information = Matrix::Zero(parameters, parameters);
    Matrix jet(detail::TiledPoints::tile, 1 + rows);
    Matrix design(parameters, detail::TiledPoints::tile);
    for (Index t = 0; t < points.tiles(); ++t) {
        const Index m = points.count(t);
        const Vector root = (weights.segment(points.first(t), m) / mean_weight).cwiseSqrt();
        for (Index o = 0; o < q; ++o) {
            if (!(statistics.noise(o) > 0.0)) continue;
            design.setZero();
            for (Index j = 0; j < k; ++j) {
                kernel.jet(points.rows(t), nodes.col(j), jet.topRows(m));
                design.row(o * k + j).head(m) = jet.col(0).head(m);
                for (Index row = 0; row < rows; ++row)
                    design.row(k * q + j * rows + row).head(m) = a(j, o) * jet.col(1 + row).head(m);
            }
            design.leftCols(m).array().rowwise() *= root.array().transpose() / statistics.noise(o);
            information.selfadjointView<Eigen::Lower>().rankUpdate(design.leftCols(m));
        }
    }
    const Matrix full = information.selfadjointView<Eigen::Lower>();
    Matrix reduced = full(moving, moving);
    // In units of each parameter's own information, so that the ridge means the same for all of them.
    const Vector unit =
        reduced.diagonal().cwiseSqrt().unaryExpr([](double v) { return v > 0.0 ? 1.0 / v : 0.0; });
    reduced = unit.asDiagonal() * reduced * unit.asDiagonal();
    reduced.diagonal().array() += ridge + rounding;
    const auto count = static_cast<Index>(moving.size());
    const Matrix inverse = unit.asDiagonal() *
                           Eigen::LDLT<Matrix>(reduced).solve(Matrix::Identity(count, count)) *
                           unit.asDiagonal();
    statistics.covariance = Matrix::Zero(parameters, parameters);
    statistics.covariance(moving, moving) = 0.5 * (inverse + inverse.transpose());
    return statistics;
}

}  // namespace kernelet
