#pragma once

#include <kernelet/detail/erased_fit.hpp>
#include <kernelet/detail/noise.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/dual_stage.hpp>
#include <kernelet/refit/discretize.hpp>

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet::detail {

template <class Scalar>
Samples checked_samples(const FitProblem& problem, Samples samples) {
    const Index n = samples.x.cols();
    require(samples.x.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
    require(n > 0, "x has no columns; x is d x n, one sample per column, n >= 1");
    if (samples.y.cols() == 1 && samples.y.rows() == n) samples.y.resize(1, n);
    require(samples.y.cols() == n && samples.y.rows() > 0, "y is ", samples.y.rows(), " x ", samples.y.cols(),
            " but x has ", n, " columns; x is d x n, one sample per column, y a column of n or q x n");
    require_finite(samples.x, "x");
    require_finite(samples.y, "y");
    for (Index i = 0; problem.loss.is_classification() && i < samples.y.size(); ++i)
        require(std::abs(samples.y(i)) == 1.0, "y(", i, ") = ", samples.y(i), " must be -1 or +1 for the ",
                problem.loss.held_name(), " loss");
    if (samples.weights.size() == 0) samples.weights = Vector::Ones(n);
    require(samples.weights.size() == n, "weights has ", samples.weights.size(), " entries for ", n,
            " samples");
    for (Index i = 0; i < n; ++i) require_positive(samples.weights(i), text("weights(", i, ")"));
    require(samples.tolerances.size() == 0 || samples.tolerances.size() == n, "tolerances has ",
            samples.tolerances.size(), " entries for ", n, " samples");
    require(samples.tolerances.size() == 0 || problem.options.scope == Scope::per_sample,
            "tolerances are one per sample: options.scope must be Scope::per_sample");
    for (Index i = 0; i < samples.tolerances.size(); ++i)
        require_nonnegative(samples.tolerances(i), text("tolerances(", i, ")"));
    return samples;
}

/// Σ_i w_i y_i / Σ w, q.
template <class Scalar>
Vector weighted_mean(const Matrix& y, const Vector& weights) {
    Vector mean = product<Scalar>(y, weights);
    scale<Scalar>(mean, 1.0 / sum<Scalar>(weights));
    return mean;
}

/// What the fit is measured from: zero where that is among the values of y, its range and a tenth more: the
/// paper's model, which has no offset. Elsewhere, as for a temperature in kelvin, the mean; also with an intercept
/// in the dual, where only rounding depends on it.
template <class Scalar>
Vector baseline(const FitProblem& problem, const Matrix& y, const Vector& weights) {
    constexpr double margin = 0.1;
    const Vector mean = weighted_mean<Scalar>(y, weights);
    if (problem.loss.is_classification()) return Vector::Zero(y.rows());
    if (problem.options.intercept.value_or(false)) return mean;
    Vector base = Vector::Zero(y.rows());
    if (!problem.options.center) return base;
    const auto [lo, hi] = bounding_box(y, margin);
    for (Index o = 0; o < y.rows(); ++o)
        if (lo(o) > 0.0 || hi(o) < 0.0) base(o) = mean(o);
    return base;
}

/// Samples ready to be fitted, in the units of the fit and in spatial order, y measured from its baseline.
struct PreparedSamples {
    std::vector<Index> order{};  ///< of the samples given
    Matrix x{}, y{};
    Vector weights{}, tolerance{}, offset{};
    bool tolerance_given = false;
    NoiseEstimate noise{0.0, 1.0};
};

template <class Scalar>
PreparedSamples prepared(const FitProblem& problem, const Samples& samples, const InputScaling& scaling) {
    PreparedSamples out;
    const Matrix unordered = scaling.to_internal(samples.x);
    out.order = spatial_order(unordered);
    out.x = columns_of<Scalar>(unordered, out.order);
    out.y = columns_of<Scalar>(samples.y, out.order);
    out.weights = entries_of<Scalar>(samples.weights, out.order);
    out.offset = baseline<Scalar>(problem, out.y, out.weights);
    for (Index i = 0; i < out.y.cols(); ++i)
        for (Index o = 0; o < out.y.rows(); ++o) out.y(o, i) -= out.offset(o);
    out.tolerance_given = problem.options.tolerance || samples.tolerances.size() > 0;
    if ((!out.tolerance_given || problem.loss.adapts()) && !problem.loss.is_classification())
        out.noise = noise_estimate<Scalar>(out.x, out.y);
    const AnyLoss loss = problem.loss.adapted(out.noise.deviation);
    if (samples.tolerances.size() > 0)
        out.tolerance = entries_of<Scalar>(samples.tolerances, out.order);
    else
        out.tolerance = Vector::Constant(
            out.y.cols(), problem.options.tolerance
                              ? *problem.options.tolerance
                              : default_tolerance(loss, out.x, out.y, out.noise.deviation, problem.options));
    return out;
}

/// The dual, of which one is solved again and again along the path of γ.
using ErasedDualStage = DualStage<AnyKernel, AnyLoss, AnyDomain, ErasedSolver>;

/// One fit, stage by stage.
template <class Scalar>
class FitRun {
public:
    FitRun(const FitProblem& problem, const InputScaling& scaling, const AnyDomain& domain,
           ObserverFunction observer)
        : problem_(problem),
          scaling_(scaling),
          domain_(domain.with_parameters(parameter_layout(problem.kernel, domain.dimension()))),
          observer_(std::move(observer)) {
        if (observer_)
            watch_ = [this](const Progress& progress) {
                Progress timed = progress;
                timed.seconds = seconds();
                if (observer_(timed) == Verdict::stop) stopped_ = true;
                return stopped_ ? Verdict::stop : Verdict::proceed;
            };
    }
    FitRun(const FitRun&) = delete;  // watch_ refers to this
    FitRun& operator=(const FitRun&) = delete;

    /// The composition. Everything is in the units of the fit.
    ErasedFit operator()(const Samples& samples, const WarmStart& warm) {
        const PreparedSamples data = prepared<Scalar>(problem_, samples, scaling_);
        const TiledPoints points(data.x);
        const AnyLoss loss = problem_.loss.adapted(data.noise.deviation);
        report_.noise_deviation = data.noise.deviation;
        report_.tolerance = max_abs(data.tolerance);
        report_.samples = data.x.cols();
        report_.dual_samples = std::min(data.x.cols(), problem_.options.dual_samples);

        // The dual, on a random part of the samples where they are very many.
        const std::vector<Index> part = random_part(data.x.cols(), report_.dual_samples,
                                                    CounterRandom(problem_.options.seed, part_stream));
        const Matrix part_x = columns_of<Scalar>(data.x, part), part_y = columns_of<Scalar>(data.y, part);
        const Vector part_weights = entries_of<Scalar>(data.weights, part),
                     part_tolerance = entries_of<Scalar>(data.tolerance, part);
        const TiledPoints part_points(part_x);
        std::vector<Index> given;  // the part, in the order of the samples given
        for (const Index i : part) given.push_back(data.order[static_cast<std::size_t>(i)]);
        const ErasedDualStage stage{problem_.kernel, loss,           domain_,         part_points,     part_y,
                                    part_weights,    part_tolerance, problem_.solver, problem_.options};
        WarmStart from = warm;
        if (warm.lambda.size() > 0) from.lambda = columns_of<Scalar>(warm.lambda, given);
        SolvedDual dual = solve(stage, from);

        const Matrix candidates = stage.problem(stage.feasible(part_tolerance)).nodes(candidate_nodes).nodes;
        const auto read_off = [&](const SolvedDual& solved) {
            const FeasibleSet<AnyLoss> all(loss, data.y, problem_.options.scope,
                                           stage.relaxed(data.tolerance, solved), data.weights);
            return discretize(problem_.kernel, domain_, points, all, part_x, solved.solution,
                              solved.certificate.gamma, candidates,
                              {data.tolerance_given ? report_.tolerance : data.noise.deviation,
                               data.noise.known, data.tolerance_given, any_nonzero(data.offset)},
                              problem_.options);
        };
        Discretization chosen = read_off(dual);
        // Along the path of growing γ for the best model within max_kernels.
        for (int doubling = 0; doubling < path_doublings && chosen.bound == Bound::max_kernels && !stopped_ &&
                               !dual.infeasible && !problem_.options.gamma && !chosen.large;
             ++doubling) {
            from.lambda = dual.solution.lambda;
            from.gamma = 4.0 * dual.certificate.gamma;  // twice the threshold
            SolvedDual next = solve(stage, from);
            Discretization candidate = read_off(next);
            if (!(candidate.cost < chosen.cost)) continue;
            next.unsparse_height = dual.unsparse_height;
            dual = std::move(next);
            chosen = std::move(candidate);
        }
        ErasedFit fit{.scaling = scaling_, .field_x = part_x, .field_lambda = dual.solution.lambda};
        report_dual(dual, data, given);
        fit.multipliers = Matrix::Zero(data.y.rows(), data.y.cols());
        for (std::size_t i = 0; i < given.size(); ++i)
            copy(ConstBlock(dual.solution.lambda).columns(static_cast<Index>(i), 1),
                 Block(fit.multipliers).columns(given[i], 1));
        report_.prices = column_norms<Scalar>(fit.multipliers);
        report_model(loss, data, points, chosen);
        report_.seconds.refit = seconds() - report_.seconds.dual - report_.seconds.peaks;
        if (watch_) watch_({"refit", 0, 1, report_.dual_value, report_.relative_gap(), 0.0});
        fit.nodes = std::move(chosen.nodes);
        fit.coefficients = std::move(chosen.coefficients);
        fit.offset = data.offset;
        add_scaled<Scalar>(fit.offset, 1.0, chosen.offset);
        fit.statistics = std::move(chosen.statistics);
        fit.report = std::move(report_);
        return fit;
    }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr Index candidate_nodes = 1500;    // from which kernels are added to a model
    static constexpr std::uint64_t part_stream = 41;  // of the generator: which samples the dual is solved on
    static constexpr int path_doublings = 2;  // of the threshold, in search of a model within max_kernels

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    SolvedDual solve(const ErasedDualStage& stage, const WarmStart& from) {
        const double before = report_.seconds.dual > 0.0 ? seconds() : 0.0;
        SolvedDual dual = stage.solve(from, watch_);
        report_.seconds.dual += seconds() - before;
        return dual;
    }

    void report_dual(const SolvedDual& dual, const PreparedSamples& data, const std::vector<Index>& given) {
        static_cast<Certificate&>(report_) = dual.certificate;
        report_.unsparse_height = dual.unsparse_height;
        report_.solved_tolerance = max_abs(dual.tolerances);
        // A tolerance that was not asked for is whatever turned out to be feasible.
        if (!data.tolerance_given) report_.tolerance = report_.solved_tolerance;
        const bool infeasible = dual.infeasible && data.tolerance_given;
        report_.status = infeasible ? Status::infeasible : dual.solution.status;
        for (const Index i : infeasible ? dual.culprits : std::vector<Index>{})
            report_.culprits.push_back(given[static_cast<std::size_t>(i)]);
    }

    void report_model(const AnyLoss& loss, const PreparedSamples& data, const TiledPoints& points,
                      Discretization& chosen) {
        // A constant, where no kernel is worth it, is the mean.
        if (chosen.nodes.cols() == 0 && problem_.options.center &&
            !problem_.options.intercept.value_or(false) && !loss.is_classification())
            chosen.offset = weighted_mean<Scalar>(data.y, data.weights);
        report_.peaks = chosen.peaks;
        report_.merged = chosen.merged;
        report_.bound = chosen.bound;
        report_.kernels = chosen.nodes.cols();
        report_.seconds.peaks = chosen.peak_seconds;
        const Matrix prediction =
            expansion_values(problem_.kernel, points, {chosen.nodes, chosen.coefficients, chosen.offset});
        const FeasibleSet<AnyLoss> asked(loss, data.y, problem_.options.scope, data.tolerance, data.weights);
        report_.residual = asked.residual(prediction);
        constexpr double rounding = 1e-9;
        report_.model_violation = asked.violation(prediction);
        if (report_.model_violation <= rounding * (report_.tolerance + max_abs(data.y)))
            report_.model_violation = 0.0;
        const bool missed = data.tolerance_given && report_.model_violation > 0.0;
        if (stopped_)
            report_.status = Status::stopped;
        else if (report_.bound == Bound::max_kernels && report_.status != Status::infeasible)
            report_.status = Status::kernel_limit;
        else if (missed && report_.status == Status::converged)
            report_.status = Status::tolerance_missed;
    }

    const FitProblem& problem_;
    const InputScaling& scaling_;
    AnyDomain domain_;
    ObserverFunction observer_, watch_{};
    Clock::time_point start_ = Clock::now();
    bool stopped_ = false;
    Report report_{};
};

template <class Scalar>
ErasedFit fit_samples(const FitProblem& problem, const Samples& given, ObserverFunction observer,
                      const WarmStart& warm) {
    const Samples samples = checked_samples<Scalar>(problem, given);
    const InputScaling scaling = problem.options.standardize ? InputScaling::standard(samples.x)
                                                             : InputScaling::identity(samples.x.rows());
    const Matrix x = scaling.to_internal(samples.x);
    const AnyDomain domain = x.rows() >= around_samples_from_dimension
                                 ? AnyDomain(AroundSamples(x, widths_from_samples(x)))
                                 : AnyDomain(box_from_samples(x));
    return FitRun<Scalar>(problem, scaling, domain, std::move(observer))(samples, warm);
}

template <class Scalar>
ErasedFit fit_on_domain(const FitProblem& problem, const Samples& given, const AnyDomain& domain,
                        ObserverFunction observer) {
    const Samples samples = checked_samples<Scalar>(problem, given);
    require(domain.dimension() == samples.x.rows(), "the domain has ", domain.dimension(),
            " coordinates but x has ", samples.x.rows(), " rows");
    return FitRun<Scalar>(problem, InputScaling::identity(samples.x.rows()), domain, std::move(observer))(
        samples, {});
}

}  // namespace kernelet::detail
