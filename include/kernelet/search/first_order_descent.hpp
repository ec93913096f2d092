#pragma once

#include <kernelet/detail/lbfgs.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/search/expansion_gradient.hpp>
#include <kernelet/search/node_steps.hpp>
#include <kernelet/search/partial_problem.hpp>
#include <kernelet/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

/// For models of more parameters than LevenbergMarquardt can solve for, n (K f)² + (K f)³ per step: coefficients,
/// centers and widths together by L-BFGS, O(n K d) per step, without the prior on widths. In the coordinates (t, u)
///     a = a₀ + U⁻¹ t, UᵀU = Φ'HΦ + ridge,    z, log θ = z₀, log θ₀ + u/√(‖a_j‖² Σ_i h_i (∂k_ij)²),
/// H half the curvature of the loss, the Gauss–Newton matrix is one in its diagonal and in the block of the
/// coefficients, which is nearly singular otherwise: a hundred such steps take 53 kernels on two digits to a third
/// of the loss that as many passes of a stochastic gradient reach. The scales only precondition, and are computed
/// from a part of the samples. Same bits for any number of threads.
template <class Scalar = double>
class FirstOrderDescent {
public:
    /// Holds a reference to the problem.
    explicit FirstOrderDescent(const SearchProblem& problem)
        : problem_(problem),
          steps_(problem.kernel, problem.domain),
          gradient_(problem),
          trend_(problem.trend, problem.points),
          ridge_(problem.priors.ridge * detail::sum<Scalar>(problem.loss.weights())) {}

    /// Lowers Σ w ℓ + ridge Σ w ‖a‖² from a model, by at most `max_steps` steps.
    KernelExpansion minimize(KernelExpansion now, Index max_steps, const FirstOrderOptions& options) const {
        constexpr Index memory = 40;  // pairs of L-BFGS: each costs as much as the numbers of a kernel
        detail::LbfgsOptions steps{.memory = memory};
        // The decrease between two scalings that counts as convergence, by the window.
        steps.least_window_progress = options.min_decrease * static_cast<double>(steps.window) /
                                      static_cast<double>(options.steps_per_scaling);
        double cost = 0.0;
        for (Index done = 0; done < max_steps; done += options.steps_per_scaling) {
            const Scales scales = scales_at(now);
            Vector x = Vector::Zero(scales.lengths.size() + scales.factor.rows() * now.coefficients.cols());
            steps.max_steps = std::min(options.steps_per_scaling, max_steps - done);
            const double next = detail::lbfgs(
                x, [&](const Vector& at, Vector& gradient) { return this->cost(now, scales, at, gradient); },
                steps);
            now = moved(now, scales, x);
            const bool converged = done > 0 && cost - next <= options.min_decrease * cost;
            cost = next;
            if (converged) break;
        }
        return now;
    }

private:
    struct Scales {
        Vector lengths{};  // K f, of a unit step in u
        Matrix factor{};   // L = Uᵀ, of the coefficients and the trend
    };

    static Vector scaled(const Scales& scales, const Vector& x) {
        Vector step(scales.lengths.size());
        for (Index i = 0; i < step.size(); ++i) step(i) = scales.lengths(i) * x(i);
        return step;
    }

    /// Coefficients per output, those of the trend included.
    Index bordered(const KernelExpansion& now) const { return now.size() + trend_.size(); }

    KernelExpansion moved(const KernelExpansion& from, const Scales& scales, const Vector& x) const {
        const Index k = from.size(), q = from.coefficients.cols(), slopes = scales.lengths.size();
        KernelExpansion to = from;
        to.nodes = steps_.move(from.nodes, scaled(scales, x));
        Matrix change(bordered(from), q);
        std::copy_n(x.data() + slopes, change.size(), change.data());
        detail::solve_lower_transposed<Scalar>(scales.factor, change);
        detail::add_scaled<Scalar>(to.coefficients, 1.0, detail::ConstBlock(change).part(0, 0, k, q));
        if (trend_.size() == 0) return to;
        const Matrix b = detail::ConstBlock(change).part(k, 0, trend_.size(), q).copied();
        detail::add_scaled<Scalar>(to.offset, 1.0, trend_.offset(b));
        if (trend_.size() > 1 && to.slopes.size() == 0) to.slopes = Matrix::Zero(trend_.size() - 1, q);
        detail::add_scaled<Scalar>(to.slopes, 1.0, trend_.slopes(b));
        return to;
    }

    /// Σ w ℓ + ridge ‖a‖² and its gradient in (u, t).
    double cost(const KernelExpansion& from, const Scales& scales, const Vector& x, Vector& gradient) const {
        const KernelExpansion at = moved(from, scales, x);
        const Index k = at.size(), q = at.coefficients.cols(), f = steps_.size();
        const typename ExpansionGradient<Scalar>::Gradient slopes = gradient_(at);
        const Matrix unbounded = steps_.unbounded(from.nodes, scaled(scales, x));
        for (Index j = 0; j < k; ++j)
            for (Index c = 0; c < f; ++c) {
                const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                // ∂/∂z and ∂/∂log θ; where the domain holds the node back, no step changes anything
                const bool held = unbounded(row, j) != at.nodes(row, j);
                gradient(j * f + c) = held ? 0.0
                                           : -2.0 * slopes.nodes(row, j) *
                                                 steps_.unit(detail::column_ref(from.nodes, j), row) *
                                                 scales.lengths(j * f + c);
            }
        const Index all = bordered(at);
        const detail::Block by_coefficient(gradient.data() + k * f, all, q, all);
        for (Index o = 0; o < q; ++o) {
            for (Index j = 0; j < k; ++j)
                by_coefficient(j, o) = -2.0 * (slopes.a(j, o) - ridge_ * at.coefficients(j, o));
            for (Index c = 0; c < trend_.size(); ++c) by_coefficient(k + c, o) = -2.0 * slopes.trend(c, o);
        }
        detail::solve_lower<Scalar>(scales.factor, by_coefficient);
        return slopes.cost + ridge_ * detail::squared_norm<Scalar>(at.coefficients);
    }

    /// U and the lengths, from a random part of the samples. O(m K (K + d)).
    Scales scales_at(const KernelExpansion& now) const {
        constexpr Index min_samples = 4096, samples_per_kernel = 8;
        constexpr std::uint64_t stream = 31;
        constexpr double rounding = 1e-10;  // of the Gram matrix, relative to its diagonal
        const Index n = problem_.points.size();
        const Index m = std::min(n, std::max(min_samples, samples_per_kernel * now.size()));
        const PartialProblem part(problem_,
                                  detail::random_part(n, m, detail::CounterRandom(problem_.seed, stream)));
        // What a sample of the part stands for.
        const double share =
            detail::sum<Scalar>(problem_.loss.weights()) / detail::sum<Scalar>(part.problem().loss.weights());
        Vector h = part.problem().loss.curvature(part.problem().prediction(now));
        detail::scale<Scalar>(h, share);
        CurvatureSums sums = curvature_sums(part.problem(), now, h);
        for (Index j = 0; j < now.size(); ++j) sums.gram(j, j) += ridge_;
        return {lengths_of(now, sums.squares), safe_factor(std::move(sums.gram), rounding)};
    }

    struct CurvatureSums {
        Matrix gram{};     // [Φ T]'H[Φ T], lower triangle
        Matrix squares{};  // Σ_i h_i (∂k_ij)², (d + p) x K
    };

    CurvatureSums curvature_sums(const SearchProblem& part, const KernelExpansion& now,
                                 const Vector& h) const {
        constexpr Index strip = 8 * detail::TiledPoints::tile;
        const detail::TiledPoints& points = part.points;
        const Index k = now.size(), all = bordered(now), rows = now.nodes.rows(), m = points.size();
        CurvatureSums sums{Matrix::Zero(all, all), Matrix::Zero(rows, k)};
        Vector root(m);
        const Vector ones = Vector::Ones(m);
        for (Index i = 0; i < m; ++i) root(i) = std::sqrt(h(i));
        Matrix columns(strip, all), jet(detail::TiledPoints::tile, 1 + rows);
        for (Index first = 0; first < m; first += strip) {
            part.poll();
            const Index count = std::min(strip, m - first);
            detail::fill(columns, 0.0);
            trend_.fill(points, first, ones.data() + first,
                        detail::Block(columns).part(0, k, count, trend_.size()));
            for (Index row = 0; row < count; row += detail::TiledPoints::tile) {
                const Index t = (first + row) / detail::TiledPoints::tile, tile = points.count(t);
                for (Index j = 0; j < k; ++j) {
                    const ConstVectorRef node = detail::column_ref(now.nodes, j);
                    if (!points.touches(t, node.data(), detail::reach_of(part.kernel, node))) continue;
                    part.kernel.jet(points.rows(t), node,
                                    detail::matrix_ref(detail::Block(jet).part(0, 0, tile, 1 + rows)));
                    std::copy_n(&jet(0, 0), tile, &columns(row, j));
                    for (Index r = 0; r < rows; ++r)
                        for (Index i = 0; i < tile; ++i)
                            sums.squares(r, j) += jet(i, 1 + r) * jet(i, 1 + r) * h(first + row + i);
                }
            }
            const detail::Block strip_rows = detail::Block(columns).part(0, 0, count, all);
            detail::scale_rows<Scalar>(strip_rows, root.data() + first, strip_rows);
            detail::rank_update_tn<Scalar>(sums.gram, strip_rows);
        }
        return sums;
    }

    /// The Cholesky factor, with as much added to the diagonal as it takes.
    static Matrix safe_factor(Matrix gram, double rounding) {
        const auto add_share = [&](double share) {
            double trace = 0.0;
            for (Index j = 0; j < gram.cols(); ++j) trace += gram(j, j);
            detail::add_to_diagonal(gram, share * trace / static_cast<double>(gram.cols()));
        };
        add_share(rounding);
        Matrix factor = gram;
        for (double jitter = rounding; !detail::cholesky<Scalar>(factor) && jitter < 1.0; jitter *= 10.0) {
            add_share(jitter);
            factor = gram;
        }
        return factor;
    }

    /// 1/√(‖a_j‖² Σ_i h_i (∂k_ij)²), the derivative along a unit step of NodeSteps.
    Vector lengths_of(const KernelExpansion& now, const Matrix& squares) const {
        constexpr double longest = 1.0;  // no step longer than a width
        // A kernel of nearly no height moves as if it had this fraction of the mean height.
        constexpr double min_height = 0.1;
        const Index f = steps_.size();
        const Vector heights = detail::row_norms<Scalar>(now.coefficients);
        const double least = min_height * detail::sum<Scalar>(heights) / static_cast<double>(heights.size());
        Vector lengths(now.size() * f);
        for (Index j = 0; j < now.size(); ++j)
            for (Index c = 0; c < f; ++c) {
                const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                const double inverse = std::max(heights(j), least) *
                                       steps_.unit(detail::column_ref(now.nodes, j), row) *
                                       std::sqrt(squares(row, j));
                lengths(j * f + c) = inverse * longest > 1.0 ? 1.0 / inverse : longest;
            }
        return lengths;
    }

    const SearchProblem& problem_;
    NodeSteps steps_;
    ExpansionGradient<Scalar> gradient_;
    detail::TrendBasis trend_;
    double ridge_;  // ridge Σ w
};

}  // namespace kernelet
