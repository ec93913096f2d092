#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/augmented_dual.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

namespace kernelet {

struct AugmentedNewtonOptions {
    StoppingOptions stopping{};
    /// Most Newton steps in all. 15 to 100 are seen.
    Index max_iterations = 300;
    /// Up to this many samples (and one output) the Newton system is a dense n x n matrix, factored: 18 MB at
    /// 1500. Above it, conjugate gradients on tiles.
    Index dense_samples = 1500;
    /// Up to this many nodes that are on, and fewer than there are samples, it is dense in the nodes instead
    /// (one output, aggregate scope).
    Index dense_nodes = 4096;
    /// Most conjugate gradient steps for one Newton step.
    Index max_inner = 100;

    void validate() const {
        stopping.validate();
        detail::require_at_least(max_iterations, 1, "solver.max_iterations");
        detail::require_at_least(dense_samples, 0, "solver.dense_samples");
        detail::require_at_least(dense_nodes, 0, "solver.dense_nodes");
        detail::require_at_least(max_inner, 1, "solver.max_inner");
    }
};

/// The augmented dual by semismooth Newton steps on all of λ. Meant for n up to some tens of thousands.
/// Second order, since K = ∫kk is numerically singular and gradient steps crawl:
/// benchmarks/paper/dual_solvers compares them.
class AugmentedNewton {
public:
    explicit AugmentedNewton(AugmentedNewtonOptions options = {}) : options_(options) { options_.validate(); }

    const AugmentedNewtonOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const {
        AugmentedDual dual(problem, options_.stopping);
        NewtonDamping damping;
        Cache cache;
        return dual.solve(options_.max_iterations, observer, [&](const auto& now) {
            const Matrix direction = newton_direction(dual, now, damping, cache);
            const Matrix field_direction = problem.field(direction, dual.quadrature().nodes);
            const double length =
                dual.search(direction, field_direction, direction.cwiseProduct(now.residual).sum());
            damping.learn(length);
            return length > 0.0;
        });
    }

private:
    /// What stays the same from step to step at γ = 0, where all nodes are on with one slope.
    struct Cache {
        Matrix samples{};  // K diag(ρ) Kᵀ, n x n
        Matrix nodes{};    // Kᵀ K, m x m
    };

    /// Solves (J/σ + K diag(ρ h) Kᵀ + c11ᵀ + damping) Δ = −(f − ŷ), in the smaller of the two spaces; the
    /// third term where there is an intercept.
    template <class Dual, class Point>
    Matrix newton_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                            Cache& cache) const {
        const Index n = dual.problem().samples();
        const std::vector<Index> on = dual.on();
        const auto m = static_cast<Index>(on.size());
        const bool one_output = dual.problem().outputs() == 1;
        if (one_output && m > 0 && m < n && m <= options_.dense_nodes &&
            (now.target.diagonal.minCoeff() > 0.0 ||
             (n > options_.dense_samples && now.target.diagonal.maxCoeff() > 0.0)))
            return low_rank_direction(dual, now, damping, on, cache);
        if (!one_output || n > options_.dense_samples) return iterative_direction(dual, now, damping, on);
        if (dual.problem().gamma > 0.0) return factored_direction(dual, now, damping, active_gram(dual, on));
        const double slope = dual.slope(0.0);
        if (cache.samples.size() == 0) cache.samples = active_gram(dual, on) / slope;
        return factored_direction(dual, now, damping, slope * cache.samples);
    }

    /// Woodbury's identity, for many samples and few nodes that are on, D = J's diagonal/σ + damping > 0:
    ///     (D + K R Kᵀ)⁻¹ = D⁻¹ − D⁻¹ K (R⁻¹ + Kᵀ D⁻¹ K)⁻¹ Kᵀ D⁻¹,   R = diag(ρ h),
    /// and Sherman and Morrison's for J's direction and for the intercept. O(n m² + m³), a strip of samples
    /// at a time.
    template <class Dual, class Point>
    static Matrix low_rank_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                     const std::vector<Index>& on, Cache& cache) {
        const Quadrature& q = dual.quadrature();
        const auto m = static_cast<Index>(on.size());
        const Matrix nodes = q.nodes(Eigen::all, on);
        Vector slopes(m);
        for (Index c = 0; c < m; ++c) {
            const Index j = on[static_cast<std::size_t>(c)];
            slopes(c) = q.weights(j) * dual.slope(dual.shifted_length(j));
        }
        // Samples that the loss holds at a kink have none: a little, so that steps are short there, not wild.
        constexpr double held = 1e-3;
        Matrix d = dual.step() * now.target.diagonal.cwiseMax(held * now.target.diagonal.mean());
        d.array() += damping.ridge(d.mean() + slopes.sum());
        const Matrix inverse = d.cwiseInverse();
        Matrix system;
        const bool uniform = d.maxCoeff() == d.minCoeff();
        if (uniform && dual.problem().gamma == 0.0) {
            if (cache.nodes.size() == 0)
                cache.nodes = node_gram(dual, nodes, Vector::Ones(dual.problem().samples()));
            system = inverse(0) * cache.nodes;
        } else {
            system = node_gram(dual, nodes, inverse.transpose());
        }
        system.diagonal() += slopes.cwiseInverse();
        const Eigen::LLT<Eigen::Ref<Matrix>> factor(system);
        const auto without_intercept = [&](const Matrix& right) -> Matrix {  // 1 x n
            const Matrix scaled = right.cwiseProduct(inverse);
            const Matrix inner = factor.solve(dual.problem().field(scaled, nodes).transpose()).transpose();
            return scaled - dual.problem().values(nodes, inner).cwiseProduct(inverse);
        };
        const double curvature = dual.intercept_curvature();
        const Matrix ones = Matrix::Ones(1, curvature > 0.0 ? dual.problem().samples() : 0);
        const Matrix constant = curvature > 0.0 ? without_intercept(ones) : Matrix{};
        const auto solve = [&](const Matrix& right) -> Matrix {
            Matrix solution = without_intercept(right);
            // (B + c11ᵀ)⁻¹ r = B⁻¹r − B⁻¹1 · c 1ᵀB⁻¹r / (1 + c 1ᵀB⁻¹1)
            if (curvature > 0.0)
                solution -= curvature * solution.sum() / (1.0 + curvature * constant.sum()) * constant;
            return solution;
        };
        const Matrix direct = solve(now.residual);
        const Matrix& v = now.target.direction;
        if (v.squaredNorm() == 0.0) return -direct;
        const Matrix along = solve(v);
        // (B − s vvᵀ)⁻¹ r = B⁻¹r + B⁻¹v · s vᵀB⁻¹r / (1 − s vᵀB⁻¹v)
        const double left = 1.0 - dual.step() * v.cwiseProduct(along).sum();
        if (!(left > 0.0)) return -direct;
        return -(direct + (dual.step() * v.cwiseProduct(direct).sum() / left) * along);
    }

    /// Kᵀ diag(w) K over the samples, its lower triangle, a strip of tiles at a time. O(n m²).
    template <class Dual>
    static Matrix node_gram(const Dual& dual, const Matrix& nodes, const Vector& w) {
        constexpr Index strip_tiles = 4;
        const detail::TiledPoints& points = dual.problem().points;
        Matrix gram = Matrix::Zero(nodes.cols(), nodes.cols());
        Matrix strip(nodes.cols(), strip_tiles * detail::TiledPoints::tile);
        Vector values(detail::TiledPoints::tile);
        for (Index first = 0; first < points.tiles(); first += strip_tiles) {
            Index filled = 0;
            for (Index t = first; t < std::min(points.tiles(), first + strip_tiles); ++t) {
                const Index count = points.count(t);
                const Vector root = w.segment(points.first(t), count).cwiseSqrt();
                for (Index c = 0; c < nodes.cols(); ++c) {
                    if (detail::out_of_reach(dual.problem().kernel, points, t, nodes.col(c)))
                        values.head(count).setZero();
                    else
                        dual.problem().kernel.values(points.rows(t), nodes.col(c), values.head(count));
                    strip.row(c).segment(filled, count) = values.head(count).cwiseProduct(root).transpose();
                }
                filled += count;
            }
            gram.selfadjointView<Eigen::Lower>().rankUpdate(strip.leftCols(filled));
        }
        return gram;
    }

    /// K diag(ρ h) Kᵀ, its lower triangle, a panel of columns at a time. O(n² |on|).
    template <class Dual>
    static Matrix active_gram(const Dual& dual, const std::vector<Index>& on) {
        constexpr Index panel_columns = 64;
        const Index n = dual.problem().samples();
        const Quadrature& q = dual.quadrature();
        Matrix h = Matrix::Zero(n, n);
        Matrix panel(n, panel_columns);
        for (std::size_t first = 0; first < on.size(); first += panel_columns) {
            const auto count = static_cast<Index>(std::min<std::size_t>(panel_columns, on.size() - first));
            // A rule lists narrow kernels side by side and the samples are in spatial order: the panel is
            // zero outside of a short range of rows.
            Index begin = n, end = 0;
            for (Index c = 0; c < count; ++c) {
                const Index j = on[first + static_cast<std::size_t>(c)];
                const auto [low, high] = detail::kernel_column(dual.problem().kernel, dual.problem().points,
                                                               q.nodes.col(j), panel.col(c));
                panel.col(c) *= std::sqrt(q.weights(j) * dual.slope(dual.shifted_length(j)));
                begin = std::min(begin, low);
                end = std::max(end, high);
            }
            if (begin >= end) continue;
            h.block(begin, begin, end - begin, end - begin)
                .template selfadjointView<Eigen::Lower>()
                .rankUpdate(panel.block(begin, 0, end - begin, count));
        }
        return h;
    }

    /// By Cholesky factors. O(n³).
    template <class Dual, class Point>
    static Matrix factored_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                     Matrix h) {
        h.diagonal() += dual.step() * now.target.diagonal.transpose();
        h.selfadjointView<Eigen::Lower>().rankUpdate(now.target.direction.transpose(), -dual.step());
        h.diagonal().array() += damping.ridge(h.trace() / static_cast<double>(h.rows()));
        if (dual.intercept_curvature() > 0.0) h.array() += dual.intercept_curvature();
        const Eigen::LDLT<Eigen::Ref<Matrix>> factor(h);
        return -factor.solve(now.residual.transpose()).transpose();
    }

    /// Conjugate gradients, each step two passes over the nodes that are on: O(n |on|) kernel values. For q
    /// outputs the slope at a node is h uuᵀ + (|a|/|b|)(I − uuᵀ), u = b/|b|.
    template <class Dual, class Point>
    Matrix iterative_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                               const std::vector<Index>& on) const {
        const Quadrature& q = dual.quadrature();
        const auto count = static_cast<Index>(on.size());
        Matrix nodes(q.nodes.rows(), count);
        Matrix along(dual.problem().outputs(), count);
        Vector slope(count), across(count);
        double mean_diagonal = dual.step() * now.target.diagonal.mean();
        for (Index c = 0; c < count; ++c) {
            const Index j = on[static_cast<std::size_t>(c)];
            const double length = dual.shifted_length(j);
            nodes.col(c) = q.nodes.col(j);
            along.col(c) = dual.shifted(j).normalized();
            slope(c) = q.weights(j) * dual.slope(length);
            across(c) = q.weights(j) * dual.slope_across(length);
            mean_diagonal += slope(c);
        }
        const double added = damping.ridge(mean_diagonal), curvature = dual.intercept_curvature();
        const auto apply = [&](const Matrix& v) -> Matrix {
            Matrix image = dual.problem().field(v, nodes);
            for (Index c = 0; c < count; ++c) {
                const double part = along.col(c).dot(image.col(c));
                image.col(c) = across(c) * image.col(c) + (slope(c) - across(c)) * part * along.col(c);
            }
            const double projected = now.target.direction.cwiseProduct(v).sum();
            Matrix result = dual.problem().values(nodes, image) +
                            dual.step() * now.target.diagonal.cwiseProduct(v) -
                            dual.step() * projected * now.target.direction + added * v;
            if (curvature > 0.0) result.colwise() += curvature * v.rowwise().sum();
            return result;
        };
        constexpr double forcing = 0.05;  // relative residual; accuracy comes from the Newton steps
        Matrix x = Matrix::Zero(now.residual.rows(), now.residual.cols());
        Matrix r = -now.residual;
        Matrix p = r;
        double rr = r.squaredNorm();
        const double goal = forcing * forcing * rr;
        for (Index step = 0; step < options_.max_inner && rr > goal; ++step) {
            const Matrix image = apply(p);
            const double curvature_along = p.cwiseProduct(image).sum();
            if (!(curvature_along > 0.0)) break;
            x += rr / curvature_along * p;
            r -= rr / curvature_along * image;
            const double next = r.squaredNorm();
            p = r + next / rr * p;
            rr = next;
        }
        return x;
    }

    AugmentedNewtonOptions options_;
};

}  // namespace kernelet
