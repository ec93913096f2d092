#pragma once

/// The baselines of the paper: classical kernel ridge regression (PI') and kernel orthogonal matching pursuit.

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/baselines/komp.hpp>
