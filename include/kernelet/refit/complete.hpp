#pragma once

#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// The node whose kernel explains most of what is left: the largest ‖Σ_i w_i r_i k_i‖² / Σ_i w_i k_i².
/// residual is q x n. O(n B).
template <KernelFamily Kernel>
Index most_explaining(const Kernel& kernel, const detail::TiledPoints& points, const ConstMatrixRef& nodes,
                      const ConstMatrixRef& residual, const ConstVectorRef& weights) {
    Vector explained = Vector::Zero(nodes.cols());
    detail::parallel_for(
        nodes.cols(),
        [&](Index j) {
            Vector column(points.size());
            detail::kernel_column(kernel, points, nodes.col(j), column);
            const Vector weighted = column.cwiseProduct(weights);
            const double norm = weighted.dot(column);
            if (norm > 0.0) explained(j) = (residual * weighted).squaredNorm() / norm;
        },
        nodes.cols() * points.size());
    Index best = 0;
    if (explained.size() > 0) explained.maxCoeff(&best);
    return best;
}

/// Slides the kernels, and while `satisfied(residual)` does not hold adds the node that explains most of the
/// residual and slides again, up to `most` kernels. Stops early where a kernel more no longer helps.
template <KernelFamily Kernel, Domain Omega, class Satisfied>
SlideResult complete(const Kernel& kernel, const detail::TiledPoints& points, const Omega& domain,
                     const Matrix& nodes, const Matrix& candidates, const Matrix& y, const Vector& weights,
                     double ridge, Index most, const Satisfied& satisfied) {
    constexpr double least_gain = 1e-3;  // of the cost, from one kernel more
    const Slide<Kernel, Omega> slide(kernel, points, domain, y, weights, ridge);
    SlideResult best = slide(nodes);
    for (;;) {
        const Matrix residual =
            y - detail::synthesize(kernel, points, best.nodes, best.coefficients.transpose());
        if (satisfied(residual) || best.nodes.cols() >= most || candidates.cols() == 0) return best;
        Matrix more(domain.rows(), best.nodes.cols() + 1);
        more << best.nodes, candidates.col(most_explaining(kernel, points, candidates, residual, weights));
        SlideResult next = slide(std::move(more));
        if (!(next.cost < (1.0 - least_gain) * best.cost)) return best;
        best = std::move(next);
    }
}

}  // namespace kernelet
