#pragma once

#include <kernelet/detail/check.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Words, constants and lines of C source text.
namespace kernelet::detail {

/// Texts and whole numbers in a row; other than text(), whatever the global locale is.
template <class... Parts>
std::string c_join(const Parts&... parts) {
    std::string out;
    const auto append = [&out](const auto& part) {
        if constexpr (std::integral<std::decay_t<decltype(part)>>)
            out += std::to_string(part);
        else
            out += part;
    };
    (append(parts), ...);
    return out;
}

/// Statements without the blank lines around them, moved so that the first column is `indent`.
inline std::string c_lines(std::string_view source, Index indent) {
    std::vector<std::string_view> lines;
    std::size_t margin = std::string_view::npos;
    while (!source.empty()) {
        const std::size_t end = std::min(source.find('\n'), source.size());
        const std::string_view line = source.substr(0, end);
        source.remove_prefix(std::min(end + 1, source.size()));
        const std::size_t first = line.find_first_not_of(' ');
        if (first == std::string_view::npos) continue;
        lines.push_back(line);
        margin = std::min(margin, first);
    }
    std::string out;
    for (const std::string_view line : lines)
        out.append(static_cast<std::size_t>(indent), ' ').append(line.substr(margin)).append("\n");
    return out;
}

/// The shortest constant that is this number, or with `narrow` the float nearest to it, to the bit.
inline std::string c_number(double value, bool narrow) {
    std::array<char, 32> buffer{};
    char* end = buffer.data();
    if (narrow) {
        require(
            std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()), "export_c: ", value,
            " of this model is out of the range of float; use CScalar::float64, or standardize the inputs");
        end = std::to_chars(end, end + buffer.size(), static_cast<float>(value)).ptr;
    } else {
        require(std::isfinite(value), "export_c: this model holds ", value, ", which C has no constant for");
        end = std::to_chars(end, end + buffer.size(), value).ptr;
    }
    std::string digits(buffer.data(), end);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    return narrow ? digits + "f" : digits;
}

/// A string constant. No octal code runs into a digit behind it, and none of what opens or closes a comment is left.
inline std::string c_string(std::string_view letters) {
    std::string out = "\"";
    char before = '\0';
    for (const char c : letters) {
        const auto code = static_cast<unsigned char>(c);
        const bool comment = (before == '*' && c == '/') || (before == '/' && c == '*');
        if (code < 0x20 || code > 0x7e || c == '"' || c == '\\' || c == '?' || comment) {
            for (const unsigned shift : {6U, 3U, 0U}) {
                if (shift == 6U) out += '\\';
                out += static_cast<char>('0' + ((code >> shift) & 7U));
            }
        } else {
            out += c;
        }
        before = c;
    }
    return out + "\"";
}

}  // namespace kernelet::detail
