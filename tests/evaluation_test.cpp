#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/search/levenberg_marquardt.hpp>

#include <cmath>
#include <vector>

// The objective of a search problem at given nodes: Gram matrices, coefficients, removal costs.
namespace evaluation_test {

using namespace kernelet;
using support::DenseLeastSquares;
using support::Unexplained;

constexpr double ridge = 1e-4;

Box wide(Index d) { return {Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0}}; }

}  // namespace evaluation_test

TEST_CASE("the Gram matrices are the products of the dense columns", "[evaluation]") {
    using namespace evaluation_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const bool widths_free = GENERATE(true, false);
    CAPTURE(d, outputs, widths_free);
    constexpr Index kernels = 4;
    const Unexplained s(d, outputs, kernels);
    const detail::TiledPoints points(s.x);
    const AnyDomain domain = widths_free
                                 ? AnyDomain(wide(d))
                                 : FixedWidth(Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), 1.0);
    SearchProblem problem = support::squared_problem(domain, points, s.y, s.weights, {.ridge = ridge});
    problem.trend = Trend::linear;
    const NodeSteps steps(problem.kernel, problem.domain);
    const WorkingSquares working = problem.loss.linearize({});
    const bool all_move = GENERATE(true, false);
    MovingKernels moving = MovingKernels::all(s.nodes);
    if (!all_move) moving.moving = {1, 3};
    const GramMatrices sums = gram_matrices(problem, steps, moving, working);
    const Matrix functions =
        detail::TrendBasis(problem.trend, points).values(points) * s.weights.cwiseSqrt().asDiagonal();

    // [Φ t B] with √w in each row
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, 0.0);
    const Index n = s.x.cols(), f = steps.size(), first = kernels + outputs;
    CHECK(f == d + (widths_free ? 1 : 0));
    Matrix columns(n, first + moving.moving_size() * f);
    columns.leftCols(kernels) = dense.phi.topRows(n);
    columns.middleCols(kernels, outputs) = dense.target.topRows(n);
    for (Index m = 0; m < moving.moving_size(); ++m)
        columns.middleCols(first + m * f, f) =
            dense.slopes.middleCols(moving.moving[static_cast<std::size_t>(m)] * (d + 1), f).topRows(n);
    const Matrix expected = columns.transpose() * columns;
    const Matrix cross = columns.transpose() * functions.transpose();
    REQUIRE(sums.gram.rows() == columns.cols());
    REQUIRE(sums.cross.rows() == columns.cols());
    REQUIRE(sums.cross.cols() == 1 + d);
    CHECK((sums.gram - expected).cwiseAbs().maxCoeff() <= 1e-9);
    CHECK((sums.cross - cross).cwiseAbs().maxCoeff() <= 1e-9);
    CHECK((sums.trend - functions * functions.transpose()).cwiseAbs().maxCoeff() <= 1e-9);

    // without B, from kernel values that are held
    const Matrix phi = s.weights.cwiseSqrt().cwiseInverse().asDiagonal() * dense.phi.topRows(n);
    const GramMatrices held =
        value_gram_matrices(problem, kernels, working, [&](Index from, const detail::Block& to) {
            detail::copy(detail::ConstBlock(phi).part(from, 0, to.rows, to.cols), to);
        });
    const Matrix values = columns.leftCols(first);
    CHECK((held.gram - values.transpose() * values).cwiseAbs().maxCoeff() <= 1e-10);
    CHECK((held.cross - values.transpose() * functions.transpose()).cwiseAbs().maxCoeff() <= 1e-10);
    CHECK((held.trend - functions * functions.transpose()).cwiseAbs().maxCoeff() <= 1e-10);
}

TEST_CASE("the model at given nodes is the ridge least squares of a dense solve", "[evaluation]") {
    using namespace evaluation_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 5);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = support::squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    const double energy = s.y.cwiseAbs2().colwise().sum().dot(s.weights.transpose());
    CHECK(lm.energy() == Approx(energy).epsilon(1e-13));
    CHECK(lm.free_rows() == d + 1);
    const FittedKernels now = lm.evaluate(s.nodes);
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, ridge);
    CAPTURE(d, outputs);
    CHECK(support::same_bits(now.fit.nodes, s.nodes));
    CHECK(std::abs(now.cost - dense.cost) <= 1e-11 * energy);
    CHECK((now.fit.coefficients - dense.a).norm() <= 1e-7 * dense.a.norm());
    for (Index j = 0; j < now.size(); ++j) {
        double mass = 0.0;
        for (Index i = 0; i < s.x.cols(); ++i) mass += dense.phi(i, j) * dense.phi(i, j);
        CHECK(now.masses(j) == Approx(mass / s.weights.mean()).epsilon(1e-12));
    }
    // No step is the same as an evaluation.
    CHECK(support::same_bits(lm.minimize(s.nodes, {.max_steps = 0}).fit.coefficients, now.fit.coefficients));
}

TEST_CASE("for labels the gradient in coefficients and offset vanishes", "[evaluation]") {
    using namespace evaluation_test;
    const bool intercept = GENERATE(false, true);
    Unexplained s(2, 1, 4);
    s.y = s.y.unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
    const detail::TiledPoints points(s.x);
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, ridge);  // for √w φ
    const Vector inverse_roots = s.weights.cwiseSqrt().cwiseInverse();
    const Matrix phi = inverse_roots.asDiagonal() * dense.phi.topRows(s.x.cols());
    const Matrix slopes = inverse_roots.asDiagonal() * dense.slopes.topRows(s.x.cols());
    const auto check = [&]<class Loss>(const Loss& loss) {
        INFO(Loss::name << (intercept ? " with" : " without") << " an intercept");
        const SearchProblem problem{.kernel = Gaussian{},
                                    .domain = wide(2),
                                    .points = points,
                                    .loss = {loss, s.y, s.weights, 0.25},
                                    .priors = {.ridge = ridge},
                                    .trend = intercept ? Trend::constant : Trend::none};
        LevenbergMarquardt<> lm(problem);
        const FittedKernels now = lm.evaluate(s.nodes);
        const auto values = [&](const Matrix& a, double b) {
            return Matrix((phi * a).transpose().array() + b);
        };
        const auto cost = [&](const Matrix& a, double b) {
            return problem.loss.cost(values(a, b)) + ridge * s.weights.sum() * a.squaredNorm();
        };
        const Matrix& a = now.fit.coefficients;
        const double b = now.fit.offset(0);
        CHECK(now.cost == Approx(cost(a, b)).epsilon(1e-12));
        const Matrix pull = problem.loss.pull(values(a, b));
        if (detail::is_smooth<Loss>()) {
            // −½ of the gradient of Σ w ℓ(Φa + b) + ridge Σ w ‖a‖²
            const Vector left = (pull * phi).transpose() - ridge * s.weights.sum() * a;
            CHECK(left.cwiseAbs().maxCoeff() <= 1e-3 * pull.cwiseAbs().sum());
            if (intercept) CHECK(std::abs(pull.sum()) <= 1e-3 * pull.cwiseAbs().sum());
        }
        // The gradient in the nodes is that at these coefficients, a ∘ B'p.
        Vector expected = slopes.transpose() * pull.transpose();
        for (Index c = 0; c < expected.size(); ++c) expected(c) *= a(c / lm.free_rows());
        CHECK((now.pull - expected).cwiseAbs().maxCoeff() <= 1e-9 * pull.cwiseAbs().sum());
        // The gradient of a loss with kinks need not vanish: no neighbour costs less.
        constexpr double beside = 0.05, settled = 1e-4;
        for (const double step : {-beside, beside}) {
            for (Index j = 0; j < a.rows(); ++j) {
                Matrix other = a;
                other(j) += step;
                CHECK(cost(other, b) > (1.0 - settled) * now.cost);
            }
            if (intercept) CHECK(cost(a, b + step) > (1.0 - settled) * now.cost);
        }
        CHECK(now.cost < lm.energy());
        const FittedKernels minimum = lm.minimize(s.nodes);
        CHECK(minimum.cost < now.cost);
        CHECK(minimum.fit.coefficients.rows() == 4);
    };
    check(LogisticLoss{});
    check(HingeLoss{});
}

TEST_CASE("the removal cost of a kernel is the increase of the cost without it", "[evaluation]") {
    using namespace evaluation_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 5);
    const detail::TiledPoints points(s.x);
    const SearchProblem problem = support::squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    FittedKernels now = lm.evaluate(s.nodes);
    lm.linearize(now);
    const double before = DenseLeastSquares(s.x, s.y, s.weights, s.nodes, ridge).cost;
    for (Index j = 0; j < now.size(); ++j) {
        const double increase =
            DenseLeastSquares(s.x, s.y, s.weights, without_column(s.nodes, j), ridge).cost - before;
        REQUIRE(increase > 1e-5);
        CHECK(now.removal_cost(j) == Approx(increase).epsilon(1e-7));
    }
}

TEST_CASE("kernels out of reach of a tile may be left out of its sums", "[evaluation]") {
    using namespace evaluation_test;
    const Index n = 400;
    const Matrix x = Vector::LinSpaced(n, 0.0, 40.0).transpose();
    Matrix nodes(2, 20);
    nodes.row(0) = Vector::LinSpaced(20, 1.0, 39.0).transpose();
    nodes.row(1) = support::uniforms(1, 20, 21, 0.4, 1.0);
    const Matrix y = support::normals(1, n, 22);
    const Vector weights = Vector::Ones(n);
    const detail::TiledPoints points(x);
    const SearchProblem problem =
        support::squared_problem(Box(0.0, 40.0, {0.1, 4.0}), points, y, weights, {.ridge = ridge});
    LevenbergMarquardt<> lm(problem);
    FittedKernels now = lm.evaluate(nodes);
    lm.linearize(now);
    const DenseLeastSquares dense(x, y, weights, nodes, ridge);
    CHECK(std::abs(now.cost - dense.cost) <= 5e-8 * y.squaredNorm());
    CHECK((now.fit.coefficients - dense.a).cwiseAbs().maxCoeff() <= 1e-6 * dense.a.cwiseAbs().maxCoeff());
    CHECK(now.quadratic->inverse(0, 19) == Approx(0.0).margin(1e-8));
}

TEST_CASE("a trend is fitted as columns that the ridge leaves out", "[evaluation]") {
    using namespace evaluation_test;
    const Index outputs = GENERATE(1, 2), d = GENERATE(1, 2);
    const Trend trend = GENERATE(Trend::constant, Trend::linear);
    Unexplained s(d, outputs, 4);
    s.y.array() += 3.0;
    const detail::TiledPoints points(s.x);
    SearchProblem problem = support::squared_problem(wide(d), points, s.y, s.weights, {.ridge = ridge});
    problem.trend = trend;
    LevenbergMarquardt<> lm(problem);
    // with a trend: columns √w and √w x next to √w φ
    const DenseLeastSquares dense(s.x, s.y, s.weights, s.nodes, ridge);
    const Index n = s.x.cols(), t = trend == Trend::linear ? 1 + d : 1;
    Matrix design = Matrix::Zero(dense.phi.rows(), 4 + t);
    design.leftCols(4) = dense.phi;
    design.col(4).head(n).setOnes();
    if (t > 1) design.block(0, 5, n, d) = s.x.transpose();
    design.block(0, 4, n, t) = s.weights.cwiseSqrt().asDiagonal() * Matrix(design.block(0, 4, n, t));
    const Matrix solution = design.colPivHouseholderQr().solve(dense.target);
    const FittedKernels now = lm.evaluate(s.nodes);
    CHECK((now.fit.coefficients - solution.topRows(4)).norm() <= 1e-7 * solution.norm());
    CHECK((now.fit.offset - solution.row(4).transpose()).norm() <= 1e-7 * solution.norm());
    if (t > 1) CHECK((now.fit.slopes - solution.bottomRows(d)).norm() <= 1e-7 * solution.norm());
    if (t == 1) CHECK(now.fit.slopes.size() == 0);
    CHECK(now.cost == Approx((dense.target - design * solution).squaredNorm()).epsilon(1e-9));
    const Matrix alone = design.rightCols(t).colPivHouseholderQr().solve(dense.target);
    CHECK(lm.energy() == Approx((dense.target - design.rightCols(t) * alone).squaredNorm()).epsilon(1e-10));
    CHECK((problem.prediction(now.fit).transpose() -
           s.weights.cwiseSqrt().cwiseInverse().asDiagonal() * Matrix((design * solution).topRows(n)))
              .norm() <= 1e-7 * solution.norm());
}

TEST_CASE("the gradient in the nodes is that of differences of the cost, for any kernel", "[evaluation]") {
    using namespace evaluation_test;
    const Index outputs = GENERATE(1, 2);
    const Unexplained s(2, outputs, 3);
    const detail::TiledPoints points(s.x);
    const auto check = [&](const AnyKernel& kernel) {
        INFO(kernel.held_name());
        const SearchProblem problem{.kernel = kernel,
                                    .domain = wide(2),
                                    .points = points,
                                    .loss = {SquaredLoss{}, s.y, s.weights, 0.0},
                                    .priors = {.ridge = ridge}};
        Evaluation<> evaluation(problem);
        const FittedKernels now = evaluation.at(s.nodes);
        constexpr double step = 1e-5;
        for (Index j = 0; j < 3; ++j)
            for (Index row = 0; row < 3; ++row) {
                const auto cost = [&](double length) {
                    Vector move = Vector::Zero(9);
                    move(3 * j + row) = length;
                    return evaluation.at(evaluation.steps().move(s.nodes, move)).cost;
                };
                const double slope = (cost(step) - cost(-step)) / (2.0 * step);
                CHECK(-2.0 * now.pull(3 * j + row) == Approx(slope).epsilon(1e-4).margin(1e-5 * now.cost));
            }
    };
    check(Gaussian{});
    check(Matern52{});
}
