#include "estimators.hpp"

template class kernelet::SparseKernelEstimator<>;
template class kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian>;
