#pragma once

#include <kernelet/detail/trend_basis.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/dual_trend.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/dual/metric_step.hpp>
#include <kernelet/dual/sketched_metric.hpp>
#include <kernelet/dual/solver_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// λ and α at the nodes of one batch, with ᾱ, which is linear in λ, and f, which is linear in α: means of points are
/// points.
struct PrimalDualPoint {
    Matrix lambda{};      ///< q x n
    Matrix field{};       ///< ᾱ, q x B
    Matrix alpha{};       ///< q x B
    Matrix trend{};       ///< b, q x t
    Matrix prediction{};  ///< f = Σ_j ρ_j α_j k_j + bT, q x n

    /// this ← this + share (other − this)
    void move_towards(const PrimalDualPoint& other, double share) {
        const auto mix = [&](Matrix& mine, const Matrix& theirs) {
            detail::scale(mine, 1.0 - share);
            detail::add_scaled(mine, share, theirs);
        };
        mix(lambda, other.lambda);
        mix(field, other.field);
        mix(alpha, other.alpha);
        mix(trend, other.trend);
        mix(prediction, other.prediction);
    }
};

/// Algorithm 1 on one batch of nodes, as a primal-dual method (Chambolle and Pock 2011) in the metric of K. One iteration:
///     λ⁺ = argmax over λ of  min over ŷ ∈ C ⟨λ, ŷ⟩ − ⟨2f − f_before, λ⟩ − ½‖λ − λ_k‖²_{sP}    (line 5, see MetricStep)
///     α⁺ = argmax over a of  ⟨a, ᾱ⁺⟩ − φ**(a) − ‖a − α_k‖²/(2s)                                (line 4)
/// For s → ∞ the second is the thresholding of line 4; with s finite α tends to a feasible α, fractional at the kinks,
/// where the α_d of any λ is none. The saddle point does not depend on s > 0, the speed does: s rises where the gap
/// is not met, which needs longer steps of α, and falls where the violation is not, which needs longer steps of λ.
/// Averages over the iterations since the last restart are a candidate at each check; where a candidate has improved
/// enough the method begins again from it (restarts: Applegate, Hinder, Lu, Lubin 2023). P bounds K along every step, or
/// is raised. Memory O(r n + B); per iteration one pass over samples and nodes, one over the nodes that are on, and
/// O(r² n); per check, every fifth iteration, up to three passes more where there is a trend. Holds references.
template <class Kernel, class Loss, class Domain>
class PrimalDualAscent {
public:
    using Problem = DualProblem<Kernel, Loss, Domain>;

    struct Goals {
        double gap{};
        double violation{};  ///< relative to the size of y
    };

    PrimalDualAscent(const PrimalDualAscent&) = delete;  // holds references to its own nodes
    PrimalDualAscent& operator=(const PrimalDualAscent&) = delete;

    /// Begins at λ, or where there is none at y.
    PrimalDualAscent(const Problem& problem, Quadrature quadrature, Index rank, const Matrix* lambda)
        : problem_(problem),
          q_(std::move(quadrature)),
          values_(problem, q_.nodes),
          tau_(penalty::threshold(problem.gamma)),
          trend_{detail::TrendBasis(problem.trend, problem.points).values(problem.points), {}},
          scale_(size_about_trend(problem.feasible.target(), trend_)),
          metric_(sketched_metric(problem, q_.weights, values_, rank)) {
        add_trend_to_metric();
        start(lambda);
    }

    /// The last point, and the mean of the points since the last restart.
    const PrimalDualPoint& last() const { return now_; }
    const PrimalDualPoint& average() const { return average_; }

    /// Goes on from the last point until the goals are met. report(best) is called once per iteration and returns
    /// whether to go on. Returns the best candidate of all checks.
    template <class Report>
    DualSolution run(const Goals& goals, Index max_iterations, const Report& report) {
        goals_ = goals;
        DualSolution& best = best_.solution;
        best.status = Status::iteration_limit;
        best.iterations = 0;
        try {
            if (best.lambda.size() == 0) best_ = candidate_at(now_);
            restarted_merit_ = merit_of(best_);
            if (!(metric_.largest > 0.0))  // no kernel reaches a sample
                best.status = restarted_merit_ <= 1.0 ? Status::converged : Status::infeasible;
            for (Index k = 1; k <= max_iterations && best.status == Status::iteration_limit; ++k) {
                iterate();
                best.iterations = k;
                if (!detail::all_finite(now_.lambda))
                    best.status = Status::diverged;
                else if (k % check_every == 0 || k == max_iterations)
                    check();
                if (!report(best) && best.status == Status::iteration_limit) best.status = Status::stopped;
            }
        } catch (const Interrupted&) {
            best.status = Status::stopped;
        }
        return best;
    }

private:
    /// A point with its bounds. P is the cost of an α that need not be feasible: making it so costs about
    /// ⟨λ, f − P_C(f)⟩ more.
    struct Candidate {
        DualSolution solution{};
        double price{};  ///< |⟨λ, f − P_C(f)⟩|
    };

    static constexpr Index check_every = 5;
    // A restart is worth it where the merit is this fraction of that at the last one, and due after this fraction of all
    // iterations (as in PDLP, Applegate et al. 2021, whose fractions are 0.2, 0.8 and 0.36).
    static constexpr double enough = 0.4;
    static constexpr double longest_share = 0.36;
    // s follows the root of the ratio of what is left of gap and violation, by at most this factor per restart; what is
    // below this fraction of its goal counts as met.
    static constexpr double most_change = 2.0, met = 1e-3;
    static constexpr double easier = 4.0;  // multiple of `rest` after a step that could not be computed

    /// Compares the last point and the average with the best so far, and begins again where that is worth it.
    void check() {
        Candidate last = candidate_at(now_), mean = candidate_at(average_);
        const bool take_mean = merit_of(mean) < merit_of(last);
        Candidate& candidate = take_mean ? mean : last;
        const double reached = merit_of(candidate);
        const double ratio = (gap_merit(candidate) + met) / (violation_merit(candidate) + met);
        if (reached <= merit_of(best_)) take(std::move(candidate));
        const auto since = static_cast<double>(iterations_ - restarted_);
        const bool long_ago = since >= longest_share * static_cast<double>(iterations_);
        if (reached > enough * restarted_merit_ && !long_ago) return;
        if (take_mean) now_ = average_;
        before_ = now_.prediction;
        s_ *= std::isfinite(ratio) ? std::clamp(std::sqrt(ratio), 1.0 / most_change, most_change) : 1.0;
        averaged_ = 0;
        average_ = now_;
        restarted_ = iterations_;
        restarted_merit_ = reached;
    }

    void take(Candidate candidate) {
        candidate.solution.iterations = best_.solution.iterations;
        best_ = std::move(candidate);
        if (merit_of(best_) <= 1.0)
            best_.solution.status = Status::converged;
        else if (InfeasibilityTest{}.proves(problem_, best_.solution.lambda,
                                            values_.field(best_.solution.lambda), q_.weights))
            best_.solution.status = Status::infeasible;
    }

    /// The trend as t more nodes without a penalty, whose step is that of the strongest direction of K.
    void add_trend_to_metric() {
        if (!trend_.exists()) return;
        trend_curvature_ = metric_.largest / static_cast<double>(problem_.samples());
        const Index r = metric_.factor.rows(), t = trend_.functions.rows(), n = problem_.samples();
        Matrix all(r + t, n);
        detail::copy(metric_.factor, detail::Block(all).part(0, 0, r, n));
        detail::copy(trend_.functions, detail::Block(all).part(r, 0, t, n));
        detail::scale(detail::Block(all).part(r, 0, t, n), std::sqrt(trend_curvature_));
        metric_.set_factor(std::move(all));
    }

    void start(const Matrix* lambda) {
        const Matrix& y = problem_.feasible.target();
        now_.lambda = trend_.without(lambda != nullptr ? *lambda : y);
        now_.lambda = problem_.feasible.into_barrier_cone(std::move(now_.lambda));
        now_.field = values_.field(now_.lambda);
        const double multiple =
            best_multiple(problem_.feasible.minimum(now_.lambda), now_.field, q_.weights, tau_);
        // Where λ shows no ascent, a start from elsewhere keeps it: it may be right up to rounding.
        if (multiple > 0.0 || lambda == nullptr) {
            detail::scale(now_.lambda, multiple);
            detail::scale(now_.field, multiple);
        }
        now_.alpha = thresholded(now_.field, tau_);
        now_.trend = Matrix::Zero(y.rows(), trend_.functions.rows());
        now_.prediction = prediction_of(now_.alpha, now_.trend);
        if (trend_.exists()) {
            now_.trend = trend_.of(y - now_.prediction);
            now_.prediction = prediction_of(now_.alpha, now_.trend);
        }
        before_ = now_.prediction;
        average_ = now_;
        averaged_ = 0;
        s_ = first_ratio();
    }

    /// ‖α‖/‖ᾱ‖ over the nodes: the steps of both are then in proportion. A tenth where nothing is on yet.
    double first_ratio() const {
        constexpr double of_nothing = 0.1;
        const double length = weighted_norm(now_.field);
        const double ratio = length > 0.0 ? weighted_norm(now_.alpha) / length : 0.0;
        return ratio > 0.0 ? ratio : (tau_ > 0.0 ? of_nothing : 1.0);
    }

    double weighted_norm(const Matrix& at_nodes) const {
        double sum = 0.0;
        for (Index j = 0; j < at_nodes.cols(); ++j)
            sum += q_.weights(j) * detail::column_squares(at_nodes, j);
        return std::sqrt(sum);
    }

    Matrix prediction_of(const Matrix& alpha, const Matrix& trend) const {
        std::vector<Index> on;
        for (Index j = 0; j < alpha.cols(); ++j)
            if (tau_ == 0.0 || detail::any_nonzero(detail::ConstBlock(alpha).columns(j, 1))) on.push_back(j);
        const Matrix all = weighted(alpha, q_.weights);
        Matrix f = 2 * static_cast<Index>(on.size()) < alpha.cols()
                       ? values_.values(detail::columns_of(all, on), on)
                       : values_.values(all);
        if (trend_.exists()) detail::add_product(f, trend, trend_.functions);
        return f;
    }

    void iterate() {
        ++iterations_;
        Matrix ahead = now_.prediction;  // 2f − f_before
        detail::scale(ahead, 2.0);
        detail::add_scaled(ahead, -1.0, before_);
        auto step = MetricStep<Loss>(problem_.feasible, metric_, s_)(now_.lambda, ahead);
        Matrix& lambda = step.lambda;
        Matrix field = values_.field(lambda);
        // C is a polyhedron for some losses: through a metric of smaller condition the next step is easier to compute.
        if (!step.exact)
            metric_.rest = std::max(metric_.rest, std::min(easier * metric_.rest, metric_.largest));
        raise_rest(lambda - now_.lambda, field - now_.field);
        now_.lambda = std::move(lambda);
        now_.field = std::move(field);
        move_alpha();
        if (trend_.exists())
            detail::add_scaled(now_.trend, s_ * trend_curvature_,
                               detail::product_nt(now_.lambda, trend_.functions));
        before_ = std::exchange(now_.prediction, prediction_of(now_.alpha, now_.trend));
        average_.move_towards(now_, 1.0 / static_cast<double>(++averaged_));
    }

    /// α⁺ = prox(ᾱ⁺ + α/s), see penalty::proximal_length.
    void move_alpha() {
        const double delta = 1.0 / s_;
        detail::scale(now_.alpha, delta);
        detail::add_scaled(now_.alpha, 1.0, now_.field);
        for (Index j = 0; j < now_.alpha.cols(); ++j) {
            const double length = detail::column_norm(now_.alpha, j);
            const double factor = length > 0.0 ? penalty::proximal_length(length, tau_, delta) / length : 0.0;
            for (Index o = 0; o < now_.alpha.rows(); ++o) now_.alpha(o, j) *= factor;
        }
    }

    /// ‖Δλ‖_P ≥ ‖Δλ‖_K = ‖Δᾱ‖ must hold, or the iteration may diverge: `rest` is an estimate. Raised with some room where a
    /// step shows it to be too low.
    void raise_rest(const Matrix& step, const Matrix& field_step) {
        constexpr double room = 1.1;
        const double field_length = weighted_norm(field_step);
        const Matrix along = detail::product_nt(step, metric_.factor);
        const double squares = detail::squared_norm(step);
        double missing = field_length * field_length - detail::squared_norm(along);
        if (trend_.exists())  // V has the functions of the trend too
            missing += trend_curvature_ * detail::squared_norm(detail::product_nt(step, trend_.functions));
        if (missing > metric_.rest * squares && squares > 0.0) metric_.rest = room * missing / squares;
    }

    /// D at λ, in the trend's subspace where there is one, P and the violation of α.
    Candidate candidate_at(const PrimalDualPoint& point) const {
        Candidate out;
        DualSolution& s = out.solution;
        s.quadrature = q_;
        s.lambda = point.lambda;
        s.alpha = point.alpha;
        s.trend = point.trend;
        if (trend_.exists()) s.lambda = balanced(std::move(s.lambda), trend_.functions);
        const double phi_here =
            phi(trend_.exists() ? values_.field(s.lambda) : point.field, q_.weights, tau_);
        s.dual_value = problem_.feasible.minimum(s.lambda) - phi_here;
        s.primal_value = primal_cost(point.alpha, q_.weights, tau_);
        s.violation = problem_.feasible.violation(point.prediction);
        Matrix outside = point.prediction;
        detail::add_scaled(outside, -1.0, problem_.feasible.project(point.prediction).point);
        out.price = std::abs(detail::dot(s.lambda, outside));
        return out;
    }

    /// At most 1 where the goals are met.
    double merit_of(const Candidate& c) const {
        const double merit = std::max(gap_merit(c), violation_merit(c));
        return std::isnan(merit) ? std::numeric_limits<double>::infinity() : merit;
    }
    /// The merit of the gap, and of the gap with the price of the violation added.
    double gap_merit(const Candidate& c) const {
        const DualSolution& s = c.solution;
        const double priced = relative_gap(s.primal_value + c.price, s.dual_value);
        return std::max(std::abs(s.relative_gap()), std::abs(priced)) / goals_.gap;
    }
    double violation_merit(const Candidate& c) const {
        const double scale = std::max(std::abs(c.solution.primal_value), std::abs(c.solution.dual_value));
        return std::max(c.solution.violation / (goals_.violation * scale_),
                        scale > 0.0 ? c.price / (goals_.gap * scale) : 0.0);
    }

    const Problem& problem_;
    Quadrature q_;
    NodeValues<Problem> values_;
    double tau_;
    Goals goals_{1.0, 1.0};
    ProximalTrend trend_;
    double scale_;  // of y
    SketchedMetric metric_;
    double trend_curvature_ = 0.0;
    double s_ = 1.0;
    PrimalDualPoint now_{}, average_{};
    Index averaged_ = 0;  // points in the average
    Matrix before_{};     // the prediction of the iteration before
    Candidate best_{};    // of all checks
    Index iterations_ = 0, restarted_ = 0;
    double restarted_merit_ = 0.0;
};

}  // namespace kernelet
