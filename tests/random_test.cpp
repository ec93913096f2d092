#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/detail/random.hpp>

#include <cmath>
#include <numbers>

namespace random_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::CounterRandom;
using kernelet::detail::low_discrepancy;
using kernelet::detail::mix_bits;

TEST_CASE("the mixing function is SplitMix64's", "[random]") {
    // The published sequence of seed 1234567.
    constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15ULL;
    STATIC_REQUIRE(mix_bits(1234567 + gamma) == 6457827717110365317ULL);
    STATIC_REQUIRE(mix_bits(1234567 + 2 * gamma) == 3203168211198807973ULL);
    STATIC_REQUIRE(mix_bits(1234567 + 3 * gamma) == 9817491932198370423ULL);
}

TEST_CASE("a seed means the same everywhere", "[random]") {
    constexpr std::uint64_t far = std::uint64_t{1} << 40U;
    STATIC_REQUIRE(CounterRandom(1).bits(0) == 0x21a5715431dc4cc7ULL);
    STATIC_REQUIRE(CounterRandom(1).bits(1) == 0xe1a26c101cc38752ULL);
    STATIC_REQUIRE(CounterRandom(1).bits(far) == 0x6957162e02f58c35ULL);
    STATIC_REQUIRE(CounterRandom(1, 7).bits(0) == 0xb6fb300cd0d73529ULL);
    STATIC_REQUIRE(CounterRandom(12345678901234567890ULL, 3).bits(far) == 0xf77edd7ae0032c4eULL);
    STATIC_REQUIRE(CounterRandom(1).uniform(0) ==
                   static_cast<double>(0x21a5715431dc4cc7ULL >> 11U) / 9007199254740992.0);
}

Vector drawn(const CounterRandom& random, Index count) {
    Vector values(count);
    for (Index k = 0; k < count; ++k) values(k) = random.uniform(static_cast<std::uint64_t>(k));
    return values;
}

double correlation(const Vector& a, const Vector& b) {
    return 12.0 * ((a.array() - 0.5) * (b.array() - 0.5)).mean();
}

TEST_CASE("uniforms have the moments of the uniform law", "[random]") {
    constexpr Index count = 100000;
    const double five_deviations = 5.0 / std::sqrt(static_cast<double>(count));
    for (const std::uint64_t seed : {1ULL, 2ULL, 0ULL, ~0ULL}) {
        const Vector u = drawn(CounterRandom(seed), count);
        CHECK(u.minCoeff() >= 0.0);
        CHECK(u.maxCoeff() < 1.0);
        for (int power = 1; power <= 4; ++power) {
            const double mean = 1.0 / (power + 1.0);
            const double deviation = std::sqrt(1.0 / (2.0 * power + 1.0) - mean * mean);
            CHECK(std::abs(u.array().pow(power).mean() - mean) < five_deviations * deviation);
        }
        CHECK(std::abs(correlation(u.head(count - 1), u.tail(count - 1))) < five_deviations);
    }
}

TEST_CASE("streams and seeds are independent of each other", "[random]") {
    constexpr Index count = 100000;
    const double five_deviations = 5.0 / std::sqrt(static_cast<double>(count));
    const Vector u = drawn(CounterRandom(1), count);
    CHECK(std::abs(correlation(u, drawn(CounterRandom(2), count))) < five_deviations);
    CHECK(std::abs(correlation(u, drawn(CounterRandom(1, 1), count))) < five_deviations);
    CHECK(std::abs(correlation(drawn(CounterRandom(1, 1), count), drawn(CounterRandom(1, 2), count))) <
          five_deviations);
    // The streams are not shifts of each other either.
    const Vector other = drawn(CounterRandom(1, 1), count);
    CHECK((u.head(1000).array() != other.segment(1, 1000).array()).all());
}

TEST_CASE("normals have the moments of the normal law", "[random]") {
    constexpr Index count = 100000;
    const CounterRandom random(5);
    Vector z(count);
    for (Index k = 0; k < count; ++k) z(k) = random.normal(static_cast<std::uint64_t>(k));
    const double five_deviations = 5.0 / std::sqrt(static_cast<double>(count));
    CHECK(z.allFinite());
    CHECK(std::abs(z.mean()) < five_deviations);
    CHECK(std::abs(z.array().square().mean() - 1.0) < five_deviations * std::sqrt(2.0));
    CHECK(std::abs(z.array().cube().mean()) < five_deviations * std::sqrt(15.0));
    CHECK(std::abs(z.array().pow(4).mean() - 3.0) < five_deviations * std::sqrt(96.0));
}

TEST_CASE("a pair of normals is uncorrelated and finite at the ends", "[random]") {
    const CounterRandom random(6);
    constexpr std::uint64_t count = 50000;
    Eigen::Matrix2d covariance = Eigen::Matrix2d::Zero();
    for (std::uint64_t k = 0; k < count; ++k) {
        const auto [first, second] =
            kernelet::detail::normal_pair(random.uniform(2 * k), random.uniform(2 * k + 1));
        const Eigen::Vector2d pair(first, second);
        covariance += pair * pair.transpose() / static_cast<double>(count);
    }
    CHECK((covariance - Eigen::Matrix2d::Identity()).cwiseAbs().maxCoeff() < 0.04);
    CHECK(kernelet::detail::normal_pair(0.0, 0.5).first == 0.0);
    CHECK(kernelet::detail::normal_pair(0.0, 0.5).second == 0.0);
    const auto [far, wide] = kernelet::detail::normal_pair(1.0 - 0x1.0p-53, 0.25);
    CHECK(std::isfinite(far));
    CHECK(std::isfinite(wide));
}

/// Π (1 + ½ sin(2πu_c + c)): smooth, of integral 1.
double smooth(const Vector& u) {
    double product = 1.0;
    for (Index c = 0; c < u.size(); ++c)
        product *= 1.0 + 0.5 * std::sin(2.0 * std::numbers::pi * u(c) + static_cast<double>(c));
    return product;
}

TEST_CASE("low-discrepancy points beat independent ones on a smooth integral", "[random]") {
    constexpr Index count = 512;
    constexpr std::uint64_t seeds = 12;
    for (const Index dimension : {1, 2, 3, 5}) {
        double low = 0.0, independent = 0.0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const Matrix u = low_discrepancy(dimension, 0, count, CounterRandom(seed));
            const Matrix v = support::uniforms(dimension, count, seed);
            CHECK(u.minCoeff() >= 0.0);
            CHECK(u.maxCoeff() < 1.0);
            double low_mean = 0.0, independent_mean = 0.0;
            for (Index k = 0; k < count; ++k) {
                low_mean += smooth(u.col(k)) / static_cast<double>(count);
                independent_mean += smooth(v.col(k)) / static_cast<double>(count);
            }
            low += (low_mean - 1.0) * (low_mean - 1.0);
            independent += (independent_mean - 1.0) * (independent_mean - 1.0);
        }
        INFO("dimension " << dimension);
        CHECK(std::sqrt(low) < 0.3 * std::sqrt(independent));
    }
}

TEST_CASE("consecutive batches continue one low-discrepancy sequence", "[random]") {
    const CounterRandom random(9);
    const Matrix whole = low_discrepancy(3, 0, 200, random);
    CHECK(support::same_bits(whole.rightCols(77), low_discrepancy(3, 123, 77, random)));
    CHECK_FALSE(support::same_bits(whole, low_discrepancy(3, 0, 200, CounterRandom(10))));
    CHECK(low_discrepancy(2, 5, 0, random).cols() == 0);
}

TEST_CASE("the steps are the powers of the root of phi^(m+1) = phi + 1", "[random]") {
    for (const Index dimension : {1, 2, 6}) {
        const Matrix u = low_discrepancy(dimension, 0, 2, CounterRandom(3));
        const auto step = [&](Index c) {
            const double difference = u(c, 1) - u(c, 0);
            return difference - std::floor(difference);
        };
        const double phi = 1.0 / step(0);
        CHECK(std::pow(phi, static_cast<double>(dimension + 1)) == Approx(phi + 1.0).epsilon(1e-12));
        for (Index c = 0; c < dimension; ++c)
            CHECK(step(c) == Approx(std::pow(phi, -static_cast<double>(c + 1))).epsilon(1e-12));
    }
}

TEST_CASE("the random shift makes averages unbiased", "[random]") {
    // One point a seed: its mean over seeds must be the integral, whatever the index of the point.
    double mean = 0.0;
    constexpr std::uint64_t seeds = 20000;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
        mean += smooth(low_discrepancy(2, 17, 1, CounterRandom(seed)).col(0)) / static_cast<double>(seeds);
    CHECK(std::abs(mean - 1.0) < 5.0 * 0.52 / std::sqrt(static_cast<double>(seeds)));
}

}  // namespace random_test
