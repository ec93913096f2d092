#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// The residual of each sample under a fit without that sample.
struct LeaveOneOut {
    Matrix residuals{};  ///< y − f₋ᵢ(x), in the shape of y
    double error{};      ///< the root of the mean of their squares, weighted as the fit was
};

/// Leave-one-out in closed form, of a model of the squared loss on the samples that it was fitted to. The last step of
/// the fit is linear in the coefficients, and linearised in what else was free to move, centers and widths:
///     y_i − f₋ᵢ(x_i) = r_i / (1 − h_i),   h_i = w_i j_i' C j_i / σ²,
/// r the residuals, j_i the derivative of f(x_i) in all parameters, C their covariance, w the weights relative to their
/// mean. Exact where only coefficients were free; the number of kernels and the hyperparameters stay as they are. Throws
/// std::invalid_argument where the model has no covariance. O(n P²), P the parameters.
template <KernelFamily Kernel, Numbers X, Numbers Y>
LeaveOneOut leave_one_out(const SparseKernelModel<Kernel>& model, const X& x, const Y& y,
                          const Vector& weights = {}) {
    const Matrix points = detail::input_matrix(x).template cast<double>();
    Matrix out = detail::target_matrix(y).template cast<double>();
    const Index n = points.cols(), q = model.outputs(), rows = out.rows(), cols = out.cols();
    detail::require_targets(rows, cols, points.rows(), n);
    detail::require_finite(out, "y");
    detail::require(out.size() == q * n, "y has ", out.size(), " entries for ", n, " samples of a model of ",
                    q, " outputs");
    detail::require(weights.size() == 0 || weights.size() == n, "weights has ", weights.size(),
                    " entries for ", n, " samples");
    const double mean_weight = weights.size() > 0 ? weights.mean() : 1.0;
    const ModelStatistics& known = model.statistics();
    const Prediction at = model.predict(points, with_deviation);
    double sum = 0.0;
    for (Index k = 0; k < out.size(); ++k) {
        const Index o = k % q, i = k / q;  // of a column, q = 1
        const double noise = known.noise.size() > 0 ? known.noise(o) : 0.0;
        const double unexplained = known.discrepancy.size() > 0 ? known.discrepancy(o) : 0.0;
        const double weight = weights.size() > 0 ? weights(i) / mean_weight : 1.0;
        const double spread = at.deviation(k) * at.deviation(k) - unexplained * unexplained;
        const double leverage = noise > 0.0 ? weight * std::max(spread, 0.0) / (noise * noise) : 0.0;
        // A sample of leverage 1 is what one parameter is known from; beyond 1 there is only rounding.
        constexpr double least_free = 1e-6;
        out(k) = (out(k) - at.mean(k)) / std::max(1.0 - leverage, least_free);
        sum += weight * out(k) * out(k);
    }
    return {std::move(out), std::sqrt(sum / static_cast<double>(q * n))};
}

}  // namespace kernelet
