#include "classifiers.hpp"

template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::HingeLoss>;
template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss>;
