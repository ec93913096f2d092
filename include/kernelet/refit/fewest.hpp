#pragma once

// Deprecated, for one version: include <kernelet/search/strategy.hpp> instead.
#include <kernelet/search/strategy.hpp>

namespace kernelet {

using FewestOptions [[deprecated("use SearchOptions")]] = SearchOptions;

}  // namespace kernelet
