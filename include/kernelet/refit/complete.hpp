#pragma once

// Deprecated, for one version: include <kernelet/search/forward_selection.hpp> instead.
#include <kernelet/search/forward_selection.hpp>

namespace kernelet {

using CompleteOptions [[deprecated("use ForwardSelectionOptions")]] = ForwardSelectionOptions;

}  // namespace kernelet
