#pragma once

// Catch2 v2 (Debian 12) and v3 behind one include. Tests use v3's spelling of what was renamed.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using Catch::Approx;

#else

#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {

inline auto ContainsSubstring(const std::string& text) { return Contains(text); }

}  // namespace Catch::Matchers

#endif
