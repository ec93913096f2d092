#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/augmented_dual.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

namespace kernelet {

struct AugmentedNewtonOptions {
    StoppingOptions stopping{};
    /// Most Newton steps in all. 15 to 100 are seen.
    Index max_iterations = 300;
    /// Up to this many samples (and one output) the Newton system is a dense n x n matrix, factored: 18 MB at
    /// 1500. Above it, conjugate gradients on tiles.
    Index dense_samples = 1500;
    /// Most conjugate gradient steps for one Newton step.
    Index max_inner = 100;

    void validate() const {
        stopping.validate();
        detail::require_at_least(max_iterations, 1, "solver.max_iterations");
        detail::require_at_least(dense_samples, 0, "solver.dense_samples");
        detail::require_at_least(max_inner, 1, "solver.max_inner");
    }
};

/// The augmented dual by semismooth Newton steps on all of λ. Meant for n up to some tens of thousands.
/// Second order, since K = ∫kk is numerically singular and gradient steps crawl:
/// benchmarks/paper/dual_solvers compares them.
class AugmentedNewton {
public:
    explicit AugmentedNewton(AugmentedNewtonOptions options = {}) : options_(options) { options_.validate(); }

    const AugmentedNewtonOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        AugmentedDual dual(problem, options_.stopping);
        double damping =
            1e-8;  // of the Newton system, relative to its mean diagonal: raised where steps fail
        return dual.solve(options_.max_iterations, observer, [&](const auto& now) {
            const Matrix direction = newton_direction(dual, now, damping);
            const Matrix field_direction = problem.field(direction, dual.quadrature().nodes);
            const double length =
                dual.search(direction, field_direction, direction.cwiseProduct(now.residual).sum());
            if (length == 1.0) damping = std::max(0.1 * damping, least_damping);
            if (length < 0.2) damping = std::min((length > 0.0 ? 10.0 : 100.0) * damping, most_damping);
            return length > 0.0;
        });
    }

private:
    static constexpr double least_damping = 1e-12;
    static constexpr double most_damping = 1e-2;

    /// Solves (J/σ + K diag(ρ h) Kᵀ + damping) Δ = −(f − ŷ).
    template <class Dual, class Point>
    Matrix newton_direction(const Dual& dual, const Point& now, double damping) const {
        const bool dense =
            dual.problem().outputs() == 1 && dual.problem().samples() <= options_.dense_samples;
        return dense ? dense_direction(dual, now, damping) : iterative_direction(dual, now, damping);
    }

    /// O(n² |on| + n³), a panel of columns at a time.
    template <class Dual, class Point>
    static Matrix dense_direction(const Dual& dual, const Point& now, double damping) {
        constexpr Index panel_columns = 64;
        const Index n = dual.problem().samples();
        const Quadrature& q = dual.quadrature();
        const std::vector<Index> on = dual.on();
        Matrix h = Matrix::Zero(n, n);
        Matrix panel(n, panel_columns);
        for (std::size_t first = 0; first < on.size(); first += panel_columns) {
            const auto count = static_cast<Index>(std::min<std::size_t>(panel_columns, on.size() - first));
            // A rule lists narrow kernels side by side and the samples are in spatial order: the panel is
            // zero outside of a short range of rows.
            Index begin = n, end = 0;
            for (Index c = 0; c < count; ++c) {
                const Index j = on[first + static_cast<std::size_t>(c)];
                const auto [low, high] = detail::kernel_column(dual.problem().kernel, dual.problem().points,
                                                               q.nodes.col(j), panel.col(c));
                panel.col(c) *= std::sqrt(q.weights(j) * dual.slope(dual.shifted_length(j)));
                begin = std::min(begin, low);
                end = std::max(end, high);
            }
            if (begin >= end) continue;
            h.block(begin, begin, end - begin, end - begin)
                .template selfadjointView<Eigen::Lower>()
                .rankUpdate(panel.block(begin, 0, end - begin, count));
        }
        h.diagonal() += dual.step() * now.target.diagonal.transpose();
        h.selfadjointView<Eigen::Lower>().rankUpdate(now.target.direction.transpose(), -dual.step());
        h.diagonal().array() += ridge(damping, h.trace() / static_cast<double>(n));
        const Eigen::LDLT<Eigen::Ref<Matrix>> factor(h);
        return -factor.solve(now.residual.transpose()).transpose();
    }

    /// Conjugate gradients, each step two passes over the nodes that are on: O(n |on|) kernel values. For q
    /// outputs the slope at a node is h uuᵀ + (|a|/|b|)(I − uuᵀ), u = b/|b|.
    template <class Dual, class Point>
    Matrix iterative_direction(const Dual& dual, const Point& now, double damping) const {
        const Quadrature& q = dual.quadrature();
        const std::vector<Index> on = dual.on();
        const auto count = static_cast<Index>(on.size());
        Matrix nodes(q.nodes.rows(), count);
        Matrix along(dual.problem().outputs(), count);
        Vector slope(count), across(count);
        double mean_diagonal = dual.step() * now.target.diagonal.mean();
        for (Index c = 0; c < count; ++c) {
            const Index j = on[static_cast<std::size_t>(c)];
            const double length = dual.shifted_length(j);
            nodes.col(c) = q.nodes.col(j);
            along.col(c) = dual.shifted(j) / length;
            slope(c) = q.weights(j) * dual.slope(length);
            across(c) = q.weights(j) * dual.size(length) / length;
            mean_diagonal += slope(c);
        }
        const double added = ridge(damping, mean_diagonal);
        const auto apply = [&](const Matrix& v) -> Matrix {
            Matrix image = dual.problem().field(v, nodes);
            for (Index c = 0; c < count; ++c) {
                const double part = along.col(c).dot(image.col(c));
                image.col(c) = across(c) * image.col(c) + (slope(c) - across(c)) * part * along.col(c);
            }
            const double projected = now.target.direction.cwiseProduct(v).sum();
            return dual.problem().values(nodes, image) + dual.step() * now.target.diagonal.cwiseProduct(v) -
                   dual.step() * projected * now.target.direction + added * v;
        };
        constexpr double forcing = 0.05;  // relative residual; accuracy comes from the Newton steps
        Matrix x = Matrix::Zero(now.residual.rows(), now.residual.cols());
        Matrix r = -now.residual;
        Matrix p = r;
        double rr = r.squaredNorm();
        const double goal = forcing * forcing * rr;
        for (Index step = 0; step < options_.max_inner && rr > goal; ++step) {
            const Matrix image = apply(p);
            const double curvature_along = p.cwiseProduct(image).sum();
            if (!(curvature_along > 0.0)) break;
            x += rr / curvature_along * p;
            r -= rr / curvature_along * image;
            const double next = r.squaredNorm();
            p = r + next / rr * p;
            rr = next;
        }
        return x;
    }

    static double ridge(double damping, double mean_diagonal) {
        return damping * mean_diagonal + std::numeric_limits<double>::min();
    }

    AugmentedNewtonOptions options_;
};

}  // namespace kernelet
