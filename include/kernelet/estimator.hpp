#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/noise.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/dual_stage.hpp>
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
        if constexpr (detail::is_classification<Loss>())
            for (Index i = 0; i < samples.y.size(); ++i)
                detail::require(std::abs(samples.y(i)) == 1.0, "y(", i, ") = ", samples.y(i),
                                " must be -1 or +1 for the ", Loss::name, " loss");
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

    // What a fit is made of is defined below, so that it is not inline, and
    // `extern template class SparseKernelEstimator<...>` spares a file its compilation.
    Fit<Kernel> fit_on_samples(const Samples& given, ObserverFunction observer,
                               const WarmStart& warm = {}) const;
    Fit<Kernel> fit_on_domain(const Samples& given, const AnyDomain& domain, ObserverFunction observer) const;
    Fit<Kernel> run(const Samples& samples, const InputScaling& scaling, const AnyDomain& given_domain,
                    ObserverFunction observer, const WarmStart& warm) const;

    /// What the fit is measured from: zero where that is among the values of y, its range and a tenth more:
    /// the paper's model, which has no offset. Elsewhere, as for a temperature in kelvin, the mean. With an
    /// intercept in the dual it is all the same, but for rounding and what the size of y is: the mean.
    Vector baseline(const Matrix& y, const Vector& weights) const {
        constexpr double margin = 0.1;
        Vector base = Vector::Zero(y.rows());
        if (detail::is_classification<Loss>()) return base;
        if (options_.intercept.value_or(false)) return y * weights / weights.sum();
        if (!options_.center) return base;
        for (Index o = 0; o < y.rows(); ++o) {
            const double lo = y.row(o).minCoeff(), hi = y.row(o).maxCoeff(), room = margin * (hi - lo);
            if (lo - room > 0.0 || hi + room < 0.0) base(o) = y.row(o).dot(weights) / weights.sum();
        }
        return base;
    }

    static constexpr Index candidate_nodes = 1500;    // from which kernels are added to a model
    static constexpr std::uint64_t part_stream = 41;  // of the generator: which samples the dual is solved on
    static constexpr int path_doublings = 2;  // of the threshold, in search of a model within max_kernels

    Options options_;
    Solver solver_;
    Kernel kernel_;
    Loss loss_;
};

template <KernelFamily Kernel, ConvexLoss Loss, DualSolver Solver>
Fit<Kernel> SparseKernelEstimator<Kernel, Loss, Solver>::fit_on_samples(const Samples& given,
                                                                        ObserverFunction observer,
                                                                        const WarmStart& warm) const {
    const Samples samples = checked(given);
    const InputScaling scaling =
        options_.standardize ? InputScaling::standard(samples.x) : InputScaling::identity(samples.x.rows());
    const Matrix x = scaling.to_internal(samples.x);
    if (x.rows() >= around_samples_from_dimension)
        return run(samples, scaling, AroundSamples(x, widths_from_samples(x)), std::move(observer), warm);
    return run(samples, scaling, box_from_samples(x), std::move(observer), warm);
}

template <KernelFamily Kernel, ConvexLoss Loss, DualSolver Solver>
Fit<Kernel> SparseKernelEstimator<Kernel, Loss, Solver>::fit_on_domain(const Samples& given,
                                                                       const AnyDomain& domain,
                                                                       ObserverFunction observer) const {
    const Samples samples = checked(given);
    detail::require(domain.dimension() == samples.x.rows(), "the domain has ", domain.dimension(),
                    " coordinates but x has ", samples.x.rows(), " rows");
    return run(samples, InputScaling::identity(samples.x.rows()), domain, std::move(observer), {});
}

/// The composition. Everything is in the units of the fit from here on.
template <KernelFamily Kernel, ConvexLoss Loss, DualSolver Solver>
Fit<Kernel> SparseKernelEstimator<Kernel, Loss, Solver>::run(const Samples& samples,
                                                             const InputScaling& scaling,
                                                             const AnyDomain& given_domain,
                                                             ObserverFunction observer,
                                                             const WarmStart& warm) const {
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

    // samples in spatial order, y from its baseline
    const Matrix unordered = scaling.to_internal(samples.x);
    const std::vector<Index> order = detail::spatial_order(unordered);
    const Matrix x = unordered(Eigen::all, order);
    Matrix y = samples.y(Eigen::all, order);
    const Vector weights = samples.weights(order);
    const Vector offset = baseline(y, weights);
    y.colwise() -= offset;

    // dual, on some of the samples where they are very many
    const AnyDomain domain = given_domain.with_parameters(parameter_layout(kernel_, x.rows()));
    const detail::TiledPoints points(x);
    const bool tolerance_given = options_.tolerance || samples.tolerances.size() > 0;
    detail::NoiseEstimate noise{0.0, 1.0};
    if ((!tolerance_given || detail::adapts<Loss>)&&!detail::is_classification<Loss>())
        noise = detail::noise_estimate(x, y);
    report.noise_deviation = noise.deviation;
    const Loss loss = detail::adapted(loss_, report.noise_deviation);
    const Vector tolerance =
        samples.tolerances.size() > 0 ? Vector(samples.tolerances(order))
        : options_.tolerance
            ? Vector(Vector::Constant(y.cols(), *options_.tolerance))
            : Vector(Vector::Constant(y.cols(),
                                      default_tolerance(loss, x, y, report.noise_deviation, options_)));
    report.tolerance = tolerance.maxCoeff();
    report.samples = x.cols();
    report.dual_samples = std::min(x.cols(), options_.dual_samples);
    std::vector<Index> part =
        detail::random_part(x.cols(), report.dual_samples, detail::CounterRandom(options_.seed, part_stream));
    const Matrix part_x = x(Eigen::all, part), part_y = y(Eigen::all, part);
    const Vector part_weights = weights(part), part_tolerance = tolerance(part);
    const detail::TiledPoints part_points(part_x);
    for (Index& i : part) i = order[static_cast<std::size_t>(i)];  // now of the samples given
    const DualStage<Kernel, Loss, AnyDomain, Solver> stage{
        kernel_, loss, domain, part_points, part_y, part_weights, part_tolerance, solver_, options_};
    WarmStart from = warm;
    if (warm.lambda.size() > 0) from.lambda = warm.lambda(Eigen::all, part);
    SolvedDual dual = stage.solve(from, watch);
    double dual_seconds = seconds_since(start);
    const Matrix candidates = stage.problem(stage.feasible(part_tolerance)).nodes(candidate_nodes).nodes;
    const auto read_off = [&](const SolvedDual& solved) {
        const FeasibleSet<Loss> all(loss, y, options_.scope, stage.relaxed(tolerance, solved), weights);
        return discretize(kernel_, domain, points, all, part_x, solved.solution, solved.certificate.gamma,
                          candidates,
                          {tolerance_given ? report.tolerance : report.noise_deviation, noise.known,
                           tolerance_given, offset.squaredNorm() > 0.0},
                          options_);
    };
    Discretization chosen = read_off(dual);
    // Along the path of growing γ for the best model within max_kernels.
    for (int doubling = 0; doubling < path_doublings && chosen.bound == Bound::max_kernels && !stopped &&
                           !dual.infeasible && !options_.gamma && !chosen.large;
         ++doubling) {
        from.lambda = dual.solution.lambda;
        from.gamma = 4.0 * dual.certificate.gamma;  // twice the threshold
        const double before = seconds_since(start);
        SolvedDual next = stage.solve(from, watch);
        dual_seconds += seconds_since(start) - before;
        Discretization candidate = read_off(next);
        if (candidate.cost < chosen.cost) {
            next.unsparse_height = dual.unsparse_height;
            dual = std::move(next);
            chosen = std::move(candidate);
        }
    }
    static_cast<Certificate&>(report) = dual.certificate;
    report.unsparse_height = dual.unsparse_height;
    report.solved_tolerance = dual.tolerances.maxCoeff();
    // A tolerance that nobody asked for is whatever turned out to be feasible.
    if (!tolerance_given) report.tolerance = report.solved_tolerance;
    const bool infeasible = dual.infeasible && tolerance_given;
    report.status = infeasible ? Status::infeasible : dual.solution.status;
    Matrix multipliers = Matrix::Zero(y.rows(), y.cols());
    multipliers(Eigen::all, part) = dual.solution.lambda;
    report.prices = multipliers.colwise().norm();
    for (const Index i : infeasible ? dual.culprits : std::vector<Index>{})
        report.culprits.push_back(part[static_cast<std::size_t>(i)]);
    // A constant, where no kernel is worth it, is the mean.
    if (chosen.nodes.cols() == 0 && options_.center && !options_.intercept.value_or(false) &&
        !detail::is_classification<Loss>())
        chosen.offset = y * weights / weights.sum();
    report.peaks = chosen.peaks;
    report.merged = chosen.merged;
    report.bound = chosen.bound;
    SparseKernelModel<Kernel> model(kernel_, scaling, std::move(chosen.nodes), std::move(chosen.coefficients),
                                    offset + chosen.offset, std::move(chosen.statistics));
    CoefficientField<Kernel> field(kernel_, part_x, dual.solution.lambda, report.gamma, scaling,
                                   report.support_measure);

    const Matrix prediction =
        detail::synthesize(kernel_, points, model.nodes(), model.coefficients().transpose()).colwise() +
        chosen.offset;
    const FeasibleSet<Loss> asked(loss, y, options_.scope, tolerance, weights);
    report.kernels = model.size();
    report.residual = asked.residual(prediction);
    constexpr double rounding = 1e-9;
    report.model_violation = asked.violation(prediction);
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

}  // namespace kernelet
