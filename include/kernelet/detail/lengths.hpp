#pragma once

#include <kernelet/types.hpp>

namespace kernelet::detail {

/// The length of a step of one in z along coordinate c at a node (z; θ): the kernel's width there. One, the
/// deviation of a standardised input, for a family without widths.
template <class Kernel>
double length_along(const Kernel& kernel, const ConstVectorRef& node, Index dimension, Index c) {
    const Index p = node.size() - dimension;
    const auto is_coordinate_scale = [&](Index row) {
        return kernel.parameter_kind(row) == ParameterKind::coordinate_scale;
    };
    if (c < p && is_coordinate_scale(0) && is_coordinate_scale(c))
        return node(dimension + c);  // no search among d rows
    for (Index row = 0; row < p; ++row) {
        const ParameterKind kind = kernel.parameter_kind(row);
        if (kind == ParameterKind::isotropic_scale || (kind == ParameterKind::coordinate_scale && row == c))
            return node(dimension + row);
    }
    return 1.0;
}

}  // namespace kernelet::detail
