#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/dual/dual_problem.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// The kernel values of a dual's samples at its nodes, for the many passes over them of one solve: held where they
/// are few, computed anew in each pass where they are not. Holds references.
template <class Problem>
class NodeValues {
public:
    /// Kernel values that are held at most, 16 MB: 200 samples and 8192 nodes.
    static constexpr Index most_held = Index{1} << 21;

    NodeValues(const Problem& problem, const Matrix& nodes) : problem_(problem), nodes_(nodes) {
        const Index n = problem.samples();
        if (n * nodes.cols() > most_held) return;
        held_.resize(n, nodes.cols());
        constexpr Index per_run = 32;
        const detail::Poll poll = problem.poll();
        detail::parallel_for((nodes.cols() + per_run - 1) / per_run,
                             [&](Index run) {
                                 poll();
                                 for (Index j = run * per_run;
                                      j < std::min(nodes.cols(), (run + 1) * per_run); ++j)
                                     detail::kernel_column(problem.kernel, problem.points,
                                                           detail::column_ref(nodes, j), &held_(0, j));
                             },
                             n * nodes.cols());
    }

    /// ᾱ at all nodes, q x B. O(n B).
    Matrix field(const Matrix& lambda) const {
        if (!held()) return problem_.field(lambda, nodes_);
        problem_.poll()();
        return detail::transposed(detail::product_tn(held_, detail::transposed(lambda)));
    }

    /// ᾱ at some nodes, q x the number of these.
    Matrix field(const Matrix& lambda, const std::vector<Index>& on) const {
        if (!held()) return problem_.field(lambda, detail::columns_of(nodes_, on));
        problem_.poll()();
        Matrix out = Matrix::Zero(lambda.rows(), static_cast<Index>(on.size()));
        for (std::size_t c = 0; c < on.size(); ++c)
            detail::add_matrix_vector(out.data() + static_cast<Index>(c) * out.rows(), lambda,
                                      held_.data() + on[c] * held_.rows());
        return out;
    }

    /// Σ_j a_j k(x_i, node_j) over all nodes, q x n. O(n B).
    Matrix values(const Matrix& a) const {
        if (!held()) return problem_.values(nodes_, a);
        problem_.poll()();
        return detail::transposed(detail::product(held_, detail::transposed(a)));
    }

    /// Σ_j a_j k(x_i, node_j) over some nodes, q x n.
    Matrix values(const Matrix& a, const std::vector<Index>& on) const {
        if (!held()) return problem_.values(detail::columns_of(nodes_, on), a);
        problem_.poll()();
        Matrix out = Matrix::Zero(a.rows(), held_.rows());
        for (std::size_t c = 0; c < on.size(); ++c)
            detail::add_outer(out, 1.0, a.data() + static_cast<Index>(c) * a.rows(),
                              held_.data() + on[c] * held_.rows());
        return out;
    }

    /// k(x_i, node_j) for all samples; returns the range of rows outside of which it is zero, or all.
    std::pair<Index, Index> column(Index j, double* to) const {
        if (!held())
            return detail::kernel_column(problem_.kernel, problem_.points, detail::column_ref(nodes_, j), to);
        std::copy_n(held_.data() + j * held_.rows(), held_.rows(), to);
        Index begin = 0, end = held_.rows();
        while (begin < end && to[begin] == 0.0) ++begin;
        while (begin < end && to[end - 1] == 0.0) --end;
        return {begin, end};
    }

    /// k(x_i, node_j) for one strip of samples.
    void strip(Index j, Index first, const detail::Block& to) const {
        if (held())
            detail::copy(detail::ConstBlock(held_).part(first, j, to.rows, 1), to);
        else
            detail::kernel_run(problem_.kernel, problem_.points, detail::column_ref(nodes_, j), first, to);
    }

private:
    bool held() const { return held_.size() > 0; }

    const Problem& problem_;
    const Matrix& nodes_;
    Matrix held_{};  // n x B
};

}  // namespace kernelet
