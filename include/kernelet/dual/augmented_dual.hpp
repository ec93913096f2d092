#pragma once

#include <kernelet/detail/trend_basis.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/dual_trend.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/dual/node_values.hpp>
#include <kernelet/dual/solver_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

/// The ridge of a Newton system, relative to its mean diagonal: K = ∫kk is numerically singular. Raised where
/// steps fail, lowered where whole steps succeed.
class NewtonDamping {
public:
    /// To be added to the diagonal.
    double ridge(double mean_diagonal) const {
        return value_ * mean_diagonal + std::numeric_limits<double>::min();
    }
    /// After a step of this length, 0 where there was none.
    void learn(double length) {
        if (length == 1.0) value_ = std::max(0.1 * value_, least);
        if (length < 0.2) value_ = std::min((length > 0.0 ? 10.0 : 100.0) * value_, most);
    }

private:
    static constexpr double least = 1e-12;
    static constexpr double most = 1e-2;
    double value_ = 1e-8;
};

/// The dual on nodes fixed once, smoothed by proximal terms: what the second-order solvers have in common.
///
/// Each outer step maximises over λ
///     min_{ŷ ∈ C} ⟨λ, ŷ⟩ + (σ/2)‖ŷ − ŷ_k‖²  −  Σ_j ρ_j max_a { ⟨a, ᾱ_j⟩ − φ**(a) − (δ/2)‖a − a_kj‖² },
/// which is smooth: both inner optima are proximal maps, ŷ = P_C(ŷ_k − λ/σ) and a = prox(ᾱ + δ a_k), the
/// gradient is ŷ − f and the Hessian −J/σ − K diag(ρ h) Kᵀ, to which only the nodes that are on contribute.
/// At the maximum f = ŷ ∈ C: the a found is a feasible α, fractional at the kink nodes as it must be, and P −
/// D is the true gap of the problem without the proximal terms. Outer steps (moving a_k and ŷ_k to where the
/// last one ended) converge for any δ and σ: this is the augmented Lagrangian of the constraint ŷ = Σ_j ρ_j
/// a_j k_j. Shrinking δ makes them converge faster. A trend is some more a, see ProximalTrend; D is then taken
/// at the balanced λ.
template <class Kernel, class Loss, class Domain>
class AugmentedDual {
public:
    using Problem = DualProblem<Kernel, Loss, Domain>;

    /// The smoothed dual at λ.
    struct Point {
        double value{};       // to be minimised: the negative of the outer step's objective
        Matrix a{};           // prox(ᾱ + δ a_k), q x nodes
        Matrix trend{};       // b, q x t
        Matrix prediction{};  // Σ_j ρ_j a_j k_j + bT, q x n
        Projection target{};  // ŷ and its Jacobian
        Matrix residual{};    // f − ŷ: the gradient
    };

    AugmentedDual(const AugmentedDual&) = delete;  // holds references to its own nodes
    AugmentedDual& operator=(const AugmentedDual&) = delete;

    AugmentedDual(const Problem& problem, const StoppingOptions& stopping)
        : problem_(problem),
          stopping_(stopping),
          q_(problem.nodes(stopping.max_nodes)),
          kernel_values_(problem, q_.nodes),
          tau_(penalty::threshold(problem.gamma)),
          trend_{detail::TrendBasis(problem.trend, problem.points).values(problem.points), {}},
          scale_(size_about_trend(problem.feasible.target(), trend_)) {
        start();
    }

    /// Runs improve(now) (one step on λ; false where it can no longer lower the value) until the gap is closed. Where
    /// the fit is interrupted, returns the last point recorded; its λ is empty where there is none yet.
    template <class Improve>
    DualSolution solve(Index max_iterations, const ObserverFunction& observer, const Improve& improve) {
        DualSolution best;
        best.quadrature = q_;
        try {
            Point now = evaluate();
            for (Index iteration = 0;; ++iteration) {
                record(best, now, iteration);
                if (best.status != Status::iteration_limit || iteration >= max_iterations) return best;
                if (observer && observer(progress(best, iteration, max_iterations)) == Verdict::stop) break;
                const bool solved = detail::root_mean_square(now.residual) <= inner_accuracy_ * scale_;
                if (solved || !improve(now))
                    advance_anchors(now);
                else if (step_is_stale())
                    choose_step();
                now = evaluate();
            }
        } catch (const Interrupted&) {
            // falls through with the point recorded last
        }
        best.status = Status::stopped;
        return best;
    }

    const Problem& problem() const { return problem_; }
    const Quadrature& quadrature() const { return q_; }
    const NodeValues<Problem>& kernel_values() const { return kernel_values_; }
    /// 1/σ
    double step() const { return step_; }

    /// Length of b = ᾱ + δ a_k at node j.
    double shifted_length(Index j) const { return shifted_length(field_, j); }
    /// b = ᾱ + δ a_k at node j.
    Vector shifted(Index j) const {
        Vector b(field_.rows());
        for (Index o = 0; o < b.size(); ++o) b(o) = field_(o, j) + delta_ * anchor_(o, j);
        return b;
    }
    /// The proximal map's slope along b, h, and across it, |a|/|b|, at a node that is on.
    double slope(double length) const { return penalty::proximal_slope(length, tau_, delta_); }
    double slope_across(double length) const {
        return length > 0.0 ? penalty::proximal_length(length, tau_, delta_) / length : slope(length);
    }

    /// The nodes that are on. All of them where there is no threshold: which lengths underflow to zero would
    /// depend on the unit of y, and the order of sums, so their last bits, on that.
    std::vector<Index> on() const {
        std::vector<Index> indices;
        for (Index j = 0; j < field_.cols(); ++j)
            if (tau_ == 0.0 || shifted_length(j) > tau_) indices.push_back(j);
        return indices;
    }

    /// ŷ at λ, and its Jacobian.
    const Projection& target() const { return target_; }

    /// T, and c of the term c T'T that a trend adds to the Hessian, output by output: 1/δ, 0 without one.
    const Matrix& trend_functions() const { return trend_.functions; }
    double trend_curvature() const { return trend_.exists() ? 1.0 / delta_ : 0.0; }

    /// Armijo search along Δλ, of which ᾱ's change is given: λ and ᾱ move to the first point that lowers the
    /// value enough. Returns the length of the step, 0 where there is none. O(q (n + B)) a trial, no kernel
    /// value.
    double search(const Matrix& direction, const Matrix& field_direction, double slope) {
        constexpr double armijo = 1e-4;
        constexpr double shortest = 1e-8;
        const double value = value_at(lambda_, field_, target_.point);
        for (double length = 1.0; slope < 0.0 && length > shortest; length *= 0.5) {
            Matrix lambda = lambda_, field = field_;
            detail::add_scaled(lambda, length, direction);
            detail::add_scaled(field, length, field_direction);
            Projection target = target_at(lambda);
            if (value_at(lambda, field, target.point) > value + armijo * length * slope) continue;
            lambda_ = std::move(lambda);
            field_ = std::move(field);
            target_ = std::move(target);
            return length;
        }
        return 0.0;
    }

private:
    // Chosen on the chirp at n = 201, both scopes, sparsity 0 to 2, where delta_shrink was tried from 0.5 to
    // 0.85 and step_in_tolerances at 1 and 10.
    static constexpr double first_delta = 0.3;
    static constexpr double last_delta = 1e-4;
    static constexpr double delta_shrink = 0.7;
    static constexpr double first_accuracy = 0.05;  // of an outer step, relative to the size of y
    static constexpr double last_accuracy = 1e-7;
    static constexpr double accuracy_shrink = 0.5;
    static constexpr double step_in_tolerances = 10.0;  // ‖λ‖/σ relative to the size of C

    static Progress progress(const DualSolution& best, Index iteration, Index max_iterations) {
        Progress out;
        out.stage = "dual";
        out.iteration = iteration;
        out.iterations = max_iterations;
        out.dual_value = best.dual_value;
        out.gap = best.relative_gap();
        return out;
    }

    void start() {
        const Index outputs = problem_.outputs();
        const Index n = problem_.samples();
        const Matrix& y = problem_.feasible.target();
        lambda_ = problem_.warm_start ? *problem_.warm_start : y;
        lambda_ = trend_.without(std::move(lambda_));
        field_ = kernel_values_.field(lambda_);
        scale_along_ray();
        anchor_ = problem_.warm_start ? thresholded(field_, tau_) : Matrix::Zero(outputs, q_.nodes.cols());
        Matrix first = Matrix::Zero(outputs, n);
        if (trend_.exists()) {
            if (problem_.warm_start) first = kernel_values_.values(weighted(anchor_, q_.weights));
            trend_.anchor = trend_.of(y - first);
            detail::add_product(first, trend_.anchor, trend_.functions);
        }
        anchor_prediction_ = problem_.feasible.project(first).point;
        choose_step();
    }

    void scale_along_ray() {
        const double best = best_multiple(problem_.feasible.minimum(lambda_), field_, q_.weights, tau_);
        if (!(best > 0.0) && problem_.warm_start) return;  // it may be right up to rounding
        detail::scale(lambda_, best);
        detail::scale(field_, best);
    }

    /// 1/σ such that ŷ_k − λ/σ lies some radii of C outside of it: the proximal term then smooths the
    /// corners of C without holding ŷ back. A set that is a point (tolerance 0) needs none. Where C is
    /// unbounded a trend carries ŷ far into it, the farther if no sample may stay behind: there the
    /// radius is that of y, or of `far` y (hinge and logistic, 7 of 61 labels +1, a gap of 1e-3: 14 to 137
    /// steps; in tolerances 83 to over 300).
    void choose_step() {
        double tolerance = 0.0;
        for (Index i = 0; i < problem_.samples(); ++i) tolerance += problem_.feasible.tolerance(i);
        tolerance /= static_cast<double>(problem_.samples());
        const double size = detail::root_mean_square(lambda_);
        double radius = tolerance > 0.0 ? tolerance : scale_;
        constexpr double far = 10.0;
        if (trend_.exists() && detail::is_classification(problem_.feasible.loss()))
            radius = (problem_.feasible.scope() == Scope::per_sample ? far : 1.0) * scale_;
        step_ = size > 0.0 ? step_in_tolerances * radius / size : 1.0;
        step_chosen_at_ = size;
        target_ = target_at(lambda_);
    }

    /// Whether λ has outgrown the 1/σ chosen for it. With one tolerance for all labels λ grows fortyfold from where it
    /// begins, and far too large a 1/σ leaves the corners of C sharp and Newton steps short: with the hinge loss 300
    /// of them, and 40 with a 1/σ that follows. Elsewhere steps are whole and 1/σ may wait for the next outer step.
    bool step_is_stale() const {
        return detail::is_classification(problem_.feasible.loss()) &&
               problem_.feasible.scope() == Scope::aggregate &&
               detail::root_mean_square(lambda_) > 2.0 * step_chosen_at_;
    }

    /// Length of b = ᾱ + δ a_k at node j.
    double shifted_length(const Matrix& field, Index j) const {
        double squares = 0.0;
        for (Index o = 0; o < field.rows(); ++o) {
            const double b = field(o, j) + delta_ * anchor_(o, j);
            squares += b * b;
        }
        return std::sqrt(squares);
    }

    Projection target_at(const Matrix& lambda) const {
        Matrix point = anchor_prediction_;
        detail::add_scaled(point, -step_, lambda);
        return problem_.feasible.project(point);
    }

    /// The value without the prediction: what a line search needs. O(q (n + B)).
    double value_at(const Matrix& lambda, const Matrix& field, const Matrix& target) const {
        double value = -detail::dot(lambda, target) -
                       0.5 / step_ * detail::squared_norm(Matrix(target - anchor_prediction_));
        value += trend_.value(lambda, delta_);
        for (Index j = 0; j < field.cols(); ++j) {
            const double length = shifted_length(field, j);
            const double size = penalty::proximal_length(length, tau_, delta_);
            // ⟨a, ᾱ⟩ − (δ/2)‖a − a_k‖² = ⟨a, b⟩ − (δ/2)(‖a‖² + ‖a_k‖²), a along b
            value += q_.weights(j) * (size * length - penalty::envelope(size, tau_) -
                                      0.5 * delta_ * (size * size + detail::column_squares(anchor_, j)));
        }
        return value;
    }

    Point evaluate() const {
        Point point;
        point.target = target_;
        point.value = value_at(lambda_, field_, point.target.point);
        point.a = field_;
        detail::add_scaled(point.a, delta_, anchor_);
        for (Index j = 0; j < point.a.cols(); ++j) {
            const double length = detail::column_norm(point.a, j);
            const double factor =
                length > 0.0 ? penalty::proximal_length(length, tau_, delta_) / length : 1.0;
            for (Index o = 0; o < point.a.rows(); ++o) point.a(o, j) *= factor;
        }
        point.prediction = kernel_values_.values(weighted(point.a, q_.weights));
        if (trend_.exists()) {
            point.trend = trend_.at(lambda_, delta_);
            detail::add_product(point.prediction, point.trend, trend_.functions);
        }
        point.residual = point.prediction - point.target.point;
        return point;
    }

    void record(DualSolution& best, const Point& now, Index iteration) const {
        best.iterations = iteration;
        best.lambda = lambda_;
        double minimum = problem_.feasible.minimum(lambda_);
        // Where C is unbounded, λ may point out of its barrier cone, and D is −∞. λ + σ(ŷ − ŷ_k), which tends
        // to λ as the anchors settle, is normal to C at ŷ and thus never does.
        const bool outside = !std::isfinite(minimum);
        if (outside) {
            Matrix normal = lambda_;
            detail::add_scaled(normal, 1.0 / step_, Matrix(now.target.point - anchor_prediction_));
            best.lambda = problem_.feasible.into_barrier_cone(std::move(normal));
        }
        if (trend_.exists()) best.lambda = balanced(std::move(best.lambda), trend_.functions);
        const bool other = outside || trend_.exists();
        if (other) minimum = problem_.feasible.minimum(best.lambda);
        const Matrix moved = other ? kernel_values_.field(best.lambda) : Matrix{};
        const Matrix& field = other ? moved : field_;
        best.dual_value = minimum - phi(field, q_.weights, tau_);
        best.alpha = now.a;
        best.trend = now.trend;
        best.primal_value = primal_cost(now.a, q_.weights, tau_);
        best.violation = problem_.feasible.violation(now.prediction);
        const bool solved = std::abs(best.relative_gap()) <= problem_.slack * stopping_.gap &&
                            best.violation <= problem_.slack * stopping_.violation * scale_;
        best.status = solved ? Status::converged : Status::iteration_limit;
        if (!solved &&
            InfeasibilityTest{stopping_.most_amplification}.proves(problem_, best.lambda, field, q_.weights))
            best.status = Status::infeasible;
    }

    void advance_anchors(const Point& now) {
        anchor_ = now.a;
        trend_.anchor = now.trend;
        anchor_prediction_ = now.target.point;
        inner_accuracy_ = std::max(accuracy_shrink * inner_accuracy_, last_accuracy);
        delta_ = std::max(delta_shrink * delta_, last_delta);
        choose_step();
    }

    const Problem& problem_;
    const StoppingOptions& stopping_;
    Quadrature q_;
    NodeValues<Problem> kernel_values_;
    double tau_;
    ProximalTrend trend_;
    double scale_;                 // of y
    double step_ = 1.0;            // 1/σ
    double step_chosen_at_ = 0.0;  // ‖λ‖/√(qn)
    double delta_ = first_delta;
    double inner_accuracy_ = first_accuracy;
    Matrix lambda_, field_;              // λ and ᾱ at the nodes
    Projection target_;                  // ŷ at λ
    Matrix anchor_, anchor_prediction_;  // a_k and ŷ_k
};

}  // namespace kernelet
