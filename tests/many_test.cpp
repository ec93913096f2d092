#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/refit/many.hpp>

#include <cmath>
#include <string>
#include <vector>

// The first-order path for many kernels: slopes, descent, growth.
namespace many_test {

using namespace kernelet;

constexpr Index n = 300;  // more than a block of samples, and no multiple of a tile

/// Kernels of every width around the samples; widths one a coordinate or one in all.
Matrix nodes_of(Index d, Index p, Index k) {
    Matrix nodes(d + p, k);
    nodes << support::uniforms(d, k, 4, -1.5, 1.5), support::uniforms(p, k, 5, 0.4, 1.2);
    return nodes;
}

template <class Kernel>
void check_slopes(const Kernel& kernel, double far) {
    constexpr Index d = 3, k = 4, q = 2;
    constexpr double h = 1e-5;
    const Matrix x = support::uniforms(d, n, 1, -1.5, 1.5).array() + far;
    const detail::TiledPoints points(x);
    const Matrix y = support::normals(q, n, 2).unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
    const Vector weights = support::uniforms(n, 1, 3, 0.5, 2.0);
    const SmoothedLoss<LogisticLoss> loss(LogisticLoss{}, y, weights, 0.25);
    const ModelSlopes<Kernel, LogisticLoss> slopes(kernel, points, loss);
    KernelExpansion model{nodes_of(d, kernel.parameters(d), k), support::normals(k, q, 6),
                          support::normals(q, 1, 7)};
    model.nodes.topRows(d).array() += far;
    const auto cost = [&](const KernelExpansion& at) {
        return loss.cost(detail::synthesize(kernel, points, at.nodes, Matrix(at.a.transpose())).colwise() +
                         at.offset);
    };
    const auto all = slopes(model);
    CHECK(all.cost == Approx(cost(model)).epsilon(1e-8));
    const auto check = [&](double slope, const auto& change) {
        KernelExpansion below = model, above = model;
        change(below, -h);
        change(above, h);
        CHECK(slope == Approx(-0.5 * (cost(above) - cost(below)) / (2.0 * h)).margin(2e-4));
    };
    for (Index j = 0; j < k; ++j) {
        for (Index row = 0; row < model.nodes.rows(); ++row)
            check(all.nodes(row, j), [&](KernelExpansion& at, double step) {
                at.nodes(row, j) = row < d ? at.nodes(row, j) + step : at.nodes(row, j) * std::exp(step);
            });
        for (Index o = 0; o < q; ++o)
            check(all.a(j, o), [&](KernelExpansion& at, double step) { at.a(j, o) += step; });
    }
    for (Index o = 0; o < q; ++o)
        check(all.offset(o), [&](KernelExpansion& at, double step) { at.offset(o) += step; });
}

/// Twelve separate bumps in four dimensions, with noise.
struct Planted {
    static constexpr Index d = 4, kernels = 12, samples = 2000;
    static constexpr double noise = 0.05;
    Matrix x = support::uniforms(d, samples, 11, -1.0, 1.0);
    Matrix nodes{};
    Matrix y{};
    Vector weights = Vector::Ones(samples);
    detail::TiledPoints points{x};
    Box box{Vector::Constant(d, -1.2), Vector::Constant(d, 1.2), {0.1, 2.0}};

    Planted() {
        nodes.resize(d + 1, kernels);
        nodes << support::uniforms(d, kernels, 12, -0.9, 0.9), support::uniforms(1, kernels, 13, 0.3, 0.5);
        const Matrix a = support::normals(kernels, 1, 14).array().sign() * 2.0;
        y = detail::synthesize(Gaussian{}, points, nodes, Matrix(a.transpose())) +
            noise * support::normals(1, samples, 15);
    }
    /// Among which no planted node is.
    Matrix candidates() const {
        Matrix all(d + 1, 600);
        all << support::uniforms(d, 600, 16, -1.0, 1.0), support::uniforms(1, 600, 17, 0.2, 0.8);
        return all;
    }
};

double rms(const Matrix& values) { return values.norm() / std::sqrt(static_cast<double>(values.size())); }

}  // namespace many_test

TEST_CASE("slopes of a model are those of its loss, by products of matrices or by jets", "[many]") {
    using namespace many_test;
    STATIC_REQUIRE(detail::LogLinear<Gaussian>);
    STATIC_REQUIRE(detail::LogLinear<AnisotropicGaussian>);
    STATIC_REQUIRE(!detail::LogLinear<Matern52>);
    for (const double far : {0.0, 1e5}) {
        INFO("samples around " << far);
        check_slopes(Gaussian{}, far);
        check_slopes(AnisotropicGaussian{}, far);
        check_slopes(Matern52{}, far);
    }
}

TEST_CASE("slopes have the same bits for any number of threads", "[many][threads]") {
    using namespace many_test;
    const Planted planted;
    const SmoothedLoss<SquaredLoss> loss(SquaredLoss{}, planted.y, planted.weights, 0.0);
    const ModelSlopes<Gaussian, SquaredLoss> slopes(Gaussian{}, planted.points, loss);
    const Matrix nodes = planted.candidates().leftCols(100);
    const KernelExpansion model{nodes, support::normals(nodes.cols(), 1, 18), Vector::Zero(1)};
    const auto with = [&](int threads) {
        const support::Threads scope(threads);
        return slopes(model);
    };
    const auto one = with(1), four = with(4);
    CHECK(one.cost == four.cost);
    CHECK(one.nodes == four.nodes);
    CHECK(one.a == four.a);
}

TEST_CASE("L-BFGS finds the minimum of a crooked valley and never climbs", "[lbfgs]") {
    using kernelet::Vector;
    double least = 1e300;
    const auto rosenbrock = [&](const Vector& x, Vector& gradient) {
        const double a = 1.0 - x(0), b = x(1) - x(0) * x(0);
        gradient << -2.0 * a - 400.0 * x(0) * b, 200.0 * b;
        return a * a + 100.0 * b * b;
    };
    Vector x(2);
    x << -1.2, 1.0;
    for (int part = 0; part < 4; ++part) {
        const double cost =
            kernelet::detail::lbfgs(x, rosenbrock, {.max_steps = 20, .memory = 5, .least_progress = 0.0});
        CHECK(cost <= least);
        least = cost;
    }
    CHECK((x - Vector::Ones(2)).norm() <= 1e-6);
}

TEST_CASE("descent takes displaced kernels to a fit within the noise, and keeps what is held", "[many]") {
    using namespace many_test;
    const Planted planted;
    const SmoothedLoss<SquaredLoss> loss(SquaredLoss{}, planted.y, planted.weights, 0.0);
    constexpr double ridge = 1e-9;
    KernelExpansion start{planted.nodes, Matrix::Zero(Planted::kernels, 1), Vector::Zero(1)};
    start.nodes.topRows(Planted::d) += 0.08 * support::normals(Planted::d, Planted::kernels, 19);
    start.nodes.bottomRows(1) *= 1.3;
    const Gaussian kernel;
    const Descent<Gaussian, Box, SquaredLoss> descent(kernel, planted.box, planted.points, loss, ridge,
                                                      false);
    const KernelExpansion found = descent(start, {.max_steps = 400, .least_gain = 0.0});
    const auto residual = [&](const KernelExpansion& model) {
        return rms(detail::synthesize(kernel, planted.points, model.nodes, Matrix(model.a.transpose())) -
                   planted.y);
    };
    // The start, its coefficients at their best, misses by more than the noise; the end does not.
    const CandidateCenters rigid(start.nodes.topRows(Planted::d), {0.1, 2.0});
    const KernelExpansion unmoved = Descent<Gaussian, CandidateCenters, SquaredLoss>(
        kernel, rigid, planted.points, loss, ridge, false)(start, {.max_steps = 200});
    CHECK(residual(unmoved) >= 2.0 * Planted::noise);
    CHECK(residual(found) <= 1.05 * Planted::noise);
    // Candidates keep their centers; widths end at the border of what is allowed.
    const CandidateCenters held(start.nodes.topRows(Planted::d), {0.4, 0.45});
    const KernelExpansion kept = Descent<Gaussian, CandidateCenters, SquaredLoss>(
        kernel, held, planted.points, loss, ridge, false)(start, {.max_steps = 20});
    CHECK(kept.nodes.topRows(Planted::d) == start.nodes.topRows(Planted::d));
    CHECK(kept.nodes.bottomRows(1).minCoeff() >= 0.4);
    CHECK(kept.nodes.bottomRows(1).maxCoeff() <= 0.45);
    CHECK(kept.a.norm() > 0.0);
}

TEST_CASE("a model grows while samples held out gain by it, to a tolerance, and never beyond its limit",
          "[many]") {
    using namespace many_test;
    const Planted planted;
    const SmoothedLoss<SquaredLoss> loss(SquaredLoss{}, planted.y, planted.weights, 0.0);
    constexpr double ridge = 1e-7;
    const Gaussian kernel;
    const Many<Gaussian, Box, SquaredLoss> many(kernel, planted.box, planted.points, loss, ridge, false);
    const auto residual = [&](const KernelExpansion& model) {
        return rms(detail::synthesize(kernel, planted.points, model.nodes, Matrix(model.a.transpose())) -
                   planted.y);
    };
    const Matrix none(Planted::d + 1, 0);
    const ManyKernels free = many(none, planted.candidates(), 200, {});
    CHECK(free.model.size() >= Planted::kernels);
    CHECK(free.model.size() <= 4 * Planted::kernels);
    CHECK(!free.more_wanted);
    CHECK(residual(free.model) <= 1.1 * Planted::noise);

    const ManyKernels few = many(none, planted.candidates(), 9, {});
    CHECK(few.model.size() == 9);
    CHECK(few.more_wanted);

    const ManyKernels to_tolerance =
        many(none, planted.candidates(), 200, [&](const KernelExpansion& m) { return residual(m) <= 0.2; });
    CHECK(residual(to_tolerance.model) <= 0.2);
    CHECK(to_tolerance.model.size() < free.model.size());
    CHECK(!to_tolerance.more_wanted);

    const ManyKernels nothing = many(none, none, 5, {});
    CHECK(nothing.model.size() == 0);
}

TEST_CASE("a random part has the size asked for, ascends, and every sample is as likely", "[random]") {
    using namespace kernelet;
    std::vector<int> chosen(20, 0);
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const auto part = detail::random_part(20, 5, detail::CounterRandom(seed));
        REQUIRE(part.size() == 5);
        for (std::size_t k = 0; k < part.size(); ++k) {
            if (k > 0) REQUIRE(part[k] > part[k - 1]);
            ++chosen[static_cast<std::size_t>(part[k])];
        }
    }
    for (const int times : chosen) CHECK(std::abs(times - 500) <= 100);  // five deviations
    CHECK(detail::random_part(7, 7, detail::CounterRandom(1)).size() == 7);
    CHECK(detail::random_part(7, 0, detail::CounterRandom(1)).empty());
}
