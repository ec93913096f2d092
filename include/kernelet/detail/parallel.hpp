#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <exception>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kernelet::detail {

/// Kernel values from which threads are worth waking.
inline constexpr Index least_parallel_work = Index{1} << 14;

/// Runs body(k) for k = 0 ... count-1, on OpenMP's threads where the consumer links it. Each k must write
/// only what is its own: results then have the same bits for any number of threads. The first exception of
/// the lowest k is rethrown. `kernel_values` is what the loop computes in all: below some ten microseconds'
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

/// A sum over strips of samples, in parts that do not depend on the number of threads and that are added up in their
/// order: same bits for any number of threads. add(strips, sum) adds the strips of one part to a sum that begins as
/// `zero`; join(sum, other) adds one sum to another. A part takes every so many-th strip: neighbouring strips see as
/// many kernels, and parts are then equal work. `work` counts multiplications.
template <class Sum, class Add, class Join>
Sum sum_over_strips(Index strips, const Sum& zero, const Add& add, const Join& join, Index work) {
    constexpr Index strips_per_part = 4, max_parts = 16, work_per_kernel_value = 16;
    const Index parts = std::clamp<Index>((strips + strips_per_part - 1) / strips_per_part, 1, max_parts);
    std::vector<Sum> sums(static_cast<std::size_t>(parts), zero);
    parallel_for(
        parts,
        [&](Index part) {
            std::vector<Index> own;
            for (Index s = part; s < strips; s += parts) own.push_back(s);
            add(own, sums[static_cast<std::size_t>(part)]);
        },
        work / work_per_kernel_value);
    for (std::size_t part = 1; part < sums.size(); ++part) join(sums.front(), sums[part]);
    return std::move(sums.front());
}

}  // namespace kernelet::detail
