#pragma once

#include <kernelet/types.hpp>

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kernelet::detail {

/// Runs body(k) for k = 0 ... count-1, on OpenMP's threads where the consumer links it. Each k must write
/// only what is its own: results then have the same bits for any number of threads. The first exception of
/// the lowest k is rethrown.
template <class Body>
void parallel_for(Index count, const Body& body) {
#ifdef _OPENMP
    if (count > 1 && omp_get_max_threads() > 1 && !omp_in_parallel()) {
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
