#pragma once

#include <kernelet/erased_fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

/// The unit of y inside a fit.
namespace kernelet::detail {

/// A power of two by which y is divided inside a fit, so that squares of y, which costs and multipliers are made of, stay in
/// the range of a double. It is 1 up to extreme values: all else is then in the user's units, the step sizes of Algorithm 1
/// among it. Only the squared loss scales with y: with y/s, α, λ, tolerances and residuals are divided by s, and γ, D
/// and P by s².
class TargetUnit {
public:
    TargetUnit() = default;

    static TargetUnit of(const FitProblem& problem, const Matrix& y) {
        constexpr int usual = 100;  // 2^±100: fourth powers are in range too
        double largest = 0.0;
        for (Index i = 0; i < y.size(); ++i) largest = std::max(largest, std::abs(y(i)));
        TargetUnit unit;
        if (problem.loss.is_classification() || !(largest > 0.0) || !std::isfinite(largest)) return unit;
        int exponent = 0;
        std::frexp(largest, &exponent);
        if (std::abs(exponent) <= usual) return unit;
        require(is_squared(problem.loss), "y is ", largest, " in size; the ", problem.loss.held_name(),
                " loss needs values between 2^-100 and 2^100: scale y");
        unit.exponent_ = exponent;
        return unit;
    }

    bool is_one() const { return exponent_ == 0; }

    /// The problem in this unit. A tolerance or a γ far beyond the size of y gives no kernel in either unit.
    FitProblem problem(FitProblem problem) const {
        Options& options = problem.options;
        if (options.tolerance) options.tolerance = std::min(inside(*options.tolerance), most_inside);
        if (options.gamma) options.gamma = std::min(inside(inside(*options.gamma)), most_inside);
        return problem;
    }
    Samples samples(Samples samples) const {
        for (Index i = 0; i < samples.y.size(); ++i) samples.y(i) = inside(samples.y(i));
        for (Index i = 0; i < samples.tolerances.size(); ++i)
            if (std::isfinite(samples.tolerances(i)))
                samples.tolerances(i) = std::min(inside(samples.tolerances(i)), most_inside);
        return samples;
    }
    FitRequest request(FitRequest request) const {
        WarmStart& warm = request.warm;
        for (Index i = 0; i < warm.lambda.size(); ++i) warm.lambda(i) = inside(warm.lambda(i));
        if (warm.gamma) warm.gamma = std::min(inside(inside(*warm.gamma)), most_inside);
        if (warm.unsparse_height) warm.unsparse_height = inside(*warm.unsparse_height);
        if (request.observer)
            request.observer = [unit = *this, observer = std::move(request.observer)](Progress progress) {
                progress.dual_value = unit.square(progress.dual_value);
                return observer(progress);
            };
        return request;
    }

    /// The fit in the user's unit. D and P beyond the range of a double certify nothing, and a covariance below it is left
    /// out. `asked` is the problem as it was given.
    ErasedFit fit(ErasedFit fit, const FitProblem& asked) const {
        to_user(fit);
        for (SizedModel& sized : fit.sizes) {
            to_user(sized.model);
            sized.residual = outside(sized.residual);
        }
        to_user(fit.field_lambda);
        to_user(fit.multipliers);
        to_user(fit.report);
        if (asked.options.tolerance) fit.report.tolerance = *asked.options.tolerance;
        if (asked.options.gamma) fit.report.gamma = *asked.options.gamma;
        return fit;
    }

private:
    static constexpr double most_inside = 1e100;

    double inside(double value) const { return std::ldexp(value, -exponent_); }
    double outside(double value) const {
        constexpr double most = std::numeric_limits<double>::max();
        return std::clamp(std::ldexp(value, exponent_), -most, most);
    }
    double square(double value) const { return outside(outside(value)); }
    static bool in_range(double value) {
        return value == 0.0 || (std::abs(value) >= std::numeric_limits<double>::min() &&
                                std::abs(value) < std::numeric_limits<double>::max());
    }

    template <class Values>
    void to_user(Values& values) const requires requires {
        values.data();
    }
    {
        for (Index i = 0; i < values.size(); ++i) values.data()[i] = outside(values.data()[i]);
    }

    void to_user(ErasedModel& model) const {
        to_user(model.coefficients);
        to_user(model.offset);
        to_user(model.slopes);
        ModelStatistics& known = model.statistics;
        to_user(known.noise);
        to_user(known.discrepancy);
        // In the order of ModelStatistics: coefficients, kernels, trend; centers and widths do not have the unit of y.
        const Index first = model.coefficients.size(), behind = first + model.nodes.size();
        bool lost = false;
        for (Index j = 0; j < known.covariance.cols(); ++j)
            for (Index i = 0; i < known.covariance.rows(); ++i) {
                double& value = known.covariance(i, j);
                if (i < first || i >= behind) value = outside(value);
                if (j < first || j >= behind) value = outside(value);
                lost = lost || !in_range(value);
            }
        if (lost) known.covariance = Matrix();
    }

    void to_user(Report& report) const {
        const double dual = square(report.dual_value), primal = square(report.primal_value);
        report.certified = report.certified && in_range(dual) && in_range(primal) &&
                           (dual != 0.0) == (report.dual_value != 0.0);
        report.dual_value = dual;
        report.primal_value = primal;
        report.gamma = square(report.gamma);
        for (double* value :
             {&report.max_violation, &report.tolerance, &report.noise_deviation, &report.solved_tolerance,
              &report.unsparse_height, &report.residual, &report.model_violation})
            *value = outside(*value);
        to_user(report.prices);
    }

    int exponent_ = 0;
};

}  // namespace kernelet::detail
