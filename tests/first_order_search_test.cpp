#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/search/first_order_search.hpp>

#include <cmath>
#include <string>
#include <vector>

// The first-order path for many kernels: gradient, descent, growth.
namespace first_order_search_test {

using namespace kernelet;

constexpr Index n = 300;  // more than a block of samples, and not a multiple of a tile

/// Kernels of several widths around the samples; p widths per kernel.
Matrix nodes_of(Index d, Index p, Index k) {
    Matrix nodes(d + p, k);
    nodes << support::uniforms(d, k, 4, -1.5, 1.5), support::uniforms(p, k, 5, 0.4, 1.2);
    return nodes;
}

template <class Kernel>
void check_gradient(const Kernel& kernel, double far) {
    constexpr Index d = 3, k = 4, q = 2;
    constexpr double h = 1e-5;
    const Matrix x = support::uniforms(d, n, 1, -1.5, 1.5).array() + far;
    const detail::TiledPoints points(x);
    const Matrix y = support::normals(q, n, 2).unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
    const Vector weights = support::uniforms(n, 1, 3, 0.5, 2.0);
    const Box box(Vector::Constant(d, far - 2.0), Vector::Constant(d, far + 2.0), {0.1, 2.0});
    const SearchProblem problem{.kernel = kernel,
                                .domain = box.with_parameters(parameter_layout(kernel, d)),
                                .points = points,
                                .loss = {LogisticLoss{}, y, weights, 0.25},
                                .trend = Trend::linear};
    const ExpansionGradient<> gradient(problem);
    KernelExpansion model{nodes_of(d, kernel.parameters(d), k), support::normals(k, q, 6),
                          support::normals(q, 1, 7)};
    model.nodes.topRows(d).array() += far;
    model.slopes = 0.1 * support::normals(d, q, 8);
    model.offset -= model.slopes.transpose() * Vector::Constant(d, far);
    const auto cost = [&](const KernelExpansion& at) {
        Matrix f =
            detail::synthesize(kernel, points, at.nodes, Matrix(at.coefficients.transpose())).colwise() +
            at.offset;
        if (at.slopes.size() > 0) f += at.slopes.transpose() * x;
        return problem.loss.cost(f);
    };
    const auto all = gradient(model);
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
            check(all.a(j, o), [&](KernelExpansion& at, double step) { at.coefficients(j, o) += step; });
    }
    for (Index o = 0; o < q; ++o)
        for (Index c = 0; c <= d; ++c)
            check(all.trend(c, o), [&](KernelExpansion& at, double step) {
                Matrix b = Matrix::Zero(1 + d, q);
                b(c, o) = step;
                const detail::TrendBasis trend(Trend::linear, points);
                at.offset += trend.offset(b);
                at.slopes += trend.slopes(b);
            });
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
    /// The squared loss with this ridge.
    SearchProblem problem(double ridge) const {
        return support::squared_problem(box, points, y, weights, {.ridge = ridge});
    }
    double rms(const KernelExpansion& model) const {
        const Matrix values =
            detail::synthesize(Gaussian{}, points, model.nodes, Matrix(model.coefficients.transpose()));
        return (values - y).norm() / std::sqrt(static_cast<double>(y.size()));
    }
    /// No planted node is among them.
    Matrix candidates() const {
        Matrix all(d + 1, 600);
        all << support::uniforms(d, 600, 16, -1.0, 1.0), support::uniforms(1, 600, 17, 0.2, 0.8);
        return all;
    }
};

}  // namespace first_order_search_test

TEST_CASE("the gradient of an expansion is that of finite differences, by matrix products and by jets",
          "[first_order_search]") {
    using namespace first_order_search_test;
    STATIC_REQUIRE(detail::LogLinear<Gaussian>);
    STATIC_REQUIRE(detail::LogLinear<AnisotropicGaussian>);
    STATIC_REQUIRE(!detail::LogLinear<Matern52>);
    for (const double far : {0.0, 1e5}) {
        INFO("samples around " << far);
        check_gradient(Gaussian{}, far);
        check_gradient(AnisotropicGaussian{}, far);
        check_gradient(Matern52{}, far);
    }
}

TEST_CASE("the gradient has the same bits for any number of threads", "[first_order_search][threads]") {
    using namespace first_order_search_test;
    const Planted planted;
    const SearchProblem problem = planted.problem(0.0);
    const ExpansionGradient<> gradient(problem);
    const Matrix nodes = planted.candidates().leftCols(100);
    const KernelExpansion model{nodes, support::normals(nodes.cols(), 1, 18), Vector::Zero(1)};
    const auto with = [&](int threads) {
        const support::Threads scope(threads);
        return gradient(model);
    };
    const auto one = with(1), four = with(4);
    CHECK(one.cost == four.cost);
    CHECK(one.nodes == four.nodes);
    CHECK(one.a == four.a);
}

TEST_CASE("L-BFGS finds the minimum of the Rosenbrock function and never raises the cost", "[lbfgs]") {
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

TEST_CASE("descent takes displaced kernels to a fit within the noise and keeps what the domain holds",
          "[first_order_search]") {
    using namespace first_order_search_test;
    const Planted planted;
    const SearchProblem problem = planted.problem(1e-9);
    KernelExpansion start{planted.nodes, Matrix::Zero(Planted::kernels, 1), Vector::Zero(1)};
    start.nodes.topRows(Planted::d) += 0.08 * support::normals(Planted::d, Planted::kernels, 19);
    start.nodes.bottomRows(1) *= 1.3;
    const KernelExpansion found = FirstOrderDescent<>(problem).minimize(start, 400, {.min_decrease = 0.0});
    // With its centers held, the start misses by more than the noise; the end does not.
    SearchProblem rigid = planted.problem(1e-9);
    rigid.domain = CandidateCenters(start.nodes.topRows(Planted::d), {0.1, 2.0});
    const KernelExpansion unmoved = FirstOrderDescent<>(rigid).minimize(start, 200, {});
    CHECK(planted.rms(unmoved) >= 2.0 * Planted::noise);
    CHECK(planted.rms(found) <= 1.05 * Planted::noise);
    // Candidates keep their centers, and widths stay in the range of the domain.
    SearchProblem held = planted.problem(1e-9);
    held.domain = CandidateCenters(start.nodes.topRows(Planted::d), {0.4, 0.45});
    const KernelExpansion kept = FirstOrderDescent<>(held).minimize(start, 20, {});
    CHECK(kept.nodes.topRows(Planted::d) == start.nodes.topRows(Planted::d));
    CHECK(kept.nodes.bottomRows(1).minCoeff() >= 0.4);
    CHECK(kept.nodes.bottomRows(1).maxCoeff() <= 0.45);
    CHECK(kept.coefficients.norm() > 0.0);
}

TEST_CASE("a model grows while the loss of samples held out falls, or to a tolerance, up to max_kernels",
          "[first_order_search]") {
    using namespace first_order_search_test;
    const Planted planted;
    const SearchProblem problem = planted.problem(1e-7);
    const SearchOptions options;
    FirstOrderSearch<> search(problem, options);
    const Matrix none(Planted::d + 1, 0);
    const FirstOrderResult free = search.run(none, planted.candidates(), 200);
    CHECK(free.model.size() >= Planted::kernels);
    CHECK(free.model.size() <= 4 * Planted::kernels);
    CHECK(!free.more_wanted);
    CHECK(planted.rms(free.model) <= 1.1 * Planted::noise);

    const FirstOrderResult few = search.run(none, planted.candidates(), 9);
    CHECK(few.model.size() == 9);
    CHECK(few.more_wanted);

    FirstOrderSearch<> towards(problem, options,
                               [&](const KernelExpansion& m) { return planted.rms(m) <= 0.2; });
    const FirstOrderResult to_tolerance = towards.run(none, planted.candidates(), 200);
    CHECK(planted.rms(to_tolerance.model) <= 0.2);
    CHECK(to_tolerance.model.size() < free.model.size());
    CHECK(!to_tolerance.more_wanted);

    const FirstOrderResult nothing = search.run(none, none, 5);
    CHECK(nothing.model.size() == 0);
}

TEST_CASE("the first-order search is used from max_second_order_work on", "[first_order_search]") {
    using namespace first_order_search_test;
    constexpr Index free_rows = Planted::d + 1, kernels = 20;
    constexpr double parameters = 100.0;
    const double work = parameters * parameters * (static_cast<double>(Planted::samples) + parameters);
    FirstOrderOptions options;
    options.max_second_order_work = work;
    CHECK_FALSE(needs_first_order(Planted::samples, free_rows, kernels, options));
    CHECK(needs_first_order(Planted::samples, free_rows, kernels + 1, options));
    options.max_second_order_work = 0.999 * work;
    CHECK(needs_first_order(Planted::samples, free_rows, kernels, options));
}

TEST_CASE("a random part has the size asked for, ascends, and draws every sample equally often", "[random]") {
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
