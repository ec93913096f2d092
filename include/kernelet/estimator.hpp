#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/build.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/dual_solver.hpp>
#include <kernelet/erased_fit.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/options.hpp>
#include <kernelet/report.hpp>
#include <kernelet/sources/matrix_source.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kernelet {

/// The result of fit(): the model, the field α from which it was found, and the report.
template <KernelFamily Kernel>
struct Fit {
    SparseKernelModel<Kernel> model;
    CoefficientField<Kernel> field;
    Report report;
    /// λ, q x n, in the order of the samples: where a later fit may begin. Empty where a source was given.
    Matrix multipliers{};
};

/// One row of a regularization path.
struct PathRow {
    double sparsity{};  ///< as given
    double gamma{};
    Index kernels{};
    double residual{};
    double relative_gap{};
    double support_measure{};
};

/// One row of a regularization path with its model.
template <KernelFamily Kernel>
struct FittedPathRow : PathRow {
    SparseKernelModel<Kernel> model;
};

/// The best model of one size.
template <KernelFamily Kernel>
struct SizedFit {
    SparseKernelModel<Kernel> model;
    double residual{};  ///< on the samples of the fit, as Report::residual
    bool chosen{};      ///< the size that fit() returns

    Index kernels() const { return model.size(); }
};

/// samples → dual → field → peaks → search → model. A value; fit() is const and may be called from many
/// threads.
template <KernelFamily Kernel = Gaussian, ConvexLoss Loss = SquaredLoss, DualSolver Solver = AutomaticSolver>
class SparseKernelEstimator {
public:
    explicit SparseKernelEstimator(Options options = {}, Solver solver = Solver{}, Kernel kernel = Kernel{},
                                   Loss loss = Loss{})
        : options_(options), solver_(std::move(solver)), kernel_(std::move(kernel)), loss_(std::move(loss)) {
        detail::require_valid(options_);
    }

    const Options& options() const { return options_; }

    /// This estimator with another kernel, loss or solver, each by its value, in any number and in the order of the
    /// template:
    /// SparseKernelEstimator(options).with(HuberLoss(0.1)), .with(Dictionary<...>{...}, AugmentedNewton{...}).
    template <KernelFamily Other, class... Others>
    auto with(Other kernel, Others... others) const {
        return with_others(
            SparseKernelEstimator<Other, Loss, Solver>(options_, solver_, std::move(kernel), loss_),
            std::move(others)...);
    }
    template <ConvexLoss Other, class... Others>
    auto with(Other loss, Others... others) const {
        return with_others(
            SparseKernelEstimator<Kernel, Other, Solver>(options_, solver_, kernel_, std::move(loss)),
            std::move(others)...);
    }
    template <DualSolver Other>
    auto with(Other solver) const {
        return SparseKernelEstimator<Kernel, Loss, Other>(options_, std::move(solver), kernel_, loss_);
    }
    /// This estimator with other options.
    SparseKernelEstimator with(Options options) const {
        return SparseKernelEstimator(std::move(options), solver_, kernel_, loss_);
    }

    /// x is d x n, one sample per column; y a column of n targets or q x n; any Eigen expression, matrix or array, float
    /// or double; of one input or one output also a std::vector, a std::span or a std::array. The domain is read off the
    /// data (PII).
    template <Numbers X, Numbers Y>
    Fit<Kernel> fit(const X& x, const Y& y) const {
        return fit_matrices(detail::input_matrix(x), detail::target_matrix(y), {});
    }
    template <Numbers X, Numbers Y, Domain DomainType>
    Fit<Kernel> fit(const X& x, const Y& y, const DomainType& domain) const {
        return fit_matrices(detail::input_matrix(x), detail::target_matrix(y), {.domain = AnyDomain(domain)});
    }
    template <Numbers X, Numbers Y, Observer Watch>
    Fit<Kernel> fit(const X& x, const Y& y, Watch observer) const {
        return fit_matrices(detail::input_matrix(x), detail::target_matrix(y),
                            {.observer = std::move(observer)});
    }
    template <Numbers X, Numbers Y, Domain DomainType, Observer Watch>
    Fit<Kernel> fit(const X& x, const Y& y, const DomainType& domain, Watch observer) const {
        return fit_matrices(detail::input_matrix(x), detail::target_matrix(y),
                            {.domain = AnyDomain(domain), .observer = std::move(observer)});
    }

    Fit<Kernel> fit(const Samples& samples) const { return fit_samples(samples, {}); }
    template <Observer Watch>
    Fit<Kernel> fit(const Samples& samples, Watch observer) const {
        return fit_samples(samples, {.observer = std::move(observer)});
    }
    template <Domain DomainType>
    Fit<Kernel> fit(const Samples& samples, const DomainType& domain) const {
        return fit_samples(samples, {.domain = AnyDomain(domain)});
    }
    template <Domain DomainType, Observer Watch>
    Fit<Kernel> fit(const Samples& samples, const DomainType& domain, Watch observer) const {
        return fit_samples(samples, {.domain = AnyDomain(domain), .observer = std::move(observer)});
    }

    /// Samples that are read in blocks, from a file or anywhere, and never held all at once; see SampleSource,
    /// StreamOptions and docs/large_data.md. λ and prices are not returned.
    template <SampleSource Source>
    Fit<Kernel> fit(const Source& source) const {
        return fit_source(source, {});
    }
    template <SampleSource Source, Observer Watch>
    Fit<Kernel> fit(const Source& source, Watch observer) const {
        return fit_source(source, {.observer = std::move(observer)});
    }
    template <SampleSource Source, Domain DomainType>
    Fit<Kernel> fit(const Source& source, const DomainType& domain) const {
        return fit_source(source, {.domain = AnyDomain(domain)});
    }
    template <SampleSource Source, Domain DomainType, Observer Watch>
    Fit<Kernel> fit(const Source& source, const DomainType& domain, Watch observer) const {
        return fit_source(source, {.domain = AnyDomain(domain), .observer = std::move(observer)});
    }

    /// Begins where an earlier fit ended: its λ for the samples it knew, its γ, and zero for samples appended
    /// since. The samples it knew must come first and in the same order.
    template <Numbers X, Numbers Y>
    Fit<Kernel> fit_from(const Fit<Kernel>& earlier, const X& x, const Y& y,
                         ObserverFunction observer = {}) const {
        const Samples samples = detail::checked_samples(problem(), gathered(x, y));
        detail::require(earlier.field.dimension() == samples.x.rows(), "the earlier fit has ",
                        earlier.field.dimension(), " inputs but x has ", samples.x.rows(), " rows");
        detail::require(
            earlier.multipliers.rows() == samples.y.rows() && earlier.multipliers.cols() <= samples.y.cols(),
            "the earlier fit has ", earlier.multipliers.cols(), " samples of ", earlier.multipliers.rows(),
            " outputs; x must hold those and may append more, and has ", samples.y.cols(), " of ",
            samples.y.rows());
        WarmStart warm;
        warm.lambda = Matrix::Zero(samples.y.rows(), samples.y.cols());
        detail::copy(earlier.multipliers, warm.lambda);
        warm.gamma = options_.gamma.value_or(earlier.report.gamma);
        return fit_samples(samples, {.observer = std::move(observer), .warm = std::move(warm)});
    }

    /// One fit per sparsity of the grid (Options::sparsity), each begun where the last ended: how kernels, error and gap
    /// trade off. The grid may be in any order; the rows rise in sparsity. The observer receives the progress of the
    /// whole path; after its stop the rows so far are returned.
    template <Numbers X, Numbers Y>
    std::vector<FittedPathRow<Kernel>> regularization_path(const X& x, const Y& y, std::vector<double> grid,
                                                           const ObserverFunction& observer = {}) const {
        const Samples samples = detail::checked_samples(problem(), gathered(x, y));
        for (std::size_t k = 0; k < grid.size(); ++k)
            detail::require_nonnegative(grid[k], detail::text("grid[", k, "]"));
        std::sort(grid.begin(), grid.end());
        std::vector<FittedPathRow<Kernel>> rows;
        WarmStart warm;
        detail::PathObserver path{observer, grid.size()};
        for (const double sparsity : grid) {
            Options options = options_;
            options.sparsity = sparsity;
            options.gamma.reset();
            Fit<Kernel> fit = with(options).fit_samples(samples, {.observer = path.next(), .warm = warm});
            const Report& report = fit.report;
            if (report.status == Status::stopped) break;
            warm.lambda = fit.multipliers;
            warm.unsparse_height = report.unsparse_height;
            rows.push_back({{sparsity, report.gamma, report.kernels, report.residual, report.relative_gap(),
                             report.support_measure},
                            std::move(fit.model)});
        }
        return rows;
    }

    /// The best model of every size, by rising size, from none to half as many kernels again as fit() returns, or to
    /// Options::max_kernels: so that the error can be drawn against the size and a size be picked, see SizePath. Judge the
    /// models on samples that they have not seen, or by leave_one_out() of <kernelet/validation.hpp>. After a stop, the
    /// sizes so far. Holds all samples.
    template <Numbers X, Numbers Y>
    std::vector<SizedFit<Kernel>> kernel_path(const X& x, const Y& y, ObserverFunction observer = {}) const {
        detail::ErasedFit found = detail::fit_samples(problem(), gathered(x, y),
                                                      {.observer = std::move(observer), .wants_sizes = true});
        std::vector<SizedFit<Kernel>> rows;
        for (detail::SizedModel& of_size : found.sizes) {
            const bool chosen = of_size.model.nodes.cols() == found.nodes.cols();
            rows.push_back({typed(found.scaling, std::move(of_size.model)), of_size.residual, chosen});
        }
        if (rows.empty()) rows.push_back({typed(found.scaling, found), found.report.residual, true});
        return rows;
    }

private:
    template <class Estimator>
    static Estimator with_others(Estimator estimator) {
        return estimator;
    }
    template <class Estimator, class... Others>
    static auto with_others(const Estimator& estimator, Others... others) {
        return estimator.with(std::move(others)...);
    }

    template <Numbers X, Numbers Y>
    static Samples gathered(const X& x, const Y& y) {
        Samples samples;
        samples.x = detail::input_matrix(x).template cast<double>();
        samples.y = detail::target_matrix(y).template cast<double>();
        return samples;
    }

    detail::FitProblem problem() const {
        detail::require_same_build();
        return {AnyKernel(kernel_), AnyLoss(loss_), detail::erase_solver(solver_), options_};
    }

    /// Matrices with more samples than are held are read where they are.
    template <class X, class Y>
    Fit<Kernel> fit_matrices(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y,
                             detail::FitRequest request) const {
        if (x.cols() <= options_.search.streams.held_samples)
            return fit_samples(gathered(x.derived(), y.derived()), std::move(request));
        request.keeps_multipliers = true;
        return fit_source(MatrixSource(x, y), std::move(request));
    }
    Fit<Kernel> fit_samples(const Samples& samples, detail::FitRequest request) const {
        return typed(detail::fit_samples(problem(), samples, std::move(request)));
    }
    template <SampleSource Source>
    Fit<Kernel> fit_source(const Source& source, detail::FitRequest request) const {
        return typed(detail::fit_source(problem(), AnySource(source), std::move(request)));
    }

    /// The model and the field of what was fitted, in terms of this kernel.
    Fit<Kernel> typed(detail::ErasedFit fit) const {
        CoefficientField<Kernel> field(kernel_, fit.field_x, fit.field_lambda, fit.report.gamma, fit.scaling,
                                       fit.report.support_measure);
        return {typed(fit.scaling, std::move(static_cast<detail::ErasedModel&>(fit))), std::move(field),
                std::move(fit.report), std::move(fit.multipliers)};
    }
    SparseKernelModel<Kernel> typed(const InputScaling& scaling, detail::ErasedModel model) const {
        return SparseKernelModel<Kernel>(
                   kernel_, scaling, std::move(model.nodes), std::move(model.coefficients),
                   {std::move(model.offset), std::move(model.slopes)}, std::move(model.statistics))
            .with_loss(std::string(AnyLoss(loss_).held_name()));
    }

    Options options_;
    Solver solver_;
    Kernel kernel_;
    Loss loss_;
};

}  // namespace kernelet

#ifdef KERNELET_COMPILED
#include <kernelet/compiled.hpp>
#else
#include <kernelet/estimator_impl.hpp>
#endif
