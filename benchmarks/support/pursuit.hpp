#pragma once

#include "realisation.hpp"

#include <kernelet/baselines/komp.hpp>

#include <optional>

/// Kernel orthogonal matching pursuit as the paper's experiments use it.
namespace bench {

using PursuitPath = kernelet::KompPath<kernelet::Gaussian>;

/// Without an offset, as published; the width, where none is given, is kernel ridge's best by leaving one
/// out.
inline PursuitPath pursuit(const Realisation& r, std::optional<double> width = {}) {
    kernelet::KompOptions options;
    options.width = width;
    options.center = false;
    return kernelet::Komp<>(options).path(r.x, r.y);
}

/// Of its models the smallest that errs no more than `error` on the grid; n + 1 where none is as good. Chosen
/// by the test error itself, which favours the pursuit.
inline Index kernels_to_error(const PursuitPath& path, const Realisation& r, double error) {
    for (Index kernels = 0; kernels <= path.size(); ++kernels)
        if (mean_squared_error(path.model(kernels), r) <= error) return kernels;
    return path.size() + 1;
}

}  // namespace bench
