#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

namespace kernelet {

/// k(x, z; n) = (1 + ⟨x, z⟩)^n: the parameter is the order n, a whole number (read as the nearest one). It is
/// neither a function of x − z nor does it decay: there is no width and no reach.
class Polynomial {
public:
    static constexpr std::string_view name = "polynomial";
    static constexpr Index highest_order =
        20;  // 6^20 = 4e15: one kernel already spans the digits of a double

    /// Orders to choose from: 1 ... max_order. Values do not depend on it.
    explicit Polynomial(Index max_order = 5) : max_order_(max_order) {
        detail::require_at_least(max_order, 1, "Polynomial: max_order");
        detail::require(max_order <= highest_order, "Polynomial: max_order = ", max_order,
                        " must be <= ", highest_order);
    }

    Index parameters(Index /*dimension*/) const { return 1; }
    ParameterKind parameter_kind(Index /*row*/) const { return ParameterKind::shape; }

    /// What the one row of kind `shape` may be: finitely many numbers, with nothing between them.
    std::vector<double> shapes() const {
        std::vector<double> orders(static_cast<std::size_t>(max_order_));
        std::iota(orders.begin(), orders.end(), 1.0);
        return orders;
    }

    /// What a file keeps.
    std::vector<double> save() const { return {static_cast<double>(max_order_)}; }
    static Polynomial load(const std::vector<double>& numbers) {
        detail::require(numbers.size() == 1 && numbers[0] >= 1.0 && numbers[0] <= highest_order &&
                            numbers[0] == std::floor(numbers[0]),
                        "Polynomial: max_order must be a whole number from 1 to ", highest_order);
        return Polynomial(static_cast<Index>(numbers[0]));
    }

    /// values_i = k(x_i, z; n). xt is m x d (a tile, one coordinate per column), node = (z; n). O(m (d + n)).
    template <class Scalar = double>
    void values(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                VectorRefOf<Scalar> values) const {
        bases(xt, node, values);
        const int n = order(node);
        values = values.unaryExpr([n](double base) { return power(base, n); });
    }

    /// Columns: k, ∂k/∂z = n (1 + ⟨x, z⟩)^{n−1} x, and zero for the order. jet is m x (1 + d + 1).
    /// O(m (d + n)).
    template <class Scalar = double>
    void jet(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
             MatrixRefOf<Scalar> jet) const {
        const Index d = xt.cols();
        const int n = order(node);
        bases(xt, node, jet.col(0));
        jet.col(1 + d) = jet.col(0).unaryExpr([n](double base) { return power(base, n - 1); });
        for (Index c = 0; c < d; ++c) jet.col(1 + c) = n * jet.col(1 + d).cwiseProduct(xt.col(c));
        jet.col(0).array() *= jet.col(1 + d).array();
        jet.col(1 + d).setZero();
    }

    /// out += a ∂k/∂x = a n (1 + ⟨x, z⟩)^{n−1} z. xt and out are m x d, m ≤ detail::strip_rows. O(m (d + n)).
    template <class Scalar = double>
    void add_gradient(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node, double a,
                      MatrixRefOf<Scalar> out) const {
        const int n = order(node);
        detail::StripBuffer buffer(xt.rows());
        VectorRefOf<Scalar> powers = buffer.ref();
        bases(xt, node, powers);
        powers = powers.unaryExpr([n](double base) { return power(base, n - 1); });
        for (Index c = 0; c < xt.cols(); ++c) out.col(c) += (a * n * node(c)) * powers;
    }

private:
    /// 1 + ⟨x_i, z⟩.
    template <class Scalar = double>
    static void bases(const ConstMatrixRefOf<Scalar>& xt, const ConstVectorRefOf<Scalar>& node,
                      VectorRefOf<Scalar> bases) {
        bases.setOnes();
        for (Index c = 0; c < xt.cols(); ++c) bases += xt.col(c) * node(c);
    }

    static int order(const ConstVectorRef& node) {
        return static_cast<int>(
            std::clamp(std::round(node(node.size() - 1)), 1.0, static_cast<double>(highest_order)));
    }

    static double power(double base, int n) {
        double product = 1.0;
        for (int i = 0; i < n; ++i) product *= base;
        return product;
    }

    Index max_order_;
};

}  // namespace kernelet
