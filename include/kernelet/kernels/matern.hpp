#pragma once

#include <kernelet/detail/exponent.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/types.hpp>

#include <numbers>
#include <string_view>

namespace kernelet {

namespace detail {

/// k(x, z; w) = P(s) e^−s with s = c ‖x − z‖ / w: the Matérn families of half-integer smoothness.
/// A profile has
///     rate                     c
///     reach                    s past which k < 2^-53
///     polynomial(s)            P
///     steepness(s)             T = −(log k)'(s) / s, finite also at s = 0
/// both on arrays.
template <class Profile>
class HalfIntegerMatern {
public:
    Index parameters(Index /*dimension*/) const { return 1; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::isotropic_scale; }

    /// values_i = k(x_i, z; w). xt is m x d (a tile, one coordinate per column), node = (z; w). O(m d).
    template <class Scalar = double>
    void values(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                VectorRefOf<Scalar> values) const {
        distances(xt, node, values);
        values = Profile::polynomial(values.array()) * (-values.array()).exp();
    }

    /// Columns: k, ∂k/∂z = k T(s) (x − z) c²/w², ∂k/∂log w = k T(s) s². jet is m x (1 + d + 1). O(m d).
    template <class Scalar = double>
    void jet(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
             MatrixRefOf<Scalar> jet) const {
        const Index d = xt.cols();
        const double inverse = Profile::rate / node(d);
        distances(xt, node, jet.col(1 + d));
        const auto s = jet.col(1 + d).array();
        jet.col(0) = Profile::polynomial(s) * (-s).exp();
        for (Index c = 0; c < d; ++c) {
            const auto ratio = (xt.col(c).array() - node(c)) * inverse;
            jet.col(1 + c) = jet.col(0).array() * (Profile::steepness(s) * ratio) * inverse;
        }
        jet.col(1 + d) = jet.col(0).array() * Profile::steepness(s) * s.square();
    }

    /// out += a ∂k/∂x = −a k T(s) (x − z) c²/w². xt and out are m x d, m ≤ detail::strip_rows. O(m d).
    template <class Scalar = double>
    void add_gradient(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node, double a,
                      MatrixRefOf<Scalar> out) const {
        const Index d = xt.cols();
        const double inverse = Profile::rate / node(d);
        detail::StripBuffer k(xt.rows());
        VectorRefOf<Scalar> s = k.ref();
        distances(xt, node, s);
        s.array() = Profile::polynomial(s.array()) * Profile::steepness(s.array()) * (-s.array()).exp();
        k.scale(a * inverse);
        for (Index c = 0; c < d; ++c)
            k.add_offset_products(out.col(c).data(), xt.col(c).data(), node(c), inverse);
    }

    /// Distance past which k < 2^-53: what lies farther changes no sum that k(z, z) = 1 takes part in.
    double reach(const ConstVectorRef& node) const {
        return Profile::reach / Profile::rate * node(node.size() - 1);
    }

private:
    /// s_i = c ‖x_i − z‖ / w, cut where e^−s becomes denormal: P(s) e^−s of an infinite s would not be a
    /// number.
    template <class Scalar = double>
    static void distances(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                          VectorRefOf<Scalar> s) {
        const Index d = xt.cols();
        const double inverse = Profile::rate / node(d);  // before squaring: w² underflows where w does not
        s = ((xt.col(0).array() - node(0)) * inverse).square();
        for (Index c = 1; c < d; ++c) s.array() += ((xt.col(c).array() - node(c)) * inverse).square();
        s = s.array().sqrt().min(-smallest_exponent);
    }
};

/// P = 1 + s, P e^−s = k, k' = −s e^−s.
struct Matern32Profile {
    static constexpr double rate = std::numbers::sqrt3;
    static constexpr double reach = 40.5;  // 41.5 e^−40.5 = 1.07e-16 < 2^-53
    static auto polynomial(const auto& s) { return 1.0 + s; }
    static auto steepness(const auto& s) { return (1.0 + s).inverse(); }
};

/// P = 1 + s + s²/3, P e^−s = k, k' = −s (1 + s)/3 e^−s.
struct Matern52Profile {
    static constexpr double rate = 2.23606797749978969641;  // √5
    static constexpr double reach = 43.3;  // (1 + 43.3 + 43.3²/3) e^−43.3 = 1.05e-16 < 2^-53
    static auto polynomial(const auto& s) { return 1.0 + s * (1.0 + s / 3.0); }
    static auto steepness(const auto& s) { return (1.0 + s) / (3.0 + s * (3.0 + s)); }
};

}  // namespace detail

/// k(x, z; w) = (1 + s) e^−s with s = √3 ‖x − z‖ / w: once differentiable, one width.
class Matern32 : public detail::HalfIntegerMatern<detail::Matern32Profile> {
public:
    static constexpr std::string_view name = "matern32";
};

/// k(x, z; w) = (1 + s + s²/3) e^−s with s = √5 ‖x − z‖ / w: twice differentiable, one width.
class Matern52 : public detail::HalfIntegerMatern<detail::Matern52Profile> {
public:
    static constexpr std::string_view name = "matern52";
};

}  // namespace kernelet
