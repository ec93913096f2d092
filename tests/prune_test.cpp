#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/refit/prune.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace prune_test {

using namespace kernelet;
using BoxSlide = Slide<Gaussian, Box>;

constexpr double deviation = 0.02;  // of the noise
const SlideOptions sliding{20, 1e-3, 0.1};

/// Three Gaussians of heights 1, −0.5 and 0.15 under noise, and all that a search refers to.
struct Setting {
    Matrix planted{};
    Matrix x{};
    Matrix y{};
    Vector weights{};
    Gaussian kernel{};
    detail::TiledPoints points;
    Box box;
    BoxSlide slide;

    explicit Setting(Index outputs = 1, Index n = 121)
        : planted(2, 3),
          x(Vector::LinSpaced(n, -5.0, 5.0).transpose()),
          weights(Vector::Ones(n)),
          points(x),
          box(-5.5, 5.5, {0.1, 6.0}),
          slide(kernel, points, box, noisy(outputs), weights, 1e-8) {}
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    /// The information criterion for up to `most` kernels.
    Goal criterion(Index most = 100) const {
        const double mean = y.squaredNorm() / static_cast<double>(y.size());
        return {y.size(), slide.energy(), deviation * deviation / mean, 2 + y.rows(), most};
    }

    double rms(const Slid& model) const {
        const Matrix f =
            detail::synthesize(kernel, points, model.nodes, Matrix(model.at.coefficients.transpose()));
        return (f - y).norm() / std::sqrt(static_cast<double>(y.size()));
    }

    Goal within(double tolerance, Index most = 100) const {
        Goal goal = criterion(most);
        goal.within([this, tolerance](const Slid& m) { return std::max(0.0, rms(m) - tolerance); });
        return goal;
    }

private:
    Matrix noisy(Index outputs) {
        planted << -3.0, 0.0, 3.0, 0.6, 0.8, 0.5;
        Matrix a(outputs, 3);
        a.row(0) << 1.0, -0.5, 0.15;
        for (Index o = 1; o < outputs; ++o) a.row(o) << 0.3, 0.8, -0.6;
        y = detail::synthesize(kernel, points, planted, a) +
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

/// Whether some column is near each of the wanted ones: a fifth of a width.
bool holds(const Matrix& nodes, const Matrix& wanted) {
    for (Index j = 0; j < wanted.cols(); ++j) {
        bool found = false;
        for (Index k = 0; k < nodes.cols(); ++k)
            found = found || (nodes.col(k) - wanted.col(j)).cwiseAbs().maxCoeff() <= 0.2 * wanted(1, j);
        if (!found) return false;
    }
    return true;
}

}  // namespace prune_test

TEST_CASE("duplicates and redundant kernels go, the planted ones stay", "[prune]") {
    using namespace prune_test;
    const Index outputs = GENERATE(1, 2);
    const Setting s(outputs);
    const Goal goal = s.criterion();
    const Slid alone = s.slide(s.planted, sliding);
    for (const Matrix& start : {with(s.planted, {{-3.0, 0.6}}),               // once more
                                with(s.planted, {{-2.9, 0.65}, {0.1, 0.7}}),  // nearly
                                with(s.planted, {{-1.5, 0.4}, {4.5, 0.3}}),   // where nothing is
                                with(s.planted, {{0.0, 4.0}}),                // under everything
                                s.planted}) {
        const Slid model = s.slide(start, sliding);
        const Slid pruned = prune(s.slide, goal, model, sliding);
        CAPTURE(outputs, start, pruned.nodes);
        REQUIRE(pruned.size() == 3);
        CHECK(holds(pruned.nodes, s.planted));
        CHECK(goal.score(pruned) <= goal.score(model));
        CHECK(goal.score(pruned) <= goal.score(alone) + 1.0);
    }
}

TEST_CASE("with a tolerance the fewest kernels that meet it stay", "[prune]") {
    using namespace prune_test;
    const Setting s;
    const Matrix start = with(s.planted, {{-2.9, 0.65}, {-1.5, 0.4}, {0.5, 0.9}, {4.5, 0.3}});
    // Without the smallest kernel 0.035 are left over, without the second as well 0.19, without any 0.37.
    const auto [tolerance, kernels] =
        GENERATE(std::pair<double, Index>{1.05 * 0.02, 3}, std::pair<double, Index>{0.06, 2},
                 std::pair<double, Index>{0.25, 1}, std::pair<double, Index>{0.6, 0});
    CAPTURE(tolerance);
    const Goal goal = s.within(tolerance);
    const Slid pruned = prune(s.slide, goal, s.slide(start, sliding), sliding);
    CHECK(pruned.size() == kernels);
    CHECK(s.rms(pruned) <= tolerance);
    CHECK(goal.met(pruned));
    CHECK(holds(pruned.nodes, s.planted.leftCols(std::min<Index>(kernels, 1))));
    // None of them can go.
    for (Index j = 0; j < pruned.size(); ++j) CHECK_FALSE(goal.met(s.slide(without_column(pruned.nodes, j))));
}

TEST_CASE("a tolerance that even all kernels miss drops none that helps", "[prune]") {
    using namespace prune_test;
    const Setting s;
    const Goal goal = s.within(1e-4);
    const Slid model = s.slide(s.planted);
    const Slid pruned = prune(s.slide, goal, model, sliding);
    CHECK(pruned.size() == 3);
    CHECK(goal.score(pruned) <= goal.score(model));
}

TEST_CASE("no more kernels than allowed, whatever the fit loses by it", "[prune]") {
    using namespace prune_test;
    const Setting s;
    const Matrix start = with(s.planted, {{-1.5, 0.4}, {4.5, 0.3}});
    const Index most = GENERATE(0, 1, 2, 3);
    const bool tolerance = GENERATE(false, true);
    CAPTURE(most, tolerance);
    const Goal goal = tolerance ? s.within(0.02, most) : s.criterion(most);
    const Slid pruned = prune(s.slide, goal, s.slide(start, sliding), sliding);
    CHECK(pruned.size() == most);
    CHECK(holds(pruned.nodes, s.planted.leftCols(std::min<Index>(most, 1))));
    // The best of all ways to keep so many of the planted ones.
    if (most == 2)
        for (Index j = 0; j < 3; ++j)
            CHECK(pruned.at.cost <= 1.01 * s.slide(without_column(s.planted, j)).at.cost);
}

TEST_CASE("the score never rises, from wherever it begins and however little is tried", "[prune]") {
    using namespace prune_test;
    const Setting s(1, 61);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Matrix start(2, 8);
        start.row(0) = support::uniforms(1, 8, seed, -5.0, 5.0);
        start.row(1) = support::uniforms(1, 8, seed + 50, 0.2, 2.0);
        const Slid model = s.slide(start, {.max_steps = 2});
        for (const Goal& goal : {s.criterion(), s.within(0.1), s.criterion(4)})
            for (const PruneOptions& options :
                 {PruneOptions{}, PruneOptions{1, 1, 0.1}, PruneOptions{3, 8, 1.0}}) {
                const Slid pruned = prune(s.slide, goal, model, sliding, options);
                CHECK(goal.score(pruned) <= goal.score(model));
                CHECK(pruned.size() <= model.size());
                CHECK(pruned.nodes.allFinite());
            }
    }
}

TEST_CASE("looking a step ahead drops a kernel that the price alone would keep", "[prune]") {
    using namespace prune_test;
    // One wide Gaussian, begun as two narrow ones on its flanks: either is dear until the other moves.
    const Index n = 121;
    const Matrix x = Vector::LinSpaced(n, -5.0, 5.0).transpose();
    const Matrix y =
        (-0.5 * (x.array() / 1.5).square()).exp().matrix() + deviation * support::normals(1, n, 6);
    const Vector weights = Vector::Ones(n);
    const Gaussian kernel;
    const detail::TiledPoints points(x);
    const Box box(-5.5, 5.5, {0.1, 6.0});
    const BoxSlide slide(kernel, points, box, y, weights, 1e-8);
    Matrix start(2, 2);
    start << -1.0, 1.0, 1.1, 1.1;
    const Slid model = slide(start, {.max_steps = 0});
    const double one = slide(Matrix(Eigen::Vector2d(0.0, 1.5))).at.cost;
    for (Index j = 0; j < 2; ++j) {
        CHECK(model.at.price(j) > 10.0 * one);
        CHECK(slide.predicted_without(model, j, 0.1) < 0.5 * (model.at.cost + model.at.price(j)));
    }
    const Goal goal(n, slide.energy(), deviation * deviation * static_cast<double>(n) / slide.energy(), 3,
                    100);
    const Slid pruned = prune(slide, goal, model, sliding);
    REQUIRE(pruned.size() == 1);
    CHECK(pruned.at.cost <= 1.01 * one);
}

TEST_CASE("an empty model is safe to prune", "[prune]") {
    using namespace prune_test;
    const Setting s;
    for (const Goal& goal : {s.criterion(), s.within(0.1), s.criterion(0)}) {
        const Slid pruned = prune(s.slide, goal, s.slide(Matrix(2, 0)), sliding);
        CHECK(pruned.size() == 0);
        CHECK(pruned.at.cost == s.slide.energy());
    }
}
