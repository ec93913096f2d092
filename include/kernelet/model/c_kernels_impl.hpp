#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/model/c_kernels.hpp>
#include <kernelet/model/c_words.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The stock kernels as C, in the arithmetic of their values() and gradient().
namespace kernelet {

namespace detail {

/// p of a kernel with one number: factor / w^power.
inline auto c_width(double factor, int power) {
    return [factor, power](const ConstVectorRef& node) {
        const double w = node(node.size() - 1);
        return std::vector<double>{power == 2 ? factor / (w * w) : factor / w};
    };
}

inline auto c_cost(const COperations& operations) {
    return [operations](const ConstVectorRef&) { return operations; };
}

inline constexpr std::string_view c_squared_distance = R"(
        real s = 0.0;
        for (int c = 0; c < d; ++c) s += r[c] * p[0] * (r[c] * p[0]);
)";

/// k(s), s = ‖r‖ p[0], given by an expression; zero where e^−s does not matter any more.
inline std::string c_radial(std::string_view k) {
    return c_join(c_squared_distance, R"(
        if (s > farthest * farthest) return 0.0;
        s = sqrt(s);
        return )",
                  k, ";\n");
}

/// ∂k/∂x = −t(s) p[0]² r, t = −k'(s)/s, given by an expression.
inline std::string c_radial_gradient(std::string_view t) {
    return c_join(c_squared_distance, R"(
        s = sqrt(s);
        const real t = s > farthest ? 0.0 : )",
                  t, R"(;
        for (int c = 0; c < d; ++c) g[c] = -(t * (r[c] * p[0]) * p[0]);
)");
}

}  // namespace detail

template <class Scalar>
CKernel c_kernel(const Gaussian&, Index d) {
    return {.formula = "exp(-|x - z|^2 / 2 w^2); p = -1 / 2 w^2",
            .value = R"(
        real s = 0.0;
        for (int c = 0; c < d; ++c) s += r[c] * r[c];
        s *= p[0];
        return s < -farthest ? 0.0 : exp(s);
)",
            .gradient = R"(
        real s = 0.0;
        for (int c = 0; c < d; ++c) s += r[c] * r[c];
        s *= p[0];
        s = s < -farthest ? 0.0 : exp(s) * (2.0 * p[0]);
        for (int c = 0; c < d; ++c) g[c] = s * r[c];
)",
            .parameters = detail::c_width(-0.5, 2),
            .operations = detail::c_cost({.arithmetic = 2 * d + 1, .exponentials = 1})};
}

template <class Scalar>
CKernel c_kernel(const AnisotropicGaussian&, Index d) {
    return {.formula = "exp(-sum_c (x_c - z_c)^2 / 2 w_c^2); p_c = 1 / w_c",
            .value = R"(
        real s = 0.0;
        for (int c = 0; c < d; ++c) s += r[c] * p[c] * (r[c] * p[c]);
        s *= -0.5;
        return s < -farthest ? 0.0 : exp(s);
)",
            .gradient = R"(
        real s = 0.0;
        for (int c = 0; c < d; ++c) s += r[c] * p[c] * (r[c] * p[c]);
        s *= -0.5;
        s = s < -farthest ? 0.0 : exp(s);
        for (int c = 0; c < d; ++c) g[c] = -(s * (r[c] * p[c]) * p[c]);
)",
            .parameters =
                [](const ConstVectorRef& node) {
                    std::vector<double> inverse;
                    for (Index c = node.size() / 2; c < node.size(); ++c) inverse.push_back(1.0 / node(c));
                    return inverse;
                },
            .operations = detail::c_cost({.arithmetic = 3 * d + 1, .exponentials = 1})};
}

template <class Scalar>
CKernel c_kernel(const Laplacian&, Index d) {
    return {.formula = "exp(-s), s = |x - z| / w; p = 1 / w",
            .value = detail::c_radial("exp(-s)"),
            .gradient = detail::c_radial_gradient("s > 0.0 ? exp(-s) / s : 0.0"),
            .parameters = detail::c_width(1.0, 1),
            .operations = detail::c_cost({.arithmetic = 3 * d, .exponentials = 1, .roots = 1})};
}

template <class Scalar>
CKernel c_kernel(const Matern32&, Index d) {
    return {.formula = "(1 + s) exp(-s), s = sqrt(3) |x - z| / w; p = sqrt(3) / w",
            .value = detail::c_radial("(1.0 + s) * exp(-s)"),
            .gradient = detail::c_radial_gradient("exp(-s)"),
            .parameters = detail::c_width(detail::Matern32Profile::rate, 1),
            .operations = detail::c_cost({.arithmetic = 3 * d + 2, .exponentials = 1, .roots = 1})};
}

template <class Scalar>
CKernel c_kernel(const Matern52&, Index d) {
    return {.formula = "(1 + s + s^2/3) exp(-s), s = sqrt(5) |x - z| / w; p = sqrt(5) / w",
            .value = detail::c_radial("(1.0 + s * (1.0 + s * (1.0 / 3.0))) * exp(-s)"),
            .gradient = detail::c_radial_gradient("(1.0 + s) * (1.0 / 3.0) * exp(-s)"),
            .parameters = detail::c_width(detail::Matern52Profile::rate, 1),
            .operations = detail::c_cost({.arithmetic = 3 * d + 5, .exponentials = 1, .roots = 1})};
}

template <class Scalar>
CKernel c_kernel(const Sinc&, Index d) {
    return {.formula = "prod_c sin(t_c) / t_c, t = pi (x - z) / w; p = pi / w",
            .value = R"(
        real k = 1.0;
        for (int c = 0; c < d; ++c) {
            const real t = r[c] * p[0];
            if (t != 0.0) k *= sin(t) / t;
        }
        return k;
)",
            .gradient = R"(
        real before = 1.0; /* the factors of the coordinates before c */
        for (int c = 0; c < d; ++c) {
            const real t = r[c] * p[0], sine = sin(t), factor = t != 0.0 ? sine / t : 1.0;
            real slope; /* of sin(t) / t, by its series where the difference cancels */
            if (t > 0.5 || t < -0.5) {
                slope = (cos(t) - factor) / t;
            } else {
                real term = slope = -t / 3.0;
                for (int n = 2; n <= 8; ++n) {
                    term *= -t * t / (real)((2 * n - 2) * (2 * n + 1));
                    slope += term;
                }
            }
            g[c] = p[0] * slope * before;
            for (int i = 0; i < c; ++i) g[i] *= factor;
            before *= factor;
        }
)",
            .parameters = detail::c_width(std::numbers::pi, 1),
            .operations = detail::c_cost({.arithmetic = 2 * d, .divisions = d, .sines = d})};
}

template <class Scalar>
CKernel c_kernel(const Polynomial&, Index d) {
    const auto order = [](const ConstVectorRef& node) {
        return std::clamp(std::round(node(node.size() - 1)), 1.0,
                          static_cast<double>(Polynomial::highest_order));
    };
    return {.formula = "(1 + <x, z>)^n; p = n",
            .arguments = CArguments::point_and_center,
            .value = R"(
        real base = 1.0, k = 1.0;
        for (int c = 0; c < d; ++c) base += x[c] * z[c];
        for (int i = 0; i < (int)p[0]; ++i) k *= base;
        return k;
)",
            .gradient = R"(
        real base = 1.0, k = 1.0;
        for (int c = 0; c < d; ++c) base += x[c] * z[c];
        for (int i = 1; i < (int)p[0]; ++i) k *= base;
        for (int c = 0; c < d; ++c) g[c] = p[0] * z[c] * k;
)",
            .parameters = [order](const ConstVectorRef& node) { return std::vector<double>{order(node)}; },
            .operations =
                [order, d](const ConstVectorRef& node) {
                    return COperations{.arithmetic = 2 * d + static_cast<Index>(order(node))};
                }};
}

namespace detail {

/// One of several kernels of the same θ, chosen by the tag, p[0]; the other numbers are its own.
inline std::string c_switch(const std::vector<CKernel>& families, bool points, std::string CKernel::*body) {
    std::string out = R"(
        const int family = (int)p[0];
        p += 1;
        switch (family) {
)";
    for (std::size_t f = 0; f < families.size(); ++f) {
        const CKernel& one = families[f];
        out += f + 1 < families.size() ? c_join("        case ", f, ": {\n") : "        default: {\n";
        if (points && one.arguments == CArguments::difference)
            out += "            real r[d];\n            for (int c = 0; c < d; ++c) r[c] = x[c] - z[c];\n";
        out += c_lines(one.*body, 12) + (body == &CKernel::value ? "        }\n" : "        } break;\n");
    }
    return out + "        }\n";
}

/// The family that the tag of a node stands for.
inline std::size_t c_tag(const ConstVectorRef& node, std::size_t families) {
    return static_cast<std::size_t>(
        std::clamp(std::round(node(node.size() - 1)), 0.0, static_cast<double>(families - 1)));
}

/// (z; θ) without the tag: a view.
inline ConstVectorRef c_untagged(const ConstVectorRef& node) {
    return column_ref(ConstBlock(node.data(), node.size() - 1, 1, node.size()), 0);
}

template <class Scalar>
CKernel c_choice(const std::vector<CKernel>& families) {
    CKernel all{.formula = "by p[0], the numbers of each family behind it:"};
    bool points = false, counted = true, sloped = true;
    for (std::size_t f = 0; f < families.size(); ++f) {
        all.formula += c_join("\n", f, ": ", families[f].formula);
        points = points || families[f].arguments == CArguments::point_and_center;
        counted = counted && families[f].operations;
        sloped = sloped && !families[f].gradient.empty();
    }
    if (points) all.arguments = CArguments::point_and_center;
    all.value = c_switch(families, points, &CKernel::value);
    if (sloped) all.gradient = c_switch(families, points, &CKernel::gradient);
    all.parameters = [families](const ConstVectorRef& node) {
        const ConstVectorRef untagged = c_untagged(node);
        std::size_t most = 0;
        for (const CKernel& family : families) most = std::max(most, family.parameters(untagged).size());
        const std::size_t tag = c_tag(node, families.size());
        std::vector<double> numbers = families[tag].parameters(untagged);
        numbers.insert(numbers.begin(), static_cast<double>(tag));
        numbers.resize(1 + most, 0.0);
        return numbers;
    };
    if (counted)
        all.operations = [families](const ConstVectorRef& node) {
            return families[c_tag(node, families.size())].operations(c_untagged(node));
        };
    return all;
}

}  // namespace detail

}  // namespace kernelet
