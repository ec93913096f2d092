#include "support/catch.hpp"
#include "support/dual_setting.hpp"
#include "support/threads.hpp"

#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/kernelet.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>

namespace supergradient_test {

using namespace kernelet;

#ifdef NDEBUG
constexpr Index samples = 101;
#else
constexpr Index samples = 31;                                   // sanitizers are slow
#endif

/// Labels and values on a line, with all that a DualProblem refers to.
struct Line {
    Line(const AnyLoss& loss, Scope scope, Index outputs, double tolerance)
        : x(Vector::LinSpaced(samples, -3.0, 3.0).transpose()), points(x) {
        Matrix y(outputs, samples);
        const Matrix noise = 0.05 * support::normals(outputs, samples, 3);
        for (Index o = 0; o < outputs; ++o)
            for (Index i = 0; i < samples; ++i) {
                const double value = std::sin((2.0 + static_cast<double>(o)) * x(0, i)) + noise(o, i);
                y(o, i) = loss.is_classification() ? (value > 0.2 ? 1.0 : -1.0) : value + 0.3;
            }
        feasible = std::make_unique<FeasibleSet<AnyLoss>>(
            loss, y, scope, Vector::Constant(samples, tolerance), Vector::Ones(samples));
    }

    DualProblem<Gaussian, AnyLoss, Box> problem() const { return {kernel, box, points, *feasible}; }

    Matrix x;
    detail::TiledPoints points;
    std::unique_ptr<FeasibleSet<AnyLoss>> feasible{};
    Box box{-3.5, 3.5, {0.2, 2.0}};
    Gaussian kernel{};
};

/// f of a solution from the definition, the trend included.
template <class Problem>
Matrix function_of(const Problem& problem, const DualSolution& s) {
    Matrix f = Matrix::Zero(problem.outputs(), problem.samples());
    const Matrix& xt = problem.points.transposed();
    for (Index j = 0; j < s.alpha.cols(); ++j)
        for (Index i = 0; i < f.cols(); ++i)
            f.col(i) +=
                s.quadrature.weights(j) * s.alpha.col(j) *
                std::exp(-0.5 *
                         std::pow((xt(i, 0) - s.quadrature.nodes(0, j)) / s.quadrature.nodes(1, j), 2));
    if (s.trend.size() > 0)
        f += s.trend * detail::TrendBasis(problem.trend, problem.points).values(problem.points);
    return f;
}

std::vector<AnyLoss> losses() {
#ifdef NDEBUG
    return {SquaredLoss{}, EpsilonInsensitiveLoss(0.05), HuberLoss(0.3), QuantileLoss(0.3), HingeLoss{},
            LogisticLoss{}};
#else
    return {SquaredLoss{}, QuantileLoss(0.3), LogisticLoss{}};  // sanitizers are slow
#endif
}

}  // namespace supergradient_test

TEST_CASE("the metric bounds the Gram matrix of the integral, and its factor does not exceed it",
          "[supergradient]") {
    using namespace supergradient_test;
    const Line line(SquaredLoss{}, Scope::aggregate, 1, 0.1);
    const auto problem = line.problem();
    const Quadrature q = problem.nodes(500);
    const NodeValues<std::remove_cv_t<decltype(problem)>> values(problem, q.nodes);
    const Index rank = GENERATE(4, 12);
    const SketchedMetric metric = sketched_metric(problem, q.weights, values, rank);
    Matrix gram(samples, samples);
    for (Index i = 0; i < samples; ++i)
        for (Index l = 0; l < samples; ++l) {
            gram(i, l) = 0.0;
            for (Index j = 0; j < q.nodes.cols(); ++j)
                gram(i, l) += q.weights(j) *
                              std::exp(-0.5 * std::pow((line.x(0, i) - q.nodes(0, j)) / q.nodes(1, j), 2)) *
                              std::exp(-0.5 * std::pow((line.x(0, l) - q.nodes(0, j)) / q.nodes(1, j), 2));
        }
    const auto spectrum = [](const Matrix& m) -> Vector {
        return Eigen::SelfAdjointEigenSolver<Matrix>(m).eigenvalues();
    };
    const Vector whole = spectrum(gram);
    const Matrix below = gram - metric.factor.transpose() * metric.factor;
    const Vector left = spectrum(below);
    CHECK(metric.factor.rows() == rank);
    CHECK(metric.largest == Approx(whole(samples - 1)).epsilon(0.05));
    CHECK(left(0) >= -1e-8 * whole(samples - 1));
    CHECK(left(samples - 1) <= 4.0 * whole(samples - 1 - rank));  // close to the best of this rank
    CHECK(left(samples - 1) <= 1.05 * metric.rest);
}

TEST_CASE("a step in the metric meets its optimality conditions, for every loss and scope",
          "[supergradient]") {
    using namespace supergradient_test;
    const Scope scope = GENERATE(Scope::aggregate, Scope::per_sample);
    const Index outputs = GENERATE(1, 2);
    const double scale = GENERATE(0.1, 3.0);
    for (const AnyLoss& loss : losses()) {
        const Line line(loss, scope, outputs, 0.2);
        const auto problem = line.problem();
        const Quadrature q = problem.nodes(300);
        const NodeValues<std::remove_cv_t<decltype(problem)>> values(problem, q.nodes);
        const SketchedMetric metric = sketched_metric(problem, q.weights, values, 8);
        const Matrix start = line.feasible->into_barrier_cone(20.0 * support::normals(outputs, samples, 11));
        const Matrix f = support::normals(outputs, samples, 12);
        const auto step = MetricStep<AnyLoss>(*line.feasible, metric, scale)(start, f);
        const Matrix& next = step.lambda;
        // ŷ = f + P(λ⁺ − λ) is the point of C that attains min⟨λ⁺, ŷ⟩
        const Matrix change = next - start;
        const Matrix hat =
            f + scale * (metric.rest * change + change * metric.factor.transpose() * metric.factor);
        CAPTURE(static_cast<int>(scope), outputs, loss.value(0.3, 1.0), loss.value(-0.3, 1.0));
        REQUIRE(step.exact);
        // exact for an f that differs by a thousandth of ŷ − f
        const double error = 2e-3 * (hat - f).norm();
        CHECK(line.feasible->violation(hat) <= error);
        const double least = line.feasible->minimum(next);
        REQUIRE(std::isfinite(least));
        CHECK(std::abs(next.cwiseProduct(hat).sum() - least) <= error * next.norm());
        CHECK(change.norm() > 0.0);
    }
}

TEST_CASE("steps that are chosen: gap, violation and D of every loss, scope, trend and number of outputs",
          "[supergradient]") {
    using namespace supergradient_test;
    const Scope scope = GENERATE(Scope::aggregate, Scope::per_sample);
    const Index outputs = GENERATE(1, 2);
    const Trend trend = GENERATE(Trend::none, Trend::constant, Trend::linear);
    if (outputs == 2 && trend == Trend::linear) return;  // as one output, at four times the cost
    const std::vector<AnyLoss> all = losses();
    for (std::size_t which = 0; which < all.size(); ++which) {
        const Line line(all[which], scope, outputs, 0.2);
        auto problem = line.problem();
        problem.trend = trend;
        AugmentedNewtonOptions fine;
        fine.stopping.gap = 1e-3;
        fine.max_iterations = 120;  // labels with a tolerance for each take them all
        const DualSolution unsparse = AugmentedNewton(fine).solve(problem);
        problem.gamma = support::gamma_of(problem, unsparse, GENERATE(0.0, 0.5));
        CAPTURE(static_cast<int>(scope), outputs, static_cast<int>(trend), which, problem.gamma);
        const DualSolution exact = AugmentedNewton(fine).solve(problem);
        const StochasticSupergradient solver;
        const DualSolution s = solver.solve(problem);
        REQUIRE(s.status == Status::converged);
        // AugmentedNewton does not converge on labels with a tolerance for each; its D is a bound all the same
        if (exact.status == Status::converged)
            CHECK(s.dual_value == Approx(exact.dual_value).epsilon(0.02));
        else
            CHECK(s.dual_value >= 0.98 * exact.dual_value);
        CHECK(std::abs(s.relative_gap()) <= solver.options().gap);
        CHECK(s.iterations <= 300);
        // its reported values, from the definitions
        const Matrix f = function_of(problem, s);
        CHECK(line.feasible->violation(f) == Approx(s.violation).margin(1e-9));
        CHECK(s.violation <=
              solver.options().violation * std::sqrt(line.feasible->target().array().square().mean()));
        CHECK(evaluate_dual(problem, s.lambda, s.quadrature).value == Approx(s.dual_value).epsilon(1e-8));
        CHECK(primal_cost(s.alpha, s.quadrature.weights, penalty::threshold(problem.gamma)) ==
              Approx(s.primal_value).epsilon(1e-12));
        if (trend != Trend::none)
            CHECK(s.lambda.rowwise().sum().cwiseAbs().maxCoeff() <= 1e-9 * s.lambda.cwiseAbs().sum());
        if (trend == Trend::linear)
            CHECK((s.lambda * line.x.transpose()).cwiseAbs().maxCoeff() <= 1e-8 * s.lambda.cwiseAbs().sum());
    }
}

TEST_CASE("the average is the mean of the points since the last restart", "[supergradient]") {
    using namespace supergradient_test;
    const Line line(SquaredLoss{}, Scope::aggregate, 2, 0.2);
    auto problem = line.problem();
    problem.gamma = 20.0;
    using Ascent = PrimalDualAscent<Gaussian, AnyLoss, Box>;
    Ascent ascent(problem, problem.nodes(500), 8, nullptr);
    std::vector<PrimalDualPoint> points;
    Index checked = 0;
    ascent.run({1e-9, 1e-9}, 4, [&](const DualSolution&) {  // no check, and so no restart, before the fourth
        points.push_back(ascent.last());
        if (points.size() == 4) return true;
        Matrix alpha = Matrix::Zero(points[0].alpha.rows(), points[0].alpha.cols()),
               lambda = 0.0 * points[0].lambda, f = lambda;
        for (const PrimalDualPoint& point : points) {
            alpha += point.alpha / static_cast<double>(points.size());
            lambda += point.lambda / static_cast<double>(points.size());
            f += point.prediction / static_cast<double>(points.size());
        }
        CHECK((ascent.average().alpha - alpha).norm() <= 1e-12 * alpha.norm());
        CHECK((ascent.average().lambda - lambda).norm() <= 1e-12 * lambda.norm());
        CHECK((ascent.average().prediction - f).norm() <= 1e-12 * f.norm());
        ++checked;
        return true;
    });
    CHECK(checked == 3);
}

TEST_CASE("two seeds agree within the integration error, and one seed has the same bits on any threads",
          "[supergradient]") {
    using namespace supergradient_test;
    // AroundSamples has no rule: its batches are drawn
    const support::Chirp signal = support::chirp(samples, 5);
    const AroundSamples domain(signal.x, {0.1, 1.0});
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, signal.y.transpose(), Scope::aggregate,
                                            Vector::Constant(samples, 0.1), Vector::Ones(samples));
    const Gaussian kernel;
    const detail::TiledPoints points(signal.x);
    const auto solved = [&](std::uint64_t seed, int threads) {
        const support::Threads count(threads);
        const DualProblem<Gaussian, SquaredLoss, AroundSamples> problem(kernel, domain, points, feasible,
                                                                        50.0, seed);
        const DualSolution s = StochasticSupergradient{}.solve(problem);
        return std::pair(s, certify(problem, s).integration_error);
    };
    const auto [first, error] = solved(1, 1);
    const auto [other, other_error] = solved(2, 1);
    REQUIRE(first.status == Status::converged);
    CHECK(first.lambda != other.lambda);
    const double goal = StochasticSupergradientOptions{}.gap;
    CHECK(std::abs(first.dual_value - other.dual_value) <=
          (error + other_error + goal) * std::abs(first.dual_value));
    CHECK(error <= 0.02);
    const auto [again, again_error] = solved(1, 3);
    CHECK(first.lambda == again.lambda);
    CHECK(first.alpha == again.alpha);
}

TEST_CASE("D rises on the way, and History keeps it with the gap", "[supergradient]") {
    using namespace supergradient_test;
    const Line line(SquaredLoss{}, Scope::aggregate, 1, 0.2);
    auto problem = line.problem();
    problem.gamma = 20.0;
    History history;
    const DualSolution s = StochasticSupergradient{}.solve(problem, history);
    REQUIRE(s.status == Status::converged);
    REQUIRE(static_cast<Index>(history.rows().size()) == s.iterations);
    CHECK(std::abs(history.rows().back().gap) <= StochasticSupergradientOptions{}.gap);
    CHECK(history.rows().back().dual_value == Approx(s.dual_value));
    CHECK(history.rows().front().dual_value < 0.99 * s.dual_value);
}

TEST_CASE("a stop while a batch is prepared keeps the solution of the batch before", "[supergradient]") {
    using namespace supergradient_test;
    const support::Threads single_thread(1);
    const support::Chirp signal = support::chirp(samples, 5);
    const AroundSamples domain(signal.x, {0.1, 1.0});
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, signal.y.transpose(), Scope::aggregate,
                                            Vector::Constant(samples, 0.1), Vector::Ones(samples));
    const Gaussian kernel;
    const detail::TiledPoints points(signal.x);
    DualProblem<Gaussian, SquaredLoss, AroundSamples> problem(kernel, domain, points, feasible, 50.0);
    // The fit's own observer answers stop once the first batch has ended; the solver's does not.
    bool stop = false;
    detail::Watch watch([&](const Progress&) { return stop ? Verdict::stop : Verdict::proceed; });
    watch.begin("dual", 1.0, 1.0);
    problem.watch = &watch;
    StochasticSupergradientOptions options;
    options.iterations = 50;  // five on the first batch
    const DualSolution s = StochasticSupergradient(options).solve(problem, [&](const Progress& p) {
        if (p.iteration == 4) {
            stop = true;
            watch.tell(p);
        }
        return Verdict::proceed;
    });
    CHECK(s.status == Status::stopped);
    REQUIRE(s.lambda.cols() == samples);
    CHECK(s.lambda.norm() > 0.0);
}

TEST_CASE("kernels that reach no sample carry no data", "[supergradient]") {
    using namespace supergradient_test;
    const Matrix x = Vector::LinSpaced(5, 0.0, 1.0).transpose();
    const detail::TiledPoints points(x);
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, Matrix::Ones(1, 5), Scope::aggregate,
                                            Vector::Constant(5, 0.1), Vector::Ones(5));
    const Gaussian kernel;
    const Box far(1000.0, 1001.0, {0.1, 0.2});
    const DualSolution s = StochasticSupergradient{}.solve(
        DualProblem<Gaussian, SquaredLoss, Box>(kernel, far, points, feasible));
    CHECK(s.status == Status::infeasible);
    CHECK(s.lambda.allFinite());
}

TEST_CASE("steps are given together and then know no trend; fixed steps too long diverge and say so",
          "[supergradient]") {
    using namespace supergradient_test;
    StochasticSupergradientOptions half;
    half.eta_lambda = 0.1;
    CHECK_THROWS_WITH(StochasticSupergradient(half), Catch::Matchers::ContainsSubstring("solver.eta_mu"));
    StochasticSupergradientOptions printed;
    printed.eta_lambda = 1e200;
    printed.eta_mu = 1.0;
    printed.iterations = 20;
    const Line line(SquaredLoss{}, Scope::aggregate, 1, 0.2);
    auto problem = line.problem();
    CHECK(StochasticSupergradient(printed).solve(problem).status == Status::diverged);
    problem.trend = Trend::constant;
    CHECK_THROWS_WITH(StochasticSupergradient(printed).solve(problem),
                      Catch::Matchers::ContainsSubstring("options.trend"));
}
