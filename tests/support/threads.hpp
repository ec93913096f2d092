#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace support {

/// Sets the number of OpenMP threads until the end of the scope; without OpenMP, nothing.
class Threads {
public:
#ifdef _OPENMP
    explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
    ~Threads() { omp_set_num_threads(before_); }
#else
    explicit Threads(int /*count*/) {}
    ~Threads() = default;
#endif
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
#ifdef _OPENMP
    int before_;
#endif
};

}  // namespace support
