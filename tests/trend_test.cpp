#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <Eigen/QR>

#include <cmath>
#include <sstream>

// A trend fitted with the kernels: in the fit, the model, its file and its statistics.
namespace trend_test {

using namespace kernelet;
using Catch::Matchers::ContainsSubstring;
using support::refusal;

/// A plane with one bump on it.
Vector planted(const Matrix& x) {
    Vector y(x.cols());
    for (Index i = 0; i < x.cols(); ++i) {
        const double r = (x.col(i) - Vector::Constant(x.rows(), 0.4)).squaredNorm();
        y(i) = 20.0 + 3.0 * x(0, i) - 2.0 * x(x.rows() - 1, i) + 2.0 * std::exp(-r / 0.08);
    }
    return y;
}

TEST_CASE("a linear trend is found beside the kernels, in the dual and after it", "[trend]") {
    const Index d = GENERATE(1, 2);
    const Matrix x = support::uniforms(d, 150, 1), far = Matrix::Constant(d, 3, 40.0);
    const Vector y = planted(x) + 0.02 * support::normals(150, 1, 2);
    const auto fit = SparseKernelEstimator<>(Options{.trend = Trend::linear}).fit(x, y);
    CAPTURE(d);
    CHECK(fit.report.status == Status::converged);
    CHECK(fit.report.relative_gap() <= 2e-2);
    CHECK(fit.model.size() <= 2);
    REQUIRE(fit.model.slopes().rows() == d);
    if (d == 2) CHECK(fit.model.slopes()(0, 0) == Approx(3.0).epsilon(0.1));
    if (d == 2) CHECK(fit.model.slopes()(1, 0) == Approx(-2.0).epsilon(0.1));
    if (d == 1) CHECK(fit.model.slopes()(0, 0) == Approx(1.0).epsilon(0.1));
    // Σ λ = 0 and Σ λ x = 0
    const Vector lambda = fit.multipliers.row(0).transpose();
    CHECK(std::abs(lambda.sum()) <= 1e-11 * lambda.cwiseAbs().sum());
    CHECK((x * lambda).cwiseAbs().maxCoeff() <= 1e-11 * lambda.cwiseAbs().sum());
    // Far from the data the model is its trend.
    const Vector expected =
        fit.model.offset()(0) +
        (fit.model.slopes().transpose() * (far.colwise() - fit.model.scaling().shift)).transpose().array();
    CHECK((fit.model.predict(far) - expected).cwiseAbs().maxCoeff() <= 1e-9 * expected.cwiseAbs().maxCoeff());
    CHECK(fit.model(Vector(x.col(3))) == Approx(fit.model.predict(Matrix(x.col(3)))(0)).epsilon(1e-12));
}

TEST_CASE("a trend for several outputs, and none for a constant y", "[trend]") {
    const Matrix x = support::uniforms(2, 80, 3);
    Matrix y(2, 80);
    y.row(0) = planted(x).transpose();
    y.row(1) = 4.0 * x.row(1).array() - 1.0;
    const auto fit = SparseKernelEstimator<>(Options{.trend = Trend::linear}).fit(x, y);
    CHECK(fit.model.slopes()(1, 1) == Approx(4.0).epsilon(0.05));
    CHECK((fit.model.predict(x) - y).cwiseAbs().maxCoeff() <= 0.3);
    const auto plane =
        SparseKernelEstimator<>(Options{.trend = Trend::linear}).fit(x, Matrix(y.row(1)).transpose());
    CHECK(plane.model.size() == 0);
    CHECK((plane.model.predict(x) - y.row(1).transpose()).cwiseAbs().maxCoeff() <= 1e-9);
    const auto flat =
        SparseKernelEstimator<>(Options{.trend = Trend::linear}).fit(x, Vector::Constant(80, 7.0));
    CHECK((flat.model.predict(x).array() - 7.0).abs().maxCoeff() <= 1e-9);
}

TEST_CASE("classes that a line separates need a trend and no kernels", "[trend]") {
    const Matrix x = support::uniforms(2, 120, 4, -1.0, 1.0);
    Vector y(120);
    for (Index i = 0; i < 120; ++i) y(i) = x(0, i) - 0.5 * x(1, i) > 0.2 ? 1.0 : -1.0;
    const auto fit = SparseKernelEstimator<Gaussian, LogisticLoss>(Options{.trend = Trend::linear}).fit(x, y);
    CHECK(fit.model.size() <= 1);
    CHECK((fit.model.classify(x).cast<double>() - y).cwiseAbs().maxCoeff() == 0.0);
    CHECK(fit.model.predict(x).allFinite());
}

TEST_CASE("the evidence chooses a linear trend where the function has one", "[trend]") {
    const Matrix x = support::uniforms(4, 120, 5);
    const Vector bump = planted(x);
    const Vector hill =
        (-(x.array() - 0.5).square().colwise().sum() / 0.5).exp().transpose();  // a kernel, nothing else
    const Vector noise = 0.05 * support::normals(120, 1, 6);
    CHECK(SparseKernelEstimator<>().fit(x, bump + noise).model.slopes().size() == 4);
    CHECK(SparseKernelEstimator<>().fit(x, hill + noise).model.slopes().size() == 0);
    CHECK(SparseKernelEstimator<>(Options{.trend = Trend::none}).fit(x, bump + noise).model.slopes().size() ==
          0);
}

TEST_CASE("a plane alone, chosen by the evidence, is that of least squares", "[trend]") {
    const Matrix x = support::uniforms(5, 60, 13, 2.0, 3.0);
    const Vector y = (4.0 * x.row(0) - x.row(3)).transpose() + 0.3 * support::normals(60, 1, 14);
    const bool standardize = GENERATE(true, false);  // the mean of x is zero inside the fit, or not
    const auto fit = SparseKernelEstimator<>(Options{.standardize = standardize}).fit(x, y);
    REQUIRE(fit.model.size() == 0);
    REQUIRE(fit.model.slopes().size() == 5);
    Matrix design(60, 6);
    design << Vector::Ones(60), x.transpose();
    const Vector plane = design * Vector(design.colPivHouseholderQr().solve(y));
    CHECK((fit.model.predict(x) - plane).cwiseAbs().maxCoeff() <= 1e-8);
    CHECK(fit.report.residual == Approx(std::sqrt((plane - y).squaredNorm() / 60.0)));
}

TEST_CASE("a model with a linear trend survives its file, and files of version 1 are read",
          "[trend][text_io]") {
    const Matrix x = support::uniforms(3, 100, 7);
    const auto fit = SparseKernelEstimator<>(Options{.trend = Trend::linear}).fit(x, planted(x));
    std::stringstream file;
    save(file, fit.model);
    const auto loaded = load<SparseKernelModel<Gaussian>>(file);
    CHECK(loaded.predict(x) == fit.model.predict(x));
    CHECK(loaded.slopes() == fit.model.slopes());
    CHECK(loaded.predict(x, with_noise).deviation == fit.model.predict(x, with_noise).deviation);
    CHECK(loaded.statistics().discrepancy == fit.model.statistics().discrepancy);

    std::stringstream first;
    first << detail::sealed({"kernelet model 1", "family gaussian", "inputs 1", "outputs 1", "kernels 1",
                             "shift 0", "scale 1", "offset 0.5", "kernel 0.25 0.5 2", "shares 0", "share",
                             "noises 0", "noise", "covariances 0"});
    const auto old = load<SparseKernelModel<Gaussian>>(first);
    CHECK(old(0.25) == Approx(2.5));
    CHECK(old.slopes().size() == 0);
}

TEST_CASE("deviations include the trend, the discrepancy and, where asked for, the noise", "[trend]") {
    constexpr double sigma = 0.1;
    const Matrix x = support::uniforms(2, 200, 8), fresh = support::uniforms(2, 500, 9);
    const Vector truth = planted(fresh);
    const auto fit = SparseKernelEstimator<>(Options{.trend = Trend::linear})
                         .fit(x, planted(x) + sigma * support::normals(200, 1, 10));
    const ModelStatistics& known = fit.model.statistics();
    CHECK(known.noise(0) == Approx(sigma).epsilon(0.2));
    const Index parameters = fit.model.size() * (1 + 3);
    CHECK(known.covariance.rows() == parameters + 3);
    CHECK(known.covariance.bottomRightCorner(3, 3).diagonal().minCoeff() > 0.0);
    CHECK(known.discrepancy(0) == Approx(known.noise(0) * std::sqrt(4.0 * std::log(200.0) / 200.0)));
    const Prediction curve = fit.model.predict(fresh, with_deviation),
                     sample = fit.model.predict(fresh, with_noise);
    CHECK(((sample.deviation.array().square() - curve.deviation.array().square()).sqrt() - known.noise(0))
              .abs()
              .maxCoeff() <= 1e-12);
    const auto inside = [&](const Vector& values, const Matrix& deviation) {
        return static_cast<double>(
                   ((curve.mean - values).array().abs() <= 1.96 * deviation.array()).count()) /
               500.0;
    };
    CHECK(inside(truth, curve.deviation) >= 0.9);
    const double of_samples = inside(truth + sigma * support::normals(500, 1, 11), sample.deviation);
    CHECK(of_samples >= 0.9);
    CHECK(of_samples <= 0.99);
}

TEST_CASE("classifiers that share kernels keep their trends, in their file too", "[trend]") {
#ifdef NDEBUG
    constexpr Index n = 90;
#else
    constexpr Index n = 36;  // sanitizers are slow
#endif
    const Matrix x = support::uniforms(2, n, 12, -1.0, 1.0);
    std::vector<int> labels;
    for (Index i = 0; i < n; ++i)
        labels.push_back(x(0, i) < -0.3 ? 0 : x(0, i) + 0.2 * x(1, i) < 0.3 ? 1 : 2);
    using Estimator = SparseKernelEstimator<>;  // squared loss: the evidence may choose a trend by itself
    const Estimator estimator(Options{.trend = GENERATE(Trend::automatic, Trend::linear)});
    const auto check = [&](const auto& ensemble, bool any) {
        const MergedKernels<Gaussian>& kernels = ensemble.kernels();
        const Matrix values = kernels.evaluate(x);
        bool linear = false;
        for (Index m = 0; m < kernels.models(); ++m) {
            linear = linear || kernels.model(m).slopes().size() > 0;
            CHECK((values.row(m).transpose() - kernels.model(m).predict(x)).cwiseAbs().maxCoeff() <= 1e-9);
        }
        CHECK((linear || !any));
        std::stringstream file;
        save(file, ensemble);
        CHECK(load<std::decay_t<decltype(ensemble)>>(file).kernels().evaluate(x) == values);
    };
    check(OneVsOne<Estimator>(estimator).fit(x, labels).model, estimator.options().trend == Trend::linear);
    const auto shared = SharedKernels<Estimator>(estimator).fit(x, labels);
    check(shared.model, estimator.options().trend == Trend::linear);
    Matrix y = Matrix::Constant(3, n, -1.0);
    for (Index i = 0; i < n; ++i) y(labels[static_cast<std::size_t>(i)], i) = 1.0;
    CHECK((shared.model.kernels().evaluate(x) - estimator.fit(x, y).model.predict(x)).cwiseAbs().maxCoeff() <=
          1e-12);
}

TEST_CASE("a plane under noise is a trend and no kernel", "[trend]") {
    const Index n = 200;
    const Matrix x = support::uniforms(3, n, 31);
    const Vector y = (5.0 + 2.0 * x.row(0).array() - x.row(1).array()).matrix().transpose() +
                     0.3 * support::normals(n, 1, 32);
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(x, y);
    CHECK(fit.model.size() == 0);
    REQUIRE(fit.model.slopes().size() == 3);
    CHECK(fit.model.slopes()(0) == Approx(2.0).margin(0.23));  // three standard errors of 0.3/√(n/12)
    CHECK(fit.model.slopes()(1) == Approx(-1.0).margin(0.23));
}

TEST_CASE("what a trend is refused for", "[trend]") {
    CHECK_THAT(refusal([] { Options{.trend = Trend::linear, .intercept = true}.validate(); }),
               ContainsSubstring("options.intercept and options.trend"));
    CHECK_THAT(refusal([&] {
                   SparseKernelModel<Gaussian>(Gaussian{}, InputScaling::identity(2), Matrix(3, 0),
                                               Matrix(0, 1), {Vector::Zero(1), Matrix::Zero(1, 1)});
               }),
               ContainsSubstring("slopes is 1 x 1"));
}

/// Peaks (1 + |t|/w)⁻⁴, w in sample spacings.
Vector cusps(const Matrix& x) {
    const double places[] = {0.08, 0.15, 0.19, 0.31, 0.36, 0.5, 0.62, 0.7, 0.83, 0.9};
    const double widths[] = {1.3, 1.5, 3.0, 1.3, 8.0, 2.0, 1.4, 4.0, 1.3, 2.5};
    const double heights[] = {3.0, 5.0, 4.0, 4.5, 2.5, 4.0, 5.0, 3.0, 4.0, 5.0};
    const double spacing = 1.0 / 255.0;
    Vector y = Vector::Zero(x.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (std::size_t k = 0; k < 10; ++k)
            y(i) += heights[k] * std::pow(1.0 + std::abs(x(0, i) - places[k]) / (widths[k] * spacing), -4);
    return y;
}

TEST_CASE("narrow cusps are found with a kernel or two each", "[read_off]") {
    const Matrix x = Vector::LinSpaced(256, 0.0, 1.0).transpose();
    const Vector clean = cusps(x);
    const double sigma = std::sqrt((clean.array() - clean.mean()).square().mean()) / 7.0;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Vector y = clean + sigma * support::normals(256, 1, seed);
        const auto fit = SparseKernelEstimator<>().fit(x, y);
        CAPTURE(seed, fit.model.size());
        CHECK(std::sqrt((fit.model.predict(x) - clean).squaredNorm() / 256.0) <= 0.9 * sigma);
        CHECK(fit.model.size() <= 18);
    }
}

}  // namespace trend_test
