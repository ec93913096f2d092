#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <Eigen/Cholesky>

#include <array>
#include <span>
#include <vector>

namespace kernel_path_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Options;
using kernelet::Progress;
using kernelet::Vector;
using kernelet::Verdict;
using Estimator = kernelet::SparseKernelEstimator<>;

/// Three bumps and noise.
struct Bumps {
    Matrix x = Matrix(Vector::LinSpaced(150, 0.0, 10.0).transpose());
    Vector y = Vector(150);

    Bumps() {
        const Matrix noise = support::normals(150, 1, 3);
        for (Index i = 0; i < 150; ++i) {
            const double t = x(0, i);
            const auto bump = [&](double a, double z, double w) {
                return a * std::exp(-0.5 * (t - z) * (t - z) / (w * w));
            };
            y(i) = bump(1.0, 2.0, 0.5) + bump(-0.8, 5.0, 1.0) + bump(0.6, 8.0, 0.4) + 0.05 * noise(i);
        }
    }
};

TEST_CASE("A path has one model per size, and fewer kernels fit worse") {
    const Bumps data;
    const auto path = Estimator().kernel_path(data.x, data.y);
    const auto fit = Estimator().fit(data.x, data.y);
    REQUIRE(fit.report.kernels == 3);
    REQUIRE(path.size() >= 6);
    Index chosen = 0;
    for (std::size_t k = 0; k < path.size(); ++k) {
        CHECK(path[k].kernels() == static_cast<Index>(k));
        if (k > 0) CHECK(path[k].residual <= path[k - 1].residual * (1.0 + 1e-9));
        if (path[k].chosen) {
            ++chosen;
            CHECK(path[k].model.predict(data.x) == fit.model.predict(data.x));
            CHECK(path[k].residual == Approx(fit.report.residual));
        }
    }
    CHECK(chosen == 1);
    // Each of the three planted bumps is worth far more than what comes after them.
    CHECK(path[2].residual > 2.0 * path[3].residual);
    CHECK(path[4].residual > 0.9 * path[3].residual);
}

TEST_CASE("A path ends at max_kernels and stops when told") {
    const Bumps data;
    const auto path = Estimator(Options{.max_kernels = 2}).kernel_path(data.x, data.y);
    CHECK(path.back().kernels() == 2);
    int sizes = 0;
    const auto stopped = Estimator().kernel_path(data.x, data.y, [&](const Progress& progress) {
        if (progress.stage == "sizes") ++sizes;
        return progress.stage == "sizes" ? Verdict::stop : Verdict::proceed;
    });
    CHECK(sizes == 1);
    CHECK(stopped.size() >= 1);
}

/// The residual of sample i under a fit to the others with as many kernels.
double refitted_residual(const Bumps& data, Index i, Index kernels) {
    const Index n = data.y.size();
    Matrix x(1, n - 1);
    Vector y(n - 1);
    for (Index k = 0, to = 0; k < n; ++k) {
        if (k == i) continue;
        x(0, to) = data.x(0, k);
        y(to++) = data.y(k);
    }
    const auto fit = Estimator(Options{.max_kernels = kernels}).fit(x, y);
    return data.y(i) - fit.model(data.x(0, i));
}

TEST_CASE("Leave-one-out foretells what a fit without the sample leaves of it") {
    const Bumps data;
    const auto fit = Estimator().fit(data.x, data.y);
    const auto left = kernelet::leave_one_out(fit.model, data.x, data.y);
    const Vector residuals = data.y - fit.model.predict(data.x);
    REQUIRE(left.residuals.rows() == data.y.size());
    CHECK(left.error > std::sqrt(residuals.squaredNorm() / 150.0));
    CHECK(left.error == Approx(0.05).epsilon(0.2));
    for (const Index i : {29, 75, 119}) {  // at the top of bumps
        const double refitted = refitted_residual(data, i, 3), change = refitted - residuals(i);
        CAPTURE(i, residuals(i), refitted, left.residuals(i));
        CHECK(std::abs(left.residuals(i) - refitted) <= 0.25 * std::abs(change) + 2e-4);
    }
}

TEST_CASE("Leave-one-out of a linear fit is exact") {
    // One kernel per candidate, widths fixed: only the coefficients are free.
    const Bumps data;
    const Matrix z{{2.0, 5.0, 8.0}};
    const kernelet::CandidateCenters candidates(z, kernelet::Interval{0.6, 0.6});
    const auto whole = Estimator(Options{.ridge = 0.0}).fit(data.x, data.y, candidates);
    REQUIRE(whole.model.size() == 3);
    const auto left = kernelet::leave_one_out(whole.model, data.x, data.y);
    for (const Index i : {28, 75, 130}) {
        Matrix design(149, 3);
        Vector y(149);
        for (Index k = 0, to = 0; k < 150; ++k) {
            if (k == i) continue;
            for (Index j = 0; j < 3; ++j)
                design(to, j) = std::exp(-0.5 * std::pow((data.x(0, k) - z(0, j)) / 0.6, 2));
            y(to++) = data.y(k);
        }
        const Vector a = (design.transpose() * design).llt().solve(design.transpose() * y);
        double value = 0.0;
        for (Index j = 0; j < 3; ++j)
            value += a(j) * std::exp(-0.5 * std::pow((data.x(0, i) - z(0, j)) / 0.6, 2));
        CHECK(left.residuals(i) == Approx(data.y(i) - value).margin(1e-8));
    }
}

/// A tolerance saves the search for the noise.
Estimator quick() { return Estimator(Options{.tolerance = 0.15}); }

TEST_CASE("One input and y may be any range of numbers, and arrays are matrices") {
    const Bumps data;
    const std::vector<double> x(data.x.data(), data.x.data() + data.x.size());
    const std::vector<double> y(data.y.data(), data.y.data() + data.y.size());
    const Matrix expected = quick().fit(data.x, data.y).model.predict(data.x);
    const auto fit = quick().fit(x, y);
    CHECK(fit.model.predict(x) == expected);
    CHECK(quick().fit(std::span<const double>(x), data.y).model.predict(data.x) == expected);
    CHECK(quick().fit(data.x.array(), data.y.array()).model.predict(data.x.array()) == expected);
    const std::vector<float> coarse(y.begin(), y.end());
    CHECK(quick().fit(x, coarse).model.predict(std::array<double, 2>{1.0, 2.0}).size() == 2);
    CHECK(kernelet::cross_validate(quick(), x, y, kernelet::random_folds(150, 2)).predictions.size() == 150);
}

TEST_CASE("A row per sample is suspected and named") {
    const Matrix x = support::uniforms(40, 2, 1);
    CHECK_THROWS_WITH(quick().fit(x, Vector(Vector::Ones(40))),
                      Catch::Matchers::ContainsSubstring("pass x.transpose()"));
    const auto fit = quick().fit(x.transpose(), Vector(x.col(0)));
    CHECK_THROWS_WITH(fit.model.predict(x), Catch::Matchers::ContainsSubstring("pass x.transpose()"));
}

TEST_CASE("A kernel, a loss or a solver is set by its value, in any number") {
    const Bumps data;
    const Estimator plain(Options{.tolerance = 0.2});
    const auto huber = plain.with(kernelet::HuberLoss(0.1));
    static_assert(
        std::is_same_v<decltype(huber),
                       const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::HuberLoss>>);
    CHECK(huber.options().tolerance == 0.2);
    const auto three =
        plain.with(kernelet::Matern52{}, kernelet::HuberLoss(0.1), kernelet::AugmentedNewton{});
    static_assert(
        std::is_same_v<decltype(three),
                       const kernelet::SparseKernelEstimator<kernelet::Matern52, kernelet::HuberLoss,
                                                             kernelet::AugmentedNewton>>);
    const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::HuberLoss> spelled(
        Options{.tolerance = 0.2}, kernelet::AutomaticSolver{}, {}, kernelet::HuberLoss(0.1));
    CHECK(huber.fit(data.x, data.y).model.predict(data.x) ==
          spelled.fit(data.x, data.y).model.predict(data.x));
    CHECK(plain.with(Options{.max_kernels = 1}).fit(data.x, data.y).report.kernels == 1);
}

TEST_CASE("Rows of the path of sparsity rise and have their models") {
    const Bumps data;
    const auto rows = quick().regularization_path(data.x, data.y, {2.0, 0.1});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].sparsity == 0.1);
    CHECK(rows[1].sparsity == 2.0);
    for (const auto& row : rows) CHECK(row.model.size() == row.kernels);
}

}  // namespace kernel_path_test
