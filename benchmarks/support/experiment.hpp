#pragma once

#include "signals.hpp"

#include <kernelet/detail/parallel.hpp>
#include <kernelet/observers.hpp>

#ifdef KERNELET_BENCHMARKS_CLI11
#include <CLI/CLI.hpp>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

/// The settings of every experiment of the paper: realisations, threads, and the folder of its files.
namespace bench {

/// How many realisations there are by default, how many of those for Algorithm 1, which is slow, and how many
/// with --full: as many as the paper has.
struct Counts {
    int reduced{};
    int of_algorithm_one{};
    int paper{};
};

/// Reads the command line; then the current folder is the one for the files. Ends the program where the line
/// is a request for help or is wrong.
class Experiment {
public:
    Experiment(int argc, char** argv, const std::string& about, const Counts& counts) {
        Line line;
        parse(argc, argv, about, line);
        const int all = line.full ? counts.paper : counts.reduced;
        realisations_ = line.realisations > 0 ? line.realisations : all;
        algorithm_one_ = std::min(realisations_, line.algorithm_one > 0 ? line.algorithm_one
                                                 : line.full            ? counts.paper
                                                                        : counts.of_algorithm_one);
#ifdef _OPENMP
        if (line.threads > 0) omp_set_num_threads(line.threads);
#endif
        std::filesystem::create_directories(line.output);
        std::filesystem::current_path(line.output);
        std::printf("%s\n%d realisations, %d of them for Algorithm 1; --full: %d\n", about.c_str(),
                    realisations_, algorithm_one_, counts.paper);
    }

    int realisations() const { return realisations_; }
    /// Those on which Algorithm 1 runs as well: the first.
    int algorithm_one() const { return algorithm_one_; }

    /// body(slot, seed) for so many realisations, slot = 0, 1, ... and seed = slot + 1, on all threads, with
    /// a bar on the terminal. Each body writes only to its own slot: results do not depend on the
    /// number of threads.
    template <class Body>
    static void repeat(std::string_view what, int count, const Body& body) {
        kernelet::ProgressBar bar(std::cerr);
        const bool seen = on_terminal();
        const double start = seconds();
        std::mutex drawing;
        Index done = 0;
        kernelet::detail::parallel_for(count, [&](Index k) {
            body(static_cast<std::size_t>(k), static_cast<std::uint64_t>(k) + 1);
            const std::lock_guard<std::mutex> alone(drawing);
            if (seen)
                bar({what, done++, count, 0.0, std::numeric_limits<double>::infinity(), seconds() - start});
        });
    }

private:
    struct Line {
        int realisations = 0, algorithm_one = 0, threads = 0;  // 0: not given
        std::string output = ".";
        bool full = false;
    };
    struct Number {
        const char* name;
        int Line::*field;
        const char* what;
    };
    static constexpr Number numbers[] = {
        {"--realisations", &Line::realisations, "how many realisations of each signal"},
        {"--algorithm-one", &Line::algorithm_one, "on how many of them Algorithm 1 is run as well"},
        {"--threads", &Line::threads, "OpenMP threads; the results do not depend on it"}};
    static constexpr const char* output_what = "folder for tables and pictures, made where it is not there";
    static constexpr const char* full_what = "as many realisations as in the paper";

    static bool on_terminal() {
#if __has_include(<unistd.h>)
        return isatty(STDERR_FILENO) != 0;
#else
        return false;
#endif
    }

#ifdef KERNELET_BENCHMARKS_CLI11
    static void parse(int argc, char** argv, const std::string& about, Line& line) {
        constexpr int most = 1'000'000;
        CLI::App app(about);
        for (const Number& number : numbers)
            app.add_option(number.name, line.*number.field, number.what)->check(CLI::Range(1, most));
        app.add_option("--output", line.output, output_what);
        app.add_flag("--full", line.full, full_what);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            std::exit(app.exit(error));
        }
    }
#else
    static void parse(int argc, char** argv, const std::string& about, Line& line) {
        for (int k = 1; k < argc; ++k) {
            const std::string_view name = argv[k];
            const char* value = k + 1 < argc ? argv[k + 1] : nullptr;
            const auto* number = std::find_if(std::begin(numbers), std::end(numbers),
                                              [&](const Number& n) { return name == n.name; });
            if (name == "--full") {
                line.full = true;
                continue;
            }
            if (name == "--output" && value != nullptr)
                line.output = value;
            else if (number != std::end(numbers) && value != nullptr && std::atoi(value) > 0)
                line.*number->field = std::atoi(value);
            else
                usage(about, name == "--help" ? 0 : 2);
            ++k;
        }
    }

    [[noreturn]] static void usage(const std::string& about, int status) {
        std::fprintf(stderr, "%s\n", about.c_str());
        for (const Number& number : numbers)
            std::fprintf(stderr, "  %s N (at least 1): %s\n", number.name, number.what);
        std::fprintf(stderr, "  --output FOLDER: %s\n  --full: %s\n", output_what, full_what);
        std::exit(status);
    }
#endif

    int realisations_{}, algorithm_one_{};
};

}  // namespace bench
