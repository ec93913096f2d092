#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/any_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelet {

/// minimise over (a, b) of Σ_i w_i ‖Σ_j a_j k(x_i, node_j) + b − y_i‖² + ridge Σ_i w_i ‖a‖², b = 0 without an
/// intercept. Holds references to the samples.
struct LeastSquaresProblem {
    AnyKernel kernel;
    const detail::TiledPoints& points;
    const Matrix& y;        ///< q x n
    const Vector& weights;  ///< n
    double ridge = 0.0;
    bool intercept = false;
    detail::Poll poll{};
};

/// Coefficients by weighted least squares.
struct LeastSquaresFit {
    Matrix coefficients{};           ///< K x q; zero rows at redundant kernels
    Vector offset{};                 ///< q: b, 0 without an intercept
    std::vector<Index> redundant{};  ///< kernels that the others span up to rounding
};

/// The triangular factor of the weighted design [Φ y] (n x (K + q)), or [1 Φ y] with an intercept, one block of
/// rows at a time, so that nothing of size n x K is held: R'R = [Φ y]' W [Φ y]. O(n (K + q)²).
template <class Scalar = double>
Matrix triangular_factor(const LeastSquaresProblem& problem, const Matrix& nodes) {
    const detail::TiledPoints& points = problem.points;
    const Index before = problem.intercept ? 1 : 0, q = problem.y.rows();
    const Index columns = before + nodes.cols() + q;
    // Blocks tall enough that refactoring the old triangle is a small part of the work.
    const Index block_tiles = std::max<Index>(1, 4 * columns / detail::TiledPoints::tile + 1);
    Matrix triangle = Matrix::Zero(0, columns);
    for (Index t = 0; t < points.tiles(); t += block_tiles) {
        problem.poll();
        const Index last = std::min(points.tiles(), t + block_tiles), first_row = points.first(t);
        const Index rows = points.first(last - 1) + points.count(last - 1) - first_row, old = triangle.rows();
        Matrix stacked(old + rows, columns);
        detail::copy(triangle, detail::Block(stacked).part(0, 0, old, columns));
        for (Index j = 0; j < nodes.cols(); ++j)
            for (Index s = t; s < last; ++s)
                problem.kernel.values(points.rows(s), detail::column_ref(nodes, j),
                                      detail::run_ref(&stacked(old + points.first(s) - first_row, before + j),
                                                      points.count(s)));
        for (Index i = 0; i < rows; ++i) {
            if (problem.intercept) stacked(old + i, 0) = 1.0;
            for (Index o = 0; o < q; ++o) stacked(old + i, columns - q + o) = problem.y(o, first_row + i);
        }
        Vector root(rows);
        for (Index i = 0; i < rows; ++i) root(i) = std::sqrt(problem.weights(first_row + i));
        const detail::Block fresh = detail::Block(stacked).part(old, 0, rows, columns);
        detail::scale_rows<Scalar>(fresh, root.data(), fresh);
        detail::triangularize<Scalar>(stacked);
        triangle.resize(std::min(stacked.rows(), columns), columns);
        detail::copy(detail::ConstBlock(stacked).part(0, 0, triangle.rows(), columns), triangle);
    }
    return triangle;
}

namespace detail {

/// The columns of a triangular factor that count, ascending, and those that the others span up to rounding: pivots
/// of the columns scaled to norm one, so that they compare directions.
template <class Scalar = double>
std::pair<std::vector<Index>, std::vector<Index>> independent_columns(const ConstBlock& triangle) {
    constexpr double rank_tolerance = 1e-7;
    Vector inverse_norms = column_norms<Scalar>(triangle);
    for (Index j = 0; j < triangle.cols; ++j)
        inverse_norms(j) = 1.0 / std::max(inverse_norms(j), std::numeric_limits<double>::min());
    const PivotedSolution pivoted =
        pivoted_least_squares<Scalar>(with_scaled_columns<Scalar>(triangle, inverse_norms.data()),
                                      Matrix(triangle.rows, 0), rank_tolerance);
    std::vector<Index> kept, redundant;
    for (Index position = 0; position < triangle.cols; ++position)
        (position < pivoted.rank ? kept : redundant)
            .push_back(pivoted.order[static_cast<std::size_t>(position)]);
    std::sort(kept.begin(), kept.end());
    std::sort(redundant.begin(), redundant.end());
    return {std::move(kept), std::move(redundant)};
}

/// The coefficients of some columns of a triangular factor R = [R_Φ R_y], with ridge rows below. O(K³).
template <class Scalar = double>
Matrix ridge_solution(const ConstBlock& columns, const ConstBlock& targets, const std::vector<Index>& kept,
                      double ridge) {
    const Index height = columns.rows, chosen = static_cast<Index>(kept.size());
    Matrix design = Matrix::Zero(height + chosen, chosen),
           target = Matrix::Zero(height + chosen, targets.cols);
    for (Index j = 0; j < chosen; ++j) {
        std::copy_n(columns.column(kept[static_cast<std::size_t>(j)]), height, &design(0, j));
        design(height + j, j) = std::sqrt(ridge);
    }
    copy(targets, Block(target).part(0, 0, height, targets.cols));
    return pivoted_least_squares<Scalar>(std::move(design), std::move(target),
                                         std::numeric_limits<double>::epsilon() * static_cast<double>(chosen))
        .solution;
}

}  // namespace detail

/// The least-squares coefficients of kernels at these nodes. Rank-revealing: a kernel whose part orthogonal to the
/// others is below 1e-7 of its norm gets no coefficient and is named. O(n (K + q)² + K³).
template <class Scalar = double>
LeastSquaresFit least_squares(const LeastSquaresProblem& problem, const Matrix& nodes) {
    const Index k = nodes.cols(), q = problem.y.rows(), before = problem.intercept ? 1 : 0;
    LeastSquaresFit fit{Matrix::Zero(k, q), Vector::Zero(q), {}};
    std::vector<Index> kept;
    Matrix whole;
    if (k > 0) {
        whole = triangular_factor<Scalar>(problem, nodes);
        // Below the row of the intercept, R is the factor of the columns without their means.
        std::tie(kept, fit.redundant) = detail::independent_columns<Scalar>(
            detail::ConstBlock(whole).part(before, before, whole.rows() - before, k));
    }
    if (kept.empty()) {
        if (!problem.intercept) return fit;
        fit.offset = detail::product<Scalar>(problem.y, problem.weights);
        detail::scale<Scalar>(fit.offset, 1.0 / detail::sum<Scalar>(problem.weights));
        return fit;
    }
    const Index height = whole.rows() - before;
    const Matrix solution =
        detail::ridge_solution<Scalar>(detail::ConstBlock(whole).part(before, before, height, k),
                                       detail::ConstBlock(whole).part(before, before + k, height, q), kept,
                                       problem.ridge * detail::sum<Scalar>(problem.weights));
    for (Index j = 0; j < solution.rows(); ++j)
        for (Index o = 0; o < q; ++o) fit.coefficients(kept[static_cast<std::size_t>(j)], o) = solution(j, o);
    for (Index o = 0; problem.intercept && o < q; ++o) {  // its row: R₁₁ b + R₁Φ a = R₁y
        double rest = whole(0, 1 + k + o);
        for (Index j = 0; j < k; ++j) rest -= whole(0, 1 + j) * fit.coefficients(j, o);
        fit.offset(o) = rest / whole(0, 0);
    }
    return fit;
}

}  // namespace kernelet
