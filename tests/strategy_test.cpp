#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/search/strategy.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

// Forward selection and the strategy that composes it with backward elimination.
namespace strategy_test {

using namespace kernelet;

#ifdef NDEBUG
constexpr Index plane_samples = 400;
constexpr Index wave_samples = 201;
constexpr double wave_edge = 5.0;  // 26 half waves
constexpr Index wave_kernels = 20;
#else
constexpr Index plane_samples = 250;  // sanitizers are slow
constexpr Index wave_samples = 121;
constexpr double wave_edge = 4.0;  // 16 half waves
constexpr Index wave_kernels = 13;
#endif

/// Samples, and all that a search holds references to.
struct Setting {
    Matrix x{};
    Matrix y{};
    double deviation;  // of the noise
    Box box;
    Vector weights{};
    detail::TiledPoints points;
    SearchProblem problem;
    LevenbergMarquardt<> lm;
    Matrix candidates{};

    Setting(Matrix inputs, Matrix targets, double noise, Box domain, Index nodes = 1500)
        : x(std::move(inputs)),
          y(std::move(targets)),
          deviation(noise),
          box(std::move(domain)),
          weights(Vector::Ones(x.cols())),
          points(x),
          problem(support::squared_problem(box, points, y, weights, {.ridge = 1e-8})),
          lm(problem),
          candidates(box.rule(nodes)->nodes) {}
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    Criterion criterion(Index max_kernels = 60) const {
        const double mean = y.squaredNorm() / static_cast<double>(y.size());
        return {.residuals = static_cast<double>(y.size()),
                .energy = lm.energy(),
                .noise = deviation * deviation / mean,
                .parameters = static_cast<double>(box.rows() + y.rows()),
                .max_kernels = max_kernels};
    }

    double rms(const KernelExpansion& model) const {
        const Matrix residual =
            y - detail::synthesize(Gaussian{}, points, model.nodes, Matrix(model.coefficients.transpose()));
        return residual.norm() / std::sqrt(static_cast<double>(y.size()));
    }

    Criterion within(double tolerance, Index max_kernels = 60) const {
        Criterion wanted = criterion(max_kernels);
        wanted.violation = [this, tolerance](const KernelExpansion& m) {
            return std::max(0.0, rms(m) - tolerance);
        };
        return wanted;
    }

    /// Forward selection from a minimisation at these nodes.
    FittedKernels selected(const Criterion& wanted, const Matrix& start, Index max_kernels,
                           const ForwardSelectionOptions& forward = {}) {
        SearchOptions options;
        options.forward = forward;
        options.trial = {};
        CandidateGains<> gains(problem, candidates, options.forward.gain_samples);
        SearchState<> state{lm, wanted, gains, options};
        return forward_selection(state, lm.minimize(start), max_kernels);
    }

    FittedKernels found(const Criterion& wanted, const Matrix& peaks, Index max_kernels = 60,
                        const SearchOptions& options = {}) {
        CandidateGains<> gains(problem, candidates, options.forward.gain_samples);
        SearchState<> state{lm, wanted, gains, options};
        return SearchStrategy<>(state, max_kernels).run(peaks);
    }

    FittedKernels found_without_candidates(const Criterion& wanted, const Matrix& peaks) {
        const Matrix none(box.rows(), 0);
        const SearchOptions options;
        CandidateGains<> gains(problem, none, options.forward.gain_samples);
        SearchState<> state{lm, wanted, gains, options};
        return SearchStrategy<>(state, 60).run(peaks);
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

/// Whether each planted kernel was found: the center within 2 % of its width and the width within 5 %.
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

/// A chirp and a narrow kernel on each of its half waves, as the peaks of a field would be.
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

}  // namespace strategy_test

TEST_CASE("separated Gaussians are found off the grid from inaccurate starts", "[strategy]") {
    using namespace strategy_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    Setting s = truth.setting(2e-3);
    Matrix crude = truth.nodes;  // half a width away and half as wide again
    crude.topRows(1) += 0.5 * truth.nodes.bottomRows(1);
    crude.bottomRows(1) *= 1.5;
    Matrix more(d + 1, crude.cols() + 2);  // and two that were not planted
    more << crude, Matrix::Constant(d + 1, 2, 0.9);
    more.topRows(d).col(crude.cols() + 1).setConstant(-1.2);
    std::vector<Matrix> starts{more, Matrix(d + 1, 0)};
#ifdef NDEBUG
    starts.push_back(crude);
    starts.push_back(crude.rightCols(crude.cols() - 2));
#endif
    for (const Matrix& peaks : starts) {
        const KernelExpansion by_criterion = s.found(s.criterion(), peaks).fit;
        CAPTURE(d, peaks.cols(), by_criterion.nodes);
        CHECK(recovered(by_criterion.nodes, truth.nodes));
        CHECK(s.rms(by_criterion) <= 2.2e-3);
        const Criterion wanted = s.within(2.2e-3);
        const KernelExpansion by_tolerance = s.found(wanted, peaks).fit;
        CHECK(wanted.met(by_tolerance));
        CHECK(recovered(by_tolerance.nodes, truth.nodes));
    }
}

TEST_CASE("a wave takes fewer kernels than it has half waves", "[strategy]") {
    using namespace strategy_test;
    const Wave wave(wave_samples, wave_edge);
    Setting s(wave.signal.x, wave.signal.y.transpose(), std::sqrt(1e-3),
              Box(-wave_edge, wave_edge, {0.02 * wave_edge, wave_edge}));
    const Criterion criterion = s.criterion();
    const FittedKernels model = s.found(criterion, wave.peaks);
    CAPTURE(model.fit.nodes, model.fit.coefficients);
    CHECK(model.size() <= wave_kernels);
    CHECK(model.size() < wave.peaks.cols());
    // The wave is fitted, and not its noise.
    CHECK(s.rms(model.fit) <= 1.6 * std::sqrt(1e-3));
    CHECK(criterion.score(model) <= criterion.score(s.lm.minimize(wave.peaks)));
    // A broad base with dips on it: backward elimination from all peaks does not reach it.
    const SearchOptions starts;
    CandidateGains<> gains(s.problem, s.candidates, starts.forward.gain_samples);
    SearchState<> state{s.lm, criterion, gains, starts};
    const FittedKernels from_all = backward_elimination(state, s.lm.minimize(wave.peaks, starts.trial));
    const FittedKernels from_one_sign = s.found(criterion, wave.peaks, 60, starts);
    CHECK(from_one_sign.size() < from_all.size());
    CHECK(criterion.score(from_one_sign) < criterion.score(from_all));
    CHECK(from_one_sign.fit.nodes.row(1).maxCoeff() >= 5.0 * wave.peaks.row(1).minCoeff());
}

TEST_CASE("a search ends with max_kernels where more would lower the cost", "[strategy]") {
    using namespace strategy_test;
    const Planted truth(1);
    Setting s = truth.setting(2e-3);
    for (const bool tolerance : {false, true}) {
        double before = s.lm.energy();
        for (const Index max_kernels : {1, 2, 4}) {
            const Criterion criterion = tolerance ? s.within(2.2e-3, max_kernels) : s.criterion(max_kernels);
            const FittedKernels model = s.found(criterion, truth.nodes, max_kernels);
            CHECK(model.size() == max_kernels);
            CHECK(model.cost < before);
            before = model.cost;
        }
    }
}

TEST_CASE("the result of a search scores no worse than its starts", "[strategy]") {
    using namespace strategy_test;
    const Planted truth(1);
    Setting s = truth.setting(0.05);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Matrix peaks(2, 6);
        peaks.row(0) = support::uniforms(1, 6, seed, -5.0, 5.0);
        peaks.row(1) = support::uniforms(1, 6, seed + 9, 0.2, 1.0);
        for (const Criterion& criterion : {s.criterion(), s.within(0.06), s.criterion(3)}) {
            const FittedKernels model = s.found(criterion, peaks);
            CHECK(criterion.score(model) <= criterion.score(s.lm.minimize(peaks)));
            CHECK(criterion.score(model) <= criterion.score(s.lm.minimize(Matrix(2, 0))));
        }
    }
}

TEST_CASE("a search accepts no peaks and no candidates", "[strategy]") {
    using namespace strategy_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    Setting s = truth.setting(2e-3);
    for (const Criterion& criterion : {s.criterion(), s.within(2.2e-3), s.within(100.0)}) {
        const FittedKernels nothing = s.found_without_candidates(criterion, Matrix(d + 1, 0));
        CHECK(nothing.size() == 0);
        CHECK(nothing.fit.nodes.rows() == d + 1);
        CHECK(nothing.cost == Approx(s.y.squaredNorm()));
    }
    CHECK(recovered(s.found_without_candidates(s.criterion(), truth.nodes).fit.nodes, truth.nodes));
    CHECK(s.found(s.within(100.0), truth.nodes).size() == 0);  // the tolerance is met without kernels
}

TEST_CASE("two outputs share the kernels that are found", "[strategy]") {
    using namespace strategy_test;
    Planted truth(1);
    truth.heights.conservativeResize(2, Eigen::NoChange);
    truth.heights.row(1) << 0.2, 0.9, -0.7, 0.6, 1.0;
    const Matrix x = Vector::LinSpaced(201, -5.0, 5.0).transpose();
    const Matrix clean = detail::synthesize(Gaussian{}, detail::TiledPoints(x), truth.nodes, truth.heights);
    Setting s(x, clean + 2e-3 * support::normals(2, 201, 33), 2e-3, Box(-5.0, 5.0, {0.1, 3.0}));
    CHECK(recovered(s.found(s.criterion(), Matrix(2, 0)).fit.nodes, truth.nodes));
}

TEST_CASE("the candidate of the largest correlation gain is the best single kernel", "[forward_selection]") {
    using namespace strategy_test;
    const Matrix x = support::uniforms(1, 90, 41, -3.0, 3.0);
    const Vector weights = support::uniforms(90, 1, 42, 0.2, 2.0);
    const Matrix residual = support::normals(2, 90, 43);
    Matrix nodes(2, 40);
    nodes.row(0) = support::uniforms(1, 40, 44, -3.0, 3.0);
    nodes.row(1) = support::uniforms(1, 40, 45, 0.3, 1.5);
    Index best = 0;
    double largest = -1.0;
    for (Index j = 0; j < nodes.cols(); ++j) {
        const Vector k = (-0.5 * ((x.row(0).array() - nodes(0, j)) / nodes(1, j)).square()).exp().transpose();
        const double norm = weights.dot(k.cwiseAbs2());
        REQUIRE(norm >= weights.mean());  // at least one sample's worth of data
        // the decrease of the weighted squares by the best coefficient per output
        const Vector a = residual * weights.cwiseProduct(k) / norm;
        const Matrix left = residual - a * k.transpose();
        const double gain =
            (residual.cwiseAbs2() - left.cwiseAbs2()).colwise().sum().dot(weights.transpose());
        if (gain > largest) {
            largest = gain;
            best = j;
        }
    }
    const detail::TiledPoints points(x);
    const auto largest_gain = [&](const Matrix& among, const Matrix& pull, const Vector& h) {
        Index place = 0;
        const double gain = correlation_gain(Gaussian{}, {points, pull, h}, among).maxCoeff(&place);
        return std::pair(place, gain);
    };
    const auto [place, gain] = largest_gain(nodes, residual * weights.asDiagonal(), weights);
    CHECK(place == best);
    CHECK(gain == Approx(largest).epsilon(1e-10));
    // A kernel that reaches one sample only could fit all of its noise.
    Matrix narrow(2, 2);
    narrow << x(0, 7), 0.0, 1e-6, 1.0;
    Matrix outlier = Matrix::Ones(1, 90);
    outlier(0, 7) = 3.0;
    CHECK(largest_gain(narrow, outlier, Vector::Ones(90)).first == 1);
    CHECK(correlation_gain(Gaussian{}, {points, outlier, weights}, Matrix(2, 0)).size() == 0);
}

TEST_CASE("the gains of candidates are computed on groups of many samples", "[forward_selection]") {
    using namespace strategy_test;
    constexpr Index n = 5000;  // more than gain_samples
    const Matrix x = Vector::LinSpaced(n, -3.0, 3.0).transpose();
    const Vector weights = Vector::Ones(n);
    Matrix nodes(2, 3);
    nodes << -1.0, 0.5, 2.0, 0.5, 0.5, 0.5;
    const detail::TiledPoints points(x);
    const Box box(Vector::Constant(1, -3.0), Vector::Constant(1, 3.0), {0.1, 2.0});
    for (Index planted = 0; planted < 3; ++planted) {
        const Matrix y =
            detail::synthesize(Gaussian{}, points, nodes.col(planted), Matrix(Matrix::Constant(1, 1, -2.0)));
        const SearchProblem problem = support::squared_problem(box, points, y, weights, {.ridge = 1e-9});
        const KernelExpansion nothing = empty_expansion(2, 1);
        const Vector gains = CandidateGains<>(problem, nodes, 2000)(nothing);
        Index best = -1;
        gains.maxCoeff(&best);
        CHECK(best == planted);
        CHECK(with_best_candidate(nothing, nodes, gains).col(0) == nodes.col(planted));
        // Three neighbours are taken together by default; held as floats, the gains are those of correlation_gain().
        const Vector all = CandidateGains<>(problem, nodes, n)(nothing);
        const Matrix pull = problem.loss.pull(problem.prediction(nothing));
        const Vector exact = correlation_gain(problem.kernel, {points, pull, weights}, nodes);
        CHECK((gains - exact).cwiseAbs().maxCoeff() <= 1e-4 * exact.maxCoeff());
        CHECK((all - exact).cwiseAbs().maxCoeff() <= 1e-4 * exact.maxCoeff());
    }
}

TEST_CASE("without a spatial order, the gains of candidates are computed on a part", "[forward_selection]") {
    using namespace strategy_test;
    constexpr Index n = 3000;
    const Matrix x = support::uniforms(4, n, 5, -1.0, 1.0);
    const Vector weights = Vector::Ones(n);
    Matrix nodes = support::uniforms(5, 6, 7, -0.5, 0.5);
    nodes.row(4).setConstant(0.5);
    const detail::TiledPoints points(x);
    const Box box(Vector::Constant(4, -1.0), Vector::Constant(4, 1.0), {0.1, 2.0});
    const Matrix y =
        detail::synthesize(Gaussian{}, points, nodes.col(3), Matrix(Matrix::Constant(1, 1, 2.0)));
    const SearchProblem problem = support::squared_problem(box, points, y, weights, {.ridge = 1e-9});
    const Vector gains = CandidateGains<>(problem, nodes, 1000)(empty_expansion(5, 1));
    Index best = -1;
    gains.maxCoeff(&best);
    CHECK(best == 3);
    CHECK(gains(3) == Approx(y.squaredNorm() / 3.0).epsilon(0.2));
}

TEST_CASE("the best incoherent candidates are ordered by gain and pairwise incoherent",
          "[forward_selection]") {
    using namespace strategy_test;
    const detail::TiledPoints points(Matrix(Vector::LinSpaced(50, -3.0, 3.0).transpose()));
    Matrix candidates(2, 5);
    candidates << 0.0, 0.01, 2.0, -2.0, 2.1,  //
        0.5, 0.5, 0.5, 0.5, 0.4;
    Vector gain(5);
    gain << 3.0, 4.0, 1.0, 0.0, 2.0;
    using Places = std::vector<Index>;
    CHECK(best_incoherent(Gaussian{}, points, candidates, gain, {.count = 1}) == Places{1});
    // 0 is coherent with 1 and 2 with 4; the gain of 3 is zero
    CHECK(best_incoherent(Gaussian{}, points, candidates, gain, {.count = 5}) == Places{1, 4});
    CHECK(best_incoherent(Gaussian{}, points, candidates, gain, {.count = 5, .max_coherence = 1.0}) ==
          Places{1, 0, 4, 2});
    CHECK(best_incoherent(Gaussian{}, points, candidates, gain, {.count = 0}).empty());
    CHECK(best_incoherent(Gaussian{}, points, Matrix(2, 0), Vector(0), {.count = 3}).empty());
}

TEST_CASE("forward selection adds kernels until the tolerance is met, at most max_kernels",
          "[forward_selection]") {
    using namespace strategy_test;
    const Matrix x = Vector::LinSpaced(101, -3.0, 3.0).transpose();
    Setting s(x, x.array().sin(), 1e-3, Box(-3.6, 3.6, {0.06, 3.6}), 2000);
    const Criterion wanted = s.within(0.003);
    const FittedKernels done = s.selected(wanted, Matrix(2, 0), 20);
    CHECK(wanted.met(done.fit));
    CHECK(done.size() <= 6);
    // It stopped as soon as the tolerance was met.
    CHECK_FALSE(wanted.met(s.selected(wanted, Matrix(2, 0), done.size() - 1).fit));
    const FittedKernels limited = s.selected(wanted, Matrix(2, 0), 1);
    CHECK(limited.size() == 1);
    // Nothing is added to a model that meets the tolerance, nor to one of max_kernels.
    CHECK(support::same_bits(s.selected(wanted, done.fit.nodes, 20).fit.nodes,
                             s.lm.minimize(done.fit.nodes).fit.nodes));
    CHECK(s.selected(wanted, limited.fit.nodes, 1).size() == 1);
}

TEST_CASE("forward selection by the criterion stops where more kernels are not worth it",
          "[forward_selection]") {
    using namespace strategy_test;
    const Planted truth(1);
    Setting s = truth.setting(0.02);
    const Criterion criterion = s.criterion();
    const FittedKernels done = s.selected(criterion, Matrix(2, 0), 60);
    CHECK(done.size() >= 5);
    CHECK(done.size() <= 8);
    CHECK(criterion.score(done) < criterion.score(s.lm.minimize(Matrix(2, 0))));
    CHECK(s.selected(criterion, truth.nodes, 60).size() == 5);
}

TEST_CASE("patience and tries find models beyond a kernel that is not worth it", "[forward_selection]") {
    using namespace strategy_test;
    Index by_patience = 0, by_tries = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        // a chessboard under noise: one square alone lowers the score by little
        const Matrix x = support::uniforms(2, 150, seed, -1.0, 1.0);
        const Matrix y = (4.0 * x.row(0)).array().sin() * (4.0 * x.row(1)).array().sin() +
                         0.3 * support::normals(1, 150, seed + 100).array();
        Setting s(x, y, 0.3, Box(Vector::Constant(2, -1.2), Vector::Constant(2, 1.2), {0.1, 1.7}), 500);
        const Criterion criterion = s.criterion();
        const auto score = [&](const ForwardSelectionOptions& options) {
            return criterion.score(s.selected(criterion, Matrix(3, 0), 60, options));
        };
        const Score at_once = score({.tries = 1, .patience = 0});
        const Score later = score({.tries = 1}), others = score({.patience = 0});
        CHECK(later <= at_once);
        CHECK(others <= at_once);
        if (later < at_once) ++by_patience;
        if (others < at_once) ++by_tries;
    }
    CHECK(by_patience > 0);
    CHECK(by_tries > 0);
}
