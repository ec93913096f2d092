#pragma once

#include <kernelet/types.hpp>

#include <optional>

namespace kernelet {

/// What an earlier solution knows: λ, γ, and max‖ᾱ₀‖ from which γ is made.
struct WarmStart {
    Matrix lambda{};
    std::optional<double> gamma{};
    std::optional<double> unsparse_height{};
};

}  // namespace kernelet
