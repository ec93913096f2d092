#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// Tables of numbers from files.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// One row per line, numbers separated by commas, tabs or blanks; a first line that is no number is a header.
/// Samples become columns. Nothing where the file cannot be read or its rows differ in length.
inline std::optional<Matrix> read_table(const std::string& path) {
    std::ifstream file(path);
    std::vector<double> numbers;
    std::size_t columns = 0, rows = 0;
    for (std::string line; std::getline(file, line);) {
        std::replace_if(
            line.begin(), line.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
        std::istringstream words(line);
        std::vector<double> row;
        bool numeric = true;
        for (std::string word; words >> word && numeric;) {
            char* end = nullptr;
            row.push_back(std::strtod(word.c_str(), &end));
            numeric = end != nullptr && *end == '\0';
        }
        if (row.empty() || (!numeric && rows == 0)) continue;
        if (!numeric || (rows > 0 && row.size() != columns)) return std::nullopt;
        columns = row.size();
        ++rows;
        numbers.insert(numbers.end(), row.begin(), row.end());
    }
    if (rows == 0) return std::nullopt;
    return Matrix(
        Eigen::Map<const Matrix>(numbers.data(), static_cast<Index>(columns), static_cast<Index>(rows)));
}

/// Where a file or folder of data may be: as given on the command line, or in shared/data beside the project.
inline std::vector<std::string> places(int argc, char** argv, const std::string& name) {
    if (argc > 1) return {argv[1]};
    return {"../shared/data/" + name, "../../shared/data/" + name, "../../../shared/data/" + name,
            "../../../../shared/data/" + name};
}

/// The table named on the command line, or in ../shared/data; prints where to get it when there is none, and
/// the program then ends with status 0.
inline std::optional<Matrix> table_or_skip(int argc, char** argv, const std::string& name,
                                           const char* source) {
    for (const std::string& path : places(argc, argv, name))
        if (auto table = read_table(path)) return table;
    std::printf("skipped: no %s; get it from %s and give its path\n", name.c_str(), source);
    return std::nullopt;
}

/// Whether the last argument is "reduced", which it takes away: for a look in minutes.
inline bool reduced(int& argc, char** argv) {
    const bool asked = argc > 1 && std::string(argv[argc - 1]) == "reduced";
    if (asked) --argc;
    return asked;
}

/// Samples of the dual in classification of thousands: the dual only gives the start of the search.
constexpr Index samples_of_the_dual = 500;

/// How many of the folds a reduced run takes.
constexpr int reduced_folds = 4;

/// Which draw of the folds: the second argument, 1 without it. The spread over several draws shows
/// which differences are due to chance.
inline std::uint64_t draw_of(int argc, char** argv) {
    return argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
}

}  // namespace bench
