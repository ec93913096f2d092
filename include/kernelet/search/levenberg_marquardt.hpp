#pragma once

#include <kernelet/peaks/coherence.hpp>
#include <kernelet/search/damped_steps.hpp>
#include <kernelet/search/evaluation.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// Counts of the computations of a search so far.
struct SearchCounters {
    Index minimizations{};  ///< by Levenberg and Marquardt's method
    Index steps{};          ///< of these
    Index accepted{};       ///< steps that lowered the cost
    Index evaluations{};    ///< of the objective at given nodes
    Index curvatures{};     ///< Gram matrices computed from all samples
    Index raced{};          ///< minimisations that ended early

    SearchCounters& operator+=(const SearchCounters& other) {
        minimizations += other.minimizations;
        steps += other.steps;
        accepted += other.accepted;
        evaluations += other.evaluations;
        curvatures += other.curvatures;
        raced += other.raced;
        return *this;
    }
};

/// Moves all centers and parameters of Σ_j a_j k(x, z_j; θ_j) + b at once, the coefficients eliminated (variable
/// projection, Golub and Pereyra 1973):
///     minimise over (z, log θ) of  min over (a, b) of  Σ w ℓ(Φa + b, y) + ridge Σ w ‖a‖²  +  WidthPrior.
/// Levenberg–Marquardt with Kaufman's Jacobian −P⊥ (∂Φ) a from Gram matrices: with B = ∂Φ/∂(z/w, log θ),
/// J'J = M ∘ (a a') and J'r = a ∘ B'P⊥y, for any number of outputs. Steps are in widths; the mask and the bounds of
/// the domain are kept; the ridge keeps coincident kernels safe. M is kept for some steps, a and the gradient are
/// exact at each: O(n K (K + d) + (K f)³) per step, O(n (K (1 + f))²) more where M is computed. Asks the problem's
/// watch once per step.
template <class Scalar = double>
class LevenbergMarquardt {
public:
    /// Holds a reference to the problem.
    explicit LevenbergMarquardt(const SearchProblem& problem) : evaluation_(problem) {}
    explicit LevenbergMarquardt(SearchProblem&&) = delete;

    const SearchProblem& problem() const { return evaluation_.problem(); }
    /// f, the rows of a node that may move.
    Index free_rows() const { return evaluation_.steps().size(); }
    double energy() const { return evaluation_.energy(); }
    double ridge() const { return evaluation_.ridge(); }
    void set_ridge(double ridge) { evaluation_.set_ridge(ridge); }
    const SearchCounters& counters() const { return counters_; }

    /// The model at these nodes; nothing moves.
    FittedKernels evaluate(Matrix nodes, const KernelExpansion& start = {}) {
        problem().poll();
        ++counters_.evaluations;
        return evaluation_.at(std::move(nodes), start);
    }

    FittedKernels minimize(Matrix nodes, const LevenbergMarquardtOptions& options = {}) {
        return resume(evaluate(std::move(nodes)), options);
    }

    /// The curvature at the nodes of a model, computed where it is not known there.
    void linearize(FittedKernels& model) {
        if (model.quadratic && model.quadratic->kernels.moving_size() == model.size() &&
            model.quadratic->kernels.nodes == model.fit.nodes)
            return;
        linearize(model, MovingKernels::all(model.fit.nodes).moving);
    }
    /// The same, where only some kernels move.
    void linearize(FittedKernels& model, std::vector<Index> moving) {
        ++counters_.curvatures;
        model.quadratic = evaluation_.quadratic(model, std::move(moving));
    }

    /// A model without kernel j, of which some kernels move: all in the numbers of the model. Nothing moves yet; the
    /// curvature follows from that of the model, which must be known for all of these.
    FittedKernels without(const FittedKernels& model, Index j, const std::vector<Index>& moving) {
        KernelExpansion start{without_column(model.fit.nodes, j), {}, model.fit.offset, model.fit.slopes};
        // a ← a − g a_j/g_j with g the column of G⁻¹: exact for the squared loss
        Matrix a = model.fit.coefficients;
        const Vector g = detail::column_ref(model.quadratic->inverse, j);
        const Matrix removed = detail::rows_of<Scalar>(a, {j});
        detail::add_outer<Scalar>(a, -1.0 / g(j), g.data(), removed.data());
        start.coefficients = detail::transposed<Scalar>(without_column(detail::transposed<Scalar>(a), j));
        FittedKernels out = evaluate(start.nodes, start);
        if (out.size() > 0) out.quadratic = evaluation_.without(*model.quadratic, j, moving);
        return out;
    }

    /// A model with one more kernel, and which of them move.
    FittedKernels with(const FittedKernels& model, const ConstVectorRef& node, std::vector<Index> moving) {
        KernelExpansion start{with_column(model.fit.nodes, node),
                              Matrix::Zero(model.size() + 1, problem().outputs()), model.fit.offset,
                              model.fit.slopes};
        detail::copy(model.fit.coefficients,
                     detail::Block(start.coefficients).part(0, 0, model.size(), problem().outputs()));
        FittedKernels out = evaluate(start.nodes, start);
        linearize(out, std::move(moving));
        return out;
    }

    /// The kernels of a model that are most coherent with a node, at most so many, in rising order.
    std::vector<Index> neighbours(const Matrix& nodes, const ConstVectorRef& node, Index most) const {
        std::vector<std::pair<double, Index>> order;
        for (Index j = 0; j < nodes.cols(); ++j)
            order.emplace_back(
                -coherence(problem().kernel, problem().points, node, detail::column_ref(nodes, j)), j);
        if (nodes.cols() > most) {
            std::stable_sort(order.begin(), order.end());
            order.resize(static_cast<std::size_t>(most));
        }
        std::vector<Index> found(order.size());
        std::transform(order.begin(), order.end(), found.begin(),
                       [](const auto& entry) { return entry.second; });
        std::sort(found.begin(), found.end());
        return found;
    }

    /// Continues from where an earlier minimisation ended. Ends early where a cost below `needed` is reached, or out
    /// of reach.
    FittedKernels resume(FittedKernels now, const LevenbergMarquardtOptions& options = {},
                         double needed = std::numeric_limits<double>::infinity()) {
        constexpr Index failures_per_curvature = 2;
        ++counters_.minimizations;
        if (now.size() == 0 || options.max_steps == 0) return now;
        if (!now.quadratic) linearize(now);
        const std::vector<Index> moving = now.quadratic->kernels.moving;
        double damping = options.damping, last_decrease = 0.0;
        Index age = 0, failures = 0;
        NormalEquations system = equations(now);
        const bool racing = needed < std::numeric_limits<double>::infinity();
        for (Index step = 0; step < options.max_steps && !(racing && now.cost < needed); ++step) {
            problem().poll();
            const StepDirection direction =
                steps().direction(system, detail::columns_of<Scalar>(now.fit.nodes, moving), damping);
            // Decreases fall from step to step: more than so many of the present size are not to be expected.
            if (step >= options.race_steps && now.cost - static_cast<double>(options.max_steps - step) *
                                                             std::max(direction.gain, last_decrease) >
                                                  needed) {
                ++counters_.raced;
                break;
            }
            std::optional<FittedKernels> next = stepped(now, direction.step, options.newton);
            if (!next) {
                damping *= options.damping_increase;
                if (damping > options.max_damping) break;
                if (age > 0 && ++failures >= failures_per_curvature) {
                    linearize(now, moving);
                    system = equations(now);
                    age = failures = 0;
                }
                continue;
            }
            const double decrease = now.cost - next->cost;
            last_decrease = decrease;
            const bool converged = decrease <= options.min_decrease * now.cost;
            damping = DampedSteps<Scalar>::next_damping(damping, decrease / direction.gain, options);
            next->quadratic = std::move(now.quadratic);
            now = std::move(*next);
            ++age;
            failures = 0;
            if (converged && age == 1) break;
            if (converged || age >= options.steps_per_curvature) {
                linearize(now, moving);
                age = 0;
            }
            system = equations(now);
        }
        if (static_cast<Index>(moving.size()) < now.size()) now.quadratic.reset();  // next time, all may move
        return now;
    }

    /// The cost predicted for each kernel after it is removed and the others, with all coefficients, make one damped
    /// step; no sample is visited. In the quadratic model with matrix H of (a, z/w, log θ), fixing the block c of
    /// kernel j, a_j at zero and its node where it is, costs
    ///     (t − v)_c' [(H⁻¹)_cc]⁻¹ (t − v)_c,   v the step without that, t_c = (−a_j, 0):
    /// one inverse serves all kernels. The model must be linearized. O((K f)³).
    Vector predicted_costs_without(const FittedKernels& now, double damping) const {
        const Index k = now.size(), f = free_rows(), q = problem().outputs();
        const QuadraticModel& quadratic = *now.quadratic;
        const DampedSystem damped = steps().damped(equations(now), now.fit.nodes, damping);
        Matrix inverse = Matrix::Identity(k * f, k * f);
        detail::cholesky_solve<Scalar>(damped.factor, inverse);
        const Matrix step = detail::product<Scalar>(inverse, damped.right);
        // With δ for (z/w, log θ): (H⁻¹)_aδ = −T S⁻¹, (H⁻¹)_aa = G⁻¹ + T S⁻¹ T', T = G⁻¹ Φ'WB ∘ a, S the matrix of
        // the nodes alone
        std::vector<Matrix> t, u;
        for (Index o = 0; o < q; ++o) {
            Matrix c = quadratic.cross;
            for (Index i = 0; i < c.cols(); ++i)
                detail::scale<Scalar>(detail::Block(c).columns(i, 1), now.fit.coefficients(i / f, o));
            t.push_back(detail::product<Scalar>(quadratic.inverse, c));
            u.push_back(detail::product<Scalar>(t.back(), inverse));
        }
        Vector predicted(k);
        const double reached = now.cost - detail::dot<Scalar>(step, damped.right);
        for (Index j = 0; j < k; ++j) {
            Matrix block(q + f, q + f), rest = Matrix::Zero(q + f, 1);
            for (Index o = 0; o < q; ++o) {
                const auto to = static_cast<std::size_t>(o);
                for (Index p = 0; p < q; ++p) {
                    block(o, p) = o == p ? quadratic.inverse(j, j) : 0.0;
                    for (Index i = 0; i < k * f; ++i)
                        block(o, p) += u[to](j, i) * t[static_cast<std::size_t>(p)](j, i);
                }
                for (Index c = 0; c < f; ++c) block(q + c, o) = -u[to](j, j * f + c);
                rest(o, 0) = -now.fit.coefficients(j, o);
                for (Index i = 0; i < k * f; ++i) rest(o, 0) += t[to](j, i) * step(i, 0);
            }
            for (Index c = 0; c < f; ++c) {
                for (Index d = 0; d < f; ++d) block(q + c, q + d) = inverse(j * f + c, j * f + d);
                rest(q + c, 0) = -step(j * f + c, 0);
            }
            Matrix solved = rest;
            detail::cholesky_solve<Scalar>(detail::gram_factor<Scalar>(block, 0.0, 0.0), solved);
            predicted(j) =
                reached + detail::dot<Scalar>(rest, solved) - evaluation_.width_cost(&now.fit.nodes(0, j));
        }
        return predicted;
    }

private:
    /// The model after a step of the kernels that move, where it costs less. Its coefficients begin at
    /// a − G⁻¹ Φ'WB (a ∘ step).
    std::optional<FittedKernels> stepped(const FittedKernels& now, const Vector& step,
                                         const NewtonOptions& newton) {
        ++counters_.steps;
        ++counters_.evaluations;
        const std::vector<Index>& moving = now.quadratic->kernels.moving;
        const Index f = free_rows();
        KernelExpansion start = now.fit;
        if (!problem().loss.is_squared()) {
            Matrix along = detail::rows_of<Scalar>(now.fit.coefficients, owners(moving));
            for (Index o = 0; o < along.cols(); ++o)
                for (Index i = 0; i < along.rows(); ++i) along(i, o) *= step(i);
            detail::add_product<Scalar>(start.coefficients, now.quadratic->inverse,
                                        detail::product<Scalar>(now.quadratic->cross, along), -1.0);
        }
        Vector whole = Vector::Zero(now.size() * f);
        for (std::size_t m = 0; m < moving.size(); ++m)
            std::copy_n(step.data() + static_cast<Index>(m) * f, f, whole.data() + moving[m] * f);
        std::optional<FittedKernels> next =
            evaluation_.improved(evaluation_.steps().move(now.fit.nodes, whole), start, newton, now.cost);
        if (next) ++counters_.accepted;
        return next;
    }

    /// The kernel of each row of a step.
    std::vector<Index> owners(const std::vector<Index>& moving) const {
        std::vector<Index> out;
        for (const Index j : moving) out.insert(out.end(), static_cast<std::size_t>(free_rows()), j);
        return out;
    }

    /// The equations of a step from a model.
    DampedSteps<Scalar> steps() const {
        return {problem().domain, evaluation_.steps(), evaluation_.width_prior()};
    }
    NormalEquations equations(const FittedKernels& now) const {
        return steps().equations(now.fit, *now.quadratic, now.pull);
    }

    Evaluation<Scalar> evaluation_;
    SearchCounters counters_{};
};

}  // namespace kernelet
