// Measures how fast a fit returns after a stop and how good the estimate of the time left is. Each fit runs five
// times with TimeLimit(0.5), of which the median counts, and once without a limit. There the time left that a
// progress bar shows is compared with the true one, at each report after the first fifth of the fit.
// usage: time_limit [seconds of the limit [verbose | others]]
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

/// The measurements of one run.
struct Run {
    double seconds{};
    Status status = Status::converged;
    Index kernels{};
    bool predicts = false;
};

using WatchedFit = std::function<Run(ObserverFunction)>;

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Bumps of several widths in d dimensions and noise of 0.05.
struct Bumps {
    Matrix x{};
    Vector y{};

    Bumps(Index d, Index n) : x(support::uniforms(d, n, 1, 0.0, 1.0)), y(0.05 * support::normals(n, 1, 2)) {
        constexpr Index bumps = 12;
        const Matrix centers = support::uniforms(d, bumps, 3, 0.1, 0.9);
        const Matrix widths = support::uniforms(1, bumps, 4, 0.08, 0.2);
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < bumps; ++j)
                y(i) += (j % 2 == 0 ? 1.0 : -1.0) *
                        std::exp(-0.5 * (x.col(i) - centers.col(j)).squaredNorm() / (widths(j) * widths(j)));
    }
};

/// Four classes in three dimensions whose clouds overlap.
struct Clouds {
    Matrix x{};
    std::vector<int> labels{};

    explicit Clouds(Index n) : x(support::normals(3, n, 5)) {
        for (Index i = 0; i < n; ++i) {
            const auto label = static_cast<int>(i % 4);
            x(0, i) += label % 2 == 0 ? -1.2 : 1.2;
            x(1, i) += label < 2 ? -1.2 : 1.2;
            x(2, i) += 0.5 * x(0, i) * x(1, i);
            labels.push_back(label);
        }
    }
};

WatchedFit regression(Index d, Index n) {
    return [data = Bumps(d, n)](const ObserverFunction& observer) {
        const double start = wall_seconds();
        const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(data.x, data.y, observer);
        return Run{wall_seconds() - start, fit.report.status, fit.model.size(),
                   fit.model.size() > 0 && fit.model.predict(data.x).allFinite()};
    };
}

WatchedFit ensemble(Index n) {
    return [data = Clouds(n)](const ObserverFunction& observer) {
        const double start = wall_seconds();
        const OneVsOne<SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>> pairs;
        const auto fit = pairs.fit(data.x, data.labels, observer);
        Run run{wall_seconds() - start, Status::converged, 0,
                static_cast<Index>(fit.model.predict(data.x).size()) == data.x.cols()};
        for (const auto& report : fit.reports) {
            run.kernels += report.kernels;
            if (report.report.status == Status::stopped) run.status = Status::stopped;
        }
        return run;
    };
}

void show_limit(const std::string& name, const WatchedFit& fit, double limit) {
    std::vector<Run> runs;
    for (int k = 0; k < 5; ++k) runs.push_back(fit(TimeLimit(limit)));
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.seconds < b.seconds; });
    const Run& median = runs[2];
    std::printf("%-28s limit %.2f s: median %.3f s (%.3f to %.3f), %s, %td kernels, %s\n", name.c_str(),
                limit, median.seconds, runs.front().seconds, runs.back().seconds,
                std::string(to_string(median.status)).c_str(), median.kernels,
                median.predicts ? "predicts" : "DOES NOT PREDICT");
    std::fflush(stdout);
}

/// The largest factor by which the time left was over- or underestimated, of what a bar that counts in tenths of a
/// second shows.
void show_time_left(const std::string& name, const WatchedFit& fit, bool verbose) {
    const History history;
    const Run run = fit(history);
    double worst = 1.0, worst_at = 0.0, longest_silence = 0.0, last = 0.0;
    constexpr double resolution = 0.1;
    for (const Progress& row : history.rows()) {
        longest_silence = std::max(longest_silence, row.seconds - last);
        last = row.seconds;
        const double left = run.seconds - row.seconds;
        if (verbose && row.iterations > 0)
            std::printf("  %-10s %3td/%3td %7.3f s  fraction %.3f  left %.2f, estimated %.2f\n",
                        std::string(row.stage).c_str(), row.iteration, row.iterations, row.seconds,
                        row.fraction, left, row.seconds_left);
        if (row.seconds < 0.2 * run.seconds) continue;
        const double ratio = (row.seconds_left + resolution) / (left + resolution);
        if (std::abs(std::log(ratio)) > std::abs(std::log(worst))) {
            worst = ratio;
            worst_at = row.seconds / run.seconds;
        }
    }
    std::printf(
        "%-28s no limit: %.2f s, %td kernels; time left off by a factor of %.2f at most (at %.0f %%); %td "
        "reports, %.3f s between two at most\n",
        name.c_str(), run.seconds, run.kernels, worst, 100.0 * worst_at,
        static_cast<Index>(history.rows().size()), longest_silence);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 0.5;
    const std::string mode = argc > 2 ? argv[2] : "";
    const bool verbose = mode == "verbose";
    std::vector<std::pair<std::string, WatchedFit>> fits{{"1500 samples in 3-D", regression(3, 1500)},
                                                         {"20 000 samples in 2-D", regression(2, 20000)},
                                                         {"six pairs of classes", ensemble(1600)}};
    if (mode == "others")
        fits = {{"600 samples in 5-D", regression(5, 600)},
                {"4000 samples in 2-D", regression(2, 4000)},
                {"3000 samples in 1-D", regression(1, 3000)},
                {"six larger pairs", ensemble(3200)}};
    for (const auto& [name, fit] : fits) show_limit(name, fit, limit);
    for (const auto& [name, fit] : fits) show_time_left(name, fit, verbose);
}
