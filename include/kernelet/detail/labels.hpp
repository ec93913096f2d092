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

/// A label of a class: any values that can be copied and put in order; numbers, strings, enumerators.
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

/// One label per sample, from a std::vector or an Eigen vector of either direction.
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

}  // namespace detail

}  // namespace kernelet
