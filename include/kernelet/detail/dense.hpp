#pragma once

#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/poll.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

/// Every matrix product, factorisation and triangular solve of the library (dense_spectrum.hpp has the eigenvalues
/// that only the baselines need). Compilers spend their time on Eigen's expression types: no other header writes a
/// product of matrices or names a decomposition, and `ctest -R symbols` counts what a fit instantiates.
namespace kernelet::detail {

// products

/// Terms that one product of Eigen's sums. With OpenMP Eigen cuts longer sums by the number of
/// threads, from 248 terms on (AVX, 32 KB of L1); shorter ones have the same bits for any number of threads.
inline constexpr Index product_depth = 192;

/// C ← C + s A B.
template <class Scalar = double>
[[gnu::noinline]] void add_product(const Block& c, const ConstBlock& a, const ConstBlock& b, double s = 1.0) {
    if (c.size() == 0) return;
    for (Index k = 0; k < a.cols; k += product_depth) {
        const Index depth = std::min(product_depth, a.cols - k);
        mapped<Scalar>(c).noalias() +=
            s * mapped<Scalar>(a.columns(k, depth)) * mapped<Scalar>(b.part(k, 0, depth, b.cols));
    }
}

/// C ← C + s Aᵀ B.
template <class Scalar = double>
[[gnu::noinline]] void add_product_tn(const Block& c, const ConstBlock& a, const ConstBlock& b,
                                      double s = 1.0) {
    if (c.size() == 0) return;
    for (Index k = 0; k < a.rows; k += product_depth) {
        const Index depth = std::min(product_depth, a.rows - k);
        mapped<Scalar>(c).noalias() += s * mapped<Scalar>(a.part(k, 0, depth, a.cols)).transpose() *
                                       mapped<Scalar>(b.part(k, 0, depth, b.cols));
    }
}

template <class Scalar = double>
Matrix product(const ConstBlock& a, const ConstBlock& b) {
    Matrix c = Matrix::Zero(a.rows, b.cols);
    add_product<Scalar>(c, a, b);
    return c;
}
template <class Scalar = double>
Matrix product_tn(const ConstBlock& a, const ConstBlock& b) {
    Matrix c = Matrix::Zero(a.cols, b.cols);
    add_product_tn<Scalar>(c, a, b);
    return c;
}
/// A Bᵀ, for a B that is small compared with the product.
template <class Scalar = double>
Matrix product_nt(const ConstBlock& a, const ConstBlock& b) {
    return product<Scalar>(a, transposed<Scalar>(b));
}

/// y ← y + A x for runs of numbers: a column at a time, so that nothing is packed. For the few rows of a
/// tile of outputs.
template <class Scalar = double>
void add_matrix_vector(double* y, const ConstBlock& a, const double* x) {
    if (a.rows == 1 && a.contiguous() && a.stride == 1) {
        *y += dot_run<Scalar>(a.data, x, a.cols);
        return;
    }
    for (Index j = 0; j < a.cols; ++j) {
        const double* column = a.column(j);
        for (Index i = 0; i < a.rows; ++i) y[i] += column[i] * x[j];
    }
}

/// C ← C + s x yᵀ.
template <class Scalar = double>
void add_outer(const Block& c, double s, const double* x, const double* y) {
    for (Index j = 0; j < c.cols; ++j) {
        double* column = c.column(j);
        const double factor = s * y[j];
        for (Index i = 0; i < c.rows; ++i) column[i] += factor * x[i];
    }
}

/// Runs body(first, count) over [0, size) in parts of about 64, on several threads where there are `work`
/// multiplications in all. The parts do not depend on the number of threads.
template <class Body>
void for_parts(Index size, Index work, const Body& body) {
    constexpr Index part = 64, multiplications_per_kernel_value = 16;
    const Index parts = std::max<Index>(1, size / part);
    parallel_for(
        parts,
        [&](Index k) {
            const Index first = k * size / parts;
            body(first, (k + 1) * size / parts - first);
        },
        work / multiplications_per_kernel_value);
}

/// Lower part of C ← C + s A Aᵀ.
template <class Scalar = double>
[[gnu::noinline]] void rank_update(const Block& c, const ConstBlock& a, double s = 1.0) {
    if (c.size() == 0 || a.cols == 0) return;
    for_parts(c.rows, c.rows * c.rows * a.cols / 2, [&](Index first, Index count) {
        const ConstBlock rows = a.part(first, 0, count, a.cols);
        mapped<Scalar>(c.part(first, first, count, count))
            .template selfadjointView<Eigen::Lower>()
            .rankUpdate(mapped<Scalar>(rows), s);
        const Index below = first + count;
        if (below == c.rows) return;
        add_product<Scalar>(c.part(below, first, c.rows - below, count),
                            a.part(below, 0, a.rows - below, a.cols), transposed<Scalar>(rows), s);
    });
}

/// Lower part of C ← C + s Aᵀ A.
template <class Scalar = double>
[[gnu::noinline]] void rank_update_tn(const Block& c, const ConstBlock& a, double s = 1.0) {
    if (c.size() == 0 || a.rows == 0) return;
    mapped<Scalar>(c).template selfadjointView<Eigen::Lower>().rankUpdate(mapped<Scalar>(a).transpose(), s);
}

// triangular systems

/// X ← L⁻¹ X, L the lower triangle.
template <class Scalar = double>
[[gnu::noinline]] void solve_lower(const ConstBlock& l, const Block& x) {
    if (x.size() == 0) return;
    for_parts(x.cols, l.rows * l.rows * x.cols / 2, [&](Index first, Index count) {
        DenseMap<Scalar> right = mapped<Scalar>(x.columns(first, count));
        mapped<Scalar>(l).template triangularView<Eigen::Lower>().solveInPlace(right);
    });
}

/// X ← L⁻ᵀ X.
template <class Scalar = double>
[[gnu::noinline]] void solve_lower_transposed(const ConstBlock& l, const Block& x) {
    if (x.size() == 0) return;
    for_parts(x.cols, l.rows * l.rows * x.cols / 2, [&](Index first, Index count) {
        DenseMap<Scalar> right = mapped<Scalar>(x.columns(first, count));
        mapped<Scalar>(l).transpose().template triangularView<Eigen::Upper>().solveInPlace(right);
    });
}

/// X ← U⁻¹ X, U the upper triangle. By columns: for the small triangles of a least-squares problem.
inline void solve_upper(const ConstBlock& u, const Block& x) {
    for (Index c = 0; c < x.cols; ++c)
        for (Index j = u.cols - 1; j >= 0; --j) {
            const double value = x(j, c) /= u(j, j);
            for (Index i = 0; i < j; ++i) x(i, c) -= value * u(i, j);
        }
}

// factorisations

/// X ← X L⁻ᵀ, by halves, so that nearly all of it is products.
template <class Scalar = double>
void solve_lower_right(const ConstBlock& l, const Block& x) {
    constexpr Index smallest = 16;
    const Index n = l.rows;
    if (n > smallest) {
        const Index half = n / 2;
        solve_lower_right<Scalar>(l.part(0, 0, half, half), x.columns(0, half));
        add_product<Scalar>(x.columns(half, n - half), x.columns(0, half),
                            transposed<Scalar>(l.part(half, 0, n - half, half)), -1.0);
        solve_lower_right<Scalar>(l.part(half, half, n - half, n - half), x.columns(half, n - half));
        return;
    }
    for (Index j = 0; j < n; ++j) {
        for (Index c = 0; c < j; ++c) add_scaled<Scalar>(x.columns(j, 1), -l(j, c), x.columns(c, 1));
        scale<Scalar>(x.columns(j, 1), 1.0 / l(j, j));
    }
}

/// A = L Lᵀ by halves, in place: reads and writes the lower triangle. False where a pivot is not positive; A is then
/// spoilt. Polls once per small block. O(n³/3).
template <class Scalar = double>
bool cholesky(const Block& a, const Poll& poll = {}) {
    constexpr Index smallest = 16;
    const Index n = a.rows;
    if (n > smallest) {
        const Index half = n / 2, rest = n - half;
        if (!cholesky<Scalar>(a.part(0, 0, half, half), poll)) return false;
        solve_lower_right<Scalar>(a.part(0, 0, half, half), a.part(half, 0, rest, half));
        rank_update<Scalar>(a.part(half, half, rest, rest), a.part(half, 0, rest, half), -1.0);
        return cholesky<Scalar>(a.part(half, half, rest, rest), poll);
    }
    poll();
    for (Index j = 0; j < n; ++j) {
        for (Index c = 0; c < j; ++c) {
            const double factor = a(j, c);
            const double* from = a.column(c);
            double* to = a.column(j);
            for (Index i = j; i < n; ++i) to[i] -= factor * from[i];
        }
        if (!(a(j, j) > 0.0)) return false;
        const double root = std::sqrt(a(j, j)), inverse = 1.0 / root;
        a(j, j) = root;
        for (Index i = j + 1; i < n; ++i) a(i, j) *= inverse;
    }
    return true;
}

/// X ← A⁻¹ X from the Cholesky factor L.
template <class Scalar = double>
void cholesky_solve(const ConstBlock& l, const Block& x) {
    solve_lower<Scalar>(l, x);
    solve_lower_transposed<Scalar>(l, x);
}

/// X ← A⁻¹ X for a symmetric A, of which the lower triangle is read and spoilt: P A Pᵀ = L D Lᵀ with the
/// largest pivot first (Golub and Van Loan, 4.2.8), which bears matrices that are singular up to rounding.
/// Where a pivot vanishes, so does that entry of the solution. Polls once per column. O(n³/3) and not blocked: for n
/// up to 1500.
template <class Scalar = double>
[[gnu::noinline]] void ldlt_solve(const Block& a, const Block& x, const Poll& poll = {}) {
    const Index n = a.rows;
    std::vector<Index> swapped(static_cast<std::size_t>(n));
    Vector scaled(n);
    for (Index k = 0; k < n; ++k) {
        poll();
        Index best = k;
        for (Index i = k + 1; i < n; ++i)
            if (std::abs(a(i, i)) > std::abs(a(best, best))) best = i;
        swapped[static_cast<std::size_t>(k)] = best;
        if (best != k) {
            for (Index j = 0; j < k; ++j) std::swap(a(k, j), a(best, j));
            for (Index i = best + 1; i < n; ++i) std::swap(a(i, k), a(i, best));
            for (Index i = k + 1; i < best; ++i) std::swap(a(i, k), a(best, i));
            std::swap(a(k, k), a(best, best));
            for (Index j = 0; j < x.cols; ++j) std::swap(x(k, j), x(best, j));
        }
        // a_k ← (a_k − L (D l_k)) / d_k, from row k on
        if (k > 0) {
            for (Index j = 0; j < k; ++j) scaled(j) = a(j, j) * a(k, j);
            add_product<Scalar>(a.part(k, k, n - k, 1), a.part(k, 0, n - k, k),
                                ConstBlock(scaled.data(), k, 1, n), -1.0);
        }
        const double pivot = a(k, k);
        if (std::abs(pivot) > 0.0) scale<Scalar>(a.part(k + 1, k, n - k - 1, 1), 1.0 / pivot);
    }
    for (Index c = 0; c < x.cols; ++c) {
        for (Index j = 0; j < n; ++j)  // L
            add_scaled<Scalar>(x.part(j + 1, c, n - j - 1, 1), -x(j, c), a.part(j + 1, j, n - j - 1, 1));
        for (Index i = 0; i < n; ++i)  // D
            x(i, c) = std::abs(a(i, i)) > std::numeric_limits<double>::min() ? x(i, c) / a(i, i) : 0.0;
        for (Index j = n - 1; j >= 0; --j)  // Lᵀ
            x(j, c) -= dot_run<Scalar>(a.column(j) + j + 1, x.column(c) + j + 1, n - j - 1);
        for (Index k = n - 1; k >= 0; --k) std::swap(x(k, c), x(swapped[static_cast<std::size_t>(k)], c));
    }
}

/// One Householder reflection H = I − τ v vᵀ, v = (1, tail), that maps a run of n numbers to (β, 0, ...).
/// `run` is left as (β, tail).
template <class Scalar = double>
double make_reflection(double* run, Index n) {
    const double tail = n > 1 ? dot_run<Scalar>(run + 1, run + 1, n - 1) : 0.0;
    if (!(tail > std::numeric_limits<double>::min())) return 0.0;
    const double beta = -std::copysign(std::sqrt(run[0] * run[0] + tail), run[0]);
    const double tau = (beta - run[0]) / beta;
    scale<Scalar>(Block(run + 1, n - 1, 1, n), 1.0 / (run[0] - beta));
    run[0] = beta;
    return tau;
}

/// `other` ← H other, for the reflection that make_reflection left in `run`.
template <class Scalar = double>
void reflect(const double* run, double tau, Index n, double* other) {
    if (tau == 0.0) return;
    const double along = tau * (other[0] + (n > 1 ? dot_run<Scalar>(run + 1, other + 1, n - 1) : 0.0));
    other[0] -= along;
    add_scaled<Scalar>(Block(other + 1, n - 1, 1, n), -along, ConstBlock(run + 1, n - 1, 1, n));
}

/// A ← R of A = QR, by blocks of reflections (I − V T Vᵀ, Schreiber and Van Loan 1989), zero below the
/// diagonal. O(m n²).
template <class Scalar = double>
[[gnu::noinline]] void triangularize(const Block& a) {
    constexpr Index width = 32;
    const Index m = a.rows, n = a.cols, steps = std::min(m, n);
    for (Index first = 0; first < steps; first += width) {
        const Index k = std::min(width, steps - first), tall = m - first;
        Matrix v = Matrix::Zero(tall, k), t = Matrix::Zero(k, k);
        for (Index c = 0; c < k; ++c) {
            const Index j = first + c, rest = m - j;
            double* run = a.column(j) + j;
            const double tau = make_reflection<Scalar>(run, rest);
            for (Index other = j + 1; other < first + k; ++other)
                reflect<Scalar>(run, tau, rest, a.column(other) + j);
            v(c, c) = 1.0;
            for (Index i = 1; i < rest; ++i) {
                v(c + i, c) = tau != 0.0 ? run[i] : 0.0;
                run[i] = 0.0;
            }
            // t_c = −τ T Vᵀv_c, above the diagonal τ
            t(c, c) = tau;
            Vector along(c);
            for (Index i = 0; i < c; ++i)
                along(i) = -tau * dot_run<Scalar>(v.data() + i * tall + c, v.data() + c * tall + c, tall - c);
            for (Index i = 0; i < c; ++i)
                for (Index l = i; l < c; ++l) t(i, c) += t(i, l) * along(l);
        }
        const Index right = n - first - k;
        if (right == 0) continue;
        const Block rest = a.part(first, first + k, tall, right);
        add_product<Scalar>(rest, v, product_tn<Scalar>(t, product_tn<Scalar>(v, rest)), -1.0);
    }
}

/// The solution of a least-squares problem with column pivoting.
struct PivotedSolution {
    std::vector<Index> order{};  ///< the columns as the pivots took them
    Index rank{};                ///< how many of them count
    Matrix solution{};           ///< columns x right-hand sides, zero for columns beyond the rank
};

/// argmin over X of ‖A X − B‖, by reflections with the largest remaining column first (Businger and Golub
/// 1965); columns whose pivot is below `threshold` of the largest do not count. Column norms are recomputed
/// at each step: O(m n²), for the small problems that triangularize() leaves.
template <class Scalar = double>
[[gnu::noinline]] PivotedSolution pivoted_least_squares(Matrix a, Matrix b, double threshold) {
    const Index m = a.rows(), n = a.cols(), steps = std::min(m, n);
    PivotedSolution out;
    for (Index j = 0; j < n; ++j) out.order.push_back(j);
    double largest = 0.0;
    for (Index j = 0; j < steps; ++j) {
        Index best = j;
        double most = -1.0;
        for (Index k = j; k < n; ++k) {
            const double size = dot_run<Scalar>(&a(j, k), &a(j, k), m - j);
            if (size > most) {
                most = size;
                best = k;
            }
        }
        if (best != j) {
            std::swap_ranges(&a(0, j), &a(0, j) + m, &a(0, best));
            std::swap(out.order[static_cast<std::size_t>(j)], out.order[static_cast<std::size_t>(best)]);
        }
        const double tau = make_reflection<Scalar>(&a(j, j), m - j);
        for (Index k = j + 1; k < n; ++k) reflect<Scalar>(&a(j, j), tau, m - j, &a(j, k));
        for (Index k = 0; k < b.cols(); ++k) reflect<Scalar>(&a(j, j), tau, m - j, &b(j, k));
        largest = std::max(largest, std::abs(a(j, j)));
    }
    while (out.rank < steps && std::abs(a(out.rank, out.rank)) > threshold * largest) ++out.rank;
    out.solution = Matrix::Zero(n, b.cols());
    solve_upper(ConstBlock(a.data(), out.rank, out.rank, m), Block(b.data(), out.rank, b.cols(), m));
    for (Index c = 0; c < b.cols(); ++c)
        for (Index i = 0; i < out.rank; ++i)
            out.solution(out.order[static_cast<std::size_t>(i)], c) = b(i, c);
    return out;
}

/// The eigenvector of the largest eigenvalue of a small symmetric matrix, by Jacobi's rotations. Its largest
/// entry is positive. O(n³) a sweep, about 6 sweeps.
template <class Scalar = double>
[[gnu::noinline]] Vector leading_axis(Matrix a) {
    constexpr int most_sweeps = 50;
    const Index n = a.rows();
    if (const double size = max_abs(a); size > 0.0) scale<Scalar>(a, 1.0 / size);  // squares stay finite
    Matrix v = Matrix::Identity(n, n);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double off = 0.0, on = 0.0;
        for (Index p = 0; p < n; ++p)
            for (Index q = 0; q < n; ++q) (p == q ? on : off) += a(p, q) * a(p, q);
        if (off <= std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon() * on)
            break;
        for (Index p = 0; p < n; ++p)
            for (Index q = p + 1; q < n; ++q) {
                if (a(p, q) == 0.0) continue;
                const double theta = (a(q, q) - a(p, p)) / (2.0 * a(p, q));
                const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(1.0, theta));
                const double c = 1.0 / std::hypot(1.0, t), s = t * c;
                const auto rotate = [&](double& x, double& y) {
                    const double before = x;
                    x = c * before - s * y;
                    y = s * before + c * y;
                };
                for (Index k = 0; k < n; ++k) rotate(a(k, p), a(k, q));
                for (Index k = 0; k < n; ++k) rotate(a(p, k), a(q, k));
                for (Index k = 0; k < n; ++k) rotate(v(k, p), v(k, q));
            }
    }
    Index best = 0;
    for (Index j = 1; j < n; ++j)
        if (a(j, j) > a(best, best)) best = j;
    Vector axis(n);
    Index peak = 0;
    for (Index i = 0; i < n; ++i) {
        axis(i) = v(i, best);
        if (std::abs(axis(i)) > std::abs(axis(peak))) peak = i;
    }
    if (n > 0 && axis(peak) < 0.0) scale<Scalar>(axis, -1.0);
    return axis;
}

}  // namespace kernelet::detail
