#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_function.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

struct ProximalAscentOptions {
    /// Nodes of one step in the first stage; each stage doubles them, so that the noise of the integrals
    /// falls as the solution is approached. Consecutive batches continue one low-discrepancy sequence.
    Index batch = 512;
    /// Steps of one stage.
    Index stage_steps = 50;
    /// Most steps in all.
    Index iterations = 200;
    /// Relative gap, and violation relative to the root mean square of y, at which it stops.
    double gap = 1e-2;
    double violation = 1e-2;
    /// Points of a stage's second half at which α is taken on the evaluation nodes and averaged: the primal
    /// solution.
    Index snapshots = 8;
    /// Most nodes on which the certificate is integrated.
    Index evaluation_nodes = 8192;

    void validate() const {
        detail::require_at_least(batch, 1, "solver.batch");
        detail::require_at_least(stage_steps, 1, "solver.stage_steps");
        detail::require_at_least(iterations, 1, "solver.iterations");
        detail::require_positive(gap, "solver.gap");
        detail::require_positive(violation, "solver.violation");
        detail::require_at_least(snapshots, 1, "solver.snapshots");
        detail::require_at_least(evaluation_nodes, 1, "solver.evaluation_nodes");
    }
};

/// The profiled dual by stochastic proximal steps: μ is eliminated, the loss acts through the projection onto
/// C alone, and the step is 1/L, read off the problem:
///     λ ← prox_η(v − η f_B(v)),   prox_η(u) = u + η P_C(−u/η),   f_B = Σ_B ρ α_d k,
/// with Nesterov's extrapolation v = λ + β(λ − λ_old), begun anew at each stage. A stage averages its second
/// half: λ̄ for the dual value, snapshots of α on fixed evaluation nodes for the primal one. It stops when
/// that certificate is within the goal, not after a fixed T. Memory O(n + B); a step costs |supp λ| B + n
/// |supp α| kernel values. For samples too many for AugmentedNewton.
class ProximalAscent {
public:
    explicit ProximalAscent(ProximalAscentOptions options = {}) : options_(options) { options_.validate(); }

    const ProximalAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        const double tau = penalty::threshold(problem.gamma);
        const Quadrature evaluation = problem.nodes(options_.evaluation_nodes);
        const double largest =
            curvature(problem, problem.draw(0, std::min(options_.batch, power_nodes), power_stream));
        const double eta = largest > 0.0 ? 1.0 / largest : 1.0;
        const Matrix& y = problem.feasible.target();
        const double scale = y.norm() / std::sqrt(static_cast<double>(y.size()));
        Matrix lambda =
            problem.warm_start ? *problem.warm_start : Matrix::Zero(problem.outputs(), problem.samples());
        DualSolution best;
        best.quadrature = evaluation;
        Index drawn = 0;
        Index step = 0;
        for (Index batch_size = options_.batch; step < options_.iterations; batch_size *= 2) {
            const Index steps = std::min(options_.stage_steps, options_.iterations - step);
            const Index averaged_from = steps / 2;
            const Index stride = std::max<Index>(1, (steps - averaged_from) / options_.snapshots);
            Matrix average = Matrix::Zero(lambda.rows(), lambda.cols());
            Matrix alpha = Matrix::Zero(lambda.rows(), evaluation.nodes.cols());
            Matrix previous = lambda;
            double averaged = 0.0, snapshots = 0.0;
            bool stopped = false;
            for (Index t = 0; t < steps && !stopped; ++t, ++step) {
                const double momentum = static_cast<double>(t) / static_cast<double>(t + 3);
                const Matrix v = lambda + momentum * (lambda - previous);
                const Quadrature batch = problem.draw(drawn, batch_size);
                drawn += batch_size;
                const Matrix on = thresholded(problem.field(v, batch.nodes), tau);
                previous = std::exchange(
                    lambda, problem.feasible.prox(
                                v - eta * problem.values(batch.nodes, on * batch.weights.asDiagonal()), eta));
                if (t >= averaged_from) {
                    averaged += 1.0;
                    average += (lambda - average) / averaged;
                    if ((t - averaged_from) % stride == 0) {
                        snapshots += 1.0;
                        alpha +=
                            (thresholded(problem.field(lambda, evaluation.nodes), tau) - alpha) / snapshots;
                    }
                }
                stopped = observer && observer({"dual", step, options_.iterations, best.dual_value,
                                                best.relative_gap(), 0.0}) == Verdict::stop;
            }
            const Matrix& answer = averaged > 0.0 ? average : lambda;
            const double value = problem.feasible.minimum(answer) -
                                 phi(problem.field(answer, evaluation.nodes), evaluation.weights, tau);
            if (best.lambda.size() == 0 || value > best.dual_value) {
                best.lambda = answer;
                best.dual_value = value;
                best.primal_value = primal_cost(alpha, evaluation.weights, tau);
                best.violation = problem.feasible.violation(
                    problem.values(evaluation.nodes, alpha * evaluation.weights.asDiagonal()));
                best.alpha = alpha;
            }
            best.iterations = step;
            const bool solved =
                std::abs(best.relative_gap()) <= options_.gap && best.violation <= options_.violation * scale;
            best.status = stopped ? Status::stopped : solved ? Status::converged : Status::iteration_limit;
            if (best.status != Status::iteration_limit) break;
        }
        return best;
    }

private:
    static constexpr std::uint64_t power_stream = 1;  // apart from the batches' own sequence
    static constexpr Index power_nodes = 512;         // enough for the largest eigenvalue to a few per cent
    ProximalAscentOptions options_;
};

}  // namespace kernelet
