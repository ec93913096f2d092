#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <kernelet/types.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

/// What the fuzz targets share: numbers from bytes, and the end where a promise is broken.
namespace fuzz {

using kernelet::Index;

/// Ends the process with the finding in words; libFuzzer keeps the input.
[[noreturn]] inline void fail(std::string_view what, std::string_view details = {}) {
    std::fprintf(stderr, "\nbroken promise: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(details.size()), details.data());
    std::abort();
}

inline void require(bool holds, std::string_view what, std::string_view details = {}) {
    if (!holds) fail(what, details);
}

/// A message is short and has no control characters; bytes beyond ASCII are allowed where the input had them.
inline void require_readable(std::string_view message, std::size_t most = 1000) {
    require(!message.empty() && message.size() < most, "a message is empty or too long", message);
    for (const char c : message)
        require(static_cast<unsigned char>(c) >= ' ' && c != '\x7f', "a control character in a message",
                message);
}

inline bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
        if (text.find(word) != std::string_view::npos) return true;
    return false;
}

/// Numbers from bytes. At the end of the bytes all choices are the first of their kind.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : provider_(data, size) {}

    bool is_empty() { return provider_.remaining_bytes() == 0; }

    /// From 0 to count − 1.
    Index choice(Index count) { return provider_.ConsumeIntegralInRange<Index>(0, count - 1); }
    Index between(Index least, Index most) { return provider_.ConsumeIntegralInRange<Index>(least, most); }
    /// True once in so many cases.
    bool once_in(Index count) { return choice(count) == count - 1; }

    /// In [-2, 2) on a grid of 1/64, so that equal numbers are frequent.
    double grid() { return static_cast<double>(provider_.ConsumeIntegral<std::int8_t>()) / 64.0; }

    /// From [1/10, 10], any number of digits.
    double usual() { return std::pow(10.0, provider_.ConsumeFloatingPointInRange<double>(-1.0, 1.0)); }

    /// A power of ten, mostly one of everyday units.
    double unit() {
        if (!once_in(4)) return provider_.PickValueInArray({1.0, 1.0, 1.0, 1e-3, 1e3, 1e-6, 1e6});
        return std::pow(10.0, static_cast<double>(between(-150, 150)));
    }

    /// What validate() should look at: the ends of all ranges, and what is not a number.
    double extreme() {
        using limits = std::numeric_limits<double>;
        return provider_.PickValueInArray({0.0,
                                           -0.0,
                                           1.0,
                                           -1.0,
                                           0.5,
                                           1e-9,
                                           1e9,
                                           1e-150,
                                           1e150,
                                           1e-300,
                                           1e300,
                                           limits::denorm_min(),
                                           limits::min(),
                                           limits::max(),
                                           -limits::max(),
                                           limits::epsilon(),
                                           1.0 - limits::epsilon(),
                                           limits::infinity(),
                                           -limits::infinity(),
                                           limits::quiet_NaN()});
    }
    Index extreme_count() {
        using limits = std::numeric_limits<Index>;
        return provider_.PickValueInArray<Index>(
            {0, 1, -1, 2, 3, 7, 100, 1000, limits::min(), -1000, limits::max(), limits::max() / 2, 1 << 20});
    }

private:
    FuzzedDataProvider provider_;
};

}  // namespace fuzz
