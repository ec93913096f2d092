#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/noise.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/options.hpp>
#include <kernelet/refit/discretize.hpp>
#include <kernelet/report.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// What fit() returns: the model to ship, the field it was read off, and the report.
template <KernelFamily Kernel>
struct Fit {
    SparseKernelModel<Kernel> model;
    CoefficientField<Kernel> field;
    Report report;
    Matrix multipliers{};  ///< λ, q x n, in the order of the samples: where a later fit may begin
};

/// One row of a regularization path.
struct PathRow {
    double sparsity{};  ///< as asked
    double gamma{};
    Index kernels{};
    double residual{};
    double relative_gap{};
    double support_measure{};
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

    /// Begins where an earlier fit ended: its λ for the samples it knew, its γ, and zero for samples appended
    /// since. The samples it knew must come first and in the same order.
    template <class X, class Y>
    Fit<Kernel> fit_from(const Fit<Kernel>& earlier, const Eigen::MatrixBase<X>& x,
                         const Eigen::MatrixBase<Y>& y) const {
        const Samples samples = checked(gathered(x, y));
        detail::require(
            earlier.multipliers.rows() == samples.y.rows() && earlier.multipliers.cols() <= samples.y.cols(),
            "the earlier fit has ", earlier.multipliers.cols(), " samples of ", earlier.multipliers.rows(),
            " outputs; x must hold those and may append more, and has ", samples.y.cols(), " of ",
            samples.y.rows());
        WarmStart warm;
        warm.lambda = Matrix::Zero(samples.y.rows(), samples.y.cols());
        warm.lambda.leftCols(earlier.multipliers.cols()) = earlier.multipliers;
        warm.gamma = options_.gamma.value_or(earlier.report.gamma);
        return fit_on_samples(samples, {}, warm);
    }

    /// One fit for each sparsity of the grid, each begun where the last ended: how kernels, error and gap
    /// trade off. The grid is of Options::sparsity, in any order.
    template <class X, class Y>
    std::vector<PathRow> regularization_path(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y,
                                             const std::vector<double>& grid) const {
        const Samples samples = checked(gathered(x, y));
        for (std::size_t k = 0; k < grid.size(); ++k)
            detail::require_nonnegative(grid[k], detail::text("grid[", k, "]"));
        std::vector<PathRow> rows;
        WarmStart warm;
        for (const double sparsity : grid) {
            Options options = options_;
            options.sparsity = sparsity;
            options.gamma.reset();
            const Fit<Kernel> fit =
                SparseKernelEstimator(options, solver_, kernel_, loss_).fit_on_samples(samples, {}, warm);
            warm.lambda = fit.multipliers;
            warm.unsparse_height = fit.report.unsparse_height;
            rows.push_back({sparsity, fit.report.gamma, fit.report.kernels, fit.report.residual,
                            fit.report.relative_gap(), fit.report.support_measure});
        }
        return rows;
    }

private:
    using Clock = std::chrono::steady_clock;

    /// What an earlier solution knows: λ in the samples' order as given, γ, and max‖ᾱ₀‖ from which γ is made.
    struct WarmStart {
        Matrix lambda{};
        std::optional<double> gamma{};
        std::optional<double> unsparse_height{};
    };

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

    Fit<Kernel> fit_on_samples(const Samples& given, ObserverFunction observer,
                               const WarmStart& warm = {}) const {
        const Samples samples = checked(given);
        const InputScaling scaling = options_.standardize ? InputScaling::standard(samples.x)
                                                          : InputScaling::identity(samples.x.rows());
        const Matrix x = scaling.to_internal(samples.x);
        if (x.rows() >= around_samples_from_dimension)
            return run(samples, scaling, AroundSamples(x, widths_from_samples(x)), std::move(observer), warm);
        return run(samples, scaling, box_from_samples(x), std::move(observer), warm);
    }

    template <class Omega>
    Fit<Kernel> fit_on_domain(const Samples& given, const Omega& domain, ObserverFunction observer) const {
        const Samples samples = checked(given);
        detail::require(domain.dimension() == samples.x.rows(), "the domain has ", domain.dimension(),
                        " coordinates but x has ", samples.x.rows(), " rows");
        return run(samples, InputScaling::identity(samples.x.rows()), domain, std::move(observer), {});
    }

    /// The smallest tolerance chosen for the user, relative to the deviation of y: noise-free data need not
    /// be met to the last bit.
    static constexpr double least_relative_tolerance = 5e-3;
    /// And the largest: among few samples in many dimensions rough signal looks like noise, and a dual solved
    /// at the deviation of y itself has no peaks. The information criterion decides later what is noise.
    static constexpr double most_relative_tolerance = 0.5;

    Vector tolerances(const Samples& samples, const Matrix& x, const Matrix& y, Report& report) const {
        if (samples.tolerances.size() > 0) return samples.tolerances;
        if (options_.tolerance) return Vector::Constant(y.cols(), *options_.tolerance);
        report.noise_deviation = detail::noise_deviation(x, y);
        const double deviation = y.norm() / std::sqrt(static_cast<double>(y.size()));
        constexpr double room = 1.1;  // over what no function can go below
        return Vector::Constant(y.cols(),
                                std::max({std::min(options_.noise_multiple * report.noise_deviation,
                                                   most_relative_tolerance * deviation),
                                          least_relative_tolerance * deviation,
                                          room * detail::duplicate_residual(x, y, options_.scope)}));
    }

    struct DualStage {
        DualSolution solution{};
        Certificate certificate{};
        double unsparse_height = 0.0;  // max‖ᾱ₀‖
        bool infeasible = false;
        Vector tolerances{};  // solved at
        std::vector<Index> culprits{};
    };

    /// Solves the dual at γ = 0, sets the threshold by it and solves again from there. Where the tolerance is
    /// infeasible, says whom to blame and doubles it until it is not, so that there is a best point to keep.
    /// `warm` is in spatial order.
    template <class Omega>
    DualStage solve_dual(const Matrix& y, const Vector& tolerance, const Vector& weights,
                         const detail::TiledPoints& points, const Omega& domain,
                         const ObserverFunction& watch, const WarmStart& warm) const {
        const double scale = y.norm() / std::sqrt(static_cast<double>(y.size()));
        std::optional<double> gamma = options_.gamma ? options_.gamma : warm.gamma;
        if (!gamma && options_.sparsity == 0.0) gamma = 0.0;
        if (!gamma && warm.unsparse_height) gamma = threshold_to_gamma(*warm.unsparse_height);
        DualStage stage;
        stage.unsparse_height = warm.unsparse_height.value_or(0.0);
        for (double relaxation = 1.0;; relaxation *= 2.0) {
            const Vector relaxed =
                stage.infeasible
                    ? Vector((relaxation * tolerance).array().max(first_relaxed * relaxation * scale))
                    : tolerance;
            const FeasibleSet<Loss> feasible(loss_, y, options_.scope, relaxed, weights);
            DualProblem<Kernel, Loss, Omega> problem(kernel_, domain, points, feasible, gamma.value_or(0.0),
                                                     options_.seed);
            problem.warm_start = warm.lambda.size() > 0 && !stage.infeasible ? &warm.lambda : nullptr;
            // Without sparsity all nodes are on, and only the height of ᾱ₀ is asked for: few nodes do.
            const Quadrature few = gamma ? Quadrature{} : problem.nodes(unsparse_nodes);
            if (!gamma) problem.fixed_nodes = &few;
            stage.solution = solver_.solve(problem, watch);
            problem.fixed_nodes = nullptr;
            if (!gamma && (stage.solution.status == Status::converged ||
                           stage.solution.status == Status::iteration_limit)) {
                // √(2γ) = s·max‖ᾱ₀‖, ᾱ₀ the solution without sparsity, which is also where the next solve
                // begins
                const Matrix unsparse = problem.field(stage.solution.lambda, stage.solution.quadrature.nodes);
                stage.unsparse_height = unsparse.size() > 0 ? unsparse.colwise().norm().maxCoeff() : 0.0;
                problem.gamma = threshold_to_gamma(stage.unsparse_height);
                const Matrix lambda = stage.solution.lambda;
                problem.warm_start = &lambda;
                stage.solution = solver_.solve(problem, watch);
                problem.warm_start = nullptr;
            }
            if (stage.solution.status == Status::infeasible && relaxed.maxCoeff() < most_relaxed * scale) {
                if (!stage.infeasible) stage.culprits = culprits(stage.solution.lambda);
                stage.infeasible = true;
                continue;
            }
            stage.tolerances = relaxed;
            stage.certificate = certify(problem, stage.solution);
            return stage;
        }
    }

    double threshold_to_gamma(double unsparse_height) const {
        const double tau = options_.sparsity * unsparse_height;
        return 0.5 * tau * tau;
    }

    static constexpr Index unsparse_nodes = 2048;  // on which ᾱ₀ is found: 4096 move its height by 2 %

    // Relaxing a tolerance of zero begins at this share of the size of y, and ends where zero itself is long
    // feasible.
    static constexpr double first_relaxed = 1e-3;
    static constexpr double most_relaxed = 4.0;
    static constexpr Index candidate_nodes = 1500;  // from which kernels are added to a model
    static constexpr int path_doublings = 2;  // of the threshold, in search of a model within max_kernels

    /// The composition. Everything is in the units of the fit from here on.
    template <class Omega>
    Fit<Kernel> run(const Samples& samples, const InputScaling& scaling, const Omega& given_domain,
                    ObserverFunction observer, const WarmStart& warm) const {
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
        report.tolerance = tolerance.maxCoeff();
        WarmStart from = warm;
        if (warm.lambda.size() > 0) from.lambda = warm.lambda(Eigen::all, order);
        DualStage dual = solve_dual(y, tolerance, weights, points, domain, watch, from);
        double dual_seconds = seconds_since(start);
        const bool tolerance_given = options_.tolerance || samples.tolerances.size() > 0;
        const Matrix candidates = [&] {
            const FeasibleSet<Loss> feasible(loss_, y, options_.scope, tolerance, weights);
            return DualProblem<Kernel, Loss, Omega>(kernel_, domain, points, feasible, 0.0, options_.seed)
                .nodes(candidate_nodes)
                .nodes;
        }();
        const auto read_off = [&](const DualStage& stage) {
            const FeasibleSet<Loss> feasible(loss_, y, options_.scope, stage.tolerances, weights);
            return discretize(
                kernel_, domain, points, feasible, x, stage.solution, stage.certificate.gamma, candidates,
                {tolerance_given ? report.tolerance : report.noise_deviation, tolerance_given}, options_);
        };
        Discretization chosen = read_off(dual);
        // Along the path of growing γ for the best model within max_kernels.
        for (int doubling = 0; doubling < path_doublings && chosen.bound == Bound::max_kernels && !stopped &&
                               !dual.infeasible && !options_.gamma;
             ++doubling) {
            from.lambda = dual.solution.lambda;
            from.gamma = 4.0 * dual.certificate.gamma;  // twice the threshold
            const double before = seconds_since(start);
            DualStage next = solve_dual(y, tolerance, weights, points, domain, watch, from);
            dual_seconds += seconds_since(start) - before;
            Discretization candidate = read_off(next);
            if (candidate.squared_error < chosen.squared_error) {
                next.unsparse_height = dual.unsparse_height;
                dual = std::move(next);
                chosen = std::move(candidate);
            }
        }
        static_cast<Certificate&>(report) = dual.certificate;
        report.unsparse_height = dual.unsparse_height;
        report.status = dual.infeasible ? Status::infeasible : dual.solution.status;
        report.solved_tolerance = dual.tolerances.maxCoeff();
        report.prices = Vector(x.cols());
        Matrix multipliers(y.rows(), y.cols());
        for (Index i = 0; i < x.cols(); ++i) {
            multipliers.col(order[static_cast<std::size_t>(i)]) = dual.solution.lambda.col(i);
            report.prices(order[static_cast<std::size_t>(i)]) = dual.solution.lambda.col(i).norm();
        }
        for (const Index i : dual.culprits) report.culprits.push_back(order[static_cast<std::size_t>(i)]);
        report.peaks = chosen.peaks;
        report.merged = chosen.merged;
        report.bound = chosen.bound;
        SparseKernelModel<Kernel> model(kernel_, scaling, std::move(chosen.nodes),
                                        std::move(chosen.coefficients), offset + chosen.offset,
                                        std::move(chosen.statistics));
        CoefficientField<Kernel> field(kernel_, x, dual.solution.lambda, report.gamma, scaling,
                                       report.support_measure);

        const Matrix residual =
            (detail::synthesize(kernel_, points, model.nodes(), model.coefficients().transpose()) - y)
                .colwise() +
            chosen.offset;
        report.kernels = model.size();
        report.residual = options_.scope == Scope::per_sample
                              ? residual.cwiseAbs().maxCoeff()
                              : std::sqrt(residual.cwiseAbs2().colwise().sum().dot(weights.transpose()) /
                                          (weights.sum() * static_cast<double>(y.rows())));
        const FeasibleSet<Loss> asked(loss_, y, options_.scope, tolerance, weights);
        constexpr double rounding = 1e-9;
        report.model_violation = asked.violation(residual + y);
        if (report.model_violation <= rounding * (report.tolerance + y.cwiseAbs().maxCoeff()))
            report.model_violation = 0.0;
        const bool missed = tolerance_given && report.model_violation > 0.0;
        if (stopped)
            report.status = Status::stopped;
        else if (report.bound == Bound::max_kernels && report.status != Status::infeasible)
            report.status = Status::kernel_limit;
        else if (missed && report.status == Status::converged)
            report.status = Status::tolerance_missed;
        report.seconds.dual = dual_seconds;
        report.seconds.peaks = chosen.peak_seconds;
        report.seconds.refit = seconds_since(start) - report.seconds.dual - report.seconds.peaks;
        if (watch) watch({"refit", 0, 1, report.dual_value, report.relative_gap(), 0.0});
        return {std::move(model), std::move(field), report, std::move(multipliers)};
    }

    Options options_;
    Solver solver_;
    Kernel kernel_;
    Loss loss_;
};

}  // namespace kernelet
