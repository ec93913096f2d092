#pragma once

#include <kernelet/estimator.hpp>

/// The fit that most tests use is compiled once, in estimators.cpp.
extern template class kernelet::SparseKernelEstimator<>;
