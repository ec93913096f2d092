#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/input_scaling.hpp>

#include <cmath>

namespace input_scaling_test {

using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::Vector;

TEST_CASE("standard scaling gives mean zero and deviation one", "[input_scaling]") {
    Matrix x = support::uniforms(3, 200, 1, -1.0, 5.0);
    x.row(1) = 1e6 * x.row(1).array() + 3e7;
    x.row(2) *= 1e-9;
    const InputScaling scaling = InputScaling::standard(x);
    const Matrix internal = scaling.to_internal(x);
    for (Index c = 0; c < 3; ++c) {
        CHECK(std::abs(internal.row(c).mean()) <= 1e-12);
        CHECK(internal.row(c).array().square().mean() == Approx(1.0).epsilon(1e-12));
    }
    CHECK_FALSE(scaling.isotropic());
}

TEST_CASE("to_user inverts to_internal", "[input_scaling]") {
    const Matrix x = support::normals(2, 50, 2);
    const InputScaling scaling{Vector::Constant(2, 7.0), (Vector(2) << 0.01, 300.0).finished()};
    CHECK((scaling.to_user(scaling.to_internal(x)) - x).cwiseAbs().maxCoeff() <= 1e-14);
    const Matrix internal = scaling.to_internal(x);
    CHECK(internal(0, 3) == Approx((x(0, 3) - 7.0) / 0.01));
    CHECK(internal(1, 3) == Approx((x(1, 3) - 7.0) / 300.0));
}

TEST_CASE("the identity changes no bit", "[input_scaling]") {
    const Matrix x = support::normals(3, 20, 3);
    const InputScaling identity = InputScaling::identity(3);
    CHECK(support::same_bits(identity.to_internal(x), x));
    CHECK(support::same_bits(identity.to_user(x), x));
    CHECK(identity.isotropic());
}

TEST_CASE("a coordinate that never changes keeps its scale", "[input_scaling]") {
    // Six sixths of 1 are not 1 in floating point: what rounding leaves of x - mean is no spread.
    for (const double value : {0.0, 1.0, 0.1, -1.0 / 3.0, 123456.789, 1e-12, -9.87e300})
        for (Index n = 1; n <= 60; ++n) {
            Matrix x = support::uniforms(2, n, 4);
            x.row(1).setConstant(value);
            const InputScaling scaling = InputScaling::standard(x);
            INFO("value " << value << ", n " << n);
            REQUIRE(scaling.scale(1) == 1.0);
            CHECK(std::abs(scaling.shift(1) - value) <= 1e-15 * std::abs(value));
        }
}

TEST_CASE("one sample is scaled by one", "[input_scaling]") {
    const InputScaling scaling = InputScaling::standard(Matrix::Constant(2, 1, 0.7));
    CHECK(scaling.scale.isOnes(0.0));
    CHECK(scaling.isotropic());
}

TEST_CASE("scaling by a power of two is exact", "[input_scaling]") {
    const Matrix x = support::uniforms(2, 101, 5, -3.0, 4.0);
    const InputScaling scaling = InputScaling::standard(x);
    for (const double factor : {0x1.0p-20, 0.5, 2.0, 0x1.0p30}) {
        const InputScaling scaled = InputScaling::standard(factor * x);
        CHECK(support::same_bits(scaled.shift, factor * scaling.shift));
        CHECK(support::same_bits(scaled.scale, factor * scaling.scale));
        CHECK(support::same_bits(scaled.to_internal(factor * x), scaling.to_internal(x)));
    }
}

TEST_CASE("values near the largest and the smallest double neither overflow nor vanish", "[input_scaling]") {
    for (const double size : {1.7e308, 1e-300}) {
        Matrix x(1, 5);
        x << -1.0, -0.5, 0.0, 0.5, 1.0;
        x *= size;
        const InputScaling scaling = InputScaling::standard(x);
        CHECK(scaling.shift.allFinite());
        CHECK(std::isfinite(scaling.scale(0)));
        CHECK(scaling.scale(0) == Approx(size * std::sqrt(0.5)));
        const Matrix internal = scaling.to_internal(x);
        CHECK(internal.array().square().mean() == Approx(1.0));
    }
}

}  // namespace input_scaling_test
