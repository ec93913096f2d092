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
    if constexpr (requires { kernel.closed_coherence(a, b); })
        if (const auto closed = kernel.closed_coherence(a, b)) return *closed;
    if constexpr (requires {
                      { kernel.coherence(a, b) } -> std::convertible_to<double>;
                  }) {
        return kernel.coherence(a, b);
    } else {
        Vector ka(points.size()), kb(points.size());
        detail::kernel_column(kernel, points, a, ka.data());
        detail::kernel_column(kernel, points, b, kb.data());
        const double product = detail::norm(ka) * detail::norm(kb);
        return product > 0.0 ? std::abs(detail::dot(ka, kb)) / product : 0.0;
    }
}

/// Two peaks may be one only if they pull the same way.
inline bool same_direction(const double* a, const double* b, Index outputs) {
    double product = 0.0;
    for (Index o = 0; o < outputs; ++o) product += a[o] * b[o];
    return product > 0.0;
}

}  // namespace kernelet
