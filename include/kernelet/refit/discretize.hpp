#pragma once

#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/dual/dual_problem.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/refit/fewest.hpp>
#include <kernelet/refit/keep_cheapest.hpp>
#include <kernelet/refit/least_squares.hpp>
#include <kernelet/refit/many.hpp>
#include <kernelet/refit/statistics.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// Kernels and coefficients read off a dual solution.
struct Discretization {
    Matrix nodes{};         ///< (d + p) x K, by falling share
    Matrix coefficients{};  ///< K x q
    Vector offset{};        ///< q, added to the target's own where an intercept was fitted
    ModelStatistics statistics{};
    Index peaks = 0;
    Index merged = 0;
    Bound bound = Bound::criterion;
    double cost = 0.0;   ///< Σ w ℓ at the samples
    bool large = false;  ///< beyond what the search could try more than once
    double peak_seconds = 0.0;
};

/// How the discrete model is asked for, beside the options.
struct DiscretizeRequest {
    double noise_deviation = 0.0;  ///< of y, estimated, or the tolerance that stands for it; not for labels
    double known_noise = 1.0;      ///< see detail::NoiseEstimate
    bool tolerance_given = false;  ///< by the user: fewest kernels meeting it. Otherwise, the criterion.
    bool from_mean = false;  ///< y is measured from its mean, which no kernel may be wide enough to mend
};

/// field → peaks → the fewest kernels that the options allow → coefficients and what is known about them.
template <KernelFamily Kernel, class Loss, Domain Omega>
Discretization discretize(const Kernel& kernel, const Omega& domain, const detail::TiledPoints& points,
                          const FeasibleSet<Loss>& feasible, const Matrix& x, const DualSolution& solution,
                          double gamma, const Matrix& candidates, const DiscretizeRequest& request,
                          const Options& options) {
    // Deviation of a coefficient before the data are seen, in deviations of y. At 20, kernels at the chirp's
    // undersampled ends reach 34 times the largest |y|; at 3 the bias shows in the error. Labels that can be
    // told apart are told the better the steeper, and data never stop that: at 20 the centers of digits look
    // like no digit, at 2 they do, and rooms by Wi-Fi are told apart as well or a little better. Kernels by
    // the hundred hold each other back.
    constexpr double prior_coefficient = 7.0, prior_decision = 2.0;
    // log θ before the data are seen: about a width that spans the domain by 3 to either side, widths().hi
    // being half of its diagonal, with a deviation of one. On noisy data kernels would shrink to a few
    // samples' noise; where data say more, it is outweighed.
    constexpr double typical_width = 1.0 / 3.0, prior_log_width = 1.0;
    // Beyond this many times the largest |y| a kernel lives on being cancelled by others: a stronger prior.
    constexpr double most_height = 15.0;
    constexpr double raise = 4.0;
    constexpr int most_raises = 6;
    // Noise below this share of y's deviation is not worth a kernel.
    constexpr double least_noise = 5e-3;
    constexpr double wide_enough = 0.25;  // a width of a quarter: half of the spread from side to side
    // Rows of the largest Levenberg–Marquardt system of the search, and kernels it may always begin with.
    constexpr Index start_parameters = 150;
    constexpr Index least_start = 24;
    const auto start = std::chrono::steady_clock::now();
    const Matrix& y = feasible.target();
    const Vector& weights = feasible.weights();
    const CoefficientField<Kernel> field(kernel, x, solution.lambda, gamma, InputScaling::identity(x.rows()));
    const ExtractedPeaks extracted =
        extract_peaks(field, domain, points, solution.quadrature.nodes, options.peaks);
    Discretization result;
    result.peaks = static_cast<Index>(extracted.peaks.size());
    result.peak_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Matrix peaks(domain.rows(), result.peaks);
    for (Index j = 0; j < result.peaks; ++j)
        detail::copy(extracted.peaks[static_cast<std::size_t>(j)].node, detail::Block(peaks).columns(j, 1));

    double energy = 0.0;
    for (Index i = 0; i < y.cols(); ++i) energy += detail::column_squares(y, i) * weights(i);
    if (!(energy > 0.0)) {
        result.nodes = Matrix(domain.rows(), 0);
        result.coefficients = Matrix(0, y.rows());
        result.offset = Vector::Zero(y.rows());
        return result;
    }
    const Loss& loss = feasible.loss();
    const bool classes = detail::is_classification(loss), squared = detail::is_squared(loss);
    const double mean_weight = detail::sum(weights) / static_cast<double>(weights.size());
    const double variance = energy / (detail::sum(weights) * static_cast<double>(y.rows()));
    const double deviation = std::max(request.noise_deviation, least_noise * std::sqrt(variance));
    // What noise costs: E ℓ, and the power p it grows with.
    const double level = classes ? 1.0 : detail::noise_level(loss, deviation);
    const double degree = classes ? 1.0 : detail::noise_degree(loss, deviation);
    // The ridge of a normal prior on coefficients of deviation τ: a likelihood exp(−Σℓ/(p E ℓ)) makes it
    // p E ℓ/(2 n τ²), for the squared loss σ²/(n τ²).
    const double sample_noise = 0.5 * degree * level;
    const auto ridge_of = [&](double prior) {
        return std::max(options.ridge,
                        sample_noise / (variance * static_cast<double>(y.cols()) * prior * prior));
    };
    double ridge = ridge_of(prior_coefficient);
    // A kernel half as wide as the samples are spread carries a change of the offset; narrower ones would
    // have to be many. Not by default where they can: a fitted offset may be far from all data, and shows in
    // gaps.
    const auto [lo, hi] = detail::bounding_box(x);
    const double spread = std::sqrt(detail::squared_distance(lo.data(), hi.data(), x.rows()));
    const bool intercept =
        options.intercept.value_or(request.from_mean && domain.widths().hi < wide_enough * spread);
    // Kinks of the loss are rounded over this: of a margin, or of the noise.
    constexpr double window_of_margin = 0.25, window_of_noise = 0.5;
    Slide<Kernel, Omega, Loss> slide(kernel, points, domain, y, weights, ridge, intercept, loss,
                                     classes ? window_of_margin : window_of_noise * deviation);
    const Index parameters = slide.free_rows() + y.rows();
    // Once a kernel: a width for each coordinate shares it, or a kernel would pay more the more it can tell.
    Index width_rows = 0;
    for (Index row = domain.dimension(); row < domain.rows(); ++row) width_rows += domain.free(row) ? 1 : 0;
    slide.set_width_prior({typical_width * domain.widths().hi,
                           sample_noise * mean_weight / (prior_log_width * prior_log_width) /
                               static_cast<double>(std::max<Index>(1, width_rows))});
    // Never more parameters than samples: kernels that many could follow the noise anywhere.
    const Index affordable = std::max<Index>(1, y.size() / parameters);
    const Index most = std::min(affordable, options.max_kernels.value_or(affordable));
    const auto goal_of = [&](Index limit) {
        const double scale = squared ? energy : slide.energy();
        const double noise = level * detail::sum(weights) * static_cast<double>(y.rows()) / scale;
        // Widths that share a prior share a price: counted each, kernels that can tell more are too few, and
        // an airfoil's error is a tenth larger.
        Goal goal(y.size(), scale, noise, parameters - std::max<Index>(0, width_rows - 1), limit);
        goal.of_degree(degree).trusting(request.known_noise);
        if (classes) goal.by_likelihood(mean_weight);
        return goal;
    };
    // A slide costs (K f)³: where there are more peaks than it can move, the cheapest leave before.
    const Index movable = std::max(least_start, start_parameters / std::max<Index>(1, slide.free_rows()));
    peaks = detail::columns_of(peaks, keep_cheapest(kernel, points, peaks, y, weights, ridge, movable));
    result.large = by_descent(slide, std::min(most, movable));
    // A tolerance may ask for more than that allows.
    if (classes && !result.large && !request.tolerance_given) {
        ridge = ridge_of(prior_decision);
        slide.set_ridge(ridge);
    }
    Goal goal = goal_of(most);
    if (request.tolerance_given)
        goal.within([&](const Slid& model) { return feasible.violation(slide.prediction(model)); });
    Slid model;
    bool more_wanted = false;
    if (result.large) {
        const auto slid = [&](const KernelExpansion& expansion) {
            Slid out{expansion.nodes, {}};
            out.at.coefficients = expansion.a;
            out.at.offset = expansion.offset;
            return out;
        };
        typename Many<Kernel, Omega, Loss>::Met met;
        if (request.tolerance_given)
            met = [&](const KernelExpansion& expansion) { return goal.met(slid(expansion)); };
        const ManyKernels found = Many<Kernel, Omega, Loss>(kernel, domain, points, slide.loss(), ridge,
                                                            intercept)(peaks, candidates, most, met);
        model = slid(found.model);
        more_wanted = found.more_wanted;
    } else {
        model = fewest(slide, goal, peaks, candidates, most);
        result.large = model.size() * slide.free_rows() > FewestOptions{}.most_parameters;
        const double highest = detail::largest_column_norm(y);
        for (int raised = 0;
             !classes && raised < most_raises && model.size() > 0 &&
             detail::max_abs(detail::row_norms(model.at.coefficients)) > most_height * highest;
             ++raised) {
            ridge *= raise;
            slide.set_ridge(ridge);
            Slid calmer = slide(model.nodes);
            if (request.tolerance_given && goal.met(model) && !goal.met(calmer)) break;
            model = std::move(calmer);
        }
        if (model.size() >= most)
            more_wanted = request.tolerance_given
                              ? !goal.met(model)
                              : complete(slide, goal_of(most + 1), candidates, model, most + 1).size() > most;
    }

    // What stopped it: a limit, where a kernel more would have been welcome.
    result.bound = request.tolerance_given ? Bound::tolerance : Bound::criterion;
    if (more_wanted && model.size() >= most)
        result.bound =
            options.max_kernels && most == *options.max_kernels ? Bound::max_kernels : Bound::samples;

    const LeastSquaresFit refit =
        squared ? least_squares(kernel, points, model.nodes, y, weights, ridge, intercept)
                : LeastSquaresFit{model.at.coefficients, model.at.offset, {}};
    result.merged = extracted.merged + static_cast<Index>(refit.redundant.size());
    std::vector<Index> kept;
    for (Index j = 0; j < model.size(); ++j)
        if (!std::binary_search(refit.redundant.begin(), refit.redundant.end(), j)) kept.push_back(j);
    const Matrix nodes = detail::columns_of(model.nodes, kept), a = detail::rows_of(refit.coefficients, kept);
    result.offset = refit.offset;
    const Matrix prediction = expansion_values(kernel, points, {nodes, a, result.offset});
    // by falling share
    const Vector shares = shares_of(kernel, points, nodes, a, weights);
    std::vector<Index> order(kept.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index l, Index r) { return shares(l) > shares(r); });
    result.nodes = detail::columns_of(nodes, order);
    result.coefficients = detail::rows_of(a, order);
    if (squared)
        result.statistics = statistics_of(kernel, points, domain, result.nodes, result.coefficients,
                                          y - prediction, weights, ridge);
    else
        result.statistics.shares = detail::entries_of(shares, order);
    result.cost = feasible.mean_loss(prediction);
    return result;
}

}  // namespace kernelet
