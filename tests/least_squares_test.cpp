#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/search/kernel_expansion.hpp>
#include <kernelet/search/least_squares.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <vector>

namespace least_squares_test {

using kernelet::Gaussian;
using kernelet::Index;
using kernelet::least_squares;
using kernelet::LeastSquaresFit;
using kernelet::LeastSquaresProblem;
using kernelet::Matrix;
using kernelet::Trend;
using kernelet::Vector;
using kernelet::detail::TiledPoints;

Matrix design(const Matrix& x, const Matrix& nodes) {
    const Index d = x.rows();
    Matrix k(x.cols(), nodes.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (Index j = 0; j < nodes.cols(); ++j)
            k(i, j) = std::exp(-(x.col(i) - nodes.col(j).head(d)).squaredNorm() /
                               (2.0 * nodes(d, j) * nodes(d, j)));
    return k;
}

/// K kernels one width apart on [0, 1]^d's diagonal: well conditioned.
Matrix apart(Index d, Index count) {
    Matrix nodes(d + 1, count);
    for (Index j = 0; j < count; ++j)
        nodes.col(j).head(d).setConstant((static_cast<double>(j) + 0.5) / static_cast<double>(count));
    nodes.row(d).setConstant(1.0 / static_cast<double>(count));
    return nodes;
}

/// The least-squares solution with the whole design matrix in memory.
Matrix dense(const Matrix& x, const Matrix& nodes, const Matrix& y, const Vector& weights, double ridge) {
    const Index n = x.cols(), k = nodes.cols();
    Matrix stacked = Matrix::Zero(n + k, k);
    Matrix target = Matrix::Zero(n + k, y.rows());
    stacked.topRows(n) = weights.cwiseSqrt().asDiagonal() * design(x, nodes);
    target.topRows(n) = weights.cwiseSqrt().asDiagonal() * y.transpose();
    stacked.bottomRows(k).diagonal().setConstant(std::sqrt(ridge * weights.sum()));
    return stacked.colPivHouseholderQr().solve(target);
}

LeastSquaresFit fitted(const Matrix& x, const Matrix& nodes, const Matrix& y, const Vector& weights,
                       double ridge) {
    const TiledPoints points(x);
    return least_squares({Gaussian{}, points, y, weights, ridge}, nodes);
}

TEST_CASE("coefficients are those of dense least squares", "[least_squares]") {
    for (const Index d : {1, 2})
        for (const Index n : {20, 64, 65, 333, 1000})
            for (const Index outputs : {1, 3})
                for (const double ridge : {0.0, 1e-3}) {
                    const auto seed = static_cast<std::uint64_t>(n + d);
                    const Matrix x = support::uniforms(d, n, seed);
                    const Matrix nodes = apart(d, 6);
                    const Matrix y = support::normals(outputs, n, seed + 1);
                    const Vector weights = support::uniforms(n, 1, seed + 2, 0.1, 5.0);
                    const LeastSquaresFit fit = fitted(x, nodes, y, weights, ridge);
                    const Matrix exact = dense(x, nodes, y, weights, ridge);
                    INFO("d " << d << ", n " << n << ", q " << outputs << ", ridge " << ridge);
                    CHECK(fit.redundant.empty());
                    REQUIRE(fit.coefficients.rows() == 6);
                    REQUIRE(fit.coefficients.cols() == outputs);
                    CHECK((fit.coefficients - exact).cwiseAbs().maxCoeff() <=
                          1e-9 * (1.0 + exact.cwiseAbs().maxCoeff()));
                }
}

TEST_CASE("the triangular factor holds the normal equations", "[least_squares]") {
    for (const Index n : {3, 31, 200}) {
        const Matrix x = support::uniforms(1, n, 3);
        const Matrix nodes = apart(1, 7);
        const Matrix y = support::normals(2, n, 4);
        const Vector weights = support::uniforms(n, 1, 5, 0.1, 5.0);
        const TiledPoints points(x);
        const Matrix r = kernelet::triangular_factor({Gaussian{}, points, y, weights}, nodes);
        Matrix all(n, 9);
        all << design(x, nodes), y.transpose();
        CHECK(r.rows() <= 9);
        CHECK((r.transpose() * r - all.transpose() * weights.asDiagonal() * all).cwiseAbs().maxCoeff() <=
              1e-11 * static_cast<double>(n));
        CHECK(r.triangularView<Eigen::StrictlyLower>().toDenseMatrix().isZero(0.0));
    }
}

TEST_CASE("with a ridge the gradient of the penalised sum vanishes", "[least_squares]") {
    const Matrix x = support::uniforms(1, 77, 6);
    const Matrix nodes = apart(1, 12);
    const Matrix y = support::normals(1, 77, 7);
    const Vector weights = support::uniforms(77, 1, 8, 0.5, 2.0);
    for (const double ridge : {1e-7, 1e-2, 10.0}) {
        const Matrix a = fitted(x, nodes, y, weights, ridge).coefficients;
        const Matrix phi = design(x, nodes);
        const Matrix gradient =
            phi.transpose() * weights.asDiagonal() * (phi * a - y.transpose()) + ridge * weights.sum() * a;
        CHECK(gradient.cwiseAbs().maxCoeff() <= 1e-9);
    }
}

TEST_CASE("planted coefficients are recovered", "[least_squares]") {
    const Matrix x = support::uniforms(2, 150, 9);
    const Matrix nodes = apart(2, 5);
    const Matrix truth = support::normals(5, 2, 10);
    const Matrix y = (design(x, nodes) * truth).transpose();
    const LeastSquaresFit fit = fitted(x, nodes, y, Vector::Ones(150), 0.0);
    CHECK((fit.coefficients - truth).cwiseAbs().maxCoeff() <= 1e-9);
}

TEST_CASE("a weight of three counts as the sample three times", "[least_squares]") {
    const Matrix x = support::uniforms(1, 30, 11);
    const Matrix y = support::normals(1, 30, 12);
    Vector weights = Vector::Ones(30);
    weights.head(10).setConstant(3.0);
    Matrix repeated_x(1, 50), repeated_y(1, 50);
    repeated_x << x, x.leftCols(10), x.leftCols(10);
    repeated_y << y, y.leftCols(10), y.leftCols(10);
    const Matrix nodes = apart(1, 4);
    const Matrix a = fitted(x, nodes, y, weights, 1e-3).coefficients;
    const Matrix b = fitted(repeated_x, nodes, repeated_y, Vector::Ones(50), 1e-3).coefficients;
    CHECK((a - b).cwiseAbs().maxCoeff() <= 1e-11);
}

TEST_CASE("duplicates are named redundant, and the fit is the one without them", "[least_squares]") {
    const Matrix x = support::uniforms(1, 90, 13);
    const Matrix y = support::normals(1, 90, 14);
    const Matrix nodes = apart(1, 5);
    Matrix more(2, 8);
    more << nodes, nodes.col(2), nodes.col(2), nodes.col(4);
    for (const double ridge : {0.0, 1e-7}) {
        const LeastSquaresFit fit = fitted(x, more, y, Vector::Ones(90), ridge);
        REQUIRE(fit.redundant.size() == 3);
        CHECK(std::is_sorted(fit.redundant.begin(), fit.redundant.end()));
        // of each group of equals all but one
        const auto named = [&](Index j) {
            return std::binary_search(fit.redundant.begin(), fit.redundant.end(), j) ? 1 : 0;
        };
        CHECK(named(2) + named(5) + named(6) == 2);
        CHECK(named(4) + named(7) == 1);
        for (const Index j : fit.redundant) CHECK(fit.coefficients.row(j).isZero(0.0));
        const Matrix without = dense(x, nodes, y, Vector::Ones(90), ridge);
        CHECK((design(x, more) * fit.coefficients - design(x, nodes) * without).cwiseAbs().maxCoeff() <=
              1e-8);
    }
}

TEST_CASE("kernels beyond the number of samples are redundant", "[least_squares]") {
    for (const Index n : {1, 2, 5}) {
        const Matrix x = Vector::LinSpaced(n, 0.1, 0.9).transpose();
        const Matrix y = support::normals(1, n, 15);
        const Matrix nodes = apart(1, 12);
        const LeastSquaresFit fit = fitted(x, nodes, y, Vector::Ones(n), 0.0);
        CHECK(static_cast<Index>(fit.redundant.size()) == 12 - n);
        CHECK(fit.coefficients.allFinite());
        CHECK((design(x, nodes) * fit.coefficients - y.transpose()).cwiseAbs().maxCoeff() <= 1e-9);
    }
}

TEST_CASE("no kernels, and a kernel without samples in its reach", "[least_squares]") {
    const Matrix x = support::uniforms(1, 40, 16);
    const Matrix y = support::normals(2, 40, 17);
    const LeastSquaresFit none = fitted(x, Matrix(2, 0), y, Vector::Ones(40), 1e-7);
    CHECK(none.coefficients.rows() == 0);
    CHECK(none.redundant.empty());

    const Matrix nodes = apart(1, 4);
    Matrix more(2, 5);
    more << nodes, (Vector(2) << 1e6, 0.1).finished();
    const LeastSquaresFit fit = fitted(x, more, y, Vector::Ones(40), 1e-7);
    CHECK(fit.coefficients.allFinite());
    CHECK((fit.coefficients.topRows(4) - dense(x, nodes, y, Vector::Ones(40), 1e-7)).cwiseAbs().maxCoeff() <=
          1e-8);
    CHECK(fit.coefficients.row(4).cwiseAbs().maxCoeff() <= 1e-12);
}

TEST_CASE("a trend is some more columns, which the ridge leaves out", "[least_squares]") {
    const Trend trend = GENERATE(Trend::constant, Trend::linear);
    const Matrix x = support::uniforms(2, 140, 18).array() + 1e3;  // far from zero
    Matrix nodes(3, 5);
    nodes << support::uniforms(2, 5, 21).array() + 1e3, Matrix::Constant(1, 5, 0.3);
    const Matrix y = support::normals(2, 140, 19).array() + 4.0;
    const Vector weights = support::uniforms(140, 1, 20, 0.1, 5.0);
    const TiledPoints points(x);
    const auto predicted = [&](const LeastSquaresFit& fit) {
        return expansion_values(Gaussian{}, points, {nodes, fit.coefficients, fit.offset, fit.slopes});
    };
    for (const double ridge : {1e-7, 1e-2, 1.0}) {
        const LeastSquaresProblem problem{Gaussian{}, points, y, weights, ridge, trend};
        const LeastSquaresFit fit = least_squares(problem, nodes);
        const Matrix residual = (predicted(fit) - y).transpose();
        const Matrix phi = design(x, nodes);
        const Matrix gradient =
            phi.transpose() * weights.asDiagonal() * residual + ridge * weights.sum() * fit.coefficients;
        CHECK(gradient.cwiseAbs().maxCoeff() <= 1e-7);
        CHECK((weights.transpose() * residual).cwiseAbs().maxCoeff() <= 1e-7);
        const Matrix centered = x.colwise() - Vector(x.rowwise().mean());
        if (trend == Trend::linear)
            CHECK((centered * weights.asDiagonal() * residual).cwiseAbs().maxCoeff() <= 1e-7);
        CHECK((fit.slopes.size() > 0) == (trend == Trend::linear));
        CHECK(fit.redundant.empty());
    }
    const LeastSquaresProblem problem{Gaussian{}, points, y, weights, 1e-7, Trend::constant};
    const LeastSquaresFit mean = least_squares(problem, Matrix(3, 0));
    CHECK((mean.offset - y * weights / weights.sum()).cwiseAbs().maxCoeff() <= 1e-12);
}

}  // namespace least_squares_test
