#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/model/c_family.hpp>
#include <kernelet/model/c_functions.hpp>
#include <kernelet/model/c_text.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The common parts of the C code of all models: a table with a row per kernel, and functions that evaluate a row.
namespace kernelet::detail {

/// How the C code of some kernels is laid out. In the text that follows
///     d, NUMBERS             the inputs, the numbers p of a kernel
///     SHIFT, REST, RATE      the tables of the scaling, u = (x − SHIFT) RATE; in float SHIFT + REST
struct CLayout {
    Index d{}, kernels{}, numbers{};
    bool narrow = false;  ///< float
    bool split = false;   ///< centers are two floats in the user's units, and u is not needed for kernels
    bool points = false;  ///< kernels are given u and z and not their difference
    bool slopes = false;  ///< a linear trend

    bool needs_u() const { return slopes || (kernels > 0 && !split); }
    bool needs_rate() const { return slopes || kernels > 0; }
    std::string arguments() const { return points ? "u, row->z, row->p" : "r, row->p"; }
};

inline CLayout c_layout(const CText& out, const CFamily& family, const ConstBlock& nodes, Index d) {
    CLayout layout{.d = d, .kernels = nodes.cols, .narrow = out.narrow()};
    layout.points = family.kernel.arguments == CArguments::point_and_center;
    layout.split = layout.narrow && !layout.points;
    if (nodes.cols > 0) {
        layout.numbers = static_cast<Index>(family.kernel.parameters(column_ref(nodes, 0)).size());
        require(layout.numbers > 0, "export_c: c_kernel of ", family.name,
                " gives no parameters; at least one is needed");
    }
    return layout;
}

/// Throws where squares of differences in units of the width leave the range of the type.
inline void require_c_widths(const CFamily& family, const ConstBlock& nodes, bool narrow) {
    const double largest = narrow ? 1e15 : 1e100;
    const Index d = nodes.rows - static_cast<Index>(family.kinds.size());
    for (Index j = 0; j < nodes.cols; ++j)
        for (Index row = d; row < nodes.rows; ++row)
            if (family.kinds[static_cast<std::size_t>(row - d)] != ParameterKind::shape)
                require(nodes(row, j) >= 1.0 / largest && nodes(row, j) <= largest,
                        "export_c: the width of kernel ", j, " is ", nodes(row, j),
                        " in the units of the fit; from ", 1.0 / largest, " to ", largest,
                        " are possible in ", narrow ? "float" : "double");
}

/// The type of a row. `more` declares what it holds behind the center and the numbers of its kernel, `what` names it.
inline void add_row_type(CText& out, const CLayout& layout, std::string_view more, std::string_view what) {
    out.add(layout.split
                ? "\n/* A kernel: its center z + rest in the units of x, the numbers p of its formula"
                : "\n/* A kernel: its center z in the units of the fit, the numbers p of its formula");
    out.add_verbatim(what).add(". */\nstruct NAME_row {\n    real z[d];\n");
    if (layout.split) out.add("    real rest[d];\n");
    out.add("    real p[NUMBERS];\n").add(more).add("};\n");
}

/// The double as the sum of two floats: 48 bits of it.
struct SplitNumber {
    explicit SplitNumber(double value)
        : high(static_cast<double>(static_cast<float>(value))), rest(value - high) {}
    double high, rest;
};

/// {{z}, {rest}, {p}: a row that is left open.
inline void add_row_start(CText& out, const CLayout& layout, const CFamily& family,
                          const InputScaling& scaling, const ConstVectorRef& node) {
    std::vector<double> z, rest;
    for (Index c = 0; c < layout.d; ++c) {
        const double user = node(c) * scaling.scale(c) + scaling.shift(c);
        z.push_back(layout.split ? SplitNumber(user).high : node(c));
        rest.push_back(SplitNumber(user).rest);
    }
    out.add("    {").add_numbers(z).add(", ");
    if (layout.split) out.add_numbers(rest).add(", ");
    const std::vector<double> numbers = family.kernel.parameters(node);
    require(static_cast<Index>(numbers.size()) == layout.numbers, "export_c: c_kernel of ", family.name,
            " gives ", numbers.size(), " parameters for one node and ", layout.numbers, " for another");
    out.add_numbers(numbers);
}

/// The numbers of SHIFT, REST and RATE, as initialisers, for one scaling.
struct CScalingTables {
    explicit CScalingTables(const InputScaling& scaling, bool narrow) {
        for (Index c = 0; c < scaling.shift.size(); ++c) {
            shift.push_back(narrow ? SplitNumber(scaling.shift(c)).high : scaling.shift(c));
            rest.push_back(SplitNumber(scaling.shift(c)).rest);
            rate.push_back(1.0 / scaling.scale(c));
            const double largest = narrow ? 1e38 : 1e308;
            require(rate.back() >= 1.0 / largest && rate.back() <= largest, "export_c: scaling.scale(", c,
                    ") is ", scaling.scale(c), ", out of the range of ", narrow ? "float" : "double");
        }
    }
    std::vector<double> shift{}, rest{}, rate{};
};

/// u of x, indented by so much; nothing where it is not needed.
inline void add_point(CText& out, const CLayout& layout, Index indent) {
    if (!layout.needs_u()) return;
    out.add(c_lines(layout.narrow
                        ? "for (int c = 0; c < d; ++c) u[c] = ((x[c] - SHIFT[c]) - REST[c]) * RATE[c];"
                        : "for (int c = 0; c < d; ++c) u[c] = (x[c] - SHIFT[c]) * RATE[c];",
                    indent));
}

/// r of x and a row; nothing where kernels take points.
inline void add_difference(CText& out, const CLayout& layout, Index indent) {
    if (layout.points) return;
    out.add(c_lines(layout.split
                        ? "for (int c = 0; c < d; ++c) r[c] = ((x[c] - row->z[c]) - row->rest[c]) * RATE[c];"
                        : "for (int c = 0; c < d; ++c) r[c] = u[c] - row->z[c];",
                    indent));
}

/// "sum += term;", in float with what the sum has lost so far.
inline std::string c_sum(const CLayout& layout, std::string_view sum, std::string_view rest,
                         std::string_view term) {
    if (!layout.narrow) return c_join(sum, " += ", term, ";");
    return c_join("NAME_add(&", sum, ", &", rest, ", ", term, ");");
}

/// The functions that evaluate a row, and in float the sum.
inline void add_kernel_functions(CText& out, const CLayout& layout, const CFamily& family) {
    if (layout.narrow && layout.needs_rate())
        out.add(R"(
/* sum - rest += term: what rounding takes from the sum is kept in rest (Kahan 1965). */
static void NAME_add(real *sum, real *rest, real term) {
    const real before = *sum, more = term - *rest;
    *sum = before + more;
    *rest = (*sum - before) - more;
}
)");
    if (layout.kernels == 0) return;
    const std::string_view given = layout.points ? "(const real x[d], const real z[d], const real p[NUMBERS]"
                                                 : "(const real r[d], const real p[NUMBERS]";
    out.add(layout.points ? "\n/* k(x, z), both in the units of the fit. */\n"
                          : "\n/* k of the difference r = x - z, in the units of the fit. */\n");
    out.add("static real NAME_kernel")
        .add(given)
        .add(") {\n")
        .add(c_lines(family.kernel.value, 4))
        .add("}\n");
    if (!out.options().gradient) return;
    require(!family.kernel.gradient.empty(), "export_c: c_kernel of ", family.name,
            " has no gradient, which CExportOptions::gradient requires");
    out.add("\n/* g = dk/dx, likewise. */\n");
    out.add("static void NAME_kernel_gradient").add(given).add(", real g[d]) {\n");
    out.add(c_lines(family.kernel.gradient, 4)).add("}\n");
}

/// Additions and multiplications of one call, besides the kernels' formulas: the scaling, the differences, and for
/// each of so many terms its product and its sum.
inline Index c_arithmetic(const CLayout& layout, Index terms) {
    const Index per_sum = layout.narrow ? 5 : 1, per_difference = layout.split ? 3 : 1;
    Index count = terms * (1 + per_sum);
    if (layout.needs_u()) count += layout.d * (layout.narrow ? 3 : 2);
    if (!layout.points) count += layout.kernels * layout.d * per_difference;
    return count;
}

/// The cost of all kernels' formulas; without a count where the family has none.
inline std::string c_operations(const CFamily& family, const ConstBlock& nodes, Index beside) {
    COperations sum{.arithmetic = beside};
    for (Index j = 0; j < nodes.cols && family.kernel.operations; ++j) {
        const COperations one = family.kernel.operations(column_ref(nodes, j));
        sum.arithmetic += one.arithmetic;
        sum.divisions += one.divisions;
        sum.exponentials += one.exponentials;
        sum.roots += one.roots;
        sum.sines += one.sines;
    }
    std::string out = c_join(sum.arithmetic, " additions and multiplications");
    const auto append = [&out](Index count, const char* what) {
        if (count > 0) out += c_join(", ", count, " ", what, count > 1 ? "s" : "");
    };
    append(sum.divisions, "division");
    append(sum.exponentials, "exponential");
    append(sum.roots, "square root");
    append(sum.sines, "sine");
    if (nodes.cols > 0 && !family.kernel.operations) out += ", and those of the kernels' formula";
    return out;
}

}  // namespace kernelet::detail
