#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/noise.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/losses/any_loss.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/options.hpp>

#include <algorithm>
#include <cmath>

namespace kernelet {

/// Samples in the units of the fit. Holds references.
struct SampleView {
    const Matrix& x;        ///< d x n
    const Matrix& y;        ///< q x n
    const Vector& weights;  ///< n
};

/// The scales of a search problem before anything is fitted: of the targets, of their noise under the loss that is
/// minimised, and of the inputs.
struct SampleScales {
    Index samples{};            ///< n
    double mean_weight{};       ///< Σ w / n
    double energy{};            ///< Σ w ‖y‖²
    double target_variance{};   ///< energy / (q Σ w)
    double noise_deviation{};   ///< σ of y: as estimated, but at least a fraction of the deviation of y
    double noise_level = 1.0;   ///< E ℓ of that noise; 1 for labels, whose loss is a log likelihood
    double noise_degree = 1.0;  ///< p, the power of σ with which E ℓ grows; 1 for labels
    double known_noise = 1.0;   ///< see detail::NoiseEstimate
    /// σ may be smaller: neighbours in several dimensions differ by more than their noise.
    bool noise_is_bound = false;
    double noise_floor{};    ///< σ is not smaller
    double half_diagonal{};  ///< of the samples' box, with its margins

    /// −log likelihood of one sample is loss / (p E ℓ), for the squared loss r²/2σ²: the loss that a unit of
    /// −log likelihood stands for, p E ℓ/2, up to the factor 2 of ‖·‖².
    double loss_unit() const { return 0.5 * noise_degree * noise_level; }

    template <class Scalar = double>
    static SampleScales of(const AnyLoss& loss, const SampleView& samples, const detail::NoiseEstimate& noise,
                           const PriorOptions& options) {
        const Matrix& y = samples.y;
        const Vector& weights = samples.weights;
        SampleScales scales;
        scales.samples = y.cols();
        scales.known_noise = noise.known;
        scales.half_diagonal = kernelet::half_diagonal(samples.x);
        scales.mean_weight = detail::sum<Scalar>(weights) / static_cast<double>(weights.size());
        for (Index i = 0; i < y.cols(); ++i) scales.energy += detail::column_squares(y, i) * weights(i);
        scales.target_variance =
            scales.energy / (detail::sum<Scalar>(weights) * static_cast<double>(y.rows()));
        scales.noise_deviation =
            std::max(noise.deviation, options.min_noise_fraction * std::sqrt(scales.target_variance));
        if (loss.is_classification()) return scales;
        scales.noise_is_bound = noise.is_bound && loss.is_squared();
        constexpr double rounding = 1e-6;  // of the deviation of y
        scales.noise_floor = std::max(noise.floor, rounding * std::sqrt(scales.target_variance));
        // A loss that is zero around the target has a level of zero for noise inside of that zone. The level counts as
        // at least the square of that fraction of the loss of f = 0, as it does for the squared loss.
        double without_kernels = 0.0;
        for (Index i = 0; i < y.cols(); ++i)
            for (Index o = 0; o < y.rows(); ++o) without_kernels += weights(i) * loss.value(0.0, y(o, i));
        without_kernels /= detail::sum<Scalar>(weights) * static_cast<double>(y.rows());
        const double floor = options.min_noise_fraction * options.min_noise_fraction * without_kernels;
        scales.noise_level = std::max(detail::noise_level(loss, scales.noise_deviation), floor);
        scales.noise_degree = detail::noise_degree(loss, scales.noise_deviation);
        return scales;
    }
};

/// The parameters of the priors: given, or learned with a model, see learned_priors().
struct Hyperparameters {
    double coefficient_deviation = 7.0;  ///< of a coefficient, in deviations of y
    double log_width_deviation = 1.0;    ///< of each log-width about the metric
    Vector metric{};  ///< ℓ: the typical widths of a kernel, one per parameter; empty: the same for all

    /// Several widths of one kernel share a prior at first, or a kernel would pay more the more widths it has.
    static Hyperparameters given(const AnyDomain& domain, const PriorOptions& options,
                                 double coefficient_deviation);
};

/// log θ normal about the logarithm of a typical width: costs strength · (log θ/typical)² per width that may move.
/// Strength 0: no prior.
struct WidthPrior {
    double typical = 1.0;
    double strength = 0.0;
    Vector metric{};  ///< the typical width of each parameter, where they differ

    /// log of the width relative to the typical one of this parameter, counted from the first.
    double excess(Index parameter, double width) const {
        return std::log(width / (metric.size() > 0 ? metric(parameter) : typical));
    }
    double cost(Index parameter, double width) const {
        return strength * excess(parameter, width) * excess(parameter, width);
    }
};

/// The priors on coefficients and widths, in the unit of the loss.
struct Priors {
    double ridge = 0.0;  ///< Σ w ℓ + ridge Σ w ‖a‖² is minimised
    WidthPrior widths{};

    /// Coefficients normal with deviation τ = coefficient_deviation · √(target variance): a likelihood
    /// exp(−Σℓ/(p E ℓ)) makes that the ridge p E ℓ/(2 n τ²), for the squared loss σ²/(n τ²). Widths log-normal.
    static Priors from(const SampleScales& scales, const Options& options, const Hyperparameters& given) {
        constexpr double rounding = 1e-10;  // below it, kernels that nearly coincide would cancel to rounding
        Priors out;
        out.ridge = options.ridge.value_or(std::max(
            rounding, scales.loss_unit() / (scales.target_variance * static_cast<double>(scales.samples) *
                                            given.coefficient_deviation * given.coefficient_deviation)));
        out.widths = {
            options.search.priors.typical_width_fraction * scales.half_diagonal,
            scales.loss_unit() * scales.mean_weight / (given.log_width_deviation * given.log_width_deviation),
            given.metric};
        return out;
    }

    static Priors from(const SampleScales& scales, const AnyDomain& domain, const Options& options) {
        return from(scales, options,
                    Hyperparameters::given(domain, options.search.priors,
                                           options.search.priors.coefficient_deviation));
    }

    /// Rows of θ that may move.
    static Index free_widths(const AnyDomain& domain) {
        Index count = 0;
        for (Index row = domain.dimension(); row < domain.rows(); ++row) count += domain.free(row) ? 1 : 0;
        return count;
    }
};

inline Hyperparameters Hyperparameters::given(const AnyDomain& domain, const PriorOptions& options,
                                              double coefficient_deviation) {
    const auto widths = static_cast<double>(std::max<Index>(1, Priors::free_widths(domain)));
    return {coefficient_deviation, options.log_width_deviation * std::sqrt(widths), {}};
}

}  // namespace kernelet
