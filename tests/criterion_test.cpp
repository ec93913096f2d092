#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/search/criterion.hpp>

#include <cmath>
#include <compare>
#include <limits>
#include <vector>

namespace criterion_test {

using kernelet::Criterion;
using kernelet::FittedKernels;
using kernelet::Index;
using kernelet::KernelExpansion;
using kernelet::Matrix;
using kernelet::Score;
using kernelet::Vector;

constexpr double residuals = 80.0, energy = 37.0, noise = 0.01, parameters = 3.0;

/// All that a criterion reads: the number of kernels, the cost, and the mass of each kernel. The expansion
/// holds the cost as its offset, so that a violation can be computed from it.
FittedKernels model(Index kernels, double cost, double mass = 5.0) {
    FittedKernels made;
    made.fit = {Matrix::Ones(2, kernels), Matrix::Ones(kernels, 1), Vector::Constant(1, cost)};
    made.cost = cost;
    made.masses = Vector::Constant(kernels, mass);
    return made;
}

double cost_of(const KernelExpansion& expansion) { return expansion.offset(0); }

/// The information criterion.
Criterion information(Index max_kernels = 100) {
    return {.residuals = residuals,
            .energy = energy,
            .noise = noise,
            .parameters = parameters,
            .max_kernels = max_kernels};
}

/// A tolerance that is violated by how far the cost exceeds a bound.
Criterion tolerance(double bound, Index max_kernels = 100) {
    Criterion criterion = information(max_kernels);
    criterion.violation = [bound](const KernelExpansion& m) { return std::max(0.0, cost_of(m) - bound); };
    return criterion;
}

/// The likelihood of labels.
Criterion labels(Index max_kernels = 100) {
    Criterion criterion = information(max_kernels);
    criterion.likelihood_unit = 2.0;
    return criterion;
}

/// 2N log((u + 1)/2) up to u₀ = 1.6², its tangent beyond, and parameters · log N per kernel.
double by_hand(Index kernels, double cost) {
    const double bend = 1.6 * 1.6, u = cost / (noise * energy);
    const double misfit = u <= bend
                              ? 2.0 * residuals * std::log((u + 1.0) / 2.0)
                              : 2.0 * residuals * (std::log((bend + 1.0) / 2.0) + (u - bend) / (bend + 1.0));
    return misfit + parameters * std::log(residuals) * static_cast<double>(kernels);
}

}  // namespace criterion_test

TEST_CASE("the information criterion is its formula on both sides of the bend", "[criterion]") {
    using namespace criterion_test;
    const Criterion criterion = information();
    CHECK_FALSE(criterion.has_tolerance());
    for (const Index kernels : {0, 1, 4, 50})
        for (const double u : {0.0, 0.3, 1.0, 2.0, 2.56, 3.0, 10.0, 100.0}) {
            CAPTURE(kernels, u);
            const double cost = u * noise * energy;
            const Score score = criterion.score(model(kernels, cost));
            CHECK(score.value == Approx(by_hand(kernels, cost)).epsilon(1e-12).margin(1e-9));
            CHECK(score.excess == 0.0);
            CHECK(score.violation == 0.0);
        }
    // At the cost of the noise the misfit is zero; a cost that rounding took below zero counts as zero.
    CHECK(criterion.score(model(0, noise * energy)).value == Approx(0.0).margin(1e-9));
    CHECK(criterion.score(model(2, -1e-12)) == criterion.score(model(2, 0.0)));
}

TEST_CASE("the criterion has no step and no kink where the logarithm becomes its tangent", "[criterion]") {
    using namespace criterion_test;
    const Criterion criterion = information();
    const double bend = 1.6 * 1.6 * noise * energy;
    const double h = 1e-6 * bend;
    const auto at = [&](double cost) { return criterion.score(model(1, cost)).value; };
    CHECK(at(bend + h) - at(bend - h) <= 1e-4 * at(bend));
    const double below = (at(bend - h) - at(bend - 2.0 * h)) / h;
    const double above = (at(bend + 2.0 * h) - at(bend + h)) / h;
    CHECK(below == Approx(above).epsilon(1e-4));
    // Beyond it, straight.
    CHECK(at(20.0 * bend) - at(10.0 * bend) == Approx(at(30.0 * bend) - at(20.0 * bend)).epsilon(1e-12));
    double before = at(0.0);
    for (double cost = 0.02 * bend; cost < 3.0 * bend; cost += 0.02 * bend) {
        CHECK(at(cost) > before);
        before = at(cost);
    }
}

TEST_CASE("scores are compared by excess, then violation, then value", "[criterion]") {
    using namespace criterion_test;
    const std::vector<Score> ascending{{0.0, 0.0, -1e300}, {0.0, 0.0, 2.0},   {0.0, 0.0, 1e300},
                                       {0.0, 1e-9, -5.0},  {0.0, 1e-9, 3.0},  {0.0, 1e300, -1e300},
                                       {1.0, 0.0, -1e300}, {1.0, 0.0, 4.0},   {1.0, 7.0, -9.0},
                                       {2.0, 0.0, 0.0},    {1e9, 0.0, -1e300}};
    for (std::size_t i = 0; i < ascending.size(); ++i)
        for (std::size_t j = 0; j < ascending.size(); ++j)
            CHECK((ascending[i] <=> ascending[j]) == (i <=> j));
}

TEST_CASE("with a tolerance the number of kernels decides once it is met", "[criterion]") {
    using namespace criterion_test;
    const Criterion criterion = tolerance(1.0);
    CHECK(criterion.has_tolerance());
    CHECK(criterion.met(model(3, 0.5).fit));
    CHECK(criterion.met(model(3, 1.0).fit));
    CHECK_FALSE(criterion.met(model(3, 1.001).fit));
    CHECK_FALSE(information().met(model(3, 0.0).fit));  // without a tolerance there is nothing to meet
    CHECK(criterion.score(model(3, 0.5)).value == Approx(3.0 + 0.5 * 0.5 / energy).epsilon(1e-14));
    CHECK(criterion.score(model(3, 0.5)).violation == 0.0);
    CHECK(criterion.score(model(3, 1.5)).violation == Approx(0.5).epsilon(1e-12));
    // Models that meet it come first, then fewer kernels, then a smaller cost; among those that do not meet
    // it, the smaller violation.
    CHECK(criterion.score(model(90, 1.0)) < criterion.score(model(0, 1.0 + 1e-9)));
    CHECK(criterion.score(model(3, 1.0)) < criterion.score(model(4, 0.0)));
    CHECK(criterion.score(model(3, 0.4)) < criterion.score(model(3, 0.5)));
    CHECK(criterion.score(model(1, 2.0)) < criterion.score(model(9, 2.1)));
    CHECK(criterion.score(model(9, 2.0)) < criterion.score(model(1, 2.1)));
    // A violation reported as negative is no merit.
    Criterion signed_violation = criterion;
    signed_violation.violation = [](const KernelExpansion& m) { return cost_of(m) - 1.0; };
    CHECK(signed_violation.score(model(3, 0.5)).violation == 0.0);
    CHECK(signed_violation.met(model(3, 0.5).fit));
}

TEST_CASE("max_kernels bounds the kernels with a tolerance and without", "[criterion]") {
    using namespace criterion_test;
    for (const bool with_tolerance : {false, true}) {
        const Criterion limited = with_tolerance ? tolerance(1.0, 3) : information(3);
        CHECK(limited.score(model(3, 36.0)) < limited.score(model(4, 0.0)));
        CHECK(limited.score(model(4, 36.0)) < limited.score(model(5, 0.0)));
        CHECK(limited.score(model(5, 0.0)).excess == 2.0);
        const Criterion unlimited = with_tolerance ? tolerance(1.0) : information();
        CHECK(limited.score(model(3, 0.7)) == unlimited.score(model(3, 0.7)));
        CHECK(unlimited.score(model(4, 0.0)) < unlimited.score(model(3, 36.0)));
    }
}

TEST_CASE("no cost and no violation makes a criterion prefer more than max_kernels", "[criterion]") {
    using namespace criterion_test;
    constexpr Index limit = 3;
    const double largest = std::numeric_limits<double>::max();
    for (const Criterion& criterion : {information(limit), tolerance(1.0, limit), labels(limit)})
        for (const double cost : {0.0, 1e-300, 1.0, energy, 1e12, 1e300, largest})
            for (const double other_cost : {0.0, 1e-300, 1.0, energy, 1e12, 1e300, largest})
                for (Index kernels = 0; kernels <= limit; ++kernels)
                    for (Index more = limit + 1; more <= limit + 3; ++more) {
                        const Score within = criterion.score(model(kernels, cost));
                        const Score beyond = criterion.score(model(more, other_cost));
                        REQUIRE((within <=> beyond) == std::partial_ordering::less);
                        // Beyond the limit, each kernel less is better.
                        REQUIRE(beyond < criterion.score(model(more + 1, cost)));
                    }
}

TEST_CASE("kernels that see too few samples are not allowed", "[criterion]") {
    using namespace criterion_test;
    for (const bool with_tolerance : {false, true}) {
        const Criterion criterion = with_tolerance ? tolerance(1.0) : information();
        FittedKernels one = model(2, 0.0);
        one.masses(1) = 0.1;
        FittedKernels two = one;
        two.masses(0) = 0.0;
        CHECK(criterion.score(one) > criterion.score(model(50, 36.0)));
        CHECK(criterion.score(two) > criterion.score(one));
        CHECK(criterion.score(two).excess == 2.0);
        one.masses(1) = 0.3;  // above min_mass
        CHECK(criterion.score(one) == criterion.score(model(2, 0.0)));
        Criterion stricter = criterion;
        stricter.options.min_mass = 0.5;
        CHECK(stricter.score(one).excess == 1.0);
    }
}

TEST_CASE("more kernels are worth it by the score, or by the decrease of the cost towards a tolerance",
          "[criterion]") {
    using namespace criterion_test;
    const Criterion criterion = information();
    const double unit = noise * energy;
    for (const double u : {0.5, 1.0, 2.0, 5.0}) {
        const double before = u * unit;
        for (const double share : {0.99, 0.95, 0.9, 0.8, 0.5, 0.1}) {
            const double after = share * before;
            CHECK(criterion.worth(model(2, before), model(3, after)) ==
                  (by_hand(3, after) < by_hand(2, before)));
        }
    }
    CHECK(criterion.worth(model(2, 5.0 * unit), model(3, unit)));
    CHECK_FALSE(criterion.worth(model(2, unit), model(3, 0.99 * unit)));
    Criterion bounded = tolerance(1.0);
    CHECK(bounded.worth(model(2, 10.0), model(3, 9.98)));
    CHECK_FALSE(bounded.worth(model(2, 10.0), model(3, 9.995)));
    CHECK_FALSE(bounded.worth(model(2, 10.0), model(3, 10.0)));
    bounded.options.min_gain = 1e-4;
    CHECK(bounded.worth(model(2, 10.0), model(3, 9.995)));
}

TEST_CASE("the cost to beat is where a model of so many kernels has the same score", "[criterion]") {
    using namespace criterion_test;
    const double price = by_hand(1, 0.0) - by_hand(0, 0.0);
    Criterion criterion = information();
    CHECK(criterion.price() == Approx(price).epsilon(1e-12));
    for (const double cost : {0.03, 0.4, 2.0, 9.0}) {
        const Score score = criterion.score(model(3, cost));
        CHECK(criterion.cost_to_beat(score, 3) == Approx(cost).epsilon(1e-9));
        const double with_fewer = criterion.cost_to_beat(score, 2),
                     with_more = criterion.cost_to_beat(score, 4);
        CHECK(with_fewer > cost);
        CHECK(with_more < cost);
        CHECK(criterion.score(model(2, 0.999 * with_fewer)) < score);
        CHECK_FALSE(criterion.score(model(2, 1.001 * with_fewer)) < score);
    }
    // Where more than the cost decides there is none.
    CHECK(std::isinf(tolerance(1.0).cost_to_beat({0.0, 0.0, 12.0}, 2)));
    CHECK(std::isinf(criterion.cost_to_beat({1.0, 0.0, 12.0}, 2)));
}

TEST_CASE("the unit of y cancels to the bit", "[criterion]") {
    using namespace criterion_test;
    for (const int power : {-300, -37, -1, 1, 20, 300}) {
        const double unit = std::ldexp(1.0, power), square = unit * unit;
        const Criterion here = information();
        Criterion there = here;
        there.energy = square * energy;
        Criterion here_bound = here, there_bound = there;
        // outside by so much in the unit of y
        here_bound.violation = [](const KernelExpansion& m) { return std::sqrt(cost_of(m)) - 1.0; };
        there_bound.violation = [unit](const KernelExpansion& m) { return std::sqrt(cost_of(m)) - unit; };
        for (const double cost : {1e-9, 0.123, 0.7, 1.4, 3.3, 30.0}) {
            CAPTURE(power, cost);
            const FittedKernels a = model(3, cost), b = model(3, square * cost);
            CHECK(there.score(b) == here.score(a));
            CHECK(there_bound.score(b).value == here_bound.score(a).value);
            CHECK(there_bound.score(b).violation == unit * here_bound.score(a).violation);
            CHECK(there_bound.met(b.fit) == here_bound.met(a.fit));
            CHECK(there.worth(model(2, square), b) == here.worth(model(2, 1.0), a));
            // The violation keeps its unit, which the order of two scores does not depend on.
            for (const Index kernels : {2, 3, 4})
                CHECK((there_bound.score(b) <=> there_bound.score(model(kernels, square * 1.1))) ==
                      (here_bound.score(a) <=> here_bound.score(model(kernels, 1.1))));
        }
    }
}

TEST_CASE("the least numbers of residuals give finite scores", "[criterion]") {
    using namespace criterion_test;
    for (const double n : {1.0, 2.0, 3.0}) {
        const Criterion criterion{
            .residuals = n, .energy = 1.0, .noise = 2.5e-5, .parameters = 3.0, .max_kernels = 1};
        for (const Index kernels : {0, 1, 2}) {
            const Score score = criterion.score(model(kernels, 1.0));
            CHECK(std::isfinite(score.excess));
            CHECK(std::isfinite(score.violation));
            CHECK(std::isfinite(score.value));
        }
        CHECK(criterion.score(model(1, 0.5)) > criterion.score(model(0, 0.5)));  // a kernel is never free
    }
}

TEST_CASE("noise degree, known noise, bend and likelihood are their formulas", "[criterion]") {
    using namespace criterion_test;
    const double price = parameters * std::log(residuals);
    for (const double u : {0.3, 1.0, 2.0}) {
        const double cost = u * noise * energy;
        // 2/p times the residuals
        Criterion absolute = information();
        absolute.noise_degree = 1.0;
        CHECK(absolute.score(model(2, cost)).value - 2.0 * price ==
              Approx(2.0 * (by_hand(2, cost) - 2.0 * price)).margin(1e-9));
        // (N + ν) log((u N + ν)/(N + ν)), ν = N/4
        Criterion quarter = information();
        quarter.known_noise = 0.25;
        CHECK(quarter.score(model(2, cost)).value ==
              Approx(1.25 * residuals * std::log((u + 0.25) / 1.25) + 2.0 * price).margin(1e-9));
        CHECK(labels().score(model(3, cost)).value ==
              Approx(cost + 3.0 * 0.5 * parameters * std::log(residuals / 4.0)).margin(1e-9));
    }
    // the tangent at u₀ = 1: 2N (u − 1)/2
    Criterion early = information();
    early.bend = 1.0;
    CHECK(early.score(model(0, 3.0 * noise * energy)).value == Approx(2.0 * residuals).epsilon(1e-12));
    Criterion other = labels();
    other.options.label_price_fraction = 0.25;
    other.options.label_information = 1.0;
    CHECK(other.price() == Approx(0.25 * parameters * std::log(residuals)).epsilon(1e-12));
}
