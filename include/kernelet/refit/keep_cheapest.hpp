#pragma once

#include <kernelet/refit/least_squares.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace kernelet {

/// The kernels to keep when at most `count` may stay: backward elimination. Dropping kernel j from a
/// least-squares fit with Gram matrix G raises the squared error by exactly a_j²/(G⁻¹)_jj; the cheapest is
/// dropped and G⁻¹ downdated. O(n K² + K³).
template <KernelFamily Kernel>
std::vector<Index> keep_cheapest(const Kernel& kernel, const detail::TiledPoints& points, const Matrix& nodes,
                                 const Matrix& y, const Vector& weights, double ridge, Index count) {
    const Index k = nodes.cols();
    std::vector<Index> kept(static_cast<std::size_t>(k));
    std::iota(kept.begin(), kept.end(), Index{0});
    if (k <= count) return kept;
    const Matrix triangle = triangular_factor(kernel, points, nodes, y, weights);
    const detail::ConstBlock left = detail::ConstBlock(triangle).columns(0, k);
    Matrix gram = Matrix::Zero(k, k), inverse = Matrix::Identity(k, k);
    detail::rank_update_tn(gram, left);
    double largest = 0.0;
    for (Index j = 0; j < k; ++j) largest = std::max(largest, gram(j, j));
    constexpr double rounding = 1e-12;  // of the Gram matrix, squared conditioning included
    detail::add_to_diagonal(gram, ridge * detail::sum(weights) + rounding * largest);
    detail::ldlt_solve(gram, inverse);
    Matrix a =
        detail::product(inverse, detail::product_tn(left, detail::ConstBlock(triangle).columns(k, y.rows())));
    while (static_cast<Index>(kept.size()) > count) {
        std::size_t cheapest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < kept.size(); ++j) {
            const auto row = static_cast<Index>(j);
            double squares = 0.0;
            for (Index o = 0; o < a.cols(); ++o) squares += a(row, o) * a(row, o);
            const double cost = squares / inverse(row, row);
            if (cost < least) {
                least = cost;
                cheapest = j;
            }
        }
        // Block elimination of row j: G⁻¹ ← G⁻¹ − g g'/g_j, a ← a − g a_j/g_j, then row and column j leave.
        const auto drop = static_cast<Index>(cheapest);
        const Vector g = detail::column_ref(inverse, drop);
        const Matrix dropped = detail::rows_of(a, {drop});
        detail::add_outer(a, -1.0 / g(drop), g.data(), dropped.data());
        detail::add_outer(inverse, -1.0 / g(drop), g.data(), g.data());
        std::vector<Index> rest(kept.size() - 1);
        for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = static_cast<Index>(j < cheapest ? j : j + 1);
        inverse = detail::entries_of(inverse, rest, rest);
        a = detail::rows_of(a, rest);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(cheapest));
    }
    return kept;
}

}  // namespace kernelet
