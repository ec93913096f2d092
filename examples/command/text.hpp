#pragma once

#include <string>
#include <string_view>

namespace command {

/// As printf does.
std::string number_text(double value, const char* format = "%.5g");

/// A center, to so many digits as its width calls for: of 1600000000 at width 20 five would say nothing.
std::string center_text(double center, double width);

/// The same text with U+FFFD for every byte that is no part of UTF-8: tables come in other encodings too.
std::string valid_utf8(std::string_view text);

/// At most so many characters, of which the last is then an ellipsis.
std::string shortened(const std::string& text, std::size_t characters);

/// For text inside HTML and SVG.
std::string html_text(const std::string& text);

/// "1 kernel", "2 kernels"; a plural that is not the noun and an s is given.
std::string counted(long count, const std::string& noun, const std::string& plural = "");

}  // namespace command
