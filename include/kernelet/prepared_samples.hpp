#pragma once

#include <kernelet/detail/noise.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/detail/watch.hpp>
#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/dual/dual_stage.hpp>
#include <kernelet/erased_fit.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

/// The first stage of a fit: samples checked, put into an order of their own, scaled, and measured for noise.
namespace kernelet::detail {

template <class Scalar>
Samples checked_samples(const FitProblem& problem, Samples samples) {
    const Index n = samples.x.cols();
    require(samples.x.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
    require(n > 0, "x has no columns; x is d x n, one sample per column, n >= 1");
    require(n > 1 || samples.x.rows() == 1 || samples.y.rows() != samples.x.rows(), "x and y are ",
            samples.x.rows(), " x 1: one sample of ", samples.x.rows(), " inputs and as many outputs. For ",
            samples.x.rows(), " samples of one input pass x as a row: x.transpose()");
    require_targets(samples.y.rows(), samples.y.cols(), samples.x.rows(), n);
    if (samples.y.cols() == 1 && samples.y.rows() == n) samples.y.resize(1, n);
    require_finite(samples.x, "x");
    require_finite(samples.y, "y");
    for (Index i = 0; i < n; ++i)
        for (Index o = 0; o < samples.y.rows(); ++o) require_in_range(samples.y(o, i), o, i);
    for (Index i = 0; problem.loss.is_classification() && i < samples.y.size(); ++i)
        require(std::abs(samples.y(i)) == 1.0, "y(", i, ") = ", samples.y(i), " must be -1 or +1 for the ",
                problem.loss.held_name(), " loss");
    if (samples.weights.size() == 0) samples.weights = Vector::Ones(n);
    require(samples.weights.size() == n, "weights has ", samples.weights.size(), " entries for ", n,
            " samples");
    for (Index i = 0; i < n; ++i) require_weight(samples.weights(i), i);
    require(samples.tolerances.size() == 0 || samples.tolerances.size() == n, "tolerances has ",
            samples.tolerances.size(), " entries for ", n, " samples");
    require(samples.tolerances.size() == 0 || problem.options.scope == Scope::per_sample,
            "tolerances are one per sample: options.scope must be Scope::per_sample");
    for (Index i = 0; i < samples.tolerances.size(); ++i)
        require_nonnegative(samples.tolerances(i), text("tolerances(", i, ")"));
    return samples;
}

/// Samples in an order of their own.
struct OrderedSamples {
    Samples samples{};
    std::vector<Index> order{};  ///< the number of each among the samples given
};

template <class Scalar>
OrderedSamples ordered_samples(const FitProblem& problem, const Samples& given) {
    const Samples checked = checked_samples<Scalar>(problem, given);
    OrderedSamples out;
    out.order = lexicographic_order(checked);
    out.samples.x = columns_of<Scalar>(checked.x, out.order);
    out.samples.y = columns_of<Scalar>(checked.y, out.order);
    out.samples.weights = entries_of<Scalar>(checked.weights, out.order);
    if (checked.tolerances.size() > 0)
        out.samples.tolerances = entries_of<Scalar>(checked.tolerances, out.order);
    return out;
}

/// Throws where the kernel or the loss returns a number that is not finite, at some nodes and samples, or a value whose
/// square is not finite: the search computes such squares.
template <class Scalar>
void require_finite_policies(const AnyKernel& kernel, const AnyLoss& loss, const TiledPoints& points,
                             const Matrix& nodes, const Matrix& y) {
    constexpr Index most_nodes = 32, most_tiles = 32;
    constexpr double most_value = 1e140;
    Matrix jet(TiledPoints::tile, 1 + nodes.rows());
    for (Index k = 0; k < std::min(most_nodes, nodes.cols()); ++k) {
        const ConstVectorRef node = column_ref(nodes, k * nodes.cols() / std::min(most_nodes, nodes.cols()));
        for (Index s = 0; s < std::min(most_tiles, points.tiles()); ++s) {
            const Index t = s * points.tiles() / std::min(most_tiles, points.tiles());
            const Block tile = Block(jet).part(0, 0, points.count(t), jet.cols());
            kernel.jet(points.rows(t), node, matrix_ref(tile));
            require(all_finite(tile), "the kernel ", kernel.held_name(),
                    " returned a value or a slope that is not finite on x and the domain");
            kernel.values(points.rows(t), node, run_ref(jet.data(), points.count(t)));
            const ConstBlock values(jet.data(), points.count(t), 1, points.count(t));
            require(all_finite(values), "the kernel ", kernel.held_name(),
                    " returned a value that is not finite on x and the domain");
            const double largest = max_abs(values);
            require(largest <= most_value, "the kernel ", kernel.held_name(), " is ", largest,
                    " on x and the domain; it must be at most ", most_value, " in size: scale x");
        }
    }
    for (Index i = 0; i < y.size(); ++i)
        require(std::isfinite(loss.value(0.0, y(i))) && std::isfinite(loss.derivative(0.0, y(i))), "the ",
                loss.held_name(), " loss returned a value or a slope that is not finite at (0, ", y(i), ")");
}

/// Σ_i w_i y_i / Σ w, q.
template <class Scalar>
Vector weighted_mean(const Matrix& y, const Vector& weights) {
    Vector mean = product<Scalar>(y, weights);
    scale<Scalar>(mean, 1.0 / sum<Scalar>(weights));
    return mean;
}

/// What y is measured from: zero where that is among the values of y, its range and a tenth more, since the paper's
/// model has no offset. Elsewhere, as for a temperature in kelvin, the mean; also with a trend in the dual,
/// where only rounding depends on it.
template <class Scalar>
Vector baseline(const FitProblem& problem, const Matrix& y, const Vector& weights) {
    constexpr double margin = 0.1;
    Vector mean = weighted_mean<Scalar>(y, weights);
    if (problem.loss.is_classification()) return Vector::Zero(y.rows());
    if (problem.options.has_dual_trend()) return mean;
    Vector base = Vector::Zero(y.rows());
    if (!problem.options.center) return base;
    const auto [lo, hi] = bounding_box(y, margin);
    for (Index o = 0; o < y.rows(); ++o)
        if (lo(o) > 0.0 || hi(o) < 0.0) base(o) = mean(o);
    return base;
}

/// Samples ready to be fitted, in the units of the fit and in spatial order, y measured from its baseline.
struct PreparedSamples {
    std::vector<Index> order{};  ///< of the samples given
    Matrix x{}, y{};
    Vector weights{}, tolerance{}, offset{};
    bool tolerance_given = false;
    NoiseEstimate noise{.deviation = 0.0, .known = 1.0};

    /// What the search takes for the noise: a tolerance stands for it where one is given.
    NoiseEstimate search_noise() const {
        if (!tolerance_given) return noise;
        return {max_abs(tolerance), noise.known};
    }
};

/// The tolerance where the user gave none.
template <class Scalar>
double chosen_tolerance(const FitProblem& problem, const PreparedSamples& data, Watch& watch) {
    const AnyLoss loss = problem.loss.adapted(data.noise.deviation);
    if (!loss.is_classification())
        return default_tolerance(loss, data.x, data.y, data.noise.deviation, problem.options);
    double contradicted = 0.0;
    try {
        contradicted = label_noise(data.x, data.y, poll_of(&watch));
    } catch (const Interrupted&) {
        // A fit that is stopped here only chooses a few kernels, for which no tolerance matters.
    }
    return default_label_tolerance(loss, data.y, contradicted, problem.options.has_dual_trend());
}

template <class Scalar>
PreparedSamples prepared(const FitProblem& problem, const OrderedSamples& given, const InputScaling& scaling,
                         Watch& watch) {
    PreparedSamples out;
    const Samples& samples = given.samples;
    const Matrix unordered = scaling.to_internal(samples.x);
    const std::vector<Index> spatial = spatial_order(unordered);
    for (const Index i : spatial) out.order.push_back(given.order[static_cast<std::size_t>(i)]);
    out.x = columns_of<Scalar>(unordered, spatial);
    out.y = columns_of<Scalar>(samples.y, spatial);
    out.weights = entries_of<Scalar>(samples.weights, spatial);
    out.offset = baseline<Scalar>(problem, out.y, out.weights);
    for (Index i = 0; i < out.y.cols(); ++i)
        for (Index o = 0; o < out.y.rows(); ++o) out.y(o, i) -= out.offset(o);
    out.tolerance_given = problem.options.tolerance || samples.tolerances.size() > 0;
    try {
        if ((!out.tolerance_given || problem.loss.adapts()) && !problem.loss.is_classification())
            out.noise = noise_estimate<Scalar>(out.x, out.y, poll_of(&watch));
    } catch (const Interrupted&) {
        // as above
    }
    if (samples.tolerances.size() > 0)
        out.tolerance = entries_of<Scalar>(samples.tolerances, spatial);
    else
        out.tolerance = Vector::Constant(out.y.cols(), problem.options.tolerance
                                                           ? *problem.options.tolerance
                                                           : chosen_tolerance<Scalar>(problem, out, watch));
    return out;
}

}  // namespace kernelet::detail
