#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/any_kernel.hpp>
#include <kernelet/kernels/exponent.hpp>
#include <kernelet/refit/kernel_expansion.hpp>
#include <kernelet/refit/smoothed_loss.hpp>

#include <algorithm>
#include <concepts>
#include <vector>

namespace kernelet {

namespace detail {

/// Whether a kernel is LogLinear, also for one that says so at run time.
template <class Kernel>
bool is_log_linear([[maybe_unused]] const Kernel& kernel) {
    if constexpr (requires { kernel.is_log_linear(); })
        return kernel.is_log_linear();
    else
        return LogLinear<Kernel>;
}

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
        if (!detail::is_log_linear(kernel)) return;
        if constexpr (detail::LogLinear<Kernel>) {
            // Features are squares: far from the origin they would cancel.
            const Matrix& xt = points.transposed();
            for (Index c = 0; c < xt.cols(); ++c)
                origin_(c) =
                    detail::sum(detail::ConstBlock(xt).columns(c, 1)) / static_cast<double>(xt.rows());
            Matrix shifted = xt;
            for (Index c = 0; c < xt.cols(); ++c)
                for (Index i = 0; i < xt.rows(); ++i) shifted(i, c) -= origin_(c);
            features_.resize(points.size(), kernel.features(points.dimension()));
            kernel.features(shifted, features_);
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
                part = {0.0, Matrix::Zero(c.size() > 0 ? c.rows() : rows, k), Matrix::Zero(k, q),
                        Vector::Zero(q)};
                Scratch scratch{Matrix(block, k), Matrix(block, k)};
                for (Index b = chunk * blocks / chunks; b < (chunk + 1) * blocks / chunks; ++b)
                    add_block(model, c, b * block, scratch, part);
            },
            k * points_.size());
        Slopes sum = std::move(parts.front());
        for (std::size_t chunk = 1; chunk < parts.size(); ++chunk) {
            sum.cost += parts[chunk].cost;
            detail::add_scaled(sum.nodes, 1.0, parts[chunk].nodes);
            detail::add_scaled(sum.a, 1.0, parts[chunk].a);
            detail::add_scaled(sum.offset, 1.0, parts[chunk].offset);
        }
        if (c.size() > 0) sum.nodes = slopes_of_nodes(model.nodes, sum.nodes);
        return sum;
    }

private:
    static constexpr Index block = 8 * detail::TiledPoints::tile;  // rows of a product: more gain no speed

    struct Scratch {
        Matrix values;  // V, block x K
        Matrix along;   // P'a', block x K
    };

    Vector shifted(const Matrix& nodes, Index j) const {
        Vector node = detail::column_ref(nodes, j);
        for (Index c = 0; c < origin_.size(); ++c) node(c) -= origin_(c);
        return node;
    }

    /// c(z; θ) of each kernel, F x K; empty where log k is not linear.
    Matrix log_coefficients(const Matrix& nodes) const {
        Matrix c(features_.cols(), features_.cols() > 0 ? nodes.cols() : 0);
        if constexpr (detail::LogLinear<Kernel>)
            for (Index j = 0; j < c.cols(); ++j)
                kernel_.log_coefficients(shifted(nodes, j), detail::run_ref(&c(0, j), c.rows()));
        return c;
    }

    /// Slopes in (z, log θ) from those in c.
    Matrix slopes_of_nodes(const Matrix& nodes, [[maybe_unused]] const Matrix& by_c) const {
        Matrix slopes(nodes.rows(), nodes.cols());
        if constexpr (detail::LogLinear<Kernel>)
            for (Index j = 0; j < nodes.cols(); ++j)
                kernel_.log_slopes(shifted(nodes, j), detail::column_ref(by_c, j),
                                   detail::run_ref(&slopes(0, j), slopes.rows()));
        return slopes;
    }

    void fill_values(const KernelExpansion& model, const Matrix& c, Index first,
                     const detail::Block& v) const {
        detail::fill(v, 0.0);
        if (c.size() > 0) {
            const Index m = v.rows;
            detail::add_product(v, detail::ConstBlock(features_).part(first, 0, m, features_.cols()), c);
            for (Index j = 0; j < v.cols; ++j)
                detail::exponentials(v.column(j), m, detail::smallest_exponent);
        } else {
            for_tiles(model, first, v.rows, [&](Index t, Index j, Index row, Index count) {
                kernel_.values(points_.rows(t), detail::column_ref(model.nodes, j),
                               detail::run_ref(v.column(j) + row, count));
            });
        }
    }

    void add_block(const KernelExpansion& model, const Matrix& c, Index first, Scratch& scratch,
                   Slopes& sum) const {
        const Index k = model.size(), m = std::min(block, points_.size() - first);
        const detail::Block v = detail::Block(scratch.values).part(0, 0, m, k);
        const detail::Block g = detail::Block(scratch.along).part(0, 0, m, k);
        fill_values(model, c, first, v);
        Matrix prediction = detail::transposed(detail::product(v, model.a));
        detail::add_to_rows(prediction, model.offset);
        const Matrix pull = loss_.pull(prediction, first), pull_t = detail::transposed(pull);
        sum.cost += loss_.cost(prediction, first);
        detail::add_scaled(sum.offset, 1.0, detail::row_sums(pull));
        detail::add_product_tn(sum.a, v, pull_t);
        detail::fill(g, 0.0);
        detail::add_product(g, pull_t, detail::transposed(model.a));
        if (c.size() > 0) {
            for (Index j = 0; j < k; ++j) detail::scale_rows(g.columns(j, 1), v.column(j), g.columns(j, 1));
            detail::add_product_tn(sum.nodes,
                                   detail::ConstBlock(features_).part(first, 0, m, features_.cols()), g);
        } else {
            const Index rows = model.nodes.rows();
            Matrix jet(detail::TiledPoints::tile, 1 + rows);
            for_tiles(model, first, m, [&](Index t, Index j, Index row, Index count) {
                const detail::Block tile = detail::Block(jet).part(0, 0, count, 1 + rows);
                kernel_.jet(points_.rows(t), detail::column_ref(model.nodes, j), detail::matrix_ref(tile));
                for (Index r = 0; r < rows; ++r)
                    sum.nodes(r, j) += detail::dot_run(tile.column(1 + r), g.column(j) + row, count);
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
                if (points_.touches(t, &model.nodes(0, j),
                                    detail::reach_of(kernel_, detail::column_ref(model.nodes, j))))
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
