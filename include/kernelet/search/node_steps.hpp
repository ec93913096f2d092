#pragma once

#include <kernelet/detail/lengths.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/kernels/any_kernel.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace kernelet {

/// The coordinates in which kernels move: some rows of a node (z; θ), in units of the kernel's width along a coordinate
/// of z and of log θ along a parameter.
class NodeUnits {
public:
    /// `rows`: of a node, in rising order.
    NodeUnits(AnyKernel kernel, Index dimension, std::vector<Index> rows)
        : kernel_(std::move(kernel)), dimension_(dimension), free_(std::move(rows)) {}

    const std::vector<Index>& rows() const { return free_; }
    /// f, the free rows per kernel.
    Index size() const { return static_cast<Index>(free_.size()); }
    bool is_width(Index row) const { return row >= dimension_; }

    /// The length of a unit step along a row, at a node.
    double unit(const ConstVectorRef& node, Index row) const {
        return is_width(row) ? 1.0 : detail::length_along(kernel_, node, dimension_, row);
    }

private:
    AnyKernel kernel_;
    Index dimension_;
    std::vector<Index> free_;
};

namespace detail {

/// The rows of a node that a domain leaves free.
inline std::vector<Index> free_rows(const AnyDomain& domain) {
    std::vector<Index> rows;
    for (Index row = 0; row < domain.rows(); ++row)
        if (domain.free(row)) rows.push_back(row);
    return rows;
}

}  // namespace detail

/// Steps of kernels inside a domain, along the rows that it leaves free, kernel by kernel.
class NodeSteps : public NodeUnits {
public:
    NodeSteps(const AnyKernel& kernel, AnyDomain domain)
        : NodeUnits(kernel, domain.dimension(), detail::free_rows(domain)), domain_(std::move(domain)) {}

    /// The nodes after a step of K f entries, before the projection to the domain.
    Matrix unbounded(const Matrix& nodes, const Vector& step) const {
        Matrix moved = nodes;
        Index at = 0;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : rows()) {
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
            for (const Index row : rows()) moved(row, j) = inside(row);
        }
        return moved;
    }

private:
    AnyDomain domain_;
};

}  // namespace kernelet
