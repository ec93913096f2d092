#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/peaks/ascent.hpp>
#include <kernelet/peaks/coherence.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// Drops every peak that a higher one of the same direction is coherent with. Returns what is left, highest
/// first.
template <KernelFamily Kernel>
std::vector<Peak> merge_peaks(const Kernel& kernel, const detail::TiledPoints& points,
                              std::vector<Peak> peaks, double merge_coherence) {
    std::stable_sort(peaks.begin(), peaks.end(),
                     [](const Peak& a, const Peak& b) { return a.height > b.height; });
    std::vector<Peak> kept;
    for (Peak& peak : peaks) {
        const bool known = std::any_of(kept.begin(), kept.end(), [&](const Peak& other) {
            return same_direction(other.value.data(), peak.value.data(), peak.value.size()) &&
                   coherence(kernel, points, other.node, peak.node) > merge_coherence;
        });
        if (!known) kept.push_back(std::move(peak));
    }
    return kept;
}

}  // namespace kernelet
