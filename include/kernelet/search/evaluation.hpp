#pragma once

#include <kernelet/search/coefficient_elimination.hpp>
#include <kernelet/search/expansion_gradient.hpp>
#include <kernelet/search/shared_level.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// An expansion whose coefficients are at their optimum, its cost and the gradient of that in the nodes.
struct FittedKernels {
    KernelExpansion fit{};
    double cost{};    ///< Σ w ℓ + ridge Σ w ‖a‖² + the cost of the widths
    Vector masses{};  ///< Σ_i w_i k_ij² / mean w, K: the effective number of samples of each kernel
    Vector pull{};    ///< −½ ∂(Σ w ℓ)/∂(z/w, log θ), Kf
    /// The curvature around these nodes, or around ones that it was kept from; none where it is not known.
    std::optional<QuadraticModel> quadratic{};

    Index size() const { return fit.size(); }

    /// The increase of the cost when kernel j is removed and no node moves: ‖a_j‖²/(G⁻¹)_jj, exactly for the
    /// squared loss.
    double removal_cost(Index j) const {
        double squares = 0.0;
        for (Index o = 0; o < fit.coefficients.cols(); ++o)
            squares += fit.coefficients(j, o) * fit.coefficients(j, o);
        return squares / quadratic->inverse(j, j);
    }
};

/// The objective of a search problem as a function of the nodes, the coefficients eliminated: exactly for the
/// squared loss, by Newton's method for others. Three costs: the cost alone O(n K (K + d)), its gradient O(n K d) more,
/// its curvature O(n (K (1 + f))²). Holds a reference to the problem.
template <class Scalar = double>
class Evaluation {
public:
    explicit Evaluation(const SearchProblem& problem)
        : problem_(problem),
          steps_(problem.kernel, problem.domain),
          priors_(problem.priors),
          gradient_(problem) {
        if (problem.loss.is_squared()) squares_ = problem.loss.linearize({});
        energy_ = at(Matrix(problem.domain.rows(), 0)).cost;
    }

    explicit Evaluation(SearchProblem&&) = delete;

    const SearchProblem& problem() const { return problem_; }
    const NodeSteps& steps() const { return steps_; }
    const WidthPrior& width_prior() const { return priors_.widths; }
    void set_ridge(double ridge) { priors_.ridge = ridge; }
    double ridge() const { return priors_.ridge; }
    /// The cost without kernels: for the squared loss Σ w ‖y‖², about the trend where there is one.
    double energy() const { return energy_; }

    /// The model at these nodes, with coefficients to begin from where that matters.
    FittedKernels at(Matrix nodes, const KernelExpansion& start = {}, const NewtonOptions& newton = {}) {
        return *improved(std::move(nodes), start, newton, std::numeric_limits<double>::infinity());
    }

    /// The model at these nodes where it costs less than `cost`.
    std::optional<FittedKernels> improved(Matrix nodes, const KernelExpansion& start,
                                          const NewtonOptions& newton, double cost) {
        const double widths = width_cost(nodes);
        FittedKernels out = problem_.loss.is_squared() ? by_least_squares(nodes)
                                                       : by_newton(nodes, start, newton, cost - widths);
        out.cost += widths;
        if (!(out.cost < cost) && cost < std::numeric_limits<double>::infinity()) return std::nullopt;
        out.fit.nodes = std::move(nodes);
        add_pull(out);
        return out;
    }

    /// The curvature at the nodes of a model, of which some move.
    QuadraticModel quadratic(const FittedKernels& model, std::vector<Index> moving) const {
        QuadraticModel out;
        const WorkingSquares working =
            problem_.loss.is_squared() ? squares_ : problem_.loss.linearize(problem_.prediction(model.fit));
        out.kernels = {model.fit.nodes, std::move(moving)};
        out.total = working.total;
        out.sums = is_shared(model.size()) ? problem_.shared->gram(out.kernels, steps_.rows(), problem_.trend)
                                           : gram_matrices<Scalar>(problem_, steps_, out.kernels, working);
        eliminate_coefficients<Scalar>(out, terms());
        return out;
    }

    /// The curvature without kernel j, of which some of the kernels that moved still do: from the sums at hand.
    /// `moving` are numbers of kernels before the removal.
    QuadraticModel without(const QuadraticModel& all, Index j, const std::vector<Index>& moving) const {
        const Index k = all.kernels.size(), first = k + problem_.outputs(), f = steps_.size();
        std::vector<Index> kept;
        for (Index c = 0; c < first; ++c)
            if (c != j) kept.push_back(c);
        QuadraticModel out;
        out.kernels.nodes = without_column(all.kernels.nodes, j);
        for (Index m = 0; m < all.kernels.moving_size(); ++m) {
            const Index i = all.kernels.moving[static_cast<std::size_t>(m)];
            if (i == j || !std::binary_search(moving.begin(), moving.end(), i)) continue;
            out.kernels.moving.push_back(i < j ? i : i - 1);
            for (Index c = 0; c < f; ++c) kept.push_back(first + m * f + c);
        }
        out.total = all.total;
        out.sums = {detail::entries_of<Scalar>(all.sums.gram, kept, kept),
                    detail::rows_of<Scalar>(all.sums.cross, kept), all.sums.trend};
        eliminate_coefficients<Scalar>(out, terms());
        return out;
    }

    /// The prior's cost of the widths of one node.
    double width_cost(const double* node) const {
        double cost = 0.0;
        for (const Index row : steps_.rows())
            if (steps_.is_width(row))
                cost += priors_.widths.cost(row - problem_.domain.dimension(), node[row]);
        return cost;
    }

private:
    double width_cost(const Matrix& nodes) const {
        double cost = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j) cost += width_cost(nodes.data() + j * nodes.rows());
        return cost;
    }

    EliminationTerms terms() const {
        return {priors_.ridge * detail::sum<Scalar>(problem_.loss.weights()), problem_.outputs()};
    }

    /// Kernel values of one strip of samples.
    void fill_values(const Matrix& nodes, Index first, const detail::Block& to) const {
        for (Index j = 0; j < nodes.cols(); ++j)
            detail::kernel_run(problem_.kernel, problem_.points, detail::column_ref(nodes, j), first,
                               to.columns(j, 1));
    }

    /// Whether all kernel values of a model are held between the passes of one evaluation: 32 MB at most. Newton's
    /// method on other losses needs them several times and always holds them.
    bool holds(Index kernels) const {
        constexpr Index most = Index{1} << 22;
        return !problem_.loss.is_squared() || problem_.points.size() * kernels <= most;
    }

    /// Φ, n x K, in memory that is used again.
    detail::ConstBlock hold_values(const Matrix& nodes) {
        const Index n = problem_.points.size(), k = nodes.cols();
        if (phi_.cols() < k)
            phi_.resize(n + 8, k);  // columns a power of two apart share their place in the cache
        const detail::Block phi = detail::Block(phi_).part(0, 0, n, k);
        detail::parallel_for(
            detail::strips_of(n),
            [&](Index s) {
                const detail::Strip strip = detail::equal_strip(s, n);
                fill_values(nodes, strip.first, phi.part(strip.first, 0, strip.rows, k));
            },
            n * k);
        return phi;
    }

    /// Whether other processes take part in the sums at a model of so many kernels.
    bool is_shared(Index kernels) const {
        return problem_.shared != nullptr && problem_.loss.is_squared() && kernels > 0 && holds(kernels);
    }

    /// [Φ t]'W[Φ t], of the squared loss.
    GramMatrices value_sums(const Matrix& nodes) {
        if (is_shared(nodes.cols())) return problem_.shared->values(nodes, problem_.trend);
        const bool held = holds(nodes.cols());
        const detail::ConstBlock phi = held ? hold_values(nodes) : detail::ConstBlock(nullptr, 0, 0, 0);
        const auto fill = [&](Index first, const detail::Block& to) {
            if (held)
                detail::copy(phi.part(first, 0, to.rows, to.cols), to);
            else
                fill_values(nodes, first, to);
        };
        return value_gram_matrices<Scalar>(problem_, nodes.cols(), squares_, fill);
    }

    FittedKernels by_least_squares(const Matrix& nodes) {
        const GramMatrices sums = value_sums(nodes);
        EliminatedCoefficients eliminated = eliminate_coefficients<Scalar>(sums, squares_.total, terms());
        FittedKernels out;
        out.cost = eliminated.cost;
        out.masses.resize(nodes.cols());
        for (Index j = 0; j < nodes.cols(); ++j)
            out.masses(j) = sums.gram(j, j) * (static_cast<double>(problem_.points.size()) / squares_.total);
        out.fit.coefficients = std::move(eliminated.coefficients);
        const detail::TrendBasis trend(problem_.trend, problem_.points);
        out.fit.offset = trend.size() > 0 ? trend.offset(eliminated.trend) : Vector::Zero(problem_.outputs());
        out.fit.slopes = trend.slopes(eliminated.trend);
        return out;
    }

    FittedKernels by_newton(const Matrix& nodes, const KernelExpansion& start, const NewtonOptions& options,
                            double needed) {
        const detail::ConstBlock phi = hold_values(nodes);
        NewtonCoefficients newton =
            NewtonElimination<Scalar>(problem_, phi, terms()).minimize(start, options, needed);
        FittedKernels out;
        out.cost = newton.cost;
        out.masses = masses(phi);
        out.fit.coefficients = std::move(newton.coefficients);
        out.fit.offset = std::move(newton.offset);
        out.fit.slopes = std::move(newton.slopes);
        return out;
    }

    Vector masses(const detail::ConstBlock& phi) const {
        const Vector& weights = problem_.loss.weights();
        const double mean = detail::sum<Scalar>(weights) / static_cast<double>(weights.size());
        Vector out(phi.cols);
        for (Index j = 0; j < phi.cols; ++j)
            out(j) = detail::weighted_squares<Scalar>(phi.column(j), weights.data(), phi.rows) / mean;
        return out;
    }

    /// At the nodes of the last evaluation.
    Matrix gradient_at(const KernelExpansion& model) const {
        if (is_shared(model.size()))
            return gradient_.joined(model, problem_.shared->gradient(model, problem_.trend)).nodes;
        return gradient_(model, holds(model.size()) ? detail::ConstBlock(phi_).part(
                                                          0, 0, problem_.points.size(), model.size())
                                                    : detail::ConstBlock(nullptr, 0, 0, 0))
            .nodes;
    }

    void add_pull(FittedKernels& out) const {
        out.pull.resize(out.size() * steps_.size());
        if (out.size() == 0) return;
        const Matrix slopes = gradient_at(out.fit);
        Index at = 0;
        for (Index j = 0; j < out.size(); ++j)
            for (const Index row : steps_.rows())
                out.pull(at++) = slopes(row, j) * steps_.unit(detail::column_ref(out.fit.nodes, j), row);
    }

    const SearchProblem& problem_;
    NodeSteps steps_;
    Priors priors_;
    ExpansionGradient<Scalar> gradient_;
    WorkingSquares squares_{};  // of the squared loss: the same for every model
    Matrix phi_{};              // the kernel values of the last model, where they are held
    double energy_{};
};

}  // namespace kernelet
