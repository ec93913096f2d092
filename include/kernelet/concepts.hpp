#pragma once

#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kernelet {

/// A parametrised family k(x, z; θ). A node is a column (z; θ) of d + p rows; the x of a call come as a tile,
/// m x d, one coordinate per column, so that array expressions vectorise over the samples.
///     name                     a word for model files
///     parameters(d)            p, the rows of θ for inputs of dimension d
///     parameter_kind(row)      what a row of θ is when x changes its unit
///     values(xt, node, k)      writes k(x_i, z; θ), m values
///     jet(xt, node, J)         writes m x (1 + d + p): k, ∂k/∂z, ∂k/∂log θ (zero for a row that is a shape)
/// Optional fast paths, used where they exist:
///     reach(node)              distance past which k is below rounding; without it nothing is skipped
///     coherence(a, b)          ⟨k_a, k_b⟩/‖k_a‖‖k_b‖ in closed form; without it, over the samples
/// Where the last row of θ is a shape:
///     shapes()                 the values it may take, std::vector<double>
/// Not promised: that k depends on x − z, is radial, positive, or decays.
/// Thread safety: const members are called from many threads at once.
template <class K>
concept KernelFamily = std::copyable<K> &&
    requires(const K& kernel, const ConstMatrixRef& xt, const ConstVectorRef& node, Index index,
             VectorRef values, MatrixRef jet) {
    { K::name } -> std::convertible_to<std::string_view>;
    { kernel.parameters(index) } -> std::same_as<Index>;
    { kernel.parameter_kind(index) } -> std::same_as<ParameterKind>;
    { kernel.values(xt, node, values) } -> std::same_as<void>;
    { kernel.jet(xt, node, jet) } -> std::same_as<void>;
};

/// A loss ℓ(ŷ, y) of one number, convex in ŷ, its least value 0 (attained or not), and the sets of ŷ that it
/// allows at a tolerance t.
///     name                     a word for messages and files
///     value, derivative        ℓ and ∂ℓ/∂ŷ (any subgradient at a kink), not NaN however large ŷ is
///     level(t)                 ε, the bound on ℓ that tolerance t stands for
///     interval(y, t)           {ŷ : ℓ(ŷ, y) ≤ ε}, ends may be infinite
/// Optional closed forms, used where they exist; without them losses/separable.hpp and losses/aggregate.hpp
/// search:
///     proximal(v, κ, y)        argmin of κℓ + ½(ŷ − v)²
///     curvature(ŷ, y)          ∂²ℓ/∂ŷ², +∞ at a kink (exactly where proximal puts ŷ)
///     conjugate(s, y)          sup of sŷ − ℓ, +∞ outside its domain
///     argmin(λ, μ, y, r)       of μℓ + λŷ over |ŷ − y| ≤ r, r finite or not (Algorithm 1)
///     farthest(t, m)           a bound on |ŷ − y| where ℓ ≤ mε (the box of Algorithm 1)
///     aggregate_minimum(λ, y, w, t)      min of ⟨λ, ŷ⟩ over Σ wℓ ≤ ε q Σ w, −∞ outside the barrier cone
///     aggregate_projection(v, y, w, t)   onto that set, with its generalised Jacobian
/// Optional traits:
///     classification           static constexpr bool; true: targets must be −1 or +1
///     smooth                   static constexpr bool; true: curvature() is continuous, Newton's method may
///                              follow ℓ as it is
///     adapted(σ)               this loss with its scale chosen by the noise deviation σ
/// Matrices are q x n, weights n. Not promised: differentiability, boundedness of the sets.
template <class L>
concept ConvexLoss = std::copyable<L> && requires(const L& loss, double number) {
    { L::name } -> std::convertible_to<std::string_view>;
    { loss.value(number, number) } -> std::same_as<double>;
    { loss.derivative(number, number) } -> std::same_as<double>;
    { loss.level(number) } -> std::same_as<double>;
    { loss.interval(number, number) } -> std::same_as<Interval>;
};

/// Ω = X x W with a probability measure ρ, given as a map from the unit cube.
///     dimension(), rows()      d and d + p
///     with_parameters(layout)  the same domain for a kernel of another θ
///     uniforms(), place(u, node)   ρ is the image of the uniform measure on [0, 1]^uniforms
///     project(node)            the nearest node inside, coordinate by coordinate
///     free(row)                whether the ascent of peaks and the search may move that row
///     rule(budget)             a quadrature of ρ of at most `budget` nodes, where there is a good one
///     widths()                 the interval of scales
template <class D>
concept Domain = std::copyable<D> && requires(const D& domain, Index index, const ParameterLayout& layout,
                                              const ConstVectorRef& u, VectorRef node) {
    { domain.dimension() } -> std::same_as<Index>;
    { domain.rows() } -> std::same_as<Index>;
    { domain.with_parameters(layout) } -> std::same_as<D>;
    { domain.uniforms() } -> std::same_as<Index>;
    { domain.place(u, node) } -> std::same_as<void>;
    { domain.project(node) } -> std::same_as<void>;
    { domain.free(index) } -> std::same_as<bool>;
    { domain.rule(index) } -> std::same_as<std::optional<Quadrature>>;
    { domain.widths() } -> std::same_as<Interval>;
};

/// Observes a fit: called with each Progress, returns a Verdict and nothing else (a bool would leave open
/// whether true means go on). Called from the thread that fits.
template <class O>
concept Observer =
    std::invocable<O&, const Progress&> && std::same_as<std::invoke_result_t<O&, const Progress&>, Verdict>;

/// Samples that are read in blocks, as often as a fit needs them, in any order.
///     size(), dimension(), outputs()   n, d and q; q may be 0 where samples are only predicted
///     read(first, count, x, y, weights)   writes samples first ... first + count − 1: x is d x count, y q x count,
///                              weights count, all one before the call. Throws where they cannot be read.
/// Every pass must return the same numbers; a fit compares checksums and throws SourceError where it does not.
/// Thread safety: const members are called from many threads at once.
template <class S>
concept SampleSource = requires(const S& source, Index number, MatrixRef matrix, VectorRef vector) {
    { source.size() } -> std::convertible_to<Index>;
    { source.dimension() } -> std::convertible_to<Index>;
    { source.outputs() } -> std::convertible_to<Index>;
    { source.read(number, number, matrix, matrix, vector) } -> std::same_as<void>;
};

}  // namespace kernelet
