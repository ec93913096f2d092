#pragma once

#include <kernelet/estimator.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/logistic.hpp>

/// Of labels, compiled once, in classifiers.cpp.
extern template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::HingeLoss>;
extern template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss>;
