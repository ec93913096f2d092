#include "csv.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace command {

namespace {

/// Memory about to be written for the first time: fewer page faults where the system has large pages. A hint.
void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto first = reinterpret_cast<std::uintptr_t>(memory), begin = (first + page - 1) / page * page;
    if (begin + page <= first + bytes)
        madvise(reinterpret_cast<void*>(begin), first + bytes - begin, MADV_HUGEPAGE);
#endif
}

/// What is left to read of a regular file; 0 where that is not known, as of a pipe.
std::size_t bytes_of(std::FILE* file, const std::string& path) {
    struct stat about {};
    if (fstat(fileno(file), &about) != 0) return 0;
    if (S_ISDIR(about.st_mode)) throw UserError(path + " is a folder, not a table");
    return S_ISREG(about.st_mode) && about.st_size > 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

/// Lines of a text, with the last whether or not it ends in a line feed.
Index lines_from(const char* at, const char* end) {
    Index lines = 0;
    for (; at < end; ++lines) {
        at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        if (at == nullptr) return lines + 1;
        ++at;
    }
    return lines;
}

std::string_view trimmed(std::string_view field) {
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t' || field.back() == '\r'))
        field.remove_suffix(1);
    return field;
}

/// A number, and what std::from_chars thinks of it.
std::pair<double, std::errc> converted(std::string_view field) {
    field = trimmed(field);
    if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (field.empty() || end != field.data() + field.size()) return {0.0, std::errc::invalid_argument};
    if (error != std::errc::result_out_of_range) return {value, error};
    // 1e-400 is zero, 1e400 no number of a double
    if (std::abs(std::strtod(std::string(field).c_str(), nullptr)) > 1.0) return {0.0, error};
    return {0.0, std::errc()};
}

}  // namespace

Text::Text(const std::string& path) {
    std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
    if (file == nullptr) throw UserError("cannot open " + path + ": " + std::strerror(errno));
    const auto close = [](std::FILE* open) {
        if (open != stdin) std::fclose(open);
    };
    const std::unique_ptr<std::FILE, decltype(close)> owner(file, close);
    std::setvbuf(file, nullptr, _IONBF, 0);  // blocks go straight to their place
    constexpr std::size_t block = std::size_t{1} << 20;
    reserve(bytes_of(file, path) + 1);
    for (std::size_t got = 1; got > 0;) {
        if (size_ == capacity_) reserve(2 * capacity_ + block);
        errno = 0;
        got = std::fread(held_.get() + size_, 1, std::min(block, capacity_ - size_), file);
        size_ += got;
    }
    if (std::ferror(file) != 0) throw UserError("cannot read " + path + ": " + std::strerror(errno));
}

void Text::reserve(std::size_t capacity) {
    void* more = std::realloc(held_.get(), capacity);
    if (more == nullptr) throw std::bad_alloc();
    (void)held_.release();
    held_.reset(static_cast<char*>(more));
    prefer_large_pages(more, capacity);
    capacity_ = capacity;
}

std::string shown(std::string_view field) {
    constexpr std::size_t most = 40;
    std::string out = "'";
    for (const char c : field.substr(0, most))
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    return out + (field.size() > most ? "...'" : "'");
}

std::optional<double> parsed_number(std::string_view field) {
    const auto [value, error] = converted(field);
    return error == std::errc() ? std::optional<double>(value) : std::nullopt;
}

bool is_too_large(std::string_view field) {
    return converted(field).second == std::errc::result_out_of_range;
}

bool is_missing(std::string_view field) {
    field = trimmed(field);
    std::string word(field.substr(0, 8));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 7> words{"", "na", "n/a", "nan", "null", "none", "?"};
    return std::find(words.begin(), words.end(), std::string_view(word)) != words.end();
}

/// A place in the text. `end` is that of the record; it is not known of records with quotes before they are read.
struct CsvFile::Cursor {
    const char* at;
    const char* end;  ///< of the text
    std::size_t line;
    bool more = true;  ///< the record has another field
};

CsvFile::CsvFile(const std::string& path, const CsvOptions& options) : path_(path), text_(path) {
    if (text_.view().substr(0, 3) == "\xEF\xBB\xBF") begin_ = 3;
    if (options.separator)
        separator_ = *options.separator;
    else
        find_separator();
    find_names(options);
}

/// Moves to the next line that is neither empty nor a comment; false at the end of the text.
bool CsvFile::next_record(Cursor& at) const {
    while (at.at < at.end) {
        const char* c = at.at;
        while (c < at.end && (*c == ' ' || *c == '\r')) ++c;
        if (c < at.end && *c != '\n' && *c != '#') {
            if (separator_ == ' ') at.at = c;
            at.more = true;
            return true;
        }
        const auto left = static_cast<std::size_t>(at.end - c);
        const char* stop = c < at.end ? static_cast<const char*>(std::memchr(c, '\n', left)) : nullptr;
        if (stop == nullptr) return false;
        at.at = stop + 1;
        ++at.line;
    }
    return false;
}

/// The next field of a record, which leaves the cursor behind its separator or, at the last, behind the line.
std::string_view CsvFile::field(Cursor& at) const {
    const char* c = at.at;
    while (c < at.end && *c == ' ' && separator_ != ' ') ++c;
    if (c < at.end && *c == '"') return quoted_field(at);
    const char* first = at.at;
    while (c < at.end && *c != separator_ && *c != '\n') ++c;
    const std::string_view found(first, static_cast<std::size_t>(c - first));
    if (separator_ == ' ')
        while (c + 1 < at.end && *c == ' ' && (c[1] == ' ' || c[1] == '\r' || c[1] == '\n')) ++c;
    at.more = c < at.end && *c == separator_;
    if (c < at.end && *c == '\r') ++c;
    if (!at.more) ++at.line;
    at.at = c < at.end ? c + 1 : c;
    return trimmed(found);
}

std::string_view CsvFile::quoted_field(Cursor& at) const {
    const std::size_t line = at.line;
    const char* c = std::find(at.at, at.end, '"') + 1;
    const char* first = c;
    bool doubled = false;
    for (; c < at.end; ++c) {
        if (*c == '\n') ++at.line;
        if (*c != '"') continue;
        if (c + 1 == at.end || c[1] != '"') break;
        doubled = true;
        ++c;
    }
    if (c >= at.end) throw UserError(path_ + ", line " + std::to_string(line) + ": a quote is not closed");
    std::string_view found(first, static_cast<std::size_t>(c - first));
    if (doubled) {
        std::string& plain = unescaped_.emplace_back();
        for (std::size_t i = 0; i < found.size(); ++i) {
            plain += found[i];
            if (found[i] == '"') ++i;
        }
        found = plain;
    }
    ++c;
    while (c < at.end && (*c == ' ' || *c == '\r') && *c != separator_) ++c;
    if (c < at.end && *c != separator_ && *c != '\n')
        throw UserError(path_ + ", line " + std::to_string(at.line) +
                        ": characters between a closing quote and the separator");
    at.more = c < at.end && *c == separator_;
    if (!at.more) ++at.line;
    at.at = c < at.end ? c + 1 : c;
    return found;
}

std::vector<std::string> CsvFile::fields(Cursor& at) const {
    std::vector<std::string> out;
    while (at.more) out.emplace_back(field(at));
    return out;
}

/// The separator that splits the first lines into the most fields, as many in each; a comma where none does.
void CsvFile::find_separator() {
    constexpr std::size_t lines = 20;
    std::size_t most = 1;
    char best = ',';
    for (const char candidate : {',', ';', '\t', '|', ' '}) {
        separator_ = candidate;
        const std::size_t fields = common_fields(lines);
        if (fields > most) {
            most = fields;
            best = candidate;
        }
    }
    separator_ = best;
}

/// How many fields each of the first lines has; 0 where they differ or do not follow this separator.
std::size_t CsvFile::common_fields(std::size_t lines) const {
    Cursor at{text_.begin() + begin_, text_.end(), 1};
    std::size_t first = 0;
    try {
        for (std::size_t k = 0; k < lines && next_record(at); ++k) {
            const std::size_t count = fields(at).size();
            if (k > 0 && count != first) return 0;
            first = count;
        }
    } catch (const UserError&) {  // a closing quote that another character follows
        return 0;
    }
    return first;
}

/// A header is guessed where a field of the first record is neither a number nor missing, and the second record has
/// numbers where the first has words.
void CsvFile::find_names(const CsvOptions& options) {
    Cursor at{text_.begin() + begin_, text_.end(), 1};
    if (!next_record(at)) throw UserError(path_ + " has no rows");
    const Cursor first_record = at;
    std::vector<std::string> first = fields(at);
    Cursor second_record = at;
    const std::vector<std::string> second =
        next_record(second_record) ? fields(second_record) : std::vector<std::string>();
    bool names_some = false, all_words = true;
    for (std::size_t c = 0; c < first.size(); ++c) {
        const bool word = !parsed_number(first[c]) && !is_missing(first[c]);
        all_words = all_words && word;
        names_some =
            names_some || (word && c < second.size() && (parsed_number(second[c]) || is_missing(second[c])));
    }
    has_header_ = options.header.value_or(names_some || (all_words && second.empty()));
    if (has_header_) {
        names_ = std::move(first);
        if (!next_record(at)) throw UserError(path_ + " has a header and no rows");
    } else {
        for (std::size_t c = 0; c < first.size(); ++c) names_.push_back(std::to_string(c + 1));
        at = first_record;
    }
    begin_ = static_cast<std::size_t>(at.at - text_.begin());
    begin_line_ = at.line;
}

std::string CsvFile::separator_name() const {
    return separator_ == '\t' ? "tab" : separator_ == ' ' ? "blank" : shown({&separator_, 1});
}

std::size_t CsvFile::column(const std::string& name_or_number) const {
    const auto found = std::find(names_.begin(), names_.end(), name_or_number);
    if (found != names_.end()) {
        if (std::find(found + 1, names_.end(), name_or_number) != names_.end())
            throw UserError(path_ + " has several columns " + shown(name_or_number) +
                            "; give the number of the column, from 1");
        return static_cast<std::size_t>(found - names_.begin());
    }
    std::size_t number = 0;
    const char* end = name_or_number.data() + name_or_number.size();
    const auto [stop, error] = std::from_chars(name_or_number.data(), end, number);
    if (error == std::errc() && stop == end && number >= 1 && number <= names_.size()) return number - 1;
    std::string there;
    constexpr std::size_t most = 30;
    for (std::size_t c = 0; c < std::min(most, names_.size()); ++c) there += (c > 0 ? ", " : "") + names_[c];
    throw UserError(path_ + " has no column " + shown(name_or_number) + "; there are " +
                    std::to_string(names_.size()) + ": " + there + (names_.size() > most ? ", ..." : "") +
                    (parsed_number(name_or_number) ? "; numbers of columns begin at 1" : ""));
}

std::string CsvFile::place(std::size_t line, std::size_t column) const {
    return path_ + ", line " + std::to_string(line) + ", column " + shown(names_[column]) + ": ";
}

void CsvFile::refuse(const Cursor& at, std::size_t column, const std::string& what) const {
    throw UserError(place(at.line, column) + what);
}

/// A number at the cursor: read in place where no quote begins there.
double CsvFile::number(Cursor& at, std::size_t column) const {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(at.at, at.end, value);
    if (error == std::errc() && separator_ != ' ' && std::isfinite(value)) [[likely]] {
        const char* c = stop;
        while (c < at.end && (*c == ' ' || *c == '\r')) ++c;
        if (c == at.end || *c == separator_ || *c == '\n') {
            at.more = c < at.end && *c == separator_;
            if (!at.more) ++at.line;
            at.at = c < at.end ? c + 1 : c;
            return value;
        }
    }
    const Cursor before = at;
    const std::string_view written = field(at);
    if (is_missing(written))
        refuse(before, column,
               "the cell has no value (" + shown(written) +
                   "); a model needs every cell: remove the row, or leave the column out with --drop");
    const std::optional<double> found = parsed_number(written);
    if (!found || !std::isfinite(*found))
        refuse(before, column,
               shown(written) +
                   (is_too_large(written) ? " is larger than any double"
                    : found               ? " is infinite"
                                          : " is not a number") +
                   "; leave the column out with --drop, or name it with --target");
    return *found;
}

CsvData CsvFile::read(const CsvColumns& wanted) const {
    std::vector<Role> roles(columns(), Role::skipped);
    std::vector<Index> places(columns(), 0);
    for (std::size_t k = 0; k < wanted.inputs.size(); ++k) {
        roles[wanted.inputs[k]] = Role::input;
        places[wanted.inputs[k]] = static_cast<Index>(k);
    }
    if (wanted.target) roles[*wanted.target] = Role::target;
    Cursor at{text_.begin() + begin_, text_.end(), begin_line_};
    const Index rows = lines_from(at.at, at.end);
    CsvData data;
    data.inputs.resize(static_cast<Index>(wanted.inputs.size()), rows);
    prefer_large_pages(data.inputs.data(), static_cast<std::size_t>(data.inputs.size()) * sizeof(double));
    if (wanted.target) data.target.reserve(static_cast<std::size_t>(rows));
    Index row = 0;
    for (; next_record(at); ++row) {
        const std::size_t line = at.line;
        std::size_t c = 0;
        for (; at.more && c < roles.size(); ++c) {
            if (roles[c] == Role::input) {
                data.inputs(places[c], row) = number(at, c);
                continue;
            }
            const Cursor before = at;
            const std::string_view written = field(at);
            if (roles[c] != Role::target) continue;
            if (is_missing(written))
                refuse(before, c, "the target has no value (" + shown(written) + "); remove the row");
            data.target.push_back(written);
            data.lines.push_back(before.line);
        }
        if (c < roles.size() || at.more)
            throw UserError(
                path_ + ", line " + std::to_string(line) + ": " +
                (at.more ? "more than " : std::to_string(c) + (c == 1 ? " field, not " : " fields, not ")) +
                std::to_string(roles.size()) + " (separator " + separator_name() + ")");
    }
    data.inputs.conservativeResize(data.inputs.rows(), row);
    return data;
}

}  // namespace command
