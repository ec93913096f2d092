#pragma once

#include <kernelet/refit/least_squares.hpp>

#include <Eigen/Cholesky>

#include <limits>
#include <numeric>
#include <vector>

namespace kernelet {

/// The kernels to keep when at most `count` may stay: backward elimination. Dropping kernel j from a
/// least-squares fit with Gram matrix G raises the squared error by exactly a_j²/(G⁻¹)_jj; the cheapest is
/// dropped and G⁻¹ downdated. O(n K² + K³).
template <KernelFamily Kernel>
std::vector<Index> keep_cheapest(const Kernel& kernel, const detail::TiledPoints& points,
                                 const ConstMatrixRef& nodes, const ConstMatrixRef& y,
                                 const ConstVectorRef& weights, double ridge, Index count) {
    const Index k = nodes.cols();
    std::vector<Index> kept(static_cast<std::size_t>(k));
    std::iota(kept.begin(), kept.end(), Index{0});
    if (k <= count) return kept;
    const Matrix triangle = triangular_factor(kernel, points, nodes, y, weights);
    const Matrix left = triangle.leftCols(k);
    Matrix gram = left.transpose() * left;
    constexpr double rounding = 1e-12;  // of the Gram matrix, squared conditioning included
    gram.diagonal().array() += ridge * weights.sum() + rounding * gram.diagonal().maxCoeff();
    Matrix inverse = gram.ldlt().solve(Matrix::Identity(k, k));
    Matrix a = inverse * (left.transpose() * triangle.rightCols(y.rows()));
    while (static_cast<Index>(kept.size()) > count) {
        std::size_t cheapest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < kept.size(); ++j) {
            const auto row = static_cast<Index>(j);
            const double cost = a.row(row).squaredNorm() / inverse(row, row);
            if (cost < least) {
                least = cost;
                cheapest = j;
            }
        }
        // Block elimination of row j: G⁻¹ ← G⁻¹ − g g'/g_j, a ← a − g a_j/g_j, then row and column j leave.
        const auto drop = static_cast<Index>(cheapest);
        const Vector g = inverse.col(drop);
        a -= g * (a.row(drop) / g(drop)).eval();
        inverse -= g * g.transpose() / g(drop);
        std::vector<Index> rest(kept.size() - 1);
        for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = static_cast<Index>(j < cheapest ? j : j + 1);
        inverse = inverse(rest, rest).eval();
        a = a(rest, Eigen::all).eval();
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(cheapest));
    }
    return kept;
}

}  // namespace kernelet
