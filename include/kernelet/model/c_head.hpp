#pragma once

#include <kernelet/model/c_expansion.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The comment at the head of exported C files.
namespace kernelet::detail {

/// A line of the comment: what, and how much.
using CFact = std::pair<std::string, std::string>;

/// Text that neither ends the comment nor has control characters other than line feeds.
inline std::string c_comment_text(std::string_view words) {
    std::string out(words);
    for (char& c : out)
        if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f') c = '?';
    for (std::size_t at = out.find("*/"); at != std::string::npos; at = out.find("*/"))
        out.replace(at, 2, "* /");
    for (std::size_t at = out.find("/*"); at != std::string::npos; at = out.find("/*"))
        out.replace(at, 2, "/ *");
    return out;
}

/// First the title, then the facts in two columns; further lines of a fact below its first.
inline std::string c_head(std::string_view title, const std::vector<CFact>& facts) {
    constexpr std::size_t column = 12;
    std::string out = "/* " + c_comment_text(title) + "\n *\n";
    for (const auto& [what, value] : facts) {
        std::string words = c_comment_text(value);
        const std::string margin = "\n *   " + std::string(column, ' ');
        for (std::size_t at = words.find('\n'); at != std::string::npos;
             at = words.find('\n', at + margin.size()))
            words.replace(at, 1, margin);
        out.append(" *   ").append(what).append(column - std::min(column, what.size()), ' ');
        out.append(words).append("\n");
    }
    return out + " */\n";
}

/// What all heads end with.
inline void append_usage(std::vector<CFact>& facts, const CText& code) {
    const CExportOptions& options = code.options();
    facts.emplace_back("table", c_join(code.bytes(), " bytes of constants; no heap, no other state"));
    const bool linked = code.uses_functions() && options.functions == CFunctions::library;
    facts.emplace_back(
        "compile", c_join("cc -std=c99 -O2 -c ", options.name, ".c", linked ? "    (and link with -lm)" : "",
                          "\nnot with -ffast-math: it removes roundings that the code relies on"));
}

/// The file: head, #include, declarations, the functions that it brings, and the code.
inline std::string c_file(const std::string& head, const std::vector<std::string>& prototypes,
                          const CText& code) {
    CText out(code.options());
    out.add_verbatim(head).add_verbatim(c_include(code)).add_verbatim("\n");
    for (const std::string& prototype : prototypes) out.add_verbatim(prototype).add_verbatim(";\n");
    out.add_verbatim(c_functions(code)).add_verbatim(code.body());
    return out.body();
}

}  // namespace kernelet::detail
