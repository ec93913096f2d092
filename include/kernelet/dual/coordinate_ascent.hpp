#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/augmented_dual.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

namespace kernelet {

struct CoordinateAscentOptions {
    StoppingOptions stopping{};
    /// Most sweeps over all blocks.
    Index max_sweeps = 500;
    /// Samples of one block: its Newton system is a dense matrix of this order.
    Index block = 128;

    void validate() const {
        stopping.validate();
        detail::require_at_least(max_sweeps, 1, "solver.max_sweeps");
        detail::require_at_least(block, 1, "solver.block");
    }
};

/// The augmented dual by Newton steps on a block of λ at a time, ᾱ at the nodes kept up to date: a block of b
/// samples costs b (B + |on|) kernel values and O(b² |on| + b³) work, and nothing of size n² is ever held.
/// Samples in spatial order make blocks of neighbours, between which the coupling is strongest. One output,
/// no intercept, which would tie all blocks together.
class CoordinateAscent {
public:
    explicit CoordinateAscent(CoordinateAscentOptions options = {}) : options_(options) {
        options_.validate();
    }

    const CoordinateAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        detail::require(problem.outputs() == 1, "CoordinateAscent is for one output; y has ",
                        problem.outputs());
        problem.refuse_intercept("CoordinateAscent");
        AugmentedDual dual(problem, options_.stopping);
        Index sweep = 0;
        NewtonDamping damping;
        return dual.solve(options_.max_sweeps, observer, [&](const auto&) {
            bool moved = false;
            // Every other sweep is shifted by half a block, so that no border between blocks stays.
            const Index shift = sweep++ % 2 == 0 ? 0 : options_.block / 2;
            for (Index first = -shift; first < problem.samples(); first += options_.block) {
                const Index begin = std::max<Index>(0, first);
                const Index count = std::min(problem.samples(), first + options_.block) - begin;
                if (count <= 0) continue;
                const double length = improve_block(problem, dual, begin, count, damping);
                damping.learn(length);
                if (length > 0.0) moved = true;
            }
            return moved;
        });
    }

private:
    /// One Newton step on λ_b, b = begin ... begin + count − 1; returns its length.
    template <class Problem, class Dual>
    static double improve_block(const Problem& problem, Dual& dual, Index begin, Index count,
                                const NewtonDamping& damping) {
        const Quadrature& q = dual.quadrature();
        const detail::TiledPoints block = problem.points.range(begin, count);
        const std::vector<Index> on = dual.on();
        // f_b and the block K_b diag(ρ h) K_bᵀ of the Hessian, from one pass over the nodes that are on
        constexpr Index panel_columns = 64;
        Matrix h = Matrix::Zero(count, count);
        Matrix panel(count, panel_columns);
        Vector gradient = Vector::Zero(count);
        for (std::size_t first = 0; first < on.size(); first += panel_columns) {
            Index used = 0;
            for (std::size_t k = first; k < std::min(on.size(), first + panel_columns); ++k) {
                const Index j = on[k];
                const auto [low, high] =
                    detail::kernel_column(problem.kernel, block, q.nodes.col(j), panel.col(used));
                if (low >= high) continue;
                const double length = dual.shifted_length(j);
                gradient += q.weights(j) * dual.slope_across(length) * dual.shifted(j)(0) * panel.col(used);
                panel.col(used) *= std::sqrt(q.weights(j) * dual.slope(length));
                ++used;
            }
            if (used > 0) h.selfadjointView<Eigen::Lower>().rankUpdate(panel.leftCols(used));
        }
        const Projection target = dual.target();
        gradient -= target.point.middleCols(begin, count).transpose();
        h.diagonal() += dual.step() * target.diagonal.middleCols(begin, count).transpose();
        h.selfadjointView<Eigen::Lower>().rankUpdate(target.direction.middleCols(begin, count).transpose(),
                                                     -dual.step());
        h.diagonal().array() += damping.ridge(h.trace() / static_cast<double>(count));
        const Vector step = -Eigen::LDLT<Eigen::Ref<Matrix>>(h).solve(gradient);
        Matrix direction = Matrix::Zero(1, problem.samples());
        direction.middleCols(begin, count) = step.transpose();
        const Matrix field_direction = detail::analyze(problem.kernel, block, step.transpose(), q.nodes);
        return dual.search(direction, field_direction, step.dot(gradient));
    }

    CoordinateAscentOptions options_;
};

}  // namespace kernelet
