// Random problems of extreme numbers, see benchmarks/support/stress_problem.hpp: all kernels, losses, scopes, domains and
// solvers, x and y from 1e-150 to 1e150, weights over 24 decades. Each must end within ten seconds of processor time, with a
// status, finite numbers, limits kept and a report that agrees with the data, or be refused by a std::invalid_argument
// that names what was passed. Every tenth is also an ordinary one, whose fit must scale exactly with powers of two.
// Usage: random_problems [first [behind [seed]]], by default the problems 0 to 999 of seed 1.

#include "../support/stress_checks.hpp"
#include "../support/stress_problem.hpp"
#include "support/random_problem.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace {

using namespace kernelet;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double slower = 30.0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr double slower = 30.0;
#else
constexpr double slower = 1.0;
#endif
#else
constexpr double slower = 1.0;
#endif
constexpr double most_seconds = 10.0 * slower;          // of a fit, of its own thread
constexpr double abort_seconds = 300.0 + most_seconds;  // of wall time, after which the program ends

/// Of the calling thread where the system counts them, so that other work on the machine does not count.
double thread_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
#else
    return 1e-9 * static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// How a problem ended: a status or a refusal, and what is wrong with that.
struct Ending {
    std::string outcome{};
    std::string defect{};
};

Ending solved(const bench::StressProblem& problem) {
    return std::visit(
        [&](const auto& kernel) -> Ending {
            using Kernel = std::decay_t<decltype(kernel)>;
            const SparseKernelEstimator<Kernel, AnyLoss, bench::StressSolver> estimator(
                problem.options, problem.solver, kernel, problem.loss);
            Index reports = 0;
            const auto observer = [&](const Progress& progress) {
                const bool stop =
                    problem.stop_after > 0 && !progress.is_last() && ++reports >= problem.stop_after;
                return stop ? Verdict::stop : Verdict::proceed;
            };
            const Fit<Kernel> fit = problem.domain ? estimator.fit(problem.samples, *problem.domain, observer)
                                                   : estimator.fit(problem.samples, observer);
            return {std::string(to_string(fit.report.status)), bench::defect_of(fit, problem)};
        },
        problem.kernel);
}

/// A refusal by its reason: numbers are left out.
std::string reason_of(std::string_view message) {
    std::string reason = "refused: ";
    for (std::size_t i = 0; i < message.size() && message[i] != ';'; ++i) {
        const bool digit = message[i] >= '0' && message[i] <= '9';
        if (!digit) reason += message[i];
        if (digit && reason.back() != '#') reason += '#';
    }
    return reason;
}

Ending ending_of(const bench::StressProblem& problem) {
    try {
        return solved(problem);
    } catch (const std::invalid_argument& refusal) {
        return {reason_of(refusal.what()),
                bench::names_an_argument(refusal.what(), problem) ? "" : std::string(refusal.what())};
    } catch (const std::exception& error) {
        return {"another exception", error.what()};
    }
}

/// An ordinary problem and the same in other units, powers of two: the fit must scale to the bit.
Ending scaled_ending(std::uint64_t number) {
    const support::RandomProblem problem = support::random_problem(number), other = problem.scaled(0.25, 8.0);
    const auto fit = SparseKernelEstimator<>(problem.options).fit(problem.x, problem.y);
    const auto scaled = SparseKernelEstimator<>(other.options).fit(other.x, other.y);
    const bool exact =
        scaled.report.status == fit.report.status && scaled.model.size() == fit.model.size() &&
        (4.0 * scaled.model.centers().array() == fit.model.centers().array()).all() &&
        (4.0 * scaled.model.widths().array() == fit.model.widths().array()).all() &&
        (0.125 * scaled.model.coefficients().array() == fit.model.coefficients().array()).all();
    if (!exact) return {"ordinary", "does not scale: " + fit.report.full()};
    return {"ordinary", support::report_contradiction(
                            fit, support::AskedFit<SquaredLoss>{{problem.x, problem.y}, problem.options})};
}

/// What a thread is at, for the watchdog.
struct Slot {
    std::atomic<long long> number{-1};
    std::atomic<double> since{0.0};
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// All problems of a range, on so many threads.
class Stress {
public:
    Stress(std::uint64_t first, std::uint64_t behind, std::uint64_t seed)
        : next_(first), behind_(behind), seed_(seed), alone_(behind == first + 1), slots_(2) {}

    int run() {
        std::vector<std::thread> threads;
        for (Slot& slot : slots_) threads.emplace_back([this, &slot] { work(slot); });
        std::thread watchdog([this] { watch(); });
        for (std::thread& thread : threads) thread.join();
        done_ = true;
        watchdog.join();
        for (const auto& [outcome, count] : outcomes_) std::printf("%7d  %s\n", count, outcome.c_str());
        std::printf("%d defects; the longest fit took %.1f s, problem %llu\n", defects_, longest_,
                    longest_number_);
        return defects_ == 0 ? 0 : 1;
    }

private:
    void work(Slot& slot) {
        const support::Threads one_thread(1);
        for (std::uint64_t k = next_++; k < behind_; k = next_++) {
            slot.since = now();
            slot.number = static_cast<long long>(k);
            const double before = thread_seconds();
            const bench::StressProblem problem = bench::StressProblems::make(seed_, k);
            if (alone_) say("problem ", k, problem.words);
            const Ending ending = ending_of(problem);
            const double seconds = thread_seconds() - before;
            record(k, problem.words, ending, seconds);
            if (k % 10 == 0) record(k, "ordinary", scaled_ending(k), 0.0);
            slot.number = -1;
        }
    }

    void record(std::uint64_t number, const std::string& words, const Ending& ending, double seconds) {
        const std::lock_guard lock(mutex_);
        ++outcomes_[ending.outcome];
        if (seconds > longest_) {
            longest_ = seconds;
            longest_number_ = number;
        }
        const std::string late =
            seconds > most_seconds ? detail::text("took ", seconds, " s; ") : std::string();
        if (late.empty() && ending.defect.empty()) return;
        ++defects_;
        say("DEFECT ", number, words + ": " + late + ending.defect);
    }

    static void say(const char* what, std::uint64_t number, const std::string& words) {
        std::printf("%s%llu: %s\n", what, static_cast<unsigned long long>(number), words.c_str());
        std::fflush(stdout);
    }

    void watch() {
        while (!done_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            for (const Slot& slot : slots_)
                if (slot.number >= 0 && now() - slot.since > abort_seconds) {
                    std::printf("DEFECT %lld: no end after %.0f s\n", slot.number.load(), abort_seconds);
                    std::fflush(stdout);
                    std::_Exit(1);
                }
        }
    }

    std::atomic<std::uint64_t> next_;
    std::uint64_t behind_, seed_;
    bool alone_;  // one problem: its words are printed before it is solved
    std::vector<Slot> slots_;
    std::atomic<bool> done_{false};
    std::mutex mutex_{};
    std::map<std::string, int> outcomes_{};
    int defects_ = 0;
    double longest_ = 0.0;
    unsigned long long longest_number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int k, std::uint64_t otherwise) {
        return argc > k ? static_cast<std::uint64_t>(std::strtoull(argv[k], nullptr, 10)) : otherwise;
    };
    const std::uint64_t first = argument(1, 0);
    return Stress(first, argument(2, argc > 1 ? first + 1 : 1000), argument(3, 1)).run();
}
