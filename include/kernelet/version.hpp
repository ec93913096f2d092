#pragma once

/// Semantic version of the library; the CMake package reads it from here.
#define KERNELET_VERSION_MAJOR 0
#define KERNELET_VERSION_MINOR 2
#define KERNELET_VERSION_PATCH 0

/// The version as one number for the preprocessor to compare, major * 10000 + minor * 100 + patch: 0.2.0 is 200.
#define KERNELET_VERSION \
    (KERNELET_VERSION_MAJOR * 10000 + KERNELET_VERSION_MINOR * 100 + KERNELET_VERSION_PATCH)
// Two steps, so that the numbers are expanded before they are turned into text.
#define KERNELET_VERSION_TEXT(a, b, c) KERNELET_VERSION_TEXT_OF(a, b, c)
#define KERNELET_VERSION_TEXT_OF(a, b, c) #a "." #b "." #c
/// The version as text: "0.2.0".
#define KERNELET_VERSION_STRING \
    KERNELET_VERSION_TEXT(KERNELET_VERSION_MAJOR, KERNELET_VERSION_MINOR, KERNELET_VERSION_PATCH)
