#pragma once

// Deprecated, for one version: include <kernelet/search/final_model.hpp> instead.
#include <kernelet/search/final_model.hpp>
