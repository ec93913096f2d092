#pragma once

#include "tables.hpp"

#include <kernelet/domains/read_off.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/validation/folds.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

/// How the hyper-parameters of other methods are chosen.
namespace bench {

/// At most `most` of the samples, drawn at random, in their order.
inline std::vector<Index> subsample(Index samples, Index most, std::uint64_t seed) {
    std::vector<Index> chosen;
    const std::vector<Index> place =
        kernelet::detail::shuffled_numbers(samples, samples, seed);  // a permutation
    for (Index i = 0; i < samples; ++i)
        if (place[static_cast<std::size_t>(i)] < most) chosen.push_back(i);
    return chosen;
}

/// Widths for kernels of one width, the widest first: equally spaced in log w from the median
/// nearest-neighbour distance to half the diagonal of the samples' box, the interval that kernelet itself
/// reads off the data.
inline std::vector<double> width_ladder(const Matrix& x, Index levels) {
    const kernelet::WidthRange range(kernelet::widths_from_samples(x), kernelet::Spacing::logarithmic);
    const Matrix widths = range.levels(levels).nodes.rowwise().reverse();
    return {widths.data(), widths.data() + widths.size()};
}

/// The entry of the grid whose error, summed over all folds, is least; the first of equals, so that a grid
/// begins with the simplest. error(setting, split) fits on one part and measures on the other.
template <class Setting, class Error>
Setting best_by_cross_validation(const std::vector<Setting>& grid, const kernelet::Folds& folds,
                                 const Error& error) {
    if (grid.size() == 1) return grid.front();
    std::vector<kernelet::Split> splits;
    for (Index f = 0; f < folds.count(); ++f) splits.push_back(folds.split(f));
    double least = std::numeric_limits<double>::infinity();
    Setting best = grid.front();
    for (const Setting& setting : grid) {
        double sum = 0.0;
        for (const kernelet::Split& parts : splits) sum += error(setting, parts);
        if (sum < least) {
            least = sum;
            best = setting;
        }
    }
    return best;
}

}  // namespace bench
