#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/search/levenberg_marquardt.hpp>

#include <cmath>

namespace levenberg_marquardt_test {

using namespace kernelet;
using support::DenseLeastSquares;
using support::squared_problem;
using support::Unexplained;

constexpr double ridge = 1e-4;

Box wide(Index d) { return {Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0}}; }

/// Samples of a sum of Gaussians at known nodes, in d = 1 or 2.
struct Planted {
    static constexpr double ridge = 1e-12;
    Matrix nodes{};
    Matrix x{};
    Matrix y{};
    Vector weights{};

    explicit Planted(Index d)
        : nodes(d + 1, 2), x(support::uniforms(d, 150, 3, -3.0, 3.0)), weights(Vector::Ones(150)) {
        nodes.topRows(d).col(0).setConstant(-1.1);
        nodes.topRows(d).col(1).setConstant(0.9);
        nodes.bottomRows(1) << 0.7, 1.1;
        Matrix a(2, 2);  // two outputs share the kernels
        a << 1.0, -2.0, 0.5, 1.5;
        y = detail::synthesize(Gaussian{}, detail::TiledPoints(x), nodes, a);
    }
};

}  // namespace levenberg_marquardt_test

TEST_CASE("a minimisation returns displaced kernels to the planted nodes", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    const detail::TiledPoints points(truth.x);
    const Box box(Vector::Constant(d, -4.0), Vector::Constant(d, 4.0), {0.1, 4.0});
    const SearchProblem problem =
        squared_problem(box, points, truth.y, truth.weights, {.ridge = Planted::ridge});
    Matrix start = truth.nodes;
    start.topRows(d).array() += 0.25;
    start.bottomRows(1) *= 1.3;
    const FittedKernels found = LevenbergMarquardt<>(problem).minimize(start);
    REQUIRE(found.size() == 2);
    CHECK((found.fit.nodes - truth.nodes).cwiseAbs().maxCoeff() <= 1e-3);
    CHECK(found.fit.coefficients(0, 0) == Approx(1.0).epsilon(1e-3));
    CHECK(found.fit.coefficients(0, 1) == Approx(0.5).epsilon(1e-3));
    CHECK(found.cost <= 1e-5 * truth.y.squaredNorm());
}

TEST_CASE("a minimisation keeps the mask and the bounds of the domain and never raises the cost",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Planted truth(1);
    const detail::TiledPoints points(truth.x);
    Matrix start = truth.nodes;
    start.row(0).array() += 0.3;
    start.row(1).setConstant(0.9);
    const auto minimum = [&](const AnyDomain& domain, Index steps) {
        const SearchProblem problem =
            squared_problem(domain, points, truth.y, truth.weights, {.ridge = Planted::ridge});
        return LevenbergMarquardt<>(problem).minimize(start, {.max_steps = steps});
    };
    const FixedWidth fixed(-4.0, 4.0, 0.9);
    const FittedKernels widths_kept = minimum(fixed, 40);
    CHECK((widths_kept.fit.nodes.row(1).array() == 0.9).all());
    CHECK(widths_kept.cost < minimum(fixed, 0).cost);
    const CandidateCenters candidates(start.topRows(1), {0.1, 4.0});
    const FittedKernels centers_kept = minimum(candidates, 40);
    CHECK(support::same_bits(centers_kept.fit.nodes.row(0), start.row(0)));
    CHECK(centers_kept.cost < minimum(candidates, 0).cost);
    const Box tight(-1.0, 0.8, {0.8, 1.0});  // the planted nodes lie outside
    const Matrix bounded = minimum(tight, 40).fit.nodes;
    CHECK(bounded.row(0).minCoeff() >= -1.0);
    CHECK(bounded.row(0).maxCoeff() <= 0.8);
    CHECK(bounded.row(1).minCoeff() >= 0.8);
    CHECK(bounded.row(1).maxCoeff() <= 1.0);
    const Box free(-4.0, 4.0, {0.1, 4.0});
    double before = minimum(free, 0).cost;
    for (Index steps = 1; steps <= 10; ++steps) {
        const double after = minimum(free, steps).cost;
        CHECK(after <= before);
        before = after;
    }
}

TEST_CASE("a prior on widths costs the square of each log width and enters the minimum",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 3);
    const detail::TiledPoints points(s.x);
    const WidthPrior prior{2.5, 0.4};
    const SearchProblem no_prior = squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge});
    const SearchProblem problem =
        squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge, .widths = prior});
    const FittedKernels without = LevenbergMarquardt<>(no_prior).evaluate(s.nodes);
    LevenbergMarquardt<> lm(problem);
    const auto cost_of = [&](const Matrix& nodes) {
        const auto excess = (nodes.bottomRows(1).array() / prior.typical).log();
        return DenseLeastSquares(s.x, s.y, s.weights, nodes, ridge).cost +
               prior.strength * excess.square().sum();
    };
    FittedKernels start = lm.evaluate(s.nodes);
    lm.linearize(start);
    CHECK(start.cost == Approx(cost_of(s.nodes)).epsilon(1e-9));
    CHECK(start.cost > without.cost);
    // The prior of a removed kernel is removed with it. At this damping no kernel moves.
    constexpr double damping = 1e12;
    const Vector predicted = lm.predicted_costs_without(start, damping);
    for (Index j = 0; j < start.size(); ++j)
        CHECK(predicted(j) == Approx(cost_of(without_column(s.nodes, j))).epsilon(1e-7));

    const FittedKernels found = lm.minimize(s.nodes, {.max_steps = 400, .min_decrease = 1e-14});
    const double least = cost_of(found.fit.nodes);
    CHECK(found.cost == Approx(least).epsilon(1e-7));
    CHECK(least < start.cost);
    constexpr double step = 0.05;
    for (Index j = 0; j < found.size(); ++j)
        for (const double factor : {1.0 - step, 1.0 + step}) {
            Matrix other = found.fit.nodes;
            other(d, j) *= factor;
            CHECK(cost_of(other) > least);
        }
}

TEST_CASE("the cost predicted without a kernel is that of a dense damped step without it",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const double damping = GENERATE(0.1, 3.0);
    const Unexplained s(d, outputs, 4);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    FittedKernels now = lm.evaluate(s.nodes);
    lm.linearize(now);
    const Vector predicted = lm.predicted_costs_without(now, damping);
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, ridge);
    for (Index j = 0; j < now.size(); ++j) {
        const DenseLeastSquares rest(s.x, s.y, s.weights, without_column(s.nodes, j), ridge);
        const double expected = dense.after_one_step_without(j, damping);
        REQUIRE(expected < rest.cost);
        CHECK(rest.cost - predicted(j) == Approx(rest.cost - expected).epsilon(1e-6));
    }
}

TEST_CASE("the step of a prediction stays inside the domain", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Unexplained s(1, 1, 4);
    const detail::TiledPoints points(s.x);
    const auto problem_on = [&](const AnyDomain& domain) {
        return squared_problem(domain, points, s.y, s.weights, {.ridge = ridge});
    };
    const SearchProblem centers_held = problem_on(CandidateCenters(s.nodes.topRows(1), {1e-3, 1e3}));
    const SearchProblem pinched = problem_on(Box(-9.0, 9.0, {0.9, 1.7}));
    const SearchProblem free = problem_on(Box(-9.0, 9.0, {0.01, 90.0}));
    LevenbergMarquardt<> held(centers_held), bounded(pinched), unbounded(free);
    FittedKernels now = held.evaluate(s.nodes);
    held.linearize(now);
    Matrix at_bounds = s.nodes;
    at_bounds.row(1) << 0.9, 1.7, 0.9, 1.7;
    FittedKernels tight = bounded.evaluate(at_bounds);
    bounded.linearize(tight);
    bool binds = false;
    const Vector predicted = held.predicted_costs_without(now, 0.1);
    const Vector inside = bounded.predicted_costs_without(tight, 0.1);
    const Vector anywhere = unbounded.predicted_costs_without(tight, 0.1);
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, ridge);
    for (Index j = 0; j < now.size(); ++j) {
        const DenseLeastSquares rest(s.x, s.y, s.weights, without_column(s.nodes, j), ridge);
        CHECK(predicted(j) <= rest.cost);
        CHECK(predicted(j) >= dense.after_one_step_without(j, 0.1));  // where centers move too
        CHECK(inside(j) >= anywhere(j) * (1.0 - 1e-12));
        binds = binds || inside(j) > anywhere(j) * (1.0 + 1e-9);
    }
    CHECK(binds);
}

TEST_CASE("a weight of two counts as the sample twice", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Index outputs = GENERATE(1, 2);
    const Unexplained s(1, outputs, 3);
    const Index n = s.x.cols();
    Vector weights = Vector::Ones(n);
    Matrix x(1, n + n / 2), y(outputs, n + n / 2);
    x.leftCols(n) = s.x;
    y.leftCols(n) = s.y;
    for (Index i = 0; i < n / 2; ++i) {
        weights(2 * i) = 2.0;
        x.col(n + i) = s.x.col(2 * i);
        y.col(n + i) = s.y.col(2 * i);
    }
    const Vector ones = Vector::Ones(x.cols());
    const detail::TiledPoints points(s.x), more(x);
    const Box box(-9.0, 9.0, {0.5, 9.0});
    const SearchProblem weighting = squared_problem(box, points, s.y, weights, {.ridge = ridge});
    const SearchProblem repeating = squared_problem(box, more, y, ones, {.ridge = ridge});
    const FittedKernels weighted = LevenbergMarquardt<>(weighting).minimize(s.nodes, {.max_steps = 5});
    const FittedKernels repeated = LevenbergMarquardt<>(repeating).minimize(s.nodes, {.max_steps = 5});
    CHECK((weighted.fit.nodes - s.nodes).norm() > 1e-2);
    CHECK((weighted.fit.nodes - repeated.fit.nodes).cwiseAbs().maxCoeff() <= 1e-7);
    CHECK(weighted.cost == Approx(repeated.cost).epsilon(1e-10));
    CHECK((weighted.fit.coefficients - repeated.fit.coefficients).cwiseAbs().maxCoeff() <= 1e-6);
}

TEST_CASE("set_ridge replaces the ridge of the problem, and resume continues a minimisation",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Unexplained s(1, 1, 3);
    const detail::TiledPoints points(s.x);
    const Box box(-9.0, 9.0, {0.5, 9.0});
    const SearchProblem first = squared_problem(box, points, s.y, s.weights, {.ridge = 0.1});
    const SearchProblem second = squared_problem(box, points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(first), other(second);
    CHECK(lm.ridge() == 0.1);
    lm.set_ridge(ridge);
    CHECK(lm.ridge() == ridge);
    const FittedKernels a = lm.minimize(s.nodes, {.max_steps = 3}),
                        b = other.minimize(s.nodes, {.max_steps = 3});
    CHECK(support::same_bits(a.fit.nodes, b.fit.nodes));
    CHECK(a.cost == b.cost);
    CHECK(support::same_bits(lm.resume(a).fit.nodes, lm.minimize(a.fit.nodes).fit.nodes));
    CHECK(lm.resume(a).cost < a.cost);
}

TEST_CASE("the counters of a minimisation count what was computed", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Unexplained s(1, 1, 3);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = squared_problem(wide(1), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    CHECK(lm.counters().evaluations == 0);
    const FittedKernels start = lm.evaluate(s.nodes);
    CHECK(lm.counters().evaluations == 1);
    CHECK(lm.counters().minimizations == 0);
    constexpr Index steps = 4;
    const FittedKernels found = lm.resume(start, {.max_steps = steps, .min_decrease = 0.0});
    CHECK(found.cost < start.cost);
    CHECK(lm.counters().minimizations == 1);
    CHECK(lm.counters().steps == steps);
    CHECK(lm.counters().accepted >= 1);
    CHECK(lm.counters().accepted <= steps);
    CHECK(lm.counters().evaluations == 1 + steps);
    lm.minimize(s.nodes, {.max_steps = 1});
    CHECK(lm.counters().minimizations == 2);
    CHECK(lm.counters().steps == steps + 1);
    CHECK(lm.counters().evaluations == steps + 3);
}

TEST_CASE("coincident kernels and no kernels give finite results", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Planted truth(1);
    const detail::TiledPoints points(truth.x);
    const Box box(-4.0, 4.0, {0.1, 4.0});
    const double apart = GENERATE(0.0, 1e-12, 1e-9, 1e-6, 1e-3);
    const double small = GENERATE(0.0, 1e-12, 1e-7);
    CAPTURE(apart, small);
    Matrix same(2, 3);
    same << 0.5, 0.5 + apart, 0.5 - apart, 1.0, 1.0 - apart, 1.0;
    const SearchProblem problem = squared_problem(box, points, truth.y, truth.weights, {.ridge = small});
    LevenbergMarquardt<> lm(problem);
    for (const Index steps : {0, 40}) {
        FittedKernels found = lm.minimize(same, {.max_steps = steps});
        lm.linearize(found);
        CHECK(found.fit.nodes.allFinite());
        CHECK(found.fit.coefficients.allFinite());
        CHECK(std::isfinite(found.cost));
        CHECK(found.cost <= lm.evaluate(same).cost);
        for (Index j = 0; j < 3; ++j) {
            CHECK(std::isfinite(found.removal_cost(j)));
            CHECK(found.removal_cost(j) >= 0.0);
        }
        CHECK(lm.predicted_costs_without(found, 0.1).allFinite());
    }
    const FittedKernels nothing = lm.minimize(Matrix(2, 0));
    CHECK(nothing.size() == 0);
    CHECK(nothing.fit.coefficients.cols() == 2);
    CHECK(nothing.cost == Approx(truth.y.squaredNorm()));
}

TEST_CASE("kernels that do not move stay where they are, and their coefficients follow",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Unexplained s(1, 2, 5);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = squared_problem(wide(1), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    FittedKernels start = lm.evaluate(s.nodes);
    lm.linearize(start, {1, 3});
    const FittedKernels found = lm.resume(start, {.max_steps = 10});
    CHECK(found.cost < start.cost);
    for (const Index j : {0, 2, 4}) CHECK(found.fit.nodes.col(j) == s.nodes.col(j));
    for (const Index j : {1, 3}) CHECK(found.fit.nodes.col(j) != s.nodes.col(j));
    CHECK(found.cost ==
          Approx(DenseLeastSquares(s.x, s.y, s.weights, found.fit.nodes, ridge).cost).epsilon(1e-9));
    CHECK_FALSE(found.quadratic);  // all may move in what follows
}

TEST_CASE("a kernel is removed from the curvature without another pass over the samples",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Index outputs = GENERATE(1, 2);
    const bool intercept = GENERATE(false, true);
    const Unexplained s(2, outputs, 5);
    const detail::TiledPoints points(s.x);
    SearchProblem problem = squared_problem(wide(2), points, s.y, s.weights, {.ridge = ridge});
    problem.trend = intercept ? Trend::constant : Trend::none;
    LevenbergMarquardt<> lm(problem);
    FittedKernels all = lm.evaluate(s.nodes);
    lm.linearize(all);
    const FittedKernels downdated = lm.without(all, 2, {0, 2, 3});
    FittedKernels fresh = lm.evaluate(without_column(s.nodes, 2));
    lm.linearize(fresh, {0, 2});
    REQUIRE(downdated.quadratic);
    CHECK(downdated.quadratic->kernels.moving == std::vector<Index>{0, 2});
    const auto same = [](const Matrix& a, const Matrix& b) {
        return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).norm() <= 1e-11 * b.norm();
    };
    CHECK(same(downdated.quadratic->reduced, fresh.quadratic->reduced));
    CHECK(same(downdated.quadratic->cross, fresh.quadratic->cross));
    CHECK(same(downdated.quadratic->inverse, fresh.quadratic->inverse));
    CHECK(downdated.cost == Approx(fresh.cost).epsilon(1e-13));
}

TEST_CASE("a curvature that is kept for some steps leads to the same minimum with fewer Gram matrices",
          "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Planted truth(1);
    const detail::TiledPoints points(truth.x);
    const Box box(-4.0, 4.0, {0.1, 4.0});
    const SearchProblem problem = squared_problem(box, points, truth.y, truth.weights, {.ridge = 1e-8});
    Matrix start = truth.nodes;
    start.array() *= 1.05;
    const LevenbergMarquardtOptions exact{.max_steps = 200, .min_decrease = 1e-13};
    LevenbergMarquardtOptions kept = exact;
    kept.steps_per_curvature = 3;
    LevenbergMarquardt<> each(problem), some(problem);
    const FittedKernels a = each.minimize(start, exact), b = some.minimize(start, kept);
    CHECK(b.cost == Approx(a.cost).epsilon(1e-6));
    CHECK((a.fit.nodes - b.fit.nodes).cwiseAbs().maxCoeff() <= 1e-3);
    CHECK(each.counters().curvatures >= each.counters().accepted);
    CHECK(2 * some.counters().curvatures < some.counters().accepted + 8);
}

TEST_CASE("a race ends where a cost is reached or out of reach", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Unexplained s(1, 1, 4);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = squared_problem(wide(1), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    const FittedKernels start = lm.evaluate(s.nodes);
    const LevenbergMarquardtOptions options{.max_steps = 60, .min_decrease = 1e-12};
    const FittedKernels least = lm.resume(start, options);
    const Index whole = lm.counters().steps;
    const double between = 0.5 * (start.cost + least.cost);
    const FittedKernels reached = lm.resume(start, options, between);
    CHECK(reached.cost < between);
    CHECK(lm.counters().steps - whole < whole);
    CHECK(lm.counters().raced == 0);
    const Index before = lm.counters().steps;
    const FittedKernels lost = lm.resume(start, options, 1e-3 * least.cost);
    CHECK(lost.cost >= least.cost * (1.0 - 1e-9));
    CHECK(lm.counters().raced == 1);
    CHECK(lm.counters().steps - before < whole);
}

TEST_CASE("coincident kernels move and are predicted whatever the unit of y", "[levenberg_marquardt]") {
    using namespace levenberg_marquardt_test;
    const Planted truth(1);
    const detail::TiledPoints points(truth.x);
    const double unit = GENERATE(1e-60, 1.0, 1e20, 1e60);
    CAPTURE(unit);
    const Matrix y = unit * truth.y;
    const SearchProblem problem =
        squared_problem(Box(-4.0, 4.0, {0.1, 4.0}), points, y, truth.weights, {.ridge = 0.0});
    Matrix same(2, 4);
    same << 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0;
    LevenbergMarquardt<> lm(problem);
    FittedKernels start = lm.evaluate(same);
    // curvature of the wrong sign, as rounding may leave it
    lm.linearize(start);
    start.quadratic->reduced *= -1.0;
    const FittedKernels found = lm.resume(start, {.max_steps = 20});
    CHECK(std::isfinite(found.cost));
    CHECK(found.cost <= start.cost);
    CHECK(lm.predicted_costs_without(start, 0.1).allFinite());
}
