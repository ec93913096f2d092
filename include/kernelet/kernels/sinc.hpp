#pragma once

#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <numbers>
#include <string_view>

namespace kernelet {

/// k(x, z; w) = Π_c sin(πu_c)/(πu_c) with u = (x − z)/w: one width, the sampling interval of the band
/// |frequency| ≤ 1/2w. Falls as slowly as 1/u and changes its sign: there is no reach.
class Sinc {
public:
    static constexpr std::string_view name = "sinc";

    Index parameters(Index /*dimension*/) const { return 1; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::isotropic_scale; }

    /// values_i = k(x_i, z; w). xt is m x d (a tile, one coordinate per column), node = (z; w). O(m d).
    template <class Scalar = double>
    void values(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                VectorRefOf<Scalar> values) const {
        const Index d = xt.cols();
        const double rate = std::numbers::pi / node(d);
        values.setOnes();
        for (Index c = 0; c < d; ++c)
            values.array() *= ((xt.col(c).array() - node(c)) * rate).unaryExpr(&Sinc::sinc);
    }

    /// Columns: k, ∂k/∂z_c = −(π/w) s'(t_c) Π_{j≠c} s(t_j), ∂k/∂log w = −Σ_c t_c s'(t_c) Π_{j≠c} s(t_j),
    /// with s(t) = sin t / t and t = πu. The products come from both ends, since s(t_c) may be zero and not
    /// divided by. jet is m x (1 + d + 1). O(m d).
    template <class Scalar = double>
    void jet(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
             MatrixRefOf<Scalar> jet) const {
        const Index d = xt.cols();
        const double rate = std::numbers::pi / node(d);
        const auto t = [&](Index c) { return (xt.col(c).array() - node(c)) * rate; };
        // Π_{j>c} s(t_j)
        jet.col(d).setOnes();
        for (Index c = d - 1; c > 0; --c) jet.col(c) = jet.col(1 + c).array() * t(c).unaryExpr(&Sinc::sinc);
        // Π_{j<c} s(t_j) grows in the column of k.
        jet.col(0).setOnes();
        jet.col(1 + d).setZero();
        for (Index c = 0; c < d; ++c) {
            jet.col(1 + c).array() *= jet.col(0).array() * t(c).unaryExpr(&Sinc::fall);
            jet.col(1 + d).array() += t(c) * jet.col(1 + c).array();
            jet.col(1 + c) *= rate;
            jet.col(0).array() *= t(c).unaryExpr(&Sinc::sinc);
        }
    }

    /// out += a ∂k/∂x, ∂k/∂x_c = (π/w) s'(t_c) Π_{j≠c} s(t_j). xt and out are m x d. O(m d²).
    template <class Scalar = double>
    void add_gradient(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node, double a,
                      MatrixRefOf<Scalar> out) const {
        const Index d = xt.cols();
        const double rate = std::numbers::pi / node(d);
        detail::PointBuffer buffer(2 * d);
        double *s = buffer.data(), *slope = s + d;
        for (Index i = 0; i < xt.rows(); ++i) {
            for (Index c = 0; c < d; ++c) {
                const double t = (xt(i, c) - node(c)) * rate, sine = std::sin(t);
                s[c] = t == 0.0 ? 1.0 : sine / t;
                slope[c] = -rate * a * fall_from_sine(t, sine);
            }
            for (Index c = 0; c < d; ++c) {
                double product = slope[c];
                for (Index j = 0; j < d; ++j) product *= j == c ? 1.0 : s[j];
                out(i, c) += product;
            }
        }
    }

private:
    /// s(t) = sin t / t.
    static double sinc(double t) { return t == 0.0 ? 1.0 : std::sin(t) / t; }

    /// −s'(t) = (sin t / t − cos t) / t, and where that difference cancels its series,
    /// Σ_n (−1)^{n+1} 2n t^{2n−1} / (2n + 1)!.
    static double fall(double t) { return fall_from_sine(t, std::sin(t)); }
    static double fall_from_sine(double t, double sine) {
        if (std::abs(t) > series_below) return (sine / t - std::cos(t)) / t;
        double term = t / 3.0, sum = term;
        for (int n = 2; n <= series_terms; ++n) {
            term *= -t * t / ((2 * n - 2) * (2 * n + 1));
            sum += term;
        }
        return sum;
    }

    static constexpr double series_below = 0.5;  // there sin t / t − cos t = 0.08: four bits are lost
    static constexpr int series_terms = 8;       // the ninth is 7e-21 of the first at t = 1/2
};

}  // namespace kernelet
