#pragma once

#include <kernelet/kernels/exponent.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <string_view>

namespace kernelet {

/// k(x, z; w) = exp(−½ Σ_c (x_c − z_c)² / w_c²): one width a coordinate. With equal widths, Gaussian.
class AnisotropicGaussian {
public:
    static constexpr std::string_view name = "anisotropic_gaussian";

    Index parameters(Index dimension) const { return dimension; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::coordinate_scale; }

    /// values_i = k(x_i, z; w). xt is m x d (a tile, one coordinate a column), node = (z; w). O(m d).
    void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef values) const {
        const Index d = xt.cols();
        values =
            ((xt.col(0).array() - node(0)) * (1.0 / node(d))).square();  // w² underflows where w does not
        for (Index c = 1; c < d; ++c)
            values.array() += ((xt.col(c).array() - node(c)) * (1.0 / node(d + c))).square();
        values = (values.array() * -0.5).max(detail::smallest_exponent).exp();
    }

    /// Columns: k, ∂k/∂z_c = k (x_c − z_c)/w_c², ∂k/∂log w_c = k (x_c − z_c)²/w_c². jet is m x (1 + 2d).
    /// O(m d).
    void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef jet) const {
        const Index d = xt.cols();
        values(xt, node, jet.col(0));
        for (Index c = 0; c < d; ++c) {
            const double inverse = 1.0 / node(d + c);
            const auto ratio = (xt.col(c).array() - node(c)) * inverse;
            jet.col(1 + c) = jet.col(0).array() * ratio * inverse;
            jet.col(1 + d + c) = jet.col(0).array() * ratio.square();
        }
    }

    /// Distance past which k < 2^-53: along the coordinate of the widest width, farther than along the
    /// others.
    double reach(const ConstVectorRef& node) const {
        return detail::gaussian_reach * node.tail(node.size() / 2).maxCoeff();
    }

    /// ⟨k_a, k_b⟩ / ‖k_a‖‖k_b‖ in L2(R^d), a product over the coordinates: with h² = w_a² + w_b²,
    /// Π_c (2 w_a w_b / h²)^{1/2} exp(−(z_a − z_b)² / 2h²). O(d).
    double coherence(const ConstVectorRef& a, const ConstVectorRef& b) const {
        const Index d = a.size() / 2;
        double overlap = 1.0, distance = 0.0;
        for (Index c = 0; c < d; ++c) {
            const double h = std::hypot(a(d + c), b(d + c));
            const double ratio = (a(c) - b(c)) / h;
            overlap *= 2.0 * (a(d + c) / h) * (b(d + c) / h);
            distance += ratio * ratio;
        }
        return std::sqrt(overlap) * std::exp(-0.5 * distance);
    }
};

}  // namespace kernelet
