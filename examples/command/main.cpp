// The kernelet command: fit, predict, inspect, cross-validate, export and report on CSV files.
#include "commands.hpp"

#include <CLI/CLI.hpp>

#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace command;

constexpr const char* examples = R"(examples:
  kernelet fit airfoil.csv --target pressure -o airfoil.model
  kernelet report airfoil.model airfoil.csv -o airfoil.html
  kernelet predict airfoil.model fresh.csv --deviation > predicted.csv
  kernelet export airfoil.model -o airfoil.c
  kernelet cross-validate rooms.csv --folds 10
  kernelet inspect airfoil.model --json

exit codes: 0 done; 1 a file, a table or a value is wrong; 2 the command line is wrong; 3 written, but the
fit was stopped or missed its tolerance)";

/// One character: , ; | a blank, "tab" or \t.
char separator_of(const std::string& word) {
    if (word == "tab" || word == "\\t") return '\t';
    if (word == "blank" || word == "space") return ' ';
    if (word.size() != 1)
        throw UserError("--separator takes one character, or tab or blank, not '" + word + "'");
    return word.front();
}

/// The options of reading a table, before they are read.
struct CsvFlags {
    std::string separator{};
    bool header = false, no_header = false;

    void add_to(CLI::App& app) {
        app.add_option("--separator", separator,
                       "between fields: one character, or tab or blank; found if not given");
        auto* with = app.add_flag("--header", header, "the first line names the columns");
        app.add_flag("--no-header", no_header, "the first line is data")->excludes(with);
    }
    CsvOptions options() const {
        CsvOptions out;
        if (!separator.empty()) out.separator = separator_of(separator);
        if (header || no_header) out.header = header;
        return out;
    }
};

/// The options that fit and cross-validate share.
struct FitFlags {
    FitRequest request{};
    CsvFlags csv{};
    double tolerance = 0.0, seconds = 0.0;
    Index max_kernels = 0;
    bool classes = false, regression = false;
    std::vector<CLI::Option*> given{};

    void add_to(CLI::App& app) {
        app.add_option("data", request.data, "the table, CSV; - is the standard input")->required();
        app.add_option("-t,--target", request.target,
                       "the column to learn, by name or number from 1; the last if not given");
        app.add_option("--drop", request.dropped, "columns to leave out, by name or number")->delimiter(',');
        csv.add_to(app);
        auto* labels = app.add_flag("--classes", classes, "the target holds labels");
        app.add_flag("--regression", regression, "the target holds numbers")->excludes(labels);
        std::string kernels;
        for (const std::string& name : kernel_names()) kernels += " " + name;
        app.add_option(
            "--kernel", request.kernel,
            "one of" + kernels + "; gaussian of one input, anisotropic_gaussian of several if not given");
        app.add_option("--loss", request.loss,
                       "squared huber epsilon_insensitive quantile, for classes logistic hinge; the first of "
                       "each if not given");
        given = {
            app.add_option("--tolerance", tolerance,
                           "the root mean squared residual to reach, in the unit of the target; from the "
                           "noise if not given"),
            app.add_option("--max-kernels", max_kernels, "never more kernels than this"),
            app.add_option("--time-limit", seconds, "seconds after which the best model so far is taken")};
        app.add_option("--seed", request.seed, "the same seed gives the same model")->capture_default_str();
    }
    FitRequest read(const std::string& made_by) {
        request.csv = csv.options();
        if (classes || regression) request.task = classes ? "classes" : "regression";
        if (given[0]->count() > 0) request.tolerance = tolerance;
        if (given[1]->count() > 0) request.max_kernels = max_kernels;
        if (given[2]->count() > 0) request.seconds = seconds;
        request.made_by = made_by;
        return request;
    }
};

/// The command line as a shell would read it.
std::string command_line(int argc, char** argv) {
    std::string out = "kernelet";
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        const bool plain =
            !word.empty() && word.find_first_of(" \t\n'\"\\$&;|<>*?()`#!") == std::string::npos;
        std::string quoted = "'";
        for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
        out += " " + (plain ? word : quoted + "'");
    }
    return out;
}

int run(int argc, char** argv) {
    CLI::App app{
        "Learns a function or a classifier from a table as a small number of kernels, and says how good it "
        "is."};
    app.footer(examples);
    app.require_subcommand(1);
    app.set_version_flag("--version", KERNELET_VERSION_STRING);
    const std::string made_by = command_line(argc, argv);
    int code = done;

    FitFlags fitted;
    std::string out = "-";
    auto* fit_command = app.add_subcommand("fit", "learn a model from a table");
    fitted.add_to(*fit_command);
    fit_command->add_option("-o,--output", out, "the file of the model; - is the standard output")
        ->capture_default_str();
    fit_command->callback([&] { code = fit(fitted.read(made_by), out); });

    PredictRequest predicted;
    CsvFlags predict_csv;
    auto* predict_command = app.add_subcommand("predict", "predict the rows of a table");
    predict_command->add_option("model", predicted.model, "what fit wrote")->required();
    predict_command->add_option("data", predicted.data, "the table, CSV; - is the standard input")
        ->required();
    predict_command->add_option("-o,--output", predicted.out, "CSV, a row per row; - is the standard output");
    predict_csv.add_to(*predict_command);
    predict_command->add_flag("--deviation", predicted.deviation,
                              "also the standard deviation of the function");
    predict_command->add_flag("--noise", predicted.noise, "also the standard deviation of a new observation");
    predict_command->add_flag("--probabilities", predicted.probabilities,
                              "also the probability of every class");
    predict_command->callback([&] {
        predicted.csv = predict_csv.options();
        code = predict(predicted);
    });

    std::string inspected;
    bool json = false;
    auto* inspect_command =
        app.add_subcommand("inspect", "print the kernels of a model and the report of its fit");
    inspect_command->add_option("model", inspected, "what fit wrote")->required();
    inspect_command->add_flag("--json", json, "as JSON");
    inspect_command->callback([&] { code = inspect(inspected, json); });

    FitFlags validated;
    Index folds = 10;
    bool in_time = false;
    auto* validate_command = app.add_subcommand(
        "cross-validate", "the error on rows that a model has not seen, over folds of a table");
    validated.add_to(*validate_command);
    validate_command->add_option("--folds", folds, "how many")->capture_default_str();
    validate_command->add_flag("--time", in_time,
                               "the rows are in the order of time: folds are runs of rows");
    validate_command->callback([&] { code = cross_validate(validated.read(made_by), folds, in_time); });

    std::string exported, c_file = "-";
    kernelet::CExportOptions c_options;
    bool narrow = false, own = false;
    auto* export_command = app.add_subcommand("export", "write a model as one file of C99");
    export_command->add_option("model", exported, "what fit wrote")->required();
    export_command->add_option("-o,--output", c_file, "the C file; - is the standard output");
    export_command->add_option("--name", c_options.name, "of the function")->capture_default_str();
    export_command->add_flag("--float", narrow, "numbers are float, not double");
    export_command->add_flag("--gradient", c_options.gradient, "a function for the gradient too");
    export_command->add_flag("--no-libm", own, "with an exponential of its own, not <math.h>");
    export_command->callback([&] {
        if (narrow) c_options.scalar = kernelet::CScalar::float32;
        if (own) c_options.functions = kernelet::CFunctions::own;
        export_model(c_file, load_model(exported), c_options);
    });

    std::string reported, report_data, page = "report.html";
    CsvFlags report_csv;
    auto* report_command = app.add_subcommand("report", "write a page that shows a model beside its data");
    report_command->add_option("model", reported, "what fit wrote")->required();
    report_command->add_option("data", report_data, "the table it was fitted to, or another with a target")
        ->required();
    report_command->add_option("-o,--output", page, "the HTML file; - is the standard output")
        ->capture_default_str();
    report_csv.add_to(*report_command);
    report_command->callback([&] { code = report(reported, report_data, report_csv.options(), page); });

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int said = app.exit(error);
        return said == 0 ? done : wrong_usage;
    }
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    command::catch_interrupts();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::string what = error.what();
        if (what.rfind("kernelet: ", 0) == 0) what.erase(0, std::strlen("kernelet: "));
        std::cerr << "kernelet: " << what << "\n";
        return command::wrong_input;
    }
}
