#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/losses/any_loss.hpp>
#include <kernelet/losses/epsilon_insensitive.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/huber.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/losses/quantile.hpp>
#include <kernelet/search/smoothed_loss.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smoothed_loss_test {

using namespace kernelet;
using Loss = AnyLoss;

/// A loss without its traits and closed forms, so that it is averaged over the window.
template <class L>
struct Plain {
    static constexpr std::string_view name = "plain";

    L loss;
    double value(double f, double y) const { return loss.value(f, y); }
    double derivative(double f, double y) const { return loss.derivative(f, y); }
    double level(double t) const { return loss.level(t); }
    Interval interval(double y, double t) const { return loss.interval(y, t); }
};

const std::vector<std::pair<std::string, Loss>> losses{
    {"squared", Plain<SquaredLoss>{}},
    {"huber", Plain<HuberLoss>{HuberLoss{0.3}}},
    {"epsilon", Plain<EpsilonInsensitiveLoss>{EpsilonInsensitiveLoss{0.2}}},
    {"quantile", Plain<QuantileLoss>{QuantileLoss{0.3}}},
    {"logistic", Plain<LogisticLoss>{}},
    {"hinge", Plain<HingeLoss>{}}};

constexpr Index n = 30;
const Matrix labels =
    support::uniforms(2, n, 1, -1.0, 1.0).unaryExpr([](double u) { return u < 0.0 ? -1.0 : 1.0; });
const Vector weights = support::uniforms(n, 1, 2, 0.5, 2.0);
const Matrix predictions = 1.5 * support::normals(2, n, 3);

}  // namespace smoothed_loss_test

TEST_CASE("a smoothed loss is the mean of the loss over its window, and its pull minus half of its slope",
          "[smoothed_loss]") {
    using namespace smoothed_loss_test;
    constexpr double window = 0.25, h = 1e-6;
    for (const auto& [name, loss] : losses) {
        INFO(name);
        const SmoothedLoss<Loss> smooth(loss, labels, weights, window);
        // The mean over the window by 400 points; the library takes four, which differ at kinks.
        double mean = 0.0;
        constexpr int places = 400;
        for (int k = 0; k < places; ++k)
            for (Index i = 0; i < n; ++i)
                for (Index o = 0; o < 2; ++o)
                    mean += weights(i) / places *
                            loss.value(predictions(o, i) + window * ((k + 0.5) / (0.5 * places) - 1.0),
                                       labels(o, i));
        CHECK(smooth.cost(predictions) == Approx(mean).epsilon(0.01));
        const Matrix pull = smooth.pull(predictions);
        for (Index k = 0; k < predictions.size(); ++k) {
            Matrix below = predictions, above = predictions;
            below(k) -= h;
            above(k) += h;
            CHECK(pull(k) ==
                  Approx(-0.5 * (smooth.cost(above) - smooth.cost(below)) / (2.0 * h)).margin(1e-6));
        }
    }
}

TEST_CASE("the working squares agree with a loss to second order, with a curvature that is never zero",
          "[smoothed_loss]") {
    using namespace smoothed_loss_test;
    for (const auto& [name, loss] : losses) {
        INFO(name);
        const SmoothedLoss<Loss> smooth(loss, labels, weights, 0.25);
        const WorkingSquares working = smooth.linearize(predictions);
        const Vector h = working.root.cwiseAbs2();
        CHECK(h.minCoeff() > 0.0);
        CHECK(working.total == Approx(h.sum()));
        // h t = h f + pull
        const Matrix pull = (working.target.array().colwise() * working.root.array()).matrix().transpose() -
                            predictions * h.asDiagonal();
        CHECK((pull - smooth.pull(predictions)).cwiseAbs().maxCoeff() <= 1e-12 * (1.0 + h.maxCoeff()));
        // The curvature of the squared loss is its weight, in every window.
        if (name == "squared") CHECK((h - weights).cwiseAbs().maxCoeff() <= 1e-12);
    }
    // One weight for both outputs: the larger curvature of the two.
    const SmoothedLoss<Loss> logistic(Loss(LogisticLoss{}), labels, weights, 1e-3);
    const Vector h = logistic.curvature(predictions);
    for (Index i = 0; i < n; ++i) {
        const double nearest = predictions.col(i).cwiseAbs().minCoeff();
        const double p = LogisticLoss::probability(nearest);
        CHECK(h(i) == Approx(0.5 * weights(i) * p * (1.0 - p)).epsilon(1e-3));
    }
}

TEST_CASE("a smooth loss is not averaged, for any window", "[smoothed_loss]") {
    using namespace smoothed_loss_test;
    const SmoothedLoss<LogisticLoss> smooth(LogisticLoss{}, labels, weights, 0.25);
    double cost = 0.0;
    Vector curvature = Vector::Zero(n);
    for (Index i = 0; i < n; ++i)
        for (Index o = 0; o < 2; ++o) {
            const double f = predictions(o, i), p = 1.0 / (1.0 + std::exp(f));
            cost += weights(i) * std::log(1.0 + std::exp(-labels(o, i) * f));
            curvature(i) = std::max(curvature(i), 0.5 * weights(i) * p * (1.0 - p));
        }
    CHECK(smooth.cost(predictions) == Approx(cost).epsilon(1e-12));
    CHECK((smooth.curvature(predictions) - curvature).cwiseAbs().maxCoeff() <= 1e-12);
}

TEST_CASE("the noise level, its degree, and the tolerance of a level", "[noise_level]") {
    using namespace smoothed_loss_test;
    using detail::noise_degree;
    using detail::noise_level;
    using detail::tolerance_of_level;
    constexpr double sigma = 0.7;
    const double absolute = sigma * std::sqrt(2.0 / std::numbers::pi);  // E|σZ|
    CHECK(noise_level(SquaredLoss{}, sigma) == Approx(sigma * sigma));
    CHECK(noise_level(EpsilonInsensitiveLoss{0.0}, sigma) == Approx(absolute).epsilon(1e-3));
    CHECK(noise_level(QuantileLoss{0.5}, sigma) == Approx(0.5 * absolute).epsilon(1e-3));
    // About its own quantile: φ(Φ⁻¹(0.9)) σ
    CHECK(noise_level(QuantileLoss{0.9}, sigma) == Approx(0.17550 * sigma).epsilon(1e-3));
    CHECK(noise_level(HuberLoss{1e3}, sigma) == Approx(sigma * sigma).epsilon(1e-3));
    CHECK(noise_degree(EpsilonInsensitiveLoss{0.0}, sigma) == Approx(1.0).epsilon(1e-3));
    CHECK(noise_degree(HuberLoss{1e3}, sigma) == Approx(2.0).epsilon(1e-3));
    CHECK(noise_degree(HuberLoss{1e-3}, sigma) == Approx(1.0).epsilon(1e-2));
    for (const auto& [name, loss] : losses) {
        INFO(name);
        for (const double t : {0.05, 0.4, 2.0})
            CHECK(tolerance_of_level(loss, loss.level(t)) == Approx(t).epsilon(1e-9));
    }
    CHECK(tolerance_of_level(HuberLoss{0.3}, 0.0) == 0.0);
}

TEST_CASE("losses by the run are those number by number", "[smoothed_loss]") {
    using namespace kernelet;
    constexpr Index n = 700;
    constexpr double window = 0.25;
    const Index outputs = GENERATE(1, 3);
    Matrix f = 6.0 * support::normals(outputs, n, 71);
    f(0) = 800.0;
    f(1) = -800.0;
    f(2) = 0.0;
    const Matrix y =
        support::normals(outputs, n, 72).unaryExpr([](double v) { return v < 0.0 ? -1.0 : 1.0; });
    const Vector weights = support::uniforms(n, 1, 73, 0.2, 3.0);
    const auto check = [&]<class Loss>(const Loss& loss) {
        INFO(Loss::name);
        STATIC_REQUIRE(detail::HasRuns<Loss>);
        const detail::SmoothingPass pass{f, y, weights.data(), window};
        const Matrix pull = detail::smoothed_pull(loss, pass);
        const Vector h = detail::smoothed_curvature(loss, pass);
        double cost = 0.0;
        for (Index i = 0; i < n; ++i) {
            double steepest = 0.0;
            for (Index o = 0; o < outputs; ++o) {
                const double at = f(o, i), target = y(o, i);
                cost += weights(i) *
                        detail::averaged<Loss>([&](double v) { return loss.value(v, target); }, at, window);
                const double slope =
                    detail::averaged<Loss>([&](double v) { return loss.derivative(v, target); }, at, window);
                CHECK(std::abs(pull(o, i) + 0.5 * weights(i) * slope) <= 1e-14);
                if constexpr (detail::is_smooth<Loss>())
                    steepest = std::max(steepest, loss.curvature(at, target));
                else
                    steepest = std::max(steepest, (loss.derivative(at + window, target) -
                                                   loss.derivative(at - window, target)) /
                                                      (2.0 * window));
            }
            CHECK(std::abs(h(i) - 0.5 * weights(i) * steepest) <= 1e-13);
        }
        CHECK(detail::smoothed_cost(loss, pass) == Approx(cost).epsilon(1e-13));
        // also where the loss is far below one
        const Matrix margins = Matrix::Constant(1, 1, 40.0), one = Matrix::Ones(1, 1);
        CHECK(detail::smoothed_cost(loss, {margins, one, one.data(), window}) ==
              Approx(loss.value(40.0, 1.0)).epsilon(1e-13).margin(0.0));
    };
    check(LogisticLoss{});
    check(HingeLoss{});
}
