#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/losses/separable.hpp>
#include <kernelet/losses/squared.hpp>

#include <array>
#include <cmath>
#include <concepts>

namespace kernelet {

/// A weighted least-squares problem, Σ_i h_i ‖Φ_i a + b − t_i‖²: what Newton's method makes of a loss.
struct WorkingSquares {
    Vector root{};    ///< √h, n
    Matrix target{};  ///< √h t, n x q
    double total{};   ///< Σ h
};

/// Σ_i w_i Σ_o ℓ_s(f_oi, y_oi) as a function of a model's values at the samples, q x n. ℓ_s is ℓ averaged
/// over a window,
///     ℓ_s(f, y) = mean of ℓ(f + s u_k, y),   u_k the middles of equal parts of [−1, 1],
/// so that every convex loss, whatever its kinks, has a slope that Newton's method can follow; the curvature
/// is the secant (ℓ'(f + s) − ℓ'(f − s))/2s. A smooth loss needs no window and is taken as it is.
template <ConvexLoss Loss>
class SmoothedLoss {
public:
    static constexpr bool is_squared = std::same_as<Loss, SquaredLoss>;
    static constexpr bool is_smooth = detail::is_smooth<Loss>();

    /// y is q x n, weights n. Holds references to both.
    SmoothedLoss(Loss loss, const Matrix& y, const Vector& weights, double window)
        : loss_(std::move(loss)), y_(y), weights_(weights), window_(window) {}

    /// The same loss of other samples. Holds references to them.
    SmoothedLoss on(const Matrix& y, const Vector& weights) const { return {loss_, y, weights, window_}; }

    const Loss& loss() const { return loss_; }
    const Matrix& target() const { return y_; }
    const Vector& weights() const { return weights_; }

    /// Of the predictions of all samples, or of those from `first` on. O(qn).
    double cost(const Matrix& prediction, Index first = 0) const {
        double sum = 0.0;
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                sum += weights_(first + i) *
                       average([&](double f) { return loss_.value(f, y_(o, first + i)); }, prediction(o, i));
        return sum;
    }

    /// −½ ∂/∂f, q x n: what is left to explain, each sample at its weight.
    Matrix pull(const Matrix& prediction, Index first = 0) const {
        Matrix slopes(prediction.rows(), prediction.cols());
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                slopes(o, i) = -0.5 * weights_(first + i) *
                               average([&](double f) { return loss_.derivative(f, y_(o, first + i)); },
                                       prediction(o, i));
        return slopes;
    }

    /// h = ½ ∂²/∂f² of each sample, n: the largest over its outputs, one weight for all of them, and never so
    /// far below the mean that the sample could be thrown anywhere.
    Vector curvature(const Matrix& prediction) const {
        if constexpr (is_squared) return weights_;
        Vector h = Vector::Zero(prediction.cols());
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                h(i) = std::max(h(i), 0.5 * weights_(i) * second_derivative(prediction(o, i), y_(o, i)));
        // Where no sample has any, as for labels all of which are met with room, what a weight would give.
        const double floor = least_curvature * std::max(h.mean(), weights_.mean() * least_curvature);
        return h.cwiseMax(floor);
    }

    /// The least-squares problem that agrees with the cost to second order: h t = h f + pull.
    WorkingSquares linearize(const Matrix& prediction) const {
        WorkingSquares working;
        const Vector h = curvature(prediction);
        working.root = h.cwiseSqrt();
        working.total = h.sum();
        if constexpr (is_squared)
            working.target = y_.transpose();
        else
            working.target =
                prediction.transpose() + h.cwiseInverse().asDiagonal() * pull(prediction).transpose();
        working.target.array().colwise() *= working.root.array();
        return working;
    }

private:
    static constexpr double least_curvature = 1e-2;  // of the mean: steps ten thousand times too long are cut

    template <class Function>
    double average(const Function& of, double f) const {
        if constexpr (is_smooth) return of(f);
        constexpr std::array<double, 4> places{-0.75, -0.25, 0.25, 0.75};
        double sum = 0.0;
        for (const double u : places) sum += of(f + window_ * u);
        return sum / static_cast<double>(places.size());
    }

    double second_derivative(double f, double y) const {
        if constexpr (is_smooth) return loss_.curvature(f, y);
        return (loss_.derivative(f + window_, y) - loss_.derivative(f - window_, y)) / (2.0 * window_);
    }

    Loss loss_;
    const Matrix& y_;
    const Vector& weights_;
    double window_;
};

}  // namespace kernelet
