#pragma once

#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/model/whole_files.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
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
                fail(text("'", word, "' has an entry that is not a finite number"));
            values.push_back(value);
            at = next;
            if (at != end && (*at++ != ' ' || at == end))
                fail(text("'", word, "': numbers are separated by one space"));
        }
        if (static_cast<Index>(values.size()) != count)
            fail(text("'", word, "' has ", values.size(), " numbers; ", count, " are needed"));
        return Eigen::Map<const Vector>(values.data(), count);
    }

    /// The first line, "kernelet <what> <version>": the version, from 1 to `newest`.
    Index expect_version(std::string_view what, Index newest) {
        const std::string rest = expect("kernelet");
        if (rest.substr(0, what.size()) != what || rest.size() < what.size() + 2)
            fail(text("this is not a kernelet ", what, " but ", quoted_word(rest)));
        Index version = 0;
        const auto [end, error] =
            std::from_chars(rest.data() + what.size() + 1, rest.data() + rest.size(), version);
        if (error != std::errc{} || end != rest.data() + rest.size() || version < 1 || version > newest)
            fail(text("a ", what, " of version ", quoted_word(rest.substr(what.size() + 1)),
                      "; this library reads versions 1 to ", newest));
        return version;
    }

    /// A word that must be this one.
    void expect_word(std::string_view line, std::string_view wanted, std::string_view of) {
        if (const std::string found = expect(line); found != wanted)
            fail(text(of, " are ", quoted_word(found), ", not '", wanted, "'"));
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
        std::streambuf* from = stream_.rdbuf();  // without a sentry per character
        for (int c = from->sbumpc(); c != '\n'; c = from->sbumpc()) {
            if (c == std::istream::traits_type::eof()) {
                stream_.setstate(std::ios_base::eofbit | std::ios_base::failbit);
                fail("the file ends here");
            }
            if (line_.size() >= longest_line) fail("the line is too long");
            line_.push_back(static_cast<char>(c));
        }
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();  // of a file that went through Windows
        if (!line_.empty() && line_.back() == '\r') fail("the line ends in two carriage returns");
    }

    std::istream& stream_;
    std::string line_;
    Index number_ = 0;
    Checksum checksum_;
};

/// Throws where a text would not be read back as one line: a label, the name of a loss.
inline void require_line(std::string_view words, std::string_view name) {
    require(words.find('\n') == std::string_view::npos && (words.empty() || words.back() != '\r'), name, " ",
            quoted_word(words), " has a line break; a file holds texts of one line");
}

/// The lines and the checksum that closes them.
inline std::string sealed(const std::vector<std::string>& lines) {
    Checksum checksum;
    std::string text;
    for (const std::string& line : lines) text.append(line).append("\n");
    checksum.add(text);
    return text.append("checksum ").append(checksum.hex()).append("\n");
}

/// Whether a file can hold a kernel: it has no members, or says which numbers they are.
template <class Kernel>
concept HasState = requires(const Kernel& kernel, const std::vector<double>& numbers) {
    { kernel.save() } -> std::same_as<std::vector<double>>;
    { Kernel::load(numbers) } -> std::same_as<Kernel>;
};
template <class Kernel>
concept Savable = HasState<Kernel> ||(std::is_empty_v<Kernel>&& std::default_initializable<Kernel>);

/// The lines that name a kernel: its family and the numbers that it holds.
template <class Kernel>
void append_family(std::vector<std::string>& lines, const Kernel& kernel) {
    static_assert(Savable<Kernel>,
                  "kernelet: this kernel has members, which a file would lose; give it std::vector<double> "
                  "save() const "
                  "and static Kernel load(const std::vector<double>&)");
    lines.push_back(text("family ", Kernel::name));
    if constexpr (HasState<Kernel>) {
        const std::vector<double> state = kernel.save();
        lines.push_back("states " + std::to_string(state.size()));
        lines.push_back(text_line("state", state.data(), static_cast<Index>(state.size())));
    }
}

/// Versions below 3 know of no state: the numbers are then those of a kernel made without arguments.
template <class Kernel>
Kernel expect_family(LineReader& reader, Index version) {
    static_assert(Savable<Kernel>,
                  "kernelet: this kernel has members, which a file would lose; give it std::vector<double> "
                  "save() const "
                  "and static Kernel load(const std::vector<double>&)");
    reader.expect_word("family", Kernel::name, "the model's kernels");
    if (version < 3) {
        if constexpr (std::default_initializable<Kernel>)
            return Kernel{};
        else
            reader.fail("a file of this version does not say what the kernel's members are");
    }
    if constexpr (HasState<Kernel>) {
        const Vector numbers = reader.expect_numbers("state", reader.expect_count("states", 0));
        try {
            return Kernel::load({numbers.data(), numbers.data() + numbers.size()});
        } catch (const std::invalid_argument& error) {
            reader.fail(error.what());
        }
    } else {
        return Kernel{};
    }
}

}  // namespace detail

namespace detail {

/// What `load` makes of a file, which must end there.
template <class Load>
auto load_file(const std::string& path, const Load& load) {
    const std::string words = read_file(path);
    std::istringstream stream(words);
    auto model = load(static_cast<std::istream&>(stream));
    if (stream.peek() != std::istream::traits_type::eof()) {
        const auto read = static_cast<std::ptrdiff_t>(stream.tellg());
        throw FormatError(1 + std::count(words.begin(), words.begin() + read, '\n'),
                          text(path, " goes on after the model"));
    }
    return model;
}

template <class T>
inline constexpr bool is_model = false;
template <class Kernel>
inline constexpr bool is_model<SparseKernelModel<Kernel>> = true;

/// What save() writes.
template <KernelFamily Kernel>
std::string text_of(const SparseKernelModel<Kernel>& model) {
    std::vector<std::string> lines{"kernelet model 3"};
    append_family(lines, model.kernel());
    lines.push_back("inputs " + std::to_string(model.dimension()));
    lines.push_back("outputs " + std::to_string(model.outputs()));
    lines.push_back("kernels " + std::to_string(model.size()));
    lines.push_back(text_line("shift", model.scaling().shift));
    lines.push_back(text_line("scale", model.scaling().scale));
    lines.push_back(text_line("offset", model.offset()));
    lines.push_back("slopes " + std::to_string(model.trend().slopes.cols()));
    for (Index o = 0; o < model.trend().slopes.cols(); ++o)
        lines.push_back(text_line("slope", &model.trend().slopes(0, o), model.dimension()));
    for (Index j = 0; j < model.size(); ++j) {
        std::string line = text_line("kernel", &model.nodes()(0, j), model.nodes().rows());
        for (Index o = 0; o < model.outputs(); ++o)
            line.append(" ").append(exact(model.coefficients()(j, o)));
        lines.push_back(std::move(line));
    }
    const ModelStatistics& known = model.statistics();
    lines.push_back("shares " + std::to_string(known.shares.size()));
    lines.push_back(text_line("share", known.shares));
    lines.push_back("noises " + std::to_string(known.noise.size()));
    lines.push_back(text_line("noise", known.noise));
    lines.push_back("discrepancies " + std::to_string(known.discrepancy.size()));
    lines.push_back(text_line("discrepancy", known.discrepancy));
    lines.push_back("covariances " + std::to_string(known.covariance.rows()));
    for (Index j = 0; j < known.covariance.rows(); ++j)  // symmetric: one triangle
        lines.push_back(text_line("covariance", &known.covariance(0, j), j + 1));
    require_line(model.loss(), "loss");
    lines.push_back("loss " + model.loss());
    return sealed(lines);
}

/// The trend of a model with q outputs and d inputs.
inline ModelTrend expect_trend(LineReader& reader, Index d, Index q, bool has_slopes) {
    ModelTrend trend(reader.expect_numbers("offset", q));
    const Index slopes = has_slopes ? reader.expect_count("slopes", 0) : 0;
    if (slopes == 0) return trend;
    if (slopes != q) reader.fail(text("'slopes' must be 0 or ", q));
    std::vector<Vector> columns;
    for (Index o = 0; o < q; ++o) columns.push_back(reader.expect_numbers("slope", d));
    trend.slopes.resize(d, q);
    for (Index o = 0; o < q; ++o)
        std::copy_n(columns[static_cast<std::size_t>(o)].data(), d, &trend.slopes(0, o));
    return trend;
}

inline ModelStatistics expect_statistics(LineReader& reader, bool has_discrepancy) {
    ModelStatistics known;
    known.shares = reader.expect_numbers("share", reader.expect_count("shares", 0));
    known.noise = reader.expect_numbers("noise", reader.expect_count("noises", 0));
    if (has_discrepancy)
        known.discrepancy = reader.expect_numbers("discrepancy", reader.expect_count("discrepancies", 0));
    const Index covariances = reader.expect_count("covariances", 0);
    std::vector<Vector> triangle;
    for (Index j = 0; j < covariances; ++j) triangle.push_back(reader.expect_numbers("covariance", j + 1));
    known.covariance.resize(covariances, covariances);
    for (Index j = 0; j < covariances; ++j)
        for (Index i = 0; i <= j; ++i)
            known.covariance(j, i) = known.covariance(i, j) = triangle[static_cast<std::size_t>(j)](i);
    return known;
}

}  // namespace detail

/// Writes a model as text: a line per fact, a line per kernel (center, parameter, coefficients, in the units of the fit),
/// then what is known about it (model.without_statistics() leaves that out: it is the larger part), exact to the bit,
/// closed by a checksum. Whatever format flags the stream has; throws std::ios_base::failure where it does not take it.
template <KernelFamily Kernel>
void save(std::ostream& stream, const SparseKernelModel<Kernel>& model) {
    detail::write_text(stream, detail::text_of(model));
}

/// The same into a file, which is replaced only when all is written.
template <KernelFamily Kernel>
void save(const std::string& path, const SparseKernelModel<Kernel>& model) {
    detail::write_file(path, detail::text_of(model));
}

/// Reads what save() wrote, of this version or an earlier one. Model is a SparseKernelModel; anything malformed throws
/// FormatError with the line. A stream may hold several models, one after the other.
template <class Model>
requires detail::is_model<Model> Model load(std::istream& stream) {
    using Kernel = typename Model::KernelType;
    detail::LineReader reader(stream);
    const Index version = reader.expect_version("model", 3);
    const Kernel kernel = detail::expect_family<Kernel>(reader, version);
    const Index d = reader.expect_count("inputs", 1);
    const Index q = reader.expect_count("outputs", 1);
    const Index k = reader.expect_count("kernels", 0);
    InputScaling scaling;
    scaling.shift = reader.expect_numbers("shift", d);
    scaling.scale = reader.expect_numbers("scale", d);
    ModelTrend trend = detail::expect_trend(reader, d, q, version > 1);
    std::vector<Vector> rows;
    const Index node_rows = d + kernel.parameters(d);
    for (Index j = 0; j < k; ++j) rows.push_back(reader.expect_numbers("kernel", node_rows + q));
    ModelStatistics known = detail::expect_statistics(reader, version > 1);
    const std::string loss = version < 3 ? std::string() : reader.expect("loss");
    reader.expect_checksum();
    Matrix nodes(node_rows, k), coefficients(k, q);
    for (Index j = 0; j < k; ++j) {
        const double* row = rows[static_cast<std::size_t>(j)].data();
        std::copy_n(row, node_rows, &nodes(0, j));
        for (Index o = 0; o < q; ++o) coefficients(j, o) = row[node_rows + o];
    }
    try {
        return Model(kernel, scaling, std::move(nodes), std::move(coefficients), std::move(trend),
                     std::move(known))
            .with_loss(loss);
    } catch (const std::invalid_argument& error) {
        throw FormatError(reader.line(), error.what());
    }
}

/// The same from a file that holds it and nothing else. Throws "cannot open PATH: reason" as std::system_error, and
/// FormatError where the file is no model.
template <class Model>
requires detail::is_model<Model> Model load(const std::string& path) {
    return detail::load_file(path, [](std::istream& stream) { return load<Model>(stream); });
}

}  // namespace kernelet
