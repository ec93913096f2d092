#pragma once

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/detail/dense.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// The least-squares problem ‖Lᵀa − z‖² over k columns, L lower triangular. R = Lᵀ is the triangle of a QR
/// decomposition; its transpose is stored because a leading block of L is solved with fastest.
struct TriangularProblem {
    Matrix l{};  // k x k, zero above the diagonal
    Matrix z{};  // k x q
};

/// The problem ‖A a − B‖² up to a constant, from [A B] with A its first k columns; the matrix has at least k
/// rows. O(m k²) for m rows.
template <class Scalar = double>
TriangularProblem triangular_problem(Matrix both, Index k) {
    triangularize<Scalar>(both);
    const ConstBlock triangle(both);
    TriangularProblem problem{transposed<Scalar>(triangle.part(0, 0, k, k)), Matrix(k, both.cols() - k)};
    copy(triangle.part(0, k, k, both.cols() - k), problem.z);
    return problem;
}

/// The problem on some of the columns, in the order given. O(k³).
template <class Scalar = double>
TriangularProblem on_columns(const TriangularProblem& problem, const std::vector<Index>& columns) {
    return triangular_problem<Scalar>(
        beside<Scalar>(transposed<Scalar>(rows_of<Scalar>(problem.l, columns)), problem.z),
        static_cast<Index>(columns.size()));
}

/// Backward elimination on a least-squares problem, while G⁻¹ is accurate. With G = LLᵀ and a the solution,
/// dropping column j and solving again raises ‖Lᵀa − z‖² by exactly ‖a_j‖²/(G⁻¹)_jj.
class Elimination {
public:
    /// O(k³).
    template <class Scalar = double>
    static Elimination of(const TriangularProblem& problem) {
        const Index k = problem.l.cols();
        Elimination state;
        state.a_ = problem.z;
        solve_lower_transposed<Scalar>(problem.l, state.a_);
        Matrix root = Matrix::Zero(k, k);  // L⁻ᵀ
        add_to_diagonal(root, 1.0);
        solve_lower_transposed<Scalar>(problem.l, root);
        state.inverse_ = Matrix::Zero(k, k);
        rank_update<Scalar>(state.inverse_, root);  // G⁻¹ = L⁻ᵀL⁻¹
        mirror_lower(state.inverse_);
        // (G⁻¹)_jj ≥ 1/G_jj must hold in spite of rounding.
        state.least_.resize(k);
        for (Index j = 0; j < k; ++j) {
            double squares = 0.0;
            for (Index i = 0; i <= j; ++i) squares += problem.l(j, i) * problem.l(j, i);
            state.least_(j) = 1.0 / squares;
            state.place_.push_back(j);
        }
        return state;
    }

    /// How many columns are left.
    Index size() const { return static_cast<Index>(place_.size()); }
    /// Columns of the problem that are left.
    const std::vector<Index>& left() const { return place_; }

    /// Removes and returns the cheapest column: G⁻¹ ← G⁻¹ − g gᵀ/g_j and a ← a − g a_j/g_j with g = G⁻¹e_j.
    /// O(k²).
    template <class Scalar = double>
    Index drop_cheapest() {
        const Index last = size() - 1;
        move_to_end(cheapest());
        const ConstBlock g = ConstBlock(inverse_).part(0, last, last, 1);
        Vector scaled(last);
        const double pivot = std::max(inverse_(last, last), least_(last));
        for (Index i = 0; i < last; ++i) scaled(i) = g(i, 0) / pivot;
        for (Index o = 0; o < a_.cols(); ++o)
            add_scaled<Scalar>(Block(a_).part(0, o, last, 1), -a_(last, o), scaled);
        for (Index j = 0; j < last; ++j)
            add_scaled<Scalar>(Block(inverse_).part(0, j, last, 1), -scaled(j), g);
        const Index dropped = place_.back();
        place_.pop_back();
        return dropped;
    }

private:
    Index cheapest() const {
        Index best = 0;
        double lowest = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < size(); ++j) {
            double squares = 0.0;
            for (Index o = 0; o < a_.cols(); ++o) squares += a_(j, o) * a_(j, o);
            const double cost = squares / std::max(inverse_(j, j), least_(j));
            if (cost < lowest) {
                lowest = cost;
                best = j;
            }
        }
        return best;
    }

    /// Exchanges a column with the last that is left.
    void move_to_end(Index column) {
        const Index last = size() - 1;
        std::swap(place_[static_cast<std::size_t>(column)], place_.back());
        std::swap(least_(column), least_(last));
        for (Index o = 0; o < a_.cols(); ++o) std::swap(a_(column, o), a_(last, o));
        if (column == last) return;
        for (Index j = 0; j <= last; ++j) std::swap(inverse_(column, j), inverse_(last, j));
        std::swap_ranges(&inverse_(0, column), &inverse_(0, column) + last + 1, &inverse_(0, last));
    }

    Matrix a_{};        // k x q
    Matrix inverse_{};  // G⁻¹
    Vector least_{};
    std::vector<Index> place_{};  // in the problem, of column j of G⁻¹
};

/// Returns all columns in the order in which backward elimination leaves them, the last to be dropped first.
/// O(k³).
template <class Scalar = double>
[[gnu::noinline]] std::vector<Index> backward_elimination(TriangularProblem problem) {
    std::vector<Index> names, order;
    for (Index j = 0; j < problem.l.cols(); ++j) names.push_back(j);
    const double unit = max_abs(problem.z);
    if (unit > 0.0)  // squares then neither overflow nor vanish
        for (double* z = problem.z.data(); z != problem.z.data() + problem.z.size(); ++z) *z /= unit;
    while (!names.empty()) {
        Elimination state = Elimination::of<Scalar>(problem);
        // Rounding errors in G⁻¹ stay as large as its first entries, which belong to directions that the
        // columns hardly span and that leave first. G⁻¹ is therefore computed again after half of its columns
        // have left.
        for (const Index half = state.size() / 2; state.size() > half;)
            order.push_back(names[static_cast<std::size_t>(state.drop_cheapest<Scalar>())]);
        std::vector<Index> left;
        for (const Index column : state.left()) left.push_back(names[static_cast<std::size_t>(column)]);
        names = std::move(left);
        problem = on_columns<Scalar>(problem, state.left());
    }
    std::reverse(order.begin(), order.end());
    return order;
}

/// The nested models of backward elimination: what of a KompPath does not depend on the kernel. All but
/// `ranking` is in the order of `ranking`.
struct NestedModels {
    std::vector<Index> ranking{};
    TriangularProblem triangle{};
    Matrix gram{};
    Matrix y{};     // n x q, without the offset
    Matrix full{};  // coefficients of all kernels, n x q

    /// y is q x n. O(n³).
    template <class Scalar = double>
    static NestedModels of(const TriangularProblem& problem, const Matrix& gram, const Matrix& y) {
        NestedModels models;
        models.ranking = backward_elimination<Scalar>(problem);
        models.triangle = on_columns<Scalar>(problem, models.ranking);
        models.gram = entries_of<Scalar>(gram, models.ranking, models.ranking);
        models.y = transposed<Scalar>(columns_of<Scalar>(y, models.ranking));
        models.full = models.coefficients<Scalar>(models.size());
        return models;
    }

    Index size() const { return gram.cols(); }

    /// K x q: the leading block of a triangular problem is the problem on its first columns. O(K² q).
    template <class Scalar = double>
    [[gnu::noinline]] Matrix coefficients(Index kernels) const {
        require(kernels >= 0 && kernels <= size(), "kernels = ", kernels, " must be in [0, ", size(),
                "], the number of samples");
        Matrix a(kernels, triangle.z.cols());
        copy(ConstBlock(triangle.z).part(0, 0, kernels, a.cols()), a);
        solve_lower_transposed<Scalar>(ConstBlock(triangle.l).part(0, 0, kernels, kernels), a);
        return a;
    }

    /// RMS of f(x_i) − y_i. O(n K q).
    template <class Scalar = double>
    [[gnu::noinline]] double residual(Index kernels) const {
        Matrix error = y;
        const Matrix a = coefficients<Scalar>(kernels);
        add_product<Scalar>(error, ConstBlock(gram).columns(0, kernels), a, -1.0);
        return stable_root_mean_square<Scalar>(error);
    }

    /// √(tr δᵀKδ), δ the difference of the coefficients. O(n² q).
    template <class Scalar = double>
    [[gnu::noinline]] double distance(Index kernels) const {
        Matrix delta = full;
        add_scaled<Scalar>(delta, -1.0, coefficients<Scalar>(kernels));
        return std::sqrt(std::max(dot<Scalar>(delta, product<Scalar>(gram, delta)), 0.0));
    }
};

/// ‖K a − y‖² + ρ‖a‖² as one problem: [K yᵀ] above √ρ·[I 0]. ρ is n·ridge and the jitter relative to the
/// largest entry of KᵀK. O(n³).
template <class Scalar = double>
[[gnu::noinline]] TriangularProblem problem_on_samples(const Matrix& gram, const Matrix& y, double ridge,
                                                       double jitter) {
    const Index n = gram.cols();
    const double widest = largest_column_norm(gram);
    const double rho = static_cast<double>(n) * ridge +
                       std::max(jitter * widest * widest, std::numeric_limits<double>::min());
    Matrix both = Matrix::Zero(2 * n, n + y.rows());
    copy(gram, both);
    copy(transposed<Scalar>(y), Block(both).columns(n, y.rows()));
    add_to_diagonal(Block(both).part(n, 0, n, n), std::sqrt(rho));
    return triangular_problem<Scalar>(std::move(both), n);
}

/// ‖f − f_n‖² = (a − ã)ᵀK(a − ã) = ‖Lᵀa − Lᵀã‖² with LLᵀ = K, ã = `full`. O(n³).
template <class Scalar = double>
[[gnu::noinline]] TriangularProblem problem_on_function(Matrix gram, const Matrix& full, double jitter) {
    // More jitter than the option's only where the factorisation fails.
    constexpr double least_rcond = std::numeric_limits<double>::epsilon();
    double largest = 0.0;
    for (Index i = 0; i < gram.rows(); ++i) largest = std::max(largest, std::abs(gram(i, i)));
    add_to_diagonal(gram, jitter * largest);
    TriangularProblem problem{jittered_cholesky<Scalar>(std::move(gram), least_rcond).lower, full};
    const Index n = full.rows();
    for (Index j = 0; j < n; ++j) {
        std::fill_n(&problem.l(0, j), j, 0.0);
        for (Index o = 0; o < full.cols(); ++o)
            problem.z(j, o) = dot_run<Scalar>(&problem.l(j, j), &full(j, o), n - j);
    }
    return problem;
}

}  // namespace detail

/// The target to which the coefficients of the remaining kernels are fitted.
enum class KompProjection {
    samples,  ///< the samples, by least squares: kernel matching pursuit (Vincent and Bengio), destructive
    rkhs      ///< the full function, in the norm of the kernel's own space (Koppel et al.)
};

struct KompOptions {
    /// Width of all kernels, in the unit of x. Unset: the best of KernelRidge by leaving one out.
    std::optional<double> width{};
    KompProjection projection = KompProjection::samples;
    /// Removal goes on until at most this many kernels are left.
    std::optional<Index> max_kernels{};
    /// Removal stops before the RMS residual on the samples exceeds this.
    std::optional<double> max_residual{};
    /// Removal stops before the distance from the full function in the kernel's space exceeds this.
    std::optional<double> max_distance{};
    /// samples: coefficients minimise Σ‖f(x_i) − y_i‖² + n·ridge·‖a‖². Unset: 0, since the jitter already
    /// keeps them finite and a ridge raises the residual of every model.
    /// rkhs: the full function is KernelRidge's, which minimises Σ‖f(x_i) − y_i‖² + n·ridge·‖f‖². Unset: the
    /// best ridge by leaving one out, since no sparse function is close to an interpolant of noise.
    std::optional<double> ridge{};
    /// Added to the diagonal of the Gram matrix that is inverted, relative to its largest entry: Gaussians of
    /// width 0.5 at 500 points of [0, 10] have a condition beyond 1e16, and coincident samples make any Gram
    /// matrix singular. Well above rounding (2e-16) and too small to change a model visibly.
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

/// Every model of one run of Komp, from n kernels to none. The models are nested, and each is one back
/// substitution. A value that owns all it needs.
template <KernelFamily Kernel>
class KompPath {
public:
    /// n, the number of kernels at the start.
    Index size() const { return models_.size(); }
    double width() const { return width_; }

    /// Sample indices, the last to be removed first: the model of K kernels has the first K as centers.
    const std::vector<Index>& ranking() const { return models_.ranking; }

    /// K x q, in the order of ranking(). O(K² q).
    Matrix coefficients(Index kernels) const { return models_.coefficients(kernels); }

    SparseKernelModel<Kernel> model(Index kernels) const {
        Matrix a = coefficients(kernels);
        Matrix nodes(nodes_.rows(), kernels);
        detail::copy(detail::ConstBlock(nodes_).columns(0, kernels), nodes);
        return {kernel_, InputScaling::identity(dimension_), std::move(nodes), std::move(a), offset_};
    }

    /// RMS of f(x_i) − y_i over samples and outputs. O(n K q).
    double residual(Index kernels) const { return models_.residual(kernels); }

    /// ‖f − f_n‖ in the kernel's space, f_n the model of all kernels: the root of δᵀKδ with δ the difference
    /// of coefficients, summed over outputs. The sum cancels, so that its root is accurate to about
    /// 1e-8·√n·‖δ‖. O(n² q).
    double distance(Index kernels) const { return models_.distance(kernels); }

private:
    template <KernelFamily>
    friend class Komp;

    KompPath(Kernel kernel, const detail::BaselineSamples& samples, double width, detail::NestedModels models)
        : kernel_(std::move(kernel)),
          width_(width),
          dimension_(samples.x.rows()),
          models_(std::move(models)),
          nodes_(detail::nodes_at_samples(detail::columns_of(samples.x, models_.ranking),
                                          kernel_.parameters(dimension_), width)),
          offset_(samples.offset) {}

    Kernel kernel_;
    double width_;
    Index dimension_;
    detail::NestedModels models_;
    Matrix nodes_;  // in the order of ranking()
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

/// Kernel orthogonal matching pursuit with pre-fitting, destructive: starts with one kernel per sample, all
/// of one width, and removes one at a time. Each removal is the one that costs least when all other
/// coefficients are fitted again. O(n³) for the whole path, with n x n numbers held: for n up to about two
/// thousand. A value; fit() and path() are const and may be called from many threads.
template <KernelFamily Kernel = Gaussian>
class Komp {
public:
    explicit Komp(KompOptions options = {}, Kernel kernel = Kernel{})
        : options_(options), kernel_(std::move(kernel)) {
        options_.validate();
    }

    const KompOptions& options() const { return options_; }

    /// The whole path, whatever the bounds. x is d x n, one sample per column; y is a column of n targets or
    /// q x n; any Eigen expression, float or double.
    template <Numbers X, Numbers Y>
    KompPath<Kernel> path(const X& x, const Y& y) const {
        return path_of(detail::baseline_samples(x, y, options_.center));
    }

    /// The model at which the bounds stop the removals: kernels are removed while residual and distance stay
    /// within theirs, and in any case until no more than max_kernels are left.
    template <Numbers X, Numbers Y>
    KompFit<Kernel> fit(const X& x, const Y& y) const {
        detail::require(options_.max_kernels || options_.max_residual || options_.max_distance,
                        "options.max_kernels, options.max_residual or options.max_distance must be set: "
                        "one of them ends the removal");
        return fit_of(path(x, y));
    }

private:
    KompPath<Kernel> path_of(const detail::BaselineSamples& samples) const {
        const bool rkhs = options_.projection == KompProjection::rkhs;
        std::optional<KernelRidgeFit<Kernel>> full;
        if (rkhs || !options_.width) full = kernel_ridge().fit(samples.x, samples.y);
        const double width = full ? full->chosen.width : *options_.width;
        const Matrix gram = detail::gram_matrix(
            kernel_, detail::TiledPoints(samples.x),
            detail::nodes_at_samples(samples.x, kernel_.parameters(samples.x.rows()), width));
        const detail::TriangularProblem problem =
            rkhs ? detail::problem_on_function(gram, full->model.coefficients(), options_.jitter)
                 : detail::problem_on_samples(gram, samples.y, options_.ridge.value_or(0.0), options_.jitter);
        return {kernel_, samples, width, detail::NestedModels::of(problem, gram, samples.y)};
    }

    KompFit<Kernel> fit_of(const KompPath<Kernel>& run) const {
        Index kernels = run.size();
        if (options_.max_residual || options_.max_distance)
            while (kernels > 0 && within_bounds(run, kernels - 1)) --kernels;
        if (options_.max_kernels) kernels = std::min(kernels, *options_.max_kernels);
        return {run.model(kernels),    {run.ranking().begin(), run.ranking().begin() + kernels},
                run.width(),           run.residual(kernels),
                run.distance(kernels), within_bounds(run, kernels)};
    }

    /// For samples already centered; chooses by leaving one out what the options leave open.
    KernelRidge<Kernel> kernel_ridge() const {
        KernelRidgeOptions options{.center = false};
        if (options_.width) options.widths = {*options_.width};
        if (options_.ridge && options_.projection == KompProjection::rkhs) options.ridges = {*options_.ridge};
        return KernelRidge<Kernel>(std::move(options), kernel_);
    }

    bool within_bounds(const KompPath<Kernel>& run, Index kernels) const {
        return (!options_.max_residual || run.residual(kernels) <= *options_.max_residual) &&
               (!options_.max_distance || run.distance(kernels) <= *options_.max_distance);
    }

    KompOptions options_;
    Kernel kernel_;
};

}  // namespace kernelet
