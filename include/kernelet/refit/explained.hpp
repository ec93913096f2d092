#pragma once

// Deprecated, for one version: include <kernelet/search/correlation_gain.hpp> instead.
#include <kernelet/search/correlation_gain.hpp>
