#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/dense_spectrum.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace dense_test {

using namespace kernelet::detail;
using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using support::normals;
using support::same_bits;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Around the width of the blocks, 32, and none at all.
const std::vector<Index> sizes{0, 1, 2, 31, 32, 33, 70};

/// A matrix as a block of a larger one, surrounded by NaN: what reads outside of the block shows it.
class Embedded {
public:
    explicit Embedded(const Matrix& values)
        : rows_(values.rows()), cols_(values.cols()), whole_(Matrix::Constant(rows_ + 5, cols_ + 3, nan)) {
        whole_.block(3, 2, rows_, cols_) = values;
    }

    Block block() { return Block(whole_).part(3, 2, rows_, cols_); }
    Matrix values() const { return whole_.block(3, 2, rows_, cols_); }
    /// Whether nothing was written outside of the block.
    bool intact() const {
        Index written = 0;
        for (Index j = 0; j < whole_.cols(); ++j)
            for (Index i = 0; i < whole_.rows(); ++i) written += std::isnan(whole_(i, j)) ? 0 : 1;
        return written == rows_ * cols_;
    }

private:
    Index rows_, cols_;
    Matrix whole_;
};

/// max |a_ij − b_ij|; infinite where the shapes differ or an entry is not finite.
double difference(const Matrix& a, const Matrix& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (Index k = 0; k < a.size(); ++k) {
        const double gap = std::abs(a.data()[k] - b.data()[k]);
        if (!std::isfinite(gap)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, gap);
    }
    return largest;
}

double size_of(const Matrix& a) { return a.size() > 0 ? a.norm() : 0.0; }

/// A with its strict upper triangle replaced by NaN.
Matrix lower_only(Matrix a) {
    a.triangularView<Eigen::StrictlyUpper>().setConstant(nan);
    return a;
}

Matrix lower_of(const Matrix& a) { return a.triangularView<Eigen::Lower>(); }
Matrix symmetric_from_lower(const Matrix& a) { return a.selfadjointView<Eigen::Lower>(); }

/// An orthogonal matrix.
Matrix rotation(Index n, std::uint64_t seed) {
    if (n == 0) return Matrix(0, 0);
    return Eigen::HouseholderQR<Matrix>(normals(n, n, seed)).householderQ();
}

/// A symmetric matrix with these eigenvalues.
Matrix with_spectrum(const Vector& values, std::uint64_t seed) {
    const Matrix q = rotation(values.size(), seed);
    const Matrix a = q * values.asDiagonal() * q.transpose();
    return 0.5 * (a + a.transpose());
}

Vector logarithmic(Index n, double from, double to) {
    Vector values(n);
    for (Index i = 0; i < n; ++i)
        values(i) =
            from * std::pow(to / from, n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.0);
    return values;
}

TEST_CASE("a view names rows, columns and runs", "[dense]") {
    Matrix a = normals(7, 5, 1);
    const Block block = Block(a).part(2, 1, 3, 4);
    CHECK(block.size() == 12);
    CHECK(block(1, 2) == a(3, 3));
    CHECK(block.column(3) == &a(2, 4));
    CHECK(block.columns(2, 2)(0, 1) == a(2, 4));
    CHECK_FALSE(block.contiguous());
    CHECK(block.columns(2, 1).contiguous());
    CHECK(ConstBlock(a).contiguous());
    CHECK(ConstBlock(a.block(2, 1, 3, 4))(1, 2) == a(3, 3));
    CHECK(ConstBlock(a.col(3).segment(1, 4))(2, 0) == a(3, 3));
    CHECK(ConstBlock(Matrix(0, 0)).size() == 0);
    Block(a.middleCols(1, 2))(4, 1) = 9.0;
    CHECK(a(4, 2) == 9.0);
}

TEST_CASE("sums over entries, rows and columns", "[dense]") {
    for (const Index rows : sizes)
        for (const Index cols : sizes) {
            const Matrix a = normals(rows, cols, 2), b = normals(rows, cols, 3);
            Embedded ea(a), eb(b);
            CAPTURE(rows, cols);
            for (const bool embedded : {false, true}) {
                const ConstBlock va = embedded ? ConstBlock(ea.block()) : ConstBlock(a);
                const ConstBlock vb = embedded ? ConstBlock(eb.block()) : ConstBlock(b);
                const double count = static_cast<double>(std::max<Index>(1, a.size()));
                const double bound = 1e-13 * count;
                CHECK(dot(va, vb) == Approx(a.cwiseProduct(b).sum()).margin(bound));
                CHECK(dot(va, ConstBlock(b)) == Approx(a.cwiseProduct(b).sum()).margin(bound));
                CHECK(squared_norm(va) == Approx(a.squaredNorm()));
                CHECK(norm(va) == Approx(a.norm()));
                CHECK(sum(va) == Approx(a.sum()).margin(bound));
                CHECK(root_mean_square(va) == Approx(a.norm() / std::sqrt(count)));
                CHECK(max_abs(va) == (a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0.0));
                if (a.size() == 0) {  // of which Eigen's own expressions point nowhere
                    CHECK(column_norms(va).size() == cols);
                    CHECK(row_norms(va).size() == rows);
                    CHECK(row_sums(va).isZero(0.0));
                    continue;
                }
                CHECK(difference(column_norms(va), a.colwise().norm().transpose()) <= bound);
                CHECK(difference(row_norms(va), a.rowwise().norm()) <= bound);
                CHECK(difference(row_sums(va), a.rowwise().sum()) <= bound);
                double largest = 0.0;
                for (Index j = 0; j < cols; ++j) {
                    CHECK(column_squares(va, j) == Approx(a.col(j).squaredNorm()));
                    CHECK(column_norm(va, j) == Approx(a.col(j).norm()));
                    largest = std::max(largest, a.col(j).norm());
                }
                CHECK(largest_column_norm(va) == Approx(largest));
                CHECK(any_nonzero(va) == (a.size() > 0));
                CHECK(all_finite(va));
            }
            CHECK_FALSE(any_nonzero(Matrix(Matrix::Zero(rows, cols))));
            if (a.size() == 0) continue;
            Matrix one = Matrix::Zero(rows, cols);
            one(rows - 1, cols - 1) = -1e-300;
            CHECK(any_nonzero(one));
            for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
                one(rows - 1, cols - 1) = bad;
                CHECK_FALSE(all_finite(one));
            }
        }
}

TEST_CASE("changes of single entries", "[dense]") {
    for (const Index rows : sizes)
        for (const Index cols : {Index{0}, Index{1}, Index{3}, Index{33}}) {
            const Matrix a = normals(rows, cols, 4), b = normals(rows, cols, 5);
            const Vector v = normals(rows, 1, 6), w = normals(cols, 1, 7);
            CAPTURE(rows, cols);
            Embedded changed(b), from(a);
            add_scaled(changed.block(), 0.7, from.block());
            CHECK(difference(changed.values(), b + 0.7 * a) <= 1e-14);
            scale(changed.block(), -2.0);
            CHECK(difference(changed.values(), -2.0 * b - 1.4 * a) <= 1e-13);
            scale_rows(changed.block(), v.data(), from.block(), 3.0);
            CHECK(difference(changed.values(), 3.0 * (v.asDiagonal() * a)) <= 1e-13);
            scale_rows(from.block(), v.data(), from.block());
            CHECK(difference(from.values(), v.asDiagonal() * a) <= 1e-14);
            copy(from.block(), changed.block());
            CHECK(same_bits(changed.values(), from.values()));
            add_to_rows(changed.block(), v);
            CHECK(difference(changed.values(), (v.asDiagonal() * a).colwise() + v) <= 1e-14);
            fill(changed.block(), 0.5);
            add_to_diagonal(changed.block(), 2.0);
            Matrix expected = Matrix::Constant(rows, cols, 0.5);
            expected.diagonal().array() += 2.0;
            CHECK(same_bits(changed.values(), expected));
            CHECK((changed.intact() && from.intact()));
            CHECK(same_bits(with_scaled_columns(a, w.data()), a * w.asDiagonal()));
        }
}

TEST_CASE("parts of a matrix", "[dense]") {
    const std::vector<Index> few{4, 0, 4, 2}, others{1, 5};
    for (const Index cols : {6, 33}) {
        const Matrix a = normals(7, cols, 9);
        Embedded embedded(a);
        const ConstBlock view = embedded.block();
        CHECK(same_bits(transposed(view), a.transpose()));
        CHECK(same_bits(columns_of(view, few), a(Eigen::all, few)));
        CHECK(same_bits(rows_of(view, few), a(few, Eigen::all)));
        CHECK(same_bits(entries_of(view, few, others), a(few, others)));
        CHECK(same_bits(entries_of(Vector(a.col(1)), few), Vector(a.col(1))(few)));
        CHECK(columns_of(view, {}).rows() == 7);
        CHECK(rows_of(view, {}).cols() == cols);
        Matrix both(7, cols + 2);
        both << a, a.leftCols(2);
        CHECK(same_bits(beside(view, a.leftCols(2)), both));
    }
    for (const Index n : sizes) {
        const Matrix a = normals(n, n, 10);
        Embedded embedded(lower_only(a));
        mirror_lower(embedded.block());
        CHECK(same_bits(embedded.values(), symmetric_from_lower(a)));
    }
}

TEST_CASE("products are Eigen's", "[dense]") {
    for (const Index rows : sizes)
        for (const Index cols : {0, 1, 2, 33})
            for (const Index depth : {0, 1, 31, 70, 191, 192, 193, 500}) {
                const Matrix a = normals(rows, depth, 11), b = normals(depth, cols, 12);
                const Matrix c = normals(rows, cols, 13), expected = c - 0.3 * (a * b);
                const double bound = 1e-13 * (1.0 + static_cast<double>(depth));
                CAPTURE(rows, cols, depth);
                Embedded ea(a), et(a.transpose()), eb(b), sum(c);
                add_product(sum.block(), ea.block(), eb.block(), -0.3);
                CHECK(difference(sum.values(), expected) <= bound);
                CHECK(sum.intact());
                Embedded again(c);
                add_product_tn(again.block(), et.block(), eb.block(), -0.3);
                CHECK(difference(again.values(), expected) <= bound);
                CHECK(again.intact());
                CHECK(difference(product(a, b), a * b) <= bound);
                CHECK(difference(product_tn(et.block(), b), a * b) <= bound);
                CHECK(difference(product_nt(ea.block(), Matrix(b.transpose())), a * b) <= bound);
                if (cols == 0) continue;
                Vector y = c.col(0);
                add_matrix_vector(y.data(), ea.block(), b.data());
                CHECK(difference(y, c.col(0) + a * b.col(0)) <= bound);
            }
    // A row that is one run of numbers, and one that is not.
    const Matrix row = normals(1, 40, 14), x = normals(40, 1, 15);
    Embedded strided(row);
    double dense = 1.0, sparse = 1.0;
    add_matrix_vector(&dense, row, x.data());
    add_matrix_vector(&sparse, strided.block(), x.data());
    CHECK(dense == Approx(1.0 + (row * x)(0, 0)));
    CHECK(sparse == Approx(dense));
}

TEST_CASE("updates of low rank", "[dense]") {
    for (const Index n : sizes)
        for (const Index depth : sizes) {
            const Matrix c = normals(n, n, 16), a = normals(n, depth, 17);
            const Matrix expected = lower_of(c + 0.4 * a * a.transpose());
            CAPTURE(n, depth);
            Embedded lower(lower_only(c)), transposed(lower_only(c)), ea(a), et(a.transpose());
            rank_update(lower.block(), ea.block(), 0.4);
            CHECK(difference(lower_of(lower.values()), expected) <= 1e-12);
            rank_update_tn(transposed.block(), et.block(), 0.4);
            CHECK(difference(lower_of(transposed.values()), expected) <= 1e-12);
            // The strict upper triangle is neither read nor written.
            for (Embedded* embedded : {&lower, &transposed})
                CHECK(same_bits(lower_only(embedded->values()).array().isNaN().cast<double>(),
                                embedded->values().array().isNaN().cast<double>()));
            if (depth == 0) continue;
            Embedded outer(c);
            const Vector x = normals(n, 1, 18), y = normals(n, 1, 19);
            add_outer(outer.block(), -1.5, x.data(), y.data());
            CHECK(difference(outer.values(), c - 1.5 * x * y.transpose()) <= 1e-13);
            CHECK(outer.intact());
        }
}

TEST_CASE("dense: the same bits with any number of threads", "[dense]") {
    // Eigen divides products of matrices among threads; from a depth of about 250 on in another order.
    const Matrix a = normals(70, 700, 20), b = normals(700, 60, 21), tall = normals(700, 120, 22);
    const Matrix definite = tall.transpose() * tall, right = normals(120, 9, 23);
    struct Results {
        Matrix plain, transposed, triangle, root, solution, vectors;
    };
    const auto on = [&](int count) {
        const support::Threads threads(count);
        Results r{product(a, b), product_tn(b, Matrix(a.transpose())), tall, definite, right, {}};
        triangularize(r.triangle);
        REQUIRE(cholesky(r.root));
        cholesky_solve(r.root, r.solution);
        r.vectors =
            symmetric_spectrum(product(tall, Matrix(tall.transpose())).topLeftCorner(300, 300)).vectors;
        return r;
    };
    const Results one = on(1);
    for (const int count : {2, 3, 4}) {
        const Results many = on(count);
        CAPTURE(count);
        CHECK(same_bits(many.plain, one.plain));
        CHECK(same_bits(many.transposed, one.transposed));
        CHECK(same_bits(many.triangle, one.triangle));
        CHECK(same_bits(many.root, one.root));
        CHECK(same_bits(many.solution, one.solution));
        CHECK(same_bits(many.vectors, one.vectors));
    }
}

TEST_CASE("triangular systems: X solves T X = B", "[dense]") {
    for (const Index n : sizes)
        for (const Index columns : {0, 1, 3, 40}) {
            Matrix triangle = normals(n, n, 24) / (1.0 + static_cast<double>(n));
            triangle.diagonal().array() += 2.0;
            const Matrix l = lower_of(triangle), b = normals(n, columns, 25);
            CAPTURE(n, columns);
            Embedded lower(lower_only(triangle)), upper(lower_only(triangle).transpose()), x(b), xt(b), xu(b);
            solve_lower(lower.block(), x.block());
            CHECK(difference(l * x.values(), b) <= 1e-13);
            solve_lower_transposed(lower.block(), xt.block());
            CHECK(difference(l.transpose() * xt.values(), b) <= 1e-13);
            solve_upper(upper.block(), xu.block());
            CHECK(difference(xu.values(), xt.values()) <= 1e-13);
            CHECK((x.intact() && xt.intact() && xu.intact()));
        }
}

TEST_CASE("Cholesky: L Lᵀ = A, and A⁻¹ from it", "[dense]") {
    for (const Index n : sizes)
        for (const double condition : {1.0, 1e3, 1e10}) {
            const Matrix a = with_spectrum(logarithmic(n, 1.0 / condition, 1.0), 26);
            const Matrix b = normals(n, 2, 27);
            CAPTURE(n, condition);
            Embedded factor(lower_only(a)), x(b);
            REQUIRE(cholesky(factor.block()));
            const Matrix l = lower_of(factor.values());
            CHECK(difference(l * l.transpose(), a) <= 1e-14);
            CHECK(difference(l, n > 0 ? Matrix(a.llt().matrixL()) : a) <= 1e-14 * condition);
            cholesky_solve(factor.block(), x.block());
            CHECK(difference(a * x.values(), b) <= 1e-13 * (1.0 + size_of(x.values())));
            CHECK(x.intact());
        }
}

TEST_CASE("Cholesky refuses what is not positive definite", "[dense]") {
    for (const Index n : {1, 2, 31, 32, 33, 70})
        for (const Index at : {Index{0}, n / 2, n - 1}) {
            CAPTURE(n, at);
            // Positive definite but for pivot number `at`.
            Matrix l = lower_of(normals(n, n, 28) / (1.0 + static_cast<double>(n)));
            l.diagonal().setOnes();
            for (const double pivot : {-1.0, -1e-3, nan}) {
                Vector d = Vector::Ones(n);
                d(at) = pivot;
                Matrix a = l * d.asDiagonal() * l.transpose();
                CHECK_FALSE(cholesky(a));
            }
            Matrix zero = Matrix::Zero(n, n);
            CHECK_FALSE(cholesky(zero));
        }
}

TEST_CASE("LDLᵀ solves definite and indefinite systems", "[dense]") {
    for (const Index n : sizes)
        for (const bool indefinite : {false, true})
            for (const double condition : {1.0, 1e6}) {
                Vector spectrum = logarithmic(n, 1.0 / condition, 1.0);
                if (indefinite)
                    for (Index i = 0; i < n; i += 2) spectrum(i) *= -1.0;
                const Matrix a = with_spectrum(spectrum, 29), b = normals(n, 3, 30);
                CAPTURE(n, indefinite, condition);
                Embedded factor(lower_only(a)), x(b);
                ldlt_solve(factor.block(), x.block());
                CHECK(x.intact());
                const double bound = indefinite ? 1e-9 : 1e-13;  // without 2 x 2 pivots entries may grow
                CHECK(difference(a * x.values(), b) <= bound * (1.0 + size_of(x.values())));
                if (n == 0) continue;
                const Matrix eigen = a.ldlt().solve(b);
                CHECK(difference(x.values(), eigen) <= bound * condition * (1.0 + size_of(eigen)));
            }
}

TEST_CASE("LDLᵀ of a singular matrix solves what can be solved", "[dense]") {
    for (const Index n : {1, 2, 31, 32, 33, 70})
        for (const Index rank : {Index{0}, Index{1}, n / 2, n - 1}) {
            const Matrix root = normals(n, std::min(rank, n), 31);
            const Matrix a = root * root.transpose(), b = a * normals(n, 2, 32);
            CAPTURE(n, rank);
            Matrix factor = lower_only(a), x = b;
            ldlt_solve(factor, x);
            REQUIRE(x.allFinite());
            CHECK(difference(a * x, b) <= 1e-10 * (1.0 + size_of(a)) * (1.0 + size_of(x)));
        }
    // Pivots that vanish exactly, whatever the right-hand side.
    Vector diagonal = Vector::LinSpaced(5, 0.0, 4.0);
    diagonal(3) = 0.0;
    Matrix a = diagonal.asDiagonal(), x = Matrix::Ones(5, 1);
    ldlt_solve(a, x);
    for (Index i = 0; i < 5; ++i)
        CHECK(x(i, 0) == (diagonal(i) > 0.0 ? Approx(1.0 / diagonal(i)) : Approx(0.0)));
}

TEST_CASE("a reflection keeps lengths and is its own inverse", "[dense]") {
    for (const Index n : {1, 2, 31, 32, 33, 70})
        for (const double first : {-2.0, 0.0, 2.0}) {
            Vector run = normals(n, 1, 33);
            run(0) = first;
            const Vector before = run, other = normals(n, 1, 34);
            const double tau = make_reflection(run.data(), n);
            CAPTURE(n, first);
            CHECK(std::abs(run(0)) == Approx(before.norm()).margin(1e-300));
            const auto reflected = [&](Vector v) {
                reflect(run.data(), tau, n, v.data());
                return v;
            };
            Vector expected = Vector::Zero(n);
            expected(0) = run(0);
            CHECK(difference(reflected(before), expected) <= 1e-14 * (1.0 + before.norm()));
            CHECK(reflected(other).norm() == Approx(other.norm()));
            CHECK(difference(reflected(reflected(other)), other) <= 1e-13);
        }
    Vector along = Vector::Zero(4);
    along(0) = -3.0;
    CHECK(make_reflection(along.data(), 4) == 0.0);
    CHECK(along(0) == -3.0);
}

TEST_CASE("a triangle R with RᵀR = AᵀA", "[dense]") {
    for (const Index rows : {0, 1, 2, 31, 32, 33, 70, 200})
        for (const Index cols : sizes)
            for (const bool deficient : {false, true}) {
                Matrix a = normals(rows, cols, 35);
                if (deficient && cols > 1) {
                    a.col(cols / 2).setZero();
                    a.col(cols - 1) = a.col(0);
                }
                CAPTURE(rows, cols, deficient);
                Embedded triangle(a);
                triangularize(triangle.block());
                CHECK(triangle.intact());
                const Matrix r = triangle.values();
                CHECK(Matrix(r.triangularView<Eigen::StrictlyLower>()).isZero(0.0));
                CHECK(difference(r.transpose() * r, a.transpose() * a) <=
                      1e-12 * (1.0 + static_cast<double>(rows)));
                if (deficient || a.size() == 0) continue;
                // Unique up to the sign of each row.
                const Matrix eigen =
                    Eigen::HouseholderQR<Matrix>(a).matrixQR().triangularView<Eigen::Upper>();
                CHECK(difference(r.cwiseAbs(), eigen.cwiseAbs()) <= 1e-10);
            }
}

bool is_permutation(std::vector<Index> order, Index n) {
    std::sort(order.begin(), order.end());
    for (Index i = 0; i < n; ++i)
        if (static_cast<Index>(order.size()) != n || order[static_cast<std::size_t>(i)] != i) return false;
    return true;
}

TEST_CASE("least squares of full rank", "[dense]") {
    for (const Index rows : {1, 2, 31, 33, 70, 150})
        for (const Index cols : sizes) {
            if (cols > rows) continue;
            const Matrix a = normals(rows, cols, 36), b = normals(rows, 2, 37);
            const PivotedSolution found = pivoted_least_squares(a, b, 1e-10);
            CAPTURE(rows, cols);
            CHECK(found.rank == cols);
            CHECK(is_permutation(found.order, cols));
            REQUIRE(found.solution.rows() == cols);
            REQUIRE(found.solution.cols() == 2);
            const double size = 1.0 + size_of(found.solution);
            CHECK(difference(a.transpose() * (a * found.solution), a.transpose() * b) <=
                  1e-12 * size * (1.0 + static_cast<double>(rows)));
            if (cols > 0 && rows > cols)
                CHECK(difference(found.solution, a.colPivHouseholderQr().solve(b)) <= 1e-9 * size);
        }
}

TEST_CASE("least squares of lower rank names the columns that count", "[dense]") {
    for (const Index rows : {2, 33, 70})
        for (const Index cols : {2, 31, 32, 70})
            for (const Index rank : {Index{0}, Index{1}, std::min(rows, cols) / 2, std::min(rows, cols)}) {
                // Columns of very different sizes beyond the first `rank` directions.
                const Matrix a = normals(rows, rank, 38) * normals(rank, cols, 39), b = normals(rows, 2, 40);
                const PivotedSolution found = pivoted_least_squares(a, b, 1e-10);
                CAPTURE(rows, cols, rank);
                CHECK(found.rank == rank);
                REQUIRE(is_permutation(found.order, cols));
                REQUIRE(found.solution.allFinite());
                for (Index i = rank; i < cols; ++i)
                    CHECK(found.solution.row(found.order[static_cast<std::size_t>(i)]).isZero(0.0));
                // The residual is orthogonal to the columns of A.
                const Matrix residual = a * found.solution - b;
                CHECK(difference(a.transpose() * residual, Matrix::Zero(cols, 2)) <=
                      1e-9 * (1.0 + size_of(a)) * (1.0 + size_of(b)));
            }
    // The threshold is relative to the largest pivot.
    Matrix a = Matrix::Zero(3, 3);
    a.diagonal() << 1e-5, 1e3, 1.0;
    const PivotedSolution found = pivoted_least_squares(a, Matrix::Ones(3, 1), 1e-6);
    CHECK(found.rank == 2);
    CHECK(found.order == std::vector<Index>{1, 2, 0});
    CHECK(found.solution(0, 0) == 0.0);
    CHECK(found.solution(1, 0) == Approx(1e-3));
    CHECK(found.solution(2, 0) == Approx(1.0));
}

/// A unit eigenvector of the largest eigenvalue, its largest entry positive.
void check_leading(const Matrix& a) {
    const Vector axis = leading_axis(a);
    const double top = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues().maxCoeff();
    REQUIRE(axis.size() == a.rows());
    CHECK(axis.norm() == Approx(1.0).epsilon(1e-12));
    CHECK(difference(a * axis, top * axis) <= 1e-12 * (1e-300 + a.norm()));
    CHECK(axis.maxCoeff() >= -axis.minCoeff());
}

TEST_CASE("the leading axis is an eigenvector of the largest eigenvalue", "[dense]") {
    CHECK(leading_axis(Matrix(0, 0)).size() == 0);
    for (const Index n : {1, 2, 3, 7, 31, 33}) {
        CAPTURE(n);
        const Vector spectrum = normals(n, 1, 41);
        check_leading(with_spectrum(spectrum, 42));
        check_leading(1e-8 * with_spectrum(spectrum, 42));
        check_leading(1e8 * with_spectrum(spectrum, 42));
        check_leading(with_spectrum(-spectrum.cwiseAbs(), 43));  // all negative
        check_leading(Matrix::Identity(n, n));
        check_leading(Matrix::Zero(n, n));
        check_leading(Matrix::Ones(n, n));  // all eigenvalues but one are zero
        check_leading(Matrix(spectrum.asDiagonal()));
        for (const double gap : {0.0, 1e-15, 1e-9}) {  // the largest several times over
            Vector degenerate = spectrum.cwiseMin(0.5);
            degenerate.head((n + 1) / 2).setOnes();
            degenerate(0) += gap;
            check_leading(with_spectrum(degenerate, 44));
        }
    }
}

TEST_CASE("the spectrum of a symmetric matrix", "[dense]") {
    CHECK(symmetric_spectrum(Matrix(0, 0)).values.size() == 0);
    for (const Index n : {1, 2, 3, 31, 32, 33, 34, 70, 200}) {
        Vector values = normals(n, 1, 45);
        if (n > 2) values(1) = values(0);
        const Matrix a = with_spectrum(values, 46);
        const SymmetricSpectrum found = symmetric_spectrum(lower_only(a));
        std::sort(values.begin(), values.end());
        CAPTURE(n);
        CHECK(difference(found.values, values) <= 1e-12);
        CHECK(difference(a * found.vectors, found.vectors * found.values.asDiagonal()) <= 1e-12);
        CHECK(difference(found.vectors.transpose() * found.vectors, Matrix::Identity(n, n)) <= 1e-12);
        CHECK(symmetric_one_norm(lower_only(a)) == Approx(a.cwiseAbs().colwise().sum().maxCoeff()));
        for (const int exponent : {-1000, -500, 500, 1000}) {  // the squares of the entries are no doubles
            const double unit = std::ldexp(1.0, exponent);
            const SymmetricSpectrum scaled = symmetric_spectrum(unit * a);
            CHECK(difference(scaled.values / unit, values) <= 1e-12);
            CHECK(difference(a * scaled.vectors, scaled.vectors * values.asDiagonal()) <= 1e-12);
        }
        const SymmetricSpectrum zero = symmetric_spectrum(Matrix::Zero(n, n));
        CHECK(zero.values.isZero(0.0));
        CHECK(same_bits(zero.vectors, Matrix::Identity(n, n)));
        Matrix diagonal = values.reverse().asDiagonal();
        CHECK(difference(symmetric_spectrum(diagonal).values, values) <= 1e-15);
    }
    // Singular to rounding: the Gram matrix of a smooth kernel.
    Matrix gram(150, 150);
    for (Index j = 0; j < 150; ++j)
        for (Index i = 0; i < 150; ++i) gram(i, j) = std::exp(-1e-3 * static_cast<double>((i - j) * (i - j)));
    const SymmetricSpectrum found = symmetric_spectrum(gram);
    CHECK(difference(gram * found.vectors, found.vectors * found.values.asDiagonal()) <= 1e-12);
    CHECK(difference(found.vectors.transpose() * found.vectors, Matrix::Identity(150, 150)) <= 1e-12);
}

TEST_CASE("the condition is estimated from the safe side, within a factor", "[dense]") {
    for (const Index n : {1, 2, 3, 31, 33, 70})
        for (const double condition : {1.0, 1e4, 1e12})
            for (std::uint64_t seed = 50; seed < 60; ++seed) {
                const Matrix a = with_spectrum(logarithmic(n, 1.0, n > 1 ? condition : 1.0), seed);
                Matrix l = a;
                REQUIRE(cholesky(l));
                const double size = symmetric_one_norm(a);
                const double estimate = reciprocal_condition(l, size);
                Matrix inverse = Matrix::Identity(n, n);
                cholesky_solve(l, inverse);
                const double exact = 1.0 / (size * inverse.cwiseAbs().colwise().sum().maxCoeff());
                CAPTURE(n, condition, seed);
                CHECK(estimate >= exact * (1.0 - 1e-6));
                CHECK(estimate <= 3.0 * exact);
                CHECK(estimate <= a.llt().rcond() * (1.0 + 1e-3));
            }
    CHECK(reciprocal_condition(Matrix(Matrix::Ones(1, 1)), 0.0) == 0.0);
    CHECK(reciprocal_condition(Matrix(Matrix::Constant(1, 1, 3.0)), 9.0) == 1.0);
}

}  // namespace dense_test
