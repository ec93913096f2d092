#pragma once

#include <kernelet/search/coefficient_elimination.hpp>

#include <optional>
#include <utility>

namespace kernelet {

/// An expansion whose coefficients are at their optimum, with its cost and the quadratic model around it.
struct FittedKernels {
    KernelExpansion fit{};
    double cost{};    ///< Σ w ℓ + ridge Σ w ‖a‖² + the cost of the widths
    Vector masses{};  ///< Σ_i w_i k_ij² / mean w, K: how many samples' worth of data a kernel sees
    QuadraticModel quadratic{};

    Index size() const { return fit.size(); }

    /// The increase of the cost when kernel j is removed and no node moves: ‖a_j‖²/(G⁻¹)_jj, exactly for the
    /// squared loss.
    double removal_cost(Index j) const {
        double squares = 0.0;
        for (Index o = 0; o < fit.coefficients.cols(); ++o)
            squares += fit.coefficients(j, o) * fit.coefficients(j, o);
        return squares / quadratic.inverse(j, j);
    }
};

/// The objective of a search problem as a function of the nodes, the coefficients eliminated: exactly for the
/// squared loss, by Newton's method for others, whose last quadratic model then stands for the loss. Holds a
/// reference to the problem.
template <class Scalar = double>
class Evaluation {
public:
    explicit Evaluation(const SearchProblem& problem)
        : problem_(problem), steps_(problem.kernel, problem.domain), priors_(problem.priors) {
        if (problem.loss.is_squared()) squares_ = problem.loss.linearize({});
        energy_ = at(Matrix(problem.domain.rows(), 0)).cost;
    }

    explicit Evaluation(SearchProblem&&) = delete;

    const SearchProblem& problem() const { return problem_; }
    const NodeSteps& steps() const { return steps_; }
    const WidthPrior& width_prior() const { return priors_.widths; }
    void set_ridge(double ridge) { priors_.ridge = ridge; }
    double ridge() const { return priors_.ridge; }
    /// The cost without kernels: for the squared loss Σ w ‖y‖², about the mean where there is an intercept.
    double energy() const { return energy_; }

    /// The model at these nodes.
    FittedKernels at(Matrix nodes) const { return at(std::move(nodes), KernelExpansion{}); }
    /// The same with coefficients to begin from.
    FittedKernels at(Matrix nodes, const KernelExpansion& start) const {
        if (problem_.loss.is_squared()) return by_least_squares(std::move(nodes));
        NewtonCoefficients newton = NewtonElimination<Scalar>(problem_, nodes, terms()).minimize(start);
        return by_newton(std::move(newton), std::move(nodes));
    }

    /// The model at these nodes where it costs less than `now`.
    std::optional<FittedKernels> improved(Matrix nodes, const FittedKernels& now) const {
        if (problem_.loss.is_squared()) {
            FittedKernels next = by_least_squares(std::move(nodes));
            if (next.cost < now.cost) return next;
            return std::nullopt;
        }
        NewtonCoefficients next = NewtonElimination<Scalar>(problem_, nodes, terms()).minimize(now.fit);
        if (!(next.cost + width_cost(nodes) < now.cost)) return std::nullopt;
        return by_newton(std::move(next), std::move(nodes));
    }

    /// The prior's cost of the widths of one node.
    double width_cost(const double* node) const {
        double cost = 0.0;
        for (const Index row : steps_.rows())
            if (steps_.is_width(row)) cost += priors_.widths.cost(node[row]);
        return cost;
    }

private:
    double width_cost(const Matrix& nodes) const {
        double cost = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j) cost += width_cost(nodes.data() + j * nodes.rows());
        return cost;
    }

    EliminationTerms terms() const {
        return {priors_.ridge * detail::sum<Scalar>(problem_.loss.weights()), problem_.intercept};
    }

    FittedKernels by_least_squares(Matrix nodes) const {
        const GramMatrices sums = gram_matrices<Scalar>(problem_, steps_, nodes, squares_);
        EliminatedCoefficients eliminated =
            eliminate_coefficients<Scalar>(sums, squares_, nodes.cols(), terms());
        FittedKernels out;
        out.cost = eliminated.cost + width_cost(nodes);
        const Index k = nodes.cols(), b = 1 + steps_.size();
        out.masses.resize(k);
        for (Index j = 0; j < k; ++j)
            out.masses(j) =
                sums.gram(j * b, j * b) * (static_cast<double>(problem_.points.size()) / squares_.total);
        out.fit = {std::move(nodes), std::move(eliminated.coefficients), std::move(eliminated.offset)};
        out.quadratic = std::move(eliminated.quadratic);
        return out;
    }

    FittedKernels by_newton(NewtonCoefficients newton, Matrix nodes) const {
        const Index k = nodes.cols();
        const WorkingSquares working = problem_.loss.linearize(newton.prediction);
        EliminatedCoefficients eliminated = eliminate_coefficients<Scalar>(
            gram_matrices<Scalar>(problem_, steps_, nodes, working), working, k, terms());
        FittedKernels out;
        out.quadratic = std::move(eliminated.quadratic);
        // The elimination returns the next, untested Newton iterate; shift the gradient back to the accepted one.
        if (k > 0)
            detail::add_product_tn<Scalar>(out.quadratic.pull, out.quadratic.cross,
                                           Matrix(eliminated.coefficients - newton.coefficients));
        out.masses = std::move(newton.masses);
        out.cost = newton.cost + width_cost(nodes);
        out.fit = {std::move(nodes), std::move(newton.coefficients), std::move(newton.offset)};
        return out;
    }

    const SearchProblem& problem_;
    NodeSteps steps_;
    Priors priors_;
    WorkingSquares squares_{};  // of the squared loss: the same for every model
    double energy_{};
};

}  // namespace kernelet
