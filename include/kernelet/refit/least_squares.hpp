#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

/// Coefficients of Σ_j a_j k(x, node_j) by weighted least squares.
struct LeastSquaresFit {
    Matrix coefficients{};           ///< K x q; zero rows at redundant kernels
    Vector offset{};                 ///< q: the intercept, 0 without one
    std::vector<Index> redundant{};  ///< kernels that the others already span, numerically
};

/// The triangular factor of the weighted design [Φ y] (n x (K + q)), or [1 Φ y] with an intercept, one block of
/// rows at a time, so that n never meets K in memory: R'R = [Φ y]' W [Φ y]. O(n (K + q)²).
template <KernelFamily Kernel>
Matrix triangular_factor(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                         const Matrix& y, const Vector& weights, bool intercept = false) {
    const Index before = intercept ? 1 : 0;
    const Index columns = before + nodes.cols() + y.rows();
    // Blocks tall enough that refactoring the old triangle is a small part of the work.
    const Index block_tiles = std::max<Index>(1, 4 * columns / detail::TiledPoints::tile + 1);
    Matrix triangle = Matrix::Zero(0, columns);
    for (Index t = 0; t < points.tiles(); t += block_tiles) {
        const Index last = std::min(points.tiles(), t + block_tiles), first_row = points.first(t);
        const Index rows = points.first(last - 1) + points.count(last - 1) - first_row, old = triangle.rows();
        Matrix stacked(old + rows, columns);
        detail::copy(triangle, detail::Block(stacked).part(0, 0, old, columns));
        for (Index j = 0; j < nodes.cols(); ++j)
            for (Index s = t; s < last; ++s)
                kernel.values(points.rows(s), detail::column_ref(nodes, j),
                              detail::run_ref(&stacked(old + points.first(s) - first_row, before + j),
                                              points.count(s)));
        for (Index i = 0; i < rows; ++i) {
            if (intercept) stacked(old + i, 0) = 1.0;
            for (Index o = 0; o < y.rows(); ++o)
                stacked(old + i, columns - y.rows() + o) = y(o, first_row + i);
        }
        Vector root(rows);
        for (Index i = 0; i < rows; ++i) root(i) = std::sqrt(weights(first_row + i));
        const detail::Block fresh = detail::Block(stacked).part(old, 0, rows, columns);
        detail::scale_rows(fresh, root.data(), fresh);
        detail::triangularize(stacked);
        triangle.resize(std::min(stacked.rows(), columns), columns);
        detail::copy(detail::ConstBlock(stacked).part(0, 0, triangle.rows(), columns), triangle);
    }
    return triangle;
}

/// The same from the triangular factor of [1 Φ y] or [Φ y], which does not depend on the kernel. O(K³).
template <class Scalar = double>
LeastSquaresFit least_squares(const Matrix& whole, Index k, const Matrix& y, const Vector& weights,
                              double ridge, bool intercept) {
    constexpr double rank_tolerance = 1e-7;
    const Index q = y.rows(), before = intercept ? 1 : 0, height = whole.rows() - before;
    LeastSquaresFit fit{Matrix::Zero(k, q), Vector::Zero(q), {}};
    std::vector<Index> kept;
    if (k > 0) {
        // Below the row of the intercept, R is the factor of the columns without their means.
        const detail::ConstBlock left = detail::ConstBlock(whole).part(before, before, height, k);
        // Columns scaled to norm one, so that the pivots compare directions.
        Vector inverse_norms = detail::column_norms<Scalar>(left);
        for (Index j = 0; j < k; ++j)
            inverse_norms(j) = 1.0 / std::max(inverse_norms(j), std::numeric_limits<double>::min());
        const detail::PivotedSolution pivoted = detail::pivoted_least_squares<Scalar>(
            detail::with_scaled_columns<Scalar>(left, inverse_norms.data()), Matrix(height, 0),
            rank_tolerance);
        for (Index position = 0; position < k; ++position)
            (position < pivoted.rank ? kept : fit.redundant)
                .push_back(pivoted.order[static_cast<std::size_t>(position)]);
        std::sort(kept.begin(), kept.end());
        std::sort(fit.redundant.begin(), fit.redundant.end());
    }
    if (kept.empty()) {
        if (intercept) {
            fit.offset = detail::product<Scalar>(y, weights);
            detail::scale<Scalar>(fit.offset, 1.0 / detail::sum<Scalar>(weights));
        }
        return fit;
    }
    // Ridge rows below the triangle.
    const auto chosen = static_cast<Index>(kept.size());
    Matrix design = Matrix::Zero(height + chosen, chosen), target = Matrix::Zero(height + chosen, q);
    for (Index j = 0; j < chosen; ++j) {
        std::copy_n(&whole(before, before + kept[static_cast<std::size_t>(j)]), height, &design(0, j));
        design(height + j, j) = std::sqrt(ridge * detail::sum<Scalar>(weights));
    }
    detail::copy(detail::ConstBlock(whole).part(before, before + k, height, q),
                 detail::Block(target).part(0, 0, height, q));
    const Matrix solution = detail::pivoted_least_squares<Scalar>(
                                std::move(design), std::move(target),
                                std::numeric_limits<double>::epsilon() * static_cast<double>(chosen))
                                .solution;
    for (Index j = 0; j < chosen; ++j)
        for (Index o = 0; o < q; ++o) fit.coefficients(kept[static_cast<std::size_t>(j)], o) = solution(j, o);
    if (intercept)  // its row: R₁₁ b + R₁Φ a = R₁y
        for (Index o = 0; o < q; ++o) {
            double rest = whole(0, 1 + k + o);
            for (Index j = 0; j < k; ++j) rest -= whole(0, 1 + j) * fit.coefficients(j, o);
            fit.offset(o) = rest / whole(0, 0);
        }
    return fit;
}

/// minimise Σ_i w_i ‖Σ_j a_j k(x_i, node_j) + b − y_i‖² + ridge Σ_i w_i ‖a‖², b = 0 without an intercept.
/// Rank-revealing: a kernel whose part
/// orthogonal to the others is below `rank_tolerance` of its norm gets no coefficient and is named.
template <KernelFamily Kernel>
LeastSquaresFit least_squares(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                              const Matrix& y, const Vector& weights, double ridge, bool intercept = false) {
    const Index k = nodes.cols();
    const Matrix triangle =
        k > 0 ? triangular_factor(kernel, points, nodes, y, weights, intercept) : Matrix{};
    return least_squares(triangle, k, y, weights, ridge, intercept);
}

}  // namespace kernelet
