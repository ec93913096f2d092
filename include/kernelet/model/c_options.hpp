#pragma once

#include <kernelet/detail/check.hpp>

#include <string>
#include <string_view>

namespace kernelet {

/// The type of all numbers in exported C code.
enum class CScalar {
    float64,  ///< double: differs from predict(x) by a few units in the last place of the largest partial sum
    float32   ///< float: centers are stored as two floats each, sums are compensated
};

/// Where exported C code takes its exponentials, roots and sines from.
enum class CFunctions {
    library,  ///< <math.h>, the only header that is then included
    own  ///< functions of the file itself, to about two units in the last place; it then includes <stdint.h> only
};

/// How a model is written as C.
struct CExportOptions {
    CScalar scalar = CScalar::float64;
    /// The name of the function, and what every other name in the file begins with.
    std::string name = "model";
    /// Writes name_gradient(x, g) too: ∂f/∂x in the user's units.
    bool gradient = false;
    CFunctions functions = CFunctions::library;

    void validate() const;
};

namespace detail {

/// Words between blanks: the keywords of C99, and the functions that are built into compilers or declared by <math.h>.
inline constexpr std::string_view c_keywords =
    " auto break case char const continue default do double else enum extern float for goto if inline int "
    "long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm "
    "main ";
inline constexpr std::string_view c_math_functions =
    " abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp2 expm1 "
    "fabs fdim floor "
    "fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma log log10 log1p log2 logb lrint lround "
    "modf nan "
    "nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signgam significand sin "
    "sinh sqrt tan "
    "tanh tgamma trunc y0 y1 yn ";
/// What the arguments and variables of exported functions are called.
inline constexpr std::string_view c_own_names = " c f g i j k o p r u x y z ";

inline bool is_c_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_c_digit(char c) { return c >= '0' && c <= '9'; }

/// Throws unless a word can be the name of a function in C.
inline void require_c_name(std::string_view word, std::string_view field) {
    bool letters = !word.empty() && is_c_letter(word.front());
    for (const char c : word) letters = letters && (is_c_letter(c) || is_c_digit(c));
    require(letters, field, " = '", word, "' must be a C identifier: letters, digits and _, no digit first");
    const auto listed = [](std::string_view words, std::string_view one) {
        return words.find(text(" ", one, " ")) != std::string_view::npos;
    };
    const bool of_type = word.back() == 'f' || word.back() == 'l';  // expf, expl
    require(!listed(c_keywords, word) && !listed(c_own_names, word) && !listed(c_math_functions, word) &&
                !(of_type && listed(c_math_functions, word.substr(0, word.size() - 1))),
            field, " = '", word,
            "' must be no keyword of C, no function of <math.h> and not one of the letters c f g i j k o p r "
            "u x y z");
}

}  // namespace detail

inline void CExportOptions::validate() const { detail::require_c_name(name, "CExportOptions::name"); }

}  // namespace kernelet
