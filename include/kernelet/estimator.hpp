#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/noise.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/refit/least_squares.hpp>
#include <kernelet/refit/prune.hpp>
#include <kernelet/report.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace kernelet {

/// What fit() returns: the model to ship, the field it was read off, and the report.
template <KernelFamily Kernel>
struct Fit {
    SparseKernelModel<Kernel> model;
    CoefficientField<Kernel> field;
    Report report;
};

/// samples → dual → field → peaks → refit → model. A value; fit() is const and may be called from many
/// threads.
template <KernelFamily Kernel = Gaussian, ConvexLoss Loss = SquaredLoss, DualSolver Solver = AutomaticSolver>
class SparseKernelEstimator {
public:
    explicit SparseKernelEstimator(Options options = {}, Solver solver = Solver{}, Kernel kernel = Kernel{},
                                   Loss loss = Loss{})
        : options_(std::move(options)),
          solver_(std::move(solver)),
          kernel_(std::move(kernel)),
          loss_(std::move(loss)) {
        options_.validate();
    }

    const Options& options() const { return options_; }

    /// x is d x n, one sample a column; y a column of n targets or q x n; any Eigen expression, float or
    /// double. The domain is read off the data (PII).
    template <class X, class Y>
    Fit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) const {
        return fit(gathered(x, y));
    }
    template <class X, class Y, Domain Omega>
    Fit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y, const Omega& domain) const {
        return fit(gathered(x, y), domain);
    }
    template <class X, class Y, Observer Watch>
    Fit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y, Watch observer) const {
        return fit(gathered(x, y), std::move(observer));
    }
    template <class X, class Y, Domain Omega, Observer Watch>
    Fit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y, const Omega& domain,
                    Watch observer) const {
        return fit(gathered(x, y), domain, std::move(observer));
    }

    Fit<Kernel> fit(const Samples& samples) const { return fit_on_samples(samples, {}); }
    template <Observer Watch>
    Fit<Kernel> fit(const Samples& samples, Watch observer) const {
        return fit_on_samples(samples, std::move(observer));
    }
    template <Domain Omega>
    Fit<Kernel> fit(const Samples& samples, const Omega& domain) const {
        return fit_on_domain(samples, domain, {});
    }
    template <Domain Omega, Observer Watch>
    Fit<Kernel> fit(const Samples& samples, const Omega& domain, Watch observer) const {
        return fit_on_domain(samples, domain, std::move(observer));
    }

private:
    using Clock = std::chrono::steady_clock;

    template <class X, class Y>
    static Samples gathered(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) {
        Samples samples;
        samples.x = x.template cast<double>();
        samples.y = y.template cast<double>();
        return samples;
    }

    static double seconds_since(Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    }

    /// Sizes and values checked; y as q x n, weights filled in.
    Samples checked(Samples samples) const {
        const Index n = samples.x.cols();
        detail::require(samples.x.rows() > 0, "x has no rows; x is d x n, one sample a column, d >= 1");
        detail::require(n > 0, "x has no columns; x is d x n, one sample a column, n >= 1");
        if (samples.y.cols() == 1 && samples.y.rows() == n) samples.y.transposeInPlace();
        detail::require(samples.y.cols() == n && samples.y.rows() > 0, "y is ", samples.y.rows(), " x ",
                        samples.y.cols(), " but x has ", n,
                        " columns; x is d x n, one sample a column, y a column of n or q x n");
        detail::require_finite(samples.x, "x");
        detail::require_finite(samples.y, "y");
        if (samples.weights.size() == 0) samples.weights = Vector::Ones(n);
        detail::require(samples.weights.size() == n, "weights has ", samples.weights.size(), " entries for ",
                        n, " samples");
        for (Index i = 0; i < n; ++i)
            detail::require_positive(samples.weights(i), detail::text("weights(", i, ")"));
        detail::require(samples.tolerances.size() == 0 || samples.tolerances.size() == n, "tolerances has ",
                        samples.tolerances.size(), " entries for ", n, " samples");
        detail::require(samples.tolerances.size() == 0 || options_.scope == Scope::per_sample,
                        "tolerances are one a sample: options.scope must be Scope::per_sample");
        for (Index i = 0; i < samples.tolerances.size(); ++i)
            detail::require_nonnegative(samples.tolerances(i), detail::text("tolerances(", i, ")"));
        return samples;
    }

    Fit<Kernel> fit_on_samples(const Samples& given, ObserverFunction observer) const {
        const Samples samples = checked(given);
        const InputScaling scaling = options_.standardize ? InputScaling::standard(samples.x)
                                                          : InputScaling::identity(samples.x.rows());
        const Matrix x = scaling.to_internal(samples.x);
        if (x.rows() >= around_samples_from_dimension)
            return run(samples, scaling, AroundSamples(x, widths_from_samples(x)), std::move(observer));
        return run(samples, scaling, box_from_samples(x), std::move(observer));
    }

    template <class Omega>
    Fit<Kernel> fit_on_domain(const Samples& given, const Omega& domain, ObserverFunction observer) const {
        const Samples samples = checked(given);
        detail::require(domain.dimension() == samples.x.rows(), "the domain has ", domain.dimension(),
                        " coordinates but x has ", samples.x.rows(), " rows");
        return run(samples, InputScaling::identity(samples.x.rows()), domain, std::move(observer));
    }

    /// The smallest tolerance chosen for the user, relative to the deviation of y: noise-free data need not
    /// be met to the last bit.
    static constexpr double least_relative_tolerance = 5e-3;

    Vector tolerances(const Samples& samples, const Matrix& x, const Matrix& y, Report& report) const {
        if (samples.tolerances.size() > 0) return samples.tolerances;
        if (options_.tolerance) return Vector::Constant(y.cols(), *options_.tolerance);
        report.noise_deviation = detail::noise_deviation(x, y);
        const double deviation = y.norm() / std::sqrt(static_cast<double>(y.size()));
        return Vector::Constant(y.cols(), std::max(options_.noise_multiple * report.noise_deviation,
                                                   least_relative_tolerance * deviation));
    }

    /// The composition. Everything is in the units of the fit from here on.
    template <class Omega>
    Fit<Kernel> run(const Samples& samples, const InputScaling& scaling, const Omega& given_domain,
                    ObserverFunction observer) const {
        const Clock::time_point start = Clock::now();
        Report report;
        ObserverFunction watch;
        bool stopped = false;
        if (observer)
            watch = [&](const Progress& progress) {
                Progress timed = progress;
                timed.seconds = seconds_since(start);
                if (observer(timed) == Verdict::stop) stopped = true;
                return stopped ? Verdict::stop : Verdict::proceed;
            };

        // samples in spatial order, y centered
        const Matrix unordered = scaling.to_internal(samples.x);
        const std::vector<Index> order = detail::spatial_order(unordered);
        const Matrix x = unordered(Eigen::all, order);
        Matrix y = samples.y(Eigen::all, order);
        const Vector weights = samples.weights(order);
        Samples ordered;
        if (samples.tolerances.size() > 0) ordered.tolerances = samples.tolerances(order);
        const Vector offset = options_.center ? Vector(y * weights / weights.sum()) : Vector::Zero(y.rows());
        y.colwise() -= offset;

        // dual
        const Omega domain = given_domain.with_parameters(kernel_.parameters(x.rows()));
        const detail::TiledPoints points(x);
        const Vector tolerance = tolerances(ordered, x, y, report);
        const FeasibleSet<Loss> feasible(loss_, y, options_.scope, tolerance, weights);
        DualProblem<Kernel, Loss, Omega> problem(kernel_, domain, points, feasible,
                                                 options_.gamma.value_or(0.0), options_.seed);
        DualSolution solution;
        if (!options_.gamma && options_.sparsity > 0.0) {
            // √(2γ) = s·max‖ᾱ₀‖, ᾱ₀ the solution without sparsity, which is also where the next solve begins
            solution = solver_.solve(problem, watch);
            const Matrix unsparse = problem.field(solution.lambda, solution.quadrature.nodes);
            const double tau = options_.sparsity * unsparse.colwise().norm().maxCoeff();
            problem.gamma = 0.5 * tau * tau;
            problem.warm_start = &solution.lambda;
        }
        if (!stopped) solution = solver_.solve(problem, watch);
        report_dual(report, solution, problem);
        report.tolerance = tolerance.maxCoeff();
        report.seconds.dual = seconds_since(start);

        // field, peaks
        CoefficientField<Kernel> field(kernel_, x, solution.lambda, problem.gamma, scaling,
                                       report.support_measure);
        ExtractedPeaks extracted =
            extract_peaks(field, domain, points, solution.quadrature.nodes, options_.peaks);
        report.peaks = static_cast<Index>(extracted.peaks.size());
        report.merged = extracted.merged;
        report.seconds.peaks = seconds_since(start) - report.seconds.dual;

        // refit
        Matrix nodes(domain.rows(), report.peaks);
        for (Index j = 0; j < report.peaks; ++j)
            nodes.col(j) = extracted.peaks[static_cast<std::size_t>(j)].node;
        const bool limited = options_.max_kernels && nodes.cols() > *options_.max_kernels;
        if (limited)
            nodes = nodes(Eigen::all, keep_cheapest(kernel_, points, nodes, y, weights, options_.ridge,
                                                    *options_.max_kernels))
                        .eval();
        LeastSquaresFit refit = least_squares(kernel_, points, nodes, y, weights, options_.ridge);
        report.merged += static_cast<Index>(refit.redundant.size());
        std::vector<Index> kept;
        for (Index j = 0; j < nodes.cols(); ++j)
            if (!std::binary_search(refit.redundant.begin(), refit.redundant.end(), j)) kept.push_back(j);
        SparseKernelModel<Kernel> model(kernel_, scaling, nodes(Eigen::all, kept),
                                        refit.coefficients(kept, Eigen::all), offset);

        const Matrix residual =
            detail::synthesize(kernel_, points, model.nodes(), model.coefficients().transpose()) - y;
        report.kernels = model.size();
        report.residual = options_.scope == Scope::per_sample
                              ? residual.cwiseAbs().maxCoeff()
                              : std::sqrt(residual.cwiseAbs2().colwise().sum().dot(weights.transpose()) /
                                          (weights.sum() * static_cast<double>(y.rows())));
        constexpr double rounding = 1e-9;
        const bool missed = feasible.violation(residual + y) > rounding * (1.0 + report.tolerance);
        if (stopped)
            report.status = Status::stopped;
        else if (missed && limited)
            report.status = Status::kernel_limit;
        else if (missed && report.status == Status::converged)
            report.status = Status::tolerance_missed;
        report.seconds.refit = seconds_since(start) - report.seconds.dual - report.seconds.peaks;
        return {std::move(model), std::move(field), report};
    }

    template <class Problem>
    static void report_dual(Report& report, const DualSolution& solution, const Problem& problem) {
        report.status = solution.status;
        report.dual_value = solution.dual_value;
        report.primal_value = solution.primal_value;
        report.max_violation = solution.violation;
        report.gamma = problem.gamma;
        report.nodes = solution.quadrature.nodes.cols();
        report.iterations = solution.iterations;
        const Matrix raw = problem.field(solution.lambda, solution.quadrature.nodes);
        const double tau = penalty::threshold(problem.gamma);
        const double highest = raw.size() > 0 ? raw.colwise().norm().maxCoeff() : 0.0;
        report.threshold_ratio = highest > 0.0 ? tau / highest : 0.0;
        for (Index j = 0; j < raw.cols(); ++j)
            if (raw.col(j).norm() > tau) report.support_measure += solution.quadrature.weights(j);
    }

    Options options_;
    Solver solver_;
    Kernel kernel_;
    Loss loss_;
};

}  // namespace kernelet
