#include "pursuit.hpp"

namespace bench {

PursuitPath pursuit(const Realisation& r, std::optional<double> width) {
    kernelet::KompOptions options;
    options.width = width;
    options.center = false;
    return kernelet::Komp<>(options).path(r.x, r.y);
}

Index kernels_to_error(const PursuitPath& path, const Realisation& r, double error) {
    for (Index kernels = 0; kernels <= path.size(); ++kernels)
        if (mean_squared_error(path.model(kernels), r) <= error) return kernels;
    return path.size() + 1;
}

}  // namespace bench
