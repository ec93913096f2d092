#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <string_view>

namespace kernelet {

/// Newton's method on the coefficients of a loss other than the squared one, at given nodes.
struct NewtonOptions {
    Index max_steps = 25;
    /// Relative decrease of the cost per step below which it has converged.
    double min_decrease = 1e-7;

    void validate(std::string_view name) const {
        const auto field = [&](std::string_view member) { return detail::text(name, ".", member); };
        detail::require_at_least(max_steps, 1, field("max_steps"));
        detail::require_nonnegative(min_decrease, field("min_decrease"));
    }
};

/// One minimisation by Levenberg and Marquardt's method.
struct LevenbergMarquardtOptions {
    Index max_steps = 40;
    /// Relative decrease of the cost per accepted step below which the minimisation has converged.
    double min_decrease = 1e-5;
    /// The first damping, relative to the diagonal of J'J.
    double damping = 0.1;
    /// The damping is multiplied by this after an accepted step ...
    double damping_decrease = 0.3;
    /// ... and by this after a rejected one. Beyond max_damping no step lowers the cost.
    double damping_increase = 5.0;
    double max_damping = 1e6;
    /// Accepted steps for which the curvature of the cost is kept; the gradient is exact at every step. At most
    /// one step before convergence is made with a curvature that is kept.
    Index steps_per_curvature = 1;
    /// Steps before a minimisation that is not expected to reach what it must may end early.
    Index race_steps = 3;
    NewtonOptions newton{};

    void validate(std::string_view name) const {
        const auto field = [&](std::string_view member) { return detail::text(name, ".", member); };
        detail::require_at_least(max_steps, 0, field("max_steps"));
        detail::require_nonnegative(min_decrease, field("min_decrease"));
        detail::require_positive(damping, field("damping"));
        detail::require(damping_decrease > 0.0 && damping_decrease <= 1.0, field("damping_decrease"), " = ",
                        damping_decrease, " must be in (0, 1]");
        detail::require(std::isfinite(damping_increase) && damping_increase > 1.0, field("damping_increase"),
                        " = ", damping_increase, " must be finite and > 1");
        detail::require_positive(max_damping, field("max_damping"));
        detail::require_at_least(steps_per_curvature, 1, field("steps_per_curvature"));
        detail::require_at_least(race_steps, 0, field("race_steps"));
        newton.validate(field("newton"));
    }
};

/// The priors on coefficients and widths, see Priors.
struct PriorOptions {
    /// Deviation of a coefficient before the data are seen, in deviations of y. `fewest_kernels 50` gave
    /// max|a|/max|y| = 34 at 20, at the undersampled ends of the chirp; at 3 the bias of the prior shows in the
    /// error.
    double coefficient_deviation = 7.0;
    /// As coefficient_deviation, for labels. On separable classes the loss keeps falling as the coefficients
    /// grow; only the prior bounds them. `mnist_prototypes` draws centers that look like digits at 2 and like
    /// none at 20; `wifi` is no worse. Not used by the first-order path, nor where a tolerance is given.
    double decision_deviation = 2.0;
    /// log θ is normal about the logarithm of this fraction of half the diagonal of the samples' box, ...
    double typical_width_fraction = 1.0 / 3.0;
    /// ... with this deviation. On noisy data kernels would otherwise shrink to a few samples.
    double log_width_deviation = 1.0;
    /// Where the priors are learned, see learned_priors(): how many parameters the deviations above count for, and the
    /// deviation of the logarithm of the typical width along a coordinate.
    double learned_count = 2.0;
    double metric_deviation = 2.0;
    /// While a coefficient exceeds this multiple of the largest ‖y‖, other kernels nearly cancel its own: the
    /// ridge is multiplied by `ridge_increase`, at most `max_ridge_increases` times.
    double max_coefficient_ratio = 15.0;
    double ridge_increase = 4.0;
    Index max_ridge_increases = 6;
    /// The noise deviation counts as at least this fraction of the deviation of y: noise-free data need not be
    /// met to the last bit.
    double min_noise_fraction = 5e-3;
    /// An offset per output is fitted with the kernels where y is measured from its mean and no kernel is
    /// wider than this fraction of the diagonal of the samples' box: only a wide kernel can move the mean.
    double wide_kernel_fraction = 0.25;

    void validate() const {
        detail::require_positive(coefficient_deviation, "options.search.priors.coefficient_deviation");
        detail::require_positive(decision_deviation, "options.search.priors.decision_deviation");
        detail::require_positive(typical_width_fraction, "options.search.priors.typical_width_fraction");
        detail::require_positive(log_width_deviation, "options.search.priors.log_width_deviation");
        detail::require_positive(learned_count, "options.search.priors.learned_count");
        detail::require_positive(metric_deviation, "options.search.priors.metric_deviation");
        detail::require_positive(max_coefficient_ratio, "options.search.priors.max_coefficient_ratio");
        detail::require(std::isfinite(ridge_increase) && ridge_increase > 1.0,
                        "options.search.priors.ridge_increase = ", ridge_increase, " must be finite and > 1");
        detail::require_at_least(max_ridge_increases, 0, "options.search.priors.max_ridge_increases");
        detail::require_positive(min_noise_fraction, "options.search.priors.min_noise_fraction");
        detail::require_nonnegative(wide_kernel_fraction, "options.search.priors.wide_kernel_fraction");
    }
};

/// The score of a model, see Criterion.
struct CriterionOptions {
    /// Labels: the fraction of log N that a parameter costs. At 1, `banana` ends at 6 kernels with a worse
    /// boundary than at ½ (9 to 10 kernels); at ¼, near Akaike's 2 per parameter, `wifi` is worse.
    double label_price_fraction = 0.5;
    /// Labels: N counts as this multiple of N. The Fisher information of a label is p(1 − p) ≤ ¼ of that of a
    /// value of unit variance. It counts where samples are few: `few_labels`.
    double label_information = 0.25;
    /// A kernel whose effective number of samples, Σ w k² / mean w, is below this lies in a gap of the
    /// samples and is not allowed.
    double min_mass = 0.2;
    /// Forward selection towards a tolerance: the relative decrease of the cost that a kernel must bring.
    double min_gain = 1e-3;

    void validate() const {
        detail::require_positive(label_price_fraction, "options.search.criterion.label_price_fraction");
        detail::require_positive(label_information, "options.search.criterion.label_information");
        detail::require_nonnegative(min_mass, "options.search.criterion.min_mass");
        detail::require(min_gain >= 0.0 && min_gain < 1.0, "options.search.criterion.min_gain = ", min_gain,
                        " must be in [0, 1)");
    }
};

/// Noise, priors and the number of kernels by the evidence of models, see EvidenceSearch.
struct EvidenceOptions {
    /// Most searches after the first and those that choose the trend; 0: none of these, the noise is that of neighbouring
    /// samples and the price that of Criterion.
    Index max_rounds = 12;
    /// −2 log evidence, twice the nats, that each further kernel must gain: a preference for fewer. By the scale of Kass
    /// and Raftery (1995), less than 2 is "not worth more than a bare mention".
    double gain_per_kernel = 2.0;
    /// A round that gains less is followed by one at `price_decrease` of its price per kernel, down to `min_price` of
    /// that of Criterion.
    double price_decrease = 0.4;
    double min_price = 0.3;
    /// Levenberg–Marquardt inside of these searches: kernels of many widths take more steps to find their place.
    LevenbergMarquardtOptions trial{.max_steps = 40,
                                    .min_decrease = 1e-3,
                                    .steps_per_curvature = 2,
                                    .race_steps = 6,
                                    .newton = {.max_steps = 3, .min_decrease = 1e-5}};

    void validate() const {
        detail::require_at_least(max_rounds, 0, "options.search.evidence.max_rounds");
        detail::require_nonnegative(gain_per_kernel, "options.search.evidence.gain_per_kernel");
        detail::require(price_decrease > 0.0 && price_decrease < 1.0,
                        "options.search.evidence.price_decrease = ", price_decrease, " must be in (0, 1)");
        detail::require_positive(min_price, "options.search.evidence.min_price");
        trial.validate("options.search.evidence.trial");
    }
};

/// Kernels added one by one, see forward_selection().
struct ForwardSelectionOptions {
    /// Candidates tried where the one of the largest gain does not lower the score: the next best that are
    /// incoherent with each other. The use of a kernel shows only once all kernels have moved.
    Index tries = 3;
    /// Additions in a row that need not lower the score themselves if a later one does. At 0, some folds of
    /// `airfoil` with one width per kernel stopped at 5 kernels and an error of 0.5 where 20 leave 0.3.
    Index patience = 2;
    /// Samples on which the gains of the candidates are compared.
    Index gain_samples = 2000;
    /// Candidates more coherent than this explain the same part of the residual.
    double max_coherence = 0.5;

    void validate() const {
        detail::require_at_least(tries, 1, "options.search.forward.tries");
        detail::require_at_least(patience, 0, "options.search.forward.patience");
        detail::require_at_least(gain_samples, 1, "options.search.forward.gain_samples");
        detail::require(max_coherence > 0.0 && max_coherence <= 1.0,
                        "options.search.forward.max_coherence = ", max_coherence, " must be in (0, 1]");
    }
};

/// Kernels removed one by one, see backward_elimination().
struct BackwardEliminationOptions {
    /// How many kernels are removed on trial, the best prediction first. On the chirp of `fewest_kernels`, one
    /// try stops at 26 kernels, one per half wave, where 16 suffice.
    Index tries = 6;
    /// Damping of the predicted step: that of the first steps of a minimisation.
    double damping = 0.1;

    void validate() const {
        detail::require_at_least(tries, 1, "options.search.backward.tries");
        detail::require_positive(damping, "options.search.backward.damping");
    }
};

/// Models of hundreds of kernels, see FirstOrderSearch.
struct FirstOrderOptions {
    /// Multiplications per second-order step, (K f)² (n + K f), from which the first-order search is used: a
    /// fifth of a second per step, and a second-order search takes a thousand steps.
    double max_second_order_work = 1e9;
    /// Kernels from which a model begins to double, where there are fewer peaks.
    Index first_kernels = 8;
    /// Fraction of the samples held out to decide whether more kernels generalise better.
    double held_out_fraction = 0.1;
    /// Most samples on which the model grows, drawn at random.
    Index growing_samples = 12000;
    /// Samples of these on which the gains of the candidates are compared.
    Index gain_samples = 4096;
    /// Steps of L-BFGS between two sizes, after each batch of new kernels, and at the end on all samples.
    Index growing_steps = 40;
    Index batch_steps = 10;
    Index final_steps = 400;
    /// Steps after which the scales of the variables are computed anew, which discards the curvature seen so far:
    /// at 20 the loss of 200 kernels on two digits is a third higher after as many steps.
    Index steps_per_scaling = 80;
    /// Relative decrease of the cost between two scalings below which the minimisation has converged.
    double min_decrease = 0.05;

    void validate() const {
        detail::require_positive(max_second_order_work, "options.search.first_order.max_second_order_work");
        detail::require_at_least(first_kernels, 1, "options.search.first_order.first_kernels");
        detail::require(held_out_fraction > 0.0 && held_out_fraction < 1.0,
                        "options.search.first_order.held_out_fraction = ", held_out_fraction,
                        " must be in (0, 1)");
        detail::require_at_least(growing_samples, 1, "options.search.first_order.growing_samples");
        detail::require_at_least(gain_samples, 1, "options.search.first_order.gain_samples");
        detail::require_at_least(growing_steps, 1, "options.search.first_order.growing_steps");
        detail::require_at_least(batch_steps, 1, "options.search.first_order.batch_steps");
        detail::require_at_least(final_steps, 1, "options.search.first_order.final_steps");
        detail::require_at_least(steps_per_scaling, 1, "options.search.first_order.steps_per_scaling");
        detail::require_nonnegative(min_decrease, "options.search.first_order.min_decrease");
    }
};

/// Searches on many samples, see SearchInLevels.
struct LevelOptions {
    /// Samples on which kernels are first searched for.
    Index first_samples = 2000;
    /// As first_samples, for labels. On generated classes in 2 and 4 dimensions with 4000 samples, the error of
    /// 20 fits each from 1000 samples equals that of searches on all up to 2 ± 5 %.
    Index first_labels = 1000;
    /// From one level to the next at most so many times as many samples; the steps are of equal ratio.
    Index growth = 8;

    Index first(bool labels) const { return labels ? first_labels : first_samples; }

    void validate() const {
        detail::require_at_least(first_samples, 1, "options.search.levels.first_samples");
        detail::require_at_least(first_labels, 1, "options.search.levels.first_labels");
        detail::require_at_least(growth, 2, "options.search.levels.growth");
    }
};

/// Fits to more samples than are held at once, see StreamedSearch.
struct StreamOptions {
    /// Samples that are held in memory, drawn at random where there are more: the domain is read off these, the dual is
    /// solved on some of them, and kernels are added and removed on these alone. All samples then move the kernels. Three
    /// levels of the search, 2000 · 8².
    Index held_samples = 128000;
    /// Columns of normal equations, K (1 + f) and the outputs: a pass costs their square per sample, and so many numbers
    /// are added up between threads and processes. Larger models have only their coefficients fitted on all samples.
    Index max_columns = 1000;
    /// Kernels have arrived where parameters are within this fraction of their standard errors of the best fit. What is
    /// left then adds its square, one percent, to the variance of the estimates.
    double arrival_fraction = 0.1;
    /// One pass over the samples per step. The damping begins low: the nodes come from a fit to a part of the samples.
    LevenbergMarquardtOptions descent{
        .max_steps = 12, .damping = 1e-3, .damping_decrease = 0.1, .damping_increase = 10.0};

    void validate() const {
        detail::require_at_least(held_samples, 100, "options.search.streams.held_samples");
        detail::require_at_least(max_columns, 1, "options.search.streams.max_columns");
        detail::require_positive(arrival_fraction, "options.search.streams.arrival_fraction");
        descent.validate("options.search.streams.descent");
    }
};

/// The search from the peaks of a dual solution to the fewest kernels. The defaults are meant for data of any kind.
struct SearchOptions {
    PriorOptions priors{};
    CriterionOptions criterion{};
    EvidenceOptions evidence{};
    ForwardSelectionOptions forward{};
    BackwardEliminationOptions backward{};
    FirstOrderOptions first_order{};
    LevelOptions levels{};
    StreamOptions streams{};
    /// Levenberg–Marquardt inside the search ...
    LevenbergMarquardtOptions trial{.max_steps = 12,
                                    .min_decrease = 1e-3,
                                    .steps_per_curvature = 3,
                                    .newton = {.max_steps = 3, .min_decrease = 1e-5}};
    /// Kernels that move in a trial: those most coherent with the one that is added or removed.
    Index moving_kernels = 8;
    /// Kernels whose removal is tried at last without what makes trials short.
    Index careful_tries = 3;
    /// Steps of all kernels after a trial that is accepted.
    Index settling_steps = 4;
    /// ... and on its result: to where the optimum decides and not the path, which rounding may change.
    LevenbergMarquardtOptions polish{.max_steps = 100, .min_decrease = 1e-9, .steps_per_curvature = 3};
    /// Nodes of the domain from which kernels are added.
    Index candidates = 1500;
    /// Largest Levenberg–Marquardt system of a search, K f: one step costs (K f)³. More peaks are reduced to it
    /// first, but never below `min_start_kernels`; a larger result is not searched for more than once, and from
    /// half of it on forward selection adds several kernels per minimisation.
    Index max_parameters = 150;
    Index min_start_kernels = 24;
    /// A loss with kinks is averaged over a window of this size: in units of the margin of labels, or of the
    /// noise deviation.
    double label_window = 0.25;
    double noise_window = 0.5;

    void validate() const {
        priors.validate();
        criterion.validate();
        evidence.validate();
        forward.validate();
        backward.validate();
        first_order.validate();
        levels.validate();
        streams.validate();
        trial.validate("options.search.trial");
        polish.validate("options.search.polish");
        detail::require_at_least(moving_kernels, 1, "options.search.moving_kernels");
        detail::require_at_least(careful_tries, 0, "options.search.careful_tries");
        detail::require_at_least(settling_steps, 0, "options.search.settling_steps");
        detail::require_at_least(candidates, 0, "options.search.candidates");
        detail::require_at_least(max_parameters, 2, "options.search.max_parameters");
        detail::require_at_least(min_start_kernels, 1, "options.search.min_start_kernels");
        detail::require_positive(label_window, "options.search.label_window");
        detail::require_positive(noise_window, "options.search.noise_window");
    }
};

}  // namespace kernelet
