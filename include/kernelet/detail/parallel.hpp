#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

#ifdef KERNELET_STD_THREADS
#include <atomic>
#include <system_error>
#include <thread>
#elif defined(_OPENMP)
#include <omp.h>
#endif

/// Loops on several threads. The threads are OpenMP's where the program is compiled with OpenMP; those of the standard
/// library where KERNELET_STD_THREADS is defined, as how many they are: for programs without OpenMP, and for tests under
/// ThreadSanitizer, which does not see how OpenMP's threads wait for each other. With neither there is one thread.
namespace kernelet::detail {

/// Kernel values from which threads are worth waking.
inline constexpr Index least_parallel_work = Index{1} << 14;

#ifdef KERNELET_STD_THREADS

/// The number of threads of a loop that this thread begins; 1 inside of a loop.
inline thread_local int std_threads = KERNELET_STD_THREADS;

inline int threads_at_hand() { return std_threads; }

/// step(k) for k = 0 ... count-1, in this order but on several threads. step() does not throw.
template <class Step>
void for_each_on_threads(Index count, const Step& step) {
    const int threads = std_threads;
    std::atomic<Index> next{0};
    const auto work = [&] {
        std_threads = 1;
        for (Index k = next++; k < count; k = next++) step(k);
    };
    std::vector<std::thread> others;
    const Index wanted = std::min<Index>(threads, count) - 1;
    others.reserve(static_cast<std::size_t>(wanted));
    try {
        for (Index k = 0; k < wanted; ++k) others.emplace_back(work);
    } catch (const std::system_error&) {
        // The system has no more threads: those at hand do all the work.
    }
    work();
    for (std::thread& other : others) other.join();
    std_threads = threads;
}

#elif defined(_OPENMP)

inline int threads_at_hand() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

/// step(k) for k = 0 ... count-1, in this order but on several threads. step() does not throw.
template <class Step>
void for_each_on_threads(Index count, const Step& step) {
#pragma omp parallel for schedule(dynamic)
    for (Index k = 0; k < count; ++k) step(k);
}

#endif

/// Runs body(k) for k = 0 ... count-1, on several threads where there are some; on the caller's alone inside of another
/// such loop. Each k must write only what is its own: results then have the same bits for any number of threads. The
/// first exception of the lowest k is rethrown. `kernel_values` is what the loop computes in all: below some ten
/// microseconds' worth waking the threads costs more than it saves.
template <class Body>
void parallel_for(Index count, const Body& body, [[maybe_unused]] Index kernel_values = least_parallel_work) {
#if defined(KERNELET_STD_THREADS) || defined(_OPENMP)
    if (count > 1 && kernel_values >= least_parallel_work && threads_at_hand() > 1) {
        std::mutex mutex;
        std::exception_ptr failure;
        Index failed = count;
        for_each_on_threads(count, [&](Index k) {
            try {
                body(k);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                if (k < failed) {
                    failed = k;
                    failure = std::current_exception();
                }
            }
        });
        if (failure) std::rethrow_exception(failure);
        return;
    }
#endif
    for (Index k = 0; k < count; ++k) body(k);
}

/// The parts of a sum that are computed here, where processes share it: every `step`-th from `first` on.
struct PartShare {
    Index first = 0;
    Index step = 1;

    bool owns(Index part) const { return part % step == first; }
};

/// The number of parts of a sum over strips, see part_sums().
inline Index parts_of(Index strips) {
    constexpr Index strips_per_part = 4, max_parts = 16;
    return std::clamp<Index>((strips + strips_per_part - 1) / strips_per_part, 1, max_parts);
}

/// A sum over strips of samples in parts that depend neither on the number of threads nor on that of processes: the sums
/// of the parts of a share, in their order. add(strips, sum) adds the strips of one part to a sum that begins as `zero`.
/// A part takes every so many-th strip: neighbouring strips see as many kernels, and parts are then equal work. `work`
/// counts multiplications.
template <class Sum, class Add>
std::vector<Sum> part_sums(Index strips, const Sum& zero, const Add& add, Index work, PartShare share = {}) {
    constexpr Index work_per_kernel_value = 16;
    const Index parts = parts_of(strips),
                own = parts > share.first ? (parts - share.first - 1) / share.step + 1 : 0;
    std::vector<Sum> sums(static_cast<std::size_t>(own), zero);
    parallel_for(
        own,
        [&](Index k) {
            std::vector<Index> strips_of_part;
            for (Index s = share.first + k * share.step; s < strips; s += parts) strips_of_part.push_back(s);
            add(strips_of_part, sums[static_cast<std::size_t>(k)]);
        },
        work / work_per_kernel_value);
    return sums;
}

}  // namespace kernelet::detail
