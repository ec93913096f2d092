// How long the kernelet command takes to read a table of 1e6 rows and 10 columns, and the time of the least work of
// any reader: count the lines as `wc -l` does, and call std::from_chars on every number. Usage: csv [rows] [columns]
// Each is run five times, in turn; the best of each counts. The reference keeps neither the text nor the numbers.

#include "../../examples/command/csv.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

/// A file that is removed at the end.
struct TemporaryFile {
    std::string path =
        (std::filesystem::temp_directory_path() / ("kernelet_csv_" + std::to_string(getpid()) + ".csv"))
            .string();
    TemporaryFile() = default;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::remove(path.c_str()); }
};

/// Numbers of eight significant digits between -10 and 10, by a linear congruential generator.
std::string table(long rows, long columns) {
    std::string text;
    for (long c = 0; c < columns; ++c) text += (c > 0 ? ",c" : "c") + std::to_string(c + 1);
    std::uint64_t state = 1;
    char buffer[32];
    for (long i = 0; i < rows * columns; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double value = static_cast<double>(static_cast<std::int64_t>(state)) * 10.0 / 9.2e18;
        std::snprintf(buffer, sizeof buffer, "%.8g", value);
        (text += i % columns == 0 ? '\n' : ',') += buffer;
    }
    return text + '\n';
}

void write(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
        std::fclose(file) != 0) {
        std::fprintf(stderr, "csv: cannot write %s\n", path.c_str());
        std::exit(1);
    }
}

/// Seconds: of the clock, in user mode, and in user and system mode.
struct Seconds {
    double wall = std::numeric_limits<double>::infinity(), user = wall, cpu = wall;

    static Seconds now() {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        const std::chrono::duration<double> clock = std::chrono::steady_clock::now().time_since_epoch();
        return {clock.count(), seconds(used.ru_utime), seconds(used.ru_utime) + seconds(used.ru_stime)};
    }
    void keep_best(const Seconds& from, const Seconds& to) {
        wall = std::min(wall, to.wall - from.wall);
        user = std::min(user, to.user - from.user);
        cpu = std::min(cpu, to.cpu - from.cpu);
    }
};

/// Counts the lines of a file block by block, as `wc -l` does.
long count_lines(const std::string& path) {
    static char block[std::size_t{1} << 18];
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return 0;
    std::setvbuf(file, nullptr, _IONBF, 0);
    long lines = 0;
    for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;)
        for (const char *at = block, *end = block + got;; ++at) {
            at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
            if (at == nullptr) break;
            ++lines;
        }
    std::fclose(file);
    return lines;
}

/// Every number of the text behind its first line.
double sum_of_numbers(const std::string& text) {
    const char *at = text.data() + text.find('\n') + 1, *end = text.data() + text.size();
    double sum = 0.0, value = 0.0;
    for (; at < end; ++at) {
        at = std::from_chars(at, end, value).ptr;
        sum += value;
    }
    return sum;
}

double sum_of_table(const std::string& path) {
    const command::CsvFile file(path, {});
    command::CsvColumns all;
    all.inputs.resize(file.columns());
    std::iota(all.inputs.begin(), all.inputs.end(), std::size_t{0});
    const Eigen::MatrixXd x = file.read(all).inputs;
    return x(0, 0) + x(x.rows() - 1, x.cols() - 1);
}

void print(const char* what, const Seconds& took) {
    std::printf("%-24s %8.3f %8.3f %12.3f\n", what, took.wall, took.user, took.cpu);
}

}  // namespace

int main(int argc, char** argv) {
    const long rows = argc > 1 ? std::atol(argv[1]) : 1000000, columns = argc > 2 ? std::atol(argv[2]) : 10;
    if (rows < 2 || columns < 1) {
        std::fprintf(stderr, "usage: csv [rows] [columns]\n");
        return 2;
    }
    const std::string text = table(rows, columns);
    const TemporaryFile file;
    write(file.path, text);

    constexpr int repetitions = 5;
    Seconds command, reference, lines_alone;
    double check = 0.0;
    for (int k = 0; k < repetitions; ++k) {
        const Seconds begin = Seconds::now();
        check += sum_of_table(file.path);
        const Seconds read = Seconds::now();
        if (count_lines(file.path) != rows + 1) return 1;
        const Seconds counted = Seconds::now();
        check += sum_of_numbers(text);
        const Seconds end = Seconds::now();
        command.keep_best(begin, read);
        lines_alone.keep_best(read, counted);
        reference.keep_best(read, end);
    }
    std::printf("%ld rows x %ld columns, %.1f MB; best of %d (check %.3g)\n\n", rows, columns,
                1e-6 * static_cast<double>(text.size()), repetitions, check);
    std::printf("%-24s %8s %8s %12s\n", "seconds", "wall", "user", "user+system");
    print("kernelet command", command);
    print("wc -l and from_chars", reference);
    print("  wc -l of these", lines_alone);
    std::printf("%-24s %8.2f %8.2f %12.2f   (asked: at most 2)\n", "ratio", command.wall / reference.wall,
                command.user / reference.user, command.cpu / reference.cpu);
    std::printf("%.0f MB per second, %.2g rows per second\n",
                1e-6 * static_cast<double>(text.size()) / command.wall,
                static_cast<double>(rows) / command.wall);
}
