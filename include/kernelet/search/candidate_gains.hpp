#pragma once

#include <kernelet/search/correlation_gain.hpp>
#include <kernelet/search/partial_problem.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace kernelet {

/// The gains of the same candidates over one model after another, see correlation_gain(). Kernel values are computed
/// once and held as floats: only the order of the candidates counts. Where samples are many, neighbours in their spatial
/// order are taken together: a kernel has nearly one value at all of them, so that Σ_i r_i k(x_i) ≈ Σ_g k(x̄_g) Σ_{i in g}
/// r_i, and the noise of the gains is that of all samples. From four dimensions on there is no such order, and every so
/// many-th sample stands for all. O(m B d) at the first call, then O(n K d + m B), m samples or groups.
template <class Scalar = double>
class CandidateGains {
public:
    /// Holds references.
    CandidateGains(const SearchProblem& problem, const Matrix& nodes, Index samples)
        : problem_(problem), nodes_(nodes), samples_(samples) {}

    /// (d + p) x B.
    const Matrix& nodes() const { return nodes_; }
    Index size() const { return nodes_.cols(); }

    Vector operator()(const KernelExpansion& model) {
        if (!points_) fill();
        const SearchProblem& seen = part_ ? part_->problem() : problem_;
        const Matrix prediction = seen.prediction(model);
        const Matrix pull = summed(seen.loss.pull(prediction));
        const Vector curvature =
            detail::transposed<Scalar>(summed(detail::transposed<Scalar>(seen.loss.curvature(prediction))));
        // Floats hold what is scaled to one.
        const double largest = detail::max_abs(pull), steepest = detail::max_abs(curvature);
        Vector gains = Vector::Zero(size());
        if (!(largest > 0.0) || !(steepest > 0.0)) return gains;
        const std::vector<float> p = as_floats(detail::transposed<Scalar>(pull), largest);
        const std::vector<float> h = as_floats(curvature, steepest);
        const bool known = problem_.loss.is_squared() && norms_.size() == size();
        if (!known) norms_.resize(size());
        // A kernel whose effective number of samples is below one would fit only the noise of that sample.
        const double least_norm =
            detail::sum<Scalar>(curvature) / steepest / static_cast<double>(curvature.size());
        const Index m = curvature.size();
        detail::parallel_for(
            size(),
            [&](Index j) {
                const float* k = values_.data() + j * m;
                double inner = 0.0;
                for (Index o = 0; o < pull.rows(); ++o) {
                    const double along = detail::dot_run<float>(k, p.data() + o * m, m);
                    inner += along * along;
                }
                if (!known) norms_(j) = detail::weighted_squares<float>(k, h.data(), m);
                if (norms_(j) > 0.0)
                    gains(j) = inner / std::max(norms_(j), least_norm) * largest * (largest / steepest);
            },
            size() * m / 8);
        return gains;
    }

private:
    static std::vector<float> as_floats(const detail::ConstBlock& values, double unit) {
        std::vector<float> out(static_cast<std::size_t>(values.size()));
        for (Index i = 0; i < values.size(); ++i)
            out[static_cast<std::size_t>(i)] = static_cast<float>(values.data[i] / unit);
        return out;
    }

    /// Sums over the groups, rows x m, of what there is per sample, rows x n.
    Matrix summed(Matrix values) const {
        if (group_ == 1) return values;
        Matrix sums = Matrix::Zero(values.rows(), points_->size());
        for (Index i = 0; i < values.cols(); ++i)
            for (Index row = 0; row < values.rows(); ++row) sums(row, i / group_) += values(row, i);
        return sums;
    }

    void choose_points() {
        constexpr Index most_ordered = 3;  // dimensions, see spatial_order()
        const Index n = problem_.points.size(), d = problem_.points.dimension(),
                    stride = (n + samples_ - 1) / samples_;
        if (stride > 1 && d > most_ordered) {
            std::vector<Index> some;
            for (Index i = 0; i < n; i += stride) some.push_back(i);
            part_ = std::make_unique<PartialProblem>(problem_, some);
            points_ = part_->problem().points;
            return;
        }
        group_ = stride;
        Matrix means = Matrix::Zero(d, (n + group_ - 1) / group_);
        for (Index i = 0; i < n; ++i) {
            const auto count = static_cast<double>(std::min(group_, n - i / group_ * group_));
            for (Index c = 0; c < d; ++c) means(c, i / group_) += problem_.points.transposed()(i, c) / count;
        }
        points_.emplace(means);
    }

    void fill() {
        choose_points();
        const detail::TiledPoints& points = *points_;
        const Index m = points.size();
        values_.resize(static_cast<std::size_t>(m * size()));
        constexpr Index per_run = 16;
        detail::parallel_for((size() + per_run - 1) / per_run,
                             [&](Index run) {
                                 problem_.poll();
                                 for (Index j = run * per_run; j < std::min(size(), (run + 1) * per_run); ++j)
                                     fill_column(points, j);
                             },
                             size() * m);
    }

    void fill_column(const detail::TiledPoints& points, Index j) {
        Vector k(detail::strip_rows);
        float* to = values_.data() + j * points.size();
        for (Index s = 0; s < detail::strips_of(points.size()); ++s) {
            const auto [first, rows] = detail::equal_strip(s, points.size());
            detail::kernel_run(problem_.kernel, points, detail::column_ref(nodes_, j), first,
                               detail::Block(k.data(), rows, 1, rows));
            std::transform(k.data(), k.data() + rows, to + first,
                           [](double value) { return static_cast<float>(value); });
        }
    }

    const SearchProblem& problem_;
    const Matrix& nodes_;
    Index samples_;
    std::unique_ptr<PartialProblem> part_{};       // where some samples stand for all
    std::optional<detail::TiledPoints> points_{};  // of the samples or groups
    Index group_ = 1;                              // samples per group
    std::vector<float> values_{};                  // m x B
    Vector norms_{};                               // Σ h k² of each; of the squared loss always the same
};

}  // namespace kernelet
