#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/detail/noise.hpp>

#include <algorithm>
#include <cmath>

namespace noise_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::noise_deviation;

/// Within a factor of the truth.
bool near(double estimate, double truth, double factor) {
    return estimate >= truth / factor && estimate <= truth * factor;
}

TEST_CASE("the median is the middle of the values", "[noise]") {
    CHECK(kernelet::detail::median({}) == 0.0);
    CHECK(kernelet::detail::median({3.0}) == 3.0);
    CHECK(kernelet::detail::median({9.0, 1.0, 5.0}) == 5.0);
    CHECK(kernelet::detail::median({8.0, 1.0, 5.0, 2.0, 7.0}) == 5.0);
    // deviation_from_median of |N(0, σ)| is σ
    const Vector z = support::normals(20001, 1, 1).cwiseAbs();
    CHECK(kernelet::detail::deviation_from_median({z.begin(), z.end()}) == Approx(1.0).epsilon(0.03));
}

TEST_CASE("noise on a smooth signal of one input", "[noise]") {
    for (const double sigma : {1e-6, 0.01, 0.3})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const Matrix x = support::uniforms(1, 300, seed, -3.0, 3.0);
            const Matrix y = (2.0 * x.array()).sin().matrix() + sigma * support::normals(1, 300, seed + 50);
            INFO("sigma " << sigma << ", seed " << seed);
            CHECK(near(noise_deviation(x, y), sigma, 1.5));
        }
}

TEST_CASE("noise of the chirp, even where it is sampled sparsely", "[noise]") {
    for (const Index n : {101, 201, 501})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const support::Chirp signal = support::chirp(n, seed);
            INFO("n " << n << ", seed " << seed);
            CHECK(near(noise_deviation(signal.x, signal.y.transpose()), std::sqrt(1e-3), 1.5));
        }
}

TEST_CASE("noise on a smooth signal of three inputs", "[noise]") {
    for (const double sigma : {0.05, 0.5})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const Matrix x = support::uniforms(3, 800, seed);
            Matrix y = sigma * support::normals(1, 800, seed + 60);
            for (Index i = 0; i < 800; ++i) y(0, i) += std::sin(x(0, i) + 2.0 * x(1, i)) - 0.5 * x(2, i);
            INFO("sigma " << sigma << ", seed " << seed);
            CHECK(near(noise_deviation(x, y), sigma, 1.5));
        }
}

TEST_CASE("no noise is found where there is none", "[noise]") {
    const Matrix x = Vector::LinSpaced(200, 0.0, 6.0).transpose();
    CHECK(noise_deviation(x, x.array().sin().matrix()) < 1e-12);
    CHECK(noise_deviation(x, Matrix::Constant(1, 200, 4.2)) < 1e-14);
    for (const Index d : {2, 3, 8}) {
        const Matrix cube = support::uniforms(d, 200, 3);
        const Matrix plane = Vector::LinSpaced(d, 1.0, 2.0).transpose() * cube;
        CHECK(noise_deviation(cube, plane) < 1e-12);
        CHECK(noise_deviation(cube, plane.array() + 1e3) < 1e-12 * 1e3);
        // Of inputs in a lower dimension too.
        Matrix flat = cube;
        flat.row(1) = 2.0 * cube.row(0);
        CHECK(noise_deviation(flat, Vector::LinSpaced(d, 1.0, 2.0).transpose() * flat) < 1e-12);
    }
}

TEST_CASE("repeated places speak for themselves, however rough the signal", "[noise]") {
    constexpr double sigma = 0.2;
    for (const Index repeats : {2, 5}) {
        const Index places = 300 / repeats;
        const Matrix at = support::uniforms(1, places, 4);
        const Matrix signal = 10.0 * support::normals(1, places, 5);  // white: neighbours give no information
        Matrix x(1, places * repeats), y(1, places * repeats);
        for (Index i = 0; i < x.cols(); ++i) {
            x(0, i) = at(0, i % places);
            y(0, i) = signal(0, i % places);
        }
        y += sigma * support::normals(1, y.cols(), 6);
        INFO("repeats " << repeats);
        CHECK(near(noise_deviation(x, y), sigma, 1.25));
    }
    // A few repeats among many places are averaged and counted as such.
    Matrix x = Vector::LinSpaced(220, 0.0, 6.0).transpose();
    x.rightCols(20) = x.middleCols(50, 20);
    const Matrix y = x.array().sin().matrix() + sigma * support::normals(1, 220, 7);
    CHECK(near(noise_deviation(x, y), sigma, 1.3));
    // All samples at one place.
    CHECK(near(noise_deviation(Matrix::Ones(1, 400), sigma * support::normals(1, 400, 8)), sigma, 1.2));
}

TEST_CASE("the least residual of any function: what repeated places disagree by", "[noise]") {
    using kernelet::Scope;
    using kernelet::detail::duplicate_residual;
    for (const Index d : {1, 2})
        for (const Index outputs : {1, 2}) {
            const Matrix at = support::uniforms(d, 6, 20);
            const Matrix x = at.replicate(1, 4);
            const Matrix y = support::normals(outputs, 24, 21);
            double squares = 0.0, half_range = 0.0;
            for (Index place = 0; place < 6; ++place)
                for (Index o = 0; o < outputs; ++o) {
                    Vector here(4);
                    for (Index k = 0; k < 4; ++k) here(k) = y(o, place + 6 * k);
                    squares += (here.array() - here.mean()).square().sum();
                    half_range = std::max(half_range, 0.5 * (here.maxCoeff() - here.minCoeff()));
                }
            const double size = static_cast<double>(y.size());
            CHECK(duplicate_residual(x, y, Scope::aggregate) == Approx(std::sqrt(squares / size)));
            CHECK(duplicate_residual(x, y, Scope::per_sample) == Approx(half_range));
            CHECK(duplicate_residual(at, y.leftCols(6), Scope::aggregate) == 0.0);
            CHECK(duplicate_residual(at, y.leftCols(6), Scope::per_sample) == 0.0);
        }
}

TEST_CASE("too few samples to tell: zero", "[noise]") {
    for (const Index d : {1, 3})
        for (const Index n : {1, 2, 4}) {
            const double found = noise_deviation(support::uniforms(d, n, 9), support::normals(1, n, 9));
            CHECK(found == 0.0);
        }
}

TEST_CASE("the estimate scales with y and with x exactly", "[noise]") {
    const support::Chirp signal = support::chirp(101, 3);
    const Matrix y = signal.y.transpose();
    const double base = noise_deviation(signal.x, y);
    REQUIRE(base > 0.0);
    for (const double factor : {0x1.0p-30, 0.25, 8.0, 0x1.0p40}) {
        CHECK(noise_deviation(signal.x, factor * y) == factor * base);
        CHECK(noise_deviation(factor * signal.x, y) == base);
    }
    const Matrix x = support::uniforms(3, 100, 10);
    const Matrix z = support::normals(1, 100, 11);
    CHECK(noise_deviation(x, 0.125 * z) == 0.125 * noise_deviation(x, z));
    CHECK(noise_deviation(8.0 * x, z) == noise_deviation(x, z));
}

TEST_CASE("the order of the samples does not matter", "[noise]") {
    const support::Chirp signal = support::chirp(201, 4);
    const Matrix y = signal.y.transpose();
    CHECK(noise_deviation(signal.x.rowwise().reverse(), y.rowwise().reverse()) ==
          noise_deviation(signal.x, y));
}

TEST_CASE("several outputs: the root of the mean variance", "[noise]") {
    const support::Chirp signal = support::chirp(201, 5);
    Matrix y(2, 201);
    y.row(0) = signal.y.transpose();
    y.row(1) = 3.0 * signal.y.transpose();
    const double one = noise_deviation(signal.x, y.topRows(1));
    CHECK(noise_deviation(signal.x, y) == Approx(one * std::sqrt(5.0)));
}

}  // namespace noise_test

TEST_CASE("repeated samples tell of noise that changes its size", "[noise]") {
    using namespace kernelet;
    // Quiet for most x, loud for some, each x twice: a median would see the quiet part alone.
    const Index places = 60;
    Matrix x(1, 2 * places);
    Matrix y(1, 2 * places);
    const Matrix noise = support::normals(1, 2 * places, 31);
    double squares = 0.0;
    for (Index i = 0; i < places; ++i) {
        const double size = i % 4 == 0 ? 1.0 : 0.01;
        for (Index k : {2 * i, 2 * i + 1}) {
            x(0, k) = 0.1 * static_cast<double>(i);
            y(0, k) = std::sin(x(0, k)) + size * noise(0, k);
        }
        squares += 0.5 * std::pow(y(0, 2 * i) - y(0, 2 * i + 1), 2);
    }
    const double repeated = std::sqrt(squares / static_cast<double>(places));
    CHECK(kernelet::detail::replicate_noise(x, y).deviation == Approx(repeated));
    CHECK(kernelet::detail::noise_deviation(x, y) >= repeated * (1.0 - 1e-12));
    // Too few replicates, or none, give no estimate.
    CHECK(kernelet::detail::replicate_noise(x.leftCols(18), y.leftCols(18)).deviation == 0.0);
    Matrix apart = x;
    apart.row(0) = Vector::LinSpaced(2 * places, 0.0, 6.0).transpose();
    CHECK(kernelet::detail::replicate_noise(apart, y).deviation == 0.0);
}
