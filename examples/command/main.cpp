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

/// Every command: its options, and what runs when it is called. Returns the exit code.
class Commands {
public:
    explicit Commands(const std::string& made_by) : made_by_(made_by) {}

    void add_to(CLI::App& app) {
        add_fit(*app.add_subcommand("fit", "learn a model from a table"));
        add_predict(*app.add_subcommand("predict", "predict the rows of a table"));
        add_inspect(*app.add_subcommand("inspect", "print the kernels of a model and the report of its fit"));
        add_cross_validate(*app.add_subcommand(
            "cross-validate", "the error on rows that a model has not seen, over folds of a table"));
        add_export(*app.add_subcommand("export", "write a model as one file of C99"));
        add_report(*app.add_subcommand("report", "write a page that shows a model beside its data"));
    }
    int code() const { return code_; }

private:
    void add_fit(CLI::App& app) {
        fit_.add_to(app);
        app.add_option("-o,--output", out_, "the file of the model; - is the standard output")
            ->capture_default_str();
        app.callback([this] { code_ = fit(fit_.read(made_by_), out_); });
    }

    void add_predict(CLI::App& app) {
        app.add_option("model", predict_.model, "what fit wrote")->required();
        app.add_option("data", predict_.data, "the table, CSV; - is the standard input")->required();
        app.add_option("-o,--output", predict_.out, "CSV, a row per row; - is the standard output");
        csv_.add_to(app);
        app.add_flag("--deviation", predict_.deviation, "also the standard deviation of the function");
        app.add_flag("--noise", predict_.noise, "also the standard deviation of a new observation");
        app.add_flag("--probabilities", predict_.probabilities, "also the probability of every class");
        app.callback([this] {
            predict_.csv = csv_.options();
            code_ = predict(predict_);
        });
    }

    void add_inspect(CLI::App& app) {
        app.add_option("model", model_, "what fit wrote")->required();
        app.add_flag("--json", json_, "as JSON");
        app.callback([this] { code_ = inspect(model_, json_); });
    }

    void add_cross_validate(CLI::App& app) {
        validate_.add_to(app);
        app.add_option("--folds", folds_, "how many")->capture_default_str();
        app.add_flag("--time", in_time_, "the rows are in the order of time: folds are runs of rows");
        app.callback([this] { code_ = cross_validate(validate_.read(made_by_), folds_, in_time_); });
    }

    void add_export(CLI::App& app) {
        app.add_option("model", model_, "what fit wrote")->required();
        app.add_option("-o,--output", out_, "the C file; - is the standard output");
        app.add_option("--name", c_.name, "of the function")->capture_default_str();
        app.add_flag("--float", narrow_, "numbers are float, not double");
        app.add_flag("--gradient", c_.gradient, "a function for the gradient too");
        app.add_flag("--no-libm", own_exp_, "with an exponential of its own, not <math.h>");
        app.callback([this] {
            if (narrow_) c_.scalar = kernelet::CScalar::float32;
            if (own_exp_) c_.functions = kernelet::CFunctions::own;
            export_model(out_, load_model(model_), c_);
        });
    }

    void add_report(CLI::App& app) {
        app.add_option("model", model_, "what fit wrote")->required();
        app.add_option("data", data_, "the table it was fitted to, or another with a target")->required();
        app.add_option("-o,--output", page_, "the HTML file; - is the standard output")
            ->capture_default_str();
        report_csv_.add_to(app);
        app.callback([this] { code_ = report(model_, data_, report_csv_.options(), page_); });
    }

    std::string made_by_;
    int code_ = done;
    std::string model_{}, data_{}, out_ = "-", page_ = "report.html";
    FitFlags fit_{}, validate_{};
    CsvFlags csv_{}, report_csv_{};
    PredictRequest predict_{};
    kernelet::CExportOptions c_{};
    Index folds_ = 10;
    bool json_ = false, in_time_ = false, narrow_ = false, own_exp_ = false;
};

int run(int argc, char** argv) {
    CLI::App app{
        "Learns a function or a classifier from a table as a small number of kernels, and says how good it "
        "is."};
    app.footer(examples);
    app.require_subcommand(1);
    app.set_version_flag("--version", KERNELET_VERSION_STRING);
    Commands commands(command_line(argc, argv));
    commands.add_to(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int said = app.exit(error);
        return said == 0 ? done : wrong_usage;
    }
    return commands.code();
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
