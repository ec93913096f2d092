#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/ascent.hpp>
#include <kernelet/peaks/merge.hpp>
#include <kernelet/peaks/seeding.hpp>

#include <utility>
#include <vector>

namespace kernelet {

struct ExtractedPeaks {
    std::vector<Peak> peaks{};  ///< distinct, above the threshold, highest first
    Index merged{};             ///< ascents that arrived at a peak already found
};

/// The local maxima of ‖ᾱ‖ above √(2γ), off the grid: seeds from the nodes, ascents, merging by coherence.
/// `points` are the samples, for families without a closed-form coherence.
template <KernelFamily Kernel, Domain Omega>
ExtractedPeaks extract_peaks(const CoefficientField<Kernel>& field, const Omega& domain,
                             const detail::TiledPoints& points, const ConstMatrixRef& nodes,
                             const PeakOptions& options = {}) {
    const Matrix values = field.raw_at(nodes);
    const std::vector<Index> seeds =
        choose_seeds(field.kernel(), points, nodes, values, field.threshold(), options);
    constexpr Index steps_of_an_ascent = 16;  // a guess, for the work it is
    std::vector<Peak> found(seeds.size());
    detail::parallel_for(
        static_cast<Index>(seeds.size()),
        [&](Index s) {
            const auto slot = static_cast<std::size_t>(s);
            found[slot] = ascend(field, domain, nodes.col(seeds[slot]), options.max_steps);
        },
        static_cast<Index>(seeds.size()) * points.size() * steps_of_an_ascent);
    const auto arrived = static_cast<Index>(found.size());
    ExtractedPeaks result;
    result.peaks = merge_peaks(field.kernel(), points, std::move(found), options.merge_coherence);
    result.merged = arrived - static_cast<Index>(result.peaks.size());
    return result;
}

}  // namespace kernelet
