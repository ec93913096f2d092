// The kernelet command: fit, predict, inspect, cross-validate, export and report on CSV files.
#include "commands.hpp"
#include "help.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace command;

/// One character: , ; | a blank, "tab" or \t.
char separator_of(const std::string& word) {
    if (word == "tab" || word == "\\t") return '\t';
    if (word == "blank" || word == "space") return ' ';
    const bool usable = word.size() == 1 && std::isalnum(static_cast<unsigned char>(word.front())) == 0 &&
                        word.find_first_of("\"#+-.\r\n") == std::string::npos;
    if (!usable)
        throw UserError(
            "--separator takes one character that is no part of a number, or tab or blank; not '" + word +
            "'");
    return word.front();
}

const CLI::Validator above_zero(
    [](const std::string& word) {
        const std::optional<double> value = parsed_number(word);
        return value && *value > 0.0 ? std::string() : "must be a number above zero, not " + shown(word);
    },
    "");
const CLI::Validator whole(
    [](const std::string& word) {
        constexpr std::size_t digits = 19;
        return word.size() <= digits && word.find_first_not_of("0123456789") == std::string::npos
                   ? std::string()
                   : "must be a whole number of at most 19 digits without a sign, not " + shown(word);
    },
    "");

/// The options of reading a table, before they are read.
struct CsvFlags {
    std::string separator{};
    bool header = false, no_header = false;
    CLI::Option* given = nullptr;

    void add_to(CLI::App& app) {
        given =
            app.add_option("--separator", separator,
                           "what stands between fields: one character, or tab or blank; default: found in "
                           "the first lines")
                ->type_name("CHAR");
        auto* with = app.add_flag("--header", header, "the first line names the columns; default: guessed");
        app.add_flag("--no-header", no_header, "the first line is data")->excludes(with);
    }
    CsvOptions options() const {
        CsvOptions out;
        if (given->count() > 0) out.separator = separator_of(separator);
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
    std::vector<CLI::Option*> given{};  ///< tolerance, kernels, seconds

    void add_to(CLI::App& app) {
        app.add_option("data", request.data, "the table, CSV; - is the standard input")
            ->required()
            ->type_name("FILE");
        app.add_option("-t,--target", request.target,
                       "the column to learn, by name or by number from 1; default: the last")
            ->type_name("COLUMN");
        app.add_option("--drop", request.dropped,
                       "columns to leave out, by name or number, with commas between; may be given several "
                       "times")
            ->type_name("COLUMNS")
            ->allow_extra_args(false);
        csv.add_to(app);
        auto* labels = app.add_flag("--classes", classes, "the target holds labels: learn a classifier");
        app.add_flag("--regression", regression, "the target holds numbers: learn a function")
            ->excludes(labels);
        std::string kernels;
        for (const std::string& name : kernel_names()) kernels += (kernels.empty() ? "" : ", ") + name;
        app.add_option("--kernel", request.kernel,
                       kernels + "; default: gaussian for one input, anisotropic_gaussian for several")
            ->type_name("NAME");
        app.add_option("--loss", request.loss,
                       "for numbers squared, huber, epsilon_insensitive, quantile; for classes logistic, "
                       "hinge; default: the first of each")
            ->type_name("NAME");
        add_limits(app);
        app.add_option("--seed", request.seed, "the same seed gives the same model")
            ->capture_default_str()
            ->type_name("N")
            ->check(whole);
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

private:
    void add_limits(CLI::App& app) {
        given = {
            app.add_option("--tolerance", tolerance,
                           "the residual to reach: root mean square in the unit of the target, or mean "
                           "loss of classes; default: from the estimated noise")
                ->type_name("T"),
            app.add_option("--max-kernels", max_kernels, "never more kernels than this")
                ->type_name("N")
                ->check(above_zero),
            app.add_option("--time-limit", seconds, "stop after so many seconds, with the best model so far")
                ->type_name("SECONDS")
                ->check(above_zero)};
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
        add_fit(*app.add_subcommand("fit", "Learn a model from a table"));
        add_predict(*app.add_subcommand("predict", "Predict the target for the rows of a table"));
        add_inspect(*app.add_subcommand("inspect", "Print the kernels of a model and the report of its fit"));
        add_cross_validate(*app.add_subcommand("cross-validate",
                                               "Measure the error on rows that the model was not fitted to"));
        add_export(*app.add_subcommand("export", "Write a model as one file of C99"));
        add_report(*app.add_subcommand("report", "Write an HTML page that shows a model and its data"));
    }
    int code() const { return code_; }

private:
    void add_fit(CLI::App& app) {
        fit_.add_to(app);
        app.footer(fit_examples);
        app.add_option("-o,--output", out_, "the file of the model; - is the standard output")
            ->capture_default_str()
            ->type_name("FILE");
        app.callback([this] { code_ = fit(fit_.read(made_by_), out_); });
    }

    void add_model(CLI::App& app, std::string& path) {
        app.add_option("model", path, "the file that fit wrote; - is the standard input")
            ->required()
            ->type_name("FILE");
    }

    void add_predict(CLI::App& app) {
        app.footer(predict_examples);
        add_model(app, predict_.model);
        app.add_option("data", predict_.data, "the table, CSV; - is the standard input")
            ->required()
            ->type_name("FILE");
        app.add_option("-o,--output", predict_.out, "CSV with the same rows; - is the standard output")
            ->capture_default_str()
            ->type_name("FILE");
        csv_.add_to(app);
        auto* deviation = app.add_flag("--deviation", predict_.deviation,
                                       "add the standard deviation of the predicted function");
        app.add_flag("--noise", predict_.noise,
                     "add the standard deviation of a new observation, with its noise")
            ->excludes(deviation);
        app.add_flag("--probabilities", predict_.probabilities, "add the probability of each class");
        app.callback([this] {
            predict_.csv = csv_.options();
            code_ = predict(predict_);
        });
    }

    void add_inspect(CLI::App& app) {
        app.footer(inspect_examples);
        add_model(app, model_);
        app.add_flag("--json", json_, "print JSON, with all digits");
        app.callback([this] { code_ = inspect(model_, json_); });
    }

    void add_cross_validate(CLI::App& app) {
        app.footer(cross_validate_examples);
        validate_.add_to(app);
        app.add_option("--folds", folds_, "number of parts; each is predicted by a model of the others")
            ->capture_default_str()
            ->type_name("N");
        app.add_flag("--time", in_time_, "the rows are in the order of time: each fold is a run of rows");
        app.callback([this] { code_ = cross_validate(validate_.read(made_by_), folds_, in_time_); });
    }

    void add_export(CLI::App& app) {
        app.footer(export_examples);
        add_model(app, model_);
        app.add_option("-o,--output", out_, "the C file; - is the standard output")
            ->capture_default_str()
            ->type_name("FILE");
        app.add_option("--name", c_.name, "the name of the function")->capture_default_str();
        app.add_flag("--float", narrow_, "compute in float, not in double");
        app.add_flag("--gradient", c_.gradient, "add a function for the gradient");
        app.add_flag("--no-libm", own_exp_, "bring an exponential function along instead of <math.h>");
        app.callback([this] {
            if (narrow_) c_.scalar = kernelet::CScalar::float32;
            if (own_exp_) c_.functions = kernelet::CFunctions::own;
            export_model(out_, load_model(model_), c_);
        });
    }

    void add_report(CLI::App& app) {
        app.footer(report_examples);
        add_model(app, model_);
        app.add_option("data", data_, "the table that the model was fitted to, or another with its target")
            ->required()
            ->type_name("FILE");
        app.add_option("-o,--output", page_, "the HTML file; - is the standard output")
            ->capture_default_str()
            ->type_name("FILE");
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

/// Options of the library, as the user of the command knows them.
std::string in_words_of_the_command(std::string what) {
    const std::vector<std::pair<std::string, std::string>> words{{"kernelet: ", ""},
                                                                 {"options.tolerance", "--tolerance"},
                                                                 {"options.max_kernels", "--max-kernels"},
                                                                 {"CExportOptions::name", "--name"}};
    for (const auto& [from, to] : words)
        if (what.rfind(from, 0) == 0) what.replace(0, from.size(), to);
    return what;
}

/// CLI11 asks for a command also where there is one that it does not know.
bool is_unknown_command(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return false;
    const auto known = app.get_subcommands([](const CLI::App*) { return true; });
    return std::none_of(known.begin(), known.end(),
                        [&](const CLI::App* one) { return one->get_name() == argv[1]; });
}

int run(int argc, char** argv) {
    CLI::App app{
        "Learns a function or a classifier from a table as a small number of kernels, and says how close to "
        "optimal it is.",
        "kernelet"};
    app.footer(examples);
    app.require_subcommand(1);
    app.set_version_flag("--version", KERNELET_VERSION_STRING, "Print the version and exit");
    Commands commands(command_line(argc, argv));
    commands.add_to(app);
    if (argc == 1 || is_unknown_command(app, argc, argv)) {
        if (argc == 1)
            std::cerr << app.help();
        else
            std::cerr << "kernelet: there is no command '" << argv[1]
                      << "'; there are fit, predict, inspect, cross-validate, export and report\n";
        return wrong_usage;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? done : wrong_usage;
    }
    return commands.code();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::cerr << "kernelet: not enough memory\n";
    } catch (const std::exception& error) {
        std::cerr << "kernelet: " << in_words_of_the_command(error.what()) << "\n";
    }
    return command::wrong_input;
}
