#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// Tables of numbers from files, and how to cut them for cross-validation.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// One row a line, numbers apart by commas, tabs or blanks; a first line that is no number is a header.
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

/// The table named on the command line, or in ../shared/data; says where to get it when there is none, and
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

/// Where thousands of samples are to be told apart, the dual only says where to begin.
constexpr Index samples_of_the_dual = 500;

/// How many of the folds a reduced run takes.
constexpr int reduced_folds = 4;

/// Which draw of the folds: the second argument, 1 without it. Figures of several draws tell chance from
/// merit.
inline std::uint64_t draw_of(int argc, char** argv) {
    return argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
}

/// A fold for each sample: folds as equal as can be, drawn at random.
inline std::vector<int> folds_of(Index samples, int folds, std::uint64_t seed) {
    std::vector<int> fold(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < fold.size(); ++i)
        fold[i] = static_cast<int>(i % static_cast<std::size_t>(folds));
    const kernelet::detail::CounterRandom random(seed, 21);
    for (std::size_t i = fold.size(); i > 1; --i)
        std::swap(fold[i - 1], fold[static_cast<std::size_t>(random.uniform(i) * static_cast<double>(i))]);
    return fold;
}

/// The same, each class spread evenly over the folds.
template <class Label>
std::vector<int> stratified_folds(const std::vector<Label>& labels, int folds, std::uint64_t seed) {
    std::vector<int> fold(labels.size());
    std::vector<Label> classes = labels;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    for (const Label& label : classes) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (labels[i] == label) members.push_back(i);
        const std::vector<int> of = folds_of(static_cast<Index>(members.size()), folds, ++seed);
        for (std::size_t k = 0; k < members.size(); ++k) fold[members[k]] = of[k];
    }
    return fold;
}

/// The samples of a fold, and all others.
struct Split {
    std::vector<Index> train{}, test{};
};

inline Split split(const std::vector<int>& fold, int of) {
    Split parts;
    for (std::size_t i = 0; i < fold.size(); ++i)
        (fold[i] == of ? parts.test : parts.train).push_back(static_cast<Index>(i));
    return parts;
}

}  // namespace bench
