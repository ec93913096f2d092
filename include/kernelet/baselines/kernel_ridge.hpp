#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// Samples as the baselines need them: checked, y as q x n less its offset.
struct BaselineSamples {
    Matrix x{};
    Matrix y{};
    Vector offset{};
};

template <class X, class Y>
BaselineSamples baseline_samples(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y, bool center) {
    BaselineSamples samples{x.template cast<double>(), y.template cast<double>(), {}};
    const Index n = samples.x.cols();
    require(samples.x.rows() > 0, "x has no rows; x is d x n, one sample a column, d >= 1");
    require(n > 0, "x has no columns; x is d x n, one sample a column, n >= 1");
    if (samples.y.cols() == 1 && samples.y.rows() == n) samples.y.transposeInPlace();
    require(samples.y.cols() == n && samples.y.rows() > 0, "y is ", samples.y.rows(), " x ", samples.y.cols(),
            " but x has ", n, " columns; x is d x n, one sample a column, y a column of n or q x n");
    require_finite(samples.x, "x");
    require_finite(samples.y, "y");
    samples.offset = center ? Vector(samples.y.rowwise().mean()) : Vector::Zero(samples.y.rows());
    samples.y.colwise() -= samples.offset;
    return samples;
}

/// One kernel at each sample, all of one width: (d + p) x n.
template <KernelFamily Kernel>
Matrix kernels_at_samples(const Kernel& kernel, const ConstMatrixRef& x, double width) {
    Matrix nodes = Matrix::Constant(x.rows() + kernel.parameters(x.rows()), x.cols(), width);
    nodes.topRows(x.rows()) = x;
    return nodes;
}

/// K_ij = k(x_i, node_j), n x n. O(n² d).
template <KernelFamily Kernel>
Matrix gram_matrix(const Kernel& kernel, const TiledPoints& points, const ConstMatrixRef& nodes) {
    Matrix gram(points.size(), nodes.cols());
    parallel_for(
        nodes.cols(), [&](Index j) { kernel_column(kernel, points, nodes.col(j), gram.col(j)); },
        gram.size());
    require(gram.allFinite(),
            "the kernel's values at the samples are not all finite; is the width sensible?");
    return gram;
}

/// A B column by column: a product of two matrices Eigen shares out among threads, and the order of its sums
/// then depends on their number; that of a matrix and a vector it does not.
template <class A>
Matrix product(const A& a, const Matrix& b) {
    Matrix result(a.rows(), b.cols());
    for (Index column = 0; column < b.cols(); ++column) result.col(column).noalias() = a * b.col(column);
    return result;
}

struct JitteredCholesky {
    Eigen::LLT<Matrix> factor{};
    double jitter{};
};

/// LL' = A + jitter·I with the least jitter among 0 and n·eps·max|A|·(1, 10, 100, ...) at which A is positive
/// definite and its reciprocal condition no less than asked for. Only the lower triangle of A is read. O(n³)
/// a try, at most 17 or so: beyond the sum of a row A is dominated by its diagonal.
inline JitteredCholesky jittered_cholesky(Matrix a, double least_rcond) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    constexpr double growth = 10.0;
    const double scale = std::max(a.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    double next = epsilon * static_cast<double>(a.rows()) * scale;
    JitteredCholesky result;
    for (;; next *= growth) {
        result.factor.compute(a);
        if (result.factor.info() == Eigen::Success && result.factor.rcond() >= least_rcond) return result;
        a.diagonal().array() += next - result.jitter;
        result.jitter = next;
    }
}

}  // namespace detail

/// By what KernelRidge chooses among widths and ridges.
enum class RidgeCriterion {
    leave_one_out,       ///< the least RMS error on each sample when the others alone are fitted
    marginal_likelihood  ///< the likeliest Gaussian process: y = f + noise, f of covariance amplitude·k
};

struct KernelRidgeOptions {
    /// Widths to try, in the unit of x; one: that width. Empty: `width_levels` of them, equally spaced in
    /// log w from the median nearest-neighbour distance to half the diagonal of the samples' box.
    std::vector<double> widths{};
    Index width_levels = 12;
    /// Ridges to try; one: that ridge. Relative to n, so that the same numbers serve any number of samples.
    /// Empty: half decades from 1e-10, all but an interpolant, to 1, hardly more than the mean.
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

/// What one width and one ridge are worth.
struct KernelRidgeScore {
    double width{};
    double ridge{};
    double leave_one_out{};   ///< RMS of the leave-one-out residuals
    double log_likelihood{};  ///< of the Gaussian process, its amplitude chosen for each output
};

template <KernelFamily Kernel>
struct KernelRidgeFit {
    SparseKernelModel<Kernel> model;  ///< a kernel at every sample, in the samples' order
    KernelRidgeScore chosen{};
    std::vector<KernelRidgeScore> grid{};  ///< all that were tried, ridges within widths
    /// q x n: y_i − f(x_i), f fitted without sample i, about the same offset.
    Matrix leave_one_out_residuals{};
    Vector amplitude{};       ///< q: the variance of f as a Gaussian process
    Vector noise_variance{};  ///< q: n·ridge·amplitude
    double jitter{};          ///< what the Cholesky factorisation needed on top of n·ridge
};

/// Classical kernel ridge regression (PI'): f = Σ_i a_i k(·, x_i; w), a kernel at every sample and one width,
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

    /// x is d x n, one sample a column; y a column of n targets or q x n; any Eigen expression, float or
    /// double. O(n³) for each width, whatever the number of ridges.
    template <class X, class Y>
    KernelRidgeFit<Kernel> fit(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) const {
        const detail::BaselineSamples samples = detail::baseline_samples(x, y, options_.center);
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

private:
    // Of K + n·ridge·I: four digits of the coefficients remain. Without a ridge smooth kernels have less.
    static constexpr double least_rcond = 1e-12;

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

    Matrix gram(const detail::BaselineSamples& samples, double width) const {
        return detail::gram_matrix(kernel_, detail::TiledPoints(samples.x),
                                   detail::kernels_at_samples(kernel_, samples.x, width));
    }

    /// With A = K + n·ridge·I: the amplitude that makes y_o likeliest is y_o'A⁻¹y_o / n, and with it
    ///     log p(y) = −½ Σ_o (n log(2π·amplitude_o) + n + log det A).
    /// The floor under the amplitude is for targets that vanish, which every width explains.
    static KernelRidgeScore score(double width, double ridge, const Matrix& leave_one_out,
                                  const Vector& amplitude, double log_determinant) {
        const auto n = static_cast<double>(leave_one_out.cols());
        const double logarithms =
            (2.0 * std::numbers::pi * amplitude.array().max(std::numeric_limits<double>::min())).log().sum();
        const auto q = static_cast<double>(amplitude.size());
        return {width, ridge,
                leave_one_out.stableNorm() / std::sqrt(static_cast<double>(leave_one_out.size())),
                -0.5 * (n * logarithms + q * (n + log_determinant))};
    }

    /// Every width with every ridge.
    std::vector<KernelRidgeScore> search(const detail::BaselineSamples& samples,
                                         const std::vector<double>& widths,
                                         const std::vector<double>& ridges) const {
        std::vector<KernelRidgeScore> grid(widths.size() * ridges.size());
        const Index n = samples.x.cols();
        const Index work = n * n * n;  // what is done with a kernel value is about n times its own cost
        detail::parallel_for(
            static_cast<Index>(widths.size()),
            [&](Index at) {
                score_ridges(samples, widths[static_cast<std::size_t>(at)], ridges,
                             grid.data() + at * static_cast<Index>(ridges.size()));
            },
            work);
        return grid;
    }

    /// With K = VΛV' and D = Λ + n·ridge one decomposition serves all ridges:
    ///     a = V D⁻¹V'y,   (A⁻¹)_ii = Σ_k V_ik²/D_k,   log det A = Σ_k log D_k,   y'A⁻¹y = Σ_k (V'y)_k²/D_k.
    /// O(n³), and O(n² q) a ridge.
    void score_ridges(const detail::BaselineSamples& samples, double width, const std::vector<double>& ridges,
                      KernelRidgeScore* scores) const {
        const auto n = static_cast<double>(samples.x.cols());
        const Eigen::SelfAdjointEigenSolver<Matrix> eigen(gram(samples, width));
        const Matrix& vectors = eigen.eigenvectors();
        const Matrix squares = vectors.cwiseAbs2();
        const Matrix targets = detail::product(vectors.transpose(), samples.y.transpose());
        const double least = std::max(least_rcond * eigen.eigenvalues().cwiseAbs().maxCoeff(),
                                      std::numeric_limits<double>::min());
        for (const double ridge : ridges) {
            const Vector d = (eigen.eigenvalues().array() + n * ridge).max(least);
            const Matrix scaled = targets.array().colwise() / d.array();
            const Vector inverse_diagonal = squares * d.cwiseInverse();
            const Matrix left_out =
                (detail::product(vectors, scaled).array().colwise() / inverse_diagonal.array()).transpose();
            const Vector amplitude = scaled.cwiseProduct(targets).colwise().sum().transpose() / n;
            *scores++ = score(width, ridge, left_out, amplitude, d.array().log().sum());
        }
    }

    /// Leaving out sample i changes its residual from r_i to r_i/(1 − H_ii), H = KA⁻¹; since r = n·ridge·a
    /// and I − H = n·ridge·A⁻¹ that is a_i/(A⁻¹)_ii, which stays exact as the ridge vanishes. O(n³).
    KernelRidgeFit<Kernel> solve(const detail::BaselineSamples& samples, double width, double ridge) const {
        const Index n = samples.x.cols();
        Matrix a = gram(samples, width);
        a.diagonal().array() += static_cast<double>(n) * ridge;
        const auto [factor, jitter] = detail::jittered_cholesky(std::move(a), least_rcond);
        Matrix coefficients = factor.solve(samples.y.transpose());
        const Matrix inverse = factor.matrixL().solve(Matrix::Identity(n, n));  // of L: A⁻¹ = L⁻'L⁻¹
        const Vector inverse_diagonal = inverse.colwise().squaredNorm().transpose();
        const Vector amplitude =
            coefficients.cwiseProduct(samples.y.transpose()).colwise().sum().transpose() /
            static_cast<double>(n);
        const double log_determinant = 2.0 * factor.matrixLLT().diagonal().array().log().sum();
        Matrix left_out = (coefficients.array().colwise() / inverse_diagonal.array()).transpose();
        const KernelRidgeScore chosen = score(width, ridge, left_out, amplitude, log_determinant);
        return {SparseKernelModel<Kernel>(kernel_, InputScaling::identity(samples.x.rows()),
                                          detail::kernels_at_samples(kernel_, samples.x, width),
                                          std::move(coefficients), samples.offset),
                chosen,
                {},
                std::move(left_out),
                amplitude,
                static_cast<double>(n) * ridge * amplitude,
                jitter};
    }

    KernelRidgeOptions options_;
    Kernel kernel_;
};

}  // namespace kernelet
