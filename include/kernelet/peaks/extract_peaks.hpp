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

/// The nodes, and those of the narrowest and the widest once more at the very end of the widths, in one and
/// two dimensions also a quarter of a width to each side: maxima there stand close, and have no slope in
/// width that would lead a node inside to them.
template <Domain DomainType>
Matrix with_ends(const DomainType& domain, const Matrix& nodes) {
    constexpr double near = 1.5;  // of the ends, as a ratio of widths
    constexpr double quarter = 0.25;
    constexpr Index most_sides = 2;
    const Interval widths = domain.widths();
    const Index d = domain.dimension();
    std::vector<Vector> ends;
    for (Index j = 0; j < nodes.cols() && d < nodes.rows() && domain.free(d); ++j)
        for (const double end : {widths.lo, widths.hi}) {
            const double ratio = nodes(d, j) / end;
            if (ratio == 1.0 || ratio > near || ratio < 1.0 / near) continue;
            Vector node = detail::column_ref(nodes, j);
            for (Index row = d; row < nodes.rows(); ++row)
                if (domain.free(row)) node(row) = end;
            ends.push_back(node);
            for (Index c = 0; c < d && d <= most_sides && domain.free(c); ++c)
                for (const double side : {-quarter, quarter}) {
                    Vector moved = node;
                    moved(c) += side * end;
                    domain.project(moved);
                    ends.push_back(std::move(moved));
                }
        }
    Matrix all(nodes.rows(), nodes.cols() + static_cast<Index>(ends.size()));
    detail::copy(nodes, detail::Block(all).columns(0, nodes.cols()));
    for (std::size_t j = 0; j < ends.size(); ++j)
        detail::copy(ends[j], detail::Block(all).columns(nodes.cols() + static_cast<Index>(j), 1));
    return all;
}

/// The local maxima of ‖ᾱ‖ above √(2γ), off the grid: seeds from the nodes, ascents, merging by coherence. A
/// maximum between nodes may be higher than all of them: ascents begin somewhat below the threshold, and
/// count where they arrive above it. Polls once per ascent.
template <KernelFamily Kernel, Domain DomainType>
ExtractedPeaks extract_peaks(const CoefficientField<Kernel>& field, const DomainType& domain,
                             const Matrix& given, const PeakContext& context) {
    const PeakOptions& options = context.options;
    const detail::TiledPoints& points = context.points;
    const Matrix nodes = with_ends(domain, given);
    const Matrix values = field.raw_at(nodes, context.poll);
    const std::vector<Index> seeds =
        choose_seeds(field.kernel(), nodes, values, options.seed_level * field.threshold(), context);
    constexpr Index steps_of_an_ascent = 16;  // a guess, for the work it is
    std::vector<Peak> found(seeds.size());
    detail::parallel_for(
        static_cast<Index>(seeds.size()),
        [&](Index s) {
            context.poll();
            const auto slot = static_cast<std::size_t>(s);
            found[slot] = ascend(field, domain, detail::column_ref(nodes, seeds[slot]), options.max_steps);
        },
        static_cast<Index>(seeds.size()) * points.size() * steps_of_an_ascent);
    std::erase_if(found, [&](const Peak& peak) { return !(peak.height > field.threshold()); });
    const auto arrived = static_cast<Index>(found.size());
    ExtractedPeaks result;
    result.peaks = merge_peaks(field.kernel(), points, std::move(found), options.merge_coherence);
    result.merged = arrived - static_cast<Index>(result.peaks.size());
    return result;
}
template <KernelFamily Kernel, Domain DomainType>
ExtractedPeaks extract_peaks(const CoefficientField<Kernel>& field, const DomainType& domain,
                             const detail::TiledPoints& points, const Matrix& given,
                             const PeakOptions& options = {}) {
    return extract_peaks(field, domain, given, PeakContext{points, options});
}

}  // namespace kernelet
