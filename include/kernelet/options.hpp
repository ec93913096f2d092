#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/search_options.hpp>
#include <kernelet/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelet {

/// How peaks of |ᾱ| become kernels. The defaults are meant for data of any kind.
struct PeakOptions {
    /// Two peaks of one sign whose kernels are more coherent than this are one peak: a pair beyond it would
    /// be fitted with two large coefficients of opposite sign.
    double merge_coherence = 0.95;
    /// Nodes above the threshold start an ascent unless a higher start is more coherent than this.
    double seed_coherence = 0.95;
    /// And from this share of the threshold on, since a maximum may lie between the nodes.
    double seed_level = 0.8;
    /// Most ascents; the highest starts are taken.
    Index max_seeds = 400;
    /// Most steps of one ascent.
    Index max_steps = 60;

    void validate() const {
        detail::require(merge_coherence > 0.0 && merge_coherence <= 1.0,
                        "options.peaks.merge_coherence = ", merge_coherence, " must be in (0, 1]");
        detail::require(seed_coherence > 0.0 && seed_coherence <= 1.0,
                        "options.peaks.seed_coherence = ", seed_coherence, " must be in (0, 1]");
        detail::require(seed_level > 0.0 && seed_level <= 1.0, "options.peaks.seed_level = ", seed_level,
                        " must be in (0, 1]");
        detail::require_at_least(max_seeds, 1, "options.peaks.max_seeds");
        detail::require_at_least(max_steps, 1, "options.peaks.max_steps");
    }
};

/// The options of a fit. Every field has a default.
struct Options {
    /// How closely the data must be met: RMS residual ≤ tolerance in y's unit (aggregate), or |ŷ − y| ≤
    /// tolerance for each sample (per_sample); for other losses than the squared one, the loss whose level it
    /// is (a mean excess, a mean hinge). Unset: from the noise estimated from the data.
    std::optional<double> tolerance{};
    /// The largest number of kernels.
    std::optional<Index> max_kernels{};
    /// Aggregate suits noisy data. Per sample suits noise-free data or a tolerance above the largest noise:
    /// below it, a model has to follow every outlier.
    Scope scope = Scope::aggregate;
    /// The price γ of support in the paper's unit (under the domain's probability measure). Unset: from
    /// `sparsity`.
    std::optional<double> gamma{};
    /// The threshold in units of the γ = 0 solution: √(2γ) = sparsity · max|ᾱ₀|. Zero: no sparsity.
    double sparsity = 0.5;
    /// Scale each coordinate of x to deviation one inside the fit, where the domain is read off the data. A
    /// domain given by the user is in the user's units; then nothing is scaled.
    bool standardize = true;
    /// Measure y from a baseline inside the fit, to which a model decays far from the data: zero where zero
    /// is among the values of y (their range and a tenth more), else their mean. On ten Gaussians over zero,
    /// the mean costs 1.5 kernels more and doubles the error. Off: zero, as in the paper.
    bool center = true;
    /// The trend, fitted with the kernels but unpenalised, in the dual and after it; a model decays to it
    /// far from the data. A constant: f = ∫αk + b, and the dual keeps Σ_i λ_i = 0; classes may be unbalanced.
    /// Linear: f = ∫αk + b + s'x, and Σ_i λ_i x_i = 0 too. With either, y is measured from its mean inside
    /// the fit, whatever `center` is; only rounding depends on this. Automatic:
    /// none in the dual; after it a constant where y is measured from
    /// its mean and the domain has no kernel wide enough to move that (FixedWidth, narrow CandidateCenters); linear where
    /// the noise is estimated with the model, see EvidenceSearch, and the evidence prefers it; else none.
    Trend trend = Trend::automatic;
    /// Another name of `trend`: true is a constant trend, false none.
    std::optional<bool> intercept{};
    /// With no tolerance: the dual is solved at this multiple of the estimated noise deviation. Above 1,
    /// since the α of the dual shrinks towards zero and the search removes that bias.
    double noise_multiple = 1.6;
    /// Coefficients a minimise Σ w ℓ + ridge·Σ w·‖a‖²: keeps nearly coincident kernels from cancelling each other.
    /// Unset: from the noise and the prior on coefficients, see Priors, raised while coefficients are too large.
    std::optional<double> ridge{};
    /// Where there are more samples, the dual is solved on so many of them, drawn at random, and the
    /// certificate refers to those; kernels are searched for and fitted on all. The dual's time grows with
    /// the cube of n. Unset: 2000 where a tolerance or γ is given, since feasibility then matters;
    /// else 200, since the peaks are only where the search begins.
    std::optional<Index> dual_samples{};
    /// The same seed, input and binary give the same bits.
    std::uint64_t seed = 1;
    PeakOptions peaks{};
    SearchOptions search{};

    /// The trend that `trend` and `intercept` select.
    Trend asked_trend() const {
        if (!intercept) return trend;
        return *intercept ? Trend::constant : Trend::none;
    }
    /// Whether the dual has a trend.
    bool has_dual_trend() const { return asked_trend() == Trend::constant || asked_trend() == Trend::linear; }

    void validate() const {
        if (tolerance) require_square(*tolerance, 1e150, "options.tolerance");
        if (max_kernels) detail::require_at_least(*max_kernels, 1, "options.max_kernels");
        if (gamma) detail::require_nonnegative(*gamma, "options.gamma");
        require_square(sparsity, 1e100, "options.sparsity");
        detail::require_positive(noise_multiple, "options.noise_multiple");
        if (ridge) detail::require_nonnegative(*ridge, "options.ridge");
        detail::require(
            !intercept || trend == Trend::automatic,
            "options.intercept and options.trend are both given; intercept = true is a constant trend");
        if (dual_samples) detail::require_at_least(*dual_samples, 1, "options.dual_samples");
        peaks.validate();
        search.validate();
    }

private:
    /// Requires that a value whose square enters a fit is neither negative nor too large for that.
    static void require_square(double value, double most, std::string_view name) {
        detail::require_nonnegative(value, name);
        detail::require(value <= most, name, " = ", value, " must be at most ", most);
    }
};

}  // namespace kernelet
