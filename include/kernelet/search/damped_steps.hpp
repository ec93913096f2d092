#pragma once

#include <kernelet/search/coefficient_elimination.hpp>
#include <kernelet/search/node_steps.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

/// J'J + prior and J'r − slope of the prior, mf, of the m kernels that move.
struct NormalEquations {
    Matrix system{};
    Vector right{};
};

/// J'J + prior + damping·diag, without the coordinates that press against the boundary, as its Cholesky factor.
struct DampedSystem {
    Matrix factor{};
    Vector right{};
};

/// A step of the kernels that move.
struct StepDirection {
    Vector step{};
    double gain{};  ///< decrease of the cost in the quadratic model, at least
};

/// The steps of Levenberg and Marquardt's method on the nodes, the coefficients eliminated: Kaufman's Jacobian gives
/// J'J = M ∘ (a a'), M the `reduced` matrix of QuadraticModel. Holds references.
template <class Scalar = double>
class DampedSteps {
public:
    DampedSteps(const AnyDomain& domain, const NodeSteps& steps, const WidthPrior& prior)
        : domain_(domain), steps_(steps), prior_(prior) {}

    /// From M and the gradient `pull` = −½ ∂cost/∂(z/w, log θ) of all kernels, to which the prior is added.
    NormalEquations equations(const KernelExpansion& fit, const QuadraticModel& quadratic,
                              const Vector& pull) const {
        const std::vector<Index>& moving = quadratic.kernels.moving;
        const Index count = quadratic.kernels.moving_size(), f = steps_.size(), size = count * f;
        const Matrix a = detail::transposed<Scalar>(detail::rows_of<Scalar>(fit.coefficients, moving));
        const Matrix outer = detail::product_tn<Scalar>(a, a);
        NormalEquations out{Matrix(size, size), Vector(size)};
        for (Index m = 0; m < count; ++m) {
            const Index j = moving[static_cast<std::size_t>(m)];
            for (Index c = 0; c < f; ++c) {
                const Index column = m * f + c, row = steps_.rows()[static_cast<std::size_t>(c)];
                for (Index i = 0; i < count; ++i) {
                    const double* from = quadratic.reduced.data() + column * size + i * f;
                    double* to = out.system.data() + column * size + i * f;
                    for (Index r = 0; r < f; ++r) to[r] = from[r] * outer(i, m);
                }
                out.right(column) = pull(j * f + c);
                if (!steps_.is_width(row)) continue;
                out.right(column) -=
                    prior_.strength * prior_.excess(row - domain_.dimension(), fit.nodes(row, j));
                out.system(column, column) += prior_.strength;
            }
        }
        return out;
    }

    /// `nodes` are those of the kernels that move.
    DampedSystem damped(const NormalEquations& equations, const Matrix& nodes, double damping) const {
        const std::vector<char> blocked = pressing(nodes, equations.right);
        const Index size = equations.right.size();
        double largest = 0.0;
        for (Index i = 0; i < size; ++i) largest = std::max(largest, std::abs(equations.system(i, i)));
        const double floor = 1e-12 * largest + std::numeric_limits<double>::min();
        // Damping is relative to the diagonal; it grows where rounding has left J'J indefinite.
        constexpr double least_damping = 1e-12, most_damping = 1e24;
        for (;; damping = std::max(10.0 * damping, least_damping)) {
            DampedSystem out{equations.system, equations.right};
            for (Index i = 0; i < size; ++i) {
                if (blocked[static_cast<std::size_t>(i)] != 0) {
                    for (Index other = 0; other < size; ++other)
                        out.factor(i, other) = out.factor(other, i) = 0.0;
                    out.factor(i, i) = largest + floor;  // any positive number of the right unit
                    out.right(i) = 0.0;
                } else {
                    out.factor(i, i) += damping * std::max(out.factor(i, i), floor) + floor;
                }
            }
            if (detail::cholesky<Scalar>(out.factor)) return out;
            detail::require(damping < most_damping,
                            "the kernel returned slopes that are not finite, or not representable together");
        }
    }

    /// (J'J + prior + damping·diag) δ = J'r − slope of the prior; at most one width per coordinate.
    StepDirection direction(const NormalEquations& equations, const Matrix& nodes, double damping) const {
        const DampedSystem system = damped(equations, nodes, damping);
        Vector step = system.right;
        detail::cholesky_solve<Scalar>(system.factor, step);
        const double gain = detail::dot<Scalar>(step, system.right);
        for (Index i = 0; i < step.size(); ++i) step(i) = std::clamp(step(i), -1.0, 1.0);
        return {std::move(step), gain};
    }

    /// The damping after a step that was accepted, by the ratio of its decrease of the cost to the one predicted.
    static double next_damping(double damping, double ratio, const LevenbergMarquardtOptions& options) {
        constexpr double min_damping = 1e-9, good = 0.7, poor = 0.3, cautious = 2.0;
        if (ratio > good) return std::max(min_damping, options.damping_decrease * damping);
        return ratio > poor ? damping : cautious * damping;
    }

private:
    /// The coordinates that a step along `right` would not move: they press against the boundary of the domain.
    std::vector<char> pressing(const Matrix& nodes, const Vector& right) const {
        constexpr double probe = 1e-3;
        Vector step(right.size());
        for (Index i = 0; i < right.size(); ++i)
            step(i) = right(i) > 0.0 ? probe : right(i) < 0.0 ? -probe : 0.0;
        const Matrix moved = steps_.move(nodes, step);
        std::vector<char> blocked;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : steps_.rows()) blocked.push_back(moved(row, j) == nodes(row, j) ? 1 : 0);
        return blocked;
    }

    const AnyDomain& domain_;
    const NodeSteps& steps_;
    const WidthPrior& prior_;
};

}  // namespace kernelet
