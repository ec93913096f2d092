#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/dense_spectrum.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// Samples as the baselines need them: checked, y as q x n without its offset.
struct BaselineSamples {
    Matrix x{};
    Matrix y{};
    Vector offset{};
};

/// Checks x (d x n) and y (a column of n, or q x n) and subtracts the mean of each output if `center`.
template <class Scalar = double>
[[gnu::noinline]] BaselineSamples checked_samples(Matrix x, Matrix y, bool center) {
    const Index n = x.cols();
    require(x.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
    require(n > 0, "x has no columns; x is d x n, one sample per column, n >= 1");
    require_targets(y.rows(), y.cols(), x.rows(), n);
    if (y.cols() == 1 && y.rows() == n) y.resize(1, n);  // keeps the n numbers
    require_finite(x, "x");
    require_finite(y, "y");
    BaselineSamples samples{std::move(x), std::move(y), {}};
    samples.offset.resize(samples.y.rows());
    fill(samples.offset, 0.0);
    if (!center) return samples;
    const Vector sums = row_sums<Scalar>(samples.y);
    for (Index o = 0; o < sums.size(); ++o) samples.offset(o) = sums(o) / static_cast<double>(n);
    for (Index i = 0; i < n; ++i)
        for (Index o = 0; o < sums.size(); ++o) samples.y(o, i) -= samples.offset(o);
    return samples;
}

template <Numbers X, Numbers Y>
BaselineSamples baseline_samples(const X& x, const Y& y, bool center) {
    return checked_samples(input_matrix(x).template cast<double>(), target_matrix(y).template cast<double>(),
                           center);
}

/// Returns one node (x_i; width, ..., width) per sample, with p = `parameters` widths: (d + p) x n.
template <class Scalar = double>
Matrix nodes_at_samples(const ConstBlock& x, Index parameters, double width) {
    Matrix nodes(x.rows + parameters, x.cols);
    fill(nodes, width);
    copy(x, nodes);
    return nodes;
}

/// K_ij = k(x_i, node_j), n x n. O(n² d).
template <KernelFamily Kernel>
Matrix gram_matrix(const Kernel& kernel, const TiledPoints& points, const Matrix& nodes) {
    Matrix gram(points.size(), nodes.cols());
    parallel_for(
        nodes.cols(), [&](Index j) { kernel_column(kernel, points, column_ref(nodes, j), &gram(0, j)); },
        gram.size());
    require(all_finite(gram),
            "the kernel's values at the samples are not all finite; is the width sensible?");
    return gram;
}

/// L Lᵀ = A + jitter·I.
struct JitteredCholesky {
    Matrix lower{};  ///< L; its upper triangle is not set
    double jitter{};
};

/// Factors A + jitter·I with the smallest jitter among 0 and n·eps·max|A|·(1, 10, 100, ...) at which the
/// matrix is positive definite and its reciprocal condition is at least `least_rcond`. Only the lower
/// triangle of A is read. O(n³) per try, about 17 tries at most: a jitter larger than the sum of a row makes
/// the diagonal dominate.
template <class Scalar = double>
[[gnu::noinline]] JitteredCholesky jittered_cholesky(Matrix a, double least_rcond) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    constexpr double growth = 10.0;
    const double largest = std::max(max_abs(a), std::numeric_limits<double>::min());
    double next = epsilon * static_cast<double>(a.rows()) * largest;
    JitteredCholesky result;
    for (;; next *= growth) {
        result.lower = a;
        if (cholesky<Scalar>(result.lower) &&
            reciprocal_condition<Scalar>(result.lower, symmetric_one_norm<Scalar>(a)) >= least_rcond)
            return result;
        add_to_diagonal(a, next - result.jitter);
        result.jitter = next;
    }
}

/// √(mean of the squares) where the squares themselves may overflow or underflow.
template <class Scalar = double>
double stable_root_mean_square(const ConstBlock& a) {
    const double unit = max_abs(a);
    if (!(unit > 0.0) || !std::isfinite(unit)) return unit;
    double squares = 0.0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) squares += a(i, j) / unit * (a(i, j) / unit);
    return unit * std::sqrt(squares / static_cast<double>(a.size()));
}

}  // namespace detail

/// The criterion by which KernelRidge chooses among widths and ridges.
enum class RidgeCriterion {
    leave_one_out,       ///< smallest RMS error on each sample when only the others are fitted
    marginal_likelihood  ///< likeliest Gaussian process: y = f + noise, f of covariance amplitude·k
};

struct KernelRidgeOptions {
    /// Widths to try, in the unit of x; one: that width. Empty: `width_levels` of them, equally spaced in
    /// log w from the median nearest-neighbour distance to half the diagonal of the samples' box.
    std::vector<double> widths{};
    Index width_levels = 12;
    /// Ridges to try; one: that ridge. Relative to n, so that the same numbers serve any number of samples.
    /// Empty: half decades from 1e-10, nearly an interpolant, to 1, nearly the mean.
    std::vector<double> ridges{};
    RidgeCriterion criterion = RidgeCriterion::leave_one_out;
    /// Subtract the mean of y; the model then decays to that mean far from the data instead of to zero.
    bool center = true;

    void validate() const {
        for (std::size_t k = 0; k < widths.size(); ++k)
            detail::require_positive(widths[k], detail::text("options.widths[", k, "]"));
        for (std::size_t k = 0; k < ridges.size(); ++k)
            detail::require_nonnegative(ridges[k], detail::text("options.ridges[", k, "]"));
        detail::require_at_least(width_levels, 1, "options.width_levels");
    }
};

/// The two criteria at one width and one ridge.
struct KernelRidgeScore {
    double width{};
    double ridge{};
    double leave_one_out{};   ///< RMS of the leave-one-out residuals
    double log_likelihood{};  ///< as a Gaussian process, with the likeliest amplitude for each output
};

template <KernelFamily Kernel>
struct KernelRidgeFit {
    SparseKernelModel<Kernel> model;  ///< one kernel per sample, in the samples' order
    KernelRidgeScore chosen{};
    std::vector<KernelRidgeScore> grid{};  ///< every pair that was tried; the ridge varies fastest
    /// q x n: y_i − f(x_i), f fitted without sample i, about the same offset.
    Matrix leave_one_out_residuals{};
    Vector amplitude{};       ///< q: the variance of f as a Gaussian process
    Vector noise_variance{};  ///< q: n·ridge·amplitude
    double jitter{};          ///< what the Cholesky factorisation needed in addition to n·ridge
};

namespace detail {

/// Bounds the condition of K + n·ridge·I such that four digits of the coefficients remain. Gram matrices of
/// smooth kernels without a ridge are worse.
inline constexpr double ridge_least_rcond = 1e-12;

/// From the coefficients A⁻¹y (n x q) and the diagonal of A⁻¹: q x n. Leaving out sample i changes its
/// residual from r_i to r_i/(1 − H_ii), H = KA⁻¹. Since r = n·ridge·a and I − H = n·ridge·A⁻¹, that is
/// a_i/(A⁻¹)_ii, which stays exact as the ridge vanishes.
template <class Scalar = double>
Matrix leave_one_out_residuals(const ConstBlock& coefficients, const ConstBlock& inverse_diagonal) {
    Matrix residuals(coefficients.cols, coefficients.rows);
    for (Index i = 0; i < coefficients.rows; ++i)
        for (Index o = 0; o < coefficients.cols; ++o)
            residuals(o, i) = coefficients(i, o) / inverse_diagonal(i, 0);
    return residuals;
}

/// The likeliest amplitude of each output, ⟨a_o, b_o⟩/n where that is y_oᵀA⁻¹y_o/n. O(n q).
template <class Scalar = double>
Vector likeliest_amplitude(const ConstBlock& a, const ConstBlock& b) {
    Vector amplitude(a.cols);
    for (Index o = 0; o < a.cols; ++o)
        amplitude(o) = dot_run<Scalar>(a.column(o), b.column(o), a.rows) / static_cast<double>(a.rows);
    return amplitude;
}

/// Both criteria. With A = K + n·ridge·I and the likeliest amplitudes,
///     log p(y) = −½ Σ_o (n log(2π·amplitude_o) + n + log det A).
/// Targets that vanish have amplitude 0; its logarithm is bounded from below.
template <class Scalar = double>
KernelRidgeScore ridge_score(double width, double ridge, const Matrix& leave_one_out, const Vector& amplitude,
                             double log_determinant) {
    const auto n = static_cast<double>(leave_one_out.cols());
    double log_density = 0.0;
    for (Index o = 0; o < amplitude.size(); ++o) {
        const double variance = std::max(amplitude(o), std::numeric_limits<double>::min());
        log_density -= 0.5 * (n * std::log(2.0 * std::numbers::pi * variance) + n + log_determinant);
    }
    return {width, ridge, stable_root_mean_square<Scalar>(leave_one_out), log_density};
}

/// Scores one Gram matrix K with every ridge. With K = VΛVᵀ and D = Λ + n·ridge one decomposition is enough:
///     a = V D⁻¹Vᵀy,   (A⁻¹)_ii = Σ_k V_ik²/D_k,   log det A = Σ_k log D_k,   yᵀA⁻¹y = Σ_k (Vᵀy)_k²/D_k.
/// O(n³), and O(n² q) per ridge.
template <class Scalar = double>
[[gnu::noinline]] std::vector<KernelRidgeScore> score_ridges(Matrix gram, const Matrix& y, double width,
                                                             const std::vector<double>& ridges) {
    const Index n = gram.rows(), outputs = y.rows();
    const SymmetricSpectrum spectrum = symmetric_spectrum<Scalar>(std::move(gram));
    Matrix squares = spectrum.vectors;
    for (double* entry = squares.data(); entry != squares.data() + squares.size(); ++entry) *entry *= *entry;
    const Matrix targets = product_tn<Scalar>(spectrum.vectors, transposed<Scalar>(y));  // Vᵀy, n x q
    const double least =
        std::max(ridge_least_rcond * max_abs(spectrum.values), std::numeric_limits<double>::min());
    std::vector<KernelRidgeScore> scores;
    Vector inverse(n);
    Matrix scaled(n, outputs);
    for (const double ridge : ridges) {
        double log_determinant = 0.0;
        for (Index k = 0; k < n; ++k) {
            const double d = std::max(spectrum.values(k) + static_cast<double>(n) * ridge, least);
            inverse(k) = 1.0 / d;
            log_determinant += std::log(d);
            for (Index o = 0; o < outputs; ++o) scaled(k, o) = targets(k, o) / d;
        }
        const Matrix left_out = leave_one_out_residuals<Scalar>(product<Scalar>(spectrum.vectors, scaled),
                                                                product<Scalar>(squares, inverse));
        scores.push_back(ridge_score<Scalar>(width, ridge, left_out,
                                             likeliest_amplitude<Scalar>(scaled, targets), log_determinant));
    }
    return scores;
}

/// The solution of (K + (n·ridge + jitter) I) a = y and what follows from it.
struct RidgeSolution {
    Matrix coefficients{};   // n x q
    Matrix leave_one_out{};  // q x n
    Vector amplitude{};
    KernelRidgeScore score{};
    double jitter{};
};

/// O(n³).
template <class Scalar = double>
[[gnu::noinline]] RidgeSolution solve_ridge(Matrix gram, const Matrix& y, double width, double ridge) {
    const Index n = gram.rows();
    add_to_diagonal(gram, static_cast<double>(n) * ridge);
    const JitteredCholesky factor = jittered_cholesky<Scalar>(std::move(gram), ridge_least_rcond);
    const Matrix targets = transposed<Scalar>(y);
    RidgeSolution result{targets, {}, {}, {}, factor.jitter};
    cholesky_solve<Scalar>(factor.lower, result.coefficients);
    // A⁻¹ = L⁻ᵀL⁻¹: its diagonal has the squared norms of the columns of L⁻¹.
    Matrix inverse(n, n);
    fill(inverse, 0.0);
    add_to_diagonal(inverse, 1.0);
    solve_lower<Scalar>(factor.lower, inverse);
    Vector inverse_diagonal(n);
    double log_determinant = 0.0;
    for (Index i = 0; i < n; ++i) {
        inverse_diagonal(i) = dot_run<Scalar>(&inverse(0, i), &inverse(0, i), n);
        log_determinant += 2.0 * std::log(factor.lower(i, i));
    }
    result.leave_one_out = leave_one_out_residuals<Scalar>(result.coefficients, inverse_diagonal);
    result.amplitude = likeliest_amplitude<Scalar>(result.coefficients, targets);
    result.score = ridge_score<Scalar>(width, ridge, result.leave_one_out, result.amplitude, log_determinant);
    return result;
}

}  // namespace detail

/// Classical kernel ridge regression (paper (2), PI'): f = Σ_i a_i k(·, x_i; w), one kernel per sample and one width,
///     minimise Σ_i ‖f(x_i) − y_i‖² + n·ridge·‖f‖²,    (K + n·ridge·I) a = y,
/// with the width and the ridge searched on a grid. The mean of a Gaussian process with noise variance
/// n·ridge·amplitude is the same function. The kernel must be symmetric and positive semidefinite. Holds
/// n x n numbers: for n up to a few thousand. A value; fit() is const and may be called from many threads.
template <KernelFamily Kernel = Gaussian>
class KernelRidge {
public:
    explicit KernelRidge(KernelRidgeOptions options = {}, Kernel kernel = Kernel{})
        : options_(std::move(options)), kernel_(std::move(kernel)) {
        options_.validate();
    }

    const KernelRidgeOptions& options() const { return options_; }

    /// x is d x n, one sample per column; y is a column of n targets or q x n; any Eigen expression, float or
    /// double. O(n³) per width, for any number of ridges.
    template <Numbers X, Numbers Y>
    KernelRidgeFit<Kernel> fit(const X& x, const Y& y) const {
        return fit_samples(detail::baseline_samples(x, y, options_.center));
    }

private:
    KernelRidgeFit<Kernel> fit_samples(const detail::BaselineSamples& samples) const {
        const std::vector<double> widths =
            options_.widths.empty() ? default_widths(samples.x) : options_.widths;
        const std::vector<double> ridges = options_.ridges.empty() ? default_ridges() : options_.ridges;
        const auto n = static_cast<double>(samples.x.cols());
        for (std::size_t k = 0; k < ridges.size(); ++k)
            detail::require(std::isfinite(n * ridges[k]), "options.ridges[", k, "] = ", ridges[k],
                            " times n = ", n, " must be finite");
        if (widths.size() == 1 && ridges.size() == 1) {
            KernelRidgeFit<Kernel> fit = solve(samples, widths[0], ridges[0]);
            fit.grid = {fit.chosen};
            return fit;
        }
        std::vector<KernelRidgeScore> grid = search(samples, widths, ridges);
        const auto better = [&](const KernelRidgeScore& a, const KernelRidgeScore& b) {
            return options_.criterion == RidgeCriterion::leave_one_out ? a.leave_one_out < b.leave_one_out
                                                                       : a.log_likelihood > b.log_likelihood;
        };
        const KernelRidgeScore best = *std::min_element(grid.begin(), grid.end(), better);
        KernelRidgeFit<Kernel> fit = solve(samples, best.width, best.ridge);
        fit.grid = std::move(grid);
        return fit;
    }

    std::vector<double> default_widths(const Matrix& x) const {
        const Interval range = widths_from_samples(x);
        if (range.lo == range.hi) return {range.lo};
        const Quadrature levels = WidthRange(range, Spacing::logarithmic).levels(options_.width_levels);
        return {levels.nodes.data(), levels.nodes.data() + levels.nodes.size()};
    }

    static std::vector<double> default_ridges() {
        std::vector<double> ridges;
        for (int half_decade = -20; half_decade <= 0; ++half_decade)
            ridges.push_back(std::pow(10.0, 0.5 * half_decade));
        return ridges;
    }

    Matrix nodes(const detail::BaselineSamples& samples, double width) const {
        return detail::nodes_at_samples(samples.x, kernel_.parameters(samples.x.rows()), width);
    }

    Matrix gram(const detail::BaselineSamples& samples, double width) const {
        return detail::gram_matrix(kernel_, detail::TiledPoints(samples.x), nodes(samples, width));
    }

    /// Scores every width with every ridge.
    std::vector<KernelRidgeScore> search(const detail::BaselineSamples& samples,
                                         const std::vector<double>& widths,
                                         const std::vector<double>& ridges) const {
        std::vector<std::vector<KernelRidgeScore>> rows(widths.size());
        const Index n = samples.x.cols();
        const Index work = n * n * n;  // the decomposition costs about n times what a kernel value does
        detail::parallel_for(
            static_cast<Index>(widths.size()),
            [&](Index at) {
                const double width = widths[static_cast<std::size_t>(at)];
                rows[static_cast<std::size_t>(at)] =
                    detail::score_ridges(gram(samples, width), samples.y, width, ridges);
            },
            work);
        std::vector<KernelRidgeScore> grid;
        for (const auto& row : rows) grid.insert(grid.end(), row.begin(), row.end());
        return grid;
    }

    /// The fit at one width and one ridge. O(n³).
    KernelRidgeFit<Kernel> solve(const detail::BaselineSamples& samples, double width, double ridge) const {
        detail::RidgeSolution solution = detail::solve_ridge(gram(samples, width), samples.y, width, ridge);
        Vector noise_variance = solution.amplitude;
        detail::scale(noise_variance, static_cast<double>(samples.x.cols()) * ridge);
        return {SparseKernelModel<Kernel>(kernel_, InputScaling::identity(samples.x.rows()),
                                          nodes(samples, width), std::move(solution.coefficients),
                                          samples.offset),
                solution.score,
                {},
                std::move(solution.leave_one_out),
                std::move(solution.amplitude),
                std::move(noise_variance),
                solution.jitter};
    }

    KernelRidgeOptions options_;
    Kernel kernel_;
};

}  // namespace kernelet
