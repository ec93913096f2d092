#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/dual/sketched_metric.hpp>
#include <kernelet/losses/feasible_set.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// The proximal step of λ in the metric P = s(rest·I + V'V),
///     λ⁺ = argmax over λ of  min over ŷ ∈ C of ⟨λ, ŷ⟩ − ⟨f, λ⟩ − ½‖λ − λ_k‖²_P,
/// which is the step of Algorithm 1, line 5, with μ eliminated and P in place of 1/η_λ. In what follows V and rest include
/// s. The step depends on r numbers per output, β = V(λ − λ_k) (Becker and Fadili 2012): for given β
///     λ(β) = λ_k + (ŷ − f − βV)/rest,   ŷ = P_C(f + βV − rest·λ_k),
/// and the root of F(β) = β − (λ(β) − λ_k)V' is found by Newton's method; F is the gradient of a convex function, and its
/// slope I + V(I − J)V'/rest, J that of the projection, is positive definite. O(n r²) per Newton step.
template <class Loss>
class MetricStep {
public:
    /// Holds references.
    MetricStep(const FeasibleSet<Loss>& feasible, const SketchedMetric& metric, double s)
        : feasible_(feasible), metric_(metric), root_(std::sqrt(s)), rest_(s * metric.rest) {}

    struct Result {
        Matrix lambda{};  ///< λ⁺, q x n: in the domain of the support function even where it is not exact
        bool exact = false;
    };

    /// From λ_k and f, both q x n.
    Result operator()(const Matrix& lambda, const Matrix& prediction) const {
        constexpr int max_steps = 30;
        constexpr double accuracy = 1e-3, rounding = 1e-12;
        Point now = at(lambda, prediction, Matrix::Zero(lambda.rows(), metric_.factor.rows()));
        bool exact = false;
        for (int step = 0; step < max_steps; ++step) {
            // λ(β) is the exact step for f + FV instead of f.
            const double error = root_ * detail::norm(detail::product(now.gradient, metric_.factor));
            exact = error <= accuracy * detail::norm(Matrix(now.hat.point - prediction)) +
                                 rounding * detail::norm(prediction);
            if (exact) break;
            const Matrix direction = newton_direction(now);
            if (!advance(lambda, prediction, direction, now)) break;
        }
        return {feasible_.into_barrier_cone(std::move(now.lambda)), exact};
    }

private:
    struct Point {
        Matrix beta{};      ///< q x r
        Matrix lambda{};    ///< λ(β), q x n
        Projection hat{};   ///< ŷ and its Jacobian
        Matrix gradient{};  ///< F, q x r
        double value{};  ///< ½‖β‖² + ⟨λ_k, ŷ − f⟩ + rest/2 ‖λ(β) − λ_k‖², of which F is the gradient
    };

    Point at(const Matrix& lambda, const Matrix& prediction, Matrix beta) const {
        Matrix shifted = prediction;  // f + βV
        detail::add_product(shifted, beta, metric_.factor, root_);
        Matrix outside = shifted;
        detail::add_scaled(outside, -rest_, lambda);
        Point out;
        out.hat = feasible_.project(outside);
        Matrix change = out.hat.point;
        detail::add_scaled(change, -1.0, shifted);
        detail::scale(change, 1.0 / rest_);
        out.gradient = beta;
        detail::add_scaled(out.gradient, -root_, detail::product_nt(change, metric_.factor));
        out.lambda = lambda;
        detail::add_scaled(out.lambda, 1.0, change);
        out.value = 0.5 * detail::squared_norm(beta) + detail::dot(lambda, out.hat.point) -
                    detail::dot(lambda, prediction) + 0.5 * rest_ * detail::squared_norm(change);
        out.beta = std::move(beta);
        return out;
    }

    /// −(F')⁻¹F. With J = diag(D) − uu', F' is block diagonal over the outputs, I + V diag(1 − D_o)V'/rest, and the
    /// outer product of w = uV'/√rest, which Sherman and Morrison's formula adds.
    Matrix newton_direction(const Point& now) const {
        const Index q = now.beta.rows(), r = metric_.factor.rows();
        Matrix along = detail::product_nt(now.hat.direction, metric_.factor);  // w, q x r
        detail::scale(along, root_ / std::sqrt(rest_));
        Matrix solved(r, q), of_along(r, q);
        for (Index o = 0; o < q; ++o) {
            Matrix block = slope_of_output(now, o);
            detail::cholesky(block);
            Matrix right(r, 2);
            for (Index c = 0; c < r; ++c) {
                right(c, 0) = now.gradient(o, c);
                right(c, 1) = along(o, c);
            }
            detail::cholesky_solve(block, right);
            detail::copy(detail::ConstBlock(right).columns(0, 1), detail::Block(solved).columns(o, 1));
            detail::copy(detail::ConstBlock(right).columns(1, 1), detail::Block(of_along).columns(o, 1));
        }
        Matrix direction = detail::transposed(solved);
        const Matrix outer = detail::transposed(of_along);
        const double share = detail::dot(along, direction) / (1.0 + detail::dot(along, outer));
        detail::add_scaled(direction, -share, outer);
        detail::scale(direction, -1.0);
        return direction;
    }

    /// I + V diag(1 − D_o)V'/rest, its lower triangle; from VV' where D_o is the same for all samples.
    Matrix slope_of_output(const Point& now, Index o) const {
        const Index n = metric_.factor.cols();
        double least = now.hat.diagonal(o, 0), most = least;
        for (Index i = 1; i < n; ++i) {
            least = std::min(least, now.hat.diagonal(o, i));
            most = std::max(most, now.hat.diagonal(o, i));
        }
        const double scale = root_ * root_ / rest_;
        Matrix block;
        if (least == most) {
            block = metric_.gram;
            detail::scale(block, scale * std::max(0.0, 1.0 - most));
        } else {
            Vector root(n);
            for (Index i = 0; i < n; ++i)
                root(i) = std::sqrt(scale * std::max(0.0, 1.0 - now.hat.diagonal(o, i)));
            block = Matrix::Zero(metric_.factor.rows(), metric_.factor.rows());
            detail::rank_update(block, detail::with_scaled_columns(metric_.factor, root.data()));
        }
        detail::add_to_diagonal(block, 1.0);
        return block;
    }

    /// The longest of 1, ½, ¼ ... of a step that lowers the convex function enough. False where there is none.
    bool advance(const Matrix& lambda, const Matrix& prediction, const Matrix& direction, Point& now) const {
        constexpr double armijo = 1e-4, shortest = 1e-6, rounding = 1e-14;
        const double slope = detail::dot(now.gradient, direction);
        if (!(slope < 0.0)) return false;
        for (double length = 1.0; length > shortest; length *= 0.5) {
            Matrix beta = now.beta;
            detail::add_scaled(beta, length, direction);
            Point next = at(lambda, prediction, std::move(beta));
            if (!(next.value <= now.value + armijo * length * slope + rounding * std::abs(now.value)))
                continue;
            now = std::move(next);
            return true;
        }
        return false;
    }

    const FeasibleSet<Loss>& feasible_;
    const SketchedMetric& metric_;
    double root_;  // √s
    double rest_;  // s rest
};

}  // namespace kernelet
