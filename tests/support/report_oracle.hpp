#pragma once

#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/options.hpp>
#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
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
    const Vector weights = asked.samples.weights.size() > 0 ? asked.samples.weights : Vector::Ones(n);
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
    const FeasibleSet<Loss> set(asked.loss, y, options.scope, tolerances, weights);
    const double scale = y.cwiseAbs().maxCoeff() + report.tolerance + 1e-300;
    if (!near(report.residual, set.residual(prediction), scale)) return says("residual");
    const double violation = set.violation(prediction);
    if (!near(report.model_violation, violation, scale)) return says("model_violation");

    // prices
    if (report.prices.size() != n || !report.prices.allFinite()) return says("prices");
    for (Index i = 0; i < n; ++i)
        if (!near(report.prices(i), fit.multipliers.col(i).norm(), 1e-300 + report.prices.maxCoeff()))
            return says("a price is not the length of its multiplier");

    // certificate
    const bool finite = std::isfinite(report.dual_value) && std::isfinite(report.primal_value) &&
                        std::isfinite(report.integration_error) && std::isfinite(report.support_measure);
    if (!finite) return says("the certificate is not finite");
    if (!report.certified && report.status != Status::stopped) return says("no certificate without a stop");
    if (report.status == Status::converged && std::abs(report.relative_gap()) > asked.gap)
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
