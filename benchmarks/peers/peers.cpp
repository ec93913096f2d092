// Fits the same data with kernelet, its baselines, and LIBSVM and dlib where these were found: test error,
// kernels kept, seconds to tune and to fit, nanoseconds per predicted point, from one run. Every library gets
// inputs scaled to mean zero and deviation one on the training part. Fits run side by side, each on one
// thread (but for what a library does by itself); predictions are timed afterwards, one after the other.
// Usage: peers [folder of the data = ../shared/data and the like] [reduced: each data set once, on few
// samples]

#include "peer.hpp"

#include "../support/signals.hpp"
#include "../support/tables.hpp"

#include <kernelet/detail/parallel.hpp>
#include <kernelet/domains/input_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using namespace peers;

struct Trial {
    Samples train{}, test{};
};

struct DataSet {
    std::string name{};
    std::string measured{};  // what the error is
    std::vector<Trial> trials{};
};

Trial scaled(Trial trial) {
    const auto scaling = kernelet::InputScaling::standard(trial.train.x);
    trial.train.x = scaling.to_internal(trial.train.x);
    trial.test.x = scaling.to_internal(trial.test.x);
    return trial;
}

DataSet chirp() {
    constexpr Index samples = 201, grid = 1001, realisations = 3;
    DataSet set{"chirp", "RMS error against the clean signal, 3 realisations", {}};
    for (Index r = 1; r <= realisations; ++r) {
        const bench::Data data = bench::regression(samples, 1, static_cast<std::uint64_t>(r));
        const Vector x = Vector::LinSpaced(grid, -5.0, 5.0);
        const Vector clean = (0.5 * std::numbers::pi * x.array().square()).sin();
        set.trials.push_back(scaled({{data.x, data.y}, {x.transpose(), clean}}));
    }
    return set;
}

/// The first so many of five folds.
DataSet folds_of_table(std::string name, std::string measured, const Samples& all, int used) {
    constexpr int folds = 5;
    const kernelet::Folds parts = all.classes ? kernelet::stratified_folds(all.y, folds, 1)
                                              : kernelet::random_folds(all.size(), folds, 1);
    DataSet set{std::move(name), std::move(measured), {}};
    for (int f = 0; f < used; ++f) {
        const kernelet::Split split = parts.split(f);
        set.trials.push_back(scaled({all.part(split.train), all.part(split.test)}));
    }
    return set;
}

std::vector<DataSet> data_sets(const std::optional<std::string>& folder) {
    std::vector<DataSet> sets{chirp()};
    const auto add = [&](const char* file, const char* source, bool classes, int used, const char* name,
                         const char* measured) {
        std::string path = folder.value_or("") + "/" + file;
        char* arguments[] = {nullptr, path.data()};
        const auto table = bench::table_or_skip(folder ? 2 : 1, arguments, file, source);
        if (!table) return;
        const Index d = table->rows() - 1;
        Samples all{table->topRows(d), table->row(d).transpose(), classes};
        if (!classes) all.y = (all.y.array() - all.y.mean()) / all.deviation();
        sets.push_back(folds_of_table(name, measured, all, used));
    };
    add("mcycle.csv", "R's package MASS (data set mcycle)", false, 5, "mcycle",
        "RMS error in deviations of the target, 5 folds");
    add("airfoil.csv", "the UCI repository (Airfoil Self-Noise)", false, 1, "airfoil",
        "RMS error in deviations of the target, one fifth left out");
    add("wifi_localization.txt", "the UCI repository (Wireless Indoor Localization)", true, 1, "rooms",
        "% wrong, one fifth left out");
    add("banana.csv", "the KEEL repository (data set banana)", true, 1, "banana",
        "% wrong, one fifth left out");
    return sets;
}

/// For a look that does not wait for the slowest: one trial each, on so few samples.
void reduce(std::vector<DataSet>& sets) {
    constexpr Index most_samples = 200;
    for (DataSet& set : sets) {
        set.trials.resize(1);
        set.trials.front().train = set.trials.front().train.at_most(most_samples);
        set.measured += kernelet::detail::text("; reduced: the first of them, at most ", most_samples,
                                               " samples to train");
    }
}

/// One peer on one trial.
struct Outcome {
    double error_sum{}, tuning{}, seconds{};
    Index trained_on{};
    Setting setting{};
    std::optional<Fitted> fitted{};
    std::string failure{};
};

Outcome run(const Peer& peer, const Trial& trial) {
    Outcome outcome;
    try {
        const Samples train = trial.train.at_most(peer.most_samples);
        outcome.trained_on = train.size();
        double start = bench::seconds();
        outcome.setting = peer.choose(train);
        outcome.tuning = bench::seconds() - start;
        start = bench::seconds();
        outcome.fitted = peer.fit(train, outcome.setting);
        outcome.seconds = bench::seconds() - start;
        outcome.error_sum = error_sum(trial.test, outcome.fitted->predict(trial.test.x));
    } catch (const std::exception& problem) {
        outcome.failure = problem.what();
    }
    return outcome;
}

/// Nanoseconds per point: the fastest of many predictions of all points, which other work on the machine
/// disturbs least.
double nanoseconds(const Prediction& predict, Index points) {
    constexpr double least_seconds = 0.1;
    constexpr int least_runs = 5;
    double fastest = std::numeric_limits<double>::infinity();
    const double start = bench::seconds();
    for (int runs = 0; runs < least_runs || bench::seconds() - start < least_seconds; ++runs) {
        const double before = bench::seconds();
        const Vector values = predict();
        fastest = std::min(fastest, bench::seconds() - before);
    }
    return 1e9 * fastest / static_cast<double>(points);
}

/// A line of the table: means over the trials.
struct Row {
    std::string name{};
    double error{}, kernels{}, distinct{}, tuning{}, seconds{}, block{}, single{};
};

std::string text_of(const Setting& setting) {
    std::string text;
    const auto add = [&](const char* name, double value) {
        if (value > 0.0) text += kernelet::detail::text(text.empty() ? "" : ", ", name, " ", value);
    };
    add("width", setting.width);
    add("C", setting.cost);
    add("tube", setting.epsilon);
    add("ridge", setting.ridge);
    add("kernels", static_cast<double>(setting.kernels));
    return text;
}

Row row_of(const Peer& peer, const DataSet& set, const std::vector<Outcome>& outcomes) {
    Row row{.name = peer.name};
    const auto trials = static_cast<double>(outcomes.size());
    double sum = 0.0;
    Index points = 0;
    for (std::size_t t = 0; t < outcomes.size(); ++t) {
        const Outcome& outcome = outcomes[t];
        const Matrix& x = set.trials[t].test.x;
        sum += outcome.error_sum;
        points += x.cols();
        row.kernels += outcome.fitted->kernels / trials;
        row.distinct += static_cast<double>(outcome.fitted->distinct) / trials;
        row.tuning += outcome.tuning / trials;
        row.seconds += outcome.seconds / trials;
        const double block = nanoseconds(outcome.fitted->prepare(x), x.cols());
        const auto& single = outcome.fitted->prepare_single;
        row.block += block / trials;
        row.single += (single ? nanoseconds(single(x), x.cols()) : block) / trials;
    }
    const double mean = sum / static_cast<double>(points);
    row.error = set.trials.front().test.classes ? 100.0 * mean : std::sqrt(mean);
    return row;
}

std::vector<Row> print_table(const DataSet& set, const std::vector<Peer>& all,
                             const std::vector<std::vector<Outcome>>& outcomes) {
    const Trial& first = set.trials.front();
    std::printf("\n%s: %ld samples to train, %ld to test, %ld inputs; error: %s\n", set.name.c_str(),
                static_cast<long>(first.train.size()), static_cast<long>(first.test.size()),
                static_cast<long>(first.train.x.rows()), set.measured.c_str());
    std::printf("| %-13s | %8s | %8s | %8s | %8s | %8s | %9s | %9s | %s\n", "method", "error", "kernels",
                "distinct", "tune s", "fit s", "ns block", "ns single", "setting, first trial |");
    std::printf("|---|---|---|---|---|---|---|---|---|\n");
    std::vector<Row> rows;
    for (std::size_t p = 0; p < all.size(); ++p) {
        const Outcome& shown = outcomes[p].front();
        for (const Outcome& outcome : outcomes[p])
            if (!outcome.fitted) {
                std::printf("| %-13s | failed: %s |\n", all[p].name.c_str(), outcome.failure.c_str());
                break;
            }
        if (std::any_of(outcomes[p].begin(), outcomes[p].end(), [](const Outcome& o) { return !o.fitted; }))
            continue;
        const Row row = rows.emplace_back(row_of(all[p], set, outcomes[p]));
        const std::string limit = shown.trained_on < first.train.size()
                                      ? kernelet::detail::text("; trained on ", shown.trained_on, " samples")
                                      : "";
        std::printf("| %-13s | %8.4f | %8.1f | %8.1f | %8.2f | %8.2f | %9.0f | %9.0f | %s%s |\n",
                    row.name.c_str(), row.error, row.kernels, row.distinct, row.tuning, row.seconds,
                    row.block, row.single, text_of(shown.setting).c_str(), limit.c_str());
        std::fflush(stdout);
    }
    return rows;
}

/// A line for every peer with at most the same error, or smaller or faster. The first row is kernelet.
void print_better_peers(const DataSet& set, const std::vector<Row>& rows) {
    if (rows.empty() || rows.front().name != "kernelet") return;
    const Row& ours = rows.front();
    const auto compared = [](const char* what, double mine, double other, const char* unit) {
        return kernelet::detail::text(mine < other ? "" : "NOT ", what, " (", std::round(10.0 * mine) / 10.0,
                                      unit, " against ", std::round(10.0 * other) / 10.0, ")");
    };
    for (const Row& row : rows) {
        const bool ahead = ours.error < row.error && ours.distinct < row.distinct && ours.block < row.block &&
                           ours.single < row.single;
        if (&row == &ours || ahead) continue;
        std::printf("%s: %s errs by %.4g, kernelet by %.4g; kernelet: %s, %s, %s\n", set.name.c_str(),
                    row.name.c_str(), row.error, ours.error,
                    compared("fewer kernels", ours.distinct, row.distinct, "").c_str(),
                    compared("faster in blocks", ours.block, row.block, " ns a point").c_str(),
                    compared("faster point by point", ours.single, row.single, " ns").c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Peer> all = of_kernelet();
    [[maybe_unused]] const auto append = [&](const std::vector<Peer>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
#ifdef KERNELET_BENCHMARKS_LIBSVM
    append(of_libsvm());
#else
    std::printf("LIBSVM left out: not found when this was built (libsvm-dev, libsvm-devel)\n");
#endif
#ifdef KERNELET_BENCHMARKS_DLIB
    append(of_dlib());
#else
    std::printf("dlib left out: not found when this was built (libdlib-dev, dlib-devel)\n");
#endif
    // Methods named on the command line, or else all.
    const auto named = [&](const Peer& peer) {
        return std::find(argv + 1, argv + argc, peer.name) != argv + argc;
    };
    if (std::any_of(all.begin(), all.end(), named)) std::erase_if(all, std::not_fn(named));
    const bool reduced = bench::reduced(argc, argv);
    std::vector<DataSet> sets = data_sets(argc > 1 ? std::optional<std::string>(argv[1]) : std::nullopt);
    if (reduced) reduce(sets);
    const double start = bench::seconds();

    struct Task {
        std::size_t set{}, peer{}, trial{};
    };
    std::vector<Task> tasks;
    std::vector<std::vector<std::vector<Outcome>>> outcomes(sets.size());
    for (std::size_t s = 0; s < sets.size(); ++s) {
        outcomes[s].assign(all.size(), std::vector<Outcome>(sets[s].trials.size()));
        for (std::size_t p = 0; p < all.size(); ++p)
            for (std::size_t t = 0; t < sets[s].trials.size(); ++t) tasks.push_back({s, p, t});
    }
    std::reverse(tasks.begin(), tasks.end());  // the large sets first, so that no core waits at the end
    kernelet::detail::parallel_for(static_cast<Index>(tasks.size()), [&](Index k) {
        const Task& task = tasks[static_cast<std::size_t>(k)];
        Outcome& outcome = outcomes[task.set][task.peer][task.trial];
        outcome = run(all[task.peer], sets[task.set].trials[task.trial]);
        std::fprintf(stderr, "%5.0f s: %s, %s, %.1f s to tune, %.1f s to fit %s\n", bench::seconds() - start,
                     sets[task.set].name.c_str(), all[task.peer].name.c_str(), outcome.tuning,
                     outcome.seconds, outcome.failure.c_str());
    });

#ifdef _OPENMP
    omp_set_num_threads(1);  // a point's price, not the machine's width
#endif
    for (const Peer& peer : all) std::printf("%s, tuned: %s\n", peer.name.c_str(), peer.tuning.c_str());
    std::vector<std::vector<Row>> rows;
    for (std::size_t s = 0; s < sets.size(); ++s) rows.push_back(print_table(sets[s], all, outcomes[s]));
    std::printf("\nWhere kernelet is not better in every respect\n");
    for (std::size_t s = 0; s < sets.size(); ++s) print_better_peers(sets[s], rows[s]);
    std::fprintf(stderr, "%.0f s in all\n", bench::seconds() - start);
    return 0;
}
