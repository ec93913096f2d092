#pragma once

#include <kernelet/types.hpp>

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// The checks of the public entries: every failure names the argument, the value and the rule.
namespace kernelet::detail {

/// One part of a message: a text, a whole number or a real one. Messages are lists of these, so that a check
/// costs one constructor per part to compile and not an output stream.
class TextPart {
public:
    template <class T>
    requires std::convertible_to<const T&, std::string_view> TextPart(const T& words) : words_(words) {}
    template <std::integral T>
    TextPart(T number) : kind_(Kind::integer), integer_(static_cast<long long>(number)) {}
    TextPart(double number) : kind_(Kind::real), real_(number) {}

    friend std::ostream& operator<<(std::ostream& stream, const TextPart& part) {
        if (part.kind_ == Kind::words) return stream << part.words_;
        if (part.kind_ == Kind::integer) return stream << part.integer_;
        return stream << part.real_;
    }

private:
    enum class Kind { words, integer, real };

    Kind kind_ = Kind::words;
    std::string_view words_{};
    long long integer_ = 0;
    double real_ = 0.0;
};

[[gnu::noinline]] inline std::string joined(std::initializer_list<TextPart> parts) {
    std::ostringstream stream;
    for (const TextPart& part : parts) stream << part;
    return stream.str();
}

[[noreturn, gnu::noinline]] inline void refuse(std::initializer_list<TextPart> message) {
    throw std::invalid_argument("kernelet: " + joined(message));
}

/// Joins its arguments into one text; for messages only.
template <class... Parts>
std::string text(const Parts&... parts) {
    return joined({TextPart(parts)...});
}

/// With three significant digits, for people.
[[gnu::noinline]] inline std::string brief_number(double value) {
    std::ostringstream stream;
    stream << std::setprecision(3) << value;
    return stream.str();
}

/// A word of a file in a message: in quotes, shortened, control characters and bytes beyond ASCII by their code.
[[gnu::noinline]] inline std::string quoted_word(std::string_view word) {
    constexpr std::size_t most = 40;
    std::string out = "'";
    for (const char c : word.substr(0, most)) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code < 0x7f) {
            out.push_back(c);
        } else {
            constexpr char digits[] = "0123456789abcdef";
            out.append("\\x").append({digits[code >> 4U], digits[code & 15U]});
        }
    }
    return out.append(word.size() > most ? "...'" : "'");
}

/// options.validate(), which compiled mode has once and not in every file.
template <class Options>
void require_valid(const Options& options) {
    options.validate();
}

/// Throws std::invalid_argument with the joined message unless `holds`.
template <class... Parts>
void require(bool holds, const Parts&... message) {
    if (!holds) refuse({TextPart(message)...});
}

/// Throws unless every entry is finite; names the first, by columns, that is not.
[[gnu::noinline]] inline void require_finite_block(const double* data, Index rows, Index cols, Index stride,
                                                   std::string_view name) {
    for (Index column = 0; column < cols; ++column)
        for (Index row = 0; row < rows; ++row)
            if (const double value = data[row + column * stride]; !std::isfinite(value))
                refuse({name, "(", row, ", ", column, ") is ", value, "; every entry must be finite"});
}
/// The same for a matrix or vector stored by columns.
template <class Derived>
void require_finite(const Derived& values, std::string_view name) {
    require_finite_block(values.data(), values.rows(), values.cols(), values.outerStride(), name);
}

/// A sentence where x seems to have a sample per row: as many rows as there should be columns.
inline std::string_view transposed_hint(bool suspected) {
    return suspected ? ". Is x n x d, one sample per row? Then pass x.transpose()" : "";
}

/// Points a model is asked about, d x n: as many rows as it has inputs, all finite.
inline void require_rows(Index rows, Index inputs, Index cols = -1) {
    require(rows == inputs, "x has ", rows, " rows; the model has ", inputs,
            " inputs (x is d x n, one sample per column)", transposed_hint(cols == inputs));
}

/// Targets for n samples: a column of n, or q x n.
inline void require_targets(Index y_rows, Index y_cols, Index x_rows, Index n) {
    require((y_cols == n && y_rows > 0) || (y_cols == 1 && y_rows == n), "y is ", y_rows, " x ", y_cols,
            " but x has ", n, " columns; x is d x n, one sample per column, y a column of n or q x n",
            transposed_hint(y_rows == x_rows || y_cols == x_rows));
}
template <class Derived>
Matrix checked_points(const Eigen::MatrixBase<Derived>& x, Index inputs) {
    Matrix points = x.template cast<double>();
    require_rows(points.rows(), inputs, points.cols());
    require_finite(points, "x");
    return points;
}

/// Throws unless the number is finite and inside the inequality that the message states.
inline void require_positive(double value, std::string_view name) {
    require(std::isfinite(value) && value > 0.0, name, " = ", value, " must be finite and > 0");
}

inline void require_nonnegative(double value, std::string_view name) {
    require(std::isfinite(value) && value >= 0.0, name, " = ", value, " must be finite and >= 0");
}

/// A target: costs are squares of it, and are to be numbers too.
inline void require_in_range(double value, Index output, Index sample) {
    constexpr double most = 1e150;
    require(std::abs(value) <= most, "y(", output, ", ", sample, ") = ", value, " must be at most ", most,
            " in size: its square is to be a double");
}

/// A weight: finite, positive, and such that products of two are doubles.
inline void require_weight(double weight, Index sample) {
    constexpr double most = 1e100;
    require(std::isfinite(weight) && weight > 0.0, "weights(", sample, ") = ", weight,
            " must be finite and > 0");
    require(weight <= most && weight >= 1.0 / most, "weights(", sample, ") = ", weight, " must be between ",
            1.0 / most, " and ", most);
}

inline void require_at_least(Index value, Index least, std::string_view name) {
    require(value >= least, name, " = ", value, " must be >= ", least);
}

/// A range of kernel widths: finite, positive, not reversed.
inline void require_widths(Interval widths, std::string_view name) {
    require_positive(widths.lo, text(name, ".lo"));
    require_positive(widths.hi, text(name, ".hi"));
    require(widths.lo <= widths.hi, name, " = [", widths.lo, ", ", widths.hi, "] must have lo <= hi");
}

}  // namespace kernelet::detail
