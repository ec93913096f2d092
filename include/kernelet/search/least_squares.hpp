#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/detail/trend_basis.hpp>
#include <kernelet/kernels/any_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelet {

/// minimise over a and the trend of Σ_i w_i ‖Σ_j a_j k(x_i, node_j) + trend(x_i) − y_i‖² + ridge Σ_i w_i ‖a‖². Holds
/// references to the samples.
struct LeastSquaresProblem {
    AnyKernel kernel;
    const detail::TiledPoints& points;
    const Matrix& y;        ///< q x n
    const Vector& weights;  ///< n
    double ridge = 0.0;
    Trend trend = Trend::none;
    detail::Poll poll{};
};

/// Coefficients by weighted least squares.
struct LeastSquaresFit {
    Matrix coefficients{};           ///< K x q; zero rows at redundant kernels
    Vector offset{};                 ///< q, of the trend; 0 without one
    Matrix slopes{};                 ///< d x q, where the trend is linear
    std::vector<Index> redundant{};  ///< kernels that the others span up to rounding
};

/// The triangular factor of the weighted design [T Φ y] (n x (t + K + q)), T the functions of the trend, one block of
/// rows at a time, so that nothing of size n x K is held: R'R = [T Φ y]' W [T Φ y]. O(n (t + K + q)²).
template <class Scalar = double>
Matrix triangular_factor(const LeastSquaresProblem& problem, const Matrix& nodes) {
    const detail::TiledPoints& points = problem.points;
    const detail::TrendBasis trend(problem.trend, points);
    const Index before = trend.size(), q = problem.y.rows();
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
            for (Index o = 0; o < q; ++o) stacked(old + i, columns - q + o) = problem.y(o, first_row + i);
        }
        Vector root(rows);
        for (Index i = 0; i < rows; ++i) root(i) = std::sqrt(problem.weights(first_row + i));
        trend.fill(points, first_row, root.data(), detail::Block(stacked).part(old, 0, rows, before));
        const detail::Block fresh = detail::Block(stacked).part(old, before, rows, columns - before);
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
std::pair<std::vector<Index>, std::vector<Index>> independent_columns(const ConstBlock& triangle,
                                                                      double rank_tolerance = 1e-7) {
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

namespace detail {

/// Sets the trend that goes with the coefficients of a fit: R₁₁ b = R₁y − R₁Φ a, the first t rows of the factor
/// [R_T R_Φ R_y], by substitution. A function that the ones before it span has no part.
inline void set_trend(LeastSquaresFit& fit, const TrendBasis& trend, const Matrix& whole) {
    constexpr double rank_tolerance = 1e-12;
    const Index t = trend.size(), k = fit.coefficients.rows(), q = fit.coefficients.cols();
    Matrix b = Matrix::Zero(t, q);
    for (Index o = 0; o < q; ++o)
        for (Index row = std::min(t, whole.rows()) - 1; row >= 0; --row) {
            double rest = whole(row, t + k + o);
            for (Index j = 0; j < k; ++j) rest -= whole(row, t + j) * fit.coefficients(j, o);
            for (Index c = row + 1; c < t; ++c) rest -= whole(row, c) * b(c, o);
            if (std::abs(whole(row, row)) > rank_tolerance * std::abs(whole(0, 0)))
                b(row, o) = rest / whole(row, row);
        }
    fit.offset = trend.offset(b);
    fit.slopes = trend.slopes(b);
}

}  // namespace detail

/// The least-squares coefficients of kernels at these nodes. Rank-revealing: a kernel whose part orthogonal to the
/// others is below 1e-7 of its norm gets no coefficient and is named. O(n (t + K + q)² + K³).
template <class Scalar = double>
LeastSquaresFit least_squares(const LeastSquaresProblem& problem, const Matrix& nodes) {
    const detail::TrendBasis trend(problem.trend, problem.points);
    const Index k = nodes.cols(), q = problem.y.rows(), before = trend.size();
    LeastSquaresFit fit{Matrix::Zero(k, q), Vector::Zero(q), {}, {}};
    if (k + before == 0) return fit;
    const Matrix whole = triangular_factor<Scalar>(problem, nodes);
    // Below the rows of the trend, R is the factor of what the trend leaves of the columns.
    const Index height = std::max<Index>(0, whole.rows() - before);
    if (k > 0 && height > 0) {
        const detail::ConstBlock all(whole);
        std::vector<Index> kept;
        std::tie(kept, fit.redundant) =
            detail::independent_columns<Scalar>(all.part(before, before, height, k));
        const Matrix solution = detail::ridge_solution<Scalar>(
            all.part(before, before, height, k), all.part(before, before + k, height, q), kept,
            problem.ridge * detail::sum<Scalar>(problem.weights));
        for (Index j = 0; j < solution.rows(); ++j)
            for (Index o = 0; o < q; ++o)
                fit.coefficients(kept[static_cast<std::size_t>(j)], o) = solution(j, o);
    }
    if (before > 0) detail::set_trend(fit, trend, whole);
    return fit;
}

}  // namespace kernelet
