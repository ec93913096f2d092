#pragma once

#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble.hpp>

#include <charconv>
#include <concepts>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

/// A label that a line of text can hold: a whole number, a number, or a string without line breaks.
template <class L>
concept TextLabel = ClassLabel<L> &&
    (std::integral<L> || std::same_as<L, float> || std::same_as<L, double> || std::same_as<L, std::string>);

namespace detail {

template <class T>
inline constexpr bool is_ensemble = false;
template <class Kernel, class Label>
inline constexpr bool is_ensemble<EnsembleModel<Kernel, Label>> = true;

/// The word for the kind of label.
template <TextLabel Label>
constexpr std::string_view label_kind() {
    if constexpr (std::integral<Label>) return "integer";
    if constexpr (std::floating_point<Label>) return "real";
    return "text";
}

template <TextLabel Label>
std::string label_line(const Label& label) {
    if constexpr (std::integral<Label>)
        return "class " + std::to_string(label);
    else if constexpr (std::floating_point<Label>)
        return "class " + exact(label);
    else {
        require_line(label, "class");
        return "class " + label;
    }
}

template <TextLabel Label>
Label expect_label(LineReader& reader) {
    if constexpr (std::floating_point<Label>) {
        const double value = reader.expect_numbers("class", 1)(0);
        const auto label = static_cast<Label>(value);
        if (static_cast<double>(label) != value) reader.fail("'class' is out of the range of its type");
        return label;
    } else if constexpr (std::integral<Label>) {
        using Wide = std::conditional_t<std::is_signed_v<Label>, long long, unsigned long long>;
        const std::string rest = reader.expect("class");
        Wide value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc{} || end != rest.data() + rest.size())
            reader.fail("'class' needs a whole number");
        const auto label = static_cast<Label>(value);
        if (static_cast<Wide>(label) != value) reader.fail("'class' is out of the range of its type");
        return label;
    } else {
        return reader.expect("class");
    }
}

/// One kernel of a group and its coefficient.
inline KernelTerm expect_term(LineReader& reader, Index kernels) {
    const Vector term = reader.expect_numbers("term", 2);
    const auto kernel = static_cast<Index>(std::min(std::max(term(0), -1.0), static_cast<double>(kernels)));
    if (static_cast<double>(kernel) != term(0) || kernel < 0 || kernel >= kernels)
        reader.fail(text("'term' needs a kernel from 0 to ", kernels - 1));
    return {kernel, term(1)};
}

/// The kernels of one scaling: d inputs, p parameters per kernel.
inline KernelGroup expect_group(LineReader& reader, Index d, Index p) {
    const Index k = reader.expect_count("kernels", 0);
    KernelGroup group;
    group.scaling.shift = reader.expect_numbers("shift", d);
    group.scaling.scale = reader.expect_numbers("scale", d);
    std::vector<Vector> nodes;
    for (Index j = 0; j < k; ++j) nodes.push_back(reader.expect_numbers("kernel", d + p));
    group.nodes.resize(d + p, k);
    for (Index j = 0; j < k; ++j) copy(nodes[static_cast<std::size_t>(j)], Block(group.nodes).columns(j, 1));
    return group;
}

/// One classifier: its group of kernels, its trend and its terms.
inline KernelSum expect_sum(LineReader& reader, const std::vector<KernelGroup>& groups, bool has_slopes) {
    KernelSum sum;
    sum.group = reader.expect_count("group", 0);
    if (sum.group >= static_cast<Index>(groups.size()))
        reader.fail(text("'group' needs a number from 0 to ", groups.size() - 1));
    const KernelGroup& group = groups[static_cast<std::size_t>(sum.group)];
    sum.offset = reader.expect_numbers("offset", 1)(0);
    if (has_slopes) {
        const Index d = group.scaling.shift.size(), slopes = reader.expect_count("slopes", 0);
        if (slopes != 0 && slopes != d) reader.fail(text("'slopes' must be 0 or ", d));
        sum.slopes = reader.expect_numbers("slope", slopes);
    }
    for (Index left = reader.expect_count("terms", 0); left > 0; --left)
        sum.terms.push_back(expect_term(reader, group.nodes.cols()));
    return sum;
}

template <KernelFamily Kernel, TextLabel Label>
std::string text_of(const EnsembleModel<Kernel, Label>& ensemble) {
    const MergedKernels<Kernel>& kernels = ensemble.kernels();
    std::vector<std::string> lines{"kernelet ensemble 3"};
    append_family(lines, kernels.kernel());
    lines.push_back(text("scheme ", to_string(ensemble.scheme())));
    lines.push_back(text("labels ", label_kind<Label>()));
    lines.push_back("inputs " + std::to_string(ensemble.dimension()));
    lines.push_back("classes " + std::to_string(ensemble.classes().size()));
    for (const Label& label : ensemble.classes()) lines.push_back(label_line<Label>(label));
    lines.push_back("groups " + std::to_string(kernels.groups().size()));
    for (const KernelGroup& group : kernels.groups()) {
        lines.push_back("kernels " + std::to_string(group.nodes.cols()));
        lines.push_back(text_line("shift", group.scaling.shift));
        lines.push_back(text_line("scale", group.scaling.scale));
        for (Index j = 0; j < group.nodes.cols(); ++j)
            lines.push_back(text_line("kernel", &group.nodes(0, j), group.nodes.rows()));
    }
    for (const KernelSum& sum : kernels.sums()) {
        lines.push_back("group " + std::to_string(sum.group));
        lines.push_back("offset " + exact(sum.offset));
        lines.push_back("slopes " + std::to_string(sum.slopes.size()));
        lines.push_back(text_line("slope", sum.slopes));
        lines.push_back("terms " + std::to_string(sum.terms.size()));
        for (const KernelTerm& term : sum.terms)
            lines.push_back("term " + std::to_string(term.kernel) + " " + exact(term.coefficient));
    }
    require_line(ensemble.loss(), "loss");
    lines.push_back("loss " + ensemble.loss());
    return sealed(lines);
}

}  // namespace detail

/// Writes an ensemble as text, in the manner of a model: its classes, its distinct kernels by scaling, and of each
/// classifier the offset, the slopes of a linear trend, and a line per term: kernel (of its group, from 0) and coefficient.
template <KernelFamily Kernel, TextLabel Label>
void save(std::ostream& stream, const EnsembleModel<Kernel, Label>& ensemble) {
    detail::write_text(stream, detail::text_of(ensemble));
}

/// The same into a file, which is replaced only when all is written.
template <KernelFamily Kernel, TextLabel Label>
void save(const std::string& path, const EnsembleModel<Kernel, Label>& ensemble) {
    detail::write_file(path, detail::text_of(ensemble));
}

/// Reads what save() wrote, of this version or an earlier one (version 1 knows of no slopes). Ensemble is an EnsembleModel
/// of the same kernel and kind of label; anything malformed throws FormatError with the line.
template <class Ensemble>
requires detail::is_ensemble<Ensemble> Ensemble load(std::istream& stream) {
    using Kernel = typename Ensemble::KernelType;
    using Label = typename Ensemble::LabelType;
    detail::LineReader reader(stream);
    const Index version = reader.expect_version("ensemble", 3);
    const Kernel kernel = detail::expect_family<Kernel>(reader, version);
    const std::string scheme_word = reader.expect("scheme");
    const Scheme scheme =
        scheme_word == to_string(Scheme::one_vs_one) ? Scheme::one_vs_one : Scheme::one_vs_rest;
    if (scheme_word != to_string(scheme)) reader.fail("'scheme' needs one_vs_one or one_vs_rest");
    reader.expect_word("labels", detail::label_kind<Label>(), "the labels");
    const Index d = reader.expect_count("inputs", 1);
    const Index count = reader.expect_count("classes", 2);
    std::vector<Label> classes;
    for (Index c = 0; c < count; ++c) {
        Label label = detail::expect_label<Label>(reader);
        if (c > 0 && !(classes.back() < label)) reader.fail("classes must be distinct and ascending");
        classes.push_back(std::move(label));
    }
    std::vector<KernelGroup> groups;
    for (Index left = reader.expect_count("groups", 1); left > 0; --left)
        groups.push_back(detail::expect_group(reader, d, kernel.parameters(d)));
    std::vector<KernelSum> sums;
    const Index classifiers = scheme == Scheme::one_vs_one ? count * (count - 1) / 2 : count;
    for (Index m = 0; m < classifiers; ++m) sums.push_back(detail::expect_sum(reader, groups, version > 1));
    const std::string loss = version < 3 ? std::string() : reader.expect("loss");
    reader.expect_checksum();
    try {
        return Ensemble(scheme, std::move(classes),
                        MergedKernels<Kernel>(kernel, std::move(groups), std::move(sums)))
            .with_loss(loss);
    } catch (const std::invalid_argument& error) {
        throw FormatError(reader.line(), error.what());
    }
}

/// The same from a file that holds it and nothing else, as load() of a model.
template <class Ensemble>
requires detail::is_ensemble<Ensemble> Ensemble load(const std::string& path) {
    return detail::load_file(path, [](std::istream& stream) { return load<Ensemble>(stream); });
}

}  // namespace kernelet
