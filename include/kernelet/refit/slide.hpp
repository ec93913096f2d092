#pragma once

// Deprecated, for one version: include <kernelet/search/levenberg_marquardt.hpp> instead.
#include <kernelet/search/levenberg_marquardt.hpp>

namespace kernelet {

using Slid [[deprecated("use FittedKernels")]] = FittedKernels;
using SlideOptions [[deprecated("use LevenbergMarquardtOptions")]] = LevenbergMarquardtOptions;

}  // namespace kernelet
