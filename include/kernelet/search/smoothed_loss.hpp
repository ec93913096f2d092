#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/dense.hpp>
#include <kernelet/losses/any_loss.hpp>
#include <kernelet/losses/smoothing.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// A weighted least-squares problem, Σ_i h_i ‖Φ_i a + b − t_i‖²: what Newton's method makes of a loss.
struct WorkingSquares {
    Vector root{};      ///< √h, n
    Matrix target{};    ///< √h t, n x q
    double total{};     ///< Σ h
    bool unit = false;  ///< all h are 1
};

/// Σ_i w_i Σ_o ℓ_s(f_oi, y_oi) as a function of a model's values at the samples, q x n. ℓ_s is ℓ averaged
/// over a window,
///     ℓ_s(f, y) = mean of ℓ(f + s u_k, y),   u_k the middles of equal parts of [−1, 1],
/// so that every convex loss has a slope that Newton's method can follow (losses/smoothing.hpp).
template <ConvexLoss Loss = AnyLoss>
class SmoothedLoss {
public:
    /// y is q x n, weights n. Holds references to both.
    SmoothedLoss(Loss loss, const Matrix& y, const Vector& weights, double window)
        : loss_(std::move(loss)), y_(y), weights_(weights), window_(window) {}

    /// This loss with the targets and weights of other samples. Holds references to both.
    SmoothedLoss on(const Matrix& y, const Vector& weights) const { return {loss_, y, weights, window_}; }

    const Loss& loss() const { return loss_; }
    const Matrix& target() const { return y_; }
    const Vector& weights() const { return weights_; }

    double window() const { return window_; }

    bool is_squared() const { return detail::is_squared(loss_); }

    /// The cost of predictions of all samples, or of those from `first` on. O(qn).
    double cost(const Matrix& prediction, Index first = 0) const {
        return detail::smoothed_cost(loss_,
                                     {prediction, detail::ConstBlock(y_).columns(first, prediction.cols()),
                                      weights_.data() + first, window_});
    }

    /// −½ ∂/∂f, q x n: what is left to explain, each sample at its weight.
    Matrix pull(const Matrix& prediction, Index first = 0) const {
        return detail::smoothed_pull(loss_,
                                     {prediction, detail::ConstBlock(y_).columns(first, prediction.cols()),
                                      weights_.data() + first, window_});
    }

    /// h = ½ ∂²/∂f² of each sample, n: the largest over its outputs, one weight for all of them, and at least a
    /// fraction of the mean over the samples, which bounds the length of a Newton step.
    Vector curvature(const Matrix& prediction) const {
        if (is_squared()) return weights_;
        Vector h = detail::smoothed_curvature(loss_, {prediction, y_, weights_.data(), window_});
        // Where no sample has any curvature, as for labels that are all met with a margin, that of the weights.
        const auto n = static_cast<double>(h.size());
        const double floor =
            least_curvature * std::max(detail::sum(h) / n, detail::sum(weights_) / n * least_curvature);
        for (Index i = 0; i < h.size(); ++i) h(i) = std::max(h(i), floor);
        return h;
    }

    /// The least-squares problem that agrees with the cost to second order: h t = h f + pull.
    WorkingSquares linearize(const Matrix& prediction) const {
        const Vector h = curvature(prediction);
        WorkingSquares working{Vector(h.size()), {}, detail::sum(h)};
        working.unit = std::all_of(h.data(), h.data() + h.size(), [](double v) { return v == 1.0; });
        for (Index i = 0; i < h.size(); ++i) working.root(i) = std::sqrt(h(i));
        const Matrix rest = is_squared() ? Matrix{} : pull(prediction);
        working.target = is_squared() ? detail::transposed(y_) : detail::transposed(prediction);
        for (Index o = 0; o < working.target.cols(); ++o)
            for (Index i = 0; i < h.size(); ++i) {
                if (rest.size() > 0) working.target(i, o) += rest(o, i) / h(i);
                working.target(i, o) *= working.root(i);
            }
        return working;
    }

private:
    static constexpr double least_curvature = 1e-2;  // of the mean: steps ten thousand times too long are cut

    Loss loss_;
    const Matrix& y_;
    const Vector& weights_;
    double window_;
};

}  // namespace kernelet
