#pragma once

#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/detail/strip_buffer.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <concepts>

namespace kernelet::detail {

/// A kernel that defines ∂k/∂x itself, see Gaussian::add_gradient.
template <class Kernel>
concept HasOwnGradient = requires(const Kernel& kernel, const ConstMatrixRef& xt, const ConstVectorRef& node,
                                  double a, MatrixRef out) {
    { kernel.add_gradient(xt, node, a, out) } -> std::same_as<void>;
};

/// A kernel declared to satisfy k(x + t, z + t; θ) = k(x, z; θ); then ∂k/∂x = −∂k/∂z.
template <class Kernel>
concept TranslationInvariant = requires {
    requires Kernel::translation_invariant;
};

template <class Kernel>
concept HasInputGradient = HasOwnGradient<Kernel> || TranslationInvariant<Kernel>;

/// Where a kernel is evaluated: points m x d, a node (z; θ).
struct KernelArguments {
    const ConstMatrixRef& xt;
    const ConstVectorRef& node;
};

/// out += a ∂k/∂x, m x d, m ≤ strip_rows. One point allocates nothing up to 64 inputs with one parameter per
/// input.
template <HasInputGradient Kernel>
void add_input_gradient(const Kernel& kernel, const KernelArguments& at, double a, MatrixRef out) {
    if constexpr (HasOwnGradient<Kernel>) {
        kernel.add_gradient(at.xt, at.node, a, out);
    } else {
        const Index m = at.xt.rows(), columns = 1 + at.node.size();
        PointBuffer buffer(m * columns);
        const Block jet(buffer.data(), m, columns, m);
        kernel.jet(at.xt, at.node, matrix_ref(jet));
        for (Index c = 0; c < out.cols(); ++c)
            for (Index i = 0; i < m; ++i) out(i, c) -= a * jet(i, 1 + c);
    }
}

}  // namespace kernelet::detail
