#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/model/c_expansion.hpp>
#include <kernelet/model/c_head.hpp>
#include <kernelet/model/export_c.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kernelet::detail {

/// The C code of one model. In the text that follows, besides the words of CLayout,
///     KERNELS, OUTPUTS       how many there are; ENTRIES of the gradient
///     COEFFICIENT, SLOPE     a coefficient of a row, and c of the trend, for output o where there are several
class CModelCode {
public:
    CModelCode(const CModel& model, const CExportOptions& options)
        : model_(model), one_(model.outputs() == 1), code_(options) {
        require_c_widths(model.family, model.nodes, code_.narrow());
        layout_ = c_layout(code_, model.family, model.nodes, model.dimension());
        layout_.slopes = model.trend.slopes.size() > 0;
        define_words();
        add_tables();
        add_kernel_functions(code_, layout_, model.family);
        add_value();
        if (options.gradient) add_gradient();
        if (model.logistic()) add_probability();
    }

    std::string file() const { return c_file(head(), prototypes_, code_); }

private:
    void define_words() {
        code_.define("d", layout_.d);
        code_.define("NUMBERS", layout_.numbers);
        code_.define("KERNELS", layout_.kernels);
        code_.define("OUTPUTS", model_.outputs());
        code_.define("ENTRIES", layout_.d * model_.outputs());
        const std::string name = code_.options().name;
        code_.define("SHIFT", name + "_shift");
        code_.define("REST", name + "_shift_rest");
        code_.define("RATE", name + "_rate");
        code_.define("COEFFICIENT", one_ ? "row->a" : "row->a[o]");
        code_.define("SLOPE", name + (one_ ? "_slopes[c]" : "_slopes[o][c]"));
    }

    void add_tables() {
        if (layout_.kernels > 0) {
            add_row_type(code_, layout_, one_ ? "    real a;\n" : "    real a[OUTPUTS];\n",
                         one_ ? ", its coefficient a" : ", its coefficients a");
            code_.add("static const struct NAME_row NAME_kernels[KERNELS] = {\n");
            for (Index j = 0; j < layout_.kernels; ++j) {
                add_row_start(code_, layout_, model_.family, model_.scaling, column_ref(model_.nodes, j));
                std::vector<double> a;
                for (Index o = 0; o < model_.outputs(); ++o) a.push_back(model_.coefficients(j, o));
                code_.add(", ");
                if (one_)
                    code_.add_number(a.front());
                else
                    code_.add_numbers(a);
                code_.add("},\n");
            }
            code_.add("};\n");
        }
        const CScalingTables scaling(model_.scaling, layout_.narrow);
        if (layout_.needs_rate()) {
            code_.add("\n/* The units of the fit: u = (x - shift) rate. */\n");
            if (layout_.needs_u())
                code_.add("static const real SHIFT[d] = ").add_numbers(scaling.shift).add(";\n");
            if (layout_.needs_u() && layout_.narrow)
                code_.add("static const real REST[d] = ").add_numbers(scaling.rest).add(";\n");
            code_.add("static const real RATE[d] = ").add_numbers(scaling.rate).add(";\n");
        }
        const Vector& offset = model_.trend.offset;
        code_.add("\n/* What is left far from all centers. */\nstatic const real NAME_offset[OUTPUTS] = ");
        code_.add_numbers({offset.data(), offset.data() + offset.size()}).add(";\n");
        if (!layout_.slopes) return;
        code_.add(one_ ? "static const real NAME_slopes[d] = "
                       : "static const real NAME_slopes[OUTPUTS][d] = {\n");
        for (Index o = 0; o < model_.outputs(); ++o) {
            const double* slopes = &model_.trend.slopes(0, o);
            code_.add(one_ ? "" : "    ").add_numbers({slopes, slopes + layout_.d}).add(one_ ? ";\n" : ",\n");
        }
        if (!one_) code_.add("};\n");
    }

    void add_function(std::string_view comment, const std::string& prototype) {
        prototypes_.push_back(code_.replaced(prototype));
        code_.add("\n/* ").add_verbatim(comment).add(" */\n").add(prototype).add(" {\n");
    }
    /// u and r, and a mark where x is not used.
    void add_variables(bool u, bool x) {
        if (u) code_.add("    real u[d];\n");
        if (layout_.kernels > 0 && !layout_.points) code_.add("    real r[d];\n");
        if (!x) code_.add("    (void)x;\n");
    }
    /// The loop over the kernels, with r of each where that is needed.
    void open_kernels() {
        code_.add(
            "    for (int j = 0; j < KERNELS; ++j) {\n        const struct NAME_row *row = "
            "&NAME_kernels[j];\n");
        add_difference(code_, layout_, 8);
    }
    /// A statement for output o of several, or for the one.
    void add_per_output(const std::string& indent, std::string_view statement) {
        code_.add(indent);
        if (!one_) code_.add("for (int o = 0; o < OUTPUTS; ++o)\n    ").add(indent);
        code_.add(statement).add("\n");
    }
    bool compensated() const { return layout_.narrow && layout_.needs_rate(); }

    void add_value() {
        add_function(one_ ? "f(x)" : "y = f(x)",
                     one_ ? "real NAME(const real x[d])" : "void NAME(const real x[d], real y[OUTPUTS])");
        const std::string sum = one_ ? "f" : "y[o]", rest = one_ ? "rest" : "rest[o]";
        add_variables(layout_.needs_u(), layout_.needs_rate());
        code_.add(one_ ? "    real f = 0.0;\n" : "    for (int o = 0; o < OUTPUTS; ++o) y[o] = 0.0;\n");
        if (compensated()) code_.add(one_ ? "    real rest = 0.0;\n" : "    real rest[OUTPUTS] = {0.0};\n");
        add_point(code_, layout_, 4);
        if (layout_.kernels > 0) {
            open_kernels();
            code_.add("        const real k = NAME_kernel(").add(layout_.arguments()).add(");\n");
            add_per_output("        ", c_sum(layout_, sum, rest, "COEFFICIENT * k"));
            code_.add("    }\n");
        }
        if (layout_.slopes)
            add_per_output("    ",
                           "for (int c = 0; c < d; ++c) " + c_sum(layout_, sum, rest, "SLOPE * u[c]"));
        if (one_)
            code_.add(compensated() ? "    return f + (NAME_offset[0] - rest);\n}\n"
                                    : "    return f + NAME_offset[0];\n}\n");
        else
            code_.add(compensated()
                          ? "    for (int o = 0; o < OUTPUTS; ++o) y[o] += NAME_offset[o] - rest[o];\n}\n"
                          : "    for (int o = 0; o < OUTPUTS; ++o) y[o] += NAME_offset[o];\n}\n");
    }

    void add_gradient() {
        add_function(
            one_ ? "g = df/dx" : "g = df/dx, that of output o in entries o d ... o d + d - 1, d the inputs",
            "void NAME_gradient(const real x[d], real g[ENTRIES])");
        const std::string entry = one_ ? "c" : "o * d + c", sum = c_join("g[", entry, "]"),
                          rest = c_join("rest[", entry, "]");
        const bool kernels = layout_.kernels > 0, compensated = layout_.narrow && kernels;
        add_variables(kernels && !layout_.split, kernels);
        if (kernels) code_.add("    real k[d];\n");
        if (compensated) code_.add("    real rest[ENTRIES] = {0.0};\n");
        code_.add("    for (int i = 0; i < ENTRIES; ++i) g[i] = 0.0;\n");
        if (kernels) {
            if (!layout_.split) add_point(code_, layout_, 4);
            open_kernels();
            code_.add("        NAME_kernel_gradient(").add(layout_.arguments()).add(", k);\n");
            add_per_output("        ",
                           "for (int c = 0; c < d; ++c) " + c_sum(layout_, sum, rest, "COEFFICIENT * k[c]"));
            code_.add("    }\n");
        }
        if (layout_.needs_rate())
            add_per_output("    ", c_join("for (int c = 0; c < d; ++c) ", sum, " = (", sum,
                                          compensated ? " - " + rest : "", layout_.slopes ? " + SLOPE" : "",
                                          ") * RATE[c];"));
        code_.add("}\n");
    }

    void add_probability() {
        if (one_) {
            add_function("The probability of +1.", "real NAME_probability(const real x[d])");
            code_.add("    return 1.0 / (1.0 + exp(-NAME(x)));\n}\n");
        } else {
            add_function("p = the probability of +1 for each output.",
                         "void NAME_probability(const real x[d], real p[OUTPUTS])");
            code_.add(
                "    NAME(x, p);\n    for (int o = 0; o < OUTPUTS; ++o) p[o] = 1.0 / (1.0 + "
                "exp(-p[o]));\n}\n");
        }
    }

    std::string head() const {
        const Index terms = model_.outputs() * (layout_.kernels + (layout_.slopes ? layout_.d : 0));
        std::vector<CFact> facts{{"family", model_.family.name},
                                 {"kernel", model_.family.kernel.formula},
                                 {"kernels", std::to_string(layout_.kernels)},
                                 {"trend", layout_.slopes ? "linear" : "constant"},
                                 {"inputs", std::to_string(layout_.d)},
                                 {"outputs", std::to_string(model_.outputs())},
                                 {"numbers", layout_.narrow ? "float" : "double"},
                                 {"a call", c_operations(model_.family, model_.nodes,
                                                         c_arithmetic(layout_, terms) + model_.outputs())}};
        if (!model_.loss.empty()) facts.insert(facts.begin(), {"loss", model_.loss});
        append_usage(facts, code_);
        return c_head(
            c_join(code_.options().name, ": a sparse kernel model, f(x) = trend + sum of a k(x, z; w)"),
            facts);
    }

    const CModel& model_;
    bool one_;
    CText code_;
    CLayout layout_{};
    std::vector<std::string> prototypes_{};
};

template <class Scalar>
std::string c_file_of(const CModel& model, const CExportOptions& options) {
    options.validate();
    return CModelCode(model, options).file();
}

}  // namespace kernelet::detail
