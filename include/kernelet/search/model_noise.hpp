#pragma once

#include <kernelet/search/levenberg_marquardt.hpp>
#include <kernelet/search/priors.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// The noise that a model leaves, estimated with it (MacKay 1992): σ² = Σ w r²/(mean w (N − γ)) with N residuals and
/// γ = Σ e/(1 + e) effective parameters. J is the derivative of the predictions in coefficients, centers and log-widths,
/// P the precision of their priors, and e are the eigenvalues of P^(−½) J'WJ P^(−½)/σ². A parameter about which the
/// data say nothing has e ≪ 1 and does not count.
struct ModelNoise {
    double deviation{};             ///< σ
    double effective_parameters{};  ///< γ
};

namespace detail {

/// J'WJ from the sums of a linearised model, of which all kernels move: coefficients output by output, then the free
/// rows of the nodes kernel by kernel.
template <class Scalar = double>
Matrix squared_jacobian(const FittedKernels& model, bool intercept) {
    const QuadraticModel& quadratic = *model.quadratic;
    const Matrix full = centered_gram<Scalar>(quadratic.sums, quadratic.total, intercept);
    const Matrix& a = model.fit.coefficients;
    const Index k = model.size(), q = a.cols(), first = k + q, slopes = full.cols() - first, f = slopes / k;
    const Matrix outer = product_nt<Scalar>(a, a);  // Σ_o a_io a_jo
    Matrix out = Matrix::Zero(k * q + slopes, k * q + slopes);
    for (Index o = 0; o < q; ++o) {
        copy(ConstBlock(full).part(0, 0, k, k), Block(out).part(o * k, o * k, k, k));
        for (Index c = 0; c < slopes; ++c)
            for (Index j = 0; j < k; ++j)
                out(k * q + c, o * k + j) = out(o * k + j, k * q + c) = full(j, first + c) * a(c / f, o);
    }
    for (Index c = 0; c < slopes; ++c)
        for (Index r = 0; r < slopes; ++r)
            out(k * q + r, k * q + c) = full(first + r, first + c) * outer(r / f, c / f);
    return out;
}

/// Square roots of the prior precisions of the parameters of a model, in the order of squared_jacobian(): of
/// coefficients and log-widths those of the problem, of centers that of a uniform one in the samples' box.
inline Vector root_precisions(const SearchProblem& problem, const SampleScales& scales, const Matrix& nodes) {
    const double unit = scales.noise_level * scales.mean_weight;
    const double center_variance =
        scales.half_diagonal * scales.half_diagonal / (3.0 * static_cast<double>(problem.domain.dimension()));
    const NodeSteps steps(problem.kernel, problem.domain);
    const Index coefficients = nodes.cols() * problem.outputs();
    Vector roots(coefficients + nodes.cols() * steps.size());
    for (Index i = 0; i < coefficients; ++i)
        roots(i) = std::sqrt(problem.priors.ridge * sum(problem.loss.weights()) / unit);
    Index at = coefficients;
    for (Index j = 0; j < nodes.cols(); ++j)
        for (const Index row : steps.rows())
            roots(at++) = steps.is_width(row)
                              ? std::sqrt(problem.priors.widths.strength / unit)
                              : steps.unit(column_ref(nodes, j), row) / std::sqrt(center_variance);
    return roots;
}

/// γ = Σ e/(1 + e) = count − tr P (A + P)⁻¹ for A = J'WJ/(σ² mean w) and the roots of the diagonal of P, which may be
/// zero: the parameter then counts in full. With DD = 1/diag(A + P) and D (A + P) D = LL', the trace is ‖L⁻¹ D √P‖².
/// O(P³).
template <class Scalar = double>
double effective_parameters(Matrix a, const Vector& root_precision) {
    const Index count = a.cols();
    Vector unit(count);
    for (Index i = 0; i < count; ++i) {
        a(i, i) += root_precision(i) * root_precision(i);
        unit(i) = a(i, i) > 0.0 ? 1.0 / std::sqrt(a(i, i)) : 0.0;
    }
    scale_rows<Scalar>(a, unit.data(), a);
    const Matrix factor = gram_factor<Scalar>(with_scaled_columns<Scalar>(a, unit.data()), 0.0, 0.0);
    Matrix share = Matrix::Zero(count, count);
    for (Index i = 0; i < count; ++i) share(i, i) = unit(i) * root_precision(i);
    solve_lower<Scalar>(factor, share);
    return static_cast<double>(count) - squared_norm<Scalar>(share);
}

}  // namespace detail

/// The noise around a model of the squared loss whose priors were made with the σ of `scales`. O(n P² + P³),
/// P = K (q + f).
template <class Scalar = double>
ModelNoise noise_of_model(const SearchProblem& problem, const SampleScales& scales,
                          const KernelExpansion& start) {
    LevenbergMarquardt<Scalar> lm(problem);
    FittedKernels model = lm.evaluate(start.nodes, start);
    ModelNoise out;
    if (model.size() > 0) {
        lm.linearize(model);
        Matrix a = detail::squared_jacobian<Scalar>(model, problem.intercept);
        detail::scale<Scalar>(a, 1.0 / (scales.noise_level * scales.mean_weight));
        out.effective_parameters = detail::effective_parameters<Scalar>(
            std::move(a), detail::root_precisions(problem, scales, model.fit.nodes));
    }
    const Matrix left = problem.prediction(model.fit) - problem.loss.target();
    double squares = 0.0;
    for (Index i = 0; i < left.cols(); ++i)
        squares += problem.loss.weights()(i) * detail::column_squares(left, i);
    constexpr double least_free = 0.1;  // of the residuals: σ² has no estimate where γ → N
    const auto residuals = static_cast<double>(left.size());
    const double free = std::max(residuals - out.effective_parameters, least_free * residuals);
    out.deviation = std::sqrt(squares / (scales.mean_weight * free));
    return out;
}

}  // namespace kernelet
