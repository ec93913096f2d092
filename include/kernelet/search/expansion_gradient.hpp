#pragma once

#include <kernelet/detail/exponentials.hpp>
#include <kernelet/search/search_problem.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// The loss of a kernel expansion over the samples and its gradient in everything that can move, in one pass by
/// blocks of samples: with V the kernel values of a block and P its pull −½ ∂Σwℓ/∂f,
///     cost = Σ w ℓ(V a + b),   −½ ∂/∂a = V'P',   −½ ∂/∂(z, log θ)_j = Σ_i (P'a')_ij ∂k_ij,
/// the last, for log-linear kernels, through Φ'((P'a') ∘ V) with features Φ. O(n K (d + q)); nothing of size n x K
/// is held. Same bits for any number of threads.
template <class Scalar = double>
class ExpansionGradient {
public:
    /// Holds a reference to the problem.
    explicit ExpansionGradient(const SearchProblem& problem)
        : problem_(problem),
          trend_(problem.trend, problem.points),
          origin_(Vector::Zero(problem.points.dimension())) {
        if (!problem.kernel.is_log_linear()) return;
        // Features are squares: far from the origin they would cancel.
        const Matrix& xt = problem.points.transposed();
        for (Index c = 0; c < xt.cols(); ++c)
            origin_(c) =
                detail::sum<Scalar>(detail::ConstBlock(xt).columns(c, 1)) / static_cast<double>(xt.rows());
        Matrix centered = xt;
        for (Index c = 0; c < xt.cols(); ++c)
            for (Index i = 0; i < xt.rows(); ++i) centered(i, c) -= origin_(c);
        features_.resize(problem.points.size(), problem.kernel.features(problem.points.dimension()));
        problem.kernel.features(centered, features_);
    }

    struct Gradient {
        double cost{};   ///< Σ w ℓ
        Matrix nodes{};  ///< −½ ∂cost/∂(z, log θ), (d + p) x K
        Matrix a{};      ///< −½ ∂cost/∂a, K x q
        Matrix trend{};  ///< −½ ∂cost/∂b of the functions of the trend, t x q
    };

    /// The kernel values of the samples at the nodes, n x K, are computed where they are not given.
    Gradient operator()(const KernelExpansion& model,
                        const detail::ConstBlock& held = {nullptr, 0, 0, 0}) const {
        return joined(model, parts(model, held));
    }

    /// The samples of one of the chunks that the sum is taken over: chunks do not depend on threads or processes.
    std::pair<Index, Index> rows_of(Index chunk) const {
        const Index n = problem_.points.size(), blocks = (n + block - 1) / block;
        return {chunk * blocks / chunks() * block, std::min(n, (chunk + 1) * blocks / chunks() * block)};
    }
    Index chunks() const {
        constexpr Index max_chunks = 16;
        return std::min(max_chunks, (problem_.points.size() + block - 1) / block);
    }

    /// The sums over the chunks of a share, in their order.
    std::vector<Gradient> parts(const KernelExpansion& model, const detail::ConstBlock& held,
                                detail::PartShare share = {}) const {
        const Index k = model.size(), q = model.offset.size(), rows = model.nodes.rows();
        const Matrix c = log_coefficients(model.nodes);
        std::vector<Index> own;
        for (Index chunk = 0; chunk < chunks(); ++chunk)
            if (share.owns(chunk)) own.push_back(chunk);
        std::vector<Gradient> parts(own.size());
        detail::parallel_for(
            static_cast<Index>(own.size()),
            [&](Index at) {
                Gradient& part = parts[static_cast<std::size_t>(at)];
                part = {0.0, Matrix::Zero(c.size() > 0 ? c.rows() : rows, k), Matrix::Zero(k, q),
                        Matrix::Zero(trend_.size(), q)};
                Scratch scratch{held, Matrix(held.cols > 0 ? 0 : block, k), Matrix(block, k)};
                const auto [first, end] = rows_of(own[static_cast<std::size_t>(at)]);
                for (Index row = first; row < end; row += block) {
                    problem_.poll();
                    add_block(model, c, row, scratch, part);
                }
            },
            k * problem_.points.size());
        return parts;
    }

    /// The gradient from the sums over all chunks, added in their order.
    Gradient joined(const KernelExpansion& model, std::vector<Gradient> parts) const {
        Gradient sum = std::move(parts.front());
        for (std::size_t chunk = 1; chunk < parts.size(); ++chunk) {
            sum.cost += parts[chunk].cost;
            detail::add_scaled<Scalar>(sum.nodes, 1.0, parts[chunk].nodes);
            detail::add_scaled<Scalar>(sum.a, 1.0, parts[chunk].a);
            detail::add_scaled<Scalar>(sum.trend, 1.0, parts[chunk].trend);
        }
        if (problem_.kernel.is_log_linear()) sum.nodes = gradient_of_nodes(model.nodes, sum.nodes);
        return sum;
    }

private:
    static constexpr Index block = 8 * detail::TiledPoints::tile;  // rows of a product: more gain no speed

    struct Scratch {
        const detail::ConstBlock& held;  // V, n x K, or nothing
        Matrix values;                   // V, block x K, where it is not held
        Matrix along;                    // P'a', block x K
    };

    Vector shifted(const Matrix& nodes, Index j) const {
        Vector node = detail::column_ref(nodes, j);
        for (Index c = 0; c < origin_.size(); ++c) node(c) -= origin_(c);
        return node;
    }

    /// c(z; θ) with log k = Φ c, F x K; empty where log k is not linear in features.
    Matrix log_coefficients(const Matrix& nodes) const {
        Matrix c(features_.cols(), features_.cols() > 0 ? nodes.cols() : 0);
        for (Index j = 0; j < c.cols(); ++j)
            problem_.kernel.log_coefficients(shifted(nodes, j), detail::run_ref(&c(0, j), c.rows()));
        return c;
    }

    /// The gradient in (z, log θ) from that in c.
    Matrix gradient_of_nodes(const Matrix& nodes, const Matrix& by_c) const {
        Matrix slopes(nodes.rows(), nodes.cols());
        for (Index j = 0; j < nodes.cols(); ++j)
            problem_.kernel.log_slopes(shifted(nodes, j), detail::column_ref(by_c, j),
                                       detail::run_ref(&slopes(0, j), slopes.rows()));
        return slopes;
    }

    detail::ConstBlock features(Index first, Index count) const {
        return detail::ConstBlock(features_).part(first, 0, count, features_.cols());
    }

    void fill_values(const KernelExpansion& model, const Matrix& c, Index first,
                     const detail::Block& v) const {
        detail::fill(v, 0.0);
        if (c.size() > 0) {
            detail::add_product<Scalar>(v, features(first, v.rows), c);
            for (Index j = 0; j < v.cols; ++j) detail::exponentials(v.column(j), v.rows);
        } else {
            for_tiles(model, first, v.rows, [&](Index t, Index j, Index row, Index count) {
                problem_.kernel.values(problem_.points.rows(t), detail::column_ref(model.nodes, j),
                                       detail::run_ref(v.column(j) + row, count));
            });
        }
    }

    void add_block(const KernelExpansion& model, const Matrix& c, Index first, Scratch& scratch,
                   Gradient& sum) const {
        const Index k = model.size(), m = std::min(block, problem_.points.size() - first);
        const bool held = scratch.held.cols > 0;
        const detail::ConstBlock v =
            held ? scratch.held.part(first, 0, m, k) : detail::ConstBlock(scratch.values).part(0, 0, m, k);
        const detail::Block g = detail::Block(scratch.along).part(0, 0, m, k);
        if (!held) fill_values(model, c, first, detail::Block(scratch.values).part(0, 0, m, k));
        Matrix prediction = detail::transposed<Scalar>(detail::product<Scalar>(v, model.coefficients));
        detail::add_to_rows(prediction, model.offset);
        if (model.slopes.size() > 0)
            detail::add_scaled<Scalar>(
                prediction, 1.0,
                detail::transposed<Scalar>(detail::product<Scalar>(
                    detail::ConstBlock(problem_.points.transposed()).part(first, 0, m, model.slopes.rows()),
                    model.slopes)));
        const Matrix pull = problem_.loss.pull(prediction, first), pull_t = detail::transposed<Scalar>(pull);
        sum.cost += problem_.loss.cost(prediction, first);
        if (trend_.size() > 0) {
            const Vector ones = Vector::Ones(m);
            Matrix functions(m, trend_.size());
            trend_.fill(problem_.points, first, ones.data(), functions);
            detail::add_product_tn<Scalar>(sum.trend, functions, pull_t);
        }
        detail::add_product_tn<Scalar>(sum.a, v, pull_t);
        detail::fill(g, 0.0);
        detail::add_product<Scalar>(g, pull_t, detail::transposed<Scalar>(model.coefficients));
        if (c.size() == 0) {
            add_node_gradient(model, first, g, sum);
            return;
        }
        for (Index j = 0; j < k; ++j)
            detail::scale_rows<Scalar>(g.columns(j, 1), v.column(j), g.columns(j, 1));
        detail::add_product_tn<Scalar>(sum.nodes, features(first, m), g);
    }

    /// Σ_i g_ij ∂k_ij of a kernel that is not log-linear.
    void add_node_gradient(const KernelExpansion& model, Index first, const detail::Block& g,
                           Gradient& sum) const {
        const Index rows = model.nodes.rows();
        Matrix jet(detail::TiledPoints::tile, 1 + rows);
        for_tiles(model, first, g.rows, [&](Index t, Index j, Index row, Index count) {
            const detail::Block tile = detail::Block(jet).part(0, 0, count, 1 + rows);
            problem_.kernel.jet(problem_.points.rows(t), detail::column_ref(model.nodes, j),
                                detail::matrix_ref(tile));
            for (Index r = 0; r < rows; ++r)
                sum.nodes(r, j) += detail::dot_run<Scalar>(tile.column(1 + r), g.column(j) + row, count);
        });
    }

    /// visit(tile, kernel, row in the block, samples) wherever a kernel reaches.
    template <class Visit>
    void for_tiles(const KernelExpansion& model, Index first, Index m, const Visit& visit) const {
        const detail::TiledPoints& points = problem_.points;
        for (Index t = first / detail::TiledPoints::tile; t < points.tiles(); ++t) {
            const Index row = points.first(t) - first;
            if (row >= m) break;
            for (Index j = 0; j < model.size(); ++j)
                if (points.touches(t, &model.nodes(0, j),
                                   detail::reach_of(problem_.kernel, detail::column_ref(model.nodes, j))))
                    visit(t, j, row, points.count(t));
        }
    }

    const SearchProblem& problem_;
    detail::TrendBasis trend_;
    Vector origin_;
    Matrix features_;  // n x F
};

}  // namespace kernelet
