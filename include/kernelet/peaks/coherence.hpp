#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>

#include <cmath>

namespace kernelet {

/// How alike two kernels are: |⟨k_a, k_b⟩| / ‖k_a‖‖k_b‖, in closed form where the family has one, over the
/// samples otherwise (O(n)). 1: the same function; a distance would not do, since the unit of length is the
/// width.
template <KernelFamily Kernel>
double coherence(const Kernel& kernel, const detail::TiledPoints& points, const ConstVectorRef& a,
                 const ConstVectorRef& b) {
    if constexpr (requires {
                      { kernel.coherence(a, b) } -> std::convertible_to<double>;
                  }) {
        return kernel.coherence(a, b);
    } else {
        Vector ka(points.size()), kb(points.size());
        detail::kernel_column(kernel, points, a, ka);
        detail::kernel_column(kernel, points, b, kb);
        const double product = ka.norm() * kb.norm();
        return product > 0.0 ? std::abs(ka.dot(kb)) / product : 0.0;
    }
}

/// Two peaks may be one only if they pull the same way.
inline bool same_direction(const ConstVectorRef& a, const ConstVectorRef& b) { return a.dot(b) > 0.0; }

}  // namespace kernelet
