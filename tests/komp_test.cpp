#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/baselines/komp.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace komp_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::Index;
using kernelet::KernelRidge;
using kernelet::Komp;
using kernelet::KompOptions;
using kernelet::KompProjection;
using kernelet::Matrix;
using kernelet::Vector;
using support::refusal;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Matrix gram(const Matrix& x, double width) {
    Matrix k(x.cols(), x.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (Index j = 0; j < x.cols(); ++j)
            k(i, j) = std::exp(-(x.col(i) - x.col(j)).squaredNorm() / (2.0 * width * width));
    return k;
}

/// The cost that a removal minimises, ‖A a − b‖² over the columns kept, by a separate dense solve.
struct Brute {
    Matrix a, b;

    /// Σ‖K a − y‖² + n·ridge·‖a‖².
    static Brute samples(const Matrix& x, const Matrix& y, double width, double ridge) {
        const Index n = x.cols();
        Brute brute{Matrix::Zero(2 * n, n), Matrix::Zero(2 * n, y.rows())};
        brute.a.topRows(n) = gram(x, width);
        brute.a.bottomRows(n).diagonal().setConstant(std::sqrt(static_cast<double>(n) * ridge));
        brute.b.topRows(n) = y.transpose();
        return brute;
    }

    /// (a − ã)'K(a − ã), by the symmetric root of K.
    static Brute rkhs(const Matrix& x, const Matrix& y, double width, double ridge) {
        const Matrix k = gram(x, width);
        const Eigen::SelfAdjointEigenSolver<Matrix> eigen(k);
        const auto n = static_cast<double>(x.cols());
        const Matrix full =
            (k + n * ridge * Matrix::Identity(x.cols(), x.cols())).partialPivLu().solve(y.transpose());
        return {eigen.operatorSqrt(), eigen.operatorSqrt() * full};
    }

    Matrix coefficients(const std::vector<Index>& kept) const {
        if (kept.empty()) return Matrix(0, b.cols());
        return a(Eigen::all, kept).colPivHouseholderQr().solve(b);
    }

    double cost(const std::vector<Index>& kept) const {
        return (Matrix(a(Eigen::all, kept)) * coefficients(kept) - b).squaredNorm();
    }
};

std::vector<Index> first(const std::vector<Index>& ranking, Index count) {
    return {ranking.begin(), ranking.begin() + count};
}

TEST_CASE("each removal is the one that brute force finds cheapest, refitting every candidate", "[komp]") {
    const Index n = 13;
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs})
        for (const Index q : {1, 2})
            for (const double ridge : {1e-6, 1e-2})
                for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                    const Matrix x = support::uniforms(2, n, 10 * seed);
                    const Matrix y = support::normals(q, n, 10 * seed + 1);
                    const double width = 0.15;
                    const auto path = Komp<>({.width = width,
                                              .projection = projection,
                                              .ridge = ridge,
                                              .jitter = 1e-15,
                                              .center = false})
                                          .path(x, y);
                    const Brute brute = projection == KompProjection::samples
                                            ? Brute::samples(x, y, width, ridge)
                                            : Brute::rkhs(x, y, width, ridge);
                    REQUIRE(path.size() == n);
                    REQUIRE(path.width() == width);
                    std::vector<Index> all = path.ranking();
                    std::sort(all.begin(), all.end());
                    for (Index i = 0; i < n; ++i) REQUIRE(all[static_cast<std::size_t>(i)] == i);
                    for (Index count = n; count >= 0; --count) {
                        const std::vector<Index> kept = first(path.ranking(), count);
                        INFO("rkhs " << (projection == KompProjection::rkhs) << ", q " << q << ", ridge "
                                     << ridge << ", seed " << seed << ", kernels " << count);
                        const Matrix exact = brute.coefficients(kept);
                        CHECK((path.coefficients(count) - exact).norm() <= 1e-7 * (1.0 + exact.norm()));
                        if (count == n) continue;
                        double best = infinity;
                        for (Index drop = 0; drop <= count; ++drop) {
                            std::vector<Index> candidate = first(path.ranking(), count + 1);
                            candidate.erase(candidate.begin() + drop);
                            best = std::min(best, brute.cost(candidate));
                        }
                        CHECK(brute.cost(kept) <= best * (1.0 + 1e-9) + 1e-12);
                    }
                }
}

TEST_CASE("a model of the path, its residual and its distance are what they are called", "[komp]") {
    const Matrix x = support::uniforms(1, 30, 4);
    const Matrix y = support::normals(2, 30, 5).array() + 10.0;
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs}) {
        const auto path = Komp<>({.width = 0.04, .projection = projection, .ridge = 1e-5}).path(x, y);
        const auto full = path.model(30);
        for (const Index count : {30, 29, 15, 3, 1, 0}) {
            const auto model = path.model(count);
            REQUIRE(model.size() == count);
            CHECK(support::same_bits(model.centers(), x(Eigen::all, first(path.ranking(), count))));
            CHECK((model.widths().array() == 0.04).all());
            CHECK(model.offset().isApprox(y.rowwise().mean(), 1e-12));
            CHECK(path.residual(count) == Approx((model.predict(x) - y).norm() / std::sqrt(60.0)));
            // ‖f − f_n‖² = Σ_ij δ_i δ_j k(x_i, x_j), over all centers of both.
            Matrix centers(1, 30 + count);
            Matrix delta(30 + count, 2);
            centers << full.centers(), model.centers();
            delta << full.coefficients(), -model.coefficients();
            const double square = (delta.transpose() * gram(centers, 0.04) * delta).trace();
            CHECK(path.distance(count) == Approx(std::sqrt(std::max(square, 0.0))).margin(1e-6));
        }
        CHECK(path.distance(30) == 0.0);
    }
}

TEST_CASE("in the kernel's space it begins with kernel ridge, and the distance grows with each removal",
          "[komp]") {
    const support::Chirp signal = support::chirp(60, 6);
    const auto path =
        Komp<>({.width = 0.3, .projection = KompProjection::rkhs, .ridge = 1e-4}).path(signal.x, signal.y);
    const auto ridge = KernelRidge<>({.widths = {0.3}, .ridges = {1e-4}}).fit(signal.x, signal.y);
    CHECK((path.model(60).predict(signal.x) - ridge.model.predict(signal.x)).cwiseAbs().maxCoeff() <= 1e-8);
    for (Index count = 60; count > 0; --count) CHECK(path.distance(count - 1) >= path.distance(count) - 1e-6);
    // Unset, the ridge is the best by leaving one out.
    const auto chosen = KernelRidge<>({.widths = {0.3}}).fit(signal.x, signal.y);
    const auto unset = Komp<>({.width = 0.3, .projection = KompProjection::rkhs}).path(signal.x, signal.y);
    CHECK((unset.model(60).predict(signal.x) - chosen.model.predict(signal.x)).cwiseAbs().maxCoeff() <= 1e-6);
}

/// Removals of a path that were not the cheapest, by an inverse made anew for each in a longer format.
Index not_cheapest(const support::Chirp& signal, double width, double jitter) {
    using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const auto path = Komp<>({.width = width, .jitter = jitter, .center = false}).path(signal.x, signal.y);
    const Long k = gram(signal.x, width).cast<long double>();
    Long g = k.transpose() * k;
    g.diagonal().array() += static_cast<long double>(jitter) * g.diagonal().maxCoeff();
    const Long b = k.transpose() * signal.y.cast<long double>();
    std::vector<Index> kept(static_cast<std::size_t>(path.size()));
    std::iota(kept.begin(), kept.end(), Index{0});
    Index wrong = 0;
    for (Index count = path.size(); count > 0; --count) {
        const Long inverse = Long(g(kept, kept)).ldlt().solve(Long::Identity(count, count));
        const Long a = inverse * Long(b(kept, Eigen::all));
        const auto cost = (a.array().square() / inverse.diagonal().array()).eval();
        const auto taken =
            std::find(kept.begin(), kept.end(), path.ranking()[static_cast<std::size_t>(count - 1)]);
        REQUIRE(taken != kept.end());
        // Costs that are equal to three digits may be ordered either way.
        if (cost(taken - kept.begin()) > cost.minCoeff() * 1.001L) ++wrong;
        kept.erase(taken);
    }
    return wrong;
}

TEST_CASE("downdates do not drift where the Gram matrix is singular to rounding", "[komp]") {
    const support::Chirp signal = support::chirp(90, 7);
    for (const double width : {0.3, 0.5})
        for (const double jitter : {1e-12, 1e-15}) CHECK(not_cheapest(signal, width, jitter) == 0);
}

TEST_CASE("kernels that made the data are the last to go", "[komp]") {
    const Matrix x = Vector::LinSpaced(60, 0.0, 6.0).transpose();
    const std::vector<Index> made{7, 29, 30, 51};
    const Vector y = gram(x, 0.2)(Eigen::all, made) * (Vector(4) << 1.0, -2.0, 1.5, 1.0).finished();
    const auto fit = Komp<>({.width = 0.2, .max_residual = 1e-5, .center = false}).fit(x, y);
    std::vector<Index> kept = fit.kept;
    std::sort(kept.begin(), kept.end());
    CHECK(kept == made);
    CHECK(fit.within_bounds);
}

TEST_CASE("removal stops before a bound is passed", "[komp]") {
    const support::Chirp signal = support::chirp(101, 8);
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs}) {
        const KompOptions base{.width = 0.25, .projection = projection, .ridge = 1e-7};
        const auto path = Komp<>(base).path(signal.x, signal.y);
        const auto fit = [&](KompOptions options) { return Komp<>(options).fit(signal.x, signal.y); };

        KompOptions options = base;
        options.max_residual = 0.1;
        const auto by_residual = fit(options);
        CHECK(by_residual.within_bounds);
        CHECK(by_residual.residual <= 0.1);
        for (Index count = 100; count >= by_residual.model.size(); --count)
            CHECK(path.residual(count) <= 0.1);
        CHECK(path.residual(by_residual.model.size() - 1) > 0.1);
        CHECK(support::same_bits(by_residual.model.coefficients(),
                                 path.coefficients(by_residual.model.size())));
        CHECK(by_residual.kept == first(path.ranking(), by_residual.model.size()));
        CHECK(by_residual.width == 0.25);

        options = base;
        options.max_distance = 0.5 * path.distance(20);
        const auto by_distance = fit(options);
        CHECK(by_distance.within_bounds);
        CHECK(by_distance.distance <= *options.max_distance);
        CHECK(path.distance(by_distance.model.size() - 1) > *options.max_distance);

        options = base;
        options.max_kernels = 17;
        const auto by_count = fit(options);
        CHECK(by_count.model.size() == 17);
        CHECK(by_count.within_bounds);
        CHECK(by_count.residual == Approx(path.residual(17)));
        CHECK(by_count.distance == Approx(path.distance(17)));

        options.max_residual = 0.1;  // needs more than the 17
        const auto by_both = fit(options);
        CHECK(by_both.model.size() == 17);
        CHECK_FALSE(by_both.within_bounds);
        options.max_kernels = 100;  // does not bind
        CHECK(fit(options).model.size() == by_residual.model.size());

        options = base;
        options.max_residual = 0.0;
        const auto unmet = fit(options);
        CHECK(unmet.model.size() == 101);
        CHECK_FALSE(unmet.within_bounds);
        options = base;
        options.max_kernels = 1000;
        CHECK(fit(options).model.size() == 101);
    }
}

TEST_CASE("the width is kernel ridge's where none is given", "[komp]") {
    const support::Chirp signal = support::chirp(80, 9);
    const auto ridge = KernelRidge<>().fit(signal.x, signal.y);
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs}) {
        const auto fit = Komp<>({.projection = projection, .max_kernels = 30}).fit(signal.x, signal.y);
        CHECK(fit.width == ridge.chosen.width);
        CHECK((fit.model.widths().array() == ridge.chosen.width).all());
    }
}

TEST_CASE("the order of removal does not know the unit of y", "[komp]") {
    const support::Chirp signal = support::chirp(50, 10);
    const Komp<> komp({.width = 0.3});
    const auto path = komp.path(signal.x, signal.y);
    for (const int exponent : {-600, -3, 5, 600}) {
        const double unit = std::ldexp(1.0, exponent);
        const auto scaled = komp.path(signal.x, unit * signal.y);
        CHECK(scaled.ranking() == path.ranking());
        CHECK(scaled.residual(20) / unit == Approx(path.residual(20)));
    }
}

TEST_CASE("komp: degenerate data", "[komp]") {
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs}) {
        const Komp<> komp({.projection = projection, .max_residual = 1e-3});
        const auto one = komp.fit(Matrix::Constant(2, 1, 0.3), Vector::Constant(1, 7.0));
        CHECK(one.model(Vector::Constant(2, 0.3)) == Approx(7.0));
        CHECK(one.model.size() == 0);  // the mean is enough
        const auto uncentered = Komp<>({.projection = projection, .max_kernels = 1, .center = false})
                                    .path(Matrix::Constant(1, 1, 0.3), Vector::Constant(1, 7.0));
        CHECK(uncentered.model(1)(0.3) == Approx(7.0));

        const Matrix x = support::uniforms(1, 12, 11);
        const auto constant = komp.fit(x, Vector::Constant(12, 0.1));
        CHECK(constant.model.size() == 0);
        CHECK((constant.model.predict(x).array() - 0.1).abs().maxCoeff() <= 1e-12);
        CHECK(komp.path(x, Vector::Zero(12)).coefficients(12).allFinite());

        // Each place twice: half of the kernels are redundant and go first, at no cost.
        Matrix twice(1, 24);
        twice << x, x;
        const Vector y = support::normals(12, 1, 12);
        Vector both(24);
        both << y, y;
        const auto path = Komp<>({.width = 0.02, .projection = projection, .ridge = 0.0}).path(twice, both);
        std::vector<Index> places;
        for (const Index i : first(path.ranking(), 12)) places.push_back(i % 12);
        std::sort(places.begin(), places.end());
        for (Index i = 0; i < 12; ++i) CHECK(places[static_cast<std::size_t>(i)] == i);
        CHECK(path.residual(12) <= 1e-3);

        const auto one_place = komp.fit(Matrix::Ones(1, 9), support::normals(9, 1, 13));
        CHECK(one_place.model.coefficients().allFinite());
    }
}

TEST_CASE("komp: float, rows and blocks", "[komp]") {
    const Eigen::MatrixXf x = support::uniforms(2, 20, 14).cast<float>();
    const Eigen::VectorXf y = support::normals(20, 1, 15).cast<float>();
    const Komp<> komp({.width = 0.3, .max_kernels = 7});
    const Matrix a = komp.fit(x, y).model.coefficients();
    CHECK(support::same_bits(a, komp.fit(x.cast<double>(), y.cast<double>()).model.coefficients()));
    CHECK(support::same_bits(a, komp.fit(x, y.transpose()).model.coefficients()));
    Eigen::MatrixXf wide(5, 22);
    wide.setZero();
    wide.block(1, 2, 2, 20) = x;
    CHECK(support::same_bits(a, komp.fit(wide.block(1, 2, 2, 20), 1.0F * y).model.coefficients()));
}

TEST_CASE("komp: the same bits with any number of threads", "[komp]") {
    // Enough outputs and samples that Eigen would divide a product of two matrices among threads.
    const Matrix x = support::uniforms(1, 400, 16);
    const Matrix y = support::normals(8, 400, 17);
    for (const auto projection : {KompProjection::samples, KompProjection::rkhs}) {
        const Komp<> komp({.width = 0.02, .projection = projection, .max_kernels = 300, .ridge = 1e-6});
        const auto fit_on = [&](int count) {
            const support::Threads threads(count);
            return komp.fit(x, y);
        };
        const auto a = fit_on(1), b = fit_on(4);
        CHECK(a.kept == b.kept);
        CHECK(support::same_bits(a.model.coefficients(), b.model.coefficients()));
        CHECK(a.residual == b.residual);
        CHECK(a.distance == b.distance);
    }
}

TEST_CASE("komp: misuse is named", "[komp]") {
    const auto options = [](const KompOptions& given) { return refusal([&] { const Komp<> komp(given); }); };
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        CHECK_THAT(options({.width = bad}), ContainsSubstring("options.width"));
        CHECK_THAT(options({.jitter = bad}), ContainsSubstring("options.jitter"));
    }
    for (const double bad : {-1e-9, nan, infinity}) {
        CHECK_THAT(options({.max_residual = bad}), ContainsSubstring("options.max_residual"));
        CHECK_THAT(options({.max_distance = bad}), ContainsSubstring("options.max_distance"));
        CHECK_THAT(options({.ridge = bad}), ContainsSubstring("options.ridge"));
    }
    CHECK_THAT(options({.max_kernels = 0}), ContainsSubstring("options.max_kernels"));

    const Komp<> komp({.width = 1.0, .max_kernels = 3});
    const auto fit = [&](const Matrix& x, const Matrix& y) {
        const std::string said = refusal([&] { komp.fit(x, y); });
        CHECK(refusal([&] { komp.path(x, y); }) == said);
        return said;
    };
    const Matrix x = support::uniforms(2, 5, 18);
    const Matrix y = support::normals(5, 1, 19);
    CHECK_THAT(fit(Matrix(2, 0), Matrix(0, 1)), ContainsSubstring("x has no columns"));
    CHECK_THAT(fit(Matrix(0, 5), y), ContainsSubstring("x has no rows"));
    CHECK_THAT(fit(x, Matrix::Ones(4, 1)), ContainsSubstring("y is 4 x 1"));
    Matrix holed = x;
    holed(1, 3) = nan;
    CHECK_THAT(fit(holed, y), ContainsSubstring("x(1, 3)"));
    holed = y;
    holed(2) = infinity;
    CHECK_THAT(fit(x, holed), ContainsSubstring("y(0, 2)"));

    CHECK_THAT(refusal([&] { Komp<>({.width = 1.0}).fit(x, y); }), ContainsSubstring("options.max_kernels"));
    const auto path = komp.path(x, y);
    for (const Index bad : {-1, 6}) {
        CHECK_THAT(refusal([&] { path.model(bad); }), ContainsSubstring("kernels = "));
        CHECK_THAT(refusal([&] { path.coefficients(bad); }), ContainsSubstring("kernels = "));
        CHECK_THAT(refusal([&] { path.residual(bad); }), ContainsSubstring("kernels = "));
        CHECK_THAT(refusal([&] { path.distance(bad); }), ContainsSubstring("kernels = "));
    }
}

}  // namespace komp_test
