#pragma once

#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

template <class Kernel, class Loss, class Domain>
class DualProblem;

/// What a dual solver returns.
struct DualSolution {
    Matrix lambda{};          ///< q x n
    Quadrature quadrature{};  ///< the nodes its values refer to
    Matrix alpha{};           ///< q x nodes: the recovered primal α
    Vector intercept{};       ///< q: the recovered b, empty where the problem has none
    double dual_value{};
    double primal_value{};
    double violation{};   ///< of the recovered α, see FeasibleSet::violation
    bool atomic = false;  ///< α is point masses at the nodes: a sum, no integral, and a support of measure 0
    Index iterations{};
    Status status = Status::iteration_limit;

    double relative_gap() const { return kernelet::relative_gap(primal_value, dual_value); }
};

}  // namespace kernelet
