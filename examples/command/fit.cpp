#include "commands.hpp"

#include <kernelet/validation.hpp>

#include <unistd.h>

#include <array>
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
                        ", and the target has " + (classes ? "labels" : "numbers"));
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
    return report.status == Status::converged || report.status == Status::kernel_limit ||
           report.status == Status::iteration_limit;
}

void say_where(const std::string& out) {
    if (out != "-") std::cerr << "kernelet: wrote " << out << "\n";
    if (interrupted != 0) std::cerr << "kernelet: stopped by ^C; what was written is the best model so far\n";
}

int fit_numbers(const FitRequest& request, const Table& table, const std::string& out) {
    auto fit = estimator_of(request, table).fit(table.x, table.y, observer_of(request));
    StoredModel stored{fit.model, description_of(request, table)};
    stored.about.report = lines_of(fit.report.full());
    stored.about.alpha = alpha_grid(fit.field, fit.model, table.x);
    save_model(out, stored);
    std::cerr << fit.report.brief() << "\n";
    say_where(out);
    return as_asked(fit.report) ? done : not_as_asked;
}

int fit_labels(const FitRequest& request, const Table& table, const std::string& out) {
    const auto fit = OneVsOne(estimator_of(request, table)).fit(table.x, table.labels, observer_of(request));
    StoredModel stored{fit.model, description_of(request, table)};
    bool all_as_asked = true;
    for (const auto& part : fit.reports) {
        stored.about.report.push_back(part.positive + " against " + part.negative.value_or("the rest"));
        for (const std::string& line : lines_of(part.report.full()))
            stored.about.report.push_back("  " + line);
        all_as_asked = all_as_asked && as_asked(part.report);
    }
    for (const std::string& warning : fit.warnings) std::cerr << "kernelet: " << warning << "\n";
    save_model(out, stored);
    std::cerr << fit.model.classes().size() << " classes, " << fit.model.size() << " kernels in all, "
              << fit.model.mean_kernels() << " per classifier; "
              << 100.0 * fit.model.accuracy(table.x, table.labels).share() << " % of the samples right\n";
    say_where(out);
    return all_as_asked && interrupted == 0 ? done : not_as_asked;
}

/// Per fold and over all, as the validation of numbers and of labels both have it.
template <class Result>
void print_folds(const Result& result, bool classes) {
    std::printf("fold  samples  kernels  %s\n", classes ? "share wrong" : "root mean squared error");
    const auto shown = [&](double score) { return classes ? score : std::sqrt(score); };
    for (std::size_t k = 0; k < result.folds.size(); ++k) {
        const auto& fold = result.folds[k];
        if (fold.finished)
            std::printf("%4zu  %7s  %7td  %.6g\n", k + 1, "", fold.kernels, shown(fold.score));
        else
            std::printf("%4zu  stopped\n", k + 1);
    }
    std::printf(" all  %7zu  %7.1f  %.6g\n", result.tested.size(), result.mean_kernels(),
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
        const bool late = limit && progress.seconds >= *limit;
        return interrupted != 0 || late ? Verdict::stop : Verdict::proceed;
    };
}

int fit(const FitRequest& request, const std::string& out) {
    const Table table = read_table(request);
    return table.classes ? fit_labels(request, table, out) : fit_numbers(request, table, out);
}

int cross_validate(const FitRequest& request, Index count, bool in_time) {
    const Table table = read_table(request);
    const Index n = table.x.cols();
    const Estimator estimator = estimator_of(request, table);
    if (!table.classes) {
        const Folds folds = in_time ? time_blocks(n, count, 0) : random_folds(n, count, request.seed);
        const auto result =
            kernelet::cross_validate(estimator, table.x, table.y, folds, observer_of(request));
        print_folds(result, false);
        Vector tested(static_cast<Index>(result.tested.size()));
        for (Index i = 0; i < tested.size(); ++i)
            tested(i) = table.y(result.tested[static_cast<std::size_t>(i)]);
        if (tested.size() > 1) std::printf("R squared %.4f\n", r_squared(result.predictions, tested));
        return result.stopped ? not_as_asked : done;
    }
    const Folds folds =
        in_time ? time_blocks(n, count, 0) : stratified_folds(table.labels, count, request.seed);
    const auto result =
        kernelet::cross_validate(OneVsOne(estimator), table.x, table.labels, folds, observer_of(request));
    print_folds(result, true);
    std::vector<std::string> truth;
    for (const Index i : result.tested) truth.push_back(table.labels[static_cast<std::size_t>(i)]);
    if (truth.empty()) return not_as_asked;
    const ConfusionMatrix<std::string> confusion(truth, result.predictions);
    std::printf("\nrows: true class, columns: predicted\n%20s", "");
    for (const std::string& name : confusion.classes()) std::printf(" %10.10s", name.c_str());
    for (std::size_t r = 0; r < confusion.classes().size(); ++r) {
        std::printf("\n%20.20s", confusion.classes()[r].c_str());
        for (std::size_t c = 0; c < confusion.classes().size(); ++c)
            std::printf(" %10td", confusion.count(r, c));
    }
    std::printf("\n");
    if (result.probabilities.size() > 0)
        std::printf("log loss %.4f\n", log_loss(result.probabilities, truth, result.classes));
    return result.stopped ? not_as_asked : done;
}

}  // namespace command
