#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/gaussian.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace coefficient_field_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::CoefficientField;
using kernelet::FieldJet;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::Vector;
using support::refusal;

/// Σ λ_i exp(−‖(x_i − z)/w‖²/2), one width per coordinate.
Vector scalar_sum(const Matrix& x, const Matrix& lambda, const Vector& z, const Vector& widths) {
    Vector sum = Vector::Zero(lambda.rows());
    for (Index i = 0; i < x.cols(); ++i)
        sum += lambda.col(i) * std::exp(-0.5 * ((x.col(i) - z).array() / widths.array()).square().sum());
    return sum;
}

struct Setting {
    Matrix x;  // in the user's units
    Matrix lambda;
    InputScaling scaling;

    CoefficientField<Gaussian> field(double gamma) const {
        return {Gaussian{}, scaling.to_internal(x), lambda, gamma, scaling, 0.25};
    }
};

Setting setting(Index d, Index outputs, bool isotropic) {
    Setting s{support::uniforms(d, 75, 1, -1.0, 1.0), support::normals(outputs, 75, 2),
              InputScaling::identity(d)};
    s.lambda.middleCols(10, 40).setZero();
    s.scaling.shift.setConstant(0.3);
    s.scaling.scale.setConstant(4.0);
    if (!isotropic) {
        s.scaling.scale = Vector::LinSpaced(d, 0.5, 20.0);
        s.x = s.scaling.to_user(s.x);
    }
    return s;
}

TEST_CASE("the raw field is the sum it stands for, in the user's units", "[coefficient_field]") {
    for (const Index d : {1, 2}) {
        const Setting s = setting(d, 1, true);
        const auto field = s.field(0.0);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const Vector z = support::uniforms(d, 1, seed, -1.0, 1.0);
            const double w = 0.1 + 0.05 * static_cast<double>(seed);
            const double exact = scalar_sum(s.x, s.lambda, z, Vector::Constant(d, w))(0);
            CHECK(field.raw(z, w) == Approx(exact).margin(1e-12));
            if (d == 1) CHECK(field.raw(z(0), w) == field.raw(z, w));
        }
    }
    // Where scales differ, a width counts deviations of each coordinate.
    const Setting s = setting(2, 1, false);
    const auto field = s.field(0.0);
    const Vector z = s.scaling.to_user(support::uniforms(2, 1, 7));
    CHECK(field.raw(z, 0.4) == Approx(scalar_sum(s.x, s.lambda, z, 0.4 * s.scaling.scale)(0)));
}

TEST_CASE("alpha is the raw field above the threshold and zero below", "[coefficient_field]") {
    const Setting s = setting(1, 1, true);
    const double gamma = 0.5;
    const auto field = s.field(gamma);
    CHECK(field.threshold() == Approx(1.0));
    CHECK(field.gamma() == gamma);
    int on = 0, off = 0;
    for (double z = -1.0; z <= 1.0; z += 0.02) {
        const double raw = field.raw(z, 0.2);
        const double alpha = field(z, 0.2);
        (std::abs(raw) > 1.0 ? on : off) += 1;
        CHECK(alpha == (std::abs(raw) > 1.0 ? raw : 0.0));
    }
    CHECK(on > 0);
    CHECK(off > 0);
}

TEST_CASE("several outputs are thresholded by their length", "[coefficient_field]") {
    const Setting s = setting(2, 3, true);
    const auto field = s.field(0.7);
    CHECK(field.outputs() == 3);
    Matrix nodes(3, 50);
    nodes.topRows(2) = support::uniforms(2, 50, 3, -0.3, 0.2);
    nodes.row(2).setConstant(0.1);
    const Matrix raw = field.raw_at(nodes);
    const Matrix alpha = field.at(nodes);
    const Matrix internal = s.scaling.to_internal(s.x);
    for (Index j = 0; j < 50; ++j) {
        CHECK((raw.col(j) - scalar_sum(internal, s.lambda, nodes.col(j).head(2), Vector::Constant(2, 0.1)))
                  .isZero(1e-12));
        const bool above = raw.col(j).norm() > std::sqrt(1.4);
        CHECK(support::same_bits(alpha.col(j), above ? Matrix(raw.col(j)) : Matrix::Zero(3, 1)));
    }
}

TEST_CASE("the jet holds the derivatives in z and log w", "[coefficient_field]") {
    constexpr double h = 1e-5;
    for (const Index d : {1, 3})
        for (const Index outputs : {1, 2}) {
            const Setting s = setting(d, outputs, true);
            const auto field = s.field(0.0);
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                Vector node(d + 1);
                node << support::uniforms(d, 1, seed, -0.3, 0.2), 0.1;
                const FieldJet jet = field.jet(node);
                CHECK((jet.value - field.raw_at(node)).isZero(1e-12));
                REQUIRE(jet.gradient.rows() == outputs);
                for (Index row = 0; row <= d; ++row) {
                    Vector less = node, more = node;
                    less(row) = row < d ? node(row) - h : node(row) * std::exp(-h);
                    more(row) = row < d ? node(row) + h : node(row) * std::exp(h);
                    const Vector slope = (field.raw_at(more) - field.raw_at(less)) / (2.0 * h);
                    CHECK((jet.gradient.col(row) - slope).cwiseAbs().maxCoeff() <=
                          1e-5 * (1.0 + slope.cwiseAbs().maxCoeff()));
                    CHECK(slope.cwiseAbs().maxCoeff() > 1e-3);
                }
            }
        }
}

TEST_CASE("the gradient is in the user's units", "[coefficient_field]") {
    constexpr double h = 1e-6;
    for (const bool isotropic : {true, false}) {
        const Setting s = setting(2, 1, isotropic);
        const auto field = s.field(0.0);
        const Vector z = isotropic ? Vector(support::uniforms(2, 1, 9, -0.5, 0.5))
                                   : Vector(s.scaling.to_user(support::uniforms(2, 1, 9, -0.5, 0.5)));
        const double w = 0.4;
        const Vector gradient = field.gradient(z, w);
        REQUIRE(gradient.size() == 3);
        for (Index c = 0; c < 2; ++c) {
            const double step = h * s.scaling.scale(c);
            Vector less = z, more = z;
            less(c) -= step;
            more(c) += step;
            const double slope = (field.raw(more, w) - field.raw(less, w)) / (2.0 * step);
            CHECK(gradient(c) == Approx(slope).epsilon(1e-5).margin(1e-7));
        }
        const double slope = (field.raw(z, w * std::exp(h)) - field.raw(z, w * std::exp(-h))) / (2.0 * h);
        CHECK(gradient(2) == Approx(slope).epsilon(1e-5).margin(1e-7));
    }
}

TEST_CASE("a field owns its samples and keeps only those it needs", "[coefficient_field]") {
    auto field = [] {
        const Setting s = setting(1, 1, true);
        return s.field(0.0);
    }();
    const Setting again = setting(1, 1, true);
    CHECK(field.raw(0.1, 0.2) ==
          Approx(scalar_sum(again.x, again.lambda, Vector::Constant(1, 0.1), Vector::Constant(1, 0.2))(0)));
    CHECK(field.support_measure() == 0.25);
    CHECK(field.dimension() == 1);
    CHECK(field.rows() == 2);
    const CoefficientField<Gaussian> nothing(Gaussian{}, again.x, Matrix::Zero(1, 75), 0.0,
                                             InputScaling::identity(1));
    CHECK(nothing.raw(0.1, 0.2) == 0.0);
    CHECK(nothing(0.1, 0.2) == 0.0);
    CHECK(nothing.gradient(0.1, 0.2).isZero(0.0));
}

TEST_CASE("a point that makes no sense is refused by the field, and named", "[coefficient_field]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto field = setting(1, 1, true).field(0.0);
    CHECK_THAT(refusal([&] { field(nan, 0.1); }), ContainsSubstring("z(0, 0)"));
    CHECK_THAT(refusal([&] { field.raw(infinity, 0.1); }), ContainsSubstring("z(0, 0)"));
    for (const double w : {0.0, -1.0, nan, infinity}) {
        CHECK_THAT(refusal([&] { field(0.0, w); }), ContainsSubstring("w = "));
        CHECK_THAT(refusal([&] { field.gradient(0.0, w); }), ContainsSubstring("w = "));
    }
    CHECK_THAT(refusal([&] { field(Vector::Zero(2), 0.1); }), ContainsSubstring("z has 2"));
    const auto three = setting(1, 3, true).field(0.0);
    CHECK_THAT(refusal([&] { three(0.0, 0.1); }), ContainsSubstring("outputs"));
    CHECK_THAT(refusal([&] { three.gradient(0.0, 0.1); }), ContainsSubstring("output"));
}

}  // namespace coefficient_field_test
