// Fits to many samples: seconds, kernels, error against the clean function and peak memory, one line each. Linux only:
// reads /proc/self/status. What sh cmake/run.sh scale makes a table of.
//   scale memory <problem> <n> [seed]   chirp, bumps2 or bumps3 in matrices
//   scale file <n> <path>               bumps2 in a file of floats, which is written first if it is not there
//   scale spirals <n>                   two classes, logistic loss

#include "../support/signals.hpp"
#include "problems.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

/// A line of /proc/self/status in MB.
double status_megabytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind(name, 0) == 0) return std::atof(line.c_str() + name.size() + 1) / 1024.0;
    return 0.0;
}

/// Root of the mean squared error against the clean function, at points that were not fitted.
template <class Model>
double error_of(const Model& model, const bench::Regression& problem, Index behind) {
    constexpr Index points = 100000;
    Matrix x(problem.dimension(), points);
    Vector clean(points);
    for (Index i = 0; i < points; ++i) {
        problem.x(behind + i, &x(0, i));
        clean(i) = problem.clean(&x(0, i));
    }
    return std::sqrt((model.predict(x).col(0) - clean).squaredNorm() / static_cast<double>(points));
}

int in_memory(const std::string& name, Index n, std::uint64_t seed) {
    const bench::Regression problem(name, seed);
    Matrix x(problem.dimension(), n);
    Vector y(n);
    for (Index i = 0; i < n; ++i) {
        problem.x(i, &x(0, i));
        y(i) = problem.clean(&x(0, i)) + problem.noise(i);
    }
    const double data = static_cast<double>(n * (problem.dimension() + 1)) * 8.0 / 1048576.0;
    const double before = status_megabytes("VmHWM:"), start = bench::seconds();
    const auto fit = SparseKernelEstimator<>().fit(x, y);
    const double seconds = bench::seconds() - start, peak = status_megabytes("VmHWM:");
    std::printf("%s %ld seconds %.3f kernels %ld error %.4g data %.1f before %.1f peak %.1f\n", name.c_str(),
                static_cast<long>(n), seconds, static_cast<long>(fit.model.size()),
                error_of(fit.model, problem, n), data, before, peak);
    return 0;
}

void write_file(const bench::Regression& problem, Index n, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    std::vector<float> block;
    for (Index i = 0; i < n; ++i) {
        double x[3];
        problem.x(i, x);
        block.push_back(static_cast<float>(x[0]));
        block.push_back(static_cast<float>(x[1]));
        block.push_back(static_cast<float>(problem.clean(x) + problem.noise(i)));
        if (block.size() >= 300000 || i + 1 == n) {
            file.write(reinterpret_cast<const char*>(block.data()),
                       static_cast<std::streamsize>(block.size() * sizeof(float)));
            block.clear();
        }
    }
}

int from_file(Index n, const std::string& path) {
    const bench::Regression problem("bumps2", 1);
    if (!std::ifstream(path)) write_file(problem, n, path);
    const RawFile<float> source(path, {.dimension = 2});
    // The time left that the progress bar shows, and the true one.
    double at_half = -1.0, said = 0.0;
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<>().fit(source, [&](const Progress& progress) {
        if (at_half < 0.0 && progress.fraction >= 0.5) {
            at_half = progress.seconds;
            said = progress.seconds_left;
        }
        return Verdict::proceed;
    });
    const double seconds = bench::seconds() - start;
    std::printf("file %ld seconds %.3f kernels %ld error %.4g peak %.1f left_said %.2f left_was %.2f\n",
                static_cast<long>(source.size()), seconds, static_cast<long>(fit.model.size()),
                error_of(fit.model, problem, n), status_megabytes("VmHWM:"), said, seconds - at_half);
    return 0;
}

int spirals(Index n) {
    const bench::Spirals problem(1);
    Matrix x(2, n);
    Vector y(n);
    for (Index i = 0; i < n; ++i) {
        problem.x(i, &x(0, i));
        y(i) = bench::Spirals::label(i);
    }
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<Gaussian, LogisticLoss>().fit(x, y);
    const double seconds = bench::seconds() - start;
    constexpr Index points = 200000;
    Matrix test(2, points);
    for (Index i = 0; i < points; ++i) problem.x(n + i, &test(0, i));
    const Vector decision = fit.model.predict(test);
    double wrong = 0.0, best = 0.0;
    for (Index i = 0; i < points; ++i) {
        const bool positive = bench::Spirals::label(n + i) > 0.0;
        wrong += (decision(i) >= 0.0) == positive ? 0.0 : 1.0;
        best += bench::Spirals::positive(&test(0, i)) == positive ? 0.0 : 1.0;
    }
    std::printf("spirals %ld seconds %.3f kernels %ld wrong %.4f best %.4f percent\n", static_cast<long>(n),
                seconds, static_cast<long>(fit.model.size()), 100.0 * wrong / points, 100.0 * best / points);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](std::size_t k) { return static_cast<Index>(std::atof(words[k].c_str())); };
    if (words.size() >= 3 && words[0] == "memory")
        return in_memory(words[1], number(2), words.size() > 3 ? static_cast<std::uint64_t>(number(3)) : 1);
    if (words.size() == 3 && words[0] == "file") return from_file(number(1), words[2]);
    if (words.size() == 2 && words[0] == "spirals") return spirals(number(1));
    std::printf("usage: scale memory <chirp|bumps2|bumps3> <n> [seed] | file <n> <path> | spirals <n>\n");
    return words.empty() ? 0 : 1;
}
