#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/refit/goal.hpp>

#include <cmath>
#include <limits>

namespace goal_test {

using kernelet::Goal;
using kernelet::Index;
using kernelet::Matrix;
using kernelet::Slid;
using kernelet::Vector;

constexpr Index residuals = 80;
constexpr double energy = 37.0, noise = 0.01;
constexpr Index parameters = 3;

/// All that a goal looks at: how many kernels, what they leave over, how much data each of them sees.
Slid model(Index kernels, double cost, double mass = 5.0) {
    Slid made;
    made.nodes = Matrix::Ones(2, kernels);
    made.at.cost = cost;
    made.at.coefficients = Matrix::Ones(kernels, 1);
    made.at.mass = Vector::Constant(kernels, mass);
    return made;
}

Goal criterion(Index most = 100) { return {residuals, energy, noise, parameters, most}; }

/// 2N log((u + 1)/2) up to u₀ = 1.6², its tangent beyond, and (parameters + ½) log N a kernel.
double by_hand(Index kernels, double cost) {
    const double n = static_cast<double>(residuals), bend = 1.6 * 1.6;
    const double u = cost / (noise * energy);
    const double misfit = u <= bend ? 2.0 * n * std::log((u + 1.0) / 2.0)
                                    : 2.0 * n * (std::log((bend + 1.0) / 2.0) + (u - bend) / (bend + 1.0));
    return misfit + static_cast<double>(parameters) * std::log(n) * static_cast<double>(kernels);
}

/// As predictions would have it: outside by what the cost leaves above a bound.
Goal within(double bound, Index most = 100) {
    Goal goal = criterion(most);
    goal.within([bound](const Slid& m) { return std::max(0.0, m.at.cost - bound); });
    return goal;
}

}  // namespace goal_test

TEST_CASE("the information criterion is its formula on both sides of the bend", "[goal]") {
    using namespace goal_test;
    const Goal goal = criterion();
    CHECK_FALSE(goal.has_tolerance());
    for (const Index kernels : {0, 1, 4, 50})
        for (const double u : {0.0, 0.3, 1.0, 2.0, 2.56, 3.0, 10.0, 100.0}) {
            CAPTURE(kernels, u);
            const double cost = u * noise * energy;
            CHECK(goal.score(model(kernels, cost)) ==
                  Approx(by_hand(kernels, cost)).epsilon(1e-12).margin(1e-9));
        }
    // At the noise itself the misfit counts nothing; a cost that rounding took below zero counts as zero.
    CHECK(goal.score(model(0, noise * energy)) == Approx(0.0).margin(1e-9));
    CHECK(goal.score(model(2, -1e-12)) == goal.score(model(2, 0.0)));
}

TEST_CASE("the criterion has no step and no kink where the logarithm becomes its tangent", "[goal]") {
    using namespace goal_test;
    const Goal goal = criterion();
    const double bend = 1.6 * 1.6 * noise * energy;
    const double h = 1e-6 * bend;
    const auto at = [&](double cost) { return goal.score(model(1, cost)); };
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

TEST_CASE("with a tolerance the score is the number of kernels where it is met", "[goal]") {
    using namespace goal_test;
    const Goal goal = within(1.0);
    CHECK(goal.has_tolerance());
    CHECK(goal.met(model(3, 0.5)));
    CHECK(goal.met(model(3, 1.0)));
    CHECK_FALSE(goal.met(model(3, 1.001)));
    CHECK_FALSE(criterion().met(model(3, 0.0)));  // nothing was asked that could be met
    CHECK(goal.score(model(3, 0.5)) == Approx(3.0 + 0.5 * 0.5 / energy).epsilon(1e-14));
    const double deviation = std::sqrt(energy / static_cast<double>(residuals));
    CHECK(goal.score(model(3, 1.5)) == Approx(1e6 * (1.0 + 0.5 / deviation)).epsilon(1e-12));
    // What meets it goes before what does not, fewer kernels before more, a smaller cost before a larger.
    CHECK(goal.score(model(90, 1.0)) < goal.score(model(0, 1.0 + 1e-9)));
    CHECK(goal.score(model(3, 1.0)) < goal.score(model(4, 0.0)));
    CHECK(goal.score(model(3, 0.4)) < goal.score(model(3, 0.5)));
    CHECK(goal.score(model(1, 2.0)) < goal.score(model(9, 2.1)));
}

TEST_CASE("no more kernels than allowed, whichever way was asked", "[goal]") {
    using namespace goal_test;
    for (const bool tolerance : {false, true}) {
        const Goal goal = tolerance ? within(1.0, 3) : criterion(3);
        CHECK(goal.score(model(3, 36.0)) < goal.score(model(4, 0.0)));
        CHECK(goal.score(model(4, 36.0)) < goal.score(model(5, 0.0)));
        const Goal unlimited = tolerance ? within(1.0) : criterion();
        CHECK(goal.score(model(3, 0.7)) == unlimited.score(model(3, 0.7)));
        CHECK(unlimited.score(model(4, 0.0)) < unlimited.score(model(3, 36.0)));
    }
}

TEST_CASE("kernels that no sample holds are barred", "[goal]") {
    using namespace goal_test;
    for (const bool tolerance : {false, true}) {
        const Goal goal = tolerance ? within(1.0) : criterion();
        Slid loose = model(2, 0.0);
        loose.at.mass(1) = 0.1;
        Slid looser = loose;
        looser.at.mass(0) = 0.0;
        CHECK(goal.score(loose) > goal.score(model(50, 36.0)));
        CHECK(goal.score(looser) > goal.score(loose));
        loose.at.mass(1) = 0.3;  // three tenths of a sample hold it
        CHECK(goal.score(loose) == goal.score(model(2, 0.0)));
    }
}

TEST_CASE("a kernel more is worth it by the criterion, or on the way to the tolerance", "[goal]") {
    using namespace goal_test;
    const Goal goal = criterion();
    const double unit = noise * energy;
    for (const double u : {0.5, 1.0, 2.0, 5.0}) {
        const double before = u * unit;
        for (const double share : {0.99, 0.95, 0.9, 0.8, 0.5, 0.1}) {
            const double after = share * before;
            CHECK(goal.worth(model(2, before), model(3, after)) == (by_hand(3, after) < by_hand(2, before)));
        }
    }
    CHECK(goal.worth(model(2, 5.0 * unit), model(3, unit)));
    CHECK_FALSE(goal.worth(model(2, unit), model(3, 0.99 * unit)));
    const Goal bounded = within(1.0);
    CHECK(bounded.worth(model(2, 10.0), model(3, 9.98)));
    CHECK_FALSE(bounded.worth(model(2, 10.0), model(3, 9.995)));
    CHECK_FALSE(bounded.worth(model(2, 10.0), model(3, 10.0)));
}

TEST_CASE("a bargain saves most of a kernel's price; with a tolerance there is none", "[goal]") {
    using namespace goal_test;
    const double price = by_hand(1, 0.0) - by_hand(0, 0.0);
    CHECK(criterion().bargain(12.0) == Approx(12.0 - 0.75 * price).epsilon(1e-12));
    CHECK(within(1.0).bargain(12.0) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("the unit of y cancels to the bit", "[goal]") {
    using namespace goal_test;
    for (const int power : {-300, -37, -1, 1, 20, 300}) {
        const double unit = std::ldexp(1.0, power), square = unit * unit;
        const Goal here = criterion();
        const Goal there(residuals, square * energy, noise, parameters, 100);
        Goal here_bound = here, there_bound = there;
        // outside by so much in the unit of y
        here_bound.within([](const Slid& m) { return std::sqrt(m.at.cost) - 1.0; });
        there_bound.within([unit](const Slid& m) { return std::sqrt(m.at.cost) - unit; });
        for (const double cost : {1e-9, 0.123, 0.7, 1.4, 3.3, 30.0}) {
            CAPTURE(power, cost);
            CHECK(there.score(model(3, square * cost)) == here.score(model(3, cost)));
            CHECK(there_bound.score(model(3, square * cost)) == here_bound.score(model(3, cost)));
            CHECK(there_bound.met(model(3, square * cost)) == here_bound.met(model(3, cost)));
            CHECK(there.worth(model(2, square), model(3, square * cost)) ==
                  here.worth(model(2, 1.0), model(3, cost)));
        }
    }
}

TEST_CASE("as few residuals as there can be give finite scores", "[goal]") {
    using namespace goal_test;
    for (const Index n : {1, 2, 3}) {
        const Goal goal(n, 1.0, 2.5e-5, 3, 1);
        for (const Index kernels : {0, 1, 2}) CHECK(std::isfinite(goal.score(model(kernels, 1.0))));
        CHECK(goal.score(model(1, 0.5)) > goal.score(model(0, 0.5)));  // a kernel is never free
    }
}

TEST_CASE("another degree, another trust and a likelihood are their formulas", "[goal]") {
    using namespace goal_test;
    const double n = static_cast<double>(residuals), price = static_cast<double>(parameters) * std::log(n);
    for (const double u : {0.3, 1.0, 2.0}) {
        const double cost = u * noise * energy;
        // 2/p times the residuals
        CHECK(criterion().of_degree(1.0).score(model(2, cost)) - 2.0 * price ==
              Approx(2.0 * (by_hand(2, cost) - 2.0 * price)).margin(1e-9));
        // (N + ν) log((u N + ν)/(N + ν)), ν = N/4
        CHECK(criterion().trusting(0.25).score(model(2, cost)) ==
              Approx(1.25 * n * std::log((u + 0.25) / 1.25) + 2.0 * price).margin(1e-9));
        CHECK(criterion().by_likelihood(2.0).score(model(3, cost)) ==
              Approx(cost + 3.0 * 0.5 * static_cast<double>(parameters) * std::log(n / 4.0)).margin(1e-9));
    }
}
