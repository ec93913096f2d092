#pragma once

#include <kernelet/types.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kernelet {

/// The arguments of the C code of a kernel.
enum class CArguments {
    difference,       ///< r = x − z, in float without the cancellation of a difference of rounded numbers
    point_and_center  ///< x and z, both in the units of the fit
};

/// The cost of one kernel value.
struct COperations {
    Index arithmetic{};  ///< additions, subtractions and multiplications
    Index divisions{};
    Index exponentials{};
    Index roots{};
    Index sines{};
};

/// A kernel as C: what export_c() needs of a kernel family. It calls
///     CKernel c_kernel(const Family&, Index d)
/// which it finds by the namespace of the family (argument-dependent lookup), for inputs of dimension d. A family that is
/// derived from a stock one and does not define it becomes C as that one.
/// The texts are the statements of two C99 functions of
///     const real r[d]                      the difference, or
///     const real x[d], const real z[d]     point and center
///     const real p[]                       the numbers of parameters(node), the same count for every node
/// In them the word real stands for double or float, d for the dimension, exp, sqrt, sin and cos for those functions in this
/// type, and constants with a point or an exponent get the suffix of the type. An example, k = 1/(1 + ‖x − z‖²/w²):
///     CKernel c_kernel(const Cauchy&, Index) {
///         return {.formula = "1/(1 + |x - z|^2/w^2)",
///                 .value = R"(
///                     real s = 1.0;
///                     for (int c = 0; c < d; ++c) s += r[c] * r[c] * p[0];
///                     return 1.0 / s;)",
///                 .gradient = R"(
///                     real s = 1.0;
///                     for (int c = 0; c < d; ++c) s += r[c] * r[c] * p[0];
///                     for (int c = 0; c < d; ++c) g[c] = -2.0 * p[0] * r[c] / (s * s);)",
///                 .parameters = [](const ConstVectorRef& node) {
///                     const double w = node(node.size() - 1);
///                     return std::vector<double>{1.0 / (w * w)};
///                 }};
///     }
struct CKernel {
    /// k(x, z), for the comment at the head of the file.
    std::string formula{};
    CArguments arguments = CArguments::difference;
    /// Statements that return k.
    std::string value{};
    /// Statements that write ∂k/∂x to real g[d] and return nothing; needed with CExportOptions::gradient only.
    std::string gradient{};
    /// p of a node (z; θ), in the units of the fit.
    std::function<std::vector<double>(const ConstVectorRef& node)> parameters{};
    /// The cost of value() at a node without the d differences; empty: not known.
    std::function<COperations(const ConstVectorRef& node)> operations{};
};

}  // namespace kernelet
