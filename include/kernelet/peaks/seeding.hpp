#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/poll.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/coherence.hpp>

#include <algorithm>
#include <vector>

namespace kernelet {

/// The inputs of the extraction of peaks besides the field.
struct PeakContext {
    const detail::TiledPoints& points;  ///< the samples, for families without a closed-form coherence
    PeakOptions options{};
    detail::Poll poll{};
};

/// Nodes from which ascents begin: from the highest down, every node above the threshold that no start
/// already taken is coherent with. nodes and values are columns; returns indices, highest first.
template <KernelFamily Kernel>
std::vector<Index> choose_seeds(const Kernel& kernel, const Matrix& nodes, const Matrix& values,
                                double threshold, const PeakContext& context) {
    const Vector heights = detail::column_norms(values);
    std::vector<Index> order;
    for (Index j = 0; j < nodes.cols(); ++j)
        if (heights(j) > threshold) order.push_back(j);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return heights(a) > heights(b); });
    std::vector<Index> seeds;
    for (const Index j : order) {
        if (static_cast<Index>(seeds.size()) >= context.options.max_seeds) break;
        context.poll();
        const bool covered = std::any_of(seeds.begin(), seeds.end(), [&](Index s) {
            return same_direction(&values(0, s), &values(0, j), values.rows()) &&
                   coherence(kernel, context.points, detail::column_ref(nodes, s),
                             detail::column_ref(nodes, j)) > context.options.seed_coherence;
        });
        if (!covered) seeds.push_back(j);
    }
    return seeds;
}

}  // namespace kernelet
