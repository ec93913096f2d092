#pragma once

#include <cmath>

namespace kernelet {

/// What is believed of widths before the data are seen: log θ normal about that of a typical width. Costs
/// strength · (log θ/typical)² for each width of each kernel that may move; strength 0: nothing is believed.
struct WidthPrior {
    double typical = 1.0;
    double strength = 0.0;

    double excess(double width) const { return std::log(width / typical); }
    double cost(double width) const { return strength * excess(width) * excess(width); }
};

}  // namespace kernelet
