#pragma once

#include <kernelet/model/sparse_kernel_model.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernelet {

/// A model file that is not one. The message names the line.
class FormatError : public std::runtime_error {
public:
    FormatError(Index line, const std::string& what)
        : std::runtime_error(detail::text("kernelet: model file, line ", line, ": ", what)), line_(line) {}
    Index line() const { return line_; }

private:
    Index line_;
};

namespace detail {

/// FNV-1a, 64 bits: enough to notice any damaged byte of a model file.
class Checksum {
public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    }
    std::string hex() const {
        std::string digits(16, '0');
        for (std::size_t i = 0; i < 16; ++i) digits[i] = "0123456789abcdef"[(state_ >> (60 - 4 * i)) & 15U];
        return digits;
    }

private:
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

/// The shortest decimal that reads back as the same double.
inline std::string exact(double value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

/// A line: a word, then numbers.
inline std::string text_line(std::string_view word, const double* values, Index count) {
    std::string line(word);
    for (Index i = 0; i < count; ++i) line.append(" ").append(exact(values[i]));
    return line;
}
inline std::string text_line(std::string_view word, const Vector& values) {
    return text_line(word, values.data(), values.size());
}

/// Reads a model file line by line, checking as it goes; nothing is allocated that the file does not contain.
class LineReader {
public:
    explicit LineReader(std::istream& stream) : stream_(stream) {}

    [[noreturn]] void fail(const std::string& what) const { throw FormatError(number_, what); }

    /// The rest of the next line after its first word, which must be `word`.
    std::string expect(std::string_view word) {
        read();
        const std::string_view line = line_;
        if (line.substr(0, word.size()) != word || (line.size() > word.size() && line[word.size()] != ' '))
            fail(text("expected '", word, "'"));
        return std::string(line.size() > word.size() ? line.substr(word.size() + 1) : std::string_view{});
    }

    /// A whole number, at least `least`.
    Index expect_count(std::string_view word, Index least) {
        const std::string rest = expect(word);
        Index value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc{} || end != rest.data() + rest.size())
            fail(text("'", word, "' needs a whole number"));
        if (value < least || value > most_of_anything) fail(text("'", word, "' is out of range"));
        return value;
    }

    /// Exactly `count` finite numbers.
    Vector expect_numbers(std::string_view word, Index count) {
        const std::string rest = expect(word);
        std::vector<double> values;
        for (const char *at = rest.data(), *end = rest.data() + rest.size(); at != end;) {
            double value = 0.0;
            const auto [next, error] = std::from_chars(at, end, value);
            if (error != std::errc{} || !std::isfinite(value))
                fail(text("'", word, "' holds something not a finite number"));
            values.push_back(value);
            at = next;
            if (at != end && (*at++ != ' ' || at == end))
                fail(text("'", word, "': numbers are separated by one space"));
        }
        if (static_cast<Index>(values.size()) != count)
            fail(text("'", word, "' has ", values.size(), " numbers; ", count, " are needed"));
        return Eigen::Map<const Vector>(values.data(), count);
    }

    /// The closing line: the checksum of everything before it.
    void expect_checksum() {
        const std::string stated = expect("checksum");  // reading it adds the line before
        if (stated != checksum_.hex()) fail("the checksum does not match: the file was changed or damaged");
    }

    Index line() const { return number_; }

private:
    static constexpr Index most_of_anything = 1'000'000'000;  // keeps sums of counts far from overflow
    static constexpr std::size_t longest_line = std::size_t{1} << 26;

    void read() {
        if (number_ > 0) {
            checksum_.add(line_);
            checksum_.add("\n");
        }
        ++number_;
        line_.clear();
        for (int c = stream_.get(); c != '\n'; c = stream_.get()) {
            if (c == std::istream::traits_type::eof()) fail("the file ends here");
            if (line_.size() >= longest_line) fail("the line is too long");
            line_.push_back(static_cast<char>(c));
        }
    }

    std::istream& stream_;
    std::string line_;
    Index number_ = 0;
    Checksum checksum_;
};

/// The lines and the checksum that closes them.
inline void write_sealed(std::ostream& stream, const std::vector<std::string>& lines) {
    Checksum checksum;
    for (const std::string& line : lines) {
        checksum.add(line + "\n");
        stream << line << '\n';
    }
    stream << "checksum " << checksum.hex() << '\n';
}

}  // namespace detail

/// Writes a model as text: a line a fact, a line a kernel (center, parameter, coefficients, in the units of
/// the fit), then what is known about it (model.without_statistics() leaves that out: it is the larger part),
/// exact to the bit, closed by a checksum.
template <KernelFamily Kernel>
void save(std::ostream& stream, const SparseKernelModel<Kernel>& model) {
    std::vector<std::string> lines{
        "kernelet model 2",
        detail::text("family ", Kernel::name),
        "inputs " + std::to_string(model.dimension()),
        "outputs " + std::to_string(model.outputs()),
        "kernels " + std::to_string(model.size()),
        detail::text_line("shift", model.scaling().shift),
        detail::text_line("scale", model.scaling().scale),
        detail::text_line("offset", model.offset()),
        "slopes " + std::to_string(model.trend().slopes.cols()),
    };
    for (Index o = 0; o < model.trend().slopes.cols(); ++o)
        lines.push_back(detail::text_line("slope", &model.trend().slopes(0, o), model.dimension()));
    for (Index j = 0; j < model.size(); ++j) {
        std::string line = detail::text_line("kernel", &model.nodes()(0, j), model.nodes().rows());
        for (Index o = 0; o < model.outputs(); ++o)
            line.append(" ").append(detail::exact(model.coefficients()(j, o)));
        lines.push_back(std::move(line));
    }
    const ModelStatistics& known = model.statistics();
    lines.push_back("shares " + std::to_string(known.shares.size()));
    lines.push_back(detail::text_line("share", known.shares));
    lines.push_back("noises " + std::to_string(known.noise.size()));
    lines.push_back(detail::text_line("noise", known.noise));
    lines.push_back("discrepancies " + std::to_string(known.discrepancy.size()));
    lines.push_back(detail::text_line("discrepancy", known.discrepancy));
    lines.push_back("covariances " + std::to_string(known.covariance.rows()));
    for (Index j = 0; j < known.covariance.rows(); ++j)  // symmetric: one triangle
        lines.push_back(detail::text_line("covariance", &known.covariance(0, j), j + 1));
    detail::write_sealed(stream, lines);
}

/// Reads what save() wrote. Model is a SparseKernelModel; anything malformed throws FormatError with the
/// line.
template <class Model>
Model load(std::istream& stream) {
    using Kernel = typename Model::KernelType;
    detail::LineReader reader(stream);
    const std::string version = reader.expect("kernelet");
    if (version != "model 1" && version != "model 2")
        reader.fail("this is not a kernelet model of version 1 or 2");
    const bool first_version = version == "model 1";  // without slopes and discrepancies
    if (const std::string family = reader.expect("family"); family != Kernel::name)
        reader.fail(detail::text("the model's kernels are '", family, "', not '", Kernel::name, "'"));
    const Kernel kernel{};
    const Index d = reader.expect_count("inputs", 1);
    const Index q = reader.expect_count("outputs", 1);
    const Index k = reader.expect_count("kernels", 0);
    InputScaling scaling;
    scaling.shift = reader.expect_numbers("shift", d);
    scaling.scale = reader.expect_numbers("scale", d);
    ModelTrend trend(reader.expect_numbers("offset", q));
    if (const Index slopes = first_version ? 0 : reader.expect_count("slopes", 0); slopes > 0) {
        if (slopes != q) reader.fail(detail::text("'slopes' must be 0 or ", q));
        std::vector<Vector> columns;
        for (Index o = 0; o < q; ++o) columns.push_back(reader.expect_numbers("slope", d));
        trend.slopes.resize(d, q);
        for (Index o = 0; o < q; ++o)
            std::copy_n(columns[static_cast<std::size_t>(o)].data(), d, &trend.slopes(0, o));
    }
    std::vector<Vector> rows;
    const Index node_rows = d + kernel.parameters(d);
    for (Index j = 0; j < k; ++j) rows.push_back(reader.expect_numbers("kernel", node_rows + q));
    ModelStatistics known;
    const Index shares = reader.expect_count("shares", 0);
    known.shares = reader.expect_numbers("share", shares);
    const Index noises = reader.expect_count("noises", 0);
    known.noise = reader.expect_numbers("noise", noises);
    if (!first_version) {
        const Index discrepancies = reader.expect_count("discrepancies", 0);
        known.discrepancy = reader.expect_numbers("discrepancy", discrepancies);
    }
    const Index covariances = reader.expect_count("covariances", 0);
    std::vector<Vector> triangle;
    for (Index j = 0; j < covariances; ++j) triangle.push_back(reader.expect_numbers("covariance", j + 1));
    reader.expect_checksum();
    known.covariance.resize(covariances, covariances);
    for (Index j = 0; j < covariances; ++j)
        for (Index i = 0; i <= j; ++i)
            known.covariance(j, i) = known.covariance(i, j) = triangle[static_cast<std::size_t>(j)](i);
    Matrix nodes(node_rows, k), coefficients(k, q);
    for (Index j = 0; j < k; ++j) {
        const double* row = rows[static_cast<std::size_t>(j)].data();
        std::copy_n(row, node_rows, &nodes(0, j));
        for (Index o = 0; o < q; ++o) coefficients(j, o) = row[node_rows + o];
    }
    try {
        return Model(kernel, scaling, std::move(nodes), std::move(coefficients), std::move(trend),
                     std::move(known));
    } catch (const std::invalid_argument& error) {
        throw FormatError(reader.line(), error.what());
    }
}

}  // namespace kernelet
