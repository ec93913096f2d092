#include "estimators.hpp"

template class kernelet::SparseKernelEstimator<>;
