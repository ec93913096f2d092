#pragma once

#include <kernelet/detail/lengths.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/kernels/any_kernel.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

/// The coordinates in which kernels move: the rows of a node (z; θ) that the domain leaves free, kernel by kernel,
/// in units of the kernel's width along a coordinate of z and of log θ along a parameter.
class NodeSteps {
public:
    NodeSteps(AnyKernel kernel, AnyDomain domain) : kernel_(std::move(kernel)), domain_(std::move(domain)) {
        for (Index row = 0; row < domain_.rows(); ++row)
            if (domain_.free(row)) free_.push_back(row);
    }

    const std::vector<Index>& rows() const { return free_; }
    /// f, the free rows per kernel.
    Index size() const { return static_cast<Index>(free_.size()); }
    bool is_width(Index row) const { return row >= domain_.dimension(); }

    /// The length of a unit step along a row, at a node.
    double unit(const ConstVectorRef& node, Index row) const {
        return is_width(row) ? 1.0 : detail::length_along(kernel_, node, domain_.dimension(), row);
    }

    /// The nodes after a step of K f entries, before the projection to the domain.
    Matrix unbounded(const Matrix& nodes, const Vector& step) const {
        Matrix moved = nodes;
        Index at = 0;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : free_) {
                if (is_width(row))
                    moved(row, j) *= std::exp(step(at));
                else
                    moved(row, j) += unit(detail::column_ref(nodes, j), row) * step(at);
                ++at;
            }
        return moved;
    }

    /// The nodes after a step, inside the domain.
    Matrix move(const Matrix& nodes, const Vector& step) const {
        Matrix moved = unbounded(nodes, step);
        for (Index j = 0; j < nodes.cols(); ++j) {
            Vector inside = detail::column_ref(moved, j);
            domain_.project(inside);
            for (const Index row : free_) moved(row, j) = inside(row);
        }
        return moved;
    }

private:
    AnyKernel kernel_;
    AnyDomain domain_;
    std::vector<Index> free_;
};

}  // namespace kernelet
