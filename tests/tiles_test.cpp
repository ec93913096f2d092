#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/gaussian.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tiles_test {

using kernelet::Gaussian;
using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::analyze;
using kernelet::detail::synthesize;
using kernelet::detail::TiledPoints;

double scalar_gaussian(const Vector& x, const Vector& node) {
    const double w = node(node.size() - 1);
    return std::exp(-(x - node.head(x.size())).squaredNorm() / (2.0 * w * w));
}

/// All kernel values, n x B: what the passes must never hold.
Matrix all_values(const Matrix& x, const Matrix& nodes) {
    Matrix k(x.cols(), nodes.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (Index j = 0; j < nodes.cols(); ++j) k(i, j) = scalar_gaussian(x.col(i), nodes.col(j));
    return k;
}

struct Case {
    Index d, n, nodes, outputs;
    double narrow, wide;
    bool sorted;
};

struct Setting {
    Matrix x{}, nodes{};
    Matrix k{};
};

Setting setting(const Case& c, std::uint64_t seed) {
    Setting s;
    s.x = support::uniforms(c.d, c.n, seed);
    if (c.sorted) {
        std::vector<Vector> columns;
        for (Index i = 0; i < c.n; ++i) columns.emplace_back(s.x.col(i));
        std::sort(columns.begin(), columns.end(),
                  [](const Vector& a, const Vector& b) { return a(0) < b(0); });
        for (Index i = 0; i < c.n; ++i) s.x.col(i) = columns[static_cast<std::size_t>(i)];
    }
    s.nodes = support::uniforms(c.d + 1, c.nodes, seed + 1, -0.2, 1.2);
    const Matrix u = support::uniforms(1, c.nodes, seed + 2);
    for (Index j = 0; j < c.nodes; ++j) s.nodes(c.d, j) = c.narrow * std::pow(c.wide / c.narrow, u(j));
    s.k = all_values(s.x, s.nodes);
    return s;
}

// Sizes around the tile of 32, wide kernels that reach everything, narrow ones that reach a tile or nothing.
const std::vector<Case> cases{
    {1, 1, 1, 1, 0.5, 1.0, true},      {1, 31, 33, 1, 0.3, 2.0, false},   {1, 32, 32, 3, 0.3, 2.0, true},
    {1, 33, 65, 1, 1e-3, 1.0, true},   {1, 500, 70, 1, 1e-3, 1e-2, true}, {1, 500, 70, 3, 1e-3, 1e-2, false},
    {2, 100, 100, 1, 1e-3, 0.5, true}, {2, 333, 40, 3, 1e-2, 0.1, false}, {3, 257, 31, 1, 0.05, 1.0, true},
    {7, 70, 50, 3, 0.3, 3.0, false},
};

/// Dropping what is out of reach costs at most 2^-53 of Σ|λ|; rounding, 1e-12 of Σ|λ|k.
void check_close(const Matrix& found, const Matrix& exact, const Matrix& absolute, const Vector& dropped) {
    REQUIRE(found.rows() == exact.rows());
    REQUIRE(found.cols() == exact.cols());
    bool close = true;
    for (Index o = 0; o < exact.rows(); ++o)
        for (Index j = 0; j < exact.cols(); ++j) {
            const double error = std::abs(found(o, j) - exact(o, j));
            close = close && error <= 1e-12 * absolute(o, j) + 0x1.0p-53 * dropped(o);
            // Wherever samples are in reach, the error is at most 1e-12 of Σ|λ|k.
            if (absolute(o, j) >= 1e-3 * dropped(o)) close = close && error <= 1e-12 * absolute(o, j);
        }
    CHECK(close);
}

TEST_CASE("analyze and synthesize are the sums they stand for", "[tiles]") {
    std::uint64_t seed = 10;
    for (const Case& c : cases) {
        seed += 10;
        INFO("d " << c.d << ", n " << c.n << ", nodes " << c.nodes << ", q " << c.outputs << ", widths from "
                  << c.narrow << ", sorted " << c.sorted);
        const Setting s = setting(c, seed);
        const TiledPoints points(s.x);
        const Matrix lambda = support::normals(c.outputs, c.n, seed + 3);
        check_close(analyze(Gaussian{}, points, lambda, s.nodes), lambda * s.k, lambda.cwiseAbs() * s.k,
                    lambda.cwiseAbs().rowwise().sum());
        const Matrix a = support::normals(c.outputs, c.nodes, seed + 4);
        check_close(synthesize(Gaussian{}, points, s.nodes, a), a * s.k.transpose(),
                    a.cwiseAbs() * s.k.transpose(), a.cwiseAbs().rowwise().sum());
    }
}

TEST_CASE("zero multipliers and coefficients change nothing", "[tiles]") {
    const Setting s = setting({1, 200, 90, 1, 1e-2, 0.5, true}, 500);
    const TiledPoints points(s.x);
    for (const Index outputs : {1, 3}) {
        Matrix lambda = support::normals(outputs, 200, 501);
        Matrix a = support::normals(outputs, 90, 502);
        lambda.middleCols(20, 150).setZero();  // whole tiles and parts of tiles
        a.middleCols(3, 60).setZero();
        if (outputs == 3) {
            lambda(1, 100) = 1.0;  // one output alone keeps a sample alive
            a(2, 30) = -1.0;
        }
        check_close(analyze(Gaussian{}, points, lambda, s.nodes), lambda * s.k, lambda.cwiseAbs() * s.k,
                    lambda.cwiseAbs().rowwise().sum());
        check_close(synthesize(Gaussian{}, points, s.nodes, a), a * s.k.transpose(),
                    a.cwiseAbs() * s.k.transpose(), a.cwiseAbs().rowwise().sum());
        CHECK(analyze(Gaussian{}, points, Matrix(Matrix::Zero(outputs, 200)), s.nodes).isZero(0.0));
        CHECK(synthesize(Gaussian{}, points, s.nodes, Matrix(Matrix::Zero(outputs, 90))).isZero(0.0));
    }
}

TEST_CASE("no points, no nodes: empty or zero", "[tiles]") {
    const TiledPoints none(Matrix(2, 0));
    const Matrix nodes = Matrix::Ones(3, 4);
    CHECK(none.size() == 0);
    CHECK(none.tiles() == 0);
    CHECK(analyze(Gaussian{}, none, Matrix(1, 0), nodes).isZero(0.0));
    CHECK(synthesize(Gaussian{}, none, nodes, Matrix(Matrix::Ones(1, 4))).cols() == 0);
    const Matrix ones = Matrix::Ones(2, 5);
    const TiledPoints some(ones);
    CHECK(analyze(Gaussian{}, some, Matrix(Matrix::Ones(1, 5)), Matrix(3, 0)).cols() == 0);
    CHECK(synthesize(Gaussian{}, some, Matrix(3, 0), Matrix(1, 0)).isZero(0.0));
}

/// A Gaussian that counts its calls.
struct Counting : Gaussian {
    std::shared_ptr<std::atomic<Index>> calls = std::make_shared<std::atomic<Index>>(0);
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        ++*calls;
        Gaussian::values(xt, node, k);
    }
};

/// Counting without a reach.
struct Unreaching {
    Counting counted{};
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        counted.values(xt, node, k);
    }
};

TEST_CASE("equal strips hold every point once, in tiles", "[tiles]") {
    using namespace kernelet::detail;
    for (const Index n : {1, 31, 32, 256, 257, 300, 1352, 2000, 10001}) {
        Index next = 0, least = n, most = 0;
        for (Index s = 0; s < strips_of(n); ++s) {
            const Strip strip = equal_strip(s, n);
            CHECK(strip.first == next);
            CHECK(strip.first % TiledPoints::tile == 0);
            next += strip.rows;
            least = std::min(least, strip.rows);
            most = std::max(most, strip.rows);
        }
        CHECK(next == n);
        CHECK(most <= strip_rows);
        CHECK(most - least <= 2 * TiledPoints::tile);
    }
}

TEST_CASE("strips out of reach, zero multipliers and zero coefficients are skipped", "[tiles]") {
    constexpr Index n = 8 * kernelet::detail::strip_rows;
    const Setting s = setting({1, n, 64, 1, 1e-4, 1e-3, true}, 600);
    const TiledPoints points(s.x);
    const Index all = kernelet::detail::strips_of(n) * s.nodes.cols();
    const Matrix lambda = Matrix::Ones(1, n);
    const Matrix a = Matrix::Ones(1, 64);
    {
        const Counting kernel;
        analyze(kernel, points, lambda, s.nodes);
        CHECK(*kernel.calls > 0);
        CHECK(*kernel.calls < all / 4);
        *kernel.calls = 0;
        synthesize(kernel, points, s.nodes, a);
        CHECK(*kernel.calls > 0);
        CHECK(*kernel.calls < all / 4);
    }
    const Unreaching kernel;  // nothing is promised of its decay: nothing may be skipped
    analyze(kernel, points, lambda, s.nodes);
    CHECK(*kernel.counted.calls == all);
    *kernel.counted.calls = 0;
    Matrix sparse = lambda;
    sparse.leftCols(n / 2).setZero();
    analyze(kernel, points, sparse, s.nodes);
    CHECK(*kernel.counted.calls == all / 2);
    *kernel.counted.calls = 0;
    Matrix few = a;
    few.leftCols(32).setZero();
    synthesize(kernel, points, s.nodes, few);
    CHECK(*kernel.counted.calls == all / 2);
}

TEST_CASE("a kernel column is the kernel, and zero outside of the range it names", "[tiles]") {
    for (const bool sorted : {true, false}) {
        const Setting s = setting({1, 300, 40, 1, 1e-4, 0.1, sorted}, 700);
        const TiledPoints points(s.x);
        for (Index j = 0; j < s.nodes.cols(); ++j) {
            Vector column = Vector::Constant(300, -1.0);
            const auto [begin, end] =
                kernelet::detail::kernel_column(Gaussian{}, points, s.nodes.col(j), column.data());
            CHECK((column - s.k.col(j)).cwiseAbs().maxCoeff() <= 1e-13);
            if (begin < end) {
                CHECK(column.head(begin).isZero(0.0));
                CHECK(column.tail(300 - end).isZero(0.0));
            } else {
                CHECK(column.isZero(0.0));
            }
        }
    }
}

TEST_CASE("tiles partition the points and know their boxes", "[tiles]") {
    const Matrix x = support::uniforms(2, 77, 800);
    const TiledPoints points(x);
    Index seen = 0;
    for (Index t = 0; t < points.tiles(); ++t) {
        CHECK(points.first(t) == seen);
        CHECK(support::same_bits(points.rows(t), x.middleCols(seen, points.count(t)).transpose()));
        for (Index i = 0; i < points.count(t); ++i) CHECK(points.touches(t, &x(0, seen + i), 0.0));
        const Vector beyond = points.rows(t).colwise().maxCoeff().transpose().array() + 0.25;
        CHECK(points.touches(t, beyond.data(), 0.2501));
        CHECK_FALSE(points.touches(t, beyond.data(), 0.2499));
        seen += points.count(t);
    }
    CHECK(seen == 77);
}

TEST_CASE("one, two and four threads: the same bits", "[tiles]") {
    const Setting s = setting({2, 700, 300, 3, 1e-2, 1.0, true}, 900);
    const TiledPoints points(s.x);
    const Matrix lambda = support::normals(3, 700, 901);
    const Matrix a = support::normals(3, 300, 902);
    const Matrix field = analyze(Gaussian{}, points, lambda, s.nodes);
    const Matrix values = synthesize(Gaussian{}, points, s.nodes, a);
    for (const int count : {1, 2, 4}) {
        const support::Threads threads(count);
        CHECK(support::same_bits(field, analyze(Gaussian{}, points, lambda, s.nodes)));
        CHECK(support::same_bits(values, synthesize(Gaussian{}, points, s.nodes, a)));
    }
    // The bits do not depend on which other nodes are in the same call.
    CHECK(support::same_bits(field.middleCols(50, 40),
                             analyze(Gaussian{}, points, lambda, s.nodes.middleCols(50, 40))));
}

TEST_CASE("tests of threads have as many as they ask for", "[tiles]") {
    // Each waits for all others: without threads the first waits in vain.
    for (const int count : {2, 3, 4}) {
        const support::Threads threads(count);
        std::atomic<int> here{0};
        kernelet::detail::parallel_for(count, [&](Index) {
            ++here;
            const auto start = std::chrono::steady_clock::now();
            while (here < count && std::chrono::steady_clock::now() - start < std::chrono::seconds(5))
                std::this_thread::yield();
            if (here < count) here = -100;
        });
        CHECK(here == count);
    }
}

TEST_CASE("parallel_for visits each index once and rethrows the lowest failure", "[tiles]") {
    const support::Threads threads(4);
    std::vector<std::atomic<int>> visits(1000);
    kernelet::detail::parallel_for(1000, [&](Index k) { ++visits[static_cast<std::size_t>(k)]; });
    CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
    const auto failing = [](Index k) {
        if (k % 100 == 37) throw std::runtime_error(std::to_string(k));
    };
    CHECK_THROWS_WITH(kernelet::detail::parallel_for(1000, failing), "37");
}

}  // namespace tiles_test
