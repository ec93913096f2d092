#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace command {

namespace {

/// Bytes of the UTF-8 sequence at the begin of a text; 0 where there is none. Overlong forms and surrogates pass.
std::size_t sequence_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u) return 0;
    return length;
}

}  // namespace

std::string number_text(double value, const char* format) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, value);
    return buffer.data();
}

std::string center_text(double center, double width) {
    constexpr int least = 5, most = 16, more = 3;
    const double ratio = std::abs(center / width);
    const int digits = ratio > 1.0 && std::isfinite(ratio)
                           ? std::clamp(static_cast<int>(std::ceil(std::log10(ratio))) + more, least, most)
                           : least;
    return number_text(center, ("%." + std::to_string(digits) + "g").c_str());
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0)
            out += "\xEF\xBF\xBD";
        else
            out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

std::string shortened(const std::string& text, std::size_t characters) {
    const std::string valid = valid_utf8(text);
    std::size_t seen = 0, cut = 0;
    for (std::size_t i = 0; i < valid.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(valid[i]) & 0xC0u) != 0x80u;
        if (!begins) continue;
        if (seen + 1 == characters) cut = i;
        if (++seen > characters) return valid.substr(0, cut) + "\xE2\x80\xA6";
    }
    return valid;
}

std::string html_text(const std::string& text) {
    std::string out;
    for (const char c : valid_utf8(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += static_cast<unsigned char>(c) < ' ' && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

std::string counted(long count, const std::string& noun, const std::string& plural) {
    return std::to_string(count) + " " + (count == 1 ? noun : plural.empty() ? noun + "s" : plural);
}

}  // namespace command
