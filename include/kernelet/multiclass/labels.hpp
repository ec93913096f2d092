#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kernelet {

/// What may name a class: any values that can be copied and put in order; numbers, strings, enumerators.
template <class L>
concept ClassLabel = std::copyable<L> && std::totally_ordered<L>;

namespace detail {

/// Text of any kind is kept as std::string: pointers would be compared as such.
template <class T>
using LabelOf = std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string, T>;

/// A label as a message names it.
template <ClassLabel Label>
std::string label_text(const Label& label) {
    if constexpr (std::integral<Label>)
        return std::to_string(label);  // also of char
    else if constexpr (requires(std::ostream & stream) { stream << label; }) {
        std::ostringstream stream;
        stream << "'" << label << "'";
        return stream.str();
    } else
        return "(unprintable)";
}

/// One label a sample, from a std::vector or an Eigen vector of either direction.
template <class T>
std::vector<LabelOf<T>> gathered_labels(const std::vector<T>& labels) {
    return {labels.begin(), labels.end()};
}
template <class Derived>
std::vector<typename Derived::Scalar> gathered_labels(const Eigen::DenseBase<Derived>& labels) {
    require(labels.size() == 0 || labels.rows() == 1 || labels.cols() == 1, "labels is ", labels.rows(),
            " x ", labels.cols(), "; labels are a vector, one a sample");
    std::vector<typename Derived::Scalar> gathered;
    for (Index j = 0; j < labels.cols(); ++j)
        for (Index i = 0; i < labels.rows(); ++i) gathered.push_back(labels.derived().coeff(i, j));
    return gathered;
}

/// Which of the sorted classes a label is; −1 where none.
template <ClassLabel Label>
Index class_of(const std::vector<Label>& classes, const Label& label) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), label);
    return found != classes.end() && *found == label ? static_cast<Index>(found - classes.begin()) : -1;
}

template <ClassLabel Label>
void require_ordered(const std::vector<Label>& labels) {
    if constexpr (std::floating_point<Label>)
        for (std::size_t i = 0; i < labels.size(); ++i)
            require(std::isfinite(labels[i]), "labels(", i, ") is ", labels[i], "; labels must be finite");
}

/// Labels sorted out.
template <ClassLabel Label>
struct SortedLabels {
    std::vector<Label> classes{};               // distinct, in ascending order
    std::vector<std::vector<Index>> members{};  // the samples of each class, in their order

    /// Throws where there is nothing to tell apart.
    SortedLabels(const std::vector<Label>& labels, Index samples) {
        require(static_cast<Index>(labels.size()) == samples, "labels has ", labels.size(),
                " entries but x has ", samples, " columns; one label a sample, x is d x n");
        require(samples > 0, "x has no columns; x is d x n, one sample per column, n >= 1");
        require_ordered(labels);
        classes = labels;
        std::sort(classes.begin(), classes.end());
        classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
        require(classes.size() >= 2, "labels has one class only, ", label_text<Label>(classes.front()),
                "; at least two are needed to tell apart");
        members.resize(classes.size());
        for (std::size_t i = 0; i < labels.size(); ++i)
            members[static_cast<std::size_t>(class_of(classes, Label(labels[i])))].push_back(
                static_cast<Index>(i));
    }
};

}  // namespace detail

}  // namespace kernelet
