#pragma once

#include <kernelet/model/c_expansion.hpp>
#include <kernelet/model/c_head.hpp>
#include <kernelet/multiclass/c_votes.hpp>
#include <kernelet/multiclass/export_c.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// What each kernel adds to which classifiers, kernels of all groups one behind the other.
struct CTerms {
    std::vector<Index> group{0};  ///< kernels of group g: from group[g] to before group[g + 1]
    std::vector<Index> first{0};  ///< terms of kernel j: from first[j] to before first[j + 1]
    std::vector<Index> classifier{};
    std::vector<double> coefficient{};

    explicit CTerms(const CEnsemble& ensemble) {
        for (const KernelGroup& one : ensemble.groups) group.push_back(group.back() + one.nodes.cols());
        struct Term {
            Index classifier{};
            double coefficient{};
        };
        std::vector<std::vector<Term>> terms(static_cast<std::size_t>(group.back()));
        for (std::size_t m = 0; m < ensemble.sums.size(); ++m)
            for (const KernelTerm& term : ensemble.sums[m].terms) {
                const Index j = group[static_cast<std::size_t>(ensemble.sums[m].group)] + term.kernel;
                if (term.coefficient != 0.0)
                    terms[static_cast<std::size_t>(j)].push_back({static_cast<Index>(m), term.coefficient});
            }
        for (const std::vector<Term>& of_kernel : terms) {
            for (const Term& term : of_kernel) {
                classifier.push_back(term.classifier);
                coefficient.push_back(term.coefficient);
            }
            first.push_back(static_cast<Index>(classifier.size()));
        }
    }
    Index size() const { return static_cast<Index>(classifier.size()); }
};

/// The C code of an ensemble. In the text that follows, besides the words of CLayout and of c_votes.hpp,
///     GROUPS, KERNELS        scalings, and kernels of all of them
class CEnsembleCode {
public:
    CEnsembleCode(const CEnsemble& ensemble, const CExportOptions& options)
        : ensemble_(ensemble), terms_(ensemble), code_(options) {
        require(!options.gradient, "CExportOptions::gradient is for models; an ensemble has none");
        require_c_widths(ensemble.family, ensemble.nodes, code_.narrow());
        layout_ = c_layout(code_, ensemble.family, ensemble.nodes, ensemble.dimension());
        layout_.slopes = ensemble.slopes();
        if (terms_.size() == 0) layout_.kernels = 0;
        define_words();
        add_kernel_table();
        add_terms();
        add_trends();
        add_kernel_functions(code_, layout_, ensemble.family);
        add_margins();
        add_decision();
        if (ensemble.loss == "logistic") add_probability();
    }

    std::string file() const { return c_file(head(), prototypes_, code_); }

private:
    void define_words() {
        const std::string name = code_.options().name;
        code_.define("d", layout_.d);
        code_.define("NUMBERS", layout_.numbers);
        code_.define("KERNELS", layout_.kernels);
        code_.define("TERMS", terms_.size());
        code_.define("GROUPS", static_cast<Index>(ensemble_.groups.size()));
        code_.define("CLASSES", ensemble_.classes());
        code_.define("CLASSIFIERS", ensemble_.classifiers());
        code_.define("SHIFT", name + "_shift[i]");
        code_.define("REST", name + "_shift_rest[i]");
        code_.define("RATE", name + "_rate[i]");
        code_.define("farthest",
                     layout_.narrow ? "80.0f" : "80.0");  // what is within reach counts, however little
        code_.define("ACCURACY", layout_.narrow ? "1e-6f" : "1e-12");
        code_.define("BELOW_ONE", layout_.narrow ? "0x1.fffffep-1f" : "0x1.fffffffffffffp-1");
    }
    bool skips() const { return !ensemble_.reach.empty() && !layout_.points; }

    void add_kernel_table() {
        if (layout_.kernels == 0) return;
        add_row_type(code_, layout_, skips() ? "    real reach;\n" : "",
                     skips() ? ", and how far it reaches along a coordinate" : "");
        code_.add("static const struct NAME_row NAME_kernels[KERNELS] = {\n");
        Index j = 0;
        for (const KernelGroup& group : ensemble_.groups)
            for (Index k = 0; k < group.nodes.cols(); ++k, ++j) {
                add_row_start(code_, layout_, ensemble_.family, group.scaling, column_ref(group.nodes, k));
                if (skips()) code_.add(", ").add_number(ensemble_.reach[static_cast<std::size_t>(j)]);
                code_.add("},\n");
            }
        code_.add("};\n");
    }

    void add_terms() {
        if (layout_.kernels == 0) return;
        code_.add("\n/* Kernels of scaling i: from group[i] to before group[i + 1]. */\n");
        code_.add_indices("NAME_group", terms_.group);
        code_.add(
            "/* The terms that kernel j adds to the classifiers: terms from first[j] to before first[j + 1]. "
            "*/\n");
        code_.add_indices("NAME_first", terms_.first).add_indices("NAME_classifier", terms_.classifier);
        code_.add("static const real NAME_coefficient[TERMS] = ").add_numbers(terms_.coefficient).add(";\n");
    }

    void add_trends() {
        std::vector<std::vector<double>> shift, rest, rate, slopes;
        std::vector<double> offset;
        std::vector<Index> group_of;
        for (const KernelGroup& group : ensemble_.groups) {
            const CScalingTables scaling(group.scaling, layout_.narrow);
            shift.push_back(scaling.shift);
            rest.push_back(scaling.rest);
            rate.push_back(scaling.rate);
        }
        for (const KernelSum& sum : ensemble_.sums) {
            group_of.push_back(sum.group);
            offset.push_back(sum.offset);
            slopes.emplace_back(static_cast<std::size_t>(layout_.d), 0.0);
            for (Index c = 0; c < sum.slopes.size(); ++c)
                slopes.back()[static_cast<std::size_t>(c)] = sum.slopes(c);
        }
        if (layout_.needs_rate()) code_.add("\n/* The units of the fit: u = (x - shift) rate. */\n");
        if (layout_.needs_u()) add_matrix("NAME_shift[GROUPS][d]", shift);
        if (layout_.needs_u() && layout_.narrow) add_matrix("NAME_shift_rest[GROUPS][d]", rest);
        if (layout_.needs_rate()) add_matrix("NAME_rate[GROUPS][d]", rate);
        code_.add("\n/* What is left of each classifier far from all centers. */\n");
        code_.add("static const real NAME_offset[CLASSIFIERS] = ").add_numbers(offset).add(";\n");
        if (!layout_.slopes) return;
        code_.add_indices("NAME_group_of", group_of);
        add_matrix("NAME_slopes[CLASSIFIERS][d]", slopes);
    }
    void add_matrix(std::string_view name, const std::vector<std::vector<double>>& rows) {
        code_.add("static const real ").add(name).add(" = {\n");
        for (const std::vector<double>& row : rows) code_.add("    ").add_numbers(row).add(",\n");
        code_.add("};\n");
    }

    void add_function(std::string_view comment, const std::string& prototype) {
        prototypes_.push_back(code_.replaced(prototype));
        code_.add("\n/* ").add_verbatim(comment).add(" */\n").add(prototype).add(" {\n");
    }

    void add_margins() {
        if (skips() && layout_.kernels > 0)
            code_.add(R"(
/* Whether a kernel is too far along some coordinate to change a sum. */
static int NAME_beyond(const real r[d], real reach) {
    for (int c = 0; c < d; ++c)
        if (r[c] > reach || r[c] < -reach) return 1;
    return 0;
}
)");
        add_function("f = the decision values of the classifiers.",
                     "void NAME_margins(const real x[d], real f[CLASSIFIERS])");
        const bool kernels = layout_.kernels > 0, compensated = layout_.narrow && layout_.needs_rate();
        if (layout_.needs_u()) code_.add("    real u[d];\n");
        if (kernels && !layout_.points) code_.add("    real r[d];\n");
        if (compensated) code_.add("    real rest[CLASSIFIERS] = {0.0};\n");
        code_.add("    for (int m = 0; m < CLASSIFIERS; ++m) f[m] = 0.0;\n");
        if (layout_.needs_rate()) {
            code_.add("    for (int i = 0; i < GROUPS; ++i) {\n");
            add_point(code_, layout_, 8);
            if (kernels) add_kernel_loop();
            if (layout_.slopes)
                code_
                    .add(
                        "        for (int m = 0; m < CLASSIFIERS; ++m)\n"
                        "            for (int c = 0; c < d && NAME_group_of[m] == i; ++c) ")
                    .add(c_sum(layout_, "f[m]", "rest[m]", "NAME_slopes[m][c] * u[c]"))
                    .add("\n");
            code_.add("    }\n");
        } else {
            code_.add("    (void)x;\n");
        }
        code_.add(compensated
                      ? "    for (int m = 0; m < CLASSIFIERS; ++m) f[m] += NAME_offset[m] - rest[m];\n}\n"
                      : "    for (int m = 0; m < CLASSIFIERS; ++m) f[m] += NAME_offset[m];\n}\n");
    }
    void add_kernel_loop() {
        code_.add("        for (int j = (int)NAME_group[i]; j < (int)NAME_group[i + 1]; ++j) {\n");
        code_.add("            const struct NAME_row *row = &NAME_kernels[j];\n");
        add_difference(code_, layout_, 12);
        if (skips()) code_.add("            if (NAME_beyond(r, row->reach)) continue;\n");
        code_.add("            const real k = NAME_kernel(").add(layout_.arguments()).add(");\n");
        code_.add(
            "            for (int t = (int)NAME_first[j]; t < (int)NAME_first[j + 1]; ++t)\n               "
            " ");
        code_.add(
            c_sum(layout_, "f[NAME_classifier[t]]", "rest[NAME_classifier[t]]", "NAME_coefficient[t] * k"));
        code_.add("\n        }\n");
    }

    void add_decision() {
        code_.add(R"(
/* The class with most votes; among several, that with the largest sum of margins; among several still, the first. */
static int NAME_decided(const real f[CLASSIFIERS]) {
    int votes[CLASSES] = {0}, best = 0;
    real score[CLASSES] = {0.0};
)");
        code_.add(c_lines(ensemble_.pairs() ? c_tally_one_vs_one : c_tally_one_vs_rest, 4));
        code_.add(c_lines(c_largest_tally, 4)).add("}\n");
        add_function("The class of x: 0, 1, ...", "int NAME(const real x[d])");
        code_.add("    real f[CLASSIFIERS];\n    NAME_margins(x, f);\n    return NAME_decided(f);\n}\n");
        const std::string& type = ensemble_.labels.type;
        add_function("The label of a class.", type + "NAME_label(int which)");
        code_.add("    static ").add(type == "const char *" ? "const char *const " : "const " + type);
        code_.add("labels[CLASSES] = ")
            .add_list(ensemble_.labels.constants)
            .add(";\n    return labels[which];\n}\n");
    }

    void add_probability() {
        code_.add(ensemble_.pairs() ? c_couple : c_normalize).add(c_raise_chosen);
        add_function("p = the probabilities of the classes; none is above that of the class of x.",
                     "void NAME_probability(const real x[d], real p[CLASSES])");
        code_.add("    real f[CLASSIFIERS];\n    NAME_margins(x, f);\n");
        code_.add(ensemble_.pairs() ? "    NAME_couple(f, p);\n" : "    NAME_normalize(f, p);\n");
        code_.add("    NAME_raise_chosen(p, NAME_decided(f));\n}\n");
    }

    std::string head() const {
        std::string labels;
        for (std::size_t c = 0; c < ensemble_.labels.constants.size(); ++c)
            labels += c_join(c > 0 ? "\n" : "", c, ": ", ensemble_.labels.constants[c]);
        const Index slopes = layout_.slopes ? layout_.d * ensemble_.classifiers() : 0;
        Index beside = c_arithmetic(layout_, terms_.size() + slopes) + ensemble_.classifiers();
        if (layout_.needs_u())
            beside +=
                layout_.d * (layout_.narrow ? 3 : 2) * (static_cast<Index>(ensemble_.groups.size()) - 1);
        std::vector<CFact> facts{{"scheme", std::string(to_string(ensemble_.scheme))},
                                 {"family", ensemble_.family.name},
                                 {"kernel", ensemble_.family.kernel.formula},
                                 {"kernels", c_join(layout_.kernels, ", in ", terms_.size(), " terms of ",
                                                    ensemble_.classifiers(), " classifiers")},
                                 {"trend", layout_.slopes ? "linear" : "constant"},
                                 {"inputs", std::to_string(layout_.d)},
                                 {"numbers", layout_.narrow ? "float" : "double"},
                                 {"a call", c_operations(ensemble_.family, ensemble_.nodes, beside) +
                                                "\nif all kernels are in reach, without the votes"},
                                 {"classes", labels}};
        if (!ensemble_.loss.empty()) facts.insert(facts.begin(), {"loss", ensemble_.loss});
        append_usage(facts, code_);
        return c_head(
            c_join(code_.options().name,
                   ": an ensemble of sparse kernel models, each f(x) = trend + sum of a k(x, z; w)"),
            facts);
    }

    const CEnsemble& ensemble_;
    CTerms terms_;
    CText code_;
    CLayout layout_{};
    std::vector<std::string> prototypes_{};
};

template <class Scalar>
std::string c_file_of(const CEnsemble& ensemble, const CExportOptions& options) {
    options.validate();
    return CEnsembleCode(ensemble, options).file();
}

}  // namespace kernelet::detail
