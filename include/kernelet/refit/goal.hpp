#pragma once

// Deprecated, for one version: include <kernelet/search/criterion.hpp> instead.
#include <kernelet/search/criterion.hpp>

namespace kernelet {

using Goal [[deprecated("use Criterion")]] = Criterion;

}  // namespace kernelet
