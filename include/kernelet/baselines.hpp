#pragma once

/// The baselines of the paper, classical kernel ridge regression (PI') and kernel orthogonal matching pursuit, and a
/// Gaussian process with a length scale per coordinate.

#include <kernelet/baselines/gaussian_process.hpp>
#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/baselines/komp.hpp>
