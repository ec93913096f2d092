#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/concepts.hpp>
#include <kernelet/losses/epsilon_insensitive.hpp>
#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/huber.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/losses/quantile.hpp>
#include <kernelet/losses/squared.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// One suite for all losses. A loss joins with a Truth and its name in the list below.
#define KERNELET_TESTED_LOSSES                                                                      \
    kernelet::SquaredLoss, kernelet::EpsilonInsensitiveLoss, losses_test::Tube, losses_test::Huber, \
        losses_test::ThirdDecile, kernelet::HingeLoss, kernelet::LogisticLoss, losses_test::LogCosh

namespace losses_test {

namespace detail = kernelet::detail;
using kernelet::FeasibleSet;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Projection;
using kernelet::Scope;
using kernelet::Vector;

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Tube : kernelet::EpsilonInsensitiveLoss {
    Tube() : EpsilonInsensitiveLoss(0.15) {}
};
struct Huber : kernelet::HuberLoss {
    Huber() : HuberLoss(0.4) {}
};
struct ThirdDecile : kernelet::QuantileLoss {
    ThirdDecile() : QuantileLoss(0.3) {}
};

/// A user-defined loss, ℓ = log cosh(ŷ − y), with only the required members.
struct LogCosh {
    static constexpr std::string_view name = "log_cosh";
    double value(double prediction, double target) const {
        const double size = std::abs(prediction - target);
        return size + std::log1p(std::expm1(-2.0 * size) / 2.0);  // log((e^r + e^{−r})/2)
    }
    double derivative(double prediction, double target) const { return std::tanh(prediction - target); }
    double level(double tolerance) const { return value(tolerance, 0.0); }
    Interval interval(double target, double tolerance) const {
        return {target - tolerance, target + tolerance};
    }
};

template <class Loss>
struct Truth;

/// Losses of ŷ − y: any target, from numbers in [−1, 1).
struct RegressionTruth {
    static Matrix targets(const Matrix& u) { return 2.0 * u; }
};
/// Losses of yŷ: y = ±1.
struct ClassificationTruth {
    static Matrix targets(const Matrix& u) {
        return u.unaryExpr([](double x) { return x < 0.0 ? -1.0 : 1.0; });
    }
    static Interval slopes(double y) { return y > 0.0 ? Interval{-1.0, 0.0} : Interval{0.0, 1.0}; }
};

template <>
struct Truth<kernelet::SquaredLoss> : RegressionTruth {
    static double formula(double prediction, double target) { return std::pow(prediction - target, 2); }
    static double level(double tolerance) { return tolerance * tolerance; }
    static Interval slopes(double) { return {-infinite, infinite}; }
};
template <>
struct Truth<kernelet::EpsilonInsensitiveLoss> : RegressionTruth {
    static double formula(double prediction, double target) { return std::abs(prediction - target); }
    static double level(double tolerance) { return tolerance; }
    static Interval slopes(double) { return {-1.0, 1.0}; }
};
template <>
struct Truth<Tube> : Truth<kernelet::EpsilonInsensitiveLoss> {
    static double formula(double prediction, double target) {
        return std::max(0.0, std::abs(prediction - target) - 0.15);
    }
};
template <>
struct Truth<Huber> : RegressionTruth {
    static double formula(double prediction, double target) {
        const double r = std::abs(prediction - target);
        return r <= 0.4 ? r * r : 2.0 * 0.4 * r - 0.16;
    }
    static double level(double tolerance) { return formula(tolerance, 0.0); }
    static Interval slopes(double) { return {-0.8, 0.8}; }
};
template <>
struct Truth<ThirdDecile> : RegressionTruth {
    static double formula(double prediction, double target) {
        return std::max(0.3 * (target - prediction), (0.3 - 1.0) * (target - prediction));
    }
    static double level(double tolerance) { return tolerance; }
    static Interval slopes(double) { return {-0.3, 0.7}; }
};
template <>
struct Truth<kernelet::HingeLoss> : ClassificationTruth {
    static double formula(double prediction, double target) {
        return std::max(0.0, 1.0 - target * prediction);
    }
    static double level(double tolerance) { return tolerance; }
};
template <>
struct Truth<kernelet::LogisticLoss> : ClassificationTruth {
    static double formula(double prediction, double target) {
        return std::log(1.0 + std::exp(-target * prediction));
    }
    static double level(double tolerance) { return std::max(tolerance, 2.3e-16); }
};
template <>
struct Truth<LogCosh> : RegressionTruth {
    static double formula(double prediction, double target) {
        return std::log(std::cosh(prediction - target));
    }
    static double level(double tolerance) { return formula(tolerance, 0.0); }
    static Interval slopes(double) { return {-1.0, 1.0}; }
};

const std::vector<double> predictions{-3.0, -1.0, -0.4, 0.0, 0.3, 1.0, 1.7, 4.0};
const std::vector<double> tolerances{0.0, 1e-3, 0.2, 1.0, 3.0};

template <class Loss>
std::vector<double> some_targets() {
    const Matrix values = Truth<Loss>::targets(support::uniforms(1, 6, 3, -1.0, 1.0));
    return {values.data(), values.data() + values.size()};
}

TEMPLATE_TEST_CASE("a loss is its formula, convex, nonnegative", "[losses]", KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>())
        for (const double a : predictions) {
            CHECK(loss.value(a, y) == Approx(Truth<TestType>::formula(a, y)).margin(1e-15));
            CHECK(loss.value(a, y) >= 0.0);
            for (const double b : predictions)
                for (const double s : {0.25, 0.5, 0.9})
                    CHECK(loss.value(s * a + (1.0 - s) * b, y) <=
                          s * loss.value(a, y) + (1.0 - s) * loss.value(b, y) + 1e-12);
        }
    for (const double t : tolerances) CHECK(loss.level(t) == Approx(Truth<TestType>::level(t)).margin(1e-16));
}

TEMPLATE_TEST_CASE("a loss's derivative is a slope of its value", "[losses]", KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    constexpr double h = 1e-6;
    for (const double y : some_targets<TestType>())
        for (const double a : predictions) {
            const double below = (loss.value(a, y) - loss.value(a - h, y)) / h;
            const double above = (loss.value(a + h, y) - loss.value(a, y)) / h;
            CHECK(loss.derivative(a, y) >= below - 1e-8);
            CHECK(loss.derivative(a, y) <= above + 1e-8);
        }
}

TEMPLATE_TEST_CASE("a loss's interval is the level set of its tolerance", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>())
        for (const double t : tolerances) {
            const Interval interval = loss.interval(y, t);
            REQUIRE(interval.lo <= interval.hi);
            const double epsilon = loss.level(t);
            const double beyond = 1e-6 * (1.0 + t);
            if (std::isfinite(interval.lo)) {
                CHECK(loss.value(interval.lo, y) == Approx(epsilon).margin(1e-14));
                CHECK(loss.value(interval.lo - beyond, y) > epsilon);
            } else {
                CHECK(loss.value(-1e6, y) <= epsilon);
            }
            if (std::isfinite(interval.hi)) {
                CHECK(loss.value(interval.hi, y) == Approx(epsilon).margin(1e-14));
                CHECK(loss.value(interval.hi + beyond, y) > epsilon);
            } else {
                CHECK(loss.value(1e6, y) <= epsilon);
            }
        }
}

TEMPLATE_TEST_CASE("argmin is the lowest point of its box", "[losses]", KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>())
        for (const double lambda : {-5.0, -0.5, -0.3, 0.0, 0.02, 0.5, 7.0})
            for (const double mu : {0.0, 1e-300, 0.01, 1.0, 30.0})
                for (const double radius : {0.0, 0.1, 2.0}) {
                    const double best = detail::argmin(loss, lambda, mu, y, radius);
                    CHECK(std::abs(best - y) <= radius + 1e-15 * std::abs(y));
                    const auto value = [&](double p) { return mu * loss.value(p, y) + lambda * p; };
                    for (int k = -20; k <= 20; ++k) {
                        const double other = y + radius * k / 20.0;
                        CHECK(value(best) <= value(other) + 1e-12);
                        const double near = best + 1e-4 * k;
                        if (std::abs(near - y) <= radius) CHECK(value(best) <= value(near) + 1e-12);
                    }
                }
}

TEMPLATE_TEST_CASE("the conjugate is the loss seen from its slopes", "[losses]", KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>()) {
        const Interval range = Truth<TestType>::slopes(y);
        for (const double a : predictions) {
            const double at = loss.derivative(a, y);
            // Fenchel and Young: ℓ + ℓ* ≥ sŷ, with equality at the slope; so the conjugate of ℓ* is ℓ again
            CHECK(detail::conjugate(loss, at, y) + loss.value(a, y) == Approx(at * a).margin(1e-12));
            for (const double s : {-2.5, -1.0, -0.8, -0.3, -1e-3, 0.0, 0.2, 0.7, 1.0, 3.0})
                CHECK(detail::conjugate(loss, s, y) + loss.value(a, y) >= s * a - 1e-12);
        }
        for (const double s : {-0.95, -0.65, -0.25, -0.02, 0.01, 0.28, 0.5, 0.9}) {
            const double conjugate = detail::conjugate(loss, s, y);
            CHECK(std::isfinite(conjugate) == range.contains(s));
            double found = -infinite;
            for (int k = -40000; k <= 40000; k += 1) {
                const double p = y + 2e-4 * k;
                found = std::max(found, s * p - loss.value(p, y));
            }
            if (range.contains(s)) CHECK(conjugate == Approx(found).margin(1e-6));
        }
        for (const double end : {range.lo, range.hi})
            if (std::isfinite(end)) {
                CHECK(std::isfinite(detail::conjugate(loss, end, y)));
                CHECK(detail::conjugate(loss, end + (end == range.lo ? -1e-9 : 1e-9), y) == infinite);
            }
        const Interval seen = detail::slopes(loss, y);
        CHECK((seen.lo == Approx(range.lo).margin(1e-300) || seen.lo < -1e100));
        CHECK((seen.hi == Approx(range.hi).margin(1e-300) || seen.hi > 1e100));
    }
}

TEMPLATE_TEST_CASE("proximal obeys Moreau's identity", "[losses]", KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>())
        for (const double v : {-1e8, -50.0, -3.0, -1.0, 0.1, 0.9, 1.0, 4.0, 1e5})
            for (const double kappa : {1e-12, 0.01, 0.7, 5.0, 1e4, 1e12}) {
                const double p = detail::proximal(loss, v, kappa, y);
                // (v − p)/κ is a slope at p, and there ℓ + ℓ* = sŷ
                const Interval range = Truth<TestType>::slopes(y);
                const double s = (v - p) / kappa;
                const double rounding = 1e-15 * (1.0 + std::abs(v) + std::abs(p)) * (1.0 + 1.0 / kappa);
                INFO("v " << v << ", kappa " << kappa << ", y " << y << ", p " << p);
                CHECK(std::abs(s - range.clamp(s)) <= 4.0 * rounding);
                const double gap = detail::conjugate(loss, range.clamp(s), y) + loss.value(p, y);
                CHECK(gap == Approx(range.clamp(s) * p)
                                 .epsilon(1e-12)
                                 .margin(1e-12 + 1e2 * rounding * (1.0 + std::abs(p))));
                // and the slope, by differences where both sides agree and no kink is between
                const double h = 1e-5 * (1.0 + std::abs(v));
                const double up = detail::proximal(loss, v + h, kappa, y),
                             down = detail::proximal(loss, v - h, kappa, y);
                const double slope = detail::proximal_slope(loss, v, kappa, y, p);
                CHECK(slope >= 0.0);
                CHECK(slope <= 1.0);
                if (kappa > 10.0 * h && std::abs((up - p) - (p - down)) < 1e-4 * h)
                    CHECK(slope == Approx((up - down) / (2.0 * h)).margin(2e-4));
            }
}

TEMPLATE_TEST_CASE("a loss outside the box of Algorithm 1 exceeds its bound", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    const TestType loss{};
    for (const double y : some_targets<TestType>())
        for (const double t : {0.0, 0.1, 0.9})
            for (const double samples : {1.0, 30.0}) {
                const double distance = detail::farthest(loss, y, t, samples);
                REQUIRE(std::isfinite(distance));
                const Interval bounds = loss.interval(y, t);
                const double beyond = 1.001 * distance + 1e-9;
                if (std::isfinite(bounds.lo)) CHECK(loss.value(y - beyond, y) > samples * loss.level(t));
                if (std::isfinite(bounds.hi)) CHECK(loss.value(y + beyond, y) > samples * loss.level(t));
            }
}

/// The parts of a feasible set, for brute force.
struct Setting {
    Index outputs{}, n{};
    Scope scope{};
    bool weighted{};
    double tolerance{};
};

const std::vector<Setting> settings{
    {1, 1, Scope::aggregate, false, 0.3},  {1, 6, Scope::aggregate, false, 0.3},
    {1, 6, Scope::aggregate, true, 0.3},   {3, 4, Scope::aggregate, true, 0.1},
    {1, 6, Scope::per_sample, false, 0.3}, {3, 4, Scope::per_sample, true, 0.1},
    {2, 3, Scope::aggregate, true, 0.0},   {1, 5, Scope::aggregate, true, 2.0},
};

template <class Loss>
FeasibleSet<Loss> feasible_set(const Setting& s, std::uint64_t seed) {
    Vector weights = Vector::Ones(s.n);
    if (s.weighted) weights = support::uniforms(s.n, 1, seed + 1, 0.05, 4.0);
    Vector each = Vector::Constant(s.n, s.tolerance);
    if (s.scope == Scope::per_sample) each.array() *= 0.5 + support::uniforms(s.n, 1, seed + 2).array();
    return {Loss{}, Truth<Loss>::targets(support::uniforms(s.outputs, s.n, seed, -1.0, 1.0)), s.scope, each,
            weights};
}

/// Whether ŷ is inside, from the loss alone: Σ wℓ ≤ εqΣw, or each ℓ ≤ ε.
template <class Loss>
bool inside(const FeasibleSet<Loss>& set, const Matrix& prediction, double slack = 1e-12) {
    double sum = 0.0, bound = 0.0;
    for (Index i = 0; i < prediction.cols(); ++i)
        for (Index o = 0; o < prediction.rows(); ++o) {
            const double value = set.loss().value(prediction(o, i), set.target()(o, i));
            const double epsilon = set.loss().level(set.tolerance(i));
            if (set.scope() == Scope::per_sample && value > epsilon + slack) return false;
            sum += set.weights()(i) * value;
            bound += set.weights()(i) * epsilon;
        }
    return set.scope() == Scope::per_sample || sum <= bound + slack * (1.0 + bound);
}

/// A random point of C on its boundary: from a random point far out, back along the line to a point of C.
template <class Loss>
Matrix boundary_point(const FeasibleSet<Loss>& set, const Matrix& within, std::uint64_t seed) {
    const Matrix direction = support::normals(within.rows(), within.cols(), seed);
    double lo = 0.0, hi = 1.0;
    while (inside(set, within + hi * direction, 0.0) && hi < 1e6) hi *= 2.0;
    for (int step = 0; step < 60; ++step) {
        const double middle = 0.5 * (lo + hi);
        (inside(set, within + middle * direction, 0.0) ? lo : hi) = middle;
    }
    return within + lo * direction;
}

/// A point well inside of C: the target, or a margin above what is asked where it may grow.
template <class Loss>
Matrix best_point(const FeasibleSet<Loss>& set) {
    Matrix point = set.target();
    for (Index i = 0; i < point.cols(); ++i)
        for (Index o = 0; o < point.rows(); ++o) {
            const Interval bounds = set.loss().interval(point(o, i), 0.5 * set.tolerance(i));
            if (std::isinf(bounds.hi)) point(o, i) = bounds.lo + 1.0;
            if (std::isinf(bounds.lo)) point(o, i) = bounds.hi - 1.0;
        }
    return point;
}

/// Random multipliers for which the minimum is finite.
template <class Loss>
Matrix multipliers(const FeasibleSet<Loss>& set, std::uint64_t seed) {
    const Matrix lambda = support::normals(set.target().rows(), set.target().cols(), seed);
    if (!detail::is_classification<Loss>()) return lambda;
    return lambda.cwiseAbs().cwiseProduct(set.target());
}

TEMPLATE_TEST_CASE("minimum is the least of the linear function over the feasible set", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    std::uint64_t seed = 100;
    for (const Setting& s : settings) {
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        for (std::uint64_t draw = 0; draw < 5; ++draw) {
            const Matrix lambda = multipliers(set, seed + 1000 * draw);
            const double least = set.minimum(lambda);
            REQUIRE(std::isfinite(least));
            double found = infinite;
            const Matrix within = best_point(set);
            REQUIRE(inside(set, within));
            for (std::uint64_t k = 0; k < 60; ++k) {
                const Matrix point = boundary_point(set, within, seed + 7 * k + 1);
                found = std::min(found, lambda.cwiseProduct(point).sum());
            }
            CHECK(found >= least - 1e-10);
            // Attained in the limit: the nearest point of C to −sλ as s grows.
            const Matrix far = set.project(-1e5 * lambda).point;
            CHECK(lambda.cwiseProduct(far).sum() >= least - 1e-9);
            CHECK(lambda.cwiseProduct(far).sum() == Approx(least).epsilon(1e-3).margin(1e-4));
            CHECK(set.minimum(2.5 * lambda) == Approx(2.5 * least));
        }
        CHECK(set.minimum(Matrix::Zero(s.outputs, s.n)) == 0.0);
    }
}

TEMPLATE_TEST_CASE("project is the nearest point of the feasible set", "[losses]", KERNELET_TESTED_LOSSES) {
    std::uint64_t seed = 200;
    for (const Setting& s : settings) {
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        const Matrix within = best_point(set);
        for (const double size : {0.05, 1.0, 30.0, 1e8})
            for (std::uint64_t draw = 0; draw < 4; ++draw) {
                const Matrix v = within + size * support::normals(s.outputs, s.n, seed + 100 * draw + 5);
                const Matrix p = set.project(v).point;
                CHECK(inside(set, p, 1e-7 * (1.0 + size * 1e-8)));
                // ⟨v − p, c − p⟩ ≤ 0 for every c of C
                for (std::uint64_t k = 0; k < 30; ++k) {
                    const Matrix c = boundary_point(set, within, seed + 11 * k + 2);
                    CHECK((v - p).cwiseProduct(c - p).sum() <=
                          1e-9 * (1.0 + size) + 2e-15 * size * (v - p).cwiseAbs().sum());
                }
                // and once more: what is inside stays
                const Matrix again = set.project(p).point;
                CHECK((again - p).cwiseAbs().maxCoeff() <= 1e-9 * (1.0 + size * 1e-8));
                CHECK(set.violation(p) <= 1e-9 * (1.0 + size * 1e-8));
                if (s.tolerance > 0.0) CHECK((set.violation(v) > 1e-6) == !inside(set, v, 1e-6));
            }
        CHECK(support::same_bits(set.project(within).point, within));
        CHECK(set.violation(within) == 0.0);
    }
}

TEMPLATE_TEST_CASE("violation is a distance in the unit of y", "[losses]", KERNELET_TESTED_LOSSES) {
    for (const Setting& s : settings) {
        const auto set = feasible_set<TestType>(s, 300);
        const Matrix v = best_point(set) + 2.0 * support::normals(s.outputs, s.n, 301);
        const Matrix distance = v - set.project(v).point;
        const double expected = s.scope == Scope::aggregate ? std::sqrt(distance.array().square().mean())
                                                            : distance.cwiseAbs().maxCoeff();
        CHECK(set.violation(v) == Approx(expected));
    }
}

Matrix jacobian(const Projection& p) {
    const Vector direction = p.direction.reshaped();
    Matrix j = -direction * direction.transpose();
    j.diagonal() += p.diagonal.reshaped();
    return j;
}

TEMPLATE_TEST_CASE("the Jacobian of the projection is its derivative", "[losses]", KERNELET_TESTED_LOSSES) {
    std::uint64_t seed = 400;
    constexpr double h = 1e-6;
    for (const Setting& s : settings) {
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        for (const double size : {0.01, 1.0, 5.0}) {  // inside, and outside
            const Matrix v = best_point(set) + size * support::normals(s.outputs, s.n, seed + 5);
            const Matrix j = jacobian(set.project(v));
            for (Index k = 0; k < v.size(); ++k) {
                Matrix less = v, more = v;
                less(k) -= h;
                more(k) += h;
                const Matrix slope = (set.project(more).point - set.project(less).point) / (2.0 * h);
                INFO("q " << s.outputs << ", n " << s.n << ", size " << size);
                CHECK((j.col(k) - slope.reshaped()).cwiseAbs().maxCoeff() <= 1e-7);
            }
        }
    }
}

TEMPLATE_TEST_CASE("prox is optimal: of -min<., y> + |. - v|^2/2 eta", "[losses]", KERNELET_TESTED_LOSSES) {
    std::uint64_t seed = 500;
    for (const Setting& s : settings) {
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        for (const double eta : {0.1, 1.0, 20.0}) {
            const Matrix v = 3.0 * support::normals(s.outputs, s.n, seed + 3);
            const Matrix best = set.prox(v, eta);
            const auto value = [&](const Matrix& lambda) {
                return -set.minimum(lambda) + (lambda - v).squaredNorm() / (2.0 * eta);
            };
            REQUIRE(std::isfinite(value(best)));
            for (std::uint64_t k = 0; k < 60; ++k) {
                const Matrix direction = support::normals(s.outputs, s.n, seed + k + 77);
                for (const double step : {1e-3, 0.1, 1.0})
                    CHECK(value(best) <= value(best + step * direction) + 1e-9);
            }
            CHECK(value(best) < value(v) + 1e-9);
        }
    }
}

TEMPLATE_TEST_CASE("mean_loss is the weighted mean", "[losses]", KERNELET_TESTED_LOSSES) {
    const Setting s{3, 4, Scope::aggregate, true, 0.1};
    const auto set = feasible_set<TestType>(s, 600);
    const Matrix v = support::normals(3, 4, 601);
    double sum = 0.0, weight = 0.0;
    for (Index i = 0; i < 4; ++i)
        for (Index o = 0; o < 3; ++o) {
            sum += set.weights()(i) * Truth<TestType>::formula(v(o, i), set.target()(o, i));
            weight += set.weights()(i);
        }
    CHECK(set.mean_loss(v) == Approx(sum / weight));
}

TEMPLATE_TEST_CASE("minimum over two samples is what a search along the boundary finds", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    for (std::uint64_t draw = 0; draw < 6; ++draw) {
        const auto set = feasible_set<TestType>({1, 2, Scope::aggregate, true, 0.4}, 800 + 10 * draw);
        const Matrix lambda = multipliers(set, 900 + draw);
        const Matrix& y = set.target();
        const Vector& w = set.weights();
        const double bound = Truth<TestType>::level(0.4) * w.sum();
        const auto loss = [&](double p, Index i) { return w(i) * Truth<TestType>::formula(p, y(i)); };
        // no loss worth mentioning
        const Matrix start = best_point(set) + (detail::is_classification<TestType>() ? 30.0 : 0.0) * y;
        // the lowest λ_1 ŷ_1 with w_1 ℓ(ŷ_1) ≤ left, by halving
        const auto lowest = [&](double left) {
            double in = start(1), out = in - std::copysign(500.0, lambda(1));
            if (loss(in, 1) > left) return infinite;
            for (int step = 0; step < 60; ++step) {
                const double middle = 0.5 * (in + out);
                (loss(middle, 1) <= left ? in : out) = middle;
            }
            return lambda(1) * in;
        };
        const auto value = [&](double p) {
            const double left = bound - loss(p, 0);
            return left < 0.0 ? infinite : lambda(0) * p + lowest(left);
        };
        // convex in ŷ_0; both ends of the search are worse than what is between
        double lo = start(0), hi = lo - std::copysign(500.0, lambda(0));
        for (int step = 0; step < 200; ++step) {
            const double a = lo + (hi - lo) / 3.0, b = hi - (hi - lo) / 3.0;
            if (value(a) <= value(b) || value(b) == infinite)
                hi = b;
            else
                lo = a;
        }
        CHECK(set.minimum(lambda) == Approx(value(lo)).epsilon(1e-7).margin(1e-7));
        CHECK(set.minimum(lambda) <= value(lo) + 1e-9);
    }
}

TEMPLATE_TEST_CASE("a weight of 2 is a sample written twice", "[losses]", KERNELET_TESTED_LOSSES) {
    const Matrix y = Truth<TestType>::targets(support::uniforms(2, 4, 31, -1.0, 1.0));
    Vector w = Vector::Ones(4);
    w(2) = 2.0;
    const std::vector<Index> twice{0, 1, 2, 2, 3};
    const FeasibleSet<TestType> weighted(TestType{}, y, Scope::aggregate, Vector::Constant(4, 0.3), w);
    const FeasibleSet<TestType> written(TestType{}, y(Eigen::all, twice), Scope::aggregate,
                                        Vector::Constant(5, 0.3), Vector::Ones(5));
    const Matrix lambda = multipliers(weighted, 32);
    Matrix split = lambda(Eigen::all, twice);
    split.middleCols(2, 2) *= 0.5;
    CHECK(weighted.minimum(lambda) == Approx(written.minimum(split)));
    const Matrix v = best_point(weighted) + 2.0 * support::normals(2, 4, 33);
    CHECK(weighted.mean_loss(v) == Approx(written.mean_loss(v(Eigen::all, twice))));
    const Matrix p = weighted.project(v).point;
    CHECK(written.violation(p(Eigen::all, twice)) <= 1e-12);
}

TEMPLATE_TEST_CASE("outside of the barrier cone is minus infinity, but for rounding", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    for (const Setting& s : settings) {
        const auto set = feasible_set<TestType>(s, 1000);
        Matrix lambda = multipliers(set, 1001);
        const double before = set.minimum(lambda);
        CHECK(support::same_bits(set.into_barrier_cone(lambda), lambda));
        lambda(0) = 0.0;
        const double without = set.minimum(lambda);
        lambda(0) = -1e-15 * set.target()(0);
        if (s.n > 1) CHECK(set.minimum(lambda) == Approx(without).margin(1e-12));
        lambda(0) = -1e-6 * set.target()(0);
        CHECK(std::isfinite(set.minimum(lambda)) == !detail::is_classification<TestType>());
        CHECK(std::isfinite(set.minimum(set.into_barrier_cone(lambda))));
        CHECK(set.into_barrier_cone(lambda)(0) == (detail::is_classification<TestType>() ? 0.0 : lambda(0)));
        CHECK(std::isfinite(before));
    }
}

/// A loss with only the required members and no closed forms.
template <class Loss>
struct Bare {
    static constexpr std::string_view name = Loss::name;
    double value(double prediction, double target) const { return loss.value(prediction, target); }
    double derivative(double prediction, double target) const { return loss.derivative(prediction, target); }
    double level(double tolerance) const { return loss.level(tolerance); }
    Interval interval(double target, double tolerance) const { return loss.interval(target, tolerance); }
    Loss loss{};
};

TEMPLATE_TEST_CASE("searches find what the closed forms say", "[losses]", KERNELET_TESTED_LOSSES) {
    static_assert(kernelet::ConvexLoss<Bare<TestType>> && !detail::HasProximal<Bare<TestType>>);
    const TestType loss{};
    const Bare<TestType> bare{};
    for (const double y : some_targets<TestType>())
        for (const double v : {-1e8, -3.0, -1.0, 0.1, 1.0, 1.2, 4.0})
            for (const double kappa : {1e-9, 0.1, 1.0, 40.0, 1e6}) {
                const double p = detail::proximal(loss, v, kappa, y);
                INFO("v " << v << ", kappa " << kappa << ", y " << y);
                CHECK(detail::proximal(bare, v, kappa, y) ==
                      Approx(p).epsilon(1e-13).margin(1e-14 * (1.0 + std::abs(v))));
                CHECK(detail::argmin(bare, v, kappa, y, 3.0) ==
                      Approx(detail::argmin(loss, v, kappa, y, 3.0)).margin(1e-9));
                CHECK(detail::conjugate(bare, v / kappa, y) ==
                      Approx(detail::conjugate(loss, v / kappa, y)).margin(1e-12));
            }
    std::uint64_t seed = 1100;
    for (const Setting& s : settings) {
        if (s.scope == Scope::per_sample) continue;
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        const FeasibleSet<Bare<TestType>> searched({}, set.target(), s.scope,
                                                   Vector::Constant(s.n, s.tolerance), set.weights());
        const Matrix lambda = multipliers(set, seed + 4);
        CHECK(searched.minimum(lambda) == Approx(set.minimum(lambda)).epsilon(1e-10).margin(1e-10));
        for (const double size : {0.1, 3.0, 1e3}) {
            const Matrix v = best_point(set) + size * support::normals(s.outputs, s.n, seed + 5);
            const Projection p = set.project(v), found = searched.project(v);
            CHECK((found.point - p.point).cwiseAbs().maxCoeff() <= 1e-12 * (1.0 + size));
            CHECK((jacobian(found) - jacobian(p)).cwiseAbs().maxCoeff() <= 1e-6);
        }
    }
}

TEST_CASE("minimum has a closed form where the loss is piecewise linear", "[losses]") {
    const Setting s{2, 5, Scope::aggregate, true, 0.3};
    const auto tube = feasible_set<Tube>(s, 1200);
    const auto decile = feasible_set<ThirdDecile>(s, 1200);
    const auto hinge = feasible_set<kernelet::HingeLoss>(s, 1200);
    const double bound = 0.3 * 2.0 * tube.weights().sum();
    const Matrix over_weight = Vector::Ones(2) * tube.weights().cwiseInverse().transpose();
    const Matrix lambda = support::normals(2, 5, 1201);
    const Matrix price = lambda.cwiseProduct(over_weight);
    const double linear = lambda.cwiseProduct(tube.target()).sum();
    // ⟨λ, y⟩ − ε Σ|λ| − E max |λ|/w
    CHECK(
        tube.minimum(lambda) ==
        Approx(linear - 0.15 * lambda.cwiseAbs().sum() - bound * price.cwiseAbs().maxCoeff()).epsilon(1e-14));
    // ⟨λ, y⟩ − E max(λ/wτ, −λ/w(1 − τ))
    CHECK(decile.minimum(lambda) ==
          Approx(linear - bound * std::max(price.maxCoeff() / 0.3, -price.minCoeff() / 0.7)).epsilon(1e-14));
    // Σ yλ − E max yλ/w
    const Matrix right = lambda.cwiseAbs().cwiseProduct(hinge.target());
    CHECK(hinge.minimum(right) ==
          Approx(lambda.cwiseAbs().sum() - bound * price.cwiseAbs().maxCoeff()).epsilon(1e-14));
}

TEST_CASE("huber without a delta is the squared loss until it is adapted", "[losses]") {
    const kernelet::HuberLoss open, set(0.7);
    const kernelet::SquaredLoss squared;
    CHECK(open.delta() == infinite);
    for (const double p : predictions) {
        CHECK(open.value(p, 0.4) == squared.value(p, 0.4));
        CHECK(open.derivative(p, 0.4) == squared.derivative(p, 0.4));
        CHECK(open.proximal(p, 0.6, 0.4) == squared.proximal(p, 0.6, 0.4));
        CHECK(open.conjugate(p, 0.4) == squared.conjugate(p, 0.4));
        for (const double mu : {0.0, 0.3})
            CHECK(open.argmin(p, mu, 0.4, 2.0) == squared.argmin(p, mu, 0.4, 2.0));
    }
    const Setting s{2, 5, Scope::aggregate, true, 0.3};
    const auto a = feasible_set<kernelet::SquaredLoss>(s, 1300);
    const FeasibleSet<kernelet::HuberLoss> b(open, a.target(), s.scope, Vector::Constant(5, 0.3),
                                             a.weights());
    const Matrix v = 3.0 * support::normals(2, 5, 1301);
    CHECK(b.minimum(v) == Approx(a.minimum(v)).epsilon(1e-12));
    CHECK((jacobian(b.project(v)) - jacobian(a.project(v))).isZero(1e-12));

    CHECK(open.adapted(2.0).delta() == Approx(2.69));
    CHECK(open.adapted(0.0).delta() == infinite);
    CHECK(open.adapted(0.0).adapted(2.0).delta() == Approx(2.69));
    CHECK(set.adapted(2.0).delta() == 0.7);
    CHECK(open.adapted(2.0).adapted(1.0).delta() == Approx(2.69));
    CHECK(detail::adapted(open, 2.0).delta() == Approx(2.69));
    CHECK(detail::adapted(kernelet::QuantileLoss(0.2), 2.0).quantile() == 0.2);
    CHECK(support::refusal([&] { open.adapted(-1.0); }).find("noise_deviation") != std::string::npos);
}

TEST_CASE("losses name a parameter that is out of its range", "[losses]") {
    for (const double wrong : {-0.1, infinite, std::nan("")}) {
        const auto says = [&](const auto& call, const char* name) {
            return support::refusal(call).find(name) != std::string::npos;
        };
        CHECK(says([&] { kernelet::EpsilonInsensitiveLoss{wrong}; }, "loss.epsilon"));
        CHECK(says([&] { kernelet::HuberLoss{wrong}; }, "loss.delta"));
        CHECK(says([&] { kernelet::QuantileLoss{wrong}; }, "loss.quantile"));
    }
    CHECK_FALSE(support::refusal([] { kernelet::HuberLoss{0.0}; }).empty());
    CHECK_FALSE(support::refusal([] { kernelet::QuantileLoss{0.0}; }).empty());
    CHECK_FALSE(support::refusal([] { kernelet::QuantileLoss{1.0}; }).empty());
}

TEST_CASE("the logistic loss neither overflows nor loses digits", "[losses]") {
    const kernelet::LogisticLoss loss;
    CHECK(loss.value(-1e5, 1.0) == 1e5);
    CHECK(loss.value(1e5, 1.0) == 0.0);
    CHECK(loss.value(50.0, 1.0) == Approx(std::exp(-50.0)));
    CHECK(loss.derivative(1e5, -1.0) == 1.0);
    CHECK(loss.derivative(-1e5, -1.0) == 0.0);
    CHECK(loss.interval(1.0, 800.0).lo == Approx(-800.0));
    CHECK(loss.interval(-1.0, 1e-10).hi == Approx(std::log(1e-10)));
    CHECK(kernelet::LogisticLoss::probability(0.0) == 0.5);
    CHECK(kernelet::LogisticLoss::probability(2.0) == Approx(1.0 / (1.0 + std::exp(-2.0))));
    CHECK(kernelet::LogisticLoss::probability(-1e5) == 0.0);
    CHECK(kernelet::LogisticLoss::probability(1e5) == 1.0);
}

TEST_CASE("a monotone root is found at any scale, also where the function jumps", "[losses]") {
    for (const double root : {1e-200, 3e-7, 0.7, 5.0, 1e140}) {
        int calls = 0;
        const auto jump = [&](double x) { return ++calls, x < root ? -2.0 : 0.0; };
        const auto line = [&](double x) { return ++calls, x - root; };
        const auto cube = [&](double x) { return ++calls, std::pow(x / root, 3) - 1.0; };
        CHECK(detail::monotone_root(jump, {0.0, -2.0}, {1e150, 0.0}) == Approx(root).epsilon(1e-15));
        CHECK(calls <= 200);
        calls = 0;
        CHECK(detail::monotone_root(line, {0.0, -root}, {4.0 * root, 3.0 * root}) ==
              Approx(root).epsilon(1e-15));
        CHECK(calls <= 10);
        calls = 0;
        CHECK(detail::monotone_root(cube, {0.0, -1.0}, {4.0 * root, 63.0}) == Approx(root).epsilon(1e-15));
        CHECK(calls <= 30);
        CHECK(detail::monotone_root(cube, {0.0, -1.0}, 1e-3).value() == Approx(root).epsilon(1e-15));
    }
    CHECK_FALSE(detail::monotone_root([](double) { return -1.0; }, {0.0, -1.0}, 1.0).has_value());
}

TEST_CASE("where a decreasing function falls to a bound", "[losses]") {
    for (const double root : {1e-200, 1e-3, 1.0, 7.0, 1e150}) {
        Index calls = 0;
        const auto hebden = [&](double x) {  // its T^(-1/2) is a line
            return ++calls, detail::Sloped{4.0 / std::pow(1.0 + x / root, 2),
                                           -8.0 / root / std::pow(1.0 + x / root, 3)};
        };
        CAPTURE(root);
        CHECK(detail::decreasing_root(hebden, 1.0, 0.1 * root).value() == Approx(root).epsilon(1e-13));
        CHECK(calls <= 4);
        calls = 0;
        CHECK(detail::decreasing_root(hebden, 1.0, 1e3 * root).value() == Approx(root).epsilon(1e-13));
        CHECK(calls <= 20);
        const auto bent = [&](double x) {  // convex, then flat: Newton steps leave the bracket
            return ++calls, detail::Sloped{std::exp(1.0 - x / root) + 1e-3, -std::exp(1.0 - x / root) / root};
        };
        calls = 0;
        CHECK(detail::decreasing_root(bent, 1.0 + 1e-3, 1e-6 * root).value() == Approx(root).epsilon(1e-12));
        CHECK(detail::decreasing_root(bent, 1.0 + 1e-3, 500.0 * root).value() == Approx(root).epsilon(1e-12));
        CHECK(calls <= 100);
    }
    CHECK_FALSE(detail::decreasing_root([](double) { return detail::Sloped{2.0, 0.0}; }, 1.0, 1.0));
}

TEST_CASE("tolerance 0 leaves the target alone", "[losses]") {
    for (const Scope scope : {Scope::aggregate, Scope::per_sample}) {
        const auto set = feasible_set<kernelet::SquaredLoss>({2, 5, scope, true, 0.0}, 700);
        const Matrix v = support::normals(2, 5, 701);
        const Projection p = set.project(v);
        CHECK(support::same_bits(p.point, set.target()));
        CHECK(jacobian(p).isZero(0.0));
        CHECK(set.minimum(v) == Approx(v.cwiseProduct(set.target()).sum()));
        CHECK(set.violation(set.target()) == 0.0);
        CHECK(set.violation(v) > 0.0);
        CHECK((set.prox(v, 0.5) - (v + 0.5 * set.target())).isZero(1e-15));
        const Projection at_target = set.project(set.target());
        CHECK(support::same_bits(at_target.point, set.target()));
    }
}

TEST_CASE("a sample at the very bound of the ellipsoid is inside of it", "[losses]") {
    // R = t √n, reached by one residual alone.
    const Matrix y = Matrix::Zero(1, 4);
    const FeasibleSet<kernelet::SquaredLoss> set({}, y, Scope::aggregate, Vector::Constant(4, 0.25),
                                                 Vector::Ones(4));
    Matrix v = y;
    v(0, 2) = 0.5;
    CHECK(set.violation(v) == 0.0);
    v(0, 2) = 0.5 + 1e-6;
    CHECK(set.violation(v) == Approx(0.5e-6));
}

/// ℓ = max(0, 1 − yŷ): an interval of infinite length. Enough of a loss for the per-sample scope.
struct HalfLine : kernelet::SquaredLoss {
    double value(double p, double y) const { return std::max(0.0, 1.0 - p * y); }
    Interval interval(double y, double t) const {
        return y > 0.0 ? Interval{1.0 - t, infinite} : Interval{-infinite, t - 1.0};
    }
};

TEST_CASE("an unbounded interval: 0 times infinity is 0, outside the barrier cone is minus infinity",
          "[losses]") {
    Matrix y(1, 3);
    y << 1.0, -1.0, 1.0;
    const FeasibleSet<HalfLine> set({}, y, Scope::per_sample, Vector::Constant(3, 0.5), Vector::Ones(3));
    Matrix lambda(1, 3);
    lambda << 2.0, -1.0, 0.0;
    CHECK(set.minimum(lambda) == Approx(2.0 * 0.5 + 1.0 * 0.5));
    lambda(0, 2) = -1e-3;
    CHECK(set.minimum(lambda) == -std::numeric_limits<double>::infinity());
    Matrix v(1, 3);
    v << 0.0, 0.0, 9.0;
    Matrix nearest(1, 3);
    nearest << 0.5, -0.5, 9.0;
    CHECK(support::same_bits(set.project(v).point, nearest));
    CHECK(set.prox(v, 1.0).allFinite());
    CHECK(set.minimum(set.prox(v, 1.0)) > -std::numeric_limits<double>::infinity());
}

}  // namespace losses_test

TEST_CASE("the proximal map of the logistic loss by the run is that number by number, from any guess",
          "[losses]") {
    using namespace kernelet;
    const double kappa = GENERATE(1e-9, 1e-3, 0.5, 1.0, 7.0, 1e4, 1e12, 1e60);
    const double guessed = GENERATE(1e-6, 1.0, 1e6);
    CAPTURE(kappa, guessed);
    constexpr Index n = 150;
    const LogisticLoss loss;
    Vector point = 20.0 * support::normals(n, 1, 81), y(n), found(n);
    point(0) = 1e8;
    point(1) = -1e8;
    for (Index i = 0; i < n; ++i) y(i) = i % 3 == 0 ? -1.0 : 1.0;
    for (Index i = 0; i < n; ++i) found(i) = loss.proximal(point(i), guessed, y(i));
    using Run = Eigen::Map<const Eigen::ArrayXd>;
    const Vector kappas = Vector::Constant(n, kappa);
    Eigen::Map<Eigen::ArrayXd> out(found.data(), n);
    loss.proximals(Run(point.data(), n), Run(kappas.data(), n), Run(y.data(), n), out);
    for (Index i = 0; i < n; ++i) {
        const double exact = loss.proximal(point(i), kappa, y(i));
        CHECK(std::abs(found(i) - exact) <= 1e-13 * std::max(1.0, std::abs(exact)));
    }
}
