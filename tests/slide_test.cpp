#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/refit/complete.hpp>
#include <kernelet/refit/slide.hpp>

#include <cmath>

namespace slide_test {

using namespace kernelet;

constexpr double ridge = 1e-12;

/// Samples of a sum of Gaussians at known nodes, in d = 1 or 2.
struct Planted {
    Matrix nodes{};
    Matrix x{};
    Matrix y{};
    Vector weights{};

    explicit Planted(Index d)
        : nodes(d + 1, 2), x(support::uniforms(d, 150, 3, -3.0, 3.0)), weights(Vector::Ones(150)) {
        nodes.topRows(d).col(0).setConstant(-1.1);
        nodes.topRows(d).col(1).setConstant(0.9);
        nodes.bottomRows(1) << 0.7, 1.1;
        Matrix a(2, 2);  // two outputs share the kernels
        a << 1.0, -2.0, 0.5, 1.5;
        y = detail::synthesize(Gaussian{}, detail::TiledPoints(x), nodes, a);
    }
};

}  // namespace slide_test

TEST_CASE("a slide brings displaced kernels back to where they were planted", "[slide]") {
    using namespace slide_test;
    const Index d = GENERATE(1, 2);
    const Planted truth(d);
    const Gaussian kernel;
    const detail::TiledPoints points(truth.x);
    const Box box(Vector::Constant(d, -4.0), Vector::Constant(d, 4.0), {0.1, 4.0});
    Matrix start = truth.nodes;
    start.topRows(d).array() += 0.25;
    start.bottomRows(1) *= 1.3;
    const SlideResult slid = Slide<Gaussian, Box>(kernel, points, box, truth.y, truth.weights, ridge)(start);
    CHECK((slid.nodes - truth.nodes).cwiseAbs().maxCoeff() <= 1e-3);
    CHECK(slid.coefficients(0, 0) == Approx(1.0).epsilon(1e-3));
    CHECK(slid.cost <= 1e-5 * truth.y.squaredNorm());
}

TEST_CASE("a slide obeys the domain's mask and bounds and never makes the fit worse", "[slide]") {
    using namespace slide_test;
    const Planted truth(1);
    const Gaussian kernel;
    const detail::TiledPoints points(truth.x);
    Matrix start = truth.nodes;
    start.row(0).array() += 0.3;
    start.row(1).setConstant(0.9);
    const auto cost = [&](const auto& domain, Index steps) {
        using Omega = std::remove_cvref_t<decltype(domain)>;
        return Slide<Gaussian, Omega>(kernel, points, domain, truth.y, truth.weights, ridge)(
            start, {.max_steps = steps});
    };
    const FixedWidth fixed(-4.0, 4.0, 0.9);
    const SlideResult widths_kept = cost(fixed, 40);
    CHECK((widths_kept.nodes.row(1).array() == 0.9).all());
    CHECK(widths_kept.cost < cost(fixed, 0).cost);
    const CandidateCenters candidates(start.topRows(1), {0.1, 4.0});
    const SlideResult centers_kept = cost(candidates, 40);
    CHECK(support::same_bits(centers_kept.nodes.row(0), start.row(0)));
    CHECK(centers_kept.cost < cost(candidates, 0).cost);
    const Box tight(-1.0, 0.8, {0.8, 1.0});  // the planted nodes lie outside
    const SlideResult bounded = cost(tight, 40);
    CHECK(bounded.nodes.row(0).minCoeff() >= -1.0);
    CHECK(bounded.nodes.row(0).maxCoeff() <= 0.8);
    CHECK(bounded.nodes.row(1).minCoeff() >= 0.8);
    CHECK(bounded.nodes.row(1).maxCoeff() <= 1.0);
}

TEST_CASE("coincident kernels and no kernels are safe to slide", "[slide]") {
    using namespace slide_test;
    const Planted truth(1);
    const Gaussian kernel;
    const detail::TiledPoints points(truth.x);
    const Box box(-4.0, 4.0, {0.1, 4.0});
    Matrix same(2, 3);
    same << 0.5, 0.5, 0.5, 1.0, 1.0, 1.0;
    const Slide<Gaussian, Box> slide(kernel, points, box, truth.y, truth.weights, 1e-7);
    const SlideResult slid = slide(same);
    CHECK(slid.nodes.allFinite());
    CHECK(slid.coefficients.allFinite());
    const SlideResult nothing = slide(Matrix(2, 0));
    CHECK(nothing.nodes.cols() == 0);
    CHECK(nothing.cost == Approx(truth.y.squaredNorm()));
}

TEST_CASE("complete adds kernels until the tolerance is met, and no more than allowed", "[complete]") {
    using namespace slide_test;
    const Matrix x = Vector::LinSpaced(101, -3.0, 3.0).transpose();
    const Matrix y = x.array().sin();
    const Vector weights = Vector::Ones(101);
    const Gaussian kernel;
    const detail::TiledPoints points(x);
    const Box box(-3.6, 3.6, {0.06, 3.6});
    const Matrix candidates = box.rule(2000)->nodes;
    const auto rms = [](const Matrix& residual) { return residual.norm() / std::sqrt(101.0); };
    const auto met = [&](const Matrix& residual) { return rms(residual) <= 0.003; };
    const SlideResult done =
        complete(kernel, points, box, Matrix(2, 0), candidates, y, weights, 1e-9, Index{20}, met);
    CHECK(met(y - detail::synthesize(kernel, points, done.nodes, done.coefficients.transpose())));
    CHECK(done.nodes.cols() <= 6);
    const SlideResult limited =
        complete(kernel, points, box, Matrix(2, 0), candidates, y, weights, 1e-9, Index{1}, met);
    CHECK(limited.nodes.cols() == 1);
}
