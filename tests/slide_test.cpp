#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/refit/slide.hpp>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <cmath>
#include <type_traits>

namespace slide_test {

using namespace kernelet;
using BoxSlide = Slide<Gaussian, Box>;

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

/// Kernels among data that they do not explain, all within reach of all samples, weights uneven.
struct Unexplained {
    Matrix x{};
    Matrix y{};
    Matrix nodes{};
    Vector weights{};

    Unexplained(Index d, Index outputs, Index kernels)
        : x(support::uniforms(d, 70, 11, -3.0, 3.0)),
          y(support::normals(outputs, 70, 12)),
          nodes(d + 1, kernels),
          weights(support::uniforms(70, 1, 13, 0.2, 3.0)) {
        nodes.topRows(d) = support::uniforms(d, kernels, 14, -2.0, 2.0);
        nodes.bottomRows(1) = support::uniforms(1, kernels, 15, 1.0, 1.6);
    }
};

/// The same least squares from the definitions: rows √w φ and √(ridge Σ w) for the penalty, dense, by QR; no
/// function of the library.
struct Dense {
    Matrix phi{}, slopes{}, target{};  // (n + K) x K, x K(d + 1), x q
    Matrix a{}, residual{};
    double cost{};

    Dense(const Matrix& x, const Matrix& y, const Vector& weights, const Matrix& nodes, double ridge_) {
        const Index n = x.cols(), d = x.rows(), k = nodes.cols();
        phi = Matrix::Zero(n + k, k);
        slopes = Matrix::Zero(n + k, k * (d + 1));
        target = Matrix::Zero(n + k, y.rows());
        for (Index i = 0; i < n; ++i) {
            const double root = std::sqrt(weights(i));
            target.row(i) = root * y.col(i).transpose();
            for (Index j = 0; j < k; ++j) {
                const double w = nodes(d, j);
                const Vector u = (x.col(i) - nodes.col(j).head(d)) / w;
                const double value = root * std::exp(-0.5 * u.squaredNorm());
                phi(i, j) = value;
                slopes.row(i).segment(j * (d + 1), d) = value * u.transpose();  // in widths
                slopes(i, j * (d + 1) + d) = value * u.squaredNorm();
            }
        }
        phi.bottomRows(k).diagonal().setConstant(std::sqrt(ridge_ * weights.sum()));
        a = phi.colPivHouseholderQr().solve(target);
        residual = target - phi * a;
        cost = residual.squaredNorm();
    }

    /// The least of the damped quadratic model ‖r − Jδ‖² + damping Σ (J'J)_cc δ_c² of the projected residual,
    /// Kaufman's J = P⊥ (∂Φ) a.
    double after_one_step(double damping) const {
        const Index count = slopes.cols(), per = count / phi.cols(), m = phi.rows();
        const Matrix projected = slopes - phi * phi.colPivHouseholderQr().solve(slopes);
        Matrix jacobian(m * target.cols(), count);
        Vector r(m * target.cols());
        for (Index o = 0; o < target.cols(); ++o) {
            r.segment(o * m, m) = residual.col(o);
            for (Index c = 0; c < count; ++c)
                jacobian.col(c).segment(o * m, m) = a(c / per, o) * projected.col(c);
        }
        Matrix damped(jacobian.rows() + count, count);
        damped << jacobian,
            Matrix((damping * jacobian.colwise().squaredNorm()).cwiseSqrt().transpose().asDiagonal());
        Vector right = Vector::Zero(damped.rows());
        right.head(r.size()) = r;
        const Vector step = damped.colPivHouseholderQr().solve(right);
        return (right - damped * step).squaredNorm();
    }
};

constexpr double prior = 1e-4;

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
    const Slid slid = BoxSlide(kernel, points, box, truth.y, truth.weights, ridge)(start);
    REQUIRE(slid.size() == 2);
    CHECK((slid.nodes - truth.nodes).cwiseAbs().maxCoeff() <= 1e-3);
    CHECK(slid.at.coefficients(0, 0) == Approx(1.0).epsilon(1e-3));
    CHECK(slid.at.coefficients(0, 1) == Approx(0.5).epsilon(1e-3));
    CHECK(slid.at.cost <= 1e-5 * truth.y.squaredNorm());
}

TEST_CASE("a slide obeys the domain's mask and bounds and never makes the fit worse", "[slide]") {
    using namespace slide_test;
    const Planted truth(1);
    const Gaussian kernel;
    const detail::TiledPoints points(truth.x);
    Matrix start = truth.nodes;
    start.row(0).array() += 0.3;
    start.row(1).setConstant(0.9);
    const auto slid = [&](const auto& domain, Index steps) {
        using Omega = std::remove_cvref_t<decltype(domain)>;
        return Slide<Gaussian, Omega>(kernel, points, domain, truth.y, truth.weights, ridge)(
            start, {.max_steps = steps});
    };
    const FixedWidth fixed(-4.0, 4.0, 0.9);
    const Slid widths_kept = slid(fixed, 40);
    CHECK((widths_kept.nodes.row(1).array() == 0.9).all());
    CHECK(widths_kept.at.cost < slid(fixed, 0).at.cost);
    const CandidateCenters candidates(start.topRows(1), {0.1, 4.0});
    const Slid centers_kept = slid(candidates, 40);
    CHECK(support::same_bits(centers_kept.nodes.row(0), start.row(0)));
    CHECK(centers_kept.at.cost < slid(candidates, 0).at.cost);
    const Box tight(-1.0, 0.8, {0.8, 1.0});  // the planted nodes lie outside
    const Slid bounded = slid(tight, 40);
    CHECK(bounded.nodes.row(0).minCoeff() >= -1.0);
    CHECK(bounded.nodes.row(0).maxCoeff() <= 0.8);
    CHECK(bounded.nodes.row(1).minCoeff() >= 0.8);
    CHECK(bounded.nodes.row(1).maxCoeff() <= 1.0);
    const Box free(-4.0, 4.0, {0.1, 4.0});
    double before = slid(free, 0).at.cost;
    for (Index steps = 1; steps <= 10; ++steps) {
        const double after = slid(free, steps).at.cost;
        CHECK(after <= before);
        before = after;
    }
}

TEST_CASE("an assessment is the ridge least squares of a dense solve", "[slide]") {
    using namespace slide_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 5);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0});
    const BoxSlide slide(kernel, points, box, s.y, s.weights, prior);
    const double energy = s.y.cwiseAbs2().colwise().sum().dot(s.weights.transpose());
    CHECK(slide.energy() == Approx(energy).epsilon(1e-13));
    CHECK(slide.free_rows() == d + 1);
    const Slid now = slide(s.nodes, {.max_steps = 0});
    const Dense dense(s.x, s.y, s.weights, s.nodes, prior);
    CAPTURE(d, outputs);
    CHECK(support::same_bits(now.nodes, s.nodes));
    CHECK(std::abs(now.at.cost - dense.cost) <= 1e-11 * energy);
    CHECK((now.at.coefficients - dense.a).norm() <= 1e-7 * dense.a.norm());
    for (Index j = 0; j < now.size(); ++j) {
        double mass = 0.0;
        for (Index i = 0; i < s.x.cols(); ++i) mass += dense.phi(i, j) * dense.phi(i, j);
        CHECK(now.at.mass(j) == Approx(mass / s.weights.mean()).epsilon(1e-12));
    }
}

TEST_CASE("for labels the coefficients and the offset are where nothing pulls any more", "[slide]") {
    using namespace slide_test;
    const bool intercept = GENERATE(false, true);
    Unexplained s(2, 1, 4);
    s.y = s.y.unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(Vector::Constant(2, -9.0), Vector::Constant(2, 9.0), {0.01, 90.0});
    const Dense dense(s.x, s.y, s.weights, s.nodes, prior);  // for √w φ
    const Matrix phi = s.weights.cwiseSqrt().cwiseInverse().asDiagonal() * dense.phi.topRows(s.x.cols());
    const auto check = [&]<class Loss>(const Loss& loss) {
        INFO(Loss::name << (intercept ? " with" : " without") << " an intercept");
        const Slide<Gaussian, Box, Loss> slide(kernel, points, box, s.y, s.weights, prior, intercept, loss,
                                               0.25);
        const Slid now = slide(s.nodes, {.max_steps = 0});
        const auto values = [&](const Matrix& a, double b) {
            return Matrix((phi * a).transpose().array() + b);
        };
        const auto cost = [&](const Matrix& a, double b) {
            return slide.loss().cost(values(a, b)) + prior * s.weights.sum() * a.squaredNorm();
        };
        const Matrix& a = now.at.coefficients;
        const double b = now.at.offset(0);
        CHECK(now.at.cost == Approx(cost(a, b)).epsilon(1e-12));
        const Matrix pull = slide.loss().pull(values(a, b));
        if (detail::is_smooth<Loss>()) {
            // −½ of the slope of Σ w ℓ(Φa + b) + ridge Σ w ‖a‖²
            const Vector left = (pull * phi).transpose() - prior * s.weights.sum() * a;
            CHECK(left.cwiseAbs().maxCoeff() <= 1e-3 * pull.cwiseAbs().sum());
            if (intercept) CHECK(std::abs(pull.sum()) <= 1e-3 * pull.cwiseAbs().sum());
        }
        // A loss with kinks has no slope to vanish: nothing beside it is cheaper.
        constexpr double beside = 0.05, settled = 1e-4;
        for (const double step : {-beside, beside}) {
            for (Index j = 0; j < a.rows(); ++j) {
                Matrix other = a;
                other(j) += step;
                CHECK(cost(other, b) > (1.0 - settled) * now.at.cost);
            }
            if (intercept) CHECK(cost(a, b + step) > (1.0 - settled) * now.at.cost);
        }
        CHECK(now.at.cost < slide.energy());
        // Wherever a slide stops, the model there is known as a whole.
        const Slid slid = slide(s.nodes);
        CHECK(slid.at.cost < now.at.cost);
        CHECK(slid.at.reduced.rows() == 4 * slide.free_rows());
        CHECK(slid.at.coefficients.rows() == 4);
    };
    check(LogisticLoss{});
    check(HingeLoss{});
}

TEST_CASE("the price of a kernel is what the cost rises by without it, to rounding", "[slide]") {
    using namespace slide_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 5);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0});
    const Slid now = BoxSlide(kernel, points, box, s.y, s.weights, prior)(s.nodes, {.max_steps = 0});
    const double before = Dense(s.x, s.y, s.weights, s.nodes, prior).cost;
    for (Index j = 0; j < now.size(); ++j) {
        const double rise = Dense(s.x, s.y, s.weights, without_column(s.nodes, j), prior).cost - before;
        REQUIRE(rise > 1e-5);
        CHECK(now.at.price(j) == Approx(rise).epsilon(1e-7));
    }
}

TEST_CASE("a prior on widths costs the square of each log-width, and a slide ends where both agree",
          "[slide]") {
    using namespace slide_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Unexplained s(d, outputs, 3);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0});
    const WidthPrior belief{2.5, 0.4};
    BoxSlide slide(kernel, points, box, s.y, s.weights, prior);
    const Slid without = slide(s.nodes, {.max_steps = 0});
    slide.set_width_prior(belief);
    const auto cost_of = [&](const Matrix& nodes) {
        const auto excess = (nodes.bottomRows(1).array() / belief.typical).log();
        return Dense(s.x, s.y, s.weights, nodes, prior).cost + belief.strength * excess.square().sum();
    };
    const Slid start = slide(s.nodes, {.max_steps = 0});
    CHECK(start.at.cost == Approx(cost_of(s.nodes)).epsilon(1e-9));
    CHECK(start.at.cost > without.at.cost);
    // A kernel that leaves takes its part of the prior along; so damped, nothing slides.
    constexpr double held = 1e12;
    for (Index j = 0; j < start.size(); ++j)
        CHECK(slide.predicted_without(start, j, held) ==
              Approx(cost_of(without_column(s.nodes, j))).epsilon(1e-7));

    const Slid slid = slide(s.nodes, {.max_steps = 400, .least_progress = 1e-14});
    const double least = cost_of(slid.nodes);
    CHECK(slid.at.cost == Approx(least).epsilon(1e-7));
    CHECK(least < start.at.cost);
    constexpr double step = 0.05;
    for (Index j = 0; j < slid.size(); ++j)
        for (const double factor : {1.0 - step, 1.0 + step}) {
            Matrix other = slid.nodes;
            other(d, j) *= factor;
            CHECK(cost_of(other) > least);
        }
}

TEST_CASE("the cost predicted without a kernel is that of a dense damped step without it", "[slide]") {
    using namespace slide_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const double damping = GENERATE(0.1, 3.0);
    const Unexplained s(d, outputs, 4);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(Vector::Constant(d, -9.0), Vector::Constant(d, 9.0), {0.01, 90.0});
    const BoxSlide slide(kernel, points, box, s.y, s.weights, prior);
    const Slid now = slide(s.nodes, {.max_steps = 0});
    for (Index j = 0; j < now.size(); ++j) {
        const Dense rest(s.x, s.y, s.weights, without_column(s.nodes, j), prior);
        const double expected = rest.after_one_step(damping);
        REQUIRE(expected < rest.cost);
        CHECK(rest.cost - slide.predicted_without(now, j, damping) ==
              Approx(rest.cost - expected).epsilon(1e-6));
    }
}

TEST_CASE("a predicted step stays inside the domain", "[slide]") {
    using namespace slide_test;
    const Unexplained s(1, 1, 4);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const CandidateCenters held(s.nodes.topRows(1), {1e-3, 1e3});
    const Slide<Gaussian, CandidateCenters> slide(kernel, points, held, s.y, s.weights, prior);
    const Slid now = slide(s.nodes, {.max_steps = 0});
    const Box pinched(-9.0, 9.0, {0.9, 1.7}), wide(-9.0, 9.0, {0.01, 90.0});
    Matrix at_bounds = s.nodes;
    at_bounds.row(1) << 0.9, 1.7, 0.9, 1.7;
    const BoxSlide bounded(kernel, points, pinched, s.y, s.weights, prior);
    const BoxSlide unbounded(kernel, points, wide, s.y, s.weights, prior);
    const Slid tight = bounded(at_bounds, {.max_steps = 0});
    bool binds = false;
    for (Index j = 0; j < now.size(); ++j) {
        const Dense rest(s.x, s.y, s.weights, without_column(s.nodes, j), prior);
        const double predicted = slide.predicted_without(now, j, 0.1);
        CHECK(predicted <= rest.cost);
        CHECK(predicted >= rest.after_one_step(0.1));  // where centers move too
        const double inside = bounded.predicted_without(tight, j, 0.1);
        const double anywhere = unbounded.predicted_without(tight, j, 0.1);
        CHECK(inside >= anywhere * (1.0 - 1e-12));
        binds = binds || inside > anywhere * (1.0 + 1e-9);
    }
    CHECK(binds);
}

TEST_CASE("kernels out of a tile's reach are left out of the sums at no cost that shows", "[slide]") {
    using namespace slide_test;
    const Index n = 400;
    const Matrix x = Vector::LinSpaced(n, 0.0, 40.0).transpose();
    Matrix nodes(2, 20);
    nodes.row(0) = Vector::LinSpaced(20, 1.0, 39.0).transpose();
    nodes.row(1) = support::uniforms(1, 20, 21, 0.4, 1.0);
    const Matrix y = support::normals(1, n, 22);
    const Vector weights = Vector::Ones(n);
    const Gaussian kernel;
    const detail::TiledPoints points(x);
    const Box box(0.0, 40.0, {0.1, 4.0});
    const Slid now = BoxSlide(kernel, points, box, y, weights, prior)(nodes, {.max_steps = 0});
    const Dense dense(x, y, weights, nodes, prior);
    CHECK(std::abs(now.at.cost - dense.cost) <= 5e-8 * y.squaredNorm());
    CHECK((now.at.coefficients - dense.a).cwiseAbs().maxCoeff() <= 1e-6 * dense.a.cwiseAbs().maxCoeff());
    CHECK(now.at.inverse(0, 19) == Approx(0.0).margin(1e-8));
}

TEST_CASE("a weight of two is the sample twice", "[slide]") {
    using namespace slide_test;
    const Index outputs = GENERATE(1, 2);
    const Unexplained s(1, outputs, 3);
    const Index n = s.x.cols();
    Vector weights = Vector::Ones(n);
    Matrix x(1, n + n / 2), y(outputs, n + n / 2);
    x.leftCols(n) = s.x;
    y.leftCols(n) = s.y;
    for (Index i = 0; i < n / 2; ++i) {
        weights(2 * i) = 2.0;
        x.col(n + i) = s.x.col(2 * i);
        y.col(n + i) = s.y.col(2 * i);
    }
    const Vector ones = Vector::Ones(x.cols());
    const Gaussian kernel;
    const detail::TiledPoints points(s.x), more(x);
    const Box box(-9.0, 9.0, {0.5, 9.0});
    const Slid weighted = BoxSlide(kernel, points, box, s.y, weights, prior)(s.nodes, {.max_steps = 5});
    const Slid repeated = BoxSlide(kernel, more, box, y, ones, prior)(s.nodes, {.max_steps = 5});
    CHECK((weighted.nodes - s.nodes).norm() > 1e-2);
    CHECK((weighted.nodes - repeated.nodes).cwiseAbs().maxCoeff() <= 1e-7);
    CHECK(weighted.at.cost == Approx(repeated.at.cost).epsilon(1e-10));
    CHECK((weighted.at.coefficients - repeated.at.coefficients).cwiseAbs().maxCoeff() <= 1e-6);
}

TEST_CASE("a ridge set later is the ridge set at once, and a slide goes on where it ended", "[slide]") {
    using namespace slide_test;
    const Unexplained s(1, 1, 3);
    const Gaussian kernel;
    const detail::TiledPoints points(s.x);
    const Box box(-9.0, 9.0, {0.5, 9.0});
    BoxSlide slide(kernel, points, box, s.y, s.weights, 0.1);
    slide.set_ridge(prior);
    const BoxSlide other(kernel, points, box, s.y, s.weights, prior);
    const Slid a = slide(s.nodes, {.max_steps = 3}), b = other(s.nodes, {.max_steps = 3});
    CHECK(support::same_bits(a.nodes, b.nodes));
    CHECK(a.at.cost == b.at.cost);
    CHECK(support::same_bits(slide.from(a).nodes, slide(a.nodes).nodes));
    CHECK(slide.from(a).at.cost < a.at.cost);
}

TEST_CASE("coincident kernels and no kernels are safe to slide", "[slide]") {
    using namespace slide_test;
    const Planted truth(1);
    const Gaussian kernel;
    const detail::TiledPoints points(truth.x);
    const Box box(-4.0, 4.0, {0.1, 4.0});
    const double apart = GENERATE(0.0, 1e-12, 1e-9, 1e-6, 1e-3);
    const double small = GENERATE(0.0, 1e-12, 1e-7);
    CAPTURE(apart, small);
    Matrix same(2, 3);
    same << 0.5, 0.5 + apart, 0.5 - apart, 1.0, 1.0 - apart, 1.0;
    const BoxSlide slide(kernel, points, box, truth.y, truth.weights, small);
    for (const Index steps : {0, 40}) {
        const Slid slid = slide(same, {.max_steps = steps});
        CHECK(slid.nodes.allFinite());
        CHECK(slid.at.coefficients.allFinite());
        CHECK(std::isfinite(slid.at.cost));
        CHECK(slid.at.cost <= slide(same, {.max_steps = 0}).at.cost);
        for (Index j = 0; j < 3; ++j) {
            CHECK(std::isfinite(slid.at.price(j)));
            CHECK(slid.at.price(j) >= 0.0);
            CHECK(std::isfinite(slide.predicted_without(slid, j, 0.1)));
        }
    }
    const Slid nothing = slide(Matrix(2, 0));
    CHECK(nothing.size() == 0);
    CHECK(nothing.at.coefficients.cols() == 2);
    CHECK(nothing.at.cost == Approx(truth.y.squaredNorm()));
}
