#pragma once

// Deprecated, for one version: include <kernelet/search/least_squares.hpp> instead.
#include <kernelet/search/least_squares.hpp>
