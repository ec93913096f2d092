#pragma once

#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/options.hpp>
#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace support {

/// What a fit was asked for, for the oracle below.
template <class Loss>
struct AskedFit {
    kernelet::Samples samples{};  ///< y a column of n or q x n; weights and tolerances may be empty
    kernelet::Options options{};
    Loss loss{};
    double gap = 1e-3;  ///< at which the solver calls itself converged
};

/// Whether D or P, which are squares of y, are doubles with all their digits.
inline bool in_range(double value) {
    return std::abs(value) >= std::numeric_limits<double>::min() &&
           std::abs(value) < std::numeric_limits<double>::max();
}

/// What residual and violation of a prediction are, computed in a unit of y in which squares are doubles: that is a
/// power of two, and only the squared loss scales with it.
template <class Loss>
struct Recomputed {
    double residual{};
    double violation{};

    Recomputed(const AskedFit<Loss>& asked, kernelet::Matrix y, kernelet::Vector tolerances,
               kernelet::Matrix prediction) {
        using namespace kernelet;
        const Index n = y.cols();
        const Vector weights = asked.samples.weights.size() > 0 ? asked.samples.weights : Vector::Ones(n);
        int exponent = 0;
        if (detail::is_squared(asked.loss)) std::frexp(y.cwiseAbs().maxCoeff(), &exponent);
        if (std::abs(exponent) < 100) exponent = 0;
        // A tolerance far beyond y is met; its square need not be a double.
        for (Index i = 0; i < tolerances.size(); ++i)
            tolerances(i) =
                exponent == 0 ? tolerances(i) : std::min(std::ldexp(tolerances(i), -exponent), 1e100);
        for (Index i = 0; i < y.size(); ++i) {
            y(i) = std::ldexp(y(i), -exponent);
            prediction(i) = std::ldexp(prediction(i), -exponent);
        }
        const FeasibleSet<Loss> set(asked.loss, y, asked.options.scope, tolerances, weights);
        residual = std::ldexp(set.residual(prediction), exponent);
        violation = std::ldexp(set.violation(prediction), exponent);
    }
};

/// Recomputes residual, violation, kernels and prices from the model and the data, checks gap, status and bound
/// against them, and returns the first contradiction in words; empty where there is none. For losses without a scale
/// of their own.
template <class Fit, class Loss>
std::string report_contradiction(const Fit& fit, const AskedFit<Loss>& asked) {
    using namespace kernelet;
    const Report& report = fit.report;
    const Options& options = asked.options;
    const Index n = asked.samples.x.cols();
    Matrix y = asked.samples.y;
    if (y.cols() == 1 && y.rows() == n) y.resize(1, n);
    const bool given = options.tolerance.has_value() || asked.samples.tolerances.size() > 0;
    const auto near = [](double a, double b, double scale) { return std::abs(a - b) <= 1e-6 * scale; };
    const auto says = [&](const std::string& words) { return words + ": " + report.full(); };

    if (report.samples != n) return says("samples");
    if (report.kernels != fit.model.size()) return says("kernels are not those of the model");
    if (options.max_kernels && report.kernels > *options.max_kernels) return says("more than max_kernels");
    if (report.tolerance_given != given) return says("tolerance_given");

    // residual and violation
    const Matrix predicted = fit.model.predict(asked.samples.x);
    Matrix prediction = predicted;
    if (prediction.rows() != y.rows()) prediction.resize(y.rows(), n);
    if (!prediction.allFinite()) return says("a prediction is not finite");
    const Vector tolerances = asked.samples.tolerances.size() > 0
                                  ? asked.samples.tolerances
                                  : Vector(Vector::Constant(n, options.tolerance.value_or(report.tolerance)));
    const Recomputed<Loss> recomputed(asked, y, tolerances, prediction);
    const double scale = y.cwiseAbs().maxCoeff() + report.tolerance + 1e-300;
    if (!near(report.residual, recomputed.residual, scale))
        return says(detail::text("residual, which is ", recomputed.residual));
    if (!near(report.model_violation, recomputed.violation, scale))
        return says(
            detail::text("model_violation is ", report.model_violation, ", not ", recomputed.violation));

    // prices
    if (report.prices.size() != n || !report.prices.allFinite()) return says("prices");
    for (Index i = 0; i < n; ++i)
        if (!near(report.prices(i), fit.multipliers.col(i).stableNorm(), 1e-300 + report.prices.maxCoeff()))
            return says("a price is not the length of its multiplier");

    // certificate
    const bool finite = std::isfinite(report.dual_value) && std::isfinite(report.primal_value) &&
                        std::isfinite(report.integration_error) && std::isfinite(report.support_measure);
    if (!finite) return says("the certificate is not finite");
    constexpr double least = 1e-120,
                     most = 1e120;  // whose squares, D and P, are doubles whatever the weights
    const double height = y.cwiseAbs().maxCoeff();
    const bool squares = height == 0.0 || (height >= least && height <= most) ||
                         (in_range(report.dual_value) && in_range(report.primal_value));
    if (!report.certified && squares && report.status != Status::stopped && report.status != Status::diverged)
        return says("no certificate, and no reason for that");
    if (report.status == Status::converged && report.certified && std::abs(report.relative_gap()) > asked.gap)
        return says("converged with a gap above the goal");

    // status and bound against each other and against the data
    const bool missed = given && report.model_violation > 0.0;
    switch (report.status) {
        case Status::converged:
            if (missed) return says("converged, tolerance missed");
            break;
        case Status::tolerance_missed:
            if (!missed) return says("tolerance_missed, and met");
            break;
        case Status::kernel_limit:
            if (report.bound != Bound::max_kernels) return says("kernel_limit, bound by something else");
            break;
        case Status::infeasible:
            if (!given || report.culprits.empty()) return says("infeasible, but no tolerance or no culprits");
            if (!(report.solved_tolerance > report.tolerance)) return says("infeasible, but solved as asked");
            break;
        default:
            break;
    }
    switch (report.bound) {
        case Bound::tolerance:
            if (!given) return says("bound by a tolerance that was not given");
            if (missed && report.status != Status::infeasible)
                return says("bound by the tolerance, which is missed");
            break;
        case Bound::exhausted:
            if (!missed) return says("exhausted, but the tolerance is met or was not given");
            break;
        case Bound::criterion:
        case Bound::held_out:
            if (given && report.kernels > 0)
                return says("bound by a criterion although a tolerance was given");
            break;
        case Bound::max_kernels:
            if (!options.max_kernels) return says("bound by max_kernels, which was not given");
            break;
        case Bound::observer:
            if (report.status != Status::stopped) return says("bound by the observer, not stopped");
            break;
        case Bound::samples:
            break;
    }
    for (const std::string& text : {report.brief(), report.full()})
        if (text.empty() || text.find("nan") != std::string::npos || text.find("inf ") != std::string::npos)
            return says("not a number in words");
    return "";
}

}  // namespace support
