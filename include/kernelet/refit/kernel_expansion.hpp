#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

/// f = Σ_j a_j k(x, z_j; θ_j) + offset.
struct KernelExpansion {
    Matrix nodes{};   ///< (d + p) x K
    Matrix a{};       ///< K x q
    Vector offset{};  ///< q

    Index size() const { return nodes.cols(); }
};

/// Its values at points, q x n. O(n K d).
template <class Kernel>
Matrix expansion_values(const Kernel& kernel, const detail::TiledPoints& points,
                        const KernelExpansion& expansion) {
    Matrix values = detail::synthesize(kernel, points, expansion.nodes, detail::transposed(expansion.a));
    detail::add_to_rows(values, expansion.offset);
    return values;
}

}  // namespace kernelet
