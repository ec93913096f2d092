#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/exponent.hpp>
#include <kernelet/refit/smoothed_loss.hpp>

#include <algorithm>
#include <concepts>
#include <vector>

namespace kernelet {

/// f = Σ_j a_j k(x, z_j; θ_j) + offset.
struct KernelExpansion {
    Matrix nodes{};   ///< (d + p) x K
    Matrix a{};       ///< K x q
    Vector offset{};  ///< q

    Index size() const { return nodes.cols(); }
};

namespace detail {

/// A kernel that moves along, k(x + t, z + t; θ) = k(x, z; θ), and whose logarithm is a scalar product,
/// log k = ⟨φ(x), c(z; θ)⟩: its values by the block are exp of a product of matrices, and so are its slopes.
template <class Kernel>
concept LogLinear = requires(const Kernel& kernel, Index dimension, const ConstMatrixRef& xt,
                             const ConstVectorRef& node, MatrixRef features, VectorRef vector) {
    { kernel.features(dimension) } -> std::same_as<Index>;
    kernel.features(xt, features);
    kernel.log_coefficients(node, vector);
    kernel.log_slopes(node, node, vector);
};

}  // namespace detail

/// The loss of a kernel expansion over the samples and its slopes in everything that can move, in one pass by
/// blocks of samples: with V the kernel values of a block, P its pull −½ ∂Σwℓ/∂f,
///     cost = Σ w ℓ(V a + offset),   −½ ∂/∂a = V'P',   −½ ∂/∂(z, log θ)_j = Σ_i (P'a')_ij ∂k_ij,
/// the last, for log-linear kernels, through Φ'((P'a') ∘ V). O(n K (d + q)); nothing of size n x K is held.
/// Same bits for any number of threads.
template <KernelFamily Kernel, ConvexLoss Loss>
class ModelSlopes {
public:
    /// Holds references: lives no longer than what it was made of.
    ModelSlopes(const Kernel& kernel, const detail::TiledPoints& points, const SmoothedLoss<Loss>& loss)
        : kernel_(kernel), points_(points), loss_(loss), origin_(Vector::Zero(points.dimension())) {
        if constexpr (log_linear) {
            // Features are squares: far from the origin they would cancel.
            for (Index t = 0; t < points.tiles(); ++t) origin_ += points.rows(t).colwise().sum().transpose();
            origin_ /= static_cast<double>(points.size());
            features_.resize(points.size(), kernel.features(points.dimension()));
            for (Index t = 0; t < points.tiles(); ++t)
                kernel.features(points.rows(t).rowwise() - origin_.transpose(),
                                features_.middleRows(points.first(t), points.count(t)));
        }
    }

    struct Slopes {
        double cost{};    ///< Σ w ℓ
        Matrix nodes{};   ///< −½ ∂cost/∂(z, log θ), (d + p) x K
        Matrix a{};       ///< −½ ∂cost/∂a, K x q
        Vector offset{};  ///< −½ ∂cost/∂offset, q
    };

    Slopes operator()(const KernelExpansion& model) const {
        const Index k = model.size(), q = model.offset.size(), rows = model.nodes.rows();
        const Matrix c = log_coefficients(model.nodes);
        // Chunks do not depend on the threads, nor does the order in which they are added up.
        constexpr Index most_chunks = 16;
        const Index blocks = (points_.size() + block - 1) / block, chunks = std::min(most_chunks, blocks);
        std::vector<Slopes> parts(static_cast<std::size_t>(chunks));
        detail::parallel_for(
            chunks,
            [&](Index chunk) {
                Slopes& part = parts[static_cast<std::size_t>(chunk)];
                part = {0.0, Matrix::Zero(log_linear ? c.rows() : rows, k), Matrix::Zero(k, q),
                        Vector::Zero(q)};
                Matrix values(block, k), along(block, k);
                for (Index b = chunk * blocks / chunks; b < (chunk + 1) * blocks / chunks; ++b)
                    add_block(model, c, b * block, std::min(block, points_.size() - b * block), values, along,
                              part);
            },
            k * points_.size());
        Slopes sum = std::move(parts.front());
        for (std::size_t chunk = 1; chunk < parts.size(); ++chunk) {
            sum.cost += parts[chunk].cost;
            sum.nodes += parts[chunk].nodes;
            sum.a += parts[chunk].a;
            sum.offset += parts[chunk].offset;
        }
        if constexpr (log_linear) {
            const Matrix by_c = std::move(sum.nodes);
            sum.nodes.resize(rows, k);
            for (Index j = 0; j < k; ++j)
                kernel_.log_slopes(shifted(model.nodes.col(j)), by_c.col(j), sum.nodes.col(j));
        }
        return sum;
    }

private:
    static constexpr bool log_linear = detail::LogLinear<Kernel>;
    static constexpr Index block = 8 * detail::TiledPoints::tile;  // rows of a product: more gain no speed

    Vector shifted(Vector node) const {
        node.head(origin_.size()) -= origin_;
        return node;
    }

    Matrix log_coefficients(const Matrix& nodes) const {
        if constexpr (log_linear) {
            Matrix c(features_.cols(), nodes.cols());
            for (Index j = 0; j < nodes.cols(); ++j)
                kernel_.log_coefficients(shifted(nodes.col(j)), c.col(j));
            return c;
        } else {
            return {};
        }
    }

    void add_block(const KernelExpansion& model, const Matrix& c, Index first, Index m, Matrix& values,
                   Matrix& along, Slopes& sum) const {
        auto v = values.topRows(m);
        auto g = along.topRows(m);
        if constexpr (log_linear) {
            v.noalias() = features_.middleRows(first, m) * c;
            v = v.array().min(0.0).max(detail::smallest_exponent).exp();
        } else {
            v.setZero();
            for_tiles(model, first, m, [&](Index t, Index j, Index row, Index count) {
                kernel_.values(points_.rows(t), model.nodes.col(j), v.col(j).segment(row, count));
            });
        }
        const Matrix prediction = (v * model.a).transpose().colwise() + model.offset;
        const Matrix pull = loss_.pull(prediction, first);
        sum.cost += loss_.cost(prediction, first);
        sum.offset += pull.rowwise().sum();
        sum.a.noalias() += v.transpose() * pull.transpose();
        g.noalias() = pull.transpose() * model.a.transpose();
        if constexpr (log_linear) {
            g.array() *= v.array();
            sum.nodes.noalias() += features_.middleRows(first, m).transpose() * g;
        } else {
            Matrix jet(detail::TiledPoints::tile, 1 + model.nodes.rows());
            for_tiles(model, first, m, [&](Index t, Index j, Index row, Index count) {
                kernel_.jet(points_.rows(t), model.nodes.col(j), jet.topRows(count));
                sum.nodes.col(j).noalias() +=
                    jet.topRightCorner(count, model.nodes.rows()).transpose() * g.col(j).segment(row, count);
            });
        }
    }

    /// visit(tile, kernel, row in the block, samples) wherever a kernel reaches.
    template <class Visit>
    void for_tiles(const KernelExpansion& model, Index first, Index m, const Visit& visit) const {
        for (Index t = first / detail::TiledPoints::tile; t < points_.tiles(); ++t) {
            const Index row = points_.first(t) - first;
            if (row >= m) break;
            for (Index j = 0; j < model.size(); ++j)
                if (!detail::out_of_reach(kernel_, points_, t, model.nodes.col(j)))
                    visit(t, j, row, points_.count(t));
        }
    }

    const Kernel& kernel_;
    const detail::TiledPoints& points_;
    const SmoothedLoss<Loss>& loss_;
    Vector origin_;
    Matrix features_;  // n x F
};

}  // namespace kernelet
