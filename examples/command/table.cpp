#include "commands.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

namespace command {

namespace {

/// A target of few whole numbers, each often, is taken for labels: a regression on them would mean something else.
bool seems_classes(const std::vector<std::string_view>& target) {
    constexpr std::size_t most_classes = 10, rows_per_class = 10;
    std::set<std::string_view> distinct;
    for (const std::string_view field : target) {
        const std::optional<double> value = parsed_number(field);
        if (!value) return true;
        if (*value != std::floor(*value)) return false;
        if (distinct.size() <= most_classes) distinct.insert(field);
    }
    return distinct.size() <= most_classes && distinct.size() * rows_per_class <= target.size();
}

Vector numbers_of(const std::vector<std::string_view>& target, const std::string& name) {
    Vector y(static_cast<Index>(target.size()));
    for (Index i = 0; i < y.size(); ++i) {
        const std::string_view field = target[static_cast<std::size_t>(i)];
        const std::optional<double> value = parsed_number(field);
        if (!value || !std::isfinite(*value))
            throw UserError("the target " + name + " has '" + std::string(field.substr(0, 40)) + "' in row " +
                            std::to_string(i + 1) + ", which is not a number; --classes takes it as a label");
        y(i) = *value;
    }
    return y;
}

}  // namespace

Table read_table(const FitRequest& request) {
    const CsvFile file(request.data, request.csv);
    if (file.columns() < 2)
        throw UserError(request.data +
                        " has one column; a fit needs an input and a target. Is the separator "
                        "another than '" +
                        std::string(1, file.separator()) + "'? Then give --separator");
    CsvColumns wanted;
    wanted.target = request.target.empty() ? file.columns() - 1 : file.column(request.target);
    std::vector<bool> dropped(file.columns(), false);
    for (const std::string& name : request.dropped) dropped[file.column(name)] = true;
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
    if (table.classes)
        table.labels.assign(data.target.begin(), data.target.end());
    else
        table.y = numbers_of(data.target, table.target);
    return table;
}

Matrix read_inputs(const CsvFile& file, const StoredModel& stored) {
    CsvColumns wanted;
    const std::vector<std::string>& names = stored.about.inputs;
    for (const std::string& name : names) {
        const auto found = std::find(file.names().begin(), file.names().end(), name);
        const bool numbered = !file.has_header() && name.rfind("column ", 0) == 0;
        if (found != file.names().end())
            wanted.inputs.push_back(static_cast<std::size_t>(found - file.names().begin()));
        else if (numbered && std::stoul(name.substr(7)) <= file.columns())
            wanted.inputs.push_back(std::stoul(name.substr(7)) - 1);
    }
    // Without their target, the columns of a table move: as many columns as inputs are these.
    if (wanted.inputs.size() < names.size() || (!file.has_header() && file.columns() == names.size())) {
        if (file.columns() != names.size()) {
            std::string all;
            for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
            throw UserError(file.path() + " has " + std::to_string(file.columns()) +
                            " columns, not all that the model needs: " + all);
        }
        wanted.inputs.clear();
        for (std::size_t c = 0; c < names.size(); ++c) wanted.inputs.push_back(c);
    }
    return file.read(wanted).inputs;
}

}  // namespace command
