#include "support/catch.hpp"
#include "support/report_oracle.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/read_off.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/search/evaluation.hpp>
#include <kernelet/search/priors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace search_test {

using namespace kernelet;
using Catch::Matchers::ContainsSubstring;

/// 50 points of sin(6x) with noise of 0.02.
struct Sine {
    Matrix x = Vector::LinSpaced(50, 0.0, 1.0).transpose();
    Vector y = (6.0 * x.row(0).array()).sin().transpose() + 0.02 * support::normals(50, 1, 1).array();

    SampleScales scales() const {
        return SampleScales::of(SquaredLoss{}, {x, y.transpose(), Vector::Ones(50)}, {0.02, 1.0},
                                PriorOptions{});
    }
};

/// A Gaussian whose values are not a number beyond x = 0.5.
struct BrokenKernel {
    static constexpr std::string_view name = "broken_kernel";
    Gaussian gaussian{};
    Index parameters(Index d) const { return gaussian.parameters(d); }
    ParameterKind parameter_kind(Index row) const { return gaussian.parameter_kind(row); }
    void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef k) const {
        gaussian.values(xt, node, k);
        for (Index i = 0; i < k.size(); ++i)
            if (xt(i, 0) > 0.5) k(i) = std::numeric_limits<double>::quiet_NaN();
    }
    void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef j) const {
        gaussian.jet(xt, node, j);
    }
};

/// The squared loss, not a number for large targets.
struct BrokenLoss {
    static constexpr std::string_view name = "broken_loss";
    double value(double f, double y) const { return std::sqrt(0.5 - y) * 0.0 + (f - y) * (f - y); }
    double derivative(double f, double y) const { return 2.0 * (f - y); }
    double level(double t) const { return t * t; }
    Interval interval(double y, double t) const { return {y - t, y + t}; }
};

/// The samples in another order.
struct Shuffled {
    Matrix x{};
    Vector y{};
    std::vector<Index> order{};

    Shuffled(const Matrix& given_x, const Vector& given_y) : order(static_cast<std::size_t>(given_x.cols())) {
        std::iota(order.begin(), order.end(), Index{0});
        const detail::CounterRandom random(3);
        for (std::size_t i = order.size() - 1; i > 0; --i)
            std::swap(order[i], order[random.bits(i) % (i + 1)]);
        x = given_x(Eigen::all, order);
        y = given_y(order);
    }
};

}  // namespace search_test

#ifdef NDEBUG  // minutes under sanitizers
TEST_CASE("noise inside the tube of a loss leaves the limit on kernels in force", "[search]") {
    using namespace search_test;
    const Sine data;
    for (const Index most : {1, 2}) {
        const Options options{.max_kernels = most};
        const EpsilonInsensitiveLoss loss(0.1);
        const auto fit = SparseKernelEstimator<Gaussian, EpsilonInsensitiveLoss>(options, AutomaticSolver{},
                                                                                 Gaussian{}, loss)
                             .fit(data.x, data.y);
        CAPTURE(most, fit.report.full());
        CHECK(fit.model.size() <= most);
        CHECK(support::report_contradiction(
                  fit, support::AskedFit<EpsilonInsensitiveLoss>{{data.x, data.y}, options, loss}) == "");
    }
    // without a limit, the criterion ends at few kernels too
    const auto free = SparseKernelEstimator<Gaussian, EpsilonInsensitiveLoss>(
                          Options{}, AutomaticSolver{}, Gaussian{}, EpsilonInsensitiveLoss(0.1))
                          .fit(data.x, data.y);
    CHECK(free.model.size() >= 2);
    CHECK(free.model.size() <= 8);
}
#endif

TEST_CASE("aggregate tolerances far below rounding are those of zero", "[search]") {
    using namespace search_test;
    const Matrix x = Vector::LinSpaced(30, 0.0, 1.0).transpose();
    const Vector y = (6.0 * x.row(0).array()).sin().transpose();
    const auto residual = [&](double tolerance) {
        const Options options{.tolerance = tolerance};
        const auto fit = SparseKernelEstimator<>(options).fit(x, y);
        CAPTURE(tolerance, fit.report.full());
        CHECK(std::isfinite(fit.report.max_violation));
        CHECK(std::isfinite(fit.report.model_violation));
        CHECK(support::report_contradiction(fit, support::AskedFit<SquaredLoss>{{x, y}, options}) == "");
        return fit.report.residual;
    };
    const double zero = residual(0.0);
    CHECK(zero <= 1e-2);
    for (const double tiny : {1e-100, 1e-150, 1e-200, 1e-300}) CHECK(residual(tiny) <= 2.0 * zero);
}

TEST_CASE("the squared loss projects onto tiny ellipsoids without overflow", "[search]") {
    using namespace search_test;
    const Matrix y = support::normals(2, 9, 1), v = support::normals(2, 9, 2);
    const Vector w = support::uniforms(9, 1, 3, 0.5, 2.0);
    for (const double t : {1e-20, 1e-40, 1e-150, 1e-300}) {
        const Projection at = SquaredLoss{}.aggregate_projection(v, y, w, t);
        CAPTURE(t);
        CHECK(at.point.allFinite());
        CHECK(at.diagonal.allFinite());
        CHECK(at.direction.allFinite());
        CHECK((at.point - y).norm() <= 1e-15 * y.norm() + 10.0 * t);
    }
}

TEST_CASE("two columns are refused as one sample, with a word on how to pass one input", "[search]") {
    using namespace search_test;
    const Vector x = Vector::LinSpaced(50, 0.0, 1.0), y = x.array().sin();
    CHECK_THAT(support::refusal([&] { SparseKernelEstimator<>().fit(x, y); }),
               ContainsSubstring("50") && ContainsSubstring("x.transpose()"));
    CHECK_NOTHROW(SparseKernelEstimator<>(Options{.max_kernels = 2}).fit(x.transpose(), y));
}

TEST_CASE("a warm start of another dimension is refused", "[search]") {
    using namespace search_test;
    const Sine data;
    const SparseKernelEstimator<> estimator(Options{.max_kernels = 3});
    const auto earlier = estimator.fit(data.x, data.y);
    const Matrix plane = support::uniforms(2, 50, 2);
    CHECK_THAT(support::refusal([&] { estimator.fit_from(earlier, plane, data.y); }),
               ContainsSubstring("1 inputs") && ContainsSubstring("2 rows"));
}

TEST_CASE("a kernel or loss that returns NaN is named", "[search]") {
    using namespace search_test;
    const Sine data;
    CHECK_THAT(support::refusal([&] { SparseKernelEstimator<BrokenKernel>().fit(data.x, data.y); }),
               ContainsSubstring("broken_kernel"));
    CHECK_THAT(support::refusal([&] { SparseKernelEstimator<Gaussian, BrokenLoss>().fit(data.x, data.y); }),
               ContainsSubstring("broken_loss"));
}

TEST_CASE("the order of the samples does not change a bit, in any dimension", "[search]") {
    using namespace search_test;
#ifdef NDEBUG
    const Index d = GENERATE(1, 2, 3, 5), n = 150;
#else
    const Index d = GENERATE(2, 5), n = 50;
#endif
    const Matrix x = support::uniforms(d, n, 5, -1.0, 1.0);
    const Vector y = (3.0 * x.row(0).array()).sin().transpose() + 0.1 * support::normals(n, 1, 6).array();
    const Shuffled other(x, y);
    const SparseKernelEstimator<> estimator;
    const auto first = estimator.fit(x, y), second = estimator.fit(other.x, other.y);
    REQUIRE(first.model.size() + first.model.slopes().size() > 0);
    CHECK(support::same_bits(first.model.slopes(), second.model.slopes()));
    CHECK(support::same_bits(first.model.nodes(), second.model.nodes()));
    CHECK(support::same_bits(first.model.coefficients(), second.model.coefficients()));
    for (Index i = 0; i < n; ++i) {
        const Index given = other.order[static_cast<std::size_t>(i)];
        CHECK(first.report.prices(given) == second.report.prices(i));
        CHECK(first.multipliers(0, given) == second.multipliers(0, i));
    }
}

TEST_CASE("the ridge that is given is the ridge that is used", "[search]") {
    using namespace search_test;
    const Sine data;
    const SampleScales scales = data.scales();
    const Box box = box_from_samples(data.x);
    // σ²/(n τ²), τ = 7 deviations of y
    const double variance = data.y.squaredNorm() / 50.0;
    CHECK(Priors::from(scales, box, Options{}).ridge ==
          Approx(4e-4 / (50.0 * 49.0 * variance)).epsilon(1e-12));
    for (const double ridge : {0.0, 1e-12, 1e-3, 10.0})
        CHECK(Priors::from(scales, box, Options{.ridge = ridge}).ridge == ridge);
    // the coefficients of a fit minimise with it
    const auto fit = SparseKernelEstimator<>(Options{.max_kernels = 4, .ridge = 0.05}).fit(data.x, data.y);
    const Matrix& nodes = fit.model.nodes();
    const Matrix inside = fit.model.scaling().to_internal(data.x);
    Matrix phi(50, nodes.cols());
    for (Index i = 0; i < 50; ++i)
        for (Index j = 0; j < nodes.cols(); ++j)
            phi(i, j) = std::exp(-0.5 * std::pow((inside(0, i) - nodes(0, j)) / nodes(1, j), 2));
    const Vector a = fit.model.coefficients(), slope = phi.transpose() * (phi * a - data.y) + 0.05 * 50.0 * a;
    CHECK(slope.norm() <= 1e-8 * (phi.transpose() * data.y).norm());
}

TEST_CASE("the prior on widths follows the samples, not the widths that are given", "[search]") {
    using namespace search_test;
    const Sine data;
    const SampleScales scales = data.scales();
    CHECK(scales.half_diagonal == Approx(0.6).epsilon(1e-12));  // [0, 1] and a tenth more on each side
    for (const double widest : {0.05, 0.6, 40.0}) {
        const Box box(-0.1, 1.1, Interval{0.01, widest});
        const Priors priors = Priors::from(scales, box, Options{});
        CHECK(priors.widths.typical == Approx(0.2).epsilon(1e-12));
        CHECK(priors.widths.strength == Approx(4e-4).epsilon(1e-12));  // σ² for one free width
        CHECK(priors.widths.cost(0, 0.2) == Approx(0.0).margin(1e-15));
    }
}

TEST_CASE("every loss knows how much data a kernel sees", "[search]") {
    using namespace search_test;
    const Matrix x = Vector::LinSpaced(40, 0.0, 1.0).transpose();
    Matrix y(1, 40);
    for (Index i = 0; i < 40; ++i) y(0, i) = x(0, i) > 0.5 ? 1.0 : -1.0;
    const Vector weights = support::uniforms(40, 1, 2, 0.5, 2.0);
    const detail::TiledPoints points(x);
    Matrix nodes(2, 3);
    nodes << 0.2, 0.8, 30.0,  // the last is far from all samples
        0.1, 0.3, 0.5;
    const auto masses = [&](const AnyLoss& loss) {
        const SearchProblem problem{.kernel = Gaussian{},
                                    .domain = Box(0.0, 40.0, Interval{0.05, 1.0}),
                                    .points = points,
                                    .loss = {loss, y, weights, 0.1},
                                    .priors = {.ridge = 1e-6}};
        return Evaluation<>(problem).at(nodes).masses;
    };
    for (Index j = 0; j < 3; ++j) {
        double mass = 0.0;
        for (Index i = 0; i < 40; ++i)
            mass += weights(i) * std::exp(-std::pow((x(0, i) - nodes(0, j)) / nodes(1, j), 2));
        mass *= 40.0 / weights.sum();
        CHECK(masses(SquaredLoss{})(j) == Approx(mass).epsilon(1e-6).margin(1e-12));
        CHECK(masses(LogisticLoss{})(j) == Approx(mass).epsilon(1e-6).margin(1e-12));
        CHECK(masses(HingeLoss{})(j) == Approx(mass).epsilon(1e-6).margin(1e-12));
    }
}

TEST_CASE("the first-order search says what bound it, and draws by the seed", "[search]") {
    using namespace search_test;
    const Matrix x = support::uniforms(2, 200, 3, -1.0, 1.0);
    const Vector y = (3.0 * x.row(0).array()).sin().transpose() + 0.1 * support::normals(200, 1, 4).array();
    Options options;
    options.search.first_order.max_second_order_work = 1.0;
    options.search.first_order.final_steps = 40;
    const auto fit = [&](std::uint64_t seed) {
        Options seeded = options;
        seeded.seed = seed;
        const Box box = box_from_samples(x);  // a rule: the dual does not draw
        return SparseKernelEstimator<>(seeded).fit(x, y, box);
    };
    const auto first = fit(1);
    CHECK(first.report.bound == Bound::held_out);
    CHECK(support::report_contradiction(first, support::AskedFit<SquaredLoss>{{x, y}, options}) == "");
    CHECK(support::same_bits(first.model.nodes(), fit(1).model.nodes()));
    const auto second = fit(2);
    CHECK(first.report.dual_value == second.report.dual_value);
    CHECK_FALSE(support::same_bits(first.model.nodes(), second.model.nodes()));
}

#ifdef NDEBUG
TEST_CASE("pure noise is reported without contradictions", "[search]") {
    using namespace search_test;
    const Matrix x = support::uniforms(2, 40, 7, 0.0, 1.0);
    for (const std::uint64_t seed : {1U, 2U}) {
        const Vector y = support::normals(40, 1, seed);
        const auto fit = SparseKernelEstimator<>().fit(x, y);
        CHECK(support::report_contradiction(fit, support::AskedFit<SquaredLoss>{{x, y}}) == "");
        CHECK_THAT(fit.report.brief(), !ContainsSubstring("tolerance"));
        const Options options{.tolerance = 1e-3};
        const auto chased = SparseKernelEstimator<>(options).fit(x, y);
        CHECK(support::report_contradiction(chased, support::AskedFit<SquaredLoss>{{x, y}, options}) == "");
    }
}
#endif

TEST_CASE("many samples are searched in levels, and the last coefficients are those of all samples",
          "[search]") {
    using namespace kernelet;
    constexpr Index n = 5000, planted = 4;
    Matrix nodes(3, planted);
    nodes << -0.6, 0.5, 0.1, -0.3, -0.5, 0.4, 0.6, 0.2, 0.25, 0.3, 0.2, 0.15;
    Vector heights(planted);
    heights << 1.0, -0.7, 0.8, -1.1;
    const Matrix x = support::uniforms(2, n, 91, -1.0, 1.0);
    Vector y = 0.05 * support::normals(n, 1, 92);
    for (Index j = 0; j < planted; ++j)
        y += heights(j) * (-0.5 * (x.colwise() - nodes.col(j).head(2)).colwise().squaredNorm().transpose() /
                           (nodes(2, j) * nodes(2, j)))
                              .array()
                              .exp()
                              .matrix();
    Options options;
    options.search.levels = {.first_samples = 600, .growth = 2};
    options.standardize = options.center = false;
    const auto fit = SparseKernelEstimator<>(options).fit(x, y);
    CHECK(fit.report.samples == n);
    CHECK(fit.model.size() == planted);
    CHECK(fit.report.residual <= 0.052);
    // The gradient in the coefficients vanishes on all samples up to the ridge.
    Matrix phi(n, fit.model.size());
    for (Index j = 0; j < phi.cols(); ++j) {
        const Vector node = fit.model.centers().col(j);
        const double width = fit.model.widths()(0, j);
        phi.col(j) =
            (-0.5 * (x.colwise() - node).colwise().squaredNorm().transpose() / (width * width)).array().exp();
    }
    const Vector left = phi.transpose() * (y - fit.model.predict(x));
    CHECK(left.cwiseAbs().maxCoeff() <= 1e-2);
    // Equal to the search without levels, up to the precision that the samples allow.
    options.search.levels.first_samples = n;
    const auto whole = SparseKernelEstimator<>(options).fit(x, y);
    CHECK(whole.model.size() == planted);
    CHECK(fit.report.residual == Approx(whole.report.residual).epsilon(1e-4));
    // A tolerance is met on all samples, not only on those of a level.
    Options tight = options;
    tight.search.levels.first_samples = 600;
    tight.tolerance = 1.0005 * whole.report.residual;
    const auto met = SparseKernelEstimator<>(tight).fit(x, y);
    CHECK(met.report.residual <= *tight.tolerance);
    CHECK(met.report.bound == Bound::tolerance);
}

TEST_CASE("a level whose samples are all zero decides nothing", "[search]") {
    using namespace kernelet;
    constexpr Index n = 900;
    const Matrix x = Vector::LinSpaced(n, -1.0, 1.0).transpose();
    Vector y = Vector::Zero(n);
    for (const Index i : {451, 452, 454, 455}) y(i) = 1.0;
    Options options{.tolerance = 0.2};
    options.search.levels = {.first_samples = 300, .growth = 4};  // every third sample
    y(453) = y(450) = y(456) = 0.0;
    const auto fit = SparseKernelEstimator<>(options).fit(x, y);
    CHECK(fit.model.predict(x).allFinite());
    CHECK(std::isfinite(fit.report.residual));
}
