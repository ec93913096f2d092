#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/model/c_options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// C source text. Templates of it are plain C99 in which a few words stand for what depends on the model.
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

/// Writes C for one type of number. In the text that it is given
///     real                   is double or float
///     NAME, NAME_kernel      are the name that the options give, name_kernel
///     exp, sqrt, sin, cos    are those of <math.h> for this type, or name_exp, ... of the file itself
///     0.5, 1e-3              have an f behind them in float
/// and words that were defined are replaced. Comments stay as they are, but for NAME.
class CText {
public:
    explicit CText(const CExportOptions& options) : options_(options) {
        define("real", narrow() ? "float" : "double");
        define("NAME", options.name);
        define("farthest", narrow() ? "40.0f" : "80.0");
        for (const char* function : {"exp", "sqrt", "sin", "cos"})
            define(function, options.functions == CFunctions::own ? c_join(options.name, "_", function)
                                                                  : c_join(function, narrow() ? "f" : ""));
    }

    /// A text with its words replaced.
    std::string replaced(std::string_view source) {
        std::string out;
        for (std::size_t at = 0; at < source.size();) {
            std::size_t end = at + 1;
            if (source.substr(at, 2) == "/*") {
                end = std::min(source.find("*/", at), source.size() - 2) + 2;
                out += in_comment(source.substr(at, end - at));
            } else if (is_c_letter(source[at])) {
                while (end < source.size() && in_word(source[end])) ++end;
                out += word(source.substr(at, end - at));
            } else if (is_c_digit(source[at])) {
                while (end < source.size() && in_number(source, at, end)) ++end;
                out += constant(source.substr(at, end - at));
            } else {
                out += source[at];
            }
            at = end;
        }
        return out;
    }

    bool narrow() const { return options_.scalar == CScalar::float32; }
    const CExportOptions& options() const { return options_; }

    void define(const std::string& word, std::string replacement) { words_[word] = std::move(replacement); }
    void define(const std::string& word, Index number) { define(word, std::to_string(number)); }

    /// Appends `source` with its words replaced.
    CText& add(std::string_view source) {
        body_ += replaced(source);
        return *this;
    }
    /// Appends `source` unchanged.
    CText& add_verbatim(std::string_view source) {
        body_ += source;
        return *this;
    }
    CText& add_number(double value) {
        bytes_ += narrow() ? 4 : 8;
        body_ += number(value);
        return *this;
    }
    /// {a, b, ...} in lines of about a hundred letters.
    CText& add_numbers(const std::vector<double>& values) {
        std::vector<std::string> words;
        words.reserve(values.size());
        bytes_ += static_cast<Index>(values.size()) * (narrow() ? 4 : 8);
        for (const double value : values) words.push_back(number(value));
        return add_list(words);
    }
    /// static const unsigned char name[n] = {...};, or the next type that is wide enough.
    CText& add_indices(std::string_view name, const std::vector<Index>& values) {
        const Index largest = *std::max_element(values.begin(), values.end());
        const Index bytes = largest < 256 ? 1 : largest < 65536 ? 2 : 4;
        const std::string_view type = bytes == 1 ? "char" : bytes == 2 ? "short" : "long";
        std::vector<std::string> words;
        words.reserve(values.size());
        for (const Index value : values) words.push_back(std::to_string(value));
        bytes_ += bytes * static_cast<Index>(values.size());
        body_ += replaced(c_join("static const unsigned ", type, " ", name, "[", values.size(), "] = "));
        add_list(words);
        body_ += ";\n";
        return *this;
    }
    CText& add_list(const std::vector<std::string>& words) {
        constexpr std::size_t widest = 100;
        std::size_t width = 0;
        body_ += "{";
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i > 0) body_ += ",";
            width += words[i].size() + 2;
            if (width > widest)
                body_ += "\n     ";
            else if (i > 0)
                body_ += " ";
            if (width > widest) width = words[i].size();
            body_ += words[i];
        }
        body_ += "}";
        return *this;
    }

    std::string number(double value) const { return c_number(value, narrow()); }

    /// Whether the text so far calls exp, sqrt, sin or cos.
    bool uses(const std::string& function) const { return used_.count(function) > 0; }
    bool uses_functions() const { return !used_.empty(); }
    const std::string& body() const { return body_; }
    /// The size of all numbers that add_numbers() wrote.
    Index bytes() const { return bytes_; }

private:
    static bool in_word(char c) { return is_c_letter(c) || is_c_digit(c); }

    std::string word(std::string_view name) {
        if (name.substr(0, 5) == "NAME_") return c_join(options_.name, name.substr(4));
        const auto known = words_.find(std::string(name));
        if (known == words_.end()) return std::string(name);
        if (name == "exp" || name == "sqrt" || name == "sin" || name == "cos") used_.insert(known->first);
        return known->second;
    }

    std::string in_comment(std::string_view comment) const {
        std::string out(comment);
        const std::string& name = options_.name;
        for (std::size_t at = out.find("NAME"); at != std::string::npos;
             at = out.find("NAME", at + name.size()))
            out.replace(at, 4, name);
        return out;
    }

    /// Whether letter `end` still belongs to the number that began at `at`: 1.5e-3, 0x1.8p+52.
    static bool in_number(std::string_view source, std::size_t at, std::size_t end) {
        const char c = source[end], before = source[end - 1];
        const bool hexadecimal = source.substr(at, 2) == "0x";
        const bool sign = (c == '+' || c == '-') && (hexadecimal ? before == 'p' : before == 'e');
        return in_word(c) || c == '.' || sign;
    }

    std::string constant(std::string_view digits) const {
        const bool hexadecimal = digits.substr(0, 2) == "0x";
        const bool real = digits.find_first_of(hexadecimal ? ".p" : ".e") != std::string_view::npos;
        return c_join(digits, real && narrow() ? "f" : "");
    }

    CExportOptions options_;
    std::map<std::string, std::string> words_;
    std::set<std::string> used_;
    std::string body_;
    Index bytes_ = 0;
};

}  // namespace kernelet::detail
