#pragma once

#include <kernelet/estimator.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/losses/logistic.hpp>

/// The fits that several programs share are compiled once, in estimators.cpp: each takes a minute.
extern template class kernelet::SparseKernelEstimator<>;
extern template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian>;
extern template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss>;
