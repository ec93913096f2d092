#pragma once

#include <kernelet/dual/dual_problem.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/refit/complete.hpp>
#include <kernelet/refit/least_squares.hpp>
#include <kernelet/refit/prune.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace kernelet {

/// Kernels and coefficients read off a dual solution.
struct Discretization {
    Matrix nodes{};         ///< (d + p) x K
    Matrix coefficients{};  ///< K x q
    Index peaks = 0;
    Index merged = 0;
    Index added = 0;       ///< kernels that completed the model, beyond the peaks
    bool limited = false;  ///< max_kernels bound
    double squared_error = 0.0;
    double peak_seconds = 0.0;
};

/// field → peaks → prune to max_kernels → least squares; and where the tolerance is then missed, slide and
/// complete. A model that meets the tolerance keeps its kernels at the peaks of the field, where the dual
/// says they are.
template <KernelFamily Kernel, class Loss, Domain Omega>
Discretization discretize(const Kernel& kernel, const Omega& domain, const detail::TiledPoints& points,
                          const FeasibleSet<Loss>& feasible, const Matrix& x, const DualSolution& solution,
                          double gamma, const Options& options) {
    const auto start = std::chrono::steady_clock::now();
    const Matrix& y = feasible.target();
    const Vector& weights = feasible.weights();
    const CoefficientField<Kernel> field(kernel, x, solution.lambda, gamma, InputScaling::identity(x.rows()));
    const ExtractedPeaks extracted =
        extract_peaks(field, domain, points, solution.quadrature.nodes, options.peaks);
    Discretization result;
    result.peaks = static_cast<Index>(extracted.peaks.size());
    result.peak_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    Matrix nodes(domain.rows(), result.peaks);
    for (Index j = 0; j < result.peaks; ++j) nodes.col(j) = extracted.peaks[static_cast<std::size_t>(j)].node;
    if (options.max_kernels && nodes.cols() > *options.max_kernels) {
        result.limited = true;
        nodes = nodes(Eigen::all,
                      keep_cheapest(kernel, points, nodes, y, weights, options.ridge, *options.max_kernels))
                    .eval();
    }
    const LeastSquaresFit refit = least_squares(kernel, points, nodes, y, weights, options.ridge);
    result.merged = extracted.merged + static_cast<Index>(refit.redundant.size());
    std::vector<Index> kept;
    for (Index j = 0; j < nodes.cols(); ++j)
        if (!std::binary_search(refit.redundant.begin(), refit.redundant.end(), j)) kept.push_back(j);
    result.nodes = nodes(Eigen::all, kept);
    result.coefficients = refit.coefficients(kept, Eigen::all);

    const auto residual_of = [&](const Matrix& at, const Matrix& a) -> Matrix {
        return y - detail::synthesize(kernel, points, at, a.transpose());
    };
    Matrix residual = residual_of(result.nodes, result.coefficients);
    const auto met = [&](const Matrix& left) { return !(feasible.violation(y - left) > 0.0); };
    // Never more parameters than samples: kernels that many could follow the noise anywhere.
    const Index affordable = x.cols() * y.rows() / (domain.rows() + y.rows());
    const Index most = std::min(affordable, options.max_kernels.value_or(affordable));
    if (!met(residual) && result.nodes.cols() <= most) {
        SlideResult slid = complete(kernel, points, domain, result.nodes, solution.quadrature.nodes, y,
                                    weights, options.ridge, most, met);
        const Matrix left = residual_of(slid.nodes, slid.coefficients);
        if (feasible.violation(y - left) < feasible.violation(y - residual)) {
            result.added = slid.nodes.cols() - result.nodes.cols();
            result.nodes = std::move(slid.nodes);
            result.coefficients = std::move(slid.coefficients);
            residual = left;
        }
        if (options.max_kernels && result.nodes.cols() >= *options.max_kernels && !met(residual))
            result.limited = true;
    }
    result.squared_error = residual.cwiseAbs2().colwise().sum().dot(weights.transpose());
    return result;
}

}  // namespace kernelet
