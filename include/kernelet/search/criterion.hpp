#pragma once

#include <kernelet/search/evaluation.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <optional>

namespace kernelet {

/// How good a model is, compared in this order; less is better.
struct Score {
    double excess{};  ///< kernels beyond the limit, and kernels that see too few samples
    double
        violation{};  ///< of the tolerance, in the unit of a prediction; 0 where it is met or none is asked for
    double value{};  ///< of the criterion

    friend std::partial_ordering operator<=>(const Score&, const Score&) = default;
};

/// What the search lowers. With N residuals, cost C relative to the cost without kernels, K kernels:
///     tolerance     K + ½ C where the tolerance is met: the fewest kernels that meet it
///     neither       2/p · [(N + ν) log((uN + ν)/(N + ν))] + K · parameters · log N,  u = C/noise:
///                   Bayes' information criterion for N residuals whose variance is known beforehand as well as ν
///                   residuals would show it. Without ν, the overfit of a model with many parameters would count
///                   as a small variance. From u₀ = `bend` on, the logarithm continues as its tangent: a residual
///                   that far above the noise is signal. For a loss that grows as the p-th power of the residual,
///                   N counts 2/p times: the likelihood of noise of unknown scale.
///     labels        2 C + K · ½ parameters · log(N/4): the loss of labels is a log likelihood. See
///                   CriterionOptions for ½ and ¼.
///     max_kernels   one of these, and no more kernels than that
/// Costs are relative to the cost without kernels, so that the unit of y cancels to the bit.
struct Criterion {
    /// How far the predictions of a model are outside the tolerance; 0: it is met.
    using Violation = std::function<double(const KernelExpansion&)>;

    double residuals{};                       ///< N = n q
    double energy{};                          ///< the cost without kernels
    double noise{};                           ///< the cost of noise alone, relative to the energy
    double parameters{};                      ///< per kernel
    Index max_kernels{};                      ///< at most so many kernels
    double noise_degree = 2.0;                ///< p
    double known_noise = 1.0;                 ///< ν/N
    double bend = 2.56;                       ///< u₀
    std::optional<double> likelihood_unit{};  ///< labels: the weight that one −log likelihood counts with
    Violation violation{};                    ///< where a tolerance is asked for
    double price_fraction = 1.0;              ///< of the price of a kernel by the information criterion
    CriterionOptions options{};

    bool has_tolerance() const { return static_cast<bool>(violation); }
    bool met(const KernelExpansion& model) const { return violation && violation(model) <= 0.0; }

    Score score(const FittedKernels& model) const {
        const auto kernels = static_cast<double>(model.size());
        Score out;
        out.excess = std::max(0.0, kernels - static_cast<double>(max_kernels));
        for (Index j = 0; j < model.size(); ++j)
            if (model.masses(j) < options.min_mass) out.excess += 1.0;
        if (violation) out.violation = std::max(violation(model.fit), 0.0);  // in this order NaN stays NaN
        out.value = misfit(model.cost) + price() * kernels;
        return out;
    }

    /// The cost below which a model of so many kernels is better than a score; infinite where more than the cost
    /// decides. By halving: the misfit grows with the cost.
    double cost_to_beat(const Score& score, Index kernels) const {
        if (violation || score.excess > 0.0) return std::numeric_limits<double>::infinity();
        const double allowed = score.value - price() * static_cast<double>(kernels);
        // Above zero, so that doubling increases it: with labels, a trend alone may have no loss.
        double lo = 0.0, hi = std::max(energy, std::numeric_limits<double>::min());
        while (misfit(hi) < allowed) hi *= 2.0;
        for (int halving = 0; halving < 60; ++halving) {
            const double cost = 0.5 * (lo + hi);
            (misfit(cost) < allowed ? lo : hi) = cost;
        }
        return hi;
    }

    /// The relative decrease of the cost that is worth a tenth of a kernel where the cost is that of the noise: steps that
    /// gain less decide nothing. None where a tolerance or labels decide.
    double negligible_decrease() const {
        constexpr double fraction = 0.1;
        if (violation || likelihood_unit) return std::numeric_limits<double>::infinity();
        return fraction * price() * noise_degree / (2.0 * residuals);
    }

    /// Of a kernel, in the unit of the score's value.
    double price() const {
        if (violation) return 1.0;
        if (likelihood_unit)
            return price_fraction * options.label_price_fraction * parameters *
                   std::log(std::max(options.label_information * residuals, 2.0));
        return price_fraction * parameters * std::log(std::max(residuals, 2.0));
    }

    /// Whether a model with more kernels is worth them: towards the tolerance, or by the score.
    bool worth(const FittedKernels& before, const FittedKernels& after) const {
        if (violation) return after.cost < (1.0 - options.min_gain) * before.cost;
        return score(after) < score(before);
    }

private:
    double misfit(double cost) const {
        const double relative = std::max(cost / energy, 0.0);
        if (violation) return 0.5 * relative;
        if (likelihood_unit) return 2.0 * cost / *likelihood_unit;
        const double u = relative / noise, capped = std::min(u, bend), known = 1.0 + known_noise;
        return 2.0 / noise_degree * residuals *
               (known * std::log((capped + known_noise) / known) +
                known / (capped + known_noise) * (u - capped));
    }
};

}  // namespace kernelet
