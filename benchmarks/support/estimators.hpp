#pragma once

#include <kernelet/estimator.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>

/// Of values, compiled once, in estimators.cpp: each takes most of a minute.
extern template class kernelet::SparseKernelEstimator<>;
extern template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian>;
