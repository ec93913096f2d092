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

/// The arguments of a pass over samples: f and y, q x n, and the window s.
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

/// A run of numbers.
using RunOf = Eigen::Map<const Eigen::ArrayXd>;

/// A loss whose values, derivatives and curvatures come by the run, in packets.
template <class Loss>
concept HasRuns = requires(const Loss& loss, const RunOf& run, Eigen::Map<Eigen::ArrayXd> out) {
    loss.values(run, run, out);
    loss.derivatives(run, run, out);
};

/// The quantity that is averaged or summed over a run of predictions.
enum class LossRun { value, derivative, curvature };

inline constexpr Index run_length = 256;

/// At most run_length predictions and their targets, and the window.
struct LossRunInput {
    const double* f;
    const double* y;
    Index n;
    double s;
};

/// ℓ_s, ∂ℓ_s/∂f or ∂²ℓ_s/∂f² of a run, in packets.
template <LossRun What, HasRuns Loss>
void smoothed_run(const Loss& loss, const LossRunInput& in, double* out) {
    const RunOf prediction(in.f, in.n), target(in.y, in.n);
    Eigen::Map<Eigen::ArrayXd> result(out, in.n);
    if constexpr (is_smooth<Loss>()) {
        if constexpr (What == LossRun::value) loss.values(prediction, target, result);
        if constexpr (What == LossRun::derivative) loss.derivatives(prediction, target, result);
        if constexpr (What == LossRun::curvature) loss.curvatures(prediction, target, result);
    } else {
        std::array<double, run_length> moved, part;
        Eigen::Map<Eigen::ArrayXd> to(moved.data(), in.n), one(part.data(), in.n);
        const RunOf there(moved.data(), in.n);
        const auto add = [&](double shift, double weight) {
            to = prediction + in.s * shift;
            if constexpr (What == LossRun::value)
                loss.values(there, target, one);
            else
                loss.derivatives(there, target, one);
            result += weight * one;
        };
        result.setZero();
        if constexpr (What == LossRun::curvature) {
            add(1.0, 0.5 / in.s);
            add(-1.0, -0.5 / in.s);
        } else {
            for (const double place : {-0.75, -0.25, 0.25, 0.75}) add(place, 0.25);
        }
    }
}

/// The same, number by number.
template <LossRun What, class Loss>
void smoothed_run(const Loss& loss, const LossRunInput& in, double* out) {
    for (Index i = 0; i < in.n; ++i) {
        const double f = in.f[i], y = in.y[i], s = in.s;
        if constexpr (What == LossRun::value)
            out[i] = averaged<Loss>([&](double at) { return loss.value(at, y); }, f, s);
        else if constexpr (What == LossRun::derivative)
            out[i] = averaged<Loss>([&](double at) { return loss.derivative(at, y); }, f, s);
        else if constexpr (is_smooth<Loss>())
            out[i] = loss.curvature(f, y);
        else
            out[i] = (loss.derivative(f + s, y) - loss.derivative(f - s, y)) / (2.0 * s);
    }
}

/// visit(first, values, count) for each run of a pass: predictions and targets are one run of q n numbers each.
template <LossRun What, class Loss, class Visit>
void for_runs(const Loss& loss, const SmoothingPass& pass, const Visit& visit) {
    std::array<double, run_length> values;
    const Index all = pass.prediction.size();
    for (Index first = 0; first < all; first += run_length) {
        const Index count = std::min(run_length, all - first);
        smoothed_run<What>(
            loss, LossRunInput{pass.prediction.data + first, pass.target.data + first, count, pass.window},
            values.data());
        visit(first, values.data(), count);
    }
}

/// Σ_i w_i Σ_o ℓ_s(f_oi, y_oi). O(qn).
template <class Loss>
double smoothed_cost(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_cost(pass); }) {
        return loss.smoothed_cost(pass);
    } else {
        const Index q = pass.prediction.rows;
        double sum = 0.0;
        for_runs<LossRun::value>(loss, pass, [&](Index first, const double* values, Index count) {
            if (q == 1)
                sum += dot_run<double>(values, pass.weights + first, count);
            else
                for (Index k = 0; k < count; ++k) sum += pass.weights[(first + k) / q] * values[k];
        });
        return sum;
    }
}

/// −½ w_i ∂ℓ_s/∂f, q x n. O(qn).
template <class Loss>
Matrix smoothed_pull(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_pull(pass); }) {
        return loss.smoothed_pull(pass);
    } else {
        const Index q = pass.prediction.rows;
        Matrix slopes(q, pass.prediction.cols);
        for_runs<LossRun::derivative>(loss, pass, [&](Index first, const double* values, Index count) {
            for (Index k = 0; k < count; ++k)
                slopes.data()[first + k] =
                    -0.5 * pass.weights[q == 1 ? first + k : (first + k) / q] * values[k];
        });
        return slopes;
    }
}

/// ½ w_i max over o of ∂²ℓ_s/∂f², n. O(qn).
template <class Loss>
Vector smoothed_curvature(const Loss& loss, const SmoothingPass& pass) {
    if constexpr (requires { loss.smoothed_curvature(pass); }) {
        return loss.smoothed_curvature(pass);
    } else {
        const Index q = pass.prediction.rows;
        Vector h = Vector::Zero(pass.prediction.cols);
        for_runs<LossRun::curvature>(loss, pass, [&](Index first, const double* values, Index count) {
            for (Index k = 0; k < count; ++k) {
                const Index i = q == 1 ? first + k : (first + k) / q;
                h(i) = std::max(h(i), 0.5 * pass.weights[i] * values[k]);
            }
        });
        return h;
    }
}

}  // namespace kernelet::detail
