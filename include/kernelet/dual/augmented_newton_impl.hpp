#pragma once

#include <kernelet/dual/augmented_dual.hpp>
#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/dual/newton_matrices.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// The directions of AugmentedNewton: one Newton system, solved in the space where it is smallest.
class NewtonDirections {
public:
    explicit NewtonDirections(const AugmentedNewtonOptions& options) : options_(options) {}

    /// What is kept from step to step. The matrices are those of γ = 0, where all nodes are on with one slope.
    struct Cache {
        Matrix samples{};  // K diag(ρ) Kᵀ, n x n
        Matrix nodes{};    // Kᵀ K, m x m
        bool factored =
            false;  // several outputs: conjugate gradients failed or took long once, and would again
    };

    /// Solves (J/σ + K diag(ρ h) Kᵀ + c TᵀT + damping) Δ = −(f − ŷ), in the smaller of the two spaces; the
    /// third term where there is a trend.
    /// Several outputs: by conjugate gradients, until they fail, and from then on factored. They fail at tolerances
    /// so small that J/σ no longer covers the small eigenvalues of K = ∫kk, which is numerically singular. With a
    /// tolerance for each sample J is 0 at every sample held at an end of its interval: there they failed on nearly
    /// every problem tried, and are left out.
    template <class Dual, class Point>
    Matrix operator()(const Dual& dual, const Point& now, const NewtonDamping& damping, Cache& cache) const {
        const Index n = dual.problem().samples();
        const std::vector<Index> on = dual.on();
        const auto m = static_cast<Index>(on.size());
        const bool one_output = dual.problem().outputs() == 1;
        const double* first = now.target.diagonal.data();
        if (one_output && m > 0 && m < n && m <= options_.dense_nodes &&
            (*std::min_element(first, first + n) > 0.0 ||
             (n > options_.dense_samples && *std::max_element(first, first + n) > 0.0)))
            return low_rank_direction(dual, now, damping, on, cache);
        if (n * dual.problem().outputs() > options_.dense_samples)
            return iterative_direction(dual, now, damping, on).x;
        const bool may_iterate = !one_output && dual.problem().feasible.scope() == Scope::aggregate;
        if (may_iterate && !cache.factored) {
            Iterated found = iterative_direction(dual, now, damping, on);
            cache.factored = !found.solved || 2 * found.steps > options_.max_inner;
            if (found.solved) return std::move(found.x);
        }
        Matrix gram = sample_gram(dual, on, cache);
        if (one_output) return factored_direction(dual, now, damping, std::move(gram));
        return factored_direction(dual, now, damping, output_gram(dual, on, gram));
    }

private:
    /// Woodbury's identity, for many samples and few nodes that are on, D = J's diagonal/σ + damping > 0:
    ///     (D + K R Kᵀ)⁻¹ = D⁻¹ − D⁻¹ K (R⁻¹ + Kᵀ D⁻¹ K)⁻¹ Kᵀ D⁻¹,   R = diag(ρ h),
    /// and again for the trend and for J's direction. O(n m² + m³), a strip of samples at a time.
    template <class Dual, class Point>
    static Matrix low_rank_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                     const std::vector<Index>& on, Cache& cache) {
        const Index n = dual.problem().samples();
        const Vector slopes = slopes_of(dual, on);
        const Vector inverse = inverse_diagonal(dual, now, damping, sum(slopes));  // D⁻¹
        Matrix system;
        const bool uniform = *std::max_element(inverse.data(), inverse.data() + n) ==
                             *std::min_element(inverse.data(), inverse.data() + n);
        if (uniform && dual.problem().gamma == 0.0) {
            if (cache.nodes.size() == 0) cache.nodes = node_gram(dual, on, Vector::Ones(n));
            system = cache.nodes;
            scale(system, inverse(0));
        } else {
            system = node_gram(dual, on, inverse);
        }
        for (Index c = 0; c < slopes.size(); ++c) system(c, c) += 1.0 / slopes(c);
        cholesky(system, dual.problem().poll());
        const auto without_trend = [&](const Matrix& right) -> Matrix {  // 1 x n
            Matrix solution = with_scaled_columns(right, inverse.data());
            Matrix inner = transposed(dual.kernel_values().field(solution, on));
            cholesky_solve(system, inner);
            const Matrix image = dual.kernel_values().values(transposed(inner), on);
            for (Index i = 0; i < n; ++i) solution(0, i) -= image(0, i) * inverse(i);
            return solution;
        };
        // (B + c TᵀT)⁻¹ r = B⁻¹r − B⁻¹Tᵀ (I/c + T B⁻¹Tᵀ)⁻¹ T B⁻¹r
        const Matrix& functions = dual.trend_functions();
        const Index t = functions.rows();
        Matrix images(t, n), inner(t, t);
        for (Index c = 0; c < t; ++c)
            copy(without_trend(rows_of(functions, {c})), Block(images).part(c, 0, 1, n));
        if (t > 0) {
            inner = product_nt(functions, images);
            add_to_diagonal(inner, 1.0 / dual.trend_curvature());
            cholesky(inner);
        }
        const auto solve = [&](const Matrix& right) -> Matrix {
            Matrix solution = without_trend(right);
            if (t == 0) return solution;
            Matrix along = product_nt(functions, solution);
            cholesky_solve(inner, along);
            add_product_tn(solution, along, images, -1.0);
            return solution;
        };
        Matrix direction = solve(now.residual);
        const Matrix& v = now.target.direction;
        if (any_nonzero(v)) {
            // (B − s vvᵀ)⁻¹ r = B⁻¹r + B⁻¹v · s vᵀB⁻¹r / (1 − s vᵀB⁻¹v)
            const Matrix along = solve(v);
            const double left = 1.0 - dual.step() * dot(v, along);
            if (left > 0.0) add_scaled(direction, dual.step() * dot(v, direction) / left, along);
        }
        scale(direction, -1.0);
        return direction;
    }

    /// 1/(J's diagonal/σ + damping), n. Samples that the loss holds at a kink have no curvature: they get a
    /// small share of the mean, so that steps there are short.
    template <class Dual, class Point>
    static Vector inverse_diagonal(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                   double slopes) {
        constexpr double held = 1e-3;
        const Matrix& diagonal = now.target.diagonal;
        const auto n = static_cast<double>(diagonal.cols());
        const double least = held * sum(diagonal) / n;
        Vector d(diagonal.cols());
        for (Index i = 0; i < d.size(); ++i) d(i) = dual.step() * std::max(diagonal(0, i), least);
        const double added = damping.ridge(sum(d) / n + slopes);
        for (Index i = 0; i < d.size(); ++i) d(i) = 1.0 / (d(i) + added);
        return d;
    }

    /// K diag(ρ s) Kᵀ, its lower triangle, s the slope h of one output, |a|/|b| of several. From the cache at
    /// γ = 0, where both are the same at all nodes.
    template <class Dual>
    static Matrix sample_gram(const Dual& dual, const std::vector<Index>& on, Cache& cache) {
        if (dual.problem().gamma > 0.0)
            return active_gram(dual, on,
                               dual.problem().outputs() == 1 ? slopes_of(dual, on) : slopes_across(dual, on));
        const double slope = dual.slope(0.0);
        if (cache.samples.size() == 0) {
            cache.samples = active_gram(dual, on, slopes_of(dual, on));
            scale(cache.samples, 1.0 / slope);
        }
        Matrix h = cache.samples;
        scale(h, slope);
        return h;
    }

    /// By a factorisation of the matrix, of order N = nq. O(N³).
    template <class Dual, class Point>
    static Matrix factored_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                     Matrix h) {
        const Index order = h.rows(), outputs = dual.problem().outputs();
        double trace = 0.0;
        for (Index i = 0; i < order; ++i) h(i, i) += dual.step() * now.target.diagonal(i);
        rank_update_tn(h, ConstBlock(now.target.direction.data(), 1, order, 1), -dual.step());
        for (Index i = 0; i < order; ++i) trace += h(i, i);
        add_to_diagonal(h, damping.ridge(trace / static_cast<double>(order)));
        const Matrix& functions = dual.trend_functions();
        for (Index j = 0; j < order; ++j)
            for (Index i = j; i < order; i += outputs)
                for (Index c = 0; c < functions.rows(); ++c)
                    h(i, j) += dual.trend_curvature() * functions(c, i / outputs) * functions(c, j / outputs);
        Matrix direction = now.residual, factor = h;
        const Block right(direction.data(), order, 1, order);
        // With pivots where samples may be held at an end of their interval, which leaves the matrix singular up to
        // rounding, and where rounding has made it indefinite.
        const bool regular = dual.problem().feasible.scope() == Scope::aggregate;
        if (regular && cholesky(factor, dual.problem().poll()))
            cholesky_solve(factor, right);
        else
            ldlt_solve(h, right, dual.problem().poll());
        scale(direction, -1.0);
        return direction;
    }

    /// The Newton system of q outputs as a linear map. The slope at a node that is on is
    /// h uuᵀ + (|a|/|b|)(I − uuᵀ), u = b/|b|.
    template <class Dual, class Point>
    struct NewtonMap {
        const Dual& dual;
        const Point& now;
        const std::vector<Index>& on;
        Matrix along;          // u, q x nodes
        Vector slope, across;  // ρ h and ρ |a|/|b|
        double added = 0.0;    // damping

        NewtonMap(const Dual& dual_, const Point& now_, const NewtonDamping& damping,
                  const std::vector<Index>& on_)
            : dual(dual_),
              now(now_),
              on(on_),
              along(dual_.problem().outputs(), count()),
              slope(count()),
              across(count()) {
            const Matrix& diagonal = now.target.diagonal;
            double mean_diagonal = dual.step() * sum(diagonal) / static_cast<double>(diagonal.size());
            for (Index c = 0; c < count(); ++c) {
                const Index j = on[static_cast<std::size_t>(c)];
                const double length = dual.shifted_length(j), weight = dual.quadrature().weights(j);
                const Vector b = dual.shifted(j);
                for (Index o = 0; o < b.size(); ++o) along(o, c) = length > 0.0 ? b(o) / length : b(o);
                slope(c) = weight * dual.slope(length);
                across(c) = weight * dual.slope_across(length);
                mean_diagonal += slope(c);
            }
            added = damping.ridge(mean_diagonal);
        }

        Index count() const { return static_cast<Index>(on.size()); }

        /// O(n |on|), twice.
        Matrix operator()(const Matrix& v) const {
            Matrix image = dual.kernel_values().field(v, on);
            for (Index c = 0; c < count(); ++c) {
                double part = 0.0;
                for (Index o = 0; o < image.rows(); ++o) part += along(o, c) * image(o, c);
                for (Index o = 0; o < image.rows(); ++o)
                    image(o, c) = across(c) * image(o, c) + (slope(c) - across(c)) * part * along(o, c);
            }
            Matrix result = dual.kernel_values().values(image, on);
            const double projected = dot(now.target.direction, v);
            const Matrix& diagonal = now.target.diagonal;
            for (Index i = 0; i < v.size(); ++i)
                result(i) +=
                    dual.step() * (diagonal(i) * v(i) - projected * now.target.direction(i)) + added * v(i);
            if (const Matrix& functions = dual.trend_functions(); functions.rows() > 0)
                add_product(result, product_nt(v, functions), functions, dual.trend_curvature());
            return result;
        }
    };

    /// What conjugate gradients found.
    struct Iterated {
        Matrix x{};
        bool solved{};  // to the requested accuracy
        Index steps{};
    };

    /// Conjugate gradients on NewtonMap.
    template <class Dual, class Point>
    Iterated iterative_direction(const Dual& dual, const Point& now, const NewtonDamping& damping,
                                 const std::vector<Index>& on) const {
        constexpr double forcing = 0.05;  // relative residual; accuracy comes from the Newton steps
        const NewtonMap<Dual, Point> apply(dual, now, damping, on);
        Matrix x = Matrix::Zero(now.residual.rows(), now.residual.cols());
        Matrix r = now.residual;
        scale(r, -1.0);
        Matrix p = r;
        double rr = squared_norm(r);
        const double goal = forcing * forcing * rr;
        Index step = 0;
        for (; step < options_.max_inner && rr > goal; ++step) {
            const Matrix image = apply(p);
            const double curvature_along = dot(p, image);
            if (!(curvature_along > 0.0)) break;
            add_scaled(x, rr / curvature_along, p);
            add_scaled(r, -rr / curvature_along, image);
            const double next = squared_norm(r);
            scale(p, next / rr);
            add_scaled(p, 1.0, r);
            rr = next;
        }
        return {std::move(x), rr <= goal, step};
    }

    const AugmentedNewtonOptions& options_;
};

}  // namespace detail

template <class Kernel, class Loss, class Domain>
DualSolution AugmentedNewton::solve(const DualProblem<Kernel, Loss, Domain>& problem,
                                    const ObserverFunction& observer) const {
    AugmentedDual dual(problem, options_.stopping);
    NewtonDamping damping;
    const detail::NewtonDirections newton_direction(options_);
    detail::NewtonDirections::Cache cache;
    return dual.solve(options_.max_iterations, observer, [&](const auto& now) {
        const Matrix direction = newton_direction(dual, now, damping, cache);
        const Matrix field_direction = dual.kernel_values().field(direction);
        const double length = dual.search(direction, field_direction, detail::dot(direction, now.residual));
        damping.learn(length);
        return length > 0.0;
    });
}

}  // namespace kernelet
