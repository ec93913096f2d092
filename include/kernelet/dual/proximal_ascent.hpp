#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_function.hpp>

#include <algorithm>
#include <cmath>

namespace kernelet {

struct ProximalAscentOptions {
    Index batch = 1024;      ///< nodes of one step; consecutive batches continue one low-discrepancy sequence
    Index iterations = 400;  ///< most steps
    double tail = 0.5;       ///< the share of the last steps whose λ are averaged
    Index evaluation_nodes = 8192;  ///< most nodes on which the result is integrated, once, at the end

    void validate() const {
        detail::require_at_least(batch, 1, "solver.batch");
        detail::require_at_least(iterations, 1, "solver.iterations");
        detail::require(tail > 0.0 && tail <= 1.0, "solver.tail = ", tail, " must be in (0, 1]");
        detail::require_at_least(evaluation_nodes, 1, "solver.evaluation_nodes");
    }
};

/// The profiled dual by stochastic proximal steps: μ is eliminated, the loss acts through the projection onto
/// C alone, and the step is 1/L, read off the problem:
///     λ ← prox_η(λ − η f_B(λ)) = v + η P_C(−v/η),   v = λ − η Σ_B ρ α_d k.
/// Memory O(n + B); a step costs |supp λ| B + n |supp α| kernel values. For samples too many for
/// AugmentedNewton; rough (gaps of per cents), as few iterations already point at the right kernels.
class ProximalAscent {
public:
    explicit ProximalAscent(ProximalAscentOptions options = {}) : options_(options) { options_.validate(); }

    const ProximalAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        const double tau = penalty::threshold(problem.gamma);
        const double largest =
            curvature(problem, problem.draw(0, std::min<Index>(options_.batch, 512), power_stream));
        DualSolution solution;
        Matrix lambda =
            problem.warm_start ? *problem.warm_start : Matrix::Zero(problem.outputs(), problem.samples());
        Matrix average = lambda;
        const auto first_averaged =
            static_cast<Index>((1.0 - options_.tail) * static_cast<double>(options_.iterations));
        double averaged = 0.0;
        const double eta = largest > 0.0 ? 1.0 / largest : 1.0;
        for (Index t = 0; t < options_.iterations; ++t) {
            solution.iterations = t + 1;
            const Quadrature batch = problem.draw(t * options_.batch, options_.batch);
            const Matrix field = problem.field(lambda, batch.nodes);
            const double value = problem.feasible.minimum(lambda) - phi(field, batch.weights, tau);
            const Matrix alpha = thresholded(field, tau);
            const Matrix f = problem.values(batch.nodes, alpha * batch.weights.asDiagonal());
            lambda = problem.feasible.prox(lambda - eta * f, eta);
            if (t < first_averaged) {
                average = lambda;
            } else {
                averaged += 1.0;
                average += (lambda - average) / averaged;
            }
            if (observer && observer({"dual", t, options_.iterations, value,
                                      std::numeric_limits<double>::infinity(), 0.0}) == Verdict::stop) {
                solution.status = Status::stopped;
                break;
            }
        }
        complete_solution(problem, solution, std::move(average), problem.nodes(options_.evaluation_nodes));
        return solution;
    }

private:
    static constexpr std::uint64_t power_stream = 1;  // apart from the batches' own sequence
    ProximalAscentOptions options_;
};

}  // namespace kernelet
