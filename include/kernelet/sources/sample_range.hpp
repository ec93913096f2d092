#pragma once

#include <kernelet/types.hpp>

namespace kernelet {

/// Samples are read and summed in blocks that depend on the shape of the source alone: sums are the same for any number
/// of threads and processes. A power of two, such that x, y and weights of a block take 2 MB at most, between 256 and
/// 16384.
inline Index samples_per_block(Index dimension, Index outputs) {
    constexpr Index most = Index{1} << 14, least = Index{1} << 8, numbers = Index{1} << 18;
    Index count = most;
    while (count > least && count * (dimension + outputs + 1) > numbers) count /= 2;
    return count;
}

/// Samples begin ... end − 1 of a source.
struct SampleRange {
    Index begin{};
    Index end{};
};

}  // namespace kernelet
