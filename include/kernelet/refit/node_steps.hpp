#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/lengths.hpp>
#include <kernelet/detail/tiles.hpp>

#include <cmath>
#include <vector>

namespace kernelet {

/// How kernels move: along the rows of a node (z; θ) that the domain leaves free, kernel by kernel, a width a
/// unit along a coordinate of z and one a unit of log θ. Holds references to kernel and domain.
template <KernelFamily Kernel, Domain Omega>
class NodeSteps {
public:
    NodeSteps(const Kernel& kernel, const Omega& domain) : kernel_(kernel), domain_(domain) {
        for (Index row = 0; row < domain.rows(); ++row)
            if (domain.free(row)) free_.push_back(row);
    }

    const std::vector<Index>& rows() const { return free_; }
    Index size() const { return static_cast<Index>(free_.size()); }

    /// The length that a step of one has at a node.
    double unit(const ConstVectorRef& node, Index row) const {
        return row < domain_.dimension() ? detail::length_along(kernel_, node, domain_.dimension(), row)
                                         : 1.0;
    }

    /// The nodes moved, before the domain is asked. step is K f, f free rows a kernel.
    Matrix unbounded(const Matrix& nodes, const Vector& step) const {
        Matrix moved = nodes;
        Index at = 0;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : free_) {
                if (row < domain_.dimension())
                    moved(row, j) += unit(detail::column_ref(nodes, j), row) * step(at);
                else
                    moved(row, j) *= std::exp(step(at));
                ++at;
            }
        return moved;
    }

    /// The same inside the domain.
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
    const Kernel& kernel_;
    const Omega& domain_;
    std::vector<Index> free_;
};

}  // namespace kernelet
