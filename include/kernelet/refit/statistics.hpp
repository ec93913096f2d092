#pragma once

// Deprecated, for one version: include <kernelet/search/statistics.hpp> instead.
#include <kernelet/search/statistics.hpp>
