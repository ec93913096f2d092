#pragma once

#include <kernelet/options.hpp>
#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace kernelet {

/// What a search for few kernels is asked for: a score to be lowered, and when a model is complete. Three
/// ways to ask, one formula each:
///     tolerance     kernels + ½ cost/energy where the tolerance is met; the violation, far above, where not:
///                   the fewest kernels that meet it
///     neither       (N + ν) log((u N + ν)/(N + ν)) + parameters · log N a kernel, u = cost/(N σ²):
///                   Bayes' information criterion for N residuals whose variance is known beforehand as well
///                   as ν residuals would tell it. Without ν, a model of many parameters pretends that its
///                   own overfit is a small variance. From u₀ on the logarithm goes on as its tangent: so
///                   much over the noise is not noise, and must not count as a discovery of more of it.
///                   For a loss that grows as the p-th power of the residual, N counts 2/p times: the
///                   likelihood of noise of unknown size.
///     classes       2 cost + ½ parameters · log(N/4) a kernel: a loss of labels is a likelihood of its own.
///     A
///                   label tells p(1 − p) ≤ ¼ of what a value tells, so that N of them count as N/4 at most;
///                   and what is wanted is the boundary, not the truth behind it. Bananas have 6 kernels at
///                   the whole price, 9 to 10 at half of it and a boundary at least as good; at a quarter,
///                   near Akaike's 2 a parameter, rooms by Wi-Fi are told apart worse. The ¼ counts where
///                   samples are few: see few_labels in benchmarks/RESULTS.md.
///     max_kernels   one of these, and no more kernels than that
/// Costs are relative to the energy, the cost without kernels, so that the unit of y cancels to the bit.
class Goal {
public:
    /// Predictions of a model at the samples are outside the tolerance by how much; 0: met.
    using Violation = std::function<double(const Slid&)>;

    /// residuals N, energy (Σ w ‖y‖² for the squared loss), noise: the mean loss of noise (σ²) relative to
    /// energy/N, parameters a kernel, at most so many kernels.
    Goal(Index residuals, double energy, double noise, Index parameters, Index most)
        : residuals_(static_cast<double>(residuals)),
          energy_(energy),
          noise_(noise),
          parameters_(static_cast<double>(parameters)),
          price_(parameters_ * std::log(std::max(residuals_, 2.0))),
          most_(static_cast<double>(most)) {}

    /// Asks for a tolerance instead of the information criterion.
    Goal& within(Violation violation) {
        violation_ = std::move(violation);
        return *this;
    }

    /// The power of the residual that the loss grows with.
    Goal& of_degree(double degree) {
        degree_ = degree;
        return *this;
    }

    /// Takes the cost itself, each sample's weight relative to their mean, for minus a log likelihood.
    Goal& by_likelihood(double mean_weight) {
        constexpr double share = 0.5;        // of the price
        constexpr double of_a_value = 0.25;  // what a label tells
        price_ = share * parameters_ * std::log(std::max(of_a_value * residuals_, 2.0));
        likelihood_unit_ = mean_weight;
        return *this;
    }

    /// How far the noise is trusted, ν/N: see the formula above.
    Goal& trusting(double known_noise) {
        known_noise_ = known_noise;
        return *this;
    }

    bool has_tolerance() const { return static_cast<bool>(violation_); }
    bool met(const Slid& model) const { return violation_ && !(violation_(model) > 0.0); }

    /// Lower is better. Kernels beyond max_kernels and kernels that no sample holds outweigh everything.
    double score(const Slid& model) const {
        const auto kernels = static_cast<double>(model.size());
        const double relative = std::max(model.at.cost / energy_, 0.0);
        const double excess = std::max(0.0, kernels - most_);
        double loose = 0.0;
        for (Index j = 0; j < model.size(); ++j)
            if (model.at.mass(j) < least_mass) loose += 1.0;
        double value = 0.0;
        if (violation_) {
            const double outside = violation_(model);
            value = outside > 0.0 ? unmet * (1.0 + outside / std::sqrt(energy_ / residuals_))
                                  : kernels + 0.5 * relative;
        } else if (likelihood_unit_ > 0.0) {
            value = 2.0 * model.at.cost / likelihood_unit_ + price_ * kernels;
        } else {
            const double u = relative / noise_, capped = std::min(u, most_noise);
            value = 2.0 / degree_ * residuals_ *
                        ((1.0 + known_noise_) * std::log((capped + known_noise_) / (1.0 + known_noise_)) +
                         (1.0 + known_noise_) / (capped + known_noise_) * (u - capped)) +
                    price_ * kernels;
        }
        return value + barred * (excess + loose);
    }

    /// A model as good as this after losing a kernel needs no better one to be looked for.
    double bargain(double score) const {
        constexpr double share = 0.75;  // of the price of a kernel
        return violation_ ? -std::numeric_limits<double>::infinity() : score - share * price_;
    }

    /// Whether a model with a kernel more is worth it: towards the tolerance, or by the criterion.
    bool worth(const Slid& before, const Slid& after) const {
        constexpr double least_gain = 1e-3;
        if (violation_) return after.at.cost < (1.0 - least_gain) * before.at.cost;
        return score(after) < score(before);
    }

private:
    /// u₀: at 1.6 deviations, where the dual is solved too.
    static constexpr double most_noise = 1.6 * 1.6;
    /// A kernel that sees less than this many samples' worth of data stands in a gap and means nothing.
    static constexpr double least_mass = 0.2;
    static constexpr double unmet = 1e6;    // above any number of kernels
    static constexpr double barred = 1e12;  // above everything

    double residuals_;
    double energy_;
    double noise_;
    double parameters_;
    double price_;  // of a kernel
    double most_;
    double degree_ = 2.0;
    double known_noise_ = 1.0;
    double likelihood_unit_ = 0.0;
    Violation violation_{};
};

}  // namespace kernelet
