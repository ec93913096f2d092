#pragma once

#include <kernelet/types.hpp>

namespace kernelet {

/// The projection P of a point onto a convex set and its generalised Jacobian, diag(diagonal) − direction
/// directionᵀ.
struct Projection {
    Matrix point{};
    Matrix diagonal{};
    Matrix direction{};  ///< zero where the set's boundary does not bind
};

}  // namespace kernelet
