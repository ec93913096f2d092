#pragma once

/// Checks what a compilation needs before anything else: one error line with the remedy instead of thousands
/// of errors that follow.

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#define KERNELET_REQUIREMENT_MISSED
#error "kernelet needs C++20: compile with -std=c++20 or newer"
#elif defined(__GNUC__) && !defined(__cpp_exceptions)
#define KERNELET_REQUIREMENT_MISSED
#error "kernelet reports misuse by exceptions: compile without -fno-exceptions"
#elif defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#define KERNELET_REQUIREMENT_MISSED
#error "kernelet checks its input for NaN and infinities: compile without -ffast-math and -ffinite-math-only"
#elif defined(EIGEN_DEFAULT_TO_ROW_MAJOR)
#define KERNELET_REQUIREMENT_MISSED
#error "kernelet keeps one sample per column: compile without EIGEN_DEFAULT_TO_ROW_MAJOR"
#endif

#ifdef KERNELET_REQUIREMENT_MISSED
#include <kernelet/the_line_above_says_what_is_needed>  // ends the compilation here
#endif
