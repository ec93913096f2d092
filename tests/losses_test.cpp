#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/concepts.hpp>
#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/losses/squared.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// One suite for all losses. A loss joins with a Truth and its name in the list below.
#define KERNELET_TESTED_LOSSES kernelet::SquaredLoss

namespace losses_test {

using kernelet::FeasibleSet;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Projection;
using kernelet::Scope;
using kernelet::Vector;

template <class Loss>
struct Truth;

template <>
struct Truth<kernelet::SquaredLoss> {
    static double formula(double prediction, double target) { return std::pow(prediction - target, 2); }
    static double level(double tolerance) { return tolerance * tolerance; }
    /// Targets the loss is defined for, from numbers in [−1, 1).
    static Matrix targets(const Matrix& u) { return 2.0 * u; }
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
    for (const double t : tolerances) CHECK(loss.level(t) == Approx(Truth<TestType>::level(t)));
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
        for (const double lambda : {-5.0, -0.3, 0.0, 0.02, 7.0})
            for (const double mu : {0.0, 1e-300, 0.01, 1.0, 30.0})
                for (const double radius : {0.0, 0.1, 2.0}) {
                    const double best = loss.argmin(lambda, mu, y, radius);
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

/// What a feasible set is made of, for brute force.
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

/// A point of C: every loss at its least.
template <class Loss>
Matrix best_point(const FeasibleSet<Loss>& set) {
    Matrix point(set.target().rows(), set.target().cols());
    for (Index k = 0; k < point.size(); ++k) point(k) = set.loss().argmin(0.0, 1.0, set.target()(k), 10.0);
    return point;
}

TEMPLATE_TEST_CASE("minimum is the least of the linear function over the feasible set", "[losses]",
                   KERNELET_TESTED_LOSSES) {
    std::uint64_t seed = 100;
    for (const Setting& s : settings) {
        seed += 10;
        const auto set = feasible_set<TestType>(s, seed);
        for (std::uint64_t draw = 0; draw < 5; ++draw) {
            const Matrix lambda = support::normals(s.outputs, s.n, seed + 1000 * draw);
            const double least = set.minimum(lambda);
            if (!std::isfinite(least)) continue;
            double found = std::numeric_limits<double>::infinity();
            const Matrix within = best_point(set);
            REQUIRE(inside(set, within));
            for (std::uint64_t k = 0; k < 200; ++k) {
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
                    CHECK((v - p).cwiseProduct(c - p).sum() <= 1e-9 * (1.0 + size));
                }
                // and once more: what is inside stays
                const Matrix again = set.project(p).point;
                CHECK((again - p).cwiseAbs().maxCoeff() <= 1e-9 * (1.0 + size * 1e-8));
                CHECK(set.violation(p) <= 1e-9 * (1.0 + size * 1e-8));
                CHECK((set.violation(v) > 1e-6) == !inside(set, v, 1e-6));
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
        constexpr double infinite = std::numeric_limits<double>::infinity();
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
