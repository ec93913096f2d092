#pragma once

#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/report.hpp>

#include <concepts>

namespace kernelet {

class AnyKernel;
class AnyLoss;
class AnyDomain;

/// The one problem type that a fit hands to its solver: kernel, loss and domain are held by interface.
using ErasedDualProblem = DualProblem<AnyKernel, AnyLoss, AnyDomain>;

/// Maximises the dual (paper, DII): solve(problem, observer) for ErasedDualProblem at least. Returns λ, the nodes it integrated on
/// and a recovered α; not converging is a status, not an exception. The observer may be empty; a solver calls it once
/// per iteration and returns its best point with Status::stopped where the answer is Verdict::stop. field() and
/// values() of the problem throw Interrupted in the same case: a solver whose iterations are long catches it.
/// Not promised: that the gap is small; the solution contains it.
template <class S>
concept DualSolver = std::copyable<S> &&
    requires(const S& solver, const ErasedDualProblem& problem, const ObserverFunction& observer) {
    { solver.solve(problem, observer) } -> std::same_as<DualSolution>;
};

}  // namespace kernelet
