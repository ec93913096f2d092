#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/input_gradient.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// A family whose θ is made of lengths only, so that the tag of a dictionary is the one shape of its θ.
template <class Family>
concept WithoutShapes = !requires(const Family& family) {
    family.shapes();
};

/// A family whose members a file can hold: it has none, or save() and load().
template <class Family>
concept SavableFamily = (std::is_empty_v<Family> && std::default_initializable<Family>) ||
                        requires(const Family& family, const std::vector<double>& numbers) {
    { family.save() } -> std::same_as<std::vector<double>>;
    { Family::load(numbers) } -> std::same_as<Family>;
};

/// The family whose numbers begin at `at`, which moves behind them.
template <class Family>
Family loaded_family(const std::vector<double>& numbers, std::size_t& at) {
    require(at < numbers.size(), "the file lacks numbers of ", Family::name);
    const double count = numbers[at++];
    require(count >= 0.0 && count <= static_cast<double>(numbers.size() - at), "the file lacks numbers of ",
            Family::name);
    require(count == std::floor(count), "the file has ", count, " numbers of ", Family::name);
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at);
    at += static_cast<std::size_t>(count);
    if constexpr (requires { Family::load(numbers); }) {
        return Family::load({first, numbers.begin() + static_cast<std::ptrdiff_t>(at)});
    } else {
        require(count == 0.0, "the file has ", count, " numbers of ", Family::name, ", which needs none");
        return Family{};
    }
}

/// "dictionary<first,second>", one word of a model file.
template <class... Families>
constexpr auto dictionary_letters() {
    constexpr std::string_view open = "dictionary<";
    // each name brings its comma, and the last one is made the bracket
    std::array<char, open.size() + (... + (std::string_view(Families::name).size() + 1))> letters{};
    auto at = std::copy(open.begin(), open.end(), letters.begin());
    const auto append = [&at](std::string_view word) {
        at = std::copy(word.begin(), word.end(), at);
        *at++ = ',';
    };
    (append(Families::name), ...);
    letters.back() = '>';
    return letters;
}

template <class... Families>
inline constexpr auto dictionary_name = dictionary_letters<Families...>();

}  // namespace detail

/// Several families, one of them chosen at each node: θ = (the rows that all families have; tag), tag = 0, 1,
/// ... the place of the family in the list (read as the nearest whole number). The families must have the
/// same rows of θ, as many for every dimension and none of them a shape; the constructor and parameters()
/// throw otherwise.
template <detail::WithoutShapes... Families>
class Dictionary {
    static_assert(sizeof...(Families) > 0, "kernelet: a Dictionary needs at least one family");

public:
    static constexpr std::string_view name{detail::dictionary_name<Families...>.data(),
                                           detail::dictionary_name<Families...>.size()};

    Dictionary() requires(std::default_initializable<Families>&&...) : Dictionary(Families{}...) {}

    explicit Dictionary(Families... families)
        : families_(std::move(families)...), lengths_(std::get<0>(families_).parameters(1)) {
        parameters(2);  // one more dimension: a family with one width per coordinate is refused here
        each([this](const auto& family) {
            for (Index row = 0; row < lengths_; ++row) {
                const ParameterKind kind = family.parameter_kind(row);
                detail::require(kind != ParameterKind::shape && kind == parameter_kind(row), name, ": row ",
                                row, " of the parameter of ", family.name,
                                " is not the same length as that of the first family");
            }
        });
    }

    Index parameters(Index dimension) const {
        each([&](const auto& family) {
            detail::require(family.parameters(dimension) == lengths_, name, ": ", family.name, " has ",
                            family.parameters(dimension), " parameters for ", dimension, " inputs; ",
                            lengths_, " are needed");
        });
        return lengths_ + 1;
    }

    ParameterKind parameter_kind(Index row) const {
        return row < lengths_ ? std::get<0>(families_).parameter_kind(row) : ParameterKind::shape;
    }

    /// What the one row of kind `shape` may be: the tags, finitely many numbers with nothing between them.
    std::vector<double> shapes() const {
        std::vector<double> tags(sizeof...(Families));
        std::iota(tags.begin(), tags.end(), 0.0);
        return tags;
    }

    /// In the order of their tags.
    const std::tuple<Families...>& families() const { return families_; }

    /// values_i = k_tag(x_i, z; θ). xt is m x d (a tile, one coordinate per column), node = (z; θ; tag). Costs
    /// what the family costs.
    void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef values) const {
        chosen(node, [&](const auto& family) { family.values(xt, untagged(node), values); });
    }

    /// The family's columns, and zero for the tag. jet is m x (1 + d + p).
    void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef jet) const {
        chosen(node,
               [&](const auto& family) { family.jet(xt, untagged(node), jet.leftCols(jet.cols() - 1)); });
        jet.rightCols(1).setZero();
    }

    /// What a file keeps: of each family how many numbers, and these.
    std::vector<double> save() const requires(detail::SavableFamily<Families>&&...) {
        std::vector<double> numbers;
        each([&](const auto& family) {
            std::vector<double> own;
            if constexpr (requires { family.save(); }) own = family.save();
            numbers.push_back(static_cast<double>(own.size()));
            numbers.insert(numbers.end(), own.begin(), own.end());
        });
        return numbers;
    }
    static Dictionary load(const std::vector<double>& numbers) requires(
        detail::SavableFamily<Families>&&...) {
        std::size_t at = 0;
        Dictionary out{detail::loaded_family<Families>(numbers, at)...};
        detail::require(at == numbers.size(), name, ": the file holds more numbers than its families");
        return out;
    }

    /// That of the family; only where every family has one.
    void add_gradient(const ConstMatrixRef& xt, const ConstVectorRef& node, double a, MatrixRef out) const
        requires(detail::HasInputGradient<Families>&&...) {
        chosen(node, [&](const auto& family) {
            detail::add_input_gradient(family, {xt, untagged(node)}, a, out);
        });
    }

    /// The reach of the chosen family; present if every family has one.
    double reach(const ConstVectorRef& node) const requires(detail::HasReach<Families>&&...) {
        double reach = 0.0;
        chosen(node, [&](const auto& family) { reach = family.reach(untagged(node)); });
        return reach;
    }

private:
    /// (z; θ) without the tag: a view.
    static auto untagged(const ConstVectorRef& node) { return node.head(node.size() - 1); }

    template <class Function>
    void each(const Function& function) const {
        std::apply([&](const Families&... families) { (function(families), ...); }, families_);
    }

    /// function(the family that the node's tag stands for).
    template <class Function>
    void chosen(const ConstVectorRef& node, const Function& function) const {
        constexpr auto last = static_cast<double>(sizeof...(Families) - 1);
        const auto tag = static_cast<std::size_t>(std::clamp(std::round(node(node.size() - 1)), 0.0, last));
        std::size_t place = 0;
        each([&](const auto& family) {
            if (place++ == tag) function(family);
        });
    }

    std::tuple<Families...> families_;
    Index lengths_;  // rows of θ before the tag
};

}  // namespace kernelet
