#pragma once

/// Semantic version of the library; the CMake package reads it from here.
#define KERNELET_VERSION_MAJOR 0
#define KERNELET_VERSION_MINOR 1
#define KERNELET_VERSION_PATCH 0
