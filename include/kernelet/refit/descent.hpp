#pragma once

#include <kernelet/detail/lbfgs.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/refit/model_slopes.hpp>
#include <kernelet/refit/node_steps.hpp>

#include <Eigen/Cholesky>

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
          ridge_(ridge * loss.weights().sum()),
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
        Matrix factor{};   // U, of the coefficients and the offset
    };

    Index bordered(const KernelExpansion& now) const { return now.size() + (intercept_ ? 1 : 0); }

    KernelExpansion moved(const KernelExpansion& from, const Scales& scales, const Vector& x) const {
        const Index k = from.size(), q = from.a.cols(), slopes = scales.lengths.size();
        KernelExpansion to = from;
        to.nodes = steps_.move(from.nodes, scales.lengths.cwiseProduct(x.head(slopes)));
        const Matrix change = scales.factor.template triangularView<Eigen::Upper>().solve(
            Eigen::Map<const Matrix>(x.data() + slopes, bordered(from), q));
        to.a += change.topRows(k);
        if (intercept_) to.offset += change.row(k).transpose();
        return to;
    }

    /// Σ w ℓ + ridge ‖a‖² and its gradient in (u, t).
    double cost(const KernelExpansion& from, const Scales& scales, const Vector& x, Vector& gradient) const {
        const KernelExpansion at = moved(from, scales, x);
        const Index k = at.size(), q = at.a.cols(), f = steps_.size();
        const typename ModelSlopes<Kernel, Loss>::Slopes slopes = slopes_(at);
        const Matrix unbounded =
            steps_.unbounded(from.nodes, scales.lengths.cwiseProduct(x.head(scales.lengths.size())));
        for (Index j = 0; j < k; ++j)
            for (Index c = 0; c < f; ++c) {
                const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                // ∂/∂z and ∂/∂log θ; where the domain holds the node back, no step changes anything
                const bool held = unbounded(row, j) != at.nodes(row, j);
                gradient(j * f + c) = held ? 0.0
                                           : -2.0 * slopes.nodes(row, j) *
                                                 steps_.unit(from.nodes.col(j), row) *
                                                 scales.lengths(j * f + c);
            }
        Matrix by_coefficient(bordered(at), q);
        by_coefficient.topRows(k) = -2.0 * (slopes.a - ridge_ * at.a);
        if (intercept_) by_coefficient.row(k) = -2.0 * slopes.offset.transpose();
        Eigen::Map<Matrix>(gradient.data() + k * f, by_coefficient.rows(), q) =
            scales.factor.transpose().template triangularView<Eigen::Lower>().solve(by_coefficient);
        return slopes.cost + ridge_ * at.a.squaredNorm();
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
        const Matrix y = loss_.target()(Eigen::all, part);
        const Vector weights = loss_.weights()(part);
        const SmoothedLoss<Loss> loss = loss_.on(y, weights);
        const double share = loss_.weights().sum() / weights.sum();  // what the part stands for
        const Vector h =
            share *
            loss.curvature(detail::synthesize(kernel_, points, now.nodes, now.a.transpose()).colwise() +
                           now.offset);
        Matrix gram = Matrix::Zero(all, all), squares = Matrix::Zero(rows, k);
        Matrix columns(strip, all), jet(detail::TiledPoints::tile, 1 + rows);
        for (Index first = 0; first < m; first += strip) {
            const Index count = std::min(strip, m - first);
            columns.setZero();
            if (intercept_) columns.col(k).setOnes();
            for (Index row = 0; row < count; row += detail::TiledPoints::tile) {
                const Index t = (first + row) / detail::TiledPoints::tile, tile = points.count(t);
                for (Index j = 0; j < k; ++j) {
                    if (detail::out_of_reach(kernel_, points, t, now.nodes.col(j))) continue;
                    kernel_.jet(points.rows(t), now.nodes.col(j), jet.topRows(tile));
                    columns.col(j).segment(row, tile) = jet.col(0).head(tile);
                    squares.col(j).noalias() +=
                        jet.topRightCorner(tile, rows).cwiseAbs2().transpose() * h.segment(first + row, tile);
                }
            }
            columns.topRows(count).array().colwise() *= h.segment(first, count).array().sqrt();
            gram.template selfadjointView<Eigen::Lower>().rankUpdate(columns.topRows(count).transpose());
        }
        gram.diagonal().head(k).array() += ridge_;
        gram.diagonal().array() += rounding * gram.diagonal().mean();
        Eigen::LLT<Matrix> factor(gram);
        for (double jitter = rounding; factor.info() != Eigen::Success && jitter < 1.0; jitter *= 10.0) {
            gram.diagonal().array() += jitter * gram.diagonal().mean();
            factor.compute(gram);
        }
        return {lengths_of(now, squares), factor.matrixU()};
    }

    /// 1/√(‖a_j‖² Σ_i h_i (∂k_ij)²), the derivative along a step of one of NodeSteps.
    Vector lengths_of(const KernelExpansion& now, const Matrix& squares) const {
        // No step longer than a width, whatever a kernel is worth.
        constexpr double longest = 1.0;
        // A kernel of next to no height is moved as if it had this share of the others'.
        constexpr double least_height = 0.1;
        const Index f = steps_.size();
        const Vector heights = now.a.rowwise().norm();
        const double least = least_height * heights.mean();
        Vector lengths(now.size() * f);
        for (Index j = 0; j < now.size(); ++j)
            for (Index c = 0; c < f; ++c) {
                const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                const double inverse = std::max(heights(j), least) * steps_.unit(now.nodes.col(j), row) *
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
