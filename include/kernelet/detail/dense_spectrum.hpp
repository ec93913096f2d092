#pragma once

#include <kernelet/detail/dense.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

/// Eigenvalues of symmetric matrices and the condition of definite ones. The only header that includes
/// <Eigen/Eigenvalues>.
namespace kernelet::detail {

/// A = V diag(values) Vᵀ with V orthogonal.
struct SymmetricSpectrum {
    Vector values{};   ///< in ascending order
    Matrix vectors{};  ///< one eigenvector per column, of length one
};

/// A = Q T Qᵀ with T tridiagonal and Q = H_0 H_1 ..., H_k = I − τ_k v_k v_kᵀ.
struct Tridiagonal {
    Vector diagonal{};
    Vector below{};  ///< the n − 1 entries next to the diagonal
    Vector tau{};    ///< n − 1
};

/// Reduces the symmetric matrix whose lower triangle is in `a` to tridiagonal form (Golub and Van Loan,
/// 8.3.1). Leaves v_k = (1, tail) in column k: the tail below row k + 1. O(4n³/3).
template <class Scalar = double>
[[gnu::noinline]] Tridiagonal tridiagonalize(const Block& a) {
    const Index n = a.rows, steps = std::max<Index>(n - 1, 0);
    Tridiagonal t{Vector(n), Vector(steps), Vector(steps)};
    Vector v(n), w(n);
    for (Index k = 0; k < steps; ++k) {
        const Index m = n - k - 1;
        double* run = a.column(k) + k + 1;
        const double tau = t.tau(k) = make_reflection<Scalar>(run, m);
        t.below(k) = run[0];
        if (tau == 0.0) continue;
        std::copy_n(run, m, v.data());
        v(0) = 1.0;
        // w = τ A v, then w ← w − ½τ(wᵀv) v and A ← A − v wᵀ − w vᵀ, all on the lower triangle of the rest.
        const Block rest = a.part(k + 1, k + 1, m, m);
        const auto from = [m](Vector& x, Index j) { return Block(x.data() + j, m - j, 1, m); };
        fill(from(w, 0), 0.0);
        for (Index j = 0; j < m; ++j) {
            const Block column = rest.part(j, j, m - j, 1);
            w(j) += dot_run<Scalar>(column.data + 1, v.data() + j + 1, m - j - 1);
            add_scaled<Scalar>(from(w, j), v(j), column);
        }
        scale<Scalar>(from(w, 0), tau);
        add_scaled<Scalar>(from(w, 0), -0.5 * tau * dot_run<Scalar>(w.data(), v.data(), m), from(v, 0));
        for (Index j = 0; j < m; ++j)
            RunMap<Scalar>(rest.column(j) + j, m - j) -= w(j) * ConstRunMap<Scalar>(v.data() + j, m - j) +
                                                         v(j) * ConstRunMap<Scalar>(w.data() + j, m - j);
    }
    for (Index i = 0; i < n; ++i) t.diagonal(i) = a(i, i);
    return t;
}

/// X ← Q X, from what tridiagonalize() left in `a`; by blocks of reflections H_f H_f+1 ... = I − V T Vᵀ
/// (Schreiber and Van Loan 1989), the last block first. O(2n³) for n columns.
template <class Scalar = double>
[[gnu::noinline]] void apply_tridiagonalizer(const ConstBlock& a, const Vector& tau, const Block& x) {
    constexpr Index width = 32;
    const Index steps = tau.size();
    for (Index first = (steps - 1) / width * width; first >= 0 && steps > 0; first -= width) {
        const Index k = std::min(width, steps - first), tall = steps - first;
        Matrix v = Matrix::Zero(tall, k), t = Matrix::Zero(k, k);  // t is Tᵀ
        for (Index c = 0; c < k; ++c) {
            v(c, c) = 1.0;
            std::copy_n(a.column(first + c) + first + c + 2, tall - c - 1, v.data() + c * tall + c + 1);
            // column c of T: −τ T Vᵀv_c above the diagonal, τ on it
            t(c, c) = tau(first + c);
            for (Index l = 0; l < c; ++l) {
                const double along =
                    -t(c, c) * dot_run<Scalar>(v.data() + l * tall + c, v.data() + c * tall + c, tall - c);
                for (Index i = 0; i <= l; ++i) t(c, i) += along * t(l, i);
            }
        }
        const Block rest = x.part(first + 1, 0, tall, x.cols);
        add_product<Scalar>(rest, v, product_tn<Scalar>(t, product_tn<Scalar>(v, rest)), -1.0);
    }
}

/// Returns the eigenvalues and eigenvectors of a symmetric matrix, of which the lower triangle is read.
/// O(n³). Only the iteration on the tridiagonal matrix is Eigen's: it takes g++ 0.3 s to compile, Eigen's
/// reduction to tridiagonal form another 4.5 s.
template <class Scalar = double>
[[gnu::noinline]] SymmetricSpectrum symmetric_spectrum(Matrix a) {
    using DenseMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    double unit = 0.0;  // squares of a/unit neither overflow nor vanish
    for (Index j = 0; j < a.cols(); ++j)
        unit = std::max(unit, max_abs(ConstBlock(a).part(j, j, a.rows() - j, 1)));
    if (!(unit > 0.0)) unit = 1.0;
    for (double* entry = a.data(); entry != a.data() + a.size(); ++entry) *entry /= unit;
    const Tridiagonal t = tridiagonalize<Scalar>(a);
    Eigen::SelfAdjointEigenSolver<DenseMatrix> solver;
    solver.computeFromTridiagonal(t.diagonal, t.below);
    SymmetricSpectrum spectrum{solver.eigenvalues(), solver.eigenvectors()};
    apply_tridiagonalizer<Scalar>(a, t.tau, spectrum.vectors);
    scale<Scalar>(spectrum.values, unit);
    return spectrum;
}

/// ‖A‖₁, the largest sum of absolute values in a column of a symmetric A, of which the lower triangle is
/// read. O(n²).
template <class Scalar = double>
double symmetric_one_norm(const ConstBlock& a) {
    Vector sums = Vector::Zero(a.rows);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = j; i < a.rows; ++i) {
            const double size = std::abs(a(i, j));
            sums(j) += size;
            if (i != j) sums(i) += size;
        }
    return max_abs(sums);
}

/// Estimates ‖A⁻¹‖₁ from the Cholesky factor L of A, never above it and seldom below a third of it (Hager
/// 1984; Higham 1988, algorithm 4.1): ascends ‖A⁻¹v‖₁ over the vertices v = e_j of the unit ball along its
/// gradient A⁻¹ sign(A⁻¹v). O(n²), at most 10 solves.
template <class Scalar = double>
[[gnu::noinline]] double inverse_one_norm(const ConstBlock& l) {
    constexpr int most_steps = 4;
    const Index n = l.rows;
    const auto solve = [&](Vector& v) {  // v ← A⁻¹v; returns its one-norm
        cholesky_solve<Scalar>(l, v);
        double size = 0.0;
        for (Index i = 0; i < n; ++i) size += std::abs(v(i));
        return size;
    };
    Vector v(n), sign(n);
    fill(v, 1.0 / static_cast<double>(n));
    double estimate = solve(v);
    if (n <= 1) return estimate;
    Index vertex = -1;
    for (int step = 0; step < most_steps; ++step) {
        bool same_signs = step > 0;
        for (Index i = 0; i < n; ++i) {
            const double now = v(i) < 0.0 ? -1.0 : 1.0;
            same_signs = same_signs && now == sign(i);
            sign(i) = now;
        }
        if (same_signs) break;
        v = sign;
        solve(v);
        Index steepest = 0;
        for (Index i = 1; i < n; ++i)
            if (std::abs(v(i)) > std::abs(v(steepest))) steepest = i;
        if (steepest == vertex) break;
        vertex = steepest;
        fill(v, 0.0);
        v(vertex) = 1.0;
        const double reached = solve(v);
        if (!(reached > estimate)) break;
        estimate = reached;
    }
    // Higham's second estimate, for matrices on which the ascent stops early by exact cancellation:
    // ‖A⁻¹v‖₁ / ‖v‖₁ of v_i = ±(1 + i/(n − 1)), whose one-norm is 3n/2.
    for (Index i = 0; i < n; ++i)
        v(i) = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + static_cast<double>(i) / static_cast<double>(n - 1));
    return std::max(estimate, 2.0 * solve(v) / (3.0 * static_cast<double>(n)));
}

/// Estimates 1/(‖A‖₁ ‖A⁻¹‖₁) from ‖A‖₁ and the Cholesky factor L of A; never below it. O(n²).
template <class Scalar = double>
double reciprocal_condition(const ConstBlock& l, double one_norm) {
    if (l.rows <= 1) return one_norm > 0.0 ? 1.0 : 0.0;
    const double inverse = inverse_one_norm<Scalar>(l);
    return inverse > 0.0 && one_norm > 0.0 ? 1.0 / inverse / one_norm : 0.0;
}

}  // namespace kernelet::detail
