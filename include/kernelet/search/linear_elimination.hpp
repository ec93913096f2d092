#pragma once

#include <kernelet/search/least_squares.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// G⁻¹ and the coefficients a = G⁻¹ Φ'Wy of a least-squares problem without a trend. O(n K² + K³).
template <class Scalar = double>
std::pair<Matrix, Matrix> inverse_and_coefficients(LeastSquaresProblem problem, const Matrix& nodes) {
    constexpr double rounding = 1e-12;  // of the Gram matrix, squared conditioning included
    problem.trend = Trend::none;
    const Index k = nodes.cols();
    const Matrix triangle = triangular_factor<Scalar>(problem, nodes);
    const ConstBlock left = ConstBlock(triangle).columns(0, k);
    Matrix gram = Matrix::Zero(k, k), inverse = Matrix::Identity(k, k);
    rank_update_tn<Scalar>(gram, left);
    double largest = 0.0;
    for (Index j = 0; j < k; ++j) largest = std::max(largest, gram(j, j));
    add_to_diagonal(gram, problem.ridge * sum<Scalar>(problem.weights) + rounding * largest);
    ldlt_solve<Scalar>(gram, inverse);
    Matrix a =
        product<Scalar>(inverse, product_tn<Scalar>(left, ConstBlock(triangle).columns(k, problem.y.rows())));
    return {std::move(inverse), std::move(a)};
}

/// The row j of least ‖a_j‖²/(G⁻¹)_jj.
inline Index cheapest_row(const Matrix& inverse, const Matrix& a) {
    Index cheapest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < a.rows(); ++j) {
        double squares = 0.0;
        for (Index o = 0; o < a.cols(); ++o) squares += a(j, o) * a(j, o);
        if (const double cost = squares / inverse(j, j); cost < least) {
            least = cost;
            cheapest = j;
        }
    }
    return cheapest;
}

}  // namespace detail

/// The kernels, ascending, that backward elimination by least squares keeps where at most `count` may stay; no node
/// moves. The removal of kernel j raises the squared error by exactly ‖a_j‖²/(G⁻¹)_jj; the cheapest is removed and
/// G⁻¹ downdated. O(n K² + K³).
template <class Scalar = double>
std::vector<Index> linear_elimination(const LeastSquaresProblem& problem, const Matrix& nodes, Index count) {
    std::vector<Index> kept(static_cast<std::size_t>(nodes.cols()));
    std::iota(kept.begin(), kept.end(), Index{0});
    if (nodes.cols() <= count) return kept;
    auto [inverse, a] = detail::inverse_and_coefficients<Scalar>(problem, nodes);
    while (static_cast<Index>(kept.size()) > count) {
        // Block elimination of row j: G⁻¹ ← G⁻¹ − g g'/g_j, a ← a − g a_j/g_j, then row and column j leave.
        const Index removed = detail::cheapest_row(inverse, a);
        const Vector g = detail::column_ref(inverse, removed);
        const Matrix its = detail::rows_of<Scalar>(a, {removed});
        detail::add_outer<Scalar>(a, -1.0 / g(removed), g.data(), its.data());
        detail::add_outer<Scalar>(inverse, -1.0 / g(removed), g.data(), g.data());
        std::vector<Index> rest;
        for (Index j = 0; j < a.rows(); ++j)
            if (j != removed) rest.push_back(j);
        inverse = detail::entries_of<Scalar>(inverse, rest, rest);
        a = detail::rows_of<Scalar>(a, rest);
        kept.erase(kept.begin() + removed);
    }
    return kept;
}

}  // namespace kernelet
