#pragma once

#include <kernelet/model/c_options.hpp>
#include <kernelet/model/c_words.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// C source text. Templates of it are plain C99 in which a few words stand for what depends on the model.
namespace kernelet::detail {

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
