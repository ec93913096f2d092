#pragma once

#include <kernelet/types.hpp>

#include <concepts>
#include <ranges>
#include <type_traits>

namespace kernelet {

/// Numbers of one input or one output where an Eigen type is not at hand: std::vector<double>, std::span<const float>,
/// std::array.
template <class T>
concept NumberRange = !requires {
    typename T::PlainObject;
}
&&std::ranges::contiguous_range<const T>&&
    std::floating_point<std::remove_cv_t<std::ranges::range_value_t<const T>>>;

namespace detail {

// By overloads, since some expressions, such as vector.head(n), derive from the base of another type.
template <class Derived>
void eigen_expression(const Eigen::MatrixBase<Derived>&);
template <class Derived>
void eigen_expression(const Eigen::ArrayBase<Derived>&);

}  // namespace detail

/// What a public entry takes for x or y: an Eigen expression, matrix or array, or a NumberRange.
template <class T>
concept Numbers = NumberRange<T> || requires(const T& values) {
    detail::eigen_expression(values);
};

namespace detail {

/// x as a matrix expression that refers to it: d x n, a range as 1 x n.
template <class Derived>
const Derived& input_matrix(const Eigen::MatrixBase<Derived>& x) {
    return x.derived();
}
template <class Derived>
auto input_matrix(const Eigen::ArrayBase<Derived>& x) {
    return x.derived().matrix();
}
template <NumberRange Range>
auto input_matrix(const Range& x) {
    using Value = std::remove_cv_t<std::ranges::range_value_t<const Range>>;
    return Eigen::Map<const Eigen::Matrix<Value, 1, Eigen::Dynamic>>(
        std::ranges::data(x), static_cast<Index>(std::ranges::size(x)));
}

/// y as a matrix expression that refers to it; a range as a column.
template <class Y>
decltype(auto) target_matrix(const Y& y) {
    if constexpr (NumberRange<Y>) {
        using Value = std::remove_cv_t<std::ranges::range_value_t<const Y>>;
        return Eigen::Map<const Eigen::Matrix<Value, Eigen::Dynamic, 1>>(
            std::ranges::data(y), static_cast<Index>(std::ranges::size(y)));
    } else {
        return input_matrix(y);
    }
}

}  // namespace detail

}  // namespace kernelet
