#pragma once

#include <kernelet/search/levenberg_marquardt.hpp>
#include <kernelet/search/priors.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// The evidence of a model by Laplace's method (MacKay 1992). J is the derivative of the predictions in coefficients,
/// centers and log-widths, W the weights (of labels, the curvature of the loss), P the precision of the priors, and e
/// are the eigenvalues of P^(−½) J'WJ P^(−½)/σ². Then
///     −2 log evidence = Σ w r²/σ² + N log σ² + (parameters − their means)' P (parameters − their means) + Σ log(1 + e)
/// up to a constant of the samples. A parameter that the data leave open has e ≪ 1 and costs nothing. The noise
/// is estimated with the model, σ² = Σ w r²/(mean w (N − γ)), γ = Σ e/(1 + e). Labels have no σ; their first two terms
/// are twice the loss.
struct ModelEvidence {
    double value{};                 ///< −2 log evidence; less is better
    double noise_deviation{};       ///< σ; that of the scales for losses other than the squared one
    double effective_parameters{};  ///< γ
    /// e/(1 + e) of each parameter, 1 where the data set it and 0 where the prior does: coefficients output by output,
    /// then the free rows of the nodes kernel by kernel.
    Vector determined{};
};

namespace detail {

/// J'WJ from the sums of a linearised model, of which all kernels move, in the order of ModelEvidence::determined.
template <class Scalar = double>
Matrix squared_jacobian(const FittedKernels& model) {
    const QuadraticModel& quadratic = *model.quadratic;
    const Matrix full = gram_without_trend<Scalar>(quadratic.sums, quadratic.total);
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
/// coefficients and log-widths those of the problem, of centers that of a uniform one in the samples' box. They do not
/// depend on σ.
inline Vector root_precisions(const SearchProblem& problem, const SampleScales& scales, const Matrix& nodes) {
    const double unit = scales.loss_unit() * scales.mean_weight;
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

/// The quantities that follow from A = J'WJ/σ² and the prior.
struct Posterior {
    Vector determined{};  ///< 1 − P_ii ((A + P)⁻¹)_ii
    double log_volume{};  ///< Σ log(1 + e) = log det(A + P) − log det P
};

/// For the roots of the diagonal of P. A root of zero: the parameter counts in full, and its volume is that of a prior
/// of unit information, of precision A_ii/`residuals`. With DD = 1/diag(A + P) and D (A + P) D = LL',
/// P_ii ((A + P)⁻¹)_ii is the squared norm of column i of L⁻¹ D √P. O(P³).
template <class Scalar = double>
Posterior posterior(Matrix a, const Vector& root_precision, double residuals) {
    const Index count = a.cols();
    Posterior out;
    Vector unit(count);
    for (Index i = 0; i < count; ++i) {
        const double own = a(i, i), precision = root_precision(i) * root_precision(i);
        a(i, i) += precision;
        unit(i) = a(i, i) > 0.0 ? 1.0 / std::sqrt(a(i, i)) : 0.0;
        if (a(i, i) > 0.0) out.log_volume -= std::log(precision > 0.0 ? precision : own / residuals);
    }
    scale_rows<Scalar>(a, unit.data(), a);
    a = with_scaled_columns<Scalar>(a, unit.data());
    for (Index i = 0; i < count; ++i)
        if (unit(i) == 0.0) a(i, i) = 1.0;  // neither data nor prior
    const Matrix factor = gram_factor<Scalar>(a, 0.0, 0.0);
    Matrix share = Matrix::Zero(count, count);
    for (Index i = 0; i < count; ++i) {
        share(i, i) = unit(i) * root_precision(i);
        if (unit(i) > 0.0) out.log_volume += 2.0 * std::log(factor(i, i) / unit(i));
    }
    solve_lower<Scalar>(factor, share);
    out.determined.resize(count);
    for (Index i = 0; i < count; ++i) out.determined(i) = 1.0 - column_squares(share, i);
    return out;
}

}  // namespace detail

/// The evidence of a model of the squared loss or of one that is a log likelihood. σ begins at that of `scales`, with
/// which the priors of the problem were made, and is not below its floor. O(n P² + P³), P = K (q + f).
template <class Scalar = double>
ModelEvidence evidence_of(const SearchProblem& problem, const SampleScales& scales,
                          const KernelExpansion& start) {
    constexpr int passes = 3;           // σ and γ depend on each other
    constexpr double least_free = 0.1;  // of the residuals: σ² has no estimate where γ → N
    LevenbergMarquardt<Scalar> lm(problem);
    FittedKernels model = lm.evaluate(start.nodes, start);
    const bool squared = problem.loss.is_squared();
    const auto residuals = static_cast<double>(problem.loss.target().size());
    const double misfit = problem.loss.cost(problem.prediction(model.fit));
    const double assumed = scales.loss_unit() * scales.mean_weight;
    Matrix information;
    if (model.size() > 0) {
        lm.linearize(model);
        information = detail::squared_jacobian<Scalar>(model);
    }
    const Vector roots = detail::root_precisions(problem, scales, model.fit.nodes);
    ModelEvidence out;
    out.noise_deviation = scales.noise_deviation;
    // A prior of unit information on the trend: 1 + e = 1 + N for each of its functions.
    const auto of_trend =
        static_cast<double>(detail::TrendBasis(problem.trend, problem.points).size() * problem.outputs());
    const double trend_volume = of_trend * std::log1p(residuals);
    double unit = assumed, volume = 0.0;
    for (int pass = 0; pass < (squared ? passes : 1); ++pass) {
        if (model.size() > 0) {
            Matrix a = information;
            detail::scale<Scalar>(a, 1.0 / unit);
            detail::Posterior shape = detail::posterior<Scalar>(std::move(a), roots, residuals);
            out.effective_parameters = detail::sum<Scalar>(shape.determined);
            out.determined = std::move(shape.determined);
            volume = shape.log_volume;
        }
        if (!squared) break;
        const double free = std::max(residuals - out.effective_parameters - of_trend, least_free * residuals);
        out.noise_deviation = std::max(std::sqrt(misfit / (scales.mean_weight * free)), scales.noise_floor);
        unit = out.noise_deviation * out.noise_deviation * scales.mean_weight;
    }
    out.value = misfit / unit + (model.cost - misfit) / assumed + volume + trend_volume;
    if (squared) out.value += residuals * std::log(unit / (scales.mean_weight * scales.target_variance));
    return out;
}

}  // namespace kernelet
