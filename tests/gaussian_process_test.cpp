#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/baselines/gaussian_process.hpp>

#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace gaussian_process_test {

using namespace kernelet;
using support::refusal;

TEST_CASE("the likelihood of a process and its gradient from the definitions", "[gaussian_process]") {
    const Matrix x = support::uniforms(3, 25, 1, -1.0, 2.0);
    const Vector y = support::normals(25, 1, 2);
    const GaussianProcessOptions options;
    const detail::ProcessLikelihood likelihood(x, y, options);
    const Vector at{{std::log(0.7), std::log(1.5), std::log(3.0), std::log(0.2)}};
    Vector gradient(4), ignored(4);
    const double cost = likelihood(at, gradient);

    const Matrix scaled = at.head(3).array().exp().inverse().matrix().asDiagonal() * x;
    Matrix a = 0.2 * Matrix::Identity(25, 25);
    for (Index i = 0; i < 25; ++i)
        for (Index j = 0; j < 25; ++j)
            a(i, j) += std::exp(-0.5 * (scaled.col(i) - scaled.col(j)).squaredNorm());
    const double amplitude = y.dot(a.inverse() * y) / 25.0;
    CHECK(cost == Approx(0.5 * (25.0 * std::log(2.0 * std::numbers::pi * amplitude) + 25.0 +
                                std::log(a.determinant())))
                      .epsilon(1e-10));
    constexpr double step = 1e-5;
    for (Index i = 0; i < 4; ++i) {
        Vector above = at, below = at;
        above(i) += step;
        below(i) -= step;
        CAPTURE(i);
        CHECK(gradient(i) ==
              Approx((likelihood(above, ignored) - likelihood(below, ignored)) / (2.0 * step)).epsilon(1e-5));
    }
}

TEST_CASE("a Gaussian process finds lengths, noise and the mean", "[gaussian_process]") {
    constexpr double sigma = 0.1;
    const Matrix x = support::uniforms(3, 150, 3), fresh = support::uniforms(3, 300, 4);
    const auto truth = [](const Matrix& at) -> Vector {
        return 5.0 + (4.0 * at.row(0).array()).sin() + at.row(1).array();  // the third input is idle
    };
    const Vector y = truth(x) + sigma * support::normals(150, 1, 5);
    const GaussianProcessFit fit = GaussianProcess().fit(x, y);
    CHECK(fit.noise_deviation == Approx(sigma).epsilon(0.25));
    CHECK(fit.length_scales(2) > 3.0 * fit.length_scales(0));
    CHECK(std::sqrt((fit.model.predict(fresh) - truth(fresh)).squaredNorm() / 300.0) <= 0.5 * sigma);
    CHECK(fit.model.size() == 150);
    CHECK(fit.model.offset()(0) == Approx(y.mean()));
    CHECK(fit.model.widths().col(0) == fit.length_scales);
    // The likeliest noise of samples without any is the smallest allowed, up to what the function needs.
    CHECK(GaussianProcess().fit(x, truth(x)).noise_deviation <= 1e-2);
}

TEST_CASE("a Gaussian process names what it refuses", "[gaussian_process]") {
    const Matrix x = support::uniforms(2, 10, 6);
    CHECK_THAT(refusal([&] { GaussianProcess().fit(x, Matrix::Zero(2, 10)); }),
               Catch::Matchers::ContainsSubstring("y has 2 outputs"));
    CHECK_THAT(refusal([] { GaussianProcess({.max_steps = 0}); }),
               Catch::Matchers::ContainsSubstring("options.max_steps"));
    CHECK_THAT(refusal([] { GaussianProcess({.starts = {}}); }),
               Catch::Matchers::ContainsSubstring("options.starts"));
    CHECK_THAT(refusal([] { GaussianProcess({.starts = {-1.0}}); }),
               Catch::Matchers::ContainsSubstring("options.starts[0]"));
    CHECK_THAT(refusal([] { GaussianProcess({.min_noise_ratio = 1.0, .max_noise_ratio = 0.5}); }),
               Catch::Matchers::ContainsSubstring("options.max_noise_ratio"));
}

}  // namespace gaussian_process_test
