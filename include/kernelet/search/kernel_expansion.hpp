#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/detail/trend_basis.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

/// f(x) = Σ_j a_j k(x, z_j; θ_j) + b + s'x, a node (z; θ) per column (paper (4), with a trend).
struct KernelExpansion {
    Matrix nodes{};         ///< (d + p) x K
    Matrix coefficients{};  ///< a, K x q
    Vector offset{};        ///< b, q
    Matrix slopes{};        ///< s, d x q; empty where the trend is not linear

    Index size() const { return nodes.cols(); }
};

/// The expansion without kernels: f = 0.
inline KernelExpansion empty_expansion(Index node_rows, Index outputs) {
    return {Matrix(node_rows, 0), Matrix(0, outputs), Vector::Zero(outputs)};
}

/// The values of an expansion at points, q x n. O(n K d).
template <class Kernel>
Matrix expansion_values(const Kernel& kernel, const detail::TiledPoints& points,
                        const KernelExpansion& expansion) {
    Matrix values =
        detail::synthesize(kernel, points, expansion.nodes, detail::transposed(expansion.coefficients));
    detail::add_to_rows(values, expansion.offset);
    detail::add_slopes(values, points, expansion.slopes);
    return values;
}

/// The nodes without column j.
inline Matrix without_column(const Matrix& nodes, Index j) {
    const detail::ConstBlock all(nodes);
    return detail::beside(all.columns(0, j), all.columns(j + 1, nodes.cols() - 1 - j));
}

/// The nodes and one more.
inline Matrix with_column(const Matrix& nodes, const ConstVectorRef& node) {
    if (nodes.cols() == 0) return node;
    return detail::beside(nodes, node);
}

}  // namespace kernelet
