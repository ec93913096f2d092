#pragma once

#include <kernelet/types.hpp>

#include <optional>

namespace kernelet {

/// Values of an earlier solution to start from: λ, γ, and max‖ᾱ₀‖ from which γ is made.
struct WarmStart {
    Matrix lambda{};
    std::optional<double> gamma{};
    std::optional<double> unsparse_height{};
};

}  // namespace kernelet
