#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/baselines/kernel_ridge.hpp>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace kernel_ridge_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::Index;
using kernelet::KernelRidge;
using kernelet::KernelRidgeOptions;
using kernelet::KernelRidgeScore;
using kernelet::Matrix;
using kernelet::RidgeCriterion;
using kernelet::Vector;
using support::refusal;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Matrix gram(const Matrix& x, double width) {
    Matrix k(x.cols(), x.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (Index j = 0; j < x.cols(); ++j)
            k(i, j) = std::exp(-(x.col(i) - x.col(j)).squaredNorm() / (2.0 * width * width));
    return k;
}

/// K + n·ridge·I.
Matrix regularised(const Matrix& x, double width, double ridge) {
    return gram(x, width) + static_cast<double>(x.cols()) * ridge * Matrix::Identity(x.cols(), x.cols());
}

KernelRidge<> one(double width, double ridge, bool center = true) {
    return KernelRidge<>({.widths = {width}, .ridges = {ridge}, .center = center});
}

TEST_CASE("coefficients solve (K + n ridge I) a = y", "[kernel_ridge]") {
    for (const Index d : {1, 3})
        for (const Index q : {1, 2})
            for (const double ridge : {1e-6, 1e-2})
                for (const bool center : {false, true}) {
                    const Matrix x = support::uniforms(d, 40, 1);
                    const Matrix y = support::normals(q, 40, 2);
                    const auto fit = one(0.2, ridge, center).fit(x, y);
                    const Vector mean = center ? Vector(y.rowwise().mean()) : Vector::Zero(q);
                    const Matrix centered = y.colwise() - mean;
                    const Matrix a = fit.model.coefficients();
                    INFO("d " << d << ", q " << q << ", ridge " << ridge << ", center " << center);
                    CHECK((regularised(x, 0.2, ridge) * a - centered.transpose()).cwiseAbs().maxCoeff() <=
                          1e-9 * (1.0 + a.cwiseAbs().maxCoeff()));
                    CHECK(fit.model.offset().isApprox(mean, 1e-13));
                    CHECK(support::same_bits(fit.model.centers(), x));
                    CHECK((fit.model.widths().array() == 0.2).all());
                    CHECK(fit.jitter == 0.0);
                    CHECK(fit.chosen.width == 0.2);
                    CHECK(fit.chosen.ridge == ridge);
                    CHECK(fit.grid.size() == 1);
                }
}

TEST_CASE("leave-one-out residuals are those of leaving out", "[kernel_ridge]") {
    const Index n = 25;
    for (const Index q : {1, 2})
        for (const double ridge : {0.0, 1e-4, 1e-1}) {
            const Matrix x = support::uniforms(2, n, 3);
            Matrix y = support::normals(q, n, 4);
            const Matrix uncentered = y.colwise() + Vector::LinSpaced(q, 3.0, 4.0);
            const auto centered_fit = one(0.1, ridge).fit(x, uncentered);
            y = uncentered.colwise() - uncentered.rowwise().mean();
            const auto fit = one(0.1, ridge, false).fit(x, y);
            Matrix expected(q, n);
            for (Index i = 0; i < n; ++i) {
                std::vector<Index> others;
                for (Index j = 0; j < n; ++j)
                    if (j != i) others.push_back(j);
                // The ridge is relative to n, and n − 1 samples are left: the same n·ridge.
                const double same = ridge * static_cast<double>(n) / static_cast<double>(n - 1);
                const auto left =
                    one(0.1, same, false).fit(x(Eigen::all, others), y(Eigen::all, others)).model;
                const Matrix prediction = left.predict(x.col(i));
                expected.col(i) = y.col(i) - (q == 1 ? prediction : Matrix(prediction.reshaped(q, 1)));
            }
            INFO("q " << q << ", ridge " << ridge);
            CHECK((fit.leave_one_out_residuals - expected).cwiseAbs().maxCoeff() <= 1e-8);
            CHECK(fit.chosen.leave_one_out ==
                  Approx(std::sqrt(expected.squaredNorm() / static_cast<double>(expected.size()))));
            // Centered: the same, about the mean of all samples.
            CHECK((centered_fit.leave_one_out_residuals - expected).cwiseAbs().maxCoeff() <= 1e-8);
        }
}

/// log N(y; 0, C), straight from the definition.
double log_normal(const Vector& y, const Matrix& covariance) {
    const Eigen::PartialPivLU<Matrix> lu(covariance);
    return -0.5 * (y.dot(lu.solve(y)) + std::log(std::abs(lu.determinant())) +
                   static_cast<double>(y.size()) * std::log(2.0 * std::numbers::pi));
}

TEST_CASE("the likelihood is the Gaussian process's, and its amplitude the likeliest", "[kernel_ridge]") {
    const Matrix x = support::uniforms(1, 20, 5);
    Matrix y = support::normals(2, 20, 6);
    y.row(1) *= 30.0;
    const double ridge = 3e-3;
    const auto fit = one(0.1, ridge, false).fit(x, y);
    const Matrix a = regularised(x, 0.1, ridge);
    const auto likelihood = [&](double factor) {
        double sum = 0.0;
        for (Index o = 0; o < 2; ++o) sum += log_normal(y.row(o).transpose(), factor * fit.amplitude(o) * a);
        return sum;
    };
    CHECK(fit.chosen.log_likelihood == Approx(likelihood(1.0)).epsilon(1e-10));
    CHECK(likelihood(1.0) > likelihood(1.01));
    CHECK(likelihood(1.0) > likelihood(0.99));
    CHECK(fit.noise_variance.isApprox(20.0 * ridge * fit.amplitude, 1e-12));
}

TEST_CASE("the grid is what single fits say, and the best of it is taken", "[kernel_ridge]") {
    const Matrix x = support::uniforms(1, 30, 7);
    const std::vector<double> widths{0.3, 0.05, 0.1};
    const std::vector<double> ridges{1e-2, 1e-5, 1e-4, 1e-3};
    for (const Index q : {1, 2})
        for (const auto criterion : {RidgeCriterion::leave_one_out, RidgeCriterion::marginal_likelihood}) {
            Matrix y = 0.2 * support::normals(q, 30, 8);
            for (Index o = 0; o < q; ++o) y.row(o).array() += (7.0 * x.row(0).array()).sin() + 5.0;
            const auto fit =
                KernelRidge<>({.widths = widths, .ridges = ridges, .criterion = criterion}).fit(x, y);
            REQUIRE(fit.grid.size() == widths.size() * ridges.size());
            const KernelRidgeScore* best = nullptr;
            for (std::size_t k = 0; k < fit.grid.size(); ++k) {
                const KernelRidgeScore& row = fit.grid[k];
                const KernelRidgeScore single =
                    one(widths[k / ridges.size()], ridges[k % ridges.size()]).fit(x, y).chosen;
                CHECK(row.width == single.width);
                CHECK(row.ridge == single.ridge);
                CHECK(row.leave_one_out == Approx(single.leave_one_out).epsilon(1e-8));
                CHECK(row.log_likelihood == Approx(single.log_likelihood).epsilon(1e-8));
                const bool better = best == nullptr || (criterion == RidgeCriterion::leave_one_out
                                                            ? row.leave_one_out < best->leave_one_out
                                                            : row.log_likelihood > best->log_likelihood);
                if (better) best = &row;
            }
            CHECK(fit.chosen.width == best->width);
            CHECK(fit.chosen.ridge == best->ridge);
            CHECK(support::same_bits(fit.model.coefficients(),
                                     one(best->width, best->ridge).fit(x, y).model.coefficients()));
        }
}

TEST_CASE("left alone it finds signal and noise", "[kernel_ridge]") {
    const support::Chirp signal = support::chirp(120, 9);
    const support::Chirp fresh = support::chirp(501, 10);
    for (const auto criterion : {RidgeCriterion::leave_one_out, RidgeCriterion::marginal_likelihood}) {
        const auto fit = KernelRidge<>({.criterion = criterion}).fit(signal.x, signal.y);
        CHECK((fit.model.predict(fresh.x) - fresh.clean).squaredNorm() / 501.0 <= 1e-3);
        CHECK(fit.chosen.leave_one_out <= 3.0 * std::sqrt(1e-3));
        if (criterion == RidgeCriterion::marginal_likelihood) {
            CHECK(fit.noise_variance(0) >= 1e-3 / 3.0);
            CHECK(fit.noise_variance(0) <= 3e-3);
        }
    }
    // No grid but that of the widths.
    const auto few = KernelRidge<>({.width_levels = 2, .ridges = {1e-6}}).fit(signal.x, signal.y);
    CHECK(few.grid.size() == 2);
}

TEST_CASE("no ridge interpolates, a huge one leaves the mean", "[kernel_ridge]") {
    const Matrix x = Vector::LinSpaced(15, 0.0, 1.0).transpose();
    const Vector y = support::normals(15, 1, 11);
    CHECK((one(0.05, 0.0).fit(x, y).model.predict(x) - y).cwiseAbs().maxCoeff() <= 1e-10);
    CHECK((one(0.05, 1e12).fit(x, y).model.predict(x).array() - y.mean()).abs().maxCoeff() <= 1e-10);
    CHECK((one(0.05, 1e306).fit(x, y).model.predict(x).array() - y.mean()).abs().maxCoeff() <= 1e-10);
}

TEST_CASE("what no Cholesky factorisation could do gets jitter", "[kernel_ridge]") {
    SECTION("coincident samples, no ridge: their mean") {
        Matrix x(1, 6);
        x << 0.0, 1.0, 2.0, 1.0, 2.0, 2.0;
        Vector y(6);
        y << 1.0, 2.0, 3.0, 4.0, 6.0, 9.0;
        const auto fit = one(0.2, 0.0).fit(x, y);
        CHECK(fit.jitter > 0.0);
        CHECK(fit.jitter <= 1e-10);
        CHECK(fit.leave_one_out_residuals.allFinite());
        Vector means(6);
        means << 1.0, 3.0, 6.0, 3.0, 6.0, 6.0;
        CHECK((fit.model.predict(x) - means).cwiseAbs().maxCoeff() <= 1e-3);
        CHECK(KernelRidge<>({.widths = {0.2, 0.3}, .ridges = {0.0}})
                  .fit(x, y)
                  .model.coefficients()
                  .allFinite());
    }
    SECTION("far too wide a kernel") {
        const support::Chirp signal = support::chirp(150, 12);
        const auto fit = one(100.0, 0.0).fit(signal.x, signal.y);
        CHECK(fit.jitter > 0.0);
        CHECK(std::isfinite(fit.chosen.leave_one_out));
        CHECK(std::isfinite(fit.chosen.log_likelihood));
    }
}

TEST_CASE("kernel ridge: degenerate data", "[kernel_ridge]") {
    SECTION("one sample") {
        const auto fit = KernelRidge<>().fit(Matrix::Constant(2, 1, 0.3), Vector::Constant(1, 7.0));
        CHECK(fit.model(Vector::Constant(2, 0.3)) == Approx(7.0));
        CHECK(one(1.0, 0.0, false)
                  .fit(Matrix::Constant(2, 1, 0.3), Vector::Constant(1, 7.0))
                  .model(Vector::Constant(2, 0.3)) == Approx(7.0));
    }
    for (const auto criterion : {RidgeCriterion::leave_one_out, RidgeCriterion::marginal_likelihood}) {
        const KernelRidge<> ridge({.criterion = criterion});
        const Matrix x = support::uniforms(1, 12, 13);
        const auto constant = ridge.fit(x, Vector::Constant(12, 0.1));
        CHECK((constant.model.predict(x).array() - 0.1).abs().maxCoeff() <= 1e-12);
        CHECK(std::isfinite(constant.chosen.log_likelihood));
        const auto zero = ridge.fit(x, Vector::Zero(12));
        CHECK(zero.model.predict(x).isZero(0.0));
        CHECK(std::isfinite(zero.chosen.log_likelihood));
        const auto one_place = ridge.fit(Matrix::Ones(1, 12), support::normals(12, 1, 14));
        CHECK(one_place.model.coefficients().allFinite());
        CHECK(std::isfinite(one_place.chosen.leave_one_out));
    }
}

TEST_CASE("kernel ridge: float, rows and blocks", "[kernel_ridge]") {
    const Eigen::MatrixXf x = support::uniforms(2, 20, 15).cast<float>();
    const Eigen::VectorXf y = support::normals(20, 1, 16).cast<float>();
    const auto ridge = one(0.3, 1e-3);
    const Matrix a = ridge.fit(x, y).model.coefficients();
    CHECK(support::same_bits(a, ridge.fit(x.cast<double>(), y.cast<double>()).model.coefficients()));
    CHECK(support::same_bits(a, ridge.fit(x, y.transpose()).model.coefficients()));
    Eigen::MatrixXf wide(5, 22);
    wide.setZero();
    wide.block(1, 2, 2, 20) = x;
    CHECK(support::same_bits(a, ridge.fit(wide.block(1, 2, 2, 20), 1.0F * y).model.coefficients()));
}

TEST_CASE("kernel ridge: the same bits with any number of threads", "[kernel_ridge]") {
    // Enough outputs and samples that Eigen would divide a product of two matrices among threads.
    const Matrix x = support::uniforms(1, 400, 17);
    const Matrix y = support::normals(8, 400, 18);
    for (const auto& widths : {std::vector<double>{0.02, 0.1}, std::vector<double>{0.05}}) {
        const KernelRidge<> ridge({.widths = widths, .ridges = {1e-5, 1e-3}});
        const auto fit_on = [&](int count) {
            const support::Threads threads(count);
            return ridge.fit(x, y);
        };
        const auto a = fit_on(1), b = fit_on(4);
        CHECK(support::same_bits(a.model.coefficients(), b.model.coefficients()));
        CHECK(support::same_bits(a.leave_one_out_residuals, b.leave_one_out_residuals));
        for (std::size_t k = 0; k < a.grid.size(); ++k) {
            CHECK(a.grid[k].leave_one_out == b.grid[k].leave_one_out);
            CHECK(a.grid[k].log_likelihood == b.grid[k].log_likelihood);
        }
    }
}

TEST_CASE("kernel ridge: misuse is named", "[kernel_ridge]") {
    const auto options = [](KernelRidgeOptions given) {
        return refusal([&] { const KernelRidge<> ridge(given); });
    };
    for (const double bad : {0.0, -1.0, nan, infinity})
        CHECK_THAT(options({.widths = {1.0, bad}}), ContainsSubstring("options.widths[1]"));
    for (const double bad : {-1e-9, nan, infinity})
        CHECK_THAT(options({.ridges = {0.0, 1.0, bad}}), ContainsSubstring("options.ridges[2]"));
    CHECK_THAT(options({.width_levels = 0}), ContainsSubstring("options.width_levels"));

    const KernelRidge<> ridge = one(1.0, 1e-3);
    const auto fit = [&](const Matrix& x, const Matrix& y) { return refusal([&] { ridge.fit(x, y); }); };
    const Matrix x = support::uniforms(2, 5, 19);
    const Matrix y = support::normals(5, 1, 20);
    CHECK_THAT(fit(Matrix(2, 0), Matrix(0, 1)), ContainsSubstring("x has no columns"));
    CHECK_THAT(fit(Matrix(0, 5), y), ContainsSubstring("x has no rows"));
    CHECK_THAT(fit(x, Matrix::Ones(4, 1)), ContainsSubstring("y is 4 x 1"));
    CHECK_THAT(fit(x, Matrix::Ones(5, 2)), ContainsSubstring("y is 5 x 2"));
    CHECK_THAT(fit(x, Matrix(0, 5)), ContainsSubstring("y is 0 x 5"));
    for (const double bad : {nan, infinity}) {
        Matrix holed = x;
        holed(1, 3) = bad;
        CHECK_THAT(fit(holed, y), ContainsSubstring("x(1, 3)"));
        holed = y;
        holed(2) = bad;
        CHECK_THAT(fit(x, holed), ContainsSubstring("y(0, 2)"));
    }
    CHECK_THAT(refusal([&] { one(1.0, 1e308).fit(x, y); }), ContainsSubstring("options.ridges[0]"));
}

}  // namespace kernel_ridge_test
