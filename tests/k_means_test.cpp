#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/k_means.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace k_means_test {

using kernelet::Index;
using kernelet::k_means;
using kernelet::KMeans;
using kernelet::KMeansOptions;
using kernelet::Matrix;
using kernelet::Vector;
using support::refusal;
using support::same_bits;

/// n samples around `clusters` centers, each deviating by `spread`.
Matrix clusters(Index d, Index n, Index clusters, double spread, std::uint64_t seed) {
    const Matrix centers = support::normals(d, clusters, seed);
    Matrix x = spread * support::normals(d, n, seed + 1);
    for (Index i = 0; i < n; ++i) x.col(i) += centers.col(i % clusters);
    return x;
}

double squared(const Matrix& x, Index i, const Matrix& centers, Index c) {
    return (x.col(i) - centers.col(c)).squaredNorm();
}

/// Lloyd's iteration as it is written down: every distance in every iteration, from the given seeds.
struct Plain {
    KMeans result{};
    Index filled = 0;  // centers that were left without samples
};

Plain plain_lloyd(const Matrix& x, const KMeans& seeds, const KMeansOptions& options) {
    Plain plain{seeds, 0};
    KMeans& now = plain.result;
    const Index n = x.cols(), k = seeds.centers.cols();
    const Vector mean = x.rowwise().mean();
    const double spread = std::sqrt((x.colwise() - mean).squaredNorm() / static_cast<double>(n));
    for (now.iterations = 0; now.iterations < options.max_iterations;) {
        ++now.iterations;
        const Matrix before = now.centers;
        for (Index c = 0; c < k; ++c) {
            Vector sum = Vector::Zero(x.rows());
            double size = 0.0;
            for (Index i = 0; i < n; ++i)
                if (now.assignment[static_cast<std::size_t>(i)] == c) {
                    sum += x.col(i);
                    size += 1.0;
                }
            now.centers.col(c) = sum / size;
        }
        bool changed = false;
        Vector nearest(n);
        std::vector<Index> sizes(static_cast<std::size_t>(k), 0);
        for (Index i = 0; i < n; ++i) {
            Index& own = now.assignment[static_cast<std::size_t>(i)];
            const Index old = own;
            nearest(i) = squared(x, i, now.centers, own);
            for (Index c = 0; c < k; ++c)
                if (const double d = squared(x, i, now.centers, c); d < nearest(i)) {
                    nearest(i) = d;
                    own = c;
                }
            changed = changed || own != old;
            ++sizes[static_cast<std::size_t>(own)];
        }
        const bool settled =
            (now.centers - before).norm() <= options.settled * std::sqrt(static_cast<double>(k)) * spread;
        bool filled = false;
        for (Index c = 0; c < k; ++c) {
            if (sizes[static_cast<std::size_t>(c)] > 0) continue;
            Index farthest = -1;
            for (Index i = 0; i < n; ++i)
                if (sizes[static_cast<std::size_t>(now.assignment[static_cast<std::size_t>(i)])] > 1 &&
                    (farthest < 0 || nearest(i) > nearest(farthest)))
                    farthest = i;
            Index& own = now.assignment[static_cast<std::size_t>(farthest)];
            --sizes[static_cast<std::size_t>(own)];
            ++sizes[static_cast<std::size_t>(c)];
            own = c;
            nearest(farthest) = 0.0;
            now.centers.col(c) = x.col(farthest);
            filled = true;
            ++plain.filled;
        }
        if (!filled && (!changed || settled)) break;
    }
    now.inertia = 0.0;
    for (Index i = 0; i < n; ++i)
        now.inertia += squared(x, i, now.centers, now.assignment[static_cast<std::size_t>(i)]);
    return plain;
}

KMeans seeds_of(const Matrix& x, Index count, KMeansOptions options) {
    options.max_iterations = 0;
    return k_means(x, count, options);
}

bool equal(const KMeans& a, const KMeans& b) {
    return same_bits(a.centers, b.centers) && a.assignment == b.assignment && a.inertia == b.inertia &&
           a.iterations == b.iterations;
}

TEST_CASE("bounds change nothing: the bits of plain Lloyd from the same seeds", "[k_means]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Index d = 1 + static_cast<Index>(seed % 5), n = 20 + static_cast<Index>(7 * seed);
        const Index count = 1 + static_cast<Index>(seed * 5 % 19);
        Matrix x =
            clusters(d, n, 1 + static_cast<Index>(seed % 7), 0.05 * static_cast<double>(seed % 11), seed);
        if (seed % 3 == 0) x = (4.0 * x).array().round();  // ties and duplicates
        if (seed % 4 == 0) x.array() += 1e4;
        for (const Index max_bounds : {Index{1} << 24, 4 * n, Index{1}}) {
            KMeansOptions options{.seed = seed, .settled = seed % 2 == 0 ? 0.0 : 1e-3};
            options.max_bounds = max_bounds;
            const KMeans seeds = seeds_of(x, count, options);
            CAPTURE(seed, max_bounds);
            CHECK(equal(k_means(x, count, options), plain_lloyd(x, seeds, options).result));
        }
    }
}

TEST_CASE("ties that bounds know only up to rounding are settled as plain Lloyd does", "[k_means]") {
    for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
        const Matrix x = 0.1 * (3.0 * support::uniforms(3, 20, seed)).array().round();
        const KMeansOptions options{.seed = seed, .settled = 0.0};
        CAPTURE(seed);
        CHECK(equal(k_means(x, 6, options), plain_lloyd(x, seeds_of(x, 6, options), options).result));
    }
}

TEST_CASE("centers left without samples go where plain Lloyd puts them", "[k_means]") {
    Index filled = 0;
    for (std::uint64_t seed = 1; seed <= 20000; ++seed) {  // it happens once in two thousand
        const Matrix x = support::uniforms(1, 10 + static_cast<Index>(seed % 10), seed);
        const KMeansOptions options{.seed = seed};
        const Plain plain = plain_lloyd(x, seeds_of(x, 5, options), options);
        if (plain.filled == 0) continue;
        filled += plain.filled;
        for (const Index max_bounds : {Index{1} << 24, 2 * x.cols(), Index{1}}) {
            KMeansOptions other = options;
            other.max_bounds = max_bounds;
            CAPTURE(seed, max_bounds);
            CHECK(equal(k_means(x, 5, other), plain.result));
        }
    }
    CHECK(filled >= 3);
}

TEST_CASE("every sample is with its nearest center, every center the mean of its samples", "[k_means]") {
    const Matrix x = clusters(3, 400, 9, 0.4, 5);
    const KMeans found = k_means(x, 12, {.settled = 0.0});
    REQUIRE(found.centers.cols() == 12);
    Matrix sums = Matrix::Zero(3, 12);
    Vector sizes = Vector::Zero(12);
    double inertia = 0.0;
    for (Index i = 0; i < x.cols(); ++i) {
        const Index own = found.assignment[static_cast<std::size_t>(i)];
        const double nearest = (found.centers.colwise() - x.col(i)).colwise().squaredNorm().minCoeff();
        CHECK(squared(x, i, found.centers, own) <= nearest * (1.0 + 1e-12));
        inertia += nearest;
        sums.col(own) += x.col(i);
        sizes(own) += 1.0;
    }
    REQUIRE(sizes.minCoeff() > 0.0);
    CHECK(found.inertia == Approx(inertia).epsilon(1e-12));
    CHECK((sums.array().rowwise() / sizes.transpose().array() - found.centers.array()).abs().maxCoeff() <
          1e-12);
    CHECK(found.inertia < seeds_of(x, 12, {}).inertia);
}

TEST_CASE("separated clusters are found", "[k_means]") {
    const Matrix truth = 20.0 * support::normals(4, 8, 31);
    Matrix x = 0.1 * support::normals(4, 400, 32);
    for (Index i = 0; i < x.cols(); ++i) x.col(i) += truth.col(i % 8);
    const KMeans found = k_means(x, 8);
    for (Index c = 0; c < 8; ++c)
        CHECK((found.centers.colwise() - truth.col(c)).colwise().norm().minCoeff() < 0.1);
}

TEST_CASE("seeds are drawn in proportion to the squared distance", "[k_means]") {
    // From 0, 0 and 0 the next is drawn from 1 and 3 with odds of 1 to 9; from 1 and 3, others.
    Matrix x(1, 5);
    x << 0.0, 0.0, 0.0, 1.0, 3.0;
    double from_zero = 0.0, three = 0.0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const KMeans seeds = seeds_of(x, 2, {.seed = seed});
        if (seeds.centers(0, 0) != 0.0) continue;
        from_zero += 1.0;
        if (seeds.centers(0, 1) == 3.0) three += 1.0;
    }
    CHECK(from_zero / 4000.0 == Approx(0.6).margin(0.04));  // five deviations of such a share: 0.039
    CHECK(three / from_zero == Approx(0.9).margin(0.031));
}

TEST_CASE("far fewer distances than samples x centers x iterations", "[k_means]") {
    const Matrix x = support::normals(6, 3000, 8);
    const KMeans found = k_means(x, 50, {.settled = 0.0});
    REQUIRE(found.iterations > 10);
    const double all = static_cast<double>(found.iterations + 1) * 3000.0 * 50.0;
    CHECK(static_cast<double>(found.distances) < 0.08 * all);
    CHECK(found.distances >= 3000 + 50);
    // fewer bounds prune less, and change nothing else
    const KMeans shared = k_means(x, 50, {.settled = 0.0, .max_bounds = 3000 * 5});
    CHECK(equal(shared, found));
    CHECK(static_cast<double>(shared.distances) < 0.25 * all);
    CHECK(shared.distances > found.distances);
}

TEST_CASE("the same bits for any number of threads, other bits for another seed", "[k_means]") {
    const Matrix x = clusters(350, 3000, 12, 0.7, 11);  // enough to wake threads
    const auto run = [&](int threads, std::uint64_t seed) {
        const support::Threads scope(threads);
        return k_means(x, 20, {.max_iterations = 8, .seed = seed});
    };
    const KMeans one = run(1, 1);
    for (const int threads : {2, 4}) {
        const KMeans many = run(threads, 1);
        CHECK(equal(many, one));
        CHECK(many.distances == one.distances);
    }
    CHECK_FALSE(same_bits(run(1, 2).centers, one.centers));
}

TEST_CASE("fewer distinct samples than centers: each of them once", "[k_means]") {
    Matrix x(2, 9);
    for (Index i = 0; i < 9; ++i) x.col(i) = Vector::Constant(2, static_cast<double>(i % 3));
    const KMeans found = k_means(x, 7);
    REQUIRE(found.centers.cols() == 3);
    CHECK(found.inertia == 0.0);
    for (Index i = 0; i < 9; ++i)
        CHECK(found.centers.col(found.assignment[static_cast<std::size_t>(i)]) == x.col(i));
    CHECK(k_means(Matrix::Constant(3, 10, 0.1), 4).centers.cols() == 1);
    CHECK(k_means(Matrix::Zero(1, 1), 1).centers.cols() == 1);
    // as many as there are: every sample is a center
    const Matrix distinct = support::normals(2, 15, 3);
    const KMeans all = k_means(distinct, 15);
    CHECK(all.inertia == 0.0);
    CHECK(all.centers.cols() == 15);
}

TEST_CASE("the unit of x does not matter", "[k_means]") {
    const Matrix x = clusters(2, 200, 5, 0.3, 14);
    const KMeans found = k_means(x, 6);
    for (const int exponent : {-1000, -600, 40, 600, 1000}) {
        const double unit = std::ldexp(1.0, exponent);  // a power of two, so that nothing is rounded
        const KMeans other = k_means(unit * x, 6);
        CAPTURE(exponent);
        CHECK(other.assignment == found.assignment);
        CHECK(same_bits(other.centers, unit * found.centers));
    }
}

TEST_CASE("the iteration limit is kept", "[k_means]") {
    const Matrix x = support::uniforms(2, 500, 15);
    CHECK(k_means(x, 10, {.max_iterations = 3, .settled = 0.0}).iterations == 3);
    CHECK(seeds_of(x, 10, {}).iterations == 0);
    const KMeans settled = k_means(x, 10, {.settled = 0.05});
    CHECK(settled.iterations < k_means(x, 10, {.settled = 0.0}).iterations);
}

TEST_CASE("what makes no sense is refused by name", "[k_means]") {
    using Catch::Matchers::ContainsSubstring;
    Matrix x = support::normals(2, 5, 1);
    CHECK_THAT(refusal([&] { k_means(x, 6); }), ContainsSubstring("count = 6"));
    CHECK_THAT(refusal([&] { k_means(x, 0); }), ContainsSubstring("count = 0"));
    CHECK_THAT(refusal([&] { k_means(Matrix(2, 0), 1); }), ContainsSubstring("2 x 0"));
    CHECK_THAT(refusal([&] { k_means(x, 2, {.max_iterations = -1}); }), ContainsSubstring("max_iterations"));
    CHECK_THAT(refusal([&] { k_means(x, 2, {.settled = -1.0}); }), ContainsSubstring("settled"));
    CHECK_THAT(refusal([&] { k_means(x, 2, {.max_bounds = 0}); }), ContainsSubstring("max_bounds"));
    x(1, 3) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(refusal([&] { k_means(x, 2); }), ContainsSubstring("x(1, 3)"));
}

}  // namespace k_means_test
