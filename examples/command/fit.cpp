#include "commands.hpp"
#include "text.hpp"

#include <kernelet/validation.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>

namespace command {

namespace {

using namespace kernelet;

volatile std::sig_atomic_t interrupted = 0;
std::atomic<bool> out_of_time = false;

extern "C" void on_interrupt(int signal) {
    interrupted = 1;
    std::signal(signal, SIG_DFL);
}

AnyLoss loss_of(const std::string& name, bool classes) {
    const std::string wanted = name.empty() ? (classes ? "logistic" : "squared") : name;
    const AnyLoss loss = [&]() -> AnyLoss {
        if (wanted == "squared") return SquaredLoss{};
        if (wanted == "huber") return HuberLoss{};
        if (wanted == "epsilon_insensitive") return EpsilonInsensitiveLoss{};
        if (wanted == "quantile") return QuantileLoss{};
        if (wanted == "logistic") return LogisticLoss{};
        if (wanted == "hinge") return HingeLoss{};
        throw UserError(
            "no loss is called '" + wanted +
            "'; there are squared huber epsilon_insensitive quantile for numbers, logistic hinge for "
            "classes");
    }();
    if (loss.is_classification() != classes)
        throw UserError("the loss " + wanted + " is for " + (classes ? "numbers" : "classes") +
                        ", and the target has " + (classes ? "labels" : "numbers") + "; see " +
                        (classes ? "--regression" : "--classes"));
    return loss;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) out.push_back(line);
    return out;
}

/// α on a grid that spans the centers and the widths of the model, with room around.
AlphaGrid alpha_grid(const CoefficientField<AnyKernel>& field, const Regression& model, const Matrix& x) {
    AlphaGrid grid;
    if (model.dimension() != 1 || model.outputs() != 1 || model.size() == 0 || model.widths().rows() != 1)
        return grid;
    constexpr Index centers = 160, widths = 60;
    constexpr double room = 2.5;
    grid.z_lo = x.minCoeff();
    grid.z_hi = x.maxCoeff();
    grid.w_lo = model.widths().minCoeff() / room;
    grid.w_hi = model.widths().maxCoeff() * room;
    grid.values.resize(widths, centers);
    for (Index i = 0; i < widths; ++i)
        for (Index j = 0; j < centers; ++j) {
            const double at_w = static_cast<double>(i) / static_cast<double>(widths - 1),
                         at_z = static_cast<double>(j) / static_cast<double>(centers - 1);
            grid.values(i, j) = field(grid.z_lo + at_z * (grid.z_hi - grid.z_lo),
                                      grid.w_lo * std::pow(grid.w_hi / grid.w_lo, at_w));
        }
    return grid;
}

Description description_of(const FitRequest& request, const Table& table) {
    Description about;
    about.made_by = request.made_by;
    about.target = table.target;
    about.inputs = table.inputs;
    return about;
}

bool as_asked(const Report& report) {
    const bool ended = report.status == Status::converged || report.status == Status::kernel_limit ||
                       report.status == Status::iteration_limit;
    return ended && !(report.tolerance_given && report.model_violation > 0.0);
}

/// For the page and for JSON.
Certificate certificate_of(const Report& report, std::string of) {
    return {
        std::move(of),           std::string(to_string(report.status)),
        report.kernels,          report.certified,
        report.residual,         report.solved_tolerance > 0.0 ? report.solved_tolerance : report.tolerance,
        report.dual_value,       report.primal_value,
        report.max_violation,    report.support_measure,
        report.integration_error};
}

/// On the standard error: what ended the work before it was done, and what there is of it.
void print_stop(const std::string& what_there_is) {
    if (interrupted != 0) std::cerr << "kernelet: stopped by ^C; " << what_there_is << "\n";
    if (out_of_time && interrupted == 0)
        std::cerr << "kernelet: stopped by --time-limit; " << what_there_is << "\n";
}

void print_outcome(const std::string& out) {
    if (out != "-") std::cerr << "kernelet: wrote " << out << "\n";
    print_stop("what was written is the best model so far");
}

/// A model that is the same everywhere is seldom what was wanted.
void print_if_constant(const Table& table, const Regression& model) {
    if (model.size() > 0) return;
    if (table.y.minCoeff() == table.y.maxCoeff())
        std::cerr << "kernelet: the target '" << table.target << "' is " << table.y(0) << " in all rows\n";
    std::cerr << "kernelet: the model has no kernels; what it predicts is a constant or a linear trend\n";
}

int fit_numbers(const FitRequest& request, const Table& table, const std::string& out) {
    auto fit = estimator_of(request, table).fit(table.x, table.y, observer_of(request));
    StoredModel stored{fit.model, description_of(request, table)};
    stored.about.report = lines_of(fit.report.full());
    stored.about.certificates = {certificate_of(fit.report, "")};
    stored.about.alpha = alpha_grid(fit.field, fit.model, table.x);
    save_model(out, stored);
    std::cerr << fit.report.brief() << "\n";
    print_if_constant(table, fit.model);
    print_outcome(out);
    return as_asked(fit.report) ? done : not_as_asked;
}

void print_warnings(const std::vector<std::string>& warnings) {
    constexpr std::size_t most = 10;
    for (std::size_t k = 0; k < std::min(most, warnings.size()); ++k)
        std::cerr << "kernelet: " << warnings[k] << "\n";
    if (warnings.size() > most) std::cerr << "kernelet: and " << warnings.size() - most << " more warnings\n";
}

/// OneVsOne, or OneVsRest where the pairs of classes are too many.
template <class Ensemble>
int fit_labels(const FitRequest& request, const Table& table, const std::string& out) {
    const auto fit = Ensemble(estimator_of(request, table)).fit(table.x, table.labels, observer_of(request));
    StoredModel stored{fit.model, description_of(request, table)};
    bool all_as_asked = true;
    for (const auto& part : fit.reports) {
        const std::string pair = part.positive + " against " + part.negative.value_or("the rest");
        stored.about.certificates.push_back(certificate_of(part.report, pair));
        stored.about.report.push_back(pair);
        for (const std::string& line : lines_of(part.report.full()))
            stored.about.report.push_back("  " + line);
        all_as_asked = all_as_asked && as_asked(part.report);
    }
    print_warnings(fit.warnings);
    save_model(out, stored);
    std::cerr << fit.model.classes().size() << " classes, " << counted(fit.model.size(), "kernel")
              << " in all, " << number_text(fit.model.mean_kernels(), "%.3g") << " per classifier; "
              << number_text(100.0 * fit.model.accuracy(table.x, table.labels).share(), "%.2f")
              << " % of the rows predicted correctly\n";
    print_outcome(out);
    return all_as_asked && interrupted == 0 ? done : not_as_asked;
}

Index rows_of(const Folds& folds, std::size_t which) {
    return std::count(folds.numbers().begin(), folds.numbers().end(), static_cast<Index>(which));
}

/// Per fold and over all, as the validation of numbers and of labels both have it.
template <class Result>
void print_folds(const Result& result, const Folds& folds, bool classes) {
    std::printf("fold  rows  kernels  %s\n", classes ? "share wrong" : "root mean squared error");
    const auto shown = [&](double score) { return classes ? score : std::sqrt(score); };
    for (std::size_t k = 0; k < result.folds.size(); ++k) {
        const auto& fold = result.folds[k];
        if (fold.finished)
            std::printf("%4zu  %4td  %7td  %.6g\n", k + 1, rows_of(folds, k), fold.kernels,
                        shown(fold.score));
        else
            std::printf("%4zu  stopped\n", k + 1);
    }
    if (!result.tested.empty())
        std::printf(" all  %4zu  %7.1f  %.6g\n", result.tested.size(), result.mean_kernels(),
                    shown(result.score));
}

}  // namespace

void catch_interrupts() { std::signal(SIGINT, on_interrupt); }
bool was_interrupted() { return interrupted != 0; }

Estimator estimator_of(const FitRequest& request, const Table& table) {
    Options options;
    options.tolerance = request.tolerance;
    options.max_kernels = request.max_kernels;
    options.seed = request.seed;
    const std::string by_default(table.x.rows() == 1 ? Gaussian::name : AnisotropicGaussian::name);
    return Estimator(options, AutomaticSolver{},
                     kernel_of(request.kernel.empty() ? by_default : request.kernel),
                     loss_of(request.loss, table.classes));
}

ObserverFunction observer_of(const FitRequest& request) {
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const auto bar = std::make_shared<ProgressBar>(std::cerr);
    return [terminal, bar, limit = request.seconds](const Progress& progress) {
        if (terminal) (*bar)(progress);
        const bool late = limit && progress.seconds >= *limit && !progress.is_last();
        if (late) out_of_time = true;
        return interrupted != 0 || late ? Verdict::stop : Verdict::proceed;
    };
}

int fit(const FitRequest& request, const std::string& out) {
    if (out == "-" && isatty(STDOUT_FILENO) == 1)
        std::cerr << "kernelet: the model goes to the terminal; -o writes it to a file\n";
    check_writable(out);
    const Table table = read_table(request);
    catch_interrupts();
    if (!table.classes) return fit_numbers(request, table, out);
    return table.many_classes ? fit_labels<OneVsRest<Estimator>>(request, table, out)
                              : fit_labels<OneVsOne<Estimator>>(request, table, out);
}

namespace {

void print_confusion(const ConfusionMatrix<std::string>& confusion) {
    constexpr std::size_t most_classes = 30;
    if (confusion.classes().size() > most_classes) return;
    std::printf("\nrows: true class, columns: predicted\n%20s", "");
    for (const std::string& name : confusion.classes()) std::printf(" %10.10s", name.c_str());
    for (std::size_t r = 0; r < confusion.classes().size(); ++r) {
        std::printf("\n%20.20s", confusion.classes()[r].c_str());
        for (std::size_t c = 0; c < confusion.classes().size(); ++c)
            std::printf(" %10td", confusion.count(r, c));
    }
    std::printf("\n");
}

int validate_numbers(const FitRequest& request, const Table& table, const Folds& folds) {
    const auto result =
        kernelet::cross_validate(estimator_of(request, table), table.x, table.y, folds, observer_of(request));
    print_folds(result, folds, false);
    Vector tested(static_cast<Index>(result.tested.size()));
    for (Index i = 0; i < tested.size(); ++i) tested(i) = table.y(result.tested[static_cast<std::size_t>(i)]);
    if (tested.size() > 1) std::printf("R squared %.4f\n", r_squared(result.predictions, tested));
    return result.stopped ? not_as_asked : done;
}

template <class Ensemble>
int validate_labels(const FitRequest& request, const Table& table, const Folds& folds) {
    const auto result = kernelet::cross_validate(Ensemble(estimator_of(request, table)), table.x,
                                                 table.labels, folds, observer_of(request));
    print_folds(result, folds, true);
    std::vector<std::string> truth;
    for (const Index i : result.tested) truth.push_back(table.labels[static_cast<std::size_t>(i)]);
    if (truth.empty()) return not_as_asked;
    print_confusion(ConfusionMatrix<std::string>(truth, result.predictions));
    if (result.probabilities.size() > 0)
        std::printf("log loss %.4f\n", log_loss(result.probabilities, truth, result.classes));
    return result.stopped ? not_as_asked : done;
}

}  // namespace

int cross_validate(const FitRequest& request, Index count, bool in_time) {
    const Table table = read_table(request);
    catch_interrupts();
    const Index n = table.x.cols();
    if (count < 2 || count > n)
        throw UserError("--folds " + std::to_string(count) + " must be between 2 and the number of rows, " +
                        std::to_string(n));
    const Folds folds = in_time          ? time_blocks(n, count, 0)
                        : !table.classes ? random_folds(n, count, request.seed)
                                         : stratified_folds(table.labels, count, request.seed);
    const int code = !table.classes       ? validate_numbers(request, table, folds)
                     : table.many_classes ? validate_labels<OneVsRest<Estimator>>(request, table, folds)
                                          : validate_labels<OneVsOne<Estimator>>(request, table, folds);
    print_stop("only the folds that were finished count");
    return code;
}

}  // namespace command
