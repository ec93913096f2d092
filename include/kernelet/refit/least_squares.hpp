#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelet {

/// Coefficients of Σ_j a_j k(x, node_j) by weighted least squares.
struct LeastSquaresFit {
    Matrix coefficients{};           ///< K x q; zero rows at redundant kernels
    Vector offset{};                 ///< q: the intercept, 0 without one
    std::vector<Index> redundant{};  ///< kernels that the others already span, numerically
};

/// The triangular factor of the weighted design [Φ y] (n x (K + q)), or [1 Φ y] with an intercept, a block of
/// rows at a time, so that n never meets K in memory: R'R = [Φ y]' W [Φ y]. O(n (K + q)²).
template <KernelFamily Kernel>
Matrix triangular_factor(const Kernel& kernel, const detail::TiledPoints& points, const ConstMatrixRef& nodes,
                         const ConstMatrixRef& y, const ConstVectorRef& weights, bool intercept = false) {
    const Index before = intercept ? 1 : 0;
    const Index columns = before + nodes.cols() + y.rows();
    // Blocks tall enough that refactoring the old triangle is a small part of the work.
    const Index block_tiles = std::max<Index>(1, 4 * columns / detail::TiledPoints::tile + 1);
    Matrix triangle = Matrix::Zero(0, columns);
    for (Index t = 0; t < points.tiles(); t += block_tiles) {
        const Index last = std::min(points.tiles(), t + block_tiles);
        const Index first_row = points.first(t);
        const Index rows = points.first(last - 1) + points.count(last - 1) - first_row;
        Matrix stacked(triangle.rows() + rows, columns);
        stacked.topRows(triangle.rows()) = triangle;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (Index s = t; s < last; ++s) {
                auto part = stacked.col(before + j)
                                .segment(triangle.rows() + points.first(s) - first_row, points.count(s));
                kernel.values(points.rows(s), nodes.col(j), part);
            }
        stacked.bottomRows(rows).leftCols(before).setOnes();
        stacked.bottomRows(rows).rightCols(y.rows()) = y.middleCols(first_row, rows).transpose();
        stacked.bottomRows(rows).array().colwise() *= weights.segment(first_row, rows).array().sqrt();
        const Index height = std::min(stacked.rows(), columns);
        const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(stacked);
        triangle = stacked.topRows(height).template triangularView<Eigen::Upper>();
    }
    return triangle;
}

/// minimise Σ_i w_i ‖Σ_j a_j k(x_i, node_j) + b − y_i‖² + ridge Σ_i w_i ‖a‖², b = 0 without an intercept.
/// Rank-revealing: a kernel whose part
/// orthogonal to the others is below `rank_tolerance` of its norm gets no coefficient and is named.
template <KernelFamily Kernel>
LeastSquaresFit least_squares(const Kernel& kernel, const detail::TiledPoints& points,
                              const ConstMatrixRef& nodes, const ConstMatrixRef& y,
                              const ConstVectorRef& weights, double ridge, bool intercept = false) {
    constexpr double rank_tolerance = 1e-7;
    const Index k = nodes.cols();
    LeastSquaresFit fit{Matrix::Zero(k, y.rows()), Vector::Zero(y.rows()), {}};
    if (k == 0) {
        if (intercept) fit.offset = y * weights / weights.sum();
        return fit;
    }
    const Matrix whole = triangular_factor(kernel, points, nodes, y, weights, intercept);
    // Below the row of the intercept, R is the factor of the columns without their means.
    const Index before = intercept ? 1 : 0;
    const Matrix triangle = whole.bottomRightCorner(whole.rows() - before, whole.cols() - before);
    // Ridge rows below the triangle; columns scaled to norm one, so that the pivots compare directions.
    Matrix design = Matrix::Zero(triangle.rows() + k, k);
    Matrix target = Matrix::Zero(triangle.rows() + k, y.rows());
    design.topRows(triangle.rows()) = triangle.leftCols(k);
    design.bottomRows(k).diagonal().setConstant(std::sqrt(ridge * weights.sum()));
    target.topRows(triangle.rows()) = triangle.rightCols(y.rows());
    const Vector norms = triangle.leftCols(k).colwise().norm().cwiseMax(std::numeric_limits<double>::min());
    Eigen::ColPivHouseholderQR<Matrix> rank(triangle.leftCols(k) * norms.cwiseInverse().asDiagonal());
    rank.setThreshold(rank_tolerance);
    std::vector<Index> kept;
    for (Index position = 0; position < k; ++position) {
        const Index j = rank.colsPermutation().indices()(position);
        (position < rank.rank() ? kept : fit.redundant).push_back(j);
    }
    std::sort(kept.begin(), kept.end());
    std::sort(fit.redundant.begin(), fit.redundant.end());
    if (kept.empty()) {
        if (intercept) fit.offset = y * weights / weights.sum();
        return fit;
    }
    const Matrix chosen = design(Eigen::all, kept);
    const Matrix solution = chosen.colPivHouseholderQr().solve(target);
    for (std::size_t j = 0; j < kept.size(); ++j)
        fit.coefficients.row(kept[j]) = solution.row(static_cast<Index>(j));
    if (intercept)  // its row: R₁₁ b + R₁Φ a = R₁y
        fit.offset =
            (whole.row(0).tail(y.rows()) - whole.row(0).segment(1, k) * fit.coefficients).transpose() /
            whole(0, 0);
    return fit;
}

}  // namespace kernelet
