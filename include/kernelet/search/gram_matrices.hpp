#pragma once

#include <kernelet/search/node_steps.hpp>
#include <kernelet/search/search_problem.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// Sums over the samples of a weighted least-squares problem: with Φ the kernel values, t the targets and
/// B = ∂Φ/∂(z/w, log θ) of the kernels that move, columns [Φ t B], those of one kernel in B together.
/// T are the functions of the trend.
struct GramMatrices {
    Matrix gram{};   ///< [Φ t B]' W [Φ t B]
    Matrix cross{};  ///< [Φ t B]' W T
    Matrix trend{};  ///< T' W T

    static GramMatrices zero(Index columns, Index trend) {
        return {Matrix::Zero(columns, columns), Matrix::Zero(columns, trend), Matrix::Zero(trend, trend)};
    }
    /// The sum of all parts, of which lower triangles are given, in their order.
    static GramMatrices joined(std::vector<GramMatrices> parts) {
        GramMatrices sum = std::move(parts.front());
        for (std::size_t part = 1; part < parts.size(); ++part) {
            detail::add_scaled(sum.gram, 1.0, parts[part].gram);
            detail::add_scaled(sum.cross, 1.0, parts[part].cross);
            detail::add_scaled(sum.trend, 1.0, parts[part].trend);
        }
        detail::mirror_lower(sum.gram);
        detail::mirror_lower(sum.trend);
        return sum;
    }
};

/// Kernels of a model and those among them whose nodes move, in rising order.
struct MovingKernels {
    Matrix nodes{};
    std::vector<Index> moving{};

    static MovingKernels all(Matrix nodes) {
        MovingKernels out{std::move(nodes), {}};
        for (Index j = 0; j < out.nodes.cols(); ++j) out.moving.push_back(j);
        return out;
    }

    Index size() const { return nodes.cols(); }
    Index moving_size() const { return static_cast<Index>(moving.size()); }
};

/// The samples that sums are taken over, as kernels see them. Holds references.
struct GramSamples {
    const AnyKernel& kernel;
    const detail::TiledPoints& points;
    const detail::TrendBasis& trend;
    detail::Poll poll{};
    /// Kernels farther from a strip of samples than this fraction of their reach are left out.
    double reach_fraction = 1.0;
};

namespace detail {

/// Rows from one column of a packed strip to the next: columns a power of two apart share their place in the cache.
inline constexpr Index strip_stride = strip_rows + 8;

/// One strip of samples of √W [Φ t B], of the kernels within reach.
class GramStrip {
public:
    /// Holds references.
    GramStrip(const GramSamples& samples, const NodeUnits& steps, const MovingKernels& kernels,
              const WorkingSquares& working)
        : samples_(samples),
          steps_(steps),
          kernels_(kernels),
          working_(working),
          jet_(strip_stride, 1 + kernels.nodes.rows()),
          packed_(strip_stride,
                  kernels.size() + working.target.cols() + kernels.moving_size() * steps.size()) {}

    void pack(Index strip) {
        const auto [first, rows] = equal_strip(strip, samples_.points.size());
        first_ = first;
        rows_ = rows;
        find_columns();
        const Index q = working_.target.cols(), values = count_of(reached_), f = steps_.size();
        Index slope = values + q;
        auto moving = kernels_.moving.begin();
        for (Index r = 0; r < values; ++r) {
            const Index j = reached_[static_cast<std::size_t>(r)];
            while (moving != kernels_.moving.end() && *moving < j) ++moving;
            const ConstVectorRef node = column_ref(kernels_.nodes, j);
            const auto [from, to] = within_[static_cast<std::size_t>(r)];
            if (moving == kernels_.moving.end() || *moving != j) {
                samples_.kernel.values(samples_.points.rows(from, to - from), node,
                                       run_ref(jet_.data(), to - from));
                put(r, r, 0, 1.0);
                continue;
            }
            samples_.kernel.jet(samples_.points.rows(from, to - from), node,
                                matrix_ref(Block(jet_).part(0, 0, to - from, jet_.cols())));
            put(r, r, 0, 1.0);
            for (Index c = 0; c < f; ++c) {
                const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                put(r, slope++, 1 + row, steps_.unit(node, row));
            }
        }
        copy(ConstBlock(working_.target).part(first_, 0, rows_, q), Block(packed_).part(0, values, rows_, q));
    }

    /// Where the columns that are packed stand in [Φ t B], in rising order.
    const std::vector<Index>& columns() const { return columns_; }
    ConstBlock packed() const {
        return ConstBlock(packed_).part(0, 0, rows_, static_cast<Index>(columns_.size()));
    }
    Index first() const { return first_; }
    Index rows() const { return rows_; }

private:
    template <class Entry>
    static Index count_of(const std::vector<Entry>& entries) {
        return static_cast<Index>(entries.size());
    }

    /// The kernels within reach and their columns: first of Φ, then of t, then of B.
    void find_columns() {
        const Index k = kernels_.size(), q = working_.target.cols(), f = steps_.size();
        reached_.clear();
        within_.clear();
        columns_.clear();
        for (Index j = 0; j < k; ++j) {
            const ConstVectorRef node = column_ref(kernels_.nodes, j);
            const std::pair<Index, Index> rows =
                samples_.points.within(first_, first_ + rows_, node.data(),
                                       samples_.reach_fraction * reach_of(samples_.kernel, node));
            if (rows.first == rows.second) continue;
            reached_.push_back(j);
            within_.push_back(rows);
            columns_.push_back(j);
        }
        for (Index o = 0; o < q; ++o) columns_.push_back(k + o);
        for (Index m = 0; m < kernels_.moving_size(); ++m)
            if (std::binary_search(reached_.begin(), reached_.end(),
                                   kernels_.moving[static_cast<std::size_t>(m)]))
                for (Index c = 0; c < f; ++c) columns_.push_back(k + q + m * f + c);
    }

    /// A column of the jet of the r-th kernel within reach, times √W and a unit; zero outside of its rows.
    void put(Index r, Index to, Index source, double unit) {
        const auto [from, end] = within_[static_cast<std::size_t>(r)];
        const Index begin = from - first_, m = end - from;
        const Block column = Block(packed_).part(0, to, rows_, 1);
        std::fill_n(column.column(0), begin, 0.0);
        scale_rows(column.part(begin, 0, m, 1), working_.root.data() + from,
                   ConstBlock(jet_).part(0, source, m, 1), unit);
        std::fill_n(column.column(0) + begin + m, rows_ - begin - m, 0.0);
    }

    const GramSamples& samples_;
    const NodeUnits& steps_;
    const MovingKernels& kernels_;
    const WorkingSquares& working_;
    Matrix jet_, packed_;
    Index first_{}, rows_{};
    std::vector<Index> reached_{}, columns_{};
    std::vector<std::pair<Index, Index>> within_{};  // rows of the kernels reached
};

/// Adds the sums over a strip of which only some columns are packed.
inline void add_scattered(GramMatrices& sum, const GramMatrices& strip, const std::vector<Index>& columns) {
    for (Index j = 0; j < strip.gram.cols(); ++j) {
        const Index to = columns[static_cast<std::size_t>(j)];
        for (Index c = 0; c < sum.cross.cols(); ++c) sum.cross(to, c) += strip.cross(j, c);
        for (Index i = j; i < strip.gram.rows(); ++i)
            sum.gram(columns[static_cast<std::size_t>(i)], to) += strip.gram(i, j);
    }
}

/// Adds the sums of one strip with the trend: √W T, and the other columns that are packed.
template <class Scalar = double>
void add_trend_sums(GramMatrices& to, Matrix& trend_sum, const ConstBlock& packed, const ConstBlock& trend) {
    if (trend.cols == 0) return;
    add_product_tn<Scalar>(to.cross, packed, trend);
    rank_update_tn<Scalar>(trend_sum, trend);
}

}  // namespace detail

/// The sums at these nodes, strip by strip over the kernels that reach the strip. O(n (K̄ + m̄ f)²), K̄ kernels in reach
/// of a strip and m̄ of them moving. In parts, see part_sums(): GramMatrices::joined() makes the sums of all samples.
template <class Scalar = double>
std::vector<GramMatrices> gram_parts(const GramSamples& samples, const NodeUnits& steps,
                                     const MovingKernels& kernels, const WorkingSquares& working,
                                     detail::PartShare share = {}) {
    const Index all = kernels.size() + working.target.cols() + kernels.moving_size() * steps.size();
    const detail::TrendBasis& trend = samples.trend;
    const auto add = [&](const std::vector<Index>& strips, GramMatrices& sum) {
        detail::GramStrip strip(samples, steps, kernels, working);
        Matrix basis(detail::strip_stride, trend.size());
        for (const Index s : strips) {
            samples.poll();
            strip.pack(s);
            const detail::ConstBlock packed = strip.packed();
            const bool whole = packed.cols == all;
            GramMatrices some = whole ? GramMatrices{} : GramMatrices::zero(packed.cols, trend.size());
            GramMatrices& to = whole ? sum : some;
            detail::rank_update_tn<Scalar>(to.gram, packed);
            const detail::Block functions = detail::Block(basis).part(0, 0, strip.rows(), trend.size());
            trend.fill(samples.points, strip.first(), working.root.data() + strip.first(), functions);
            detail::add_trend_sums<Scalar>(to, sum.trend, packed, functions);
            if (!whole) detail::add_scattered(sum, some, strip.columns());
        }
    };
    return detail::part_sums(detail::strips_of(samples.points.size()), GramMatrices::zero(all, trend.size()),
                             add, samples.points.size() * all * all / 2, share);
}

/// The matrices of all samples. The bits do not depend on the number of threads.
template <class Scalar = double>
GramMatrices gram_matrices(const GramSamples& samples, const NodeUnits& steps, const MovingKernels& kernels,
                           const WorkingSquares& working) {
    return GramMatrices::joined(gram_parts<Scalar>(samples, steps, kernels, working));
}

/// The matrices of a search problem, or of a share of its parts. Kernels farther from a strip than 0.7 of their reach
/// are left out, exp(−6²/2) = 1.5e-8 for a Gaussian: only the direction of a step depends on these sums.
template <class Scalar = double>
std::vector<GramMatrices> gram_parts(const SearchProblem& problem, const NodeUnits& steps,
                                     const MovingKernels& kernels, const WorkingSquares& working,
                                     detail::PartShare share = {}) {
    constexpr double reach_fraction = 0.7;
    const detail::TrendBasis trend(problem.trend, problem.points);
    return gram_parts<Scalar>(
        GramSamples{problem.kernel, problem.points, trend, detail::poll_of(problem.watch), reach_fraction},
        steps, kernels, working, share);
}
template <class Scalar = double>
GramMatrices gram_matrices(const SearchProblem& problem, const NodeUnits& steps, const MovingKernels& kernels,
                           const WorkingSquares& working) {
    return GramMatrices::joined(gram_parts<Scalar>(problem, steps, kernels, working));
}

/// The sums without B. `fill(first, values)` writes the kernel values of samples first ... to a block of K columns.
/// O(n K²).
template <class Scalar = double, class Fill>
std::vector<GramMatrices> value_gram_parts(const SearchProblem& problem, Index kernels,
                                           const WorkingSquares& working, const Fill& fill,
                                           detail::PartShare share = {}) {
    const Index n = working.root.size(), k = kernels, q = working.target.cols();
    const detail::TrendBasis trend(problem.trend, problem.points);
    const auto add = [&](const std::vector<Index>& strips, GramMatrices& sum) {
        Matrix packed(detail::strip_stride, k + q), basis(detail::strip_stride, trend.size());
        for (const Index s : strips) {
            const auto [first, m] = detail::equal_strip(s, n);
            const detail::Block rows = detail::Block(packed).part(0, 0, m, k + q);
            const double* root = working.root.data() + first;
            fill(first, rows.columns(0, k));
            if (!working.unit) detail::scale_rows<Scalar>(rows.columns(0, k), root, rows.columns(0, k));
            detail::copy(detail::ConstBlock(working.target).part(first, 0, m, q), rows.columns(k, q));
            detail::rank_update_tn<Scalar>(sum.gram, rows);
            const detail::Block functions = detail::Block(basis).part(0, 0, m, trend.size());
            trend.fill(problem.points, first, root, functions);
            detail::add_trend_sums<Scalar>(sum, sum.trend, rows, functions);
        }
    };
    return detail::part_sums(detail::strips_of(n), GramMatrices::zero(k + q, trend.size()), add,
                             n * k * (k + 32), share);
}

template <class Scalar = double, class Fill>
GramMatrices value_gram_matrices(const SearchProblem& problem, Index kernels, const WorkingSquares& working,
                                 const Fill& fill) {
    return GramMatrices::joined(value_gram_parts<Scalar>(problem, kernels, working, fill));
}

}  // namespace kernelet
