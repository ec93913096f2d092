#pragma once

#include <kernelet/types.hpp>
#include <kernelet/version.hpp>

/// What the two sides of compiled mode must have in common. Eigen's allocator and the layout of its types change
/// with the flags (a matrix allocated with -mavx and freed without corrupts the heap), so that a program refers
/// to a symbol whose name holds them: where they differ, it does not link.
namespace kernelet::detail {

template <int number>
struct KerneletVersion;
template <int number>
struct EigenVersion;
template <int bytes>
struct AlignBytes;
template <int bytes>
struct IndexBytes;
template <bool yes>
struct RowMajor;
template <bool yes>
struct OpenMp;
template <int number>
struct StdThreads;
template <bool yes>
struct NDebug;
template <class...>
struct Flags;

#ifdef _OPENMP
inline constexpr bool has_openmp = true;
#else
inline constexpr bool has_openmp = false;
#endif
#ifdef KERNELET_STD_THREADS
inline constexpr int std_thread_count = KERNELET_STD_THREADS;
#else
inline constexpr int std_thread_count = 0;
#endif
#ifdef NDEBUG
inline constexpr bool has_ndebug = true;
#else
inline constexpr bool has_ndebug = false;
#endif

using ThisBuild =
    Flags<KerneletVersion<KERNELET_VERSION>,
          EigenVersion<EIGEN_WORLD_VERSION * 10000 + EIGEN_MAJOR_VERSION * 100 + EIGEN_MINOR_VERSION>,
          AlignBytes<EIGEN_DEFAULT_ALIGN_BYTES>, IndexBytes<int{sizeof(Index)}>,
          RowMajor<Eigen::ColMajor != EIGEN_DEFAULT_MATRIX_STORAGE_ORDER_OPTION>, OpenMp<has_openmp>,
          StdThreads<std_thread_count>, NDebug<has_ndebug>>;

template <class Build>
struct CompiledBuild {
    static void flags_must_match();
};

/// Refers to the symbol in compiled mode, does nothing otherwise.
inline void require_same_build() {
#ifdef KERNELET_COMPILED
    CompiledBuild<ThisBuild>::flags_must_match();
#endif
}

}  // namespace kernelet::detail
