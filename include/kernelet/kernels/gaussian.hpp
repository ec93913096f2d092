#pragma once

#include <kernelet/detail/exponentials.hpp>
#include <kernelet/detail/gaussian_integral.hpp>
#include <kernelet/detail/squared_distances.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <string_view>

namespace kernelet {

/// k(x, z; w) = exp(−‖x − z‖² / 2w²): one width, the same along every coordinate (paper (22)).
class Gaussian {
public:
    static constexpr std::string_view name = "gaussian";

    Index parameters(Index /*dimension*/) const { return 1; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::isotropic_scale; }

    /// values_i = k(x_i, z; w). xt is m x d (a tile, one coordinate per column), node = (z; w). O(m d).
    template <class Scalar = double>
    void values(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                VectorRefOf<Scalar> values) const {
        const Index d = xt.cols();
        // w² overflows or underflows where w does not: then distances are divided by it before they are squared.
        constexpr double smallest = 1e-100, largest = 1e100;
        const bool ordinary = node(d) > smallest && node(d) < largest;
        if (ordinary) {
            detail::squared_distances<false>(xt, node.data(), nullptr, values.data());
        } else {
            const Vector widths = Vector::Constant(d, node(d));
            detail::squared_distances<true>(xt, node.data(), widths.data(), values.data());
        }
        detail::exponentials<Scalar>(values.data(), values.size(),
                                     ordinary ? -0.5 / (node(d) * node(d)) : -0.5);
    }

    /// log k at one point, whose coordinates are `stride` apart, to the bit as values() has it.
    double exponent(const double* x, Index stride, const ConstVectorRef& node) const {
        constexpr double smallest = 1e-100, largest = 1e100;
        const Index d = node.size() - 1;
        const double w = node(d);
        if (w > smallest && w < largest)
            return -0.5 / (w * w) * detail::squared_distance_of<false>(x, stride, d, node.data(), nullptr);
        const Vector widths = Vector::Constant(d, w);
        return -0.5 * detail::squared_distance_of<true>(x, stride, d, node.data(), widths.data());
    }

    /// Columns: k, ∂k/∂z = k (x − z)/w², ∂k/∂log w = k ‖x − z‖²/w². jet is m x (1 + d + 1). O(m d).
    template <class Scalar = double>
    void jet(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
             MatrixRefOf<Scalar> jet) const {
        const Index d = xt.cols();
        const double inverse = 1.0 / node(d);
        values(xt, node, jet.col(0));
        jet.col(1 + d).setZero();
        for (Index c = 0; c < d; ++c) {
            const auto ratio = (xt.col(c).array() - node(c)) * inverse;
            jet.col(1 + d).array() += ratio.square();
            jet.col(1 + c) = jet.col(0).array() * ratio * inverse;
        }
        jet.col(1 + d).array() *= jet.col(0).array();
    }

    /// out += a ∂k/∂x = −a k (x − z)/w². xt and out are m x d, m ≤ detail::strip_rows. O(m d).
    template <class Scalar = double>
    void add_gradient(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node, double a,
                      MatrixRefOf<Scalar> out) const {
        const Index d = xt.cols();
        const double inverse = 1.0 / node(d);
        detail::StripBuffer k(xt.rows());
        values(xt, node, k.ref());
        k.scale(a * inverse);
        for (Index c = 0; c < d; ++c)
            k.add_offset_products(out.col(c).data(), xt.col(c).data(), node(c), inverse);
    }

    /// ∫ k(x, z; w) dx over the box lo ≤ x ≤ hi: a product over the coordinates, see gaussian_integral().
    double integral(const ConstVectorRef& lo, const ConstVectorRef& hi, const ConstVectorRef& node) const {
        double product = 1.0;
        for (Index c = 0; c < lo.size(); ++c)
            product *= detail::gaussian_integral({lo(c) - node(c), hi(c) - node(c)}, node(lo.size()));
        return product;
    }

    /// log k = ⟨φ(x), c(z; w)⟩ with φ = (x, ‖x‖², 1), c = (z/w², −1/2w², −‖z‖²/2w²): kernel values by the
    /// block are a product of matrices. features is m x (d + 2), c has d + 2 rows.
    Index features(Index dimension) const { return dimension + 2; }
    template <class Scalar = double>
    void features(const ConstMatrixRefOf<Scalar>& xt, MatrixRefOf<Scalar> features) const {
        const Index d = xt.cols();
        features.leftCols(d) = xt;
        features.col(d) = xt.rowwise().squaredNorm();
        features.col(d + 1).setOnes();
    }
    template <class Scalar = double>
    void log_coefficients(const ConstVectorRefOf<Scalar>& node, VectorRefOf<Scalar> c) const {
        const Index d = node.size() - 1;
        const double precision = 1.0 / (node(d) * node(d));
        c.head(d) = precision * node.head(d);
        c(d) = -0.5 * precision;
        c(d + 1) = -0.5 * precision * node.head(d).squaredNorm();
    }
    /// slopes = (∂c/∂(z, log w))' g.
    template <class Scalar = double>
    void log_slopes(const ConstVectorRefOf<Scalar>& node, const ConstVectorRefOf<Scalar>& g,
                    VectorRefOf<Scalar> slopes) const {
        const Index d = node.size() - 1;
        const double precision = 1.0 / (node(d) * node(d));
        slopes.head(d) = precision * (g.head(d) - g(d + 1) * node.head(d));
        slopes(d) =
            precision * (g(d) + g(d + 1) * node.head(d).squaredNorm() - 2.0 * g.head(d).dot(node.head(d)));
    }

    /// Distance past which k < 2^-53: what lies farther changes no sum that k(z, z) = 1 takes part in.
    double reach(const ConstVectorRef& node) const { return detail::gaussian_reach * node(node.size() - 1); }

    /// ⟨k_a, k_b⟩ / ‖k_a‖‖k_b‖ in L2(R^d): (2 w_a w_b / (w_a² + w_b²))^{d/2} exp(−‖z_a − z_b‖² / 2(w_a² +
    /// w_b²)).
    double coherence(const ConstVectorRef& a, const ConstVectorRef& b) const {
        const Index d = a.size() - 1;
        const double sum = a(d) * a(d) + b(d) * b(d);
        double power = 1.0, distance = 0.0;
        for (Index c = 0; c < d; ++c) {
            power *= 2.0 * a(d) * b(d) / sum;
            distance += (a(c) - b(c)) * (a(c) - b(c));
        }
        return std::sqrt(power) * std::exp(-0.5 * distance / sum);
    }
};

}  // namespace kernelet
