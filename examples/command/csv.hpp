#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace command {

using Eigen::Index;

/// What is wrong with what the user gave: printed as it is, without a stack of causes.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct CsvOptions {
    std::optional<char> separator{};  ///< found in the first lines where none is given
    std::optional<bool> header{};     ///< whether the first line names the columns; guessed where not given
};

/// Which columns are read, by number from 0.
struct CsvColumns {
    std::vector<std::size_t> inputs{};
    std::optional<std::size_t> target{};
};

/// The columns asked for.
struct CsvData {
    Eigen::MatrixXd inputs{};              ///< inputs x rows
    std::vector<std::string_view> target;  ///< as written, of the file's text
    std::vector<std::size_t> lines;        ///< of each row of the target, from 1
};

/// What a file holds, read at once. Not a std::string, which would write zeros over all of it first.
class Text {
public:
    /// "-" is the standard input.
    explicit Text(const std::string& path);

    const char* begin() const { return held_.get(); }
    const char* end() const { return held_.get() + size_; }
    std::string_view view() const { return {held_.get(), size_}; }

private:
    struct Free {
        void operator()(char* held) const { std::free(held); }
    };
    void reserve(std::size_t capacity);

    std::unique_ptr<char, Free> held_{};
    std::size_t size_ = 0, capacity_ = 0;
};

/// A file of comma-separated values (RFC 4180, and what is found in the wild): fields in quotes, line ends of either
/// kind, a byte-order mark, comments after #, empty lines, separators , ; tab | or blanks. Held as text; read() makes
/// one pass over it.
class CsvFile {
public:
    /// "-" is the standard input.
    CsvFile(const std::string& path, const CsvOptions& options);

    const std::string& path() const { return path_; }
    bool has_header() const { return has_header_; }
    /// For messages.
    std::string separator_name() const;
    /// One per column; "1", "2", ... without a header.
    const std::vector<std::string>& names() const { return names_; }
    std::size_t columns() const { return names_.size(); }
    /// By name, or by number from 1. Throws UserError with the names there are.
    std::size_t column(const std::string& name_or_number) const;

    /// Inputs must be numbers. A missing cell is refused by line and column.
    CsvData read(const CsvColumns& wanted) const;
    /// "data.csv, line 3, column 'a': "
    std::string place(std::size_t line, std::size_t column) const;

private:
    struct Cursor;
    enum class Role : unsigned char { skipped, input, target };

    bool next_record(Cursor& at) const;
    std::vector<std::string> fields(Cursor& at) const;
    std::string_view field(Cursor& at) const;
    std::string_view quoted_field(Cursor& at) const;
    double number(Cursor& at, std::size_t column) const;
    [[noreturn]] void refuse(const Cursor& at, std::size_t column, const std::string& what) const;
    void find_separator();
    std::size_t common_fields(std::size_t lines) const;
    void find_names(const CsvOptions& options);

    std::string path_;
    Text text_;
    char separator_ = ',';
    bool has_header_ = false;
    std::vector<std::string> names_;
    std::size_t begin_ = 0;                        ///< of the first record of data
    std::size_t begin_line_ = 1;                   ///< its line, from 1
    mutable std::deque<std::string> unescaped_{};  ///< fields in quotes that held quotes
};

/// Whether a field is a number of a double, and which.
std::optional<double> parsed_number(std::string_view field);

/// Whether a field is written as a number that no double holds, as 1e400.
bool is_too_large(std::string_view field);

/// A field for messages: in quotes, no control characters, not too long.
std::string shown(std::string_view field);

/// Whether a field stands for no value: empty, NA, NaN, null, ?.
bool is_missing(std::string_view field);

}  // namespace command
