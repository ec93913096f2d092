#pragma once

// Deprecated, for one version: include <kernelet/search/linear_elimination.hpp> instead.
#include <kernelet/search/linear_elimination.hpp>
