#pragma once

#include <kernelet/detail/exponentials.hpp>
#include <kernelet/detail/gaussian_integral.hpp>
#include <kernelet/detail/squared_distances.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <string_view>

namespace kernelet {

/// k(x, z; w) = exp(−½ Σ_c (x_c − z_c)² / w_c²): one width per coordinate. With equal widths, Gaussian.
class AnisotropicGaussian {
public:
    static constexpr std::string_view name = "anisotropic_gaussian";

    Index parameters(Index dimension) const { return dimension; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::coordinate_scale; }

    /// values_i = k(x_i, z; w). xt is m x d (a tile, one coordinate per column), node = (z; w). O(m d).
    template <class Scalar = double>
    void values(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                VectorRefOf<Scalar> values) const {
        detail::squared_distances<true>(xt, node.data(), node.data() + xt.cols(), values.data());
        detail::exponentials<Scalar>(values.data(), values.size(), -0.5);
    }

    /// log k at one point, whose coordinates are `stride` apart, to the bit as values() has it.
    double exponent(const double* x, Index stride, const ConstVectorRef& node) const {
        const Index d = node.size() / 2;
        return -0.5 * detail::squared_distance_of<true>(x, stride, d, node.data(), node.data() + d);
    }

    /// Columns: k, ∂k/∂z_c = k (x_c − z_c)/w_c², ∂k/∂log w_c = k (x_c − z_c)²/w_c². jet is m x (1 + 2d).
    /// O(m d).
    template <class Scalar = double>
    void jet(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
             MatrixRefOf<Scalar> jet) const {
        const Index d = xt.cols();
        values(xt, node, jet.col(0));
        for (Index c = 0; c < d; ++c) {
            const double inverse = 1.0 / node(d + c);
            const auto ratio = (xt.col(c).array() - node(c)) * inverse;
            jet.col(1 + c) = jet.col(0).array() * ratio * inverse;
            jet.col(1 + d + c) = jet.col(0).array() * ratio.square();
        }
    }

    /// out += a ∂k/∂x, ∂k/∂x_c = −k (x_c − z_c)/w_c². xt and out are m x d, m ≤ detail::strip_rows. O(m d).
    template <class Scalar = double>
    void add_gradient(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node, double a,
                      MatrixRefOf<Scalar> out) const {
        const Index d = xt.cols();
        detail::StripBuffer k(xt.rows());
        values(xt, node, k.ref());
        for (Index c = 0; c < d; ++c) {
            const double inverse = 1.0 / node(d + c);
            k.add_offset_products(out.col(c).data(), xt.col(c).data(), node(c), inverse, a * inverse);
        }
    }

    /// ∫ k(x, z; w) dx over the box lo ≤ x ≤ hi: a product over the coordinates, see gaussian_integral().
    double integral(const ConstVectorRef& lo, const ConstVectorRef& hi, const ConstVectorRef& node) const {
        const Index d = lo.size();
        double product = 1.0;
        for (Index c = 0; c < d; ++c)
            product *= detail::gaussian_integral({lo(c) - node(c), hi(c) - node(c)}, node(d + c));
        return product;
    }

    /// log k = ⟨φ(x), c(z; w)⟩ with φ = (x, x², 1), c = (z/w², −1/2w², −½ Σ z²/w²) coordinate by coordinate:
    /// kernel values by the block are a product of matrices. features is m x (2d + 1), c has 2d + 1 rows.
    Index features(Index dimension) const { return 2 * dimension + 1; }
    template <class Scalar = double>
    void features(const ConstMatrixRefOf<Scalar>& xt, MatrixRefOf<Scalar> features) const {
        const Index d = xt.cols();
        features.leftCols(d) = xt;
        features.middleCols(d, d) = xt.cwiseAbs2();
        features.col(2 * d).setOnes();
    }
    template <class Scalar = double>
    void log_coefficients(const ConstVectorRefOf<Scalar>& node, VectorRefOf<Scalar> c) const {
        const Index d = node.size() / 2;
        c.segment(d, d) = -0.5 * node.tail(d).cwiseAbs2().cwiseInverse();
        c.head(d) = -2.0 * c.segment(d, d).cwiseProduct(node.head(d));
        c(2 * d) = c.segment(d, d).dot(node.head(d).cwiseAbs2());
    }
    /// slopes = (∂c/∂(z, log w))' g.
    template <class Scalar = double>
    void log_slopes(const ConstVectorRefOf<Scalar>& node, const ConstVectorRefOf<Scalar>& g,
                    VectorRefOf<Scalar> slopes) const {
        const Index d = node.size() / 2;
        const auto z = node.head(d).array();
        const auto precision = node.tail(d).array().square().inverse();
        slopes.head(d) = precision * (g.head(d).array() - g(2 * d) * z);
        slopes.tail(d) =
            precision * (g.segment(d, d).array() + g(2 * d) * z.square() - 2.0 * g.head(d).array() * z);
    }

    /// Distance past which k < 2^-53: along the coordinate of the widest width, farther than along the
    /// others.
    template <class Scalar = double>
    double reach(const ConstVectorRefOf<Scalar>& node) const {
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
