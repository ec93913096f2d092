#pragma once

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/refit/least_squares.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// ‖R a − z‖² with R upper triangular: least squares over k columns, whatever it was made from.
struct TriangularProblem {
    Matrix r{};  // k x k
    Matrix z{};  // k x q
};

/// The problem on some columns of ‖A a − z‖², in the order given, up to a constant: [A(:, columns) z] is made
/// triangular by reflections. O(m k²) for A of m rows.
template <class Columns>
TriangularProblem triangular_problem(const Matrix& a, const Matrix& z, const Columns& columns) {
    const auto k = static_cast<Index>(columns.size());
    Matrix stacked(a.rows(), k + z.cols());
    stacked << a(Eigen::all, columns), z;
    const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(stacked);
    return {stacked.topLeftCorner(k, k).template triangularView<Eigen::Upper>(),
            stacked.topRightCorner(k, z.cols())};
}

/// All columns in the order in which backward elimination leaves them, the last to be dropped first. With
/// G = R'R and a the solution, dropping column j and solving anew raises ‖R a − z‖² by exactly
///     ‖a_j‖²/(G⁻¹)_jj;
/// the cheapest is dropped, then G⁻¹ ← G⁻¹ − g g'/g_j and a ← a − g a_j/g_j with g = G⁻¹e_j. O(k³).
inline std::vector<Index> backward_elimination(TriangularProblem problem) {
    using Indices = Eigen::Matrix<Index, Eigen::Dynamic, 1>;
    Indices names = Indices::LinSpaced(problem.r.cols(), 0, problem.r.cols() - 1);
    std::vector<Index> order;
    order.reserve(static_cast<std::size_t>(names.size()));
    const double unit = problem.z.cwiseAbs().maxCoeff();
    if (unit > 0.0) problem.z /= unit;  // squares then neither overflow nor vanish
    while (names.size() > 0) {
        Index k = names.size();
        Matrix a = problem.r.triangularView<Eigen::Upper>().solve(problem.z);
        const Matrix root = problem.r.triangularView<Eigen::Upper>().solve(Matrix::Identity(k, k));
        Matrix inverse = Matrix::Zero(k, k);
        inverse.selfadjointView<Eigen::Lower>().rankUpdate(root);  // G⁻¹ = R⁻¹R⁻'
        inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
        // (G⁻¹)_jj ≥ 1/G_jj, whatever rounding says.
        Vector least = problem.r.colwise().squaredNorm().cwiseInverse().transpose();
        Indices place = Indices::LinSpaced(k, 0, k - 1);  // in R, of column j of G⁻¹
        // Rounding stays in G⁻¹ at the size of its first entries: those of directions that the columns hardly
        // span, which leave first. So G⁻¹ is made anew when half of its columns are gone.
        for (const Index half = k / 2; k > half; --k) {
            Index drop = 0;
            double cheapest = std::numeric_limits<double>::infinity();
            for (Index j = 0; j < k; ++j) {
                const double cost = a.row(j).squaredNorm() / std::max(inverse(j, j), least(j));
                if (cost < cheapest) {
                    cheapest = cost;
                    drop = j;
                }
            }
            // Column k − 1 takes its place.
            const Index last = k - 1;
            order.push_back(names(place(drop)));
            std::swap(place(drop), place(last));
            std::swap(least(drop), least(last));
            a.row(drop).swap(a.row(last));
            inverse.row(drop).swap(inverse.row(last));
            inverse.col(drop).swap(inverse.col(last));
            const Vector g = inverse.col(last).head(last);
            const Vector scaled = g / std::max(inverse(last, last), least(last));
            a.topRows(last).noalias() -= scaled * a.row(last);
            for (Index j = 0; j < last; ++j) inverse.col(j).head(last) -= scaled(j) * g;
        }
        const Indices left = place.head(k);
        names = names(left).eval();
        problem = triangular_problem(problem.r, problem.z, left);
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace detail

/// What the coefficients of the kernels that stay are fitted to.
enum class KompProjection {
    samples,  ///< the samples, by least squares: kernel matching pursuit (Vincent and Bengio), destructive
    rkhs      ///< the full function, in the norm of the kernel's own space (Koppel et al.)
};

struct KompOptions {
    /// Of all kernels, in the unit of x. Unset: the one KernelRidge finds best by leaving one out.
    std::optional<double> width{};
    KompProjection projection = KompProjection::samples;
    /// Stop at so many kernels,
    std::optional<Index> max_kernels{};
    /// or before the RMS residual on the samples exceeds this,
    std::optional<double> max_residual{};
    /// or before the distance from the full function in the kernel's space exceeds this.
    std::optional<double> max_distance{};
    /// samples: coefficients minimise Σ‖f(x_i) − y_i‖² + n·ridge·‖a‖². Unset: none, since the jitter already
    /// keeps them finite, and a ridge makes every model miss the data by more.
    /// rkhs: the full function is KernelRidge's, which minimises Σ‖f(x_i) − y_i‖² + n·ridge·‖f‖². Unset: the
    /// ridge that is best by leaving one out, since nothing sparse is near an interpolant of noise.
    std::optional<double> ridge{};
    /// On the diagonal of the Gram matrix that is inverted, relative to its largest entry: Gaussians of width
    /// 0.5 at 500 points of [0, 10] have a condition beyond 1e16, and coincident samples make any Gram matrix
    /// singular. Well above rounding (2e-16), well below what a model can show.
    double jitter = 1e-12;
    /// Subtract the mean of y; the model then decays to that mean far from the data instead of to zero.
    bool center = true;

    void validate() const {
        if (width) detail::require_positive(*width, "options.width");
        if (max_kernels) detail::require_at_least(*max_kernels, 1, "options.max_kernels");
        if (max_residual) detail::require_nonnegative(*max_residual, "options.max_residual");
        if (max_distance) detail::require_nonnegative(*max_distance, "options.max_distance");
        if (ridge) detail::require_nonnegative(*ridge, "options.ridge");
        detail::require_positive(jitter, "options.jitter");
    }
};

/// Every model of one run of Komp, from n kernels to none: they are nested, and solving one is a back
/// substitution. A value that owns all it needs.
template <KernelFamily Kernel>
class KompPath {
public:
    /// n, the number of kernels it began with.
    Index size() const { return triangle_.r.cols(); }
    double width() const { return width_; }

    /// Sample indices, the last to be removed first: the model of K kernels has the first K as centers.
    const std::vector<Index>& ranking() const { return ranking_; }

    /// K x q, in the order of ranking(). The first K columns of an upper triangular R are a problem of their
    /// own: a = (R_KK)⁻¹ z_K. O(K² q).
    Matrix coefficients(Index kernels) const {
        detail::require(kernels >= 0 && kernels <= size(), "kernels = ", kernels, " must be in [0, ", size(),
                        "], the number of samples");
        return triangle_.r.topLeftCorner(kernels, kernels)
            .template triangularView<Eigen::Upper>()
            .solve(triangle_.z.topRows(kernels));
    }

    SparseKernelModel<Kernel> model(Index kernels) const {
        Matrix a = coefficients(kernels);
        return {kernel_, InputScaling::identity(dimension_), nodes_.leftCols(kernels), std::move(a), offset_};
    }

    /// RMS of f(x_i) − y_i over samples and outputs. O(n K q).
    double residual(Index kernels) const {
        const Matrix a = coefficients(kernels);
        const Matrix error = y_ - detail::product(gram_.leftCols(kernels), a);
        return error.stableNorm() / std::sqrt(static_cast<double>(error.size()));
    }

    /// ‖f − f_n‖ in the kernel's space, f_n the model of all kernels: δ'Kδ with δ the difference of
    /// coefficients, summed over outputs. As the root of what cancels it is known to about 1e-8·√n·‖δ‖, no
    /// better. O(n² q).
    double distance(Index kernels) const {
        Matrix delta = full_;
        delta.topRows(kernels) -= coefficients(kernels);
        return std::sqrt(std::max(delta.cwiseProduct(detail::product(gram_, delta)).sum(), 0.0));
    }

private:
    template <KernelFamily>
    friend class Komp;

    KompPath(Kernel kernel, const detail::BaselineSamples& samples, double width,
             const detail::TriangularProblem& problem, const Matrix& gram)
        : kernel_(std::move(kernel)),
          width_(width),
          ranking_(detail::backward_elimination(problem)),
          dimension_(samples.x.rows()),
          nodes_(detail::kernels_at_samples(kernel_, samples.x(Eigen::all, ranking_), width)),
          triangle_(detail::triangular_problem(problem.r, problem.z, ranking_)),
          full_(coefficients(size())),
          gram_(gram(ranking_, ranking_)),
          y_(samples.y(Eigen::all, ranking_).transpose()),
          offset_(samples.offset) {}

    // All in the order of ranking_.
    Kernel kernel_;
    double width_;
    std::vector<Index> ranking_;
    Index dimension_;
    Matrix nodes_;
    detail::TriangularProblem triangle_;
    Matrix full_;  // coefficients of all kernels, n x q
    Matrix gram_;
    Matrix y_;  // n x q, less the offset
    Vector offset_;
};

template <KernelFamily Kernel>
struct KompFit {
    SparseKernelModel<Kernel> model;
    std::vector<Index> kept{};  ///< the samples that are its centers, in its order
    double width{};
    double residual{};  ///< RMS on the samples
    double distance{};  ///< from the full function, in the kernel's space
    /// Whether max_residual and max_distance hold: false where max_kernels went past them, or where all n
    /// kernels do not meet max_residual.
    bool within_bounds{};
};

/// Kernel orthogonal matching pursuit with pre-fitting, destructive: begins with a kernel at every sample,
/// all of one width, and removes one at a time. Each removal is the one that, all other coefficients fitted
/// anew, costs least. O(n³) for the whole path, with n x n numbers held: for n up to about two thousand. A
/// value; fit() and path() are const and may be called from many threads.
template <KernelFamily Kernel = Gaussian>
class Komp {
public:
    explicit Komp(KompOptions options = {}, Kernel kernel = Kernel{})
        : options_(options), kernel_(std::move(kernel)) {
        options_.validate();
    }

    const KompOptions& options() const { return options_; }

    /// The whole path, whatever the bounds. x is d x n, one sample a column; y a column of n targets or q x
    /// n; any Eigen expression, float or double.
    template <class X, class Y>
    KompPath<Kernel> path(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) const {
        const detail::BaselineSamples samples = detail::baseline_samples(x, y, options_.center);
        const bool rkhs = options_.projection == KompProjection::rkhs;
        std::optional<KernelRidgeFit<Kernel>> full;
        if (rkhs || !options_.width) full = kernel_ridge().fit(samples.x, samples.y);
        const double width = full ? full->chosen.width : *options_.width;
        const detail::TiledPoints points(samples.x);
        const Matrix nodes = detail::kernels_at_samples(kernel_, samples.x, width);
        const Matrix gram = detail::gram_matrix(kernel_, points, nodes);
        const detail::TriangularProblem problem =
            rkhs ? on_function(gram, full->model.coefficients()) : on_samples(points, nodes, samples.y);
        return {kernel_, samples, width, problem, gram};
    }

    /// The model at which the bounds stop the removals: kernels go while residual and distance stay within
    /// theirs, and in any case until no more than max_kernels are left.
    template <class X, class Y>
    KompFit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) const {
        detail::require(options_.max_kernels || options_.max_residual || options_.max_distance,
                        "options.max_kernels, options.max_residual or options.max_distance must be set: "
                        "removal has to stop somewhere");
        const KompPath<Kernel> run = path(x, y);
        Index kernels = run.size();
        if (options_.max_residual || options_.max_distance)
            while (kernels > 0 && within_bounds(run, kernels - 1)) --kernels;
        if (options_.max_kernels) kernels = std::min(kernels, *options_.max_kernels);
        return {run.model(kernels),    {run.ranking().begin(), run.ranking().begin() + kernels},
                run.width(),           run.residual(kernels),
                run.distance(kernels), within_bounds(run, kernels)};
    }

private:
    /// For samples already centered; what it is not told it chooses by leaving one out.
    KernelRidge<Kernel> kernel_ridge() const {
        KernelRidgeOptions options{.center = false};
        if (options_.width) options.widths = {*options_.width};
        if (options_.ridge && options_.projection == KompProjection::rkhs) options.ridges = {*options_.ridge};
        return KernelRidge<Kernel>(std::move(options), kernel_);
    }

    /// Σ‖f(x_i) − y_i‖² + ρ‖a‖² as one triangle: [K y] first, then the n rows √ρ·I below it.
    detail::TriangularProblem on_samples(const detail::TiledPoints& points, const Matrix& nodes,
                                         const Matrix& y) const {
        const Index n = nodes.cols();
        const Matrix factor = triangular_factor(kernel_, points, nodes, y, Vector::Ones(n));
        const double largest = factor.leftCols(n).colwise().squaredNorm().maxCoeff();
        const double rho = static_cast<double>(n) * options_.ridge.value_or(0.0) +
                           std::max(options_.jitter * largest, std::numeric_limits<double>::min());
        Matrix design = Matrix::Zero(2 * n, n);
        Matrix target = Matrix::Zero(2 * n, y.rows());
        design.topRows(n) = factor.leftCols(n);
        target.topRows(n) = factor.rightCols(y.rows());
        design.bottomRows(n).diagonal().setConstant(std::sqrt(rho));
        return detail::triangular_problem(design, target, Eigen::seq(Index{0}, n - 1));
    }

    /// ‖f − f_n‖² = (a − ã)'K(a − ã) = ‖R a − Rã‖² with R'R = K.
    detail::TriangularProblem on_function(Matrix gram, const Matrix& full) const {
        gram.diagonal().array() += options_.jitter * gram.diagonal().cwiseAbs().maxCoeff();
        // More jitter than the option's only where the factorisation fails.
        constexpr double least_rcond = std::numeric_limits<double>::epsilon();
        const Matrix r = detail::jittered_cholesky(std::move(gram), least_rcond).factor.matrixU();
        return {r, r.triangularView<Eigen::Upper>() * full};
    }

    bool within_bounds(const KompPath<Kernel>& run, Index kernels) const {
        return (!options_.max_residual || run.residual(kernels) <= *options_.max_residual) &&
               (!options_.max_distance || run.distance(kernels) <= *options_.max_distance);
    }

    KompOptions options_;
    Kernel kernel_;
};

}  // namespace kernelet
