#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/dual/node_values.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// P = rest·I + V'V, an estimate from above of K = ∫ k(x_i, ·) k(x_j, ·) dρ: the matrix that takes the place of 1/η_λ. K is
/// numerically singular, its eigenvalues fall by many decades: with one number for all directions, a supergradient method
/// crawls along most of them. Here V'V carries the leading eigenvalues, and `rest` bounds the others.
struct SketchedMetric {
    Matrix factor{};   ///< V, r x n
    Matrix gram{};     ///< VV', its lower triangle
    double rest{};     ///< at least the largest eigenvalue of K − V'V
    double largest{};  ///< at most the largest eigenvalue of K, nearly

    void set_factor(Matrix v) {
        factor = std::move(v);
        gram = Matrix::Zero(factor.rows(), factor.rows());
        detail::rank_update(gram, factor);
    }
};

namespace detail {

/// ΩK for rows Ω, r x n, on nodes. O(n B) kernel values and O(r n B) multiplications.
template <class Problem>
Matrix gram_rows(const NodeValues<Problem>& values, const Vector& weights, const Matrix& rows) {
    return values.values(with_scaled_columns(values.field(rows), weights.data()));
}

/// V = L⁻¹ΩK with ΩKΩ' = LL', so that V'V = KΩ'(ΩKΩ')⁻¹ΩK ≤ K is Nyström's approximation from the rows of Ω. `image` is
/// ΩK. The diagonal is raised until the factorisation succeeds.
inline Matrix nystrom_factor(const Matrix& rows, Matrix image) {
    const Index r = rows.rows();
    const Matrix gram = product_nt(image, rows);
    double trace = 0.0;
    for (Index i = 0; i < r; ++i) trace += gram(i, i);
    constexpr double rounding = 1e-13, least = 1e-300;
    for (double ridge = rounding * trace / static_cast<double>(r) + least; std::isfinite(ridge);
         ridge *= 100.0) {
        Matrix factor = gram;
        add_to_diagonal(factor, ridge);
        if (!cholesky(factor)) continue;
        solve_lower(factor, image);
        return image;
    }
    return Matrix::Zero(r, rows.cols());
}

/// An estimate, seldom above it, of the largest eigenvalue of K − V'V, by power iterations from a random vector.
template <class Problem>
double largest_left(const NodeValues<Problem>& values, const Vector& weights, const Matrix& factor,
                    Matrix v) {
    constexpr int power_iterations = 4;
    double largest = 0.0;
    for (int iteration = 0; iteration < power_iterations; ++iteration) {
        const double length = norm(v);
        if (!(length > 0.0)) break;
        scale(v, 1.0 / length);
        Matrix next = gram_rows(values, weights, v);
        if (factor.rows() > 0) add_product(next, product_nt(v, factor), factor, -1.0);
        v = std::move(next);
        largest = norm(v);
    }
    return largest;
}

}  // namespace detail

/// A metric from `rank` random combinations of the samples and one subspace iteration (Halko, Martinsson, Tropp 2011;
/// Nyström's form of Tropp, Yurtsever, Udell, Cevher 2017). All nodes are used: K on a part of them differs from K by more
/// than its small eigenvalues. The estimate of `rest` may be low: the caller checks it along its steps.
/// O(r n (r + B)) and 28 passes over samples and nodes.
template <class Problem>
SketchedMetric sketched_metric(const Problem& problem, const Vector& weights,
                               const NodeValues<Problem>& values, Index rank) {
    constexpr std::uint64_t stream = 71;
    constexpr double room = 1.5;  // over four power iterations, which end below the largest eigenvalue
    // `rest` divides differences of predictions: below this fraction of the largest eigenvalue they are rounding.
    constexpr double least_rest = 1e-5;
    const detail::CounterRandom random(problem.seed, stream);
    const Index n = problem.samples(), r = std::min(rank, (n + 1) / 2);
    Matrix rows(r + 1, n);
    for (Index k = 0; k < rows.size(); ++k) rows(k) = random.normal(static_cast<std::uint64_t>(k));
    const Matrix probe = detail::ConstBlock(rows).part(r, 0, 1, n).copied();
    rows = detail::ConstBlock(rows).part(0, 0, r, n).copied();
    SketchedMetric out;
    for (int pass = 0; pass < 2; ++pass)
        rows = detail::nystrom_factor(rows, detail::gram_rows(values, weights, rows));
    const Matrix none(0, n);
    out.largest = std::max(detail::largest_left(values, weights, none, Matrix::Ones(1, n)),
                           detail::largest_left(values, weights, none, probe));
    out.rest = std::max(room * detail::largest_left(values, weights, rows, probe), least_rest * out.largest);
    out.set_factor(std::move(rows));
    return out;
}

}  // namespace kernelet
