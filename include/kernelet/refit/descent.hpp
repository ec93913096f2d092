#pragma once

#include <kernelet/detail/lbfgs.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/refit/model_slopes.hpp>
#include <kernelet/refit/node_steps.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

struct DescentOptions {
    Index max_steps = 400;
    /// Steps after which the scales are taken anew, which forgets what steps have told of the curvature: at
    /// 20 the loss of 200 kernels on two digits is a third higher after as many steps.
    Index steps_a_scale = 80;
    /// Relative decrease of the cost, between two scales, at which it has arrived.
    double least_gain = 0.05;
};

/// For models of more parameters than Slide could solve for, n (K f)² + (K f)³ a step: coefficients, centers
/// and widths together by L-BFGS, O(n K d) a step. In the coordinates (t, u)
///     a = a₀ + U⁻¹ t, UᵀU = Φ'HΦ + ridge,    z, log θ = z₀, log θ₀ + u/√(‖a_j‖² Σ_i h_i (∂k_ij)²),
/// H half the loss's curvature, the Gauss–Newton matrix is one in its diagonal and in the block of the
/// coefficients, which is all but singular otherwise: a hundred such steps take 53 kernels on two digits to a
/// third of the loss that as many passes of a stochastic gradient reach. The scales only steer, and are taken
/// from a part of the samples. Same bits for any number of threads.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
class Descent {
public:
    /// Of Σ w ℓ + ridge Σ w ‖a‖². Holds references: lives no longer than what it was made of.
    Descent(const Kernel& kernel, const Omega& domain, const detail::TiledPoints& points,
            const SmoothedLoss<Loss>& loss, double ridge, bool intercept)
        : kernel_(kernel),
          steps_(kernel, domain),
          points_(points),
          loss_(loss),
          slopes_(kernel, points, loss),
          ridge_(ridge * detail::sum(loss.weights())),
          intercept_(intercept) {}

    KernelExpansion operator()(KernelExpansion now, const DescentOptions& options) const {
        constexpr Index memory =
            40;  // pairs of L-BFGS: each costs as much as a kernel's numbers, no kernel value
        double cost = 0.0;
        for (Index done = 0; done < options.max_steps; done += options.steps_a_scale) {
            const Scales scales = scales_at(now);
            Vector x = Vector::Zero(scales.lengths.size() + scales.factor.rows() * now.a.cols());
            const double next = detail::lbfgs(
                x, [&](const Vector& at, Vector& gradient) { return this->cost(now, scales, at, gradient); },
                {.max_steps = std::min(options.steps_a_scale, options.max_steps - done), .memory = memory});
            now = moved(now, scales, x);
            const bool arrived = done > 0 && cost - next <= options.least_gain * cost;
            cost = next;
            if (arrived) break;
        }
        return now;
    }

private:
    struct Scales {
        Vector lengths{};  // K f, of a step of one in u
        Matrix factor{};   // L = Uᵀ, of the coefficients and the offset
    };

    static Vector scaled(const Scales& scales, const Vector& x) {
        Vector step(scales.lengths.size());
        for (Index i = 0; i < step.size(); ++i) step(i) = scales.lengths(i) * x(i);
        return step;
    }

    Index bordered(const KernelExpansion& now) const { return now.size() + (intercept_ ? 1 : 0); }

    KernelExpansion moved(const KernelExpansion& from, const Scales& scales, const Vector& x) const {
        const Index k = from.size(), q = from.a.cols(), slopes = scales.lengths.size();
        KernelExpansion to = from;
        to.nodes = steps_.move(from.nodes, scaled(scales, x));
        Matrix change = Eigen::Map<const Matrix>(x.data() + slopes, bordered(from), q);
        detail::solve_lower_transposed(scales.factor, change);
        detail::add_scaled(to.a, 1.0, detail::ConstBlock(change).part(0, 0, k, q));
        if (intercept_)
            for (Index o = 0; o < q; ++o) to.offset(o) += change(k, o);
        return to;
    }

    /// Σ w ℓ + ridge ‖a‖² and its gradient in (u, t).
    double cost(const KernelExpansion& from, const Scales& scales, const Vector& x, Vector& gradient) const {
        const KernelExpansion at = moved(from, scales, x);
        const Index k = at.size(), q = at.a.cols(), f = steps_.size();
        const typename ModelSlopes<Kernel, Loss>::Slopes slopes = slopes_(at);
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
                by_coefficient(j, o) = -2.0 * (slopes.a(j, o) - ridge_ * at.a(j, o));
            if (intercept_) by_coefficient(k, o) = -2.0 * slopes.offset(o);
        }
        detail::solve_lower(scales.factor, by_coefficient);
        return slopes.cost + ridge_ * detail::squared_norm(at.a);
    }

    /// U and the lengths, from so many samples that they are known to a part of themselves. O(m K (K + d)).
    Scales scales_at(const KernelExpansion& now) const {
        constexpr Index least_samples = 4096, samples_a_kernel = 8;
        constexpr std::uint64_t seed = 1, stream = 31;
        constexpr double rounding = 1e-10;  // of the Gram matrix, relative to its diagonal
        constexpr Index strip = 8 * detail::TiledPoints::tile;
        const Index k = now.size(), all = bordered(now), rows = now.nodes.rows(), n = points_.size();
        const Index m = std::min(n, std::max(least_samples, samples_a_kernel * k));
        const std::vector<Index> part = detail::random_part(n, m, detail::CounterRandom(seed, stream));
        const detail::TiledPoints points = points_.some(part);
        const Matrix y = detail::columns_of(loss_.target(), part);
        const Vector weights = detail::entries_of(loss_.weights(), part);
        const SmoothedLoss<Loss> loss = loss_.on(y, weights);
        const double share = detail::sum(loss_.weights()) / detail::sum(weights);  // what the part stands for
        Vector h = loss.curvature(expansion_values(kernel_, points, now)), root(m);
        detail::scale(h, share);
        for (Index i = 0; i < m; ++i) root(i) = std::sqrt(h(i));
        Matrix gram = Matrix::Zero(all, all), squares = Matrix::Zero(rows, k);
        Matrix columns(strip, all), jet(detail::TiledPoints::tile, 1 + rows);
        for (Index first = 0; first < m; first += strip) {
            const Index count = std::min(strip, m - first);
            detail::fill(columns, 0.0);
            if (intercept_) detail::fill(detail::Block(columns).columns(k, 1), 1.0);
            for (Index row = 0; row < count; row += detail::TiledPoints::tile) {
                const Index t = (first + row) / detail::TiledPoints::tile, tile = points.count(t);
                for (Index j = 0; j < k; ++j) {
                    const ConstVectorRef node = detail::column_ref(now.nodes, j);
                    if (!points.touches(t, node.data(), detail::reach_of(kernel_, node))) continue;
                    kernel_.jet(points.rows(t), node,
                                detail::matrix_ref(detail::Block(jet).part(0, 0, tile, 1 + rows)));
                    std::copy_n(&jet(0, 0), tile, &columns(row, j));
                    for (Index r = 0; r < rows; ++r)
                        for (Index i = 0; i < tile; ++i)
                            squares(r, j) += jet(i, 1 + r) * jet(i, 1 + r) * h(first + row + i);
                }
            }
            const detail::Block strip_rows = detail::Block(columns).part(0, 0, count, all);
            detail::scale_rows(strip_rows, root.data() + first, strip_rows);
            detail::rank_update_tn(gram, strip_rows);
        }
        for (Index j = 0; j < k; ++j) gram(j, j) += ridge_;
        return {lengths_of(now, squares), safe_factor(std::move(gram), rounding)};
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
        for (double jitter = rounding; !detail::cholesky(factor) && jitter < 1.0; jitter *= 10.0) {
            add_share(jitter);
            factor = gram;
        }
        return factor;
    }

    /// 1/√(‖a_j‖² Σ_i h_i (∂k_ij)²), the derivative along a step of one of NodeSteps.
    Vector lengths_of(const KernelExpansion& now, const Matrix& squares) const {
        // No step longer than a width, whatever a kernel is worth.
        constexpr double longest = 1.0;
        // A kernel of next to no height is moved as if it had this share of the others'.
        constexpr double least_height = 0.1;
        const Index f = steps_.size();
        const Vector heights = detail::row_norms(now.a);
        const double least = least_height * detail::sum(heights) / static_cast<double>(heights.size());
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

    const Kernel& kernel_;
    NodeSteps<Kernel, Omega> steps_;
    const detail::TiledPoints& points_;
    const SmoothedLoss<Loss>& loss_;
    ModelSlopes<Kernel, Loss> slopes_;
    double ridge_;  // ridge Σ w
    bool intercept_;
};

}  // namespace kernelet
