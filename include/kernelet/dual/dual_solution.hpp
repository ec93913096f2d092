#pragma once

#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

template <class Kernel, class Loss, class Domain>
class DualProblem;

/// The result of a dual solver.
struct DualSolution {
    Matrix lambda{};          ///< q x n
    Quadrature quadrature{};  ///< the nodes its values refer to
    Matrix alpha{};           ///< q x nodes: the recovered primal α
    /// q x t: the recovered coefficients of the trend, of 1 and of the inputs measured from their means in deviations;
    /// empty where the problem has none.
    Matrix trend{};
    double dual_value{};
    double primal_value{};
    double violation{};   ///< of the recovered α, see FeasibleSet::violation
    bool atomic = false;  ///< α is point masses at the nodes: a sum, no integral, and a support of measure 0
    Index iterations{};
    Status status = Status::iteration_limit;

    double relative_gap() const { return kernelet::relative_gap(primal_value, dual_value); }
};

}  // namespace kernelet
