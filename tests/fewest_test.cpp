#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/refit/fewest.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace fewest_test {

using namespace kernelet;

#ifdef NDEBUG
constexpr Index plane_samples = 400;
constexpr Index wave_samples = 201;
constexpr double wave_edge = 5.0;  // 26 half waves
constexpr Index wave_most = 20;
#else
constexpr Index plane_samples = 250;  // sanitizers are slow
constexpr Index wave_samples = 121;
constexpr double wave_edge = 4.0;  // 16 half waves
constexpr Index wave_most = 13;
#endif

/// Samples, and all that a search for few kernels refers to.
struct Setting {
    Matrix x{};
    Matrix y{};
    double deviation;  // of the noise
    Box box;
    Vector weights{};
    Gaussian kernel{};
    detail::TiledPoints points;
    Slide<Gaussian, Box> slide;
    Matrix candidates{};

    Setting(Matrix inputs, Matrix targets, double noise, Box domain, Index nodes = 1500)
        : x(std::move(inputs)),
          y(std::move(targets)),
          deviation(noise),
          box(std::move(domain)),
          weights(Vector::Ones(x.cols())),
          points(x),
          slide(kernel, points, box, y, weights, 1e-8),
          candidates(box.rule(nodes)->nodes) {}
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    Goal criterion(Index most = 60) const {
        const double mean = y.squaredNorm() / static_cast<double>(y.size());
        return {y.size(), slide.energy(), deviation * deviation / mean, box.rows() + y.rows(), most};
    }

    Matrix residual(const Slid& model) const {
        return y - detail::synthesize(kernel, points, model.nodes, Matrix(model.at.coefficients.transpose()));
    }
    double rms(const Slid& model) const {
        return residual(model).norm() / std::sqrt(static_cast<double>(y.size()));
    }

    Goal within(double tolerance, Index most = 60) const {
        Goal goal = criterion(most);
        goal.within([this, tolerance](const Slid& m) { return std::max(0.0, rms(m) - tolerance); });
        return goal;
    }

    Slid completed(const Goal& goal, const Matrix& start, Index most) const {
        return complete(slide, goal, candidates, slide(start), most);
    }

    Slid found(const Goal& goal, const Matrix& peaks, Index most = 60,
               const FewestOptions& options = {}) const {
        return fewest(slide, goal, peaks, candidates, most, options);
    }

    Slid found_without_candidates(const Goal& goal, const Matrix& peaks) const {
        return fewest(slide, goal, peaks, Matrix(box.rows(), 0), Index{60});
    }
};

/// Separated Gaussians off every grid, in d = 1 or 2.
struct Planted {
    Matrix nodes{};
    Matrix heights{};

    explicit Planted(Index d) : nodes(d + 1, d == 1 ? 5 : 4) {
        if (d == 1)
            nodes << -4.13, -2.07, 0.31, 2.22, 4.01,  //
                0.41, 0.35, 0.57, 0.29, 0.38;
        else
            nodes << -1.93, 1.47, -1.61, 2.03,  //
                -1.71, -1.33, 1.81, 1.59,       //
                0.53, 0.71, 0.63, 0.47;
        heights.resize(1, nodes.cols());
        for (Index j = 0; j < nodes.cols(); ++j) heights(0, j) = j % 2 == 0 ? 1.0 : -0.8;
    }

    Setting setting(double noise) const {
        const Index d = nodes.rows() - 1, n = d == 1 ? 201 : plane_samples;
        const double edge = d == 1 ? 5.0 : 3.0;
        const Matrix x = d == 1 ? Matrix(Vector::LinSpaced(n, -edge, edge).transpose())
                                : support::uniforms(d, n, 31, -edge, edge);
        const Matrix clean = detail::synthesize(Gaussian{}, detail::TiledPoints(x), nodes, heights);
        return {x, clean + noise * support::normals(1, n, 32), noise,
                Box(Vector::Constant(d, -edge), Vector::Constant(d, edge), {0.1, 3.0})};
    }
};

/// Each planted kernel has its own found one, the center within 2 % of its width and the width within 5 %.
bool recovered(const Matrix& found, const Matrix& planted) {
    if (found.cols() != planted.cols()) return false;
    const Index d = planted.rows() - 1;
    for (Index j = 0; j < planted.cols(); ++j) {
        const double w = planted(d, j);
        bool seen = false;
        for (Index k = 0; k < found.cols(); ++k)
            seen = seen || ((found.col(k) - planted.col(j)).head(d).norm() <= 0.02 * w &&
                            std::abs(found(d, k) - w) <= 0.05 * w);
        if (!seen) return false;
    }
    return true;
}

/// A chirp and a narrow kernel on every half wave of it, as the peaks of a field have it.
struct Wave {
    support::Chirp signal{};
    Matrix peaks{};

    Wave(Index n, double edge) {
        signal.x = Vector::LinSpaced(n, -edge, edge).transpose();
        signal.clean = (0.5 * std::numbers::pi * signal.x.row(0).array().square()).sin().transpose();
        signal.y = signal.clean + std::sqrt(1e-3) * support::normals(n, 1, 7);
        std::vector<std::pair<double, double>> lobes;
        for (Index k = 0; std::sqrt(2.0 * static_cast<double>(k)) < edge; ++k) {
            const double from = std::sqrt(2.0 * static_cast<double>(k)),
                         to = std::min(edge, std::sqrt(2.0 * static_cast<double>(k + 1)));
            lobes.emplace_back(0.5 * (from + to), 0.3 * (to - from));
        }
        peaks.resize(2, 2 * static_cast<Index>(lobes.size()));
        Index j = 0;
        for (const auto& [center, width] : lobes) {
            peaks.col(j++) << center, width;
            peaks.col(j++) << -center, width;
        }
    }
};

}  // namespace fewest_test

TEST_CASE("separated Gaussians are found off the grid from crude starts", "[fewest]") {
    using namespace fewest_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    const Setting s = truth.setting(2e-3);
    Matrix crude = truth.nodes;  // half a width away and half as wide again
    crude.topRows(1) += 0.5 * truth.nodes.bottomRows(1);
    crude.bottomRows(1) *= 1.5;
    Matrix more(d + 1, crude.cols() + 2);  // and two that are none
    more << crude, Matrix::Constant(d + 1, 2, 0.9);
    more.topRows(d).col(crude.cols() + 1).setConstant(-1.2);
    std::vector<Matrix> starts{more, Matrix(d + 1, 0)};
#ifdef NDEBUG
    starts.push_back(crude);
    starts.push_back(crude.rightCols(crude.cols() - 2));
#endif
    for (const Matrix& peaks : starts) {
        const Slid by_criterion = s.found(s.criterion(), peaks);
        CAPTURE(d, peaks.cols(), by_criterion.nodes);
        CHECK(recovered(by_criterion.nodes, truth.nodes));
        CHECK(s.rms(by_criterion) <= 2.2e-3);
        const Goal goal = s.within(2.2e-3);
        const Slid by_tolerance = s.found(goal, peaks);
        CHECK(goal.met(by_tolerance));
        CHECK(recovered(by_tolerance.nodes, truth.nodes));
    }
}

TEST_CASE("a wave takes fewer kernels than it has half waves", "[fewest]") {
    using namespace fewest_test;
    const Wave wave(wave_samples, wave_edge);
    const Setting s(wave.signal.x, wave.signal.y.transpose(), std::sqrt(1e-3),
                    Box(-wave_edge, wave_edge, {0.02 * wave_edge, wave_edge}));
    const Goal goal = s.criterion();
    const Slid model = s.found(goal, wave.peaks);
    CAPTURE(model.nodes, model.at.coefficients);
    CHECK(model.size() <= wave_most);
    CHECK(model.size() < wave.peaks.cols());
    // It is the wave, not its noise.
    CHECK(s.rms(model) <= 1.6 * std::sqrt(1e-3));
    CHECK(goal.score(model) <= goal.score(s.slide(wave.peaks)));
    // A broad base with dips on it: not what dropping one kernel after the other from all peaks comes to.
    FewestOptions starts;
    starts.rounds = starts.swaps = 0;
    const Slid from_all = prune(s.slide, goal, s.slide(wave.peaks, starts.sliding), starts.sliding);
    const Slid from_one_sign = s.found(goal, wave.peaks, 60, starts);
    CHECK(from_one_sign.size() < from_all.size());
    CHECK(goal.score(from_one_sign) < goal.score(from_all));
    CHECK(from_one_sign.nodes.row(1).maxCoeff() >= 5.0 * wave.peaks.row(1).minCoeff());
}

TEST_CASE("no more kernels than asked for, the best of them", "[fewest]") {
    using namespace fewest_test;
    const Planted truth(1);
    const Setting s = truth.setting(2e-3);
    for (const bool tolerance : {false, true}) {
        double before = s.slide.energy();
        for (const Index most : {1, 2, 4}) {
            const Goal goal = tolerance ? s.within(2.2e-3, most) : s.criterion(most);
            const Slid model = s.found(goal, truth.nodes, most);
            CHECK(model.size() == most);
            CHECK(model.at.cost < before);
            before = model.at.cost;
        }
    }
}

TEST_CASE("what a search ends with is no worse than the starts it had", "[fewest]") {
    using namespace fewest_test;
    const Planted truth(1);
    const Setting s = truth.setting(0.05);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Matrix peaks(2, 6);
        peaks.row(0) = support::uniforms(1, 6, seed, -5.0, 5.0);
        peaks.row(1) = support::uniforms(1, 6, seed + 9, 0.2, 1.0);
        for (const Goal& goal : {s.criterion(), s.within(0.06), s.criterion(3)}) {
            const Slid model = s.found(goal, peaks);
            CHECK(goal.score(model) <= goal.score(s.slide(peaks)));
            CHECK(goal.score(model) <= goal.score(s.slide(Matrix(2, 0))));
        }
    }
}

TEST_CASE("no peaks, no candidates, neither: all safe", "[fewest]") {
    using namespace fewest_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    const Setting s = truth.setting(2e-3);
    for (const Goal& goal : {s.criterion(), s.within(2.2e-3), s.within(100.0)}) {
        const Slid nothing = s.found_without_candidates(goal, Matrix(d + 1, 0));
        CHECK(nothing.size() == 0);
        CHECK(nothing.nodes.rows() == d + 1);
        CHECK(nothing.at.cost == Approx(s.y.squaredNorm()));
    }
    CHECK(recovered(s.found_without_candidates(s.criterion(), truth.nodes).nodes, truth.nodes));
    CHECK(s.found(s.within(100.0), truth.nodes).size() == 0);  // nothing is needed
}

TEST_CASE("two outputs share their kernels", "[fewest]") {
    using namespace fewest_test;
    Planted truth(1);
    truth.heights.conservativeResize(2, Eigen::NoChange);
    truth.heights.row(1) << 0.2, 0.9, -0.7, 0.6, 1.0;
    const Matrix x = Vector::LinSpaced(201, -5.0, 5.0).transpose();
    const Matrix clean = detail::synthesize(Gaussian{}, detail::TiledPoints(x), truth.nodes, truth.heights);
    const Setting s(x, clean + 2e-3 * support::normals(2, 201, 33), 2e-3, Box(-5.0, 5.0, {0.1, 3.0}));
    CHECK(recovered(s.found(s.criterion(), Matrix(2, 0)).nodes, truth.nodes));
}

TEST_CASE("the candidate that explains most is the best single kernel", "[complete]") {
    using namespace fewest_test;
    const Matrix x = support::uniforms(1, 90, 41, -3.0, 3.0);
    const Vector weights = support::uniforms(90, 1, 42, 0.2, 2.0);
    const Matrix residual = support::normals(2, 90, 43);
    Matrix nodes(2, 40);
    nodes.row(0) = support::uniforms(1, 40, 44, -3.0, 3.0);
    nodes.row(1) = support::uniforms(1, 40, 45, 0.3, 1.5);
    Index best = 0;
    double most = -1.0;
    for (Index j = 0; j < nodes.cols(); ++j) {
        const Vector k = (-0.5 * ((x.row(0).array() - nodes(0, j)) / nodes(1, j)).square()).exp().transpose();
        const double norm = weights.dot(k.cwiseAbs2());
        REQUIRE(norm >= weights.mean());  // a sample's worth
        // what one coefficient an output, the best, takes off the weighted squares
        const Vector a = residual * weights.cwiseProduct(k) / norm;
        const Matrix left = residual - a * k.transpose();
        const double gain =
            (residual.cwiseAbs2() - left.cwiseAbs2()).colwise().sum().dot(weights.transpose());
        if (gain > most) {
            most = gain;
            best = j;
        }
    }
    const auto most_explaining = [&](const Matrix& among, const Matrix& pull, const Vector& h) {
        Index place = 0;
        explained_by(Gaussian{}, detail::TiledPoints(x), among, pull, h).maxCoeff(&place);
        return place;
    };
    CHECK(most_explaining(nodes, residual * weights.asDiagonal(), weights) == best);
    // A kernel on a single sample would explain all of it, and means nothing.
    Matrix narrow(2, 2);
    narrow << x(0, 7), 0.0, 1e-6, 1.0;
    Matrix outlier = Matrix::Ones(1, 90);
    outlier(0, 7) = 3.0;
    CHECK(most_explaining(narrow, outlier, Vector::Ones(90)) == 1);
    CHECK(explained_by(Gaussian{}, detail::TiledPoints(x), Matrix(2, 0), outlier, weights).size() == 0);
}

TEST_CASE("of many samples, some tell who explains most", "[complete]") {
    using namespace fewest_test;
    constexpr Index n = 5000;  // more than are asked
    const Matrix x = Vector::LinSpaced(n, -3.0, 3.0).transpose();
    const Vector weights = Vector::Ones(n);
    Matrix nodes(2, 3);
    nodes << -1.0, 0.5, 2.0, 0.5, 0.5, 0.5;
    const detail::TiledPoints points(x);
    const Gaussian kernel;
    const Box box(Vector::Constant(1, -3.0), Vector::Constant(1, 3.0), {0.1, 2.0});
    for (Index planted = 0; planted < 3; ++planted) {
        const Matrix y =
            detail::synthesize(kernel, points, nodes.col(planted), Matrix(Matrix::Constant(1, 1, -2.0)));
        const Slide<Gaussian, Box> slide(kernel, points, box, y, weights, 1e-9);
        const Slid nothing = slide(Matrix(2, 0));
        const Vector explained = explained_by(slide, nothing, nodes);
        Index foremost = -1;
        explained.maxCoeff(&foremost);
        CHECK(foremost == planted);
        CHECK(with_one_more(slide, nothing, nodes).col(0) == nodes.col(planted));
        // Every third of them.
        CHECK(explained(planted) == Approx(y.squaredNorm() / 3.0).epsilon(1e-2));
    }
}

TEST_CASE("foremost candidates explain most, each something else", "[complete]") {
    using namespace fewest_test;
    const detail::TiledPoints points(Matrix(Vector::LinSpaced(50, -3.0, 3.0).transpose()));
    Matrix candidates(2, 5);
    candidates << 0.0, 0.01, 2.0, -2.0, 2.1,  //
        0.5, 0.5, 0.5, 0.5, 0.4;
    Vector explained(5);
    explained << 3.0, 4.0, 1.0, 0.0, 2.0;
    using Places = std::vector<Index>;
    CHECK(foremost(Gaussian{}, points, candidates, explained, 1) == Places{1});
    // 0 is nearly 1, 2 nearly 4; 3 explains nothing
    CHECK(foremost(Gaussian{}, points, candidates, explained, 5) == Places{1, 4});
    CHECK(foremost(Gaussian{}, points, candidates, explained, 0).empty());
    CHECK(foremost(Gaussian{}, points, Matrix(2, 0), Vector(0), 3).empty());
}

TEST_CASE("complete adds kernels until the goal is met, and no more than allowed", "[complete]") {
    using namespace fewest_test;
    const Matrix x = Vector::LinSpaced(101, -3.0, 3.0).transpose();
    const Setting s(x, x.array().sin(), 1e-3, Box(-3.6, 3.6, {0.06, 3.6}), 2000);
    const Goal goal = s.within(0.003);
    const Slid done = s.completed(goal, Matrix(2, 0), 20);
    CHECK(goal.met(done));
    CHECK(done.size() <= 6);
    CHECK_FALSE(goal.met(s.completed(goal, Matrix(2, 0), done.size() - 1)));  // it stopped at once
    const Slid limited = s.completed(goal, Matrix(2, 0), 1);
    CHECK(limited.size() == 1);
    // Nothing is added to what meets the goal, nor where no more are allowed.
    CHECK(support::same_bits(s.completed(goal, done.nodes, 20).nodes, s.slide(done.nodes).nodes));
    CHECK(s.completed(goal, limited.nodes, 1).size() == 1);
}

TEST_CASE("complete by the criterion stops where a kernel more is not worth it", "[complete]") {
    using namespace fewest_test;
    const Planted truth(1);
    const Setting s = truth.setting(0.02);
    const Goal goal = s.criterion();
    const Slid done = s.completed(goal, Matrix(2, 0), 60);
    CHECK(done.size() >= 5);
    CHECK(done.size() <= 8);
    CHECK(goal.score(done) < goal.score(s.slide(Matrix(2, 0))));
    CHECK(s.completed(goal, truth.nodes, 60).size() == 5);
}

TEST_CASE("complete looks beyond a kernel that is not worth it", "[complete]") {
    using namespace fewest_test;
    Index by_patience = 0, by_tries = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        // a chessboard under noise: a field alone pays little
        const Matrix x = support::uniforms(2, 150, seed, -1.0, 1.0);
        const Matrix y = (4.0 * x.row(0)).array().sin() * (4.0 * x.row(1)).array().sin() +
                         0.3 * support::normals(1, 150, seed + 100).array();
        const Setting s(x, y, 0.3, Box(Vector::Constant(2, -1.2), Vector::Constant(2, 1.2), {0.1, 1.7}), 500);
        const Goal goal = s.criterion();
        const auto score = [&](const CompleteOptions& options) {
            return goal.score(complete(s.slide, goal, s.candidates, s.slide(Matrix(3, 0)), 60, options));
        };
        const double at_once = score({.tries = 1, .patience = 0});
        const double later = score({.tries = 1}), others = score({.patience = 0});
        CHECK(later <= at_once);
        CHECK(others <= at_once);
        if (later < at_once) ++by_patience;
        if (others < at_once) ++by_tries;
    }
    CHECK(by_patience > 0);
    CHECK(by_tries > 0);
}
