#pragma once

#include "realisation.hpp"

#include <kernelet/baselines/komp.hpp>

#include <optional>

/// Kernel orthogonal matching pursuit as the paper's experiments use it.
namespace bench {

using PursuitPath = kernelet::KompPath<kernelet::Gaussian>;

/// Without an offset, as published; the width, where none is given, is kernel ridge's best by
/// leave-one-out.
PursuitPath pursuit(const Realisation& r, std::optional<double> width = {});

/// The size of the smallest model whose error on the grid is at most `error`; n + 1 where there is none. It
/// is chosen by the test error itself, which favours the pursuit.
Index kernels_to_error(const PursuitPath& path, const Realisation& r, double error);

}  // namespace bench
