#pragma once

#include "stress_problem.hpp"
#include "support/report_oracle.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

/// What a fit to a random problem must be, and how it may be refused.
namespace bench {

/// The first number of a report that is not finite, by name; empty where there is none.
inline std::string not_finite(const kernelet::Report& report) {
    struct Named {
        std::string_view name;
        double value;
    };
    const std::array numbers{Named{"dual_value", report.dual_value},
                             Named{"primal_value", report.primal_value},
                             Named{"max_violation", report.max_violation},
                             Named{"support_measure", report.support_measure},
                             Named{"integration_error", report.integration_error},
                             Named{"gamma", report.gamma},
                             Named{"threshold_ratio", report.threshold_ratio},
                             Named{"relative_gap()", report.relative_gap()},
                             Named{"tolerance", report.tolerance},
                             Named{"noise_deviation", report.noise_deviation},
                             Named{"solved_tolerance", report.solved_tolerance},
                             Named{"unsparse_height", report.unsparse_height},
                             Named{"residual", report.residual},
                             Named{"model_violation", report.model_violation},
                             Named{"seconds", report.seconds.total()}};
    for (const Named& number : numbers)
        if (!std::isfinite(number.value)) return "report." + std::string(number.name);
    return report.prices.allFinite() ? "" : "report.prices";
}

/// The same of a model: its parts, and what it says at points.
template <class Model>
std::string not_finite(const Model& model, const Matrix& x) {
    if (!model.nodes().allFinite() || !model.centers().allFinite()) return "model.centers";
    if (!model.widths().allFinite() || (model.widths().array() <= 0.0).any()) return "model.widths";
    if (!model.coefficients().allFinite()) return "model.coefficients";
    if (!model.offset().allFinite() || !model.slopes().allFinite()) return "model trend";
    const kernelet::ModelStatistics& known = model.statistics();
    if (!known.shares.allFinite() || !known.noise.allFinite() || !known.discrepancy.allFinite() ||
        !known.covariance.allFinite())
        return "model.statistics";
    if (!model.predict(x).allFinite()) return "model.predict";
    if (!model.gradient(x).allFinite()) return "model.gradient";
    if (!model.local_width(x).allFinite()) return "model.local_width";
    if (known.covariance.size() > 0) {
        if (!model.standard_errors().allFinite()) return "model.standard_errors";
        const kernelet::Prediction sure = model.predict(x, kernelet::with_noise);
        if (!sure.mean.allFinite() || !sure.deviation.allFinite()) return "model.predict with deviation";
    }
    return "";
}

/// The same of a field, at the nodes of a model and around the first samples.
template <class Field, class Model>
std::string not_finite_field(const Field& field, const Model& model, const Matrix& x) {
    if (!std::isfinite(field.threshold())) return "field.threshold";
    if (!field.raw_at(model.nodes()).allFinite() || !field.at(model.nodes()).allFinite())
        return "field at nodes";
    for (Index j = 0; j < std::min<Index>(model.size(), 4); ++j) {
        const kernelet::FieldJet jet = field.jet(model.nodes().col(j));
        if (!jet.value.allFinite() || !jet.gradient.allFinite()) return "field.jet";
    }
    const Matrix widths = model.widths();
    const double width = widths.size() > 0 ? widths(0, 0) : 1.0;
    for (Index i = 0; i < std::min<Index>(x.cols(), 4); ++i)
        if (!field.raw_at(field.node(x.col(i), width)).allFinite()) return "field at samples";
    return "";
}

/// Points between the samples, and some outside: each a mean of two samples, or beyond one as seen from the other.
inline Matrix points_around(const Matrix& x) {
    Matrix points(x.rows(), 2 * x.cols());
    for (Index i = 0; i < x.cols(); ++i) {
        const Index other = (i * 7 + 1) % x.cols();
        points.col(2 * i) = 0.5 * x.col(i) + 0.5 * x.col(other);
        points.col(2 * i + 1) = 2.0 * x.col(i) - x.col(other);
    }
    return points;
}

/// Whether a saved and loaded model predicts the same bits.
template <class Kernel>
bool travels(const kernelet::SparseKernelModel<Kernel>& model, const Matrix& x) {
    std::stringstream file;
    kernelet::save(file, model);
    const auto loaded = kernelet::load<kernelet::SparseKernelModel<Kernel>>(file);
    return (loaded.predict(x).array() == model.predict(x).array()).all();
}

/// What is wrong with a fit, in words; empty where nothing is.
template <class Kernel>
std::string defect_of(const kernelet::Fit<Kernel>& fit, const StressProblem& problem) {
    using namespace kernelet;
    const Report& report = fit.report;
    const Matrix& x = problem.samples.x;
    for (const std::string& found :
         {not_finite(report), not_finite(fit.model, x), not_finite(fit.model, points_around(x)),
          not_finite_field(fit.field, fit.model, x)})
        if (!found.empty()) return found + " is not finite: " + report.full();
    if (!fit.multipliers.allFinite()) return "multipliers are not finite";
    if (!(report.support_measure >= 0.0 && report.support_measure <= 1.0 + 1e-9)) return "support_measure";
    for (const Index culprit : report.culprits)
        if (culprit < 0 || culprit >= x.cols()) return "a culprit is no sample";
    if (report.status == Status::stopped && problem.stop_after == 0) return "stopped, but not asked to";
    if (!travels(fit.model, x)) return "the saved model predicts otherwise";
    // Without a scale given, Huber's loss takes that of the noise; the noise of a fit with a tolerance is not refined.
    if (problem.loss.adapts() && !report.tolerance_given) return "";
    const AnyLoss loss = problem.loss.adapted(report.noise_deviation);
    return support::report_contradiction(
        fit, support::AskedFit<AnyLoss>{problem.samples, problem.options, loss, problem.gap});
}

/// Whether a refusal names something that the caller passed.
inline bool names_an_argument(std::string_view message, const StressProblem& problem) {
    constexpr std::string_view prefix = "kernelet: ";
    if (!message.starts_with(prefix)) return false;
    message.remove_prefix(prefix.size());
    const auto begins = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
            return message.starts_with(name) && message.size() > name.size() &&
                   std::string_view(" (.=").find(message[name.size()]) != std::string_view::npos;
        });
    };
    if (begins({"x", "y", "options", "loss", "solver"})) return true;
    if (begins({"the kernel"}) && message.find(" on x and the domain") != std::string_view::npos) return true;
    if (problem.samples.weights.size() > 0 && begins({"weights"})) return true;
    if (problem.samples.tolerances.size() > 0 && begins({"tolerances"})) return true;
    return problem.domain && begins({"the domain", "box", "widths", "width", "centers", "samples"});
}

}  // namespace bench
