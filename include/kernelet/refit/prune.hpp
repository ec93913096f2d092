#pragma once

// Deprecated, for one version: include <kernelet/search/backward_elimination.hpp> instead.
#include <kernelet/search/backward_elimination.hpp>

namespace kernelet {

using PruneOptions [[deprecated("use BackwardEliminationOptions")]] = BackwardEliminationOptions;

}  // namespace kernelet
