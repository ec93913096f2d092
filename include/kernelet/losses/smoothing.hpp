#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/losses/separable.hpp>
#include <kernelet/losses/squared.hpp>

#include <algorithm>
#include <array>
#include <concepts>

/// A loss averaged over a window, ℓ_s(f, y) = mean of ℓ(f + s u_k, y), u_k the middles of equal parts of
/// [−1, 1], summed over samples; the curvature is the secant (ℓ'(f + s) − ℓ'(f − s))/2s. A loss that is smooth
/// needs no window and is taken as it is. One call per pass over the samples.
namespace kernelet::detail {

/// What a pass over samples is given: f and y, q x n, and the window s.
struct SmoothingPass {
    ConstBlock prediction;
    ConstBlock target;
    const double* weights;  ///< n
    double window;
};

/// Whether a loss is the squared one, for which several stages have closed forms.
template <class Loss>
bool is_squared([[maybe_unused]] const Loss& loss) {
    if constexpr (requires { loss.is_squared(); })
        return loss.is_squared();
    else
        return std::same_as<Loss, SquaredLoss>;
}

/// mean over the window of value(f + s u).
template <class Loss, class Function>
double averaged(const Function& value, double f, double window) {
    if constexpr (is_smooth<Loss>()) {
        return value(f);
    } else {
        constexpr std::array<double, 4> places{-0.75, -0.25, 0.25, 0.75};
        double sum = 0.0;
        for (const double u : places) sum += value(f + window * u);
        return sum / static_cast<double>(places.size());
    }
}

/// Σ_i w_i Σ_o ℓ_s(f_oi, y_oi). O(qn).
template <class Loss>
double smoothed_cost(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_cost(pass); }) {
        return loss.smoothed_cost(pass);
    } else {
        double sum = 0.0;
        for (Index i = 0; i < pass.prediction.cols; ++i)
            for (Index o = 0; o < pass.prediction.rows; ++o) {
                const double y = pass.target(o, i);
                sum += pass.weights[i] * averaged<Loss>([&](double f) { return loss.value(f, y); },
                                                        pass.prediction(o, i), pass.window);
            }
        return sum;
    }
}

/// −½ w_i ∂ℓ_s/∂f, q x n. O(qn).
template <class Loss>
Matrix smoothed_pull(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_pull(pass); }) {
        return loss.smoothed_pull(pass);
    } else {
        Matrix slopes(pass.prediction.rows, pass.prediction.cols);
        for (Index i = 0; i < slopes.cols(); ++i)
            for (Index o = 0; o < slopes.rows(); ++o) {
                const double y = pass.target(o, i);
                slopes(o, i) = -0.5 * pass.weights[i] *
                               averaged<Loss>([&](double f) { return loss.derivative(f, y); },
                                              pass.prediction(o, i), pass.window);
            }
        return slopes;
    }
}

/// ½ w_i max over o of ∂²ℓ_s/∂f², n. O(qn).
template <class Loss>
Vector smoothed_curvature(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_curvature(pass); }) {
        return loss.smoothed_curvature(pass);
    } else {
        Vector h = Vector::Zero(pass.prediction.cols);
        for (Index i = 0; i < h.size(); ++i)
            for (Index o = 0; o < pass.prediction.rows; ++o) {
                const double f = pass.prediction(o, i), y = pass.target(o, i), s = pass.window;
                double second = 0.0;
                if constexpr (is_smooth<Loss>())
                    second = loss.curvature(f, y);
                else
                    second = (loss.derivative(f + s, y) - loss.derivative(f - s, y)) / (2.0 * s);
                h(i) = std::max(h(i), 0.5 * pass.weights[i] * second);
            }
        return h;
    }
}

}  // namespace kernelet::detail
