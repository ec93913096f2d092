#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/search/backward_elimination.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace backward_elimination_test {

using namespace kernelet;

constexpr double deviation = 0.02;  // of the noise
const LevenbergMarquardtOptions trial = SearchOptions{}.trial;

/// Three Gaussians of heights 1, −0.5 and 0.15 under noise, and all that a search holds references to.
struct Setting {
    Matrix planted{};
    Matrix x{};
    Matrix y{};
    Vector weights{};
    detail::TiledPoints points;
    SearchProblem problem;
    LevenbergMarquardt<> lm;

    explicit Setting(Index outputs = 1, Index n = 121)
        : planted(2, 3),
          x(Vector::LinSpaced(n, -5.0, 5.0).transpose()),
          weights(Vector::Ones(n)),
          points(x),
          problem(support::squared_problem(Box(-5.5, 5.5, {0.1, 6.0}), points, noisy(outputs), weights,
                                           {.ridge = 1e-8})),
          lm(problem) {}
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    /// The information criterion for up to `max_kernels` kernels.
    Criterion criterion(Index max_kernels = 100) const {
        const double mean = y.squaredNorm() / static_cast<double>(y.size());
        return {.residuals = static_cast<double>(y.size()),
                .energy = lm.energy(),
                .noise = deviation * deviation / mean,
                .parameters = static_cast<double>(2 + y.rows()),
                .max_kernels = max_kernels};
    }

    double rms(const KernelExpansion& model) const {
        const Matrix f =
            detail::synthesize(Gaussian{}, points, model.nodes, Matrix(model.coefficients.transpose()));
        return (f - y).norm() / std::sqrt(static_cast<double>(y.size()));
    }

    Criterion within(double tolerance, Index max_kernels = 100) const {
        Criterion wanted = criterion(max_kernels);
        wanted.violation = [this, tolerance](const KernelExpansion& m) {
            return std::max(0.0, rms(m) - tolerance);
        };
        return wanted;
    }

    FittedKernels eliminated(const Criterion& wanted, const FittedKernels& model,
                             const BackwardEliminationOptions& backward = {}) {
        const Matrix none(2, 0);
        CandidateGains<> no_candidates(problem, none, 1);
        SearchOptions options;
        options.backward = backward;
        SearchState<> state{lm, wanted, no_candidates, options};
        return backward_elimination(state, model);
    }

private:
    const Matrix& noisy(Index outputs) {
        planted << -3.0, 0.0, 3.0, 0.6, 0.8, 0.5;
        Matrix a(outputs, 3);
        a.row(0) << 1.0, -0.5, 0.15;
        for (Index o = 1; o < outputs; ++o) a.row(o) << 0.3, 0.8, -0.6;
        y = detail::synthesize(Gaussian{}, points, planted, a) +
            deviation * support::normals(outputs, x.cols(), 5);
        return y;
    }
};

/// Columns (center, width) appended.
Matrix with(const Matrix& nodes, std::initializer_list<std::pair<double, double>> more) {
    Matrix all(2, nodes.cols() + static_cast<Index>(more.size()));
    all.leftCols(nodes.cols()) = nodes;
    Index j = nodes.cols();
    for (const auto& [center, width] : more) all.col(j++) << center, width;
    return all;
}

/// Whether some column is within a fifth of a width of each of the wanted ones.
bool holds(const Matrix& nodes, const Matrix& wanted) {
    for (Index j = 0; j < wanted.cols(); ++j) {
        bool found = false;
        for (Index k = 0; k < nodes.cols(); ++k)
            found = found || (nodes.col(k) - wanted.col(j)).cwiseAbs().maxCoeff() <= 0.2 * wanted(1, j);
        if (!found) return false;
    }
    return true;
}

}  // namespace backward_elimination_test

TEST_CASE("duplicates and redundant kernels are removed, the planted ones stay", "[backward_elimination]") {
    using namespace backward_elimination_test;
    const Index outputs = GENERATE(1, 2);
    Setting s(outputs);
    const Criterion criterion = s.criterion();
    const FittedKernels alone = s.lm.minimize(s.planted, trial);
    const double limit = criterion.score(alone).value + 1.0;
    for (const Matrix& start : {with(s.planted, {{-3.0, 0.6}}),               // a duplicate
                                with(s.planted, {{-2.9, 0.65}, {0.1, 0.7}}),  // near duplicates
                                with(s.planted, {{-1.5, 0.4}, {4.5, 0.3}}),   // where the signal is zero
                                with(s.planted, {{0.0, 4.0}}),                // below all others
                                s.planted}) {
        const FittedKernels model = s.lm.minimize(start, trial);
        const FittedKernels left = s.eliminated(criterion, model);
        CAPTURE(outputs, start, left.fit.nodes);
        REQUIRE(left.size() == 3);
        CHECK(holds(left.fit.nodes, s.planted));
        CHECK(criterion.score(left) <= criterion.score(model));
        CHECK(criterion.score(left) <= Score{0.0, 0.0, limit});
    }
}

TEST_CASE("with a tolerance the fewest kernels that meet it stay", "[backward_elimination]") {
    using namespace backward_elimination_test;
    Setting s;
    const Matrix start = with(s.planted, {{-2.9, 0.65}, {-1.5, 0.4}, {0.5, 0.9}, {4.5, 0.3}});
    // The residual is 0.035 without the smallest kernel, 0.19 without the second as well, 0.37 without any.
    const auto [tolerance, kernels] =
        GENERATE(std::pair<double, Index>{1.05 * 0.02, 3}, std::pair<double, Index>{0.06, 2},
                 std::pair<double, Index>{0.25, 1}, std::pair<double, Index>{0.6, 0});
    CAPTURE(tolerance);
    const Criterion criterion = s.within(tolerance);
    const FittedKernels left = s.eliminated(criterion, s.lm.minimize(start, trial));
    CHECK(left.size() == kernels);
    CHECK(s.rms(left.fit) <= tolerance);
    CHECK(criterion.met(left.fit));
    CHECK(holds(left.fit.nodes, s.planted.leftCols(std::min<Index>(kernels, 1))));
    // None of them can be removed.
    for (Index j = 0; j < left.size(); ++j)
        CHECK_FALSE(criterion.met(s.lm.minimize(without_column(left.fit.nodes, j)).fit));
}

TEST_CASE("a tolerance that all kernels together miss removes none that helps", "[backward_elimination]") {
    using namespace backward_elimination_test;
    Setting s;
    const Criterion criterion = s.within(1e-4);
    const FittedKernels model = s.lm.minimize(s.planted);
    const FittedKernels left = s.eliminated(criterion, model);
    CHECK(left.size() == 3);
    CHECK(criterion.score(left) <= criterion.score(model));
}

TEST_CASE("kernels beyond max_kernels are removed at any cost", "[backward_elimination]") {
    using namespace backward_elimination_test;
    Setting s;
    const Matrix start = with(s.planted, {{-1.5, 0.4}, {4.5, 0.3}});
    const Index max_kernels = GENERATE(0, 1, 2, 3);
    const bool tolerance = GENERATE(false, true);
    CAPTURE(max_kernels, tolerance);
    const Criterion criterion = tolerance ? s.within(0.02, max_kernels) : s.criterion(max_kernels);
    const FittedKernels left = s.eliminated(criterion, s.lm.minimize(start, trial));
    CHECK(left.size() == max_kernels);
    CHECK(holds(left.fit.nodes, s.planted.leftCols(std::min<Index>(max_kernels, 1))));
    // The best of all ways to keep two of the planted ones.
    if (max_kernels == 2)
        for (Index j = 0; j < 3; ++j)
            CHECK(left.cost <= 1.01 * s.lm.minimize(without_column(s.planted, j)).cost);
}

TEST_CASE("the score never rises, from any start and for any number of tries", "[backward_elimination]") {
    using namespace backward_elimination_test;
    Setting s(1, 61);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Matrix start(2, 8);
        start.row(0) = support::uniforms(1, 8, seed, -5.0, 5.0);
        start.row(1) = support::uniforms(1, 8, seed + 50, 0.2, 2.0);
        const FittedKernels model = s.lm.minimize(start, {.max_steps = 2});
        for (const Criterion& criterion : {s.criterion(), s.within(0.1), s.criterion(4)})
            for (const BackwardEliminationOptions& options :
                 {BackwardEliminationOptions{}, BackwardEliminationOptions{1, 0.1},
                  BackwardEliminationOptions{8, 1.0}}) {
                const FittedKernels left = s.eliminated(criterion, model, options);
                CHECK(criterion.score(left) <= criterion.score(model));
                CHECK(left.size() <= model.size());
                CHECK(left.fit.nodes.allFinite());
            }
    }
}

TEST_CASE("the predicted step finds a removal that the removal cost alone would reject",
          "[backward_elimination]") {
    using namespace backward_elimination_test;
    // One wide Gaussian, fitted by two narrow ones on its flanks: either is needed until the other moves.
    const Index n = 121;
    const Matrix x = Vector::LinSpaced(n, -5.0, 5.0).transpose();
    const Matrix y =
        (-0.5 * (x.array() / 1.5).square()).exp().matrix() + deviation * support::normals(1, n, 6);
    const Vector weights = Vector::Ones(n);
    const detail::TiledPoints points(x);
    const SearchProblem problem =
        support::squared_problem(Box(-5.5, 5.5, {0.1, 6.0}), points, y, weights, {.ridge = 1e-8});
    LevenbergMarquardt<> lm(problem);
    Matrix start(2, 2);
    start << -1.0, 1.0, 1.1, 1.1;
    FittedKernels model = lm.evaluate(start);
    lm.linearize(model);
    const Vector predicted = lm.predicted_costs_without(model, 0.1);
    const double one = lm.minimize(Matrix(Eigen::Vector2d(0.0, 1.5))).cost;
    for (Index j = 0; j < 2; ++j) {
        CHECK(model.removal_cost(j) > 10.0 * one);
        CHECK(predicted(j) < 0.5 * (model.cost + model.removal_cost(j)));
    }
    const Criterion criterion{.residuals = static_cast<double>(n),
                              .energy = lm.energy(),
                              .noise = deviation * deviation * static_cast<double>(n) / lm.energy(),
                              .parameters = 3.0,
                              .max_kernels = 100};
    const Matrix none(2, 0);
    CandidateGains<> no_candidates(problem, none, 1);
    const SearchOptions options;
    SearchState<> state{lm, criterion, no_candidates, options};
    const FittedKernels left = backward_elimination(state, model);
    REQUIRE(left.size() == 1);
    CHECK(left.cost <= 1.01 * one);
}

TEST_CASE("backward elimination accepts a model without kernels", "[backward_elimination]") {
    using namespace backward_elimination_test;
    Setting s;
    for (const Criterion& criterion : {s.criterion(), s.within(0.1), s.criterion(0)}) {
        const FittedKernels left = s.eliminated(criterion, s.lm.minimize(Matrix(2, 0)));
        CHECK(left.size() == 0);
        CHECK(left.cost == s.lm.energy());
    }
}
