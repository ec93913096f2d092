#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/augmented_dual.hpp>
#include <kernelet/dual/coordinate_ascent.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelet {

namespace detail {

/// One Newton step on λ_b, b = begin ... begin + count − 1; returns its length.
template <class Problem, class Dual>
double improve_block(const Problem& problem, Dual& dual, Index begin, Index count,
                     const NewtonDamping& damping) {
    const Quadrature& q = dual.quadrature();
    const TiledPoints block = problem.points.range(begin, count);
    const std::vector<Index> on = dual.on();
    // f_b and the block K_b diag(ρ h) K_bᵀ of the Hessian, from one pass over the nodes that are on
    constexpr Index panel_columns = 64;
    Matrix h = Matrix::Zero(count, count);
    Matrix panel(count, panel_columns);
    Matrix gradient = Matrix::Zero(count, 1);
    for (std::size_t first = 0; first < on.size(); first += panel_columns) {
        Index used = 0;
        for (std::size_t k = first; k < std::min(on.size(), first + panel_columns); ++k) {
            const Index j = on[k];
            const auto [low, high] =
                kernel_column(problem.kernel, block, column_ref(q.nodes, j), &panel(0, used));
            if (low >= high) continue;
            const double length = dual.shifted_length(j);
            const Block column = Block(panel).columns(used, 1);
            add_scaled(gradient, q.weights(j) * dual.slope_across(length) * dual.shifted(j)(0), column);
            scale(column, std::sqrt(q.weights(j) * dual.slope(length)));
            ++used;
        }
        if (used > 0) rank_update(h, ConstBlock(panel).columns(0, used));
    }
    const Projection target = dual.target();
    double trace = 0.0;
    for (Index i = 0; i < count; ++i) {
        gradient(i) -= target.point(0, begin + i);
        h(i, i) += dual.step() * target.diagonal(0, begin + i);
    }
    rank_update_tn(h, ConstBlock(target.direction).columns(begin, count), -dual.step());
    for (Index i = 0; i < count; ++i) trace += h(i, i);
    add_to_diagonal(h, damping.ridge(trace / static_cast<double>(count)));
    Matrix step = gradient;
    ldlt_solve(h, step, problem.poll());
    scale(step, -1.0);
    const double slope = dot(step, gradient);
    step.resize(1, count);
    Matrix direction = Matrix::Zero(1, problem.samples());
    copy(step, Block(direction).columns(begin, count));
    return dual.search(direction, analyze(problem.kernel, block, step, q.nodes, problem.poll()), slope);
}

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution CoordinateAscent::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                     const ObserverFunction& observer) const {
    detail::require(problem.outputs() == 1, "CoordinateAscent is for one output; y has ", problem.outputs());
    problem.refuse_trend("CoordinateAscent");
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
            const double length = detail::improve_block(problem, dual, begin, count, damping);
            damping.learn(length);
            if (length > 0.0) moved = true;
        }
        return moved;
    });
}

}  // namespace kernelet
