#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/search/learned_priors.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>

namespace evidence_test {

using namespace kernelet;

TEST_CASE("evidence, effective parameters and noise from the definitions", "[evidence]") {
    constexpr double ridge = 3e-3, noise_level = 0.3, strength = 0.4, half_diagonal = 4.0;
    const Index d = GENERATE(1, 2), q = GENERATE(1, 2);
    constexpr Index k = 4;
    const support::Unexplained data(d, q, k);
    const Index n = data.x.cols();
    const detail::TiledPoints points(data.x);
    const SearchProblem problem =
        support::squared_problem(Box(Vector::Constant(d, -4.0), Vector::Constant(d, 4.0), {0.1, 5.0}), points,
                                 data.y, data.weights, {.ridge = ridge, .widths = {1.2, strength}});
    SampleScales scales;
    scales.mean_weight = data.weights.mean();
    scales.noise_level = noise_level;
    scales.noise_degree = 2.0;
    scales.target_variance = 1.7;
    scales.half_diagonal = half_diagonal;
    const ModelEvidence found = evidence_of(problem, scales, {data.nodes, {}, {}});

    const support::DenseLeastSquares dense(data.x, data.y, data.weights, data.nodes, ridge);
    const double assumed = noise_level * scales.mean_weight;
    const Index slopes = k * (d + 1);
    Matrix jacobian = Matrix::Zero(n * q, k * q + slopes);
    for (Index o = 0; o < q; ++o) {
        jacobian.block(o * n, o * k, n, k) = dense.phi.topRows(n);
        for (Index c = 0; c < slopes; ++c)
            jacobian.block(o * n, k * q + c, n, 1) = dense.a(c / (d + 1), o) * dense.slopes.col(c).head(n);
    }
    Vector precision(jacobian.cols());
    precision.head(k * q).setConstant(ridge * data.weights.sum() / assumed);
    double prior = ridge * data.weights.sum() * dense.a.squaredNorm() / assumed;
    for (Index c = 0; c < slopes; ++c) {
        const double w = data.nodes(d, c / (d + 1));
        const double center_variance = half_diagonal * half_diagonal / (3.0 * static_cast<double>(d));
        precision(k * q + c) = c % (d + 1) == d ? strength / assumed : w * w / center_variance;
        if (c % (d + 1) == d) prior += strength * std::pow(std::log(w / 1.2), 2) / assumed;
    }
    const Vector unit_step = precision.cwiseSqrt().cwiseInverse();
    const Matrix relative =
        unit_step.asDiagonal() * Matrix(jacobian.transpose() * jacobian) * unit_step.asDiagonal();
    const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(relative).eigenvalues().cwiseMax(0.0);
    const double squares = dense.residual.topRows(n).squaredNorm(), residuals = static_cast<double>(n * q);
    double unit = assumed, gamma = 0.0, volume = 0.0;
    for (int pass = 0; pass < 3; ++pass) {
        const Vector e = eigenvalues / unit;
        gamma = (e.array() / (1.0 + e.array())).sum();
        volume = (1.0 + e.array()).log().sum();
        unit = squares / (residuals - gamma);
    }
    CHECK(found.effective_parameters == Approx(gamma).epsilon(1e-6));
    CHECK(gamma > 1.0);
    CHECK(gamma < static_cast<double>(jacobian.cols()));
    CHECK(found.noise_deviation == Approx(std::sqrt(unit / scales.mean_weight)).epsilon(1e-6));
    CHECK(found.value == Approx(squares / unit + prior + volume +
                                residuals * std::log(unit / (scales.mean_weight * scales.target_variance)))
                             .epsilon(1e-6));
}

/// Two ridges in three dimensions, one input of four idle.
Vector smooth(const Matrix& x) {
    Vector y(x.cols());
    for (Index i = 0; i < x.cols(); ++i) y(i) = std::sin(2.0 * x(0, i) + x(1, i)) + 0.5 * x(2, i) * x(0, i);
    return y;
}

double deviation_of(const Vector& y) { return std::sqrt((y.array() - y.mean()).square().mean()); }

TEST_CASE("noise in several dimensions is estimated with the model", "[evidence]") {
    const Matrix x = support::uniforms(4, 200, 1, -1.5, 1.5);
    const Vector clean = smooth(x);
    const double sigma = GENERATE(0.05, 0.2);
    CAPTURE(sigma);
    const Vector y = clean + sigma * deviation_of(clean) * support::normals(200, 1, 2);
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(x, y);
    const double estimated = fit.model.statistics().noise(0) / deviation_of(clean);
    CHECK(estimated >= sigma / 1.5);
    CHECK(estimated <= sigma * 1.5);
    const Matrix fresh = support::uniforms(4, 1000, 3, -1.4, 1.4);
    const Vector truth = smooth(fresh);
    const double error = std::sqrt((fit.model.predict(fresh) - truth).squaredNorm() / 1000.0);
    // A single search at the neighbours' estimate stops earlier.
    Options once;
    once.search.evidence.max_rounds = 0;
    const auto stopped = SparseKernelEstimator<AnisotropicGaussian>(once).fit(x, y);
    if (sigma < 0.1) CHECK(fit.report.kernels >= stopped.report.kernels);
    CHECK(error <= 0.15 * deviation_of(clean));
    if (sigma > 0.1) return;
    CHECK(fit.report.residual < stopped.report.residual);
    // The dual is solved again at the tolerance that follows from the noise of the model.
    CHECK(stopped.report.noise_deviation > 2.0 * sigma * deviation_of(clean));
    CHECK(fit.report.noise_deviation <= 1.5 * sigma * deviation_of(clean));
    CHECK(fit.report.solved_tolerance == Approx(Options{}.noise_multiple * fit.report.noise_deviation));
    CHECK(fit.report.status == Status::converged);
    CHECK(fit.report.relative_gap() <= 1e-3);
}

TEST_CASE("noise alone is not followed, and no noise is no trouble", "[evidence]") {
    const Matrix x = support::uniforms(3, 150, 4);
    const Vector noise = support::normals(150, 1, 5);
    const auto nothing = SparseKernelEstimator<AnisotropicGaussian>().fit(x, noise);
    CHECK(nothing.report.kernels <= 1);
    const Matrix few = x.leftCols(30);
    const auto fit =
        SparseKernelEstimator<AnisotropicGaussian>().fit(few, smooth(support::uniforms(3, 30, 4)));
    CHECK(fit.report.kernels <= 30 / 7);
    CHECK(std::isfinite(fit.report.residual));
    CHECK(fit.model.predict(x).allFinite());
}

TEST_CASE("without a prior on coefficients these count in full", "[evidence]") {
    const Matrix x = support::uniforms(3, 120, 8, -1.5, 1.5);
    const Vector y = smooth(Matrix(x.replicate(2, 1))) + 0.02 * support::normals(120, 1, 9);
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>(Options{.ridge = 0.0}).fit(x, y);
    CHECK(fit.report.kernels >= 2);
    CHECK(fit.report.residual <= 0.1);
    Matrix a(2, 2);
    a << 3.0, 1.0, 1.0, 2.0;
    // tr P (A + P)⁻¹ with P = diag(0, 4): 4 · 3/(3 · 6 − 1)
    const detail::Posterior one = detail::posterior(a, Vector{{0.0, 2.0}}, 50.0);
    CHECK(one.determined.sum() == Approx(2.0 - 12.0 / 17.0));
    // log det(A + P) − log P, the prior of the first of unit information: 3/50
    CHECK(one.log_volume == Approx(std::log(17.0) - std::log(3.0 / 50.0) - std::log(4.0)));
    CHECK(detail::posterior(a, Vector::Zero(2), 50.0).determined.sum() == Approx(2.0));
}

TEST_CASE("repeated samples are a floor of the noise", "[evidence]") {
    const Matrix places = support::uniforms(2, 60, 6);
    Matrix x(2, 120), y(1, 120);
    x << places, places;
    y = 0.1 * support::normals(1, 120, 7);
    const detail::NoiseEstimate estimate = detail::noise_estimate<double>(x, y);
    CHECK(estimate.is_bound);
    CHECK(estimate.floor >= 0.07);
    CHECK(estimate.floor <= 0.14);
    CHECK_FALSE(detail::noise_estimate<double>(x.topRows(1), y).is_bound);
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(x, y.transpose());
    CHECK(fit.report.residual >= 0.05);
}

}  // namespace evidence_test
