#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

/// A model's cost and all that follows from the sums it took: coefficients, the quadratic model in which its
/// kernels slide, and what a kernel less would cost.
struct Assessment {
    double cost{};          ///< Σ w ℓ(Φa + b, y) + ridge Σ w ‖a‖² + what the prior on widths costs
    Matrix coefficients{};  ///< a, K x q
    Vector offset{};        ///< q: what is added to Φa, 0 without an intercept
    Matrix inverse{};       ///< G⁻¹ = (Φ'WΦ + ridge)⁻¹, W the weights, or half the loss's curvature
    Matrix cross{};         ///< Φ'WB, K x Kf
    Matrix reduced{};       ///< M = B'WB − B'WΦ G⁻¹ Φ'WB
    Matrix pull{};          ///< B'W(y − Φa), Kf x q
    Vector mass{};          ///< Σ_i w_i k_ij² / mean w: how many samples' worth of data a kernel sees

    /// The rise of the cost when kernel j leaves and nothing slides: a_j²/(G⁻¹)_jj, exactly.
    double price(Index j) const {
        double squares = 0.0;
        for (Index o = 0; o < coefficients.cols(); ++o) squares += coefficients(j, o) * coefficients(j, o);
        return squares / inverse(j, j);
    }
};

/// Kernels where a slide left them.
struct Slid {
    Matrix nodes{};  ///< (d + p) x K
    Assessment at{};

    Index size() const { return nodes.cols(); }
};

/// The nodes without column j.
inline Matrix without_column(const Matrix& nodes, Index j) {
    const detail::ConstBlock all(nodes);
    return detail::beside(all.columns(0, j), all.columns(j + 1, nodes.cols() - 1 - j));
}

/// The nodes and one more.
inline Matrix with_column(const Matrix& nodes, const ConstVectorRef& node) {
    if (nodes.cols() == 0) return node;
    return detail::beside(nodes, node);
}

}  // namespace kernelet
