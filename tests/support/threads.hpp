#pragma once

#include <kernelet/detail/parallel.hpp>

#if !defined(KERNELET_STD_THREADS) && !defined(_OPENMP)
#error "tests of threads check nothing without any: link OpenMP or define KERNELET_STD_THREADS=1"
#endif

namespace support {

/// Sets the number of threads of the loops that this thread begins, until the end of the scope.
class Threads {
public:
    explicit Threads(int count) : before_(get()) { set(count); }
    ~Threads() { set(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
#ifdef KERNELET_STD_THREADS
    static int get() { return kernelet::detail::std_threads; }
    static void set(int count) { kernelet::detail::std_threads = count; }
#else
    static int get() { return omp_get_max_threads(); }
    static void set(int count) { omp_set_num_threads(count); }
#endif

    int before_;
};

}  // namespace support
