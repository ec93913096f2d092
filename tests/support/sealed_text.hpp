#pragma once

#include <kernelet/model/text_io.hpp>

#include <sstream>
#include <string>
#include <vector>

/// Model files by lines, for tests that change them.
namespace support {

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The text with a checksum that matches whatever stands before it: only the other checks are left.
inline std::string resealed(const std::vector<std::string>& lines) {
    kernelet::detail::Checksum checksum;
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    checksum.add(text);
    return text + "checksum " + checksum.hex() + "\n";
}

}  // namespace support
