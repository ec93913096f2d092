#pragma once

#include <kernelet/types.hpp>

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kernelet::detail {

/// Kernel values from which threads are worth waking.
inline constexpr Index least_parallel_work = Index{1} << 17;

/// Runs body(k) for k = 0 ... count-1, on OpenMP's threads where the consumer links it. Each k must write
/// only what is its own: results then have the same bits for any number of threads. The first exception of
/// the lowest k is rethrown. `kernel_values` is what the loop computes in all: below about a millisecond's
/// worth waking the threads costs more than it saves.
template <class Body>
void parallel_for(Index count, const Body& body, [[maybe_unused]] Index kernel_values = least_parallel_work) {
#ifdef _OPENMP
    if (count > 1 && kernel_values >= least_parallel_work && omp_get_max_threads() > 1 &&
        !omp_in_parallel()) {
        std::exception_ptr failure;
        Index failed = count;
#pragma omp parallel for schedule(dynamic)
        for (Index k = 0; k < count; ++k) {
            try {
                body(k);
            } catch (...) {
#pragma omp critical(kernelet_parallel_for)
                if (k < failed) {
                    failed = k;
                    failure = std::current_exception();
                }
            }
        }
        if (failure) std::rethrow_exception(failure);
        return;
    }
#endif
    for (Index k = 0; k < count; ++k) body(k);
}

}  // namespace kernelet::detail
