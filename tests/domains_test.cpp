#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/concepts.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace domains_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::AnyDomain;
using kernelet::AroundSamples;
using kernelet::Box;
using kernelet::CandidateCenters;
using kernelet::FixedWidth;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Quadrature;
using kernelet::Spacing;
using kernelet::Vector;
using support::refusal;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Omega>
Matrix drawn(const Omega& domain, Index count, std::uint64_t seed) {
    const Matrix u =
        kernelet::detail::low_discrepancy(domain.uniforms(), 0, count, kernelet::detail::CounterRandom(seed));
    Matrix nodes(domain.rows(), count);
    for (Index j = 0; j < count; ++j) domain.place(u.col(j), nodes.col(j));
    return nodes;
}

Vector vector(std::initializer_list<double> values) {
    Vector v(static_cast<Index>(values.size()));
    std::copy(values.begin(), values.end(), v.begin());
    return v;
}

const Vector lo2 = vector({-1.0, 2.0});
const Vector hi2 = vector({3.0, 2.5});

template <class Omega>
void check_nodes_inside(const Omega& domain, const Matrix& nodes) {
    bool still = true;
    for (Index j = 0; j < nodes.cols(); ++j) {
        Vector node = nodes.col(j);
        domain.project(node);
        still = still && (node - nodes.col(j)).cwiseAbs().maxCoeff() <= 1e-14;
    }
    CHECK(still);
}

template <class Omega>
void check_projection(const Omega& domain, const Vector& lo, const Vector& hi) {
    const Index d = domain.dimension();
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const Vector wild = 20.0 * support::normals(domain.rows(), 1, seed);
        Vector node = wild;
        domain.project(node);
        CHECK((node.head(d).array() >= lo.array()).all());
        CHECK((node.head(d).array() <= hi.array()).all());
        for (Index row = d; row < domain.rows(); ++row) CHECK(domain.widths().contains(node(row)));
        // coordinate by coordinate the nearest
        for (Index c = 0; c < d; ++c) CHECK(node(c) == std::min(std::max(wild(c), lo(c)), hi(c)));
        for (Index row = d; row < domain.rows(); ++row) CHECK(node(row) == domain.widths().clamp(wild(row)));
        Vector again = node;
        domain.project(again);
        CHECK(support::same_bits(again, node));
    }
}

/// Functions that vary no faster than a kernel of the node's own width: what a rule is for.
double smooth(const Vector& node, Index d) {
    double sum = 0.0;
    for (Index row = 0; row < d; ++row) sum += std::cos(0.3 * node(row) + static_cast<double>(row));
    return sum + std::log(node(d)) + 0.1 * node(d);
}

double kernel(const Vector& node, Index d) {
    const double w = node(d);
    return std::exp(-(node.head(d).array() - 0.4).square().sum() / (2.0 * w * w));
}

/// Weights of a probability measure, nodes inside, within the budget, and the integral of a smooth function.
template <class Omega>
void check_rule(const Omega& domain, Index budget, double tolerance) {
    const std::optional<Quadrature> rule = domain.rule(budget);
    REQUIRE(rule.has_value());
    CHECK(rule->nodes.cols() <= budget);
    CHECK(rule->nodes.cols() == rule->weights.size());
    CHECK(rule->nodes.rows() == domain.rows());
    CHECK(rule->weights.minCoeff() > 0.0);
    CHECK(rule->weights.sum() == Approx(1.0).epsilon(1e-12));
    check_nodes_inside(domain, rule->nodes);
    const Matrix draws = drawn(domain, 40000, 3);
    const Index d = domain.dimension();
    for (const auto function : {&smooth, &kernel}) {
        double by_draws = 0.0, by_rule = 0.0;
        for (Index j = 0; j < draws.cols(); ++j)
            by_draws += function(draws.col(j), d) / static_cast<double>(draws.cols());
        for (Index j = 0; j < rule->nodes.cols(); ++j)
            by_rule += rule->weights(j) * function(rule->nodes.col(j), d);
        INFO("d " << d << ", nodes " << rule->nodes.cols());
        CHECK(std::abs(by_rule - by_draws) <= tolerance);
    }
}

TEST_CASE("a box draws centers uniformly and widths by their spacing", "[domains]") {
    for (const Spacing spacing : {Spacing::logarithmic, Spacing::uniform}) {
        const Box box(lo2, hi2, Interval{0.1, 10.0}, spacing);
        REQUIRE(box.dimension() == 2);
        REQUIRE(box.rows() == 3);
        REQUIRE(box.uniforms() == 3);
        const Matrix nodes = drawn(box, 20000, 1);
        check_nodes_inside(box, nodes);
        for (Index c = 0; c < 2; ++c) {
            const Vector u = (nodes.row(c).array() - lo2(c)) / (hi2(c) - lo2(c));
            CHECK(u.mean() == Approx(0.5).margin(2e-3));
            CHECK(u.array().square().mean() == Approx(1.0 / 3.0).margin(2e-3));
        }
        // The quantiles of the widths: log-uniform has its median at the geometric mean.
        const Vector w = nodes.row(2).transpose();
        const double median = spacing == Spacing::logarithmic ? 1.0 : 5.05;
        CHECK((w.array() < median).cast<double>().mean() == Approx(0.5).margin(2e-3));
        const double quarter =
            spacing == Spacing::logarithmic ? 0.1 * std::pow(100.0, 0.25) : 0.1 + 0.25 * 9.9;
        CHECK((w.array() < quarter).cast<double>().mean() == Approx(0.25).margin(2e-3));
    }
}

TEST_CASE("place maps the corners of the unit cube to the corners of the domain", "[domains]") {
    const Box box(lo2, hi2, Interval{0.25, 4.0});
    Vector node(3);
    box.place(Vector::Zero(3), node);
    CHECK(support::same_bits(node, vector({-1.0, 2.0, 0.25})));
    box.place(Vector::Ones(3), node);
    CHECK(node(0) == Approx(3.0));
    CHECK(node(1) == Approx(2.5));
    CHECK(node(2) == Approx(4.0));
    box.place(Vector::Constant(3, 0.5), node);
    CHECK(node(2) == Approx(1.0));
}

TEST_CASE("the quantile of a width inverts the width at a quantile", "[domains]") {
    for (const Spacing spacing : {Spacing::logarithmic, Spacing::uniform}) {
        const kernelet::WidthRange range({0.2, 3.0}, spacing);
        for (const double u : {0.0, 0.1, 0.5, 0.77, 1.0})
            CHECK(range.quantile(range.at(u)) == Approx(u).margin(1e-14));
        for (const Index count : {1, 2, 7, 40}) {
            const Quadrature levels = range.levels(count);
            CHECK(levels.weights.sum() == Approx(1.0));
            CHECK(levels.weights.minCoeff() > 0.0);
            double quantile = 0.0;  // each level lies inside of the cell whose measure it carries
            for (Index l = 0; l < count; ++l) {
                CHECK(range.quantile(levels.nodes(0, l)) > quantile);
                quantile += levels.weights(l);
                CHECK(range.quantile(levels.nodes(0, l)) < quantile);
            }
        }
    }
    const kernelet::WidthRange one({0.5, 0.5}, Spacing::logarithmic);
    CHECK(one.at(0.3) == 0.5);
    CHECK(one.quantile(0.5) == 0.0);
    CHECK(one.levels(1).nodes(0, 0) == 0.5);
    CHECK(one.levels(1).weights(0) == 1.0);
}

TEST_CASE("several widths of a kernel may have bounds of their own", "[domains]") {
    const Interval widths{0.5, 2.0}, each{0.1, 8.0};
    const auto projected = [&](const auto& domain, Index parameters) {
        Vector node = Vector::Zero(2 + parameters);
        node(2) = 0.01;
        node(1 + parameters) = parameters > 1 ? 100.0 : 0.01;
        domain.project(node);
        return node;
    };
    const Box box(lo2, hi2, widths), wider = box.with_coordinate_widths(each);
    const AroundSamples around(support::uniforms(2, 20, 3), widths),
        wider_around = around.with_coordinate_widths(each);
    CHECK(projected(wider, 1)(2) == 0.5);  // a single width keeps the bounds of the measure
    for (const Vector& node :
         {projected(wider.with_parameters({2}), 2), projected(wider_around.with_parameters({2}), 2)}) {
        CHECK(node(2) == 0.1);
        CHECK(node(3) == 8.0);
    }
    for (const Vector& node :
         {projected(box.with_parameters({2}), 2), projected(around.with_parameters({2}), 2)}) {
        CHECK(node(2) == 0.5);
        CHECK(node(3) == 2.0);
    }
    CHECK_THROWS_AS(box.with_coordinate_widths({0.0, 1.0}), std::invalid_argument);
}

TEST_CASE("projection is idempotent, inside, nearest", "[domains]") {
    const Interval widths{0.1, 10.0};
    check_projection(Box(lo2, hi2, widths), lo2, hi2);
    check_projection(Box(lo2, hi2, widths).with_parameters({3}), lo2, hi2);
    check_projection(FixedWidth(lo2, hi2, 0.7), lo2, hi2);
    const Matrix x = support::uniforms(5, 40, 2, -1.0, 1.0);
    const Vector margin = 0.1 * (x.rowwise().maxCoeff() - x.rowwise().minCoeff());
    check_projection(AroundSamples(x, widths), x.rowwise().minCoeff() - margin,
                     x.rowwise().maxCoeff() + margin);
    check_projection(CandidateCenters(x, widths).released(), x.rowwise().minCoeff(), x.rowwise().maxCoeff());
    // Centers that are not free stay as they are.
    Vector node = vector({-7.0, 9.0, 1e3});
    CandidateCenters(x.topRows(2), widths).project(node);
    CHECK(support::same_bits(node, vector({-7.0, 9.0, 10.0})));
}

TEST_CASE("each problem of the paper frees its own coordinates", "[domains]") {
    const Interval widths{0.1, 1.0};
    const Box box(lo2, hi2, widths);
    const FixedWidth fixed(box, 0.5);
    const Matrix z = support::uniforms(2, 9, 5);
    const CandidateCenters candidates(z, widths);
    const AroundSamples around(z, widths);
    for (const Index row : {0, 1, 2}) {
        CHECK(box.free(row));
        CHECK(around.free(row));
        CHECK(fixed.free(row) == (row < 2));
        CHECK(candidates.free(row) == (row >= 2));
        CHECK(candidates.released().free(row));
    }
    CHECK(candidates.with_parameters({2}).released().with_parameters({3}).free(0));
    CHECK(candidates.with_parameters({2}).free(3));
}

TEST_CASE("one width is written to all p rows of theta", "[domains]") {
    const Interval widths{0.1, 1.0};
    const Matrix z = support::uniforms(2, 9, 5);
    const auto check = [](const auto& domain) {
        const auto several = domain.with_parameters({3});
        CHECK(several.dimension() == 2);
        CHECK(several.rows() == 5);
        CHECK(several.uniforms() == domain.uniforms());
        const Matrix nodes = drawn(several, 200, 7);
        CHECK(support::same_bits(nodes.row(2), nodes.row(3)));
        CHECK(support::same_bits(nodes.row(2), nodes.row(4)));
        CHECK(support::same_bits(nodes.topRows(3), drawn(domain.with_parameters({1}), 200, 7)));
        if (const auto rule = several.rule(4000)) {
            CHECK(support::same_bits(rule->nodes.row(2), rule->nodes.row(4)));
            CHECK(support::same_bits(rule->weights, domain.rule(4000)->weights));
        }
    };
    check(Box(lo2, hi2, widths));
    check(FixedWidth(lo2, hi2, 0.3));
    check(CandidateCenters(z, widths));
    check(AroundSamples(z, widths));
}

TEST_CASE("rules integrate smooth functions under the domain's measure", "[domains]") {
    for (const Spacing spacing : {Spacing::logarithmic, Spacing::uniform}) {
        check_rule(Box(-1.0, 3.0, Interval{0.1, 4.0}, spacing), 8192, 5e-3);
        check_rule(Box(lo2, hi2, Interval{0.2, 2.0}, spacing), 8192, 5e-3);
        check_rule(Box(Vector::Zero(3), Vector::Ones(3), Interval{0.3, 1.0}, spacing), 8192, 2e-2);
        check_rule(CandidateCenters(support::uniforms(2, 50, 4), Interval{0.1, 4.0}, spacing), 4000, 5e-3);
    }
    check_rule(FixedWidth(-1.0, 3.0, 0.2), 500, 5e-3);
    check_rule(FixedWidth(lo2, hi2, 0.2), 2000, 5e-3);
}

TEST_CASE("a rule keeps to its budget, or there is none", "[domains]") {
    const Box box(0.0, 10.0, Interval{0.05, 5.0});
    Index before = std::numeric_limits<Index>::max();
    bool none = false;
    for (const Index budget : {20000, 5000, 2000, 1000, 500, 300, 100, 10, 1, 0}) {
        const auto rule = box.rule(budget);
        if (!rule) {
            none = true;
            continue;
        }
        CHECK_FALSE(none);  // less budget cannot help
        CHECK(rule->nodes.cols() <= budget);
        CHECK(rule->nodes.cols() <= before);
        before = rule->nodes.cols();
    }
    CHECK(none);
    // The rule is only as fine as the kernel needs.
    CHECK(box.rule(1'000'000)->nodes.cols() < 10000);
    CHECK_FALSE(Box(Vector::Zero(8), Vector::Ones(8), Interval{0.05, 1.0}).rule(8192).has_value());
    CHECK_FALSE(AroundSamples(support::uniforms(5, 10, 1), {0.1, 1.0}).rule(8192).has_value());

    const CandidateCenters candidates(support::uniforms(1, 100, 6), Interval{0.1, 1.0});
    CHECK(candidates.rule(400)->nodes.cols() == 400);
    CHECK(candidates.rule(499)->nodes.cols() == 400);
    CHECK_FALSE(candidates.rule(399).has_value());
    CHECK_FALSE(candidates.rule(0).has_value());
}

TEST_CASE("a box's rule is as fine as each level's width", "[domains]") {
    const auto rule = Box(0.0, 10.0, Interval{0.05, 5.0}).rule(8192);
    REQUIRE(rule.has_value());
    for (Index j = 0; j + 1 < rule->nodes.cols(); ++j) {
        const double w = rule->nodes(1, j);
        if (rule->nodes(1, j + 1) != w) continue;
        CHECK(std::abs(rule->nodes(0, j + 1) - rule->nodes(0, j)) <= 2.0 * w);
    }
}

TEST_CASE("a coordinate without extent stays where it is", "[domains]") {
    const Box flat(vector({0.0, 4.0}), vector({1.0, 4.0}), Interval{0.1, 1.0});
    const Matrix nodes = drawn(flat, 100, 2);
    CHECK((nodes.row(1).array() == 4.0).all());
    const auto rule = flat.rule(4096);
    REQUIRE(rule.has_value());
    CHECK((rule->nodes.row(1).array() == 4.0).all());
    CHECK(rule->weights.sum() == Approx(1.0));
    const Box point(1.0, 1.0, Interval{0.5, 0.5});
    const auto one = point.rule(10);
    REQUIRE(one.has_value());
    CHECK(one->nodes.cols() == 1);
    CHECK(one->nodes(0, 0) == 1.0);
    CHECK(one->nodes(1, 0) == 0.5);
    CHECK(AroundSamples(Matrix::Ones(4, 3), {0.1, 1.0}).dimension() == 4);
    CHECK(drawn(AroundSamples(Matrix::Ones(4, 3), {0.1, 1.0}), 50, 1).topRows(4).isOnes(0.0));
}

TEST_CASE("candidate centers are drawn alike and nowhere else", "[domains]") {
    const Matrix z = support::uniforms(2, 7, 8);
    const CandidateCenters domain(z, Interval{0.1, 1.0});
    const Matrix nodes = drawn(domain, 7000, 4);
    std::vector<Index> counts(7, 0);
    for (Index j = 0; j < nodes.cols(); ++j)
        for (Index m = 0; m < 7; ++m)
            if ((nodes.col(j).head(2) - z.col(m)).isZero(0.0)) ++counts[static_cast<std::size_t>(m)];
    for (const Index count : counts) CHECK(std::abs(static_cast<double>(count) - 1000.0) <= 50.0);
    Vector node(3);
    domain.place(Vector::Ones(2), node);  // u = 1 does not run past the last
    CHECK(support::same_bits(node.head(2), z.col(6)));
    CHECK(support::same_bits(domain.centers(), z));
}

TEST_CASE("around samples a center is about half a width from its sample", "[domains]") {
    const Index d = 5;
    // One sample in the middle of a large box: two far ones hold the box open.
    Matrix x = Matrix::Zero(d, 3);
    x.col(1).setConstant(-100.0);
    x.col(2).setConstant(100.0);
    const AroundSamples domain(x, Interval{0.5, 2.0});
    REQUIRE(domain.uniforms() == 2 + 6);
    const Matrix nodes = drawn(domain, 30000, 4);
    double square = 0.0, count = 0.0;
    Vector mean = Vector::Zero(d);
    for (Index j = 0; j < nodes.cols(); ++j) {
        const Vector z = nodes.col(j).head(d);
        if (z.norm() > 50.0) continue;
        count += 1.0;
        const double w = nodes(d, j);
        square += z.squaredNorm() / (w * w);
        mean += z / w;
    }
    CHECK(count == Approx(10000.0).epsilon(0.02));
    CHECK(square / count == Approx(0.25).epsilon(0.03));
    CHECK((mean / count).cwiseAbs().maxCoeff() < 0.01);
    const Vector w = nodes.row(d).transpose();
    CHECK((w.array() < 1.0).cast<double>().mean() == Approx(0.5).margin(5e-3));
    check_nodes_inside(domain, nodes);
}

TEST_CASE("default widths of a box come from its diagonal", "[domains]") {
    const Interval widths = Box(vector({0.0, 0.0}), vector({3.0, 4.0})).widths();
    CHECK(widths.lo == Approx(5.0 / 200.0));
    CHECK(widths.hi == Approx(5.0 / 2.0));
    CHECK(FixedWidth(Box(0.0, 1.0), 0.25).widths().lo == 0.25);
    CHECK(FixedWidth(Box(0.0, 1.0), 0.25).widths().hi == 0.25);
    CHECK(FixedWidth(Box(0.0, 2.0), 0.25).box().hi()(0) == 2.0);
}

TEST_CASE("an invalid domain is refused, and the argument named", "[domains]") {
    const Interval good{0.1, 1.0};
    CHECK_THAT(refusal([&] { Box(Vector(0), Vector(0), good); }), ContainsSubstring("box.lo"));
    CHECK_THAT(refusal([&] { Box(Vector::Zero(2), Vector::Ones(3), good); }), ContainsSubstring("box.hi"));
    CHECK_THAT(refusal([&] { Box(nan, 1.0, good); }), ContainsSubstring("box.lo"));
    CHECK_THAT(refusal([&] { Box(0.0, infinity, good); }), ContainsSubstring("box.hi"));
    CHECK_THAT(refusal([&] {
                   Box(vector({0.0, 2.0}), vector({1.0, 1.0}), good);
               }),
               ContainsSubstring("box.lo(1)"));
    CHECK_THAT(refusal([&] { Box(2.0, 1.0); }), ContainsSubstring("box.lo(0)"));
    CHECK_THAT(refusal([&] { Box(nan, 1.0); }), ContainsSubstring("box.lo"));
    CHECK_THAT(refusal([&] { Box(1.0, 1.0); }), ContainsSubstring("widths"));
    CHECK_THAT(refusal([&] { Box(Vector(0), Vector(0)); }), ContainsSubstring("box.lo"));
    CHECK_THAT(refusal([&] { Box(Vector::Zero(2), Vector::Ones(3)); }), ContainsSubstring("box.hi"));

    struct Bad {
        Interval widths;
        const char* named;
    };
    const std::vector<Bad> bad{{{0.0, 1.0}, "widths.lo"},      {{-1.0, 1.0}, "widths.lo"},
                               {{nan, 1.0}, "widths.lo"},      {{1.0, nan}, "widths.hi"},
                               {{0.1, infinity}, "widths.hi"}, {{1.0, 0.5}, "widths"}};
    const Matrix x = support::uniforms(2, 5, 1);
    for (const Bad& b : bad) {
        CHECK_THAT(refusal([&] { Box(0.0, 1.0, b.widths); }), ContainsSubstring(b.named));
        CHECK_THAT(refusal([&] { AroundSamples(x, b.widths); }), ContainsSubstring(b.named));
        CHECK_THAT(refusal([&] { CandidateCenters(x, b.widths); }), ContainsSubstring(b.named));
    }
    for (const double width : {0.0, -1.0, nan, infinity}) {
        CHECK_THAT(refusal([&] { FixedWidth(0.0, 1.0, width); }), ContainsSubstring("width"));
        CHECK_THAT(refusal([&] { FixedWidth(Box(0.0, 1.0), width); }), ContainsSubstring("width"));
    }
    CHECK_THAT(refusal([&] { FixedWidth(1.0, 0.0, 0.5); }), ContainsSubstring("box.lo(0)"));

    Matrix holed = x;
    holed(1, 3) = nan;
    for (const Matrix& none : {Matrix(0, 0), Matrix(2, 0), Matrix(0, 3)}) {
        CHECK_THAT(refusal([&] { AroundSamples(none, good); }), ContainsSubstring("samples"));
        CHECK_THAT(refusal([&] { CandidateCenters(none, good); }), ContainsSubstring("centers"));
    }
    CHECK_THAT(refusal([&] { AroundSamples(holed, good); }), ContainsSubstring("samples(1, 3)"));
    CHECK_THAT(refusal([&] { CandidateCenters(holed, good); }), ContainsSubstring("centers(1, 3)"));
}

/// Member by member, also for a kernel with one width per coordinate.
template <class Omega>
void check_held(const Omega& domain) {
    static_assert(kernelet::Domain<AnyDomain>);
    const AnyDomain any = domain;
    CHECK(any.dimension() == domain.dimension());
    CHECK(any.rows() == domain.rows());
    CHECK(any.uniforms() == domain.uniforms());
    CHECK(any.widths().lo == domain.widths().lo);
    CHECK(any.widths().hi == domain.widths().hi);
    for (Index row = 0; row < domain.rows(); ++row) CHECK(any.free(row) == domain.free(row));
    CHECK(drawn(any, 20, 3) == drawn(domain, 20, 3));
    const Vector outside = Vector::Constant(domain.rows(), 99.0);
    Vector by_any = outside, by_domain = outside;
    any.project(by_any);
    domain.project(by_domain);
    CHECK(by_any == by_domain);
    CHECK(by_any != outside);
    const std::optional<Quadrature> rule = domain.rule(500), of_any = any.rule(500);
    REQUIRE(of_any.has_value() == rule.has_value());
    if (rule) CHECK((of_any->nodes == rule->nodes && of_any->weights == rule->weights));
}

TEST_CASE("any domain is the domain it holds") {
    const auto layout = kernelet::parameter_layout(kernelet::AnisotropicGaussian{}, 2);
    const auto check = [&](const auto& domain) {
        check_held(domain);
        check_held(domain.with_parameters(layout));
        CHECK(AnyDomain(domain).with_parameters(layout).rows() == 4);
    };
    const Matrix points = (Matrix(2, 3) << 0.0, 1.0, 4.0, -1.0, 2.0, 0.5).finished();
    check(Box(lo2, hi2, {0.1, 1.0}));
    check(FixedWidth(lo2, hi2, 0.3));
    check(CandidateCenters(points, {0.1, 1.0}));
    check(CandidateCenters(points, {0.1, 1.0}).released());
    check(AroundSamples(points, {0.1, 1.0}));
}

}  // namespace domains_test

TEST_CASE("a shape is drawn evenly, kept by projection, not free, and every one has the whole rule",
          "[domains]") {
    using namespace domains_test;
    const Matrix z = support::uniforms(2, 9, 5);
    const Interval widths{0.1, 1.0};
    const kernelet::ParameterLayout layout{2, {3.0, 5.0, 7.0}};
    const auto check = [&](const auto& plain) {
        const auto domain = plain.with_parameters(layout);
        CHECK(domain.rows() == 4);
        CHECK(domain.uniforms() == plain.uniforms() + 1);
        CHECK_FALSE(domain.free(3));
        const Matrix nodes = drawn(domain, 3000, 7);
        for (const double shape : layout.shapes) {
            const double share = (nodes.row(3).array() == shape).cast<double>().mean();
            CHECK(share == Approx(1.0 / 3.0).margin(0.05));
        }
        CHECK(nodes.row(2).minCoeff() >= widths.lo);
        CHECK(nodes.row(2).maxCoeff() <= widths.hi);
        Vector outside = nodes.col(0);
        outside(2) = 9.0;
        domain.project(outside);
        CHECK(outside(2) <= widths.hi);
        CHECK(outside(3) == nodes(3, 0));
        const auto rule = domain.rule(3000);
        if (!rule) return;
        CHECK(rule->nodes.cols() <= 3000);
        CHECK(rule->weights.sum() == Approx(1.0));
        const auto one = plain.rule(1000);
        REQUIRE(one.has_value());
        REQUIRE(rule->nodes.cols() == 3 * one->nodes.cols());
        for (Index s = 0; s < 3; ++s) {
            const auto part = rule->nodes.middleCols(s * one->nodes.cols(), one->nodes.cols());
            CHECK(support::same_bits(part.topRows(3), one->nodes));
            CHECK((part.row(3).array() == layout.shapes[static_cast<std::size_t>(s)]).all());
        }
    };
    check(Box(lo2, hi2, widths));
    check(AroundSamples(z, widths));
    check(CandidateCenters(z, widths));
    // Without widths at all, one level of them is enough.
    const auto orders = Box(lo2, hi2, widths).with_parameters({1, {1.0, 2.0}});
    CHECK(orders.widths().lo == orders.widths().hi);
    CHECK(drawn(orders, 10, 3).rows() == 3);
}
