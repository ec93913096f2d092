#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_function.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

struct AugmentedNewtonOptions {
    /// Relative gap at which the dual counts as solved.
    double gap = 1e-3;
    /// Violation of the recovered α, relative to the root mean square of y, up to which its cost counts.
    double violation = 1e-4;
    /// Most Newton steps in all. 15 to 100 are seen.
    Index max_iterations = 300;
    /// Most nodes of the quadrature; drawn in this number where the domain has no rule.
    Index max_nodes = 8192;
    /// Up to this many samples (and one output) the Newton system is a dense n x n matrix, factored: 18 MB at
    /// 1500. Above it, conjugate gradients on tiles.
    Index dense_samples = 1500;
    /// Most conjugate gradient steps for one Newton step.
    Index max_inner = 100;

    void validate() const {
        detail::require_positive(gap, "solver.gap");
        detail::require_positive(violation, "solver.violation");
        detail::require_at_least(max_iterations, 1, "solver.max_iterations");
        detail::require_at_least(max_nodes, 1, "solver.max_nodes");
        detail::require_at_least(dense_samples, 0, "solver.dense_samples");
        detail::require_at_least(max_inner, 1, "solver.max_inner");
    }
};

/// The dual on nodes fixed once, by a proximal point method whose steps are solved by semismooth Newton (the
/// augmented Lagrangian of the constraint ŷ = Σ_j ρ_j a_j k_j). Meant for n up to some tens of thousands; the
/// nodes are the domain's rule, or drawn.
///
/// Each outer step maximises over λ
///     min_{ŷ ∈ C} ⟨λ, ŷ⟩ + (σ/2)‖ŷ − ŷ_k‖²  −  Σ_j ρ_j max_a { ⟨a, ᾱ_j⟩ − φ**(a) − (δ/2)‖a − a_kj‖² },
/// which is smooth: both inner optima are proximal maps, ŷ = P_C(ŷ_k − λ/σ) and a = prox(ᾱ + δ a_k), the
/// gradient is ŷ − f and the Hessian −J/σ − K diag(ρ h) Kᵀ, to which only the nodes that are on contribute.
/// At the maximum f = ŷ ∈ C: the a found is a feasible α, fractional at the kink nodes as it must be, and P −
/// D is the true gap of the problem without the proximal terms. Outer steps converge for any δ and σ;
/// shrinking δ makes them converge faster. Measured against smoothing alone and accelerated proximal
/// gradients: 15 to 100 Newton steps to a gap of 1e-4 where the gradient method needs thousands, since K =
/// ∫kk is numerically singular.
class AugmentedNewton {
public:
    explicit AugmentedNewton(AugmentedNewtonOptions options = {}) : options_(options) { options_.validate(); }

    const AugmentedNewtonOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        return Run<Kernel, Loss, Domain>(problem, options_, problem.nodes(options_.max_nodes))
            .solve(observer);
    }

private:
    template <class Kernel, class Loss, class Domain>
    class Run {
    public:
        using Problem = DualProblem<Kernel, Loss, Domain>;

        Run(const Problem& problem, const AugmentedNewtonOptions& options, Quadrature quadrature)
            : problem_(problem),
              options_(options),
              q_(std::move(quadrature)),
              tau_(penalty::threshold(problem.gamma)),
              scale_(root_mean_square(problem.feasible.target())) {}

        DualSolution solve(const ObserverFunction& observer) {
            start();
            DualSolution best;
            best.quadrature = q_;
            Point now = evaluate();
            for (Index iteration = 0;; ++iteration) {
                record(best, now, iteration);
                if (best.status == Status::converged || iteration >= options_.max_iterations) break;
                if (observer && observer({"dual", iteration, options_.max_iterations, best.dual_value,
                                          best.relative_gap(), 0.0}) == Verdict::stop) {
                    best.status = Status::stopped;
                    break;
                }
                const bool solved = root_mean_square(now.residual) <= inner_accuracy_ * scale_;
                if (solved || !newton_step(now)) {
                    advance_anchors(now);
                    now = evaluate();
                }
            }
            return best;
        }

    private:
        // Chosen by measurement on the chirp at n = 51 to 501, both scopes, sparsity 0 to 2; a factor of 3
        // either way costs at most twice the steps.
        static constexpr double first_delta = 0.3;
        static constexpr double last_delta = 1e-4;
        static constexpr double delta_shrink = 0.7;
        static constexpr double first_accuracy = 0.05;  // of an outer step, relative to the size of y
        static constexpr double last_accuracy = 1e-7;
        static constexpr double accuracy_shrink = 0.5;
        static constexpr double step_in_tolerances = 10.0;  // ‖λ‖/σ relative to the size of C
        static constexpr double least_damping = 1e-12;
        static constexpr double most_damping = 1e-2;

        /// The smoothed dual at λ.
        struct Point {
            double value{};       // to be minimised: the negative of the outer step's objective
            Matrix a{};           // prox(ᾱ + δ a_k), q x nodes
            Matrix prediction{};  // Σ_j ρ_j a_j k_j, q x n
            Projection target{};  // ŷ and its Jacobian
            Matrix residual{};    // f − ŷ: the gradient
        };

        static double root_mean_square(const Matrix& values) {
            const double rms =
                values.norm() / std::sqrt(static_cast<double>(std::max<Index>(1, values.size())));
            return rms > 0.0 ? rms : std::numeric_limits<double>::min();
        }

        void start() {
            const Index outputs = problem_.outputs();
            const Index n = problem_.samples();
            lambda_ = problem_.warm_start ? *problem_.warm_start : problem_.feasible.target();
            field_ = problem_.field(lambda_, q_.nodes);
            scale_along_ray();
            anchor_ =
                problem_.warm_start ? thresholded(field_, tau_) : Matrix::Zero(outputs, q_.nodes.cols());
            anchor_prediction_ = problem_.feasible.project(Matrix::Zero(outputs, n)).point;
            choose_step();
        }

        /// λ ← the best multiple of itself: g(sλ) = s·min⟨λ, ŷ⟩ − Φ(sλ) is concave in s and ᾱ is linear, so a
        /// scan and a golden section cost O(B) each and no kernel value.
        void scale_along_ray() {
            const double linear = problem_.feasible.minimum(lambda_);
            const auto g = [&](double s) { return s * linear - phi(s * field_, q_.weights, tau_); };
            double largest = field_.size() > 0 ? field_.colwise().norm().maxCoeff() : 0.0;
            if (!(linear > 0.0) || !(largest > 0.0)) {
                if (!problem_.warm_start) {
                    lambda_.setZero();
                    field_.setZero();
                }
                return;
            }
            double best = tau_ / largest;  // up to here Φ = 0 and g only grows
            if (!(best > 0.0))
                best = linear / (2.0 * phi(field_, q_.weights, 0.0));  // the maximum, where τ = 0
            while (g(2.0 * best) > g(best) && best < 1e300) best *= 2.0;
            double lo = 0.5 * best, hi = 2.0 * best;
            for (int iteration = 0; iteration < 40; ++iteration) {
                const double third = (hi - lo) / 3.0;
                (g(lo + third) < g(hi - third) ? lo : hi) += g(lo + third) < g(hi - third) ? third : -third;
            }
            best = 0.5 * (lo + hi);
            lambda_ *= best;
            field_ *= best;
        }

        /// 1/σ such that ŷ_k − λ/σ lies some radii of C outside of it: the proximal term then smooths the
        /// corners of C without holding ŷ back. A set that is a point (tolerance 0) needs none.
        void choose_step() {
            double tolerance = 0.0;
            for (Index i = 0; i < problem_.samples(); ++i) tolerance += problem_.feasible.tolerance(i);
            tolerance /= static_cast<double>(problem_.samples());
            step_ = step_in_tolerances * (tolerance > 0.0 ? tolerance : scale_) / root_mean_square(lambda_);
            if (!std::isfinite(step_)) step_ = 1.0;
        }

        /// Length of b = ᾱ + δ a_k at node j.
        double shifted_length(const Matrix& field, Index j) const {
            return (field.col(j) + delta_ * anchor_.col(j)).norm();
        }

        Projection target_at(const Matrix& lambda) const {
            return problem_.feasible.project(anchor_prediction_ - step_ * lambda);
        }

        /// The value without the prediction: what a line search needs. O(q (n + B)).
        double value_at(const Matrix& lambda, const Matrix& field, const Matrix& target) const {
            double value = -lambda.cwiseProduct(target).sum() -
                           0.5 / step_ * (target - anchor_prediction_).squaredNorm();
            for (Index j = 0; j < field.cols(); ++j) {
                const double length = shifted_length(field, j);
                const double size = penalty::proximal_length(length, tau_, delta_);
                // ⟨a, ᾱ⟩ − (δ/2)‖a − a_k‖² = ⟨a, b⟩ − (δ/2)(‖a‖² + ‖a_k‖²), a along b
                value += q_.weights(j) * (size * length - penalty::envelope(size, tau_) -
                                          0.5 * delta_ * (size * size + anchor_.col(j).squaredNorm()));
            }
            return value;
        }

        Point evaluate() const {
            Point point;
            point.target = target_at(lambda_);
            point.value = value_at(lambda_, field_, point.target.point);
            point.a = field_ + delta_ * anchor_;
            for (Index j = 0; j < point.a.cols(); ++j) {
                const double length = point.a.col(j).norm();
                if (length > 0.0) point.a.col(j) *= penalty::proximal_length(length, tau_, delta_) / length;
            }
            point.prediction = problem_.values(q_.nodes, point.a * q_.weights.asDiagonal());
            point.residual = point.prediction - point.target.point;
            return point;
        }

        void record(DualSolution& best, const Point& now, Index iteration) const {
            best.iterations = iteration;
            best.lambda = lambda_;
            best.dual_value = problem_.feasible.minimum(lambda_) - phi(field_, q_.weights, tau_);
            best.alpha = now.a;
            best.primal_value = primal_cost(now.a, q_.weights, tau_);
            best.violation = problem_.feasible.violation(now.prediction);
            const bool solved = std::abs(best.relative_gap()) <= options_.gap &&
                                best.violation <= options_.violation * scale_;
            best.status = solved ? Status::converged : Status::iteration_limit;
        }

        void advance_anchors(const Point& now) {
            anchor_ = now.a;
            anchor_prediction_ = now.target.point;
            inner_accuracy_ = std::max(accuracy_shrink * inner_accuracy_, last_accuracy);
            delta_ = std::max(delta_shrink * delta_, last_delta);
            choose_step();
        }

        /// One damped Newton step on λ with an Armijo search; false where it no longer decreases the value.
        bool newton_step(Point& now) {
            const Matrix direction = newton_direction(now);
            const double slope = direction.cwiseProduct(now.residual).sum();
            const Matrix field_direction = problem_.field(direction, q_.nodes);
            constexpr double armijo = 1e-4;
            constexpr double shortest = 1e-8;
            for (double length = 1.0; slope < 0.0 && length > shortest; length *= 0.5) {
                const Matrix lambda = lambda_ + length * direction;
                const Matrix field = field_ + length * field_direction;
                if (value_at(lambda, field, target_at(lambda).point) > now.value + armijo * length * slope)
                    continue;
                lambda_ = lambda;
                field_ = field;
                now = evaluate();
                if (length == 1.0) damping_ = std::max(0.1 * damping_, least_damping);
                if (length < 0.2) damping_ = std::min(10.0 * damping_, most_damping);
                return true;
            }
            damping_ = std::min(100.0 * damping_, most_damping);
            return false;
        }

        /// Solves (J/σ + K diag(ρ h) Kᵀ + damping) Δ = −(f − ŷ).
        Matrix newton_direction(const Point& now) const {
            std::vector<Index> on;
            for (Index j = 0; j < field_.cols(); ++j)
                if (shifted_length(field_, j) > tau_) on.push_back(j);
            return problem_.outputs() == 1 && problem_.samples() <= options_.dense_samples
                       ? dense_direction(now, on)
                       : iterative_direction(now, on);
        }

        /// O(n² |on| + n³), a panel of columns at a time.
        Matrix dense_direction(const Point& now, const std::vector<Index>& on) const {
            constexpr Index panel_columns = 64;
            const Index n = problem_.samples();
            Matrix h = Matrix::Zero(n, n);
            Matrix panel(n, panel_columns);
            for (std::size_t first = 0; first < on.size(); first += panel_columns) {
                const auto count =
                    static_cast<Index>(std::min<std::size_t>(panel_columns, on.size() - first));
                // A rule lists narrow kernels side by side and the samples are in spatial order: the panel is
                // zero outside of a short range of rows.
                Index begin = n, end = 0;
                for (Index c = 0; c < count; ++c) {
                    const Index j = on[first + static_cast<std::size_t>(c)];
                    const double slope = penalty::proximal_slope(shifted_length(field_, j), tau_, delta_);
                    const auto [low, high] = detail::kernel_column(problem_.kernel, problem_.points,
                                                                   q_.nodes.col(j), panel.col(c));
                    panel.col(c) *= std::sqrt(q_.weights(j) * slope);
                    begin = std::min(begin, low);
                    end = std::max(end, high);
                }
                if (begin >= end) continue;
                h.block(begin, begin, end - begin, end - begin)
                    .template selfadjointView<Eigen::Lower>()
                    .rankUpdate(panel.block(begin, 0, end - begin, count));
            }
            h.diagonal() += step_ * now.target.diagonal.transpose();
            h.selfadjointView<Eigen::Lower>().rankUpdate(now.target.direction.transpose(), -step_);
            h.diagonal().array() += damping(h.trace() / static_cast<double>(n));
            const Eigen::LDLT<Eigen::Ref<Matrix>> factor(h);
            return -factor.solve(now.residual.transpose()).transpose();
        }

        /// Conjugate gradients, each step two passes over the nodes that are on: O(n |on|) kernel values. For
        /// q outputs the slope at a node is h uuᵀ + (|a|/|b|)(I − uuᵀ), u = b/|b|.
        Matrix iterative_direction(const Point& now, const std::vector<Index>& on) const {
            const auto count = static_cast<Index>(on.size());
            Matrix nodes(q_.nodes.rows(), count);
            Matrix along(problem_.outputs(), count);
            Vector slope(count), across(count);
            double mean_diagonal = step_ * now.target.diagonal.mean();
            for (Index c = 0; c < count; ++c) {
                const Index j = on[static_cast<std::size_t>(c)];
                const double length = shifted_length(field_, j);
                nodes.col(c) = q_.nodes.col(j);
                along.col(c) = (field_.col(j) + delta_ * anchor_.col(j)) / length;
                slope(c) = q_.weights(j) * penalty::proximal_slope(length, tau_, delta_);
                across(c) = q_.weights(j) * penalty::proximal_length(length, tau_, delta_) / length;
                mean_diagonal += slope(c);
            }
            const double ridge = damping(mean_diagonal);
            const auto apply = [&](const Matrix& v) -> Matrix {
                Matrix image = problem_.field(v, nodes);
                for (Index c = 0; c < count; ++c) {
                    const double part = along.col(c).dot(image.col(c));
                    image.col(c) = across(c) * image.col(c) + (slope(c) - across(c)) * part * along.col(c);
                }
                const double projected = now.target.direction.cwiseProduct(v).sum();
                return problem_.values(nodes, image) + step_ * (now.target.diagonal.cwiseProduct(v)) -
                       step_ * projected * now.target.direction + ridge * v;
            };
            constexpr double forcing = 0.05;  // relative residual; outer accuracy comes from the Newton steps
            Matrix x = Matrix::Zero(now.residual.rows(), now.residual.cols());
            Matrix r = -now.residual;
            Matrix p = r;
            double rr = r.squaredNorm();
            const double goal = forcing * forcing * rr;
            for (Index step = 0; step < options_.max_inner && rr > goal; ++step) {
                const Matrix image = apply(p);
                const double curvature = p.cwiseProduct(image).sum();
                if (!(curvature > 0.0)) break;
                x += rr / curvature * p;
                r -= rr / curvature * image;
                const double next = r.squaredNorm();
                p = r + next / rr * p;
                rr = next;
            }
            return x;
        }

        double damping(double mean_diagonal) const {
            return damping_ * mean_diagonal + std::numeric_limits<double>::min();
        }

        const Problem& problem_;
        const AugmentedNewtonOptions& options_;
        Quadrature q_;
        double tau_;
        double scale_;       // of y
        double step_ = 1.0;  // 1/σ
        double delta_ = first_delta;
        double inner_accuracy_ = first_accuracy;
        double damping_ = 1e-8;
        Matrix lambda_, field_;              // λ and ᾱ at the nodes
        Matrix anchor_, anchor_prediction_;  // a_k and ŷ_k
    };

    AugmentedNewtonOptions options_;
};

}  // namespace kernelet
