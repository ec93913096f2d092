#pragma once

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace kernelet {

struct GaussianProcessOptions {
    /// Steps of L-BFGS from each start, O(n³) per step.
    Index max_steps = 100;
    /// Increase of the log likelihood per step, in nats, below which it has converged.
    double min_increase = 1e-3;
    /// Noise variances relative to the amplitude from which the likelihood is climbed; the likeliest end counts.
    std::vector<double> starts{1e-2, 1e-5};
    /// And between which they stay: below, the Gram matrix of a smooth kernel is singular to rounding.
    double min_noise_ratio = 1e-10;
    double max_noise_ratio = 10.0;

    void validate() const {
        detail::require_at_least(max_steps, 1, "options.max_steps");
        detail::require_nonnegative(min_increase, "options.min_increase");
        detail::require(!starts.empty(), "options.starts is empty");
        for (std::size_t k = 0; k < starts.size(); ++k)
            detail::require_positive(starts[k], detail::text("options.starts[", k, "]"));
        detail::require_positive(min_noise_ratio, "options.min_noise_ratio");
        detail::require(max_noise_ratio > min_noise_ratio, "options.max_noise_ratio = ", max_noise_ratio,
                        " must be above options.min_noise_ratio = ", min_noise_ratio);
    }
};

struct GaussianProcessFit {
    SparseKernelModel<Gaussian> model;  ///< the posterior mean: one kernel per sample, in the samples' order
    Vector length_scales{};             ///< one per coordinate, in the unit of x
    double amplitude{};                 ///< the variance of f
    double noise_deviation{};           ///< σ
    double log_likelihood{};            ///< log p(y), the amplitude at its likeliest value
};

namespace detail {

/// The negative log marginal likelihood of y = f + noise, f a Gaussian process of covariance s² k,
/// k = exp(−½ Σ_c (Δ_c/ℓ_c)²), with noise of variance ρ s², as a function of (log ℓ, log ρ). The amplitude s² is
/// eliminated: with A = K + ρI and a = A⁻¹y, s² = y'a/n, and
///     L = ½ (n log(2π s²) + n + log det A),   ∂L = ½ Σ_ij Q_ij ∂A_ij,   Q = A⁻¹ − aa'/s².
/// With M = Q ∘ K, the derivative along log ℓ_c is ½ Σ_ij M_ij (x_i − x_j)²/ℓ² = (Σ_i x_i² (M1)_i − x'Mx)/ℓ².
/// O(n³ + n² d) per call. Holds references.
template <class Scalar = double>
class ProcessLikelihood {
public:
    ProcessLikelihood(const Matrix& x, const Vector& y, const GaussianProcessOptions& options)
        : x_(x), y_(y), options_(options) {}

    double ratio(const Vector& at) const {
        return std::clamp(std::exp(at(x_.rows())), options_.min_noise_ratio, options_.max_noise_ratio);
    }
    Vector lengths(const Vector& at) const {
        Vector out(x_.rows());
        for (Index c = 0; c < x_.rows(); ++c) out(c) = std::exp(at(c));
        return out;
    }

    double operator()(const Vector& at, Vector& gradient) const {
        const Index n = x_.cols(), d = x_.rows();
        Matrix scaled = x_;
        for (Index c = 0; c < d; ++c)
            for (Index i = 0; i < n; ++i) scaled(c, i) *= std::exp(-at(c));
        fill(gradient, 0.0);
        if (!all_finite(scaled)) return std::numeric_limits<double>::infinity();
        const Matrix gram = gram_matrix(Gaussian{}, TiledPoints(scaled), nodes_at_samples(scaled, 1, 1.0));
        Matrix factor = gram;
        add_to_diagonal(factor, ratio(at));
        if (!cholesky<Scalar>(factor)) return std::numeric_limits<double>::infinity();
        Vector a = y_;
        cholesky_solve<Scalar>(factor, a);
        const double amplitude = std::max(dot<Scalar>(y_, a), std::numeric_limits<double>::min()) / count();
        double cost = 0.5 * count() * (std::log(2.0 * std::numbers::pi * amplitude) + 1.0);
        for (Index i = 0; i < n; ++i) cost += std::log(factor(i, i));
        Matrix weights = Matrix::Identity(n, n);  // Q, then M
        cholesky_solve<Scalar>(factor, weights);
        add_outer<Scalar>(weights, -1.0 / amplitude, a.data(), a.data());
        for (Index i = 0; i < n; ++i) gradient(d) += 0.5 * ratio(at) * weights(i, i);
        if (ratio(at) != std::exp(at(d))) gradient(d) = 0.0;  // held at a bound
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) weights(i, j) *= gram(i, j);
        const Vector sums = row_sums<Scalar>(weights);
        const Matrix along = product<Scalar>(scaled, weights);
        for (Index c = 0; c < d; ++c)
            for (Index i = 0; i < n; ++i)
                gradient(c) += scaled(c, i) * (scaled(c, i) * sums(i) - along(c, i));
        return cost;
    }

private:
    double count() const { return static_cast<double>(x_.cols()); }

    const Matrix& x_;
    const Vector& y_;
    const GaussianProcessOptions& options_;
};

/// The likeliest (log ℓ, log ρ) from some starts, lengths beginning at the deviation of each coordinate times √d:
/// all coordinates together then change a kernel between typical samples as one would.
template <class Scalar = double>
[[gnu::noinline]] Vector likeliest_process(const Matrix& x, const Vector& y,
                                           const GaussianProcessOptions& options) {
    const ProcessLikelihood<Scalar> likelihood(x, y, options);
    constexpr double most_gained = 100.0;  // nats per sample: a residual of e⁻¹⁰⁰ of the first
    const Index d = x.rows();
    const InputScaling spread = InputScaling::standard(x);
    Vector best, gradient(d + 1);
    double least = std::numeric_limits<double>::infinity();
    for (const double start : options.starts) {
        Vector at(d + 1);
        for (Index c = 0; c < d; ++c) at(c) = std::log(spread.scale(c) * std::sqrt(static_cast<double>(d)));
        at(d) = std::log(start);
        // L-BFGS stops by the relative decrease of a positive cost: that of L above a bound of it, per sample.
        const double first = likelihood(at, gradient), unit = static_cast<double>(x.cols());
        const auto cost = [&](const Vector& where, Vector& slope) {
            const double value = likelihood(where, slope);
            scale(slope, 1.0 / unit);
            return most_gained + (value - first) / unit;
        };
        LbfgsOptions steps;
        steps.max_steps = options.max_steps;
        steps.least_progress = options.min_increase / (unit * most_gained);
        const double reached = (lbfgs(at, cost, steps) - most_gained) * unit + first;
        if (best.size() > 0 && !(reached < least)) continue;
        least = reached;
        best = at;
    }
    return best;
}

}  // namespace detail

/// Regression by a Gaussian process with a length scale per coordinate ("automatic relevance determination"): lengths,
/// amplitude and noise by the largest marginal likelihood, the mean of y as the mean of the process. The baseline for
/// surrogate models. The posterior mean is kernel ridge regression in coordinates scaled by the lengths. One output.
/// Holds n x n numbers: for n up to a few thousand.
class GaussianProcess {
public:
    explicit GaussianProcess(GaussianProcessOptions options = {}) : options_(std::move(options)) {
        options_.validate();
    }

    /// x is d x n, one sample per column; y a column of n targets. O(n³) per step.
    template <Numbers X, Numbers Y>
    GaussianProcessFit fit(const X& x, const Y& y) const {
        return fit_samples(detail::baseline_samples(x, y, true));
    }

private:
    GaussianProcessFit fit_samples(const detail::BaselineSamples& samples) const {
        detail::require(samples.y.rows() == 1, "y has ", samples.y.rows(),
                        " outputs; GaussianProcess is for one");
        const Matrix& x = samples.x;
        const Vector y = detail::transposed(samples.y);
        const detail::ProcessLikelihood likelihood(x, y, options_);
        const Vector at = detail::likeliest_process(x, y, options_);
        const InputScaling scaling{Vector::Zero(x.rows()), likelihood.lengths(at)};
        const double ratio = likelihood.ratio(at);
        const auto ridge =
            KernelRidge<>(
                {.widths = {1.0}, .ridges = {ratio / static_cast<double>(x.cols())}, .center = false})
                .fit(scaling.to_internal(x), y);
        const double amplitude = ridge.amplitude(0);
        return {SparseKernelModel<Gaussian>(Gaussian{}, scaling, ridge.model.nodes(),
                                            ridge.model.coefficients(), samples.offset),
                scaling.scale, amplitude, std::sqrt(ratio * amplitude), ridge.chosen.log_likelihood};
    }

    GaussianProcessOptions options_;
};

}  // namespace kernelet
