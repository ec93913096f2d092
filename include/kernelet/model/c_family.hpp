#pragma once

#include <kernelet/model/c_kernel.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace kernelet::detail {

template <class Kernel>
concept HasCKernel = requires(const Kernel& kernel, Index d) {
    { c_kernel(kernel, d) } -> std::same_as<CKernel>;
};

/// A kernel family without its type.
struct CFamily {
    std::string name{};
    CKernel kernel{};
    std::vector<ParameterKind> kinds{};  ///< of the rows of θ
};

template <class Kernel>
CFamily c_family(const Kernel& kernel, Index d) {
    static_assert(HasCKernel<Kernel>,
                  "kernelet: export_c() needs CKernel c_kernel(const Kernel&, Index dimension) in the "
                  "namespace of this "
                  "kernel; see kernelet::CKernel");
    CFamily family{std::string(Kernel::name), {}, {}};
    if constexpr (HasCKernel<Kernel>) family.kernel = c_kernel(kernel, d);
    for (Index row = 0; row < kernel.parameters(d); ++row) family.kinds.push_back(kernel.parameter_kind(row));
    return family;
}

}  // namespace kernelet::detail
