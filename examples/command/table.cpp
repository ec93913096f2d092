#include "commands.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

namespace command {

namespace {

/// A target of few whole numbers, each often, is taken for labels: a regression on them would mean something else. So is
/// a target with words, but not one of many numbers with a few words between, which are mistakes.
bool seems_classes(const std::vector<std::string_view>& target) {
    constexpr std::size_t most_classes = 10, rows_per_class = 10;
    constexpr double most_words = 0.1;
    std::set<std::string_view> distinct;
    std::size_t words = 0;
    bool whole = true;
    for (const std::string_view field : target) {
        const std::optional<double> value = parsed_number(field);
        if (!value && is_too_large(field)) return false;
        words += !value;
        whole = whole && value && *value == std::floor(*value);
        if (value && distinct.size() <= most_classes) distinct.insert(field);
    }
    const bool few = distinct.size() <= most_classes;
    if (words > 0) return few || static_cast<double>(words) > most_words * static_cast<double>(target.size());
    return whole && few && distinct.size() * rows_per_class <= target.size();
}

/// Which columns --drop names: each a name or a number, or several with commas between.
std::vector<bool> dropped_columns(const CsvFile& file, const std::vector<std::string>& given) {
    std::vector<bool> dropped(file.columns(), false);
    for (const std::string& words : given) {
        if (std::find(file.names().begin(), file.names().end(), words) != file.names().end()) {
            dropped[file.column(words)] = true;
            continue;
        }
        std::istringstream stream(words);
        for (std::string word; std::getline(stream, word, ',');) dropped[file.column(word)] = true;
    }
    return dropped;
}

/// Throws where the labels make no classifier.
void count_classes(Table& table) {
    constexpr std::size_t most_classes = 1000, many_classes = 30;
    const std::set<std::string> classes(table.labels.begin(), table.labels.end());
    const std::size_t count = classes.size();
    if (count == 1)
        throw UserError("the target '" + table.target + "' has the same label " + shown(*classes.begin()) +
                        " in all rows; a classifier needs two classes");
    if (count > most_classes)
        throw UserError("the target '" + table.target + "' has " + std::to_string(count) +
                        " different labels in " + std::to_string(table.labels.size()) + " rows; more than " +
                        std::to_string(most_classes) +
                        " classes are not learned. --target chooses another column");
    table.many_classes = count > many_classes;
    if (table.many_classes)
        std::cerr << "kernelet: " << count << " classes: one classifier per class against the rest\n";
}

}  // namespace

Vector target_numbers(const CsvFile& file, const CsvData& data, std::size_t column) {
    Vector y(static_cast<Index>(data.target.size()));
    for (Index i = 0; i < y.size(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const std::string_view field = data.target[row];
        const std::optional<double> value = parsed_number(field);
        if (!value || !std::isfinite(*value))
            throw UserError(file.place(data.lines[row], column) + shown(field) +
                            (is_too_large(field) ? " is larger than any double"
                             : value             ? " is infinite"
                                                 : " is not a number, and the target of a regression needs "
                                                   "one; --classes takes all as labels"));
        y(i) = *value;
    }
    return y;
}

Table read_table(const FitRequest& request) {
    const CsvFile file(request.data, request.csv);
    if (file.columns() < 2)
        throw UserError(request.data +
                        " has one column; a fit needs an input and a target. Is the separator "
                        "another than " +
                        file.separator_name() + "? Then give --separator");
    CsvColumns wanted;
    wanted.target = request.target.empty() ? file.columns() - 1 : file.column(request.target);
    const std::vector<bool> dropped = dropped_columns(file, request.dropped);
    if (dropped[*wanted.target])
        throw UserError("the target '" + file.names()[*wanted.target] + "' is left out by --drop");
    Table table;
    table.target = file.names()[*wanted.target];
    if (!file.has_header()) table.target = "column " + table.target;
    for (std::size_t c = 0; c < file.columns(); ++c) {
        if (dropped[c] || c == *wanted.target) continue;
        wanted.inputs.push_back(c);
        table.inputs.push_back(file.has_header() ? file.names()[c] : "column " + file.names()[c]);
    }
    if (wanted.inputs.empty()) throw UserError("no column is left for an input");
    CsvData data = file.read(wanted);
    table.classes = request.task.empty() ? seems_classes(data.target) : request.task == "classes";
    if (request.task.empty() && table.classes && !data.target.empty() && parsed_number(data.target.front()))
        std::cerr << "kernelet: the target '" << table.target
                  << "' has few whole numbers and is taken for labels; --regression takes it for numbers\n";
    table.x = std::move(data.inputs);
    if (table.classes) {
        table.labels.assign(data.target.begin(), data.target.end());
        count_classes(table);
    } else {
        table.y = target_numbers(file, data, *wanted.target);
    }
    return table;
}

Matrix read_inputs(const CsvFile& file, const StoredModel& stored) {
    CsvColumns wanted;
    const std::vector<std::string>& names = stored.about.inputs;
    std::map<std::string, std::ptrdiff_t> used;  // of several columns of one name, each input has the next
    std::string missing;
    bool numbered = true;
    for (const std::string& name : names) {
        const bool by_number = name.rfind("column ", 0) == 0;
        numbered = numbered && by_number;
        std::ptrdiff_t& begin = used[name];
        const auto found = std::find(file.names().begin() + begin, file.names().end(), name);
        begin = found - file.names().begin() + (found != file.names().end());
        const std::optional<double> number =
            by_number && !file.has_header() ? parsed_number(name.substr(7)) : std::nullopt;
        if (found != file.names().end())
            wanted.inputs.push_back(static_cast<std::size_t>(found - file.names().begin()));
        else if (number && *number >= 1.0 && *number <= static_cast<double>(file.columns()))
            wanted.inputs.push_back(static_cast<std::size_t>(*number) - 1);
        else
            missing += (missing.empty() ? "" : ", ") + name;
    }
    // Names are compared where both have them. Without its target, the columns of a table move: as many columns as
    // inputs are the inputs.
    const bool positions = !file.has_header() || numbered;
    if (positions && file.columns() == names.size()) {
        wanted.inputs.resize(names.size());
        std::iota(wanted.inputs.begin(), wanted.inputs.end(), std::size_t{0});
    } else if (!missing.empty()) {
        throw UserError(
            file.path() + " has " +
            counted(static_cast<long>(file.columns()), file.has_header() ? "column" : "unnamed column") +
            " and lacks inputs of the model: " + shortened(missing, 300));
    }
    return file.read(wanted).inputs;
}

}  // namespace command
