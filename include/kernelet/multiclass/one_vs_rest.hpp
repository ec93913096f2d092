#pragma once

#include <kernelet/multiclass/ensemble_estimator.hpp>

namespace kernelet {

/// Labels of any kind from an estimator of two classes: one classifier for each class, fitted on all samples.
/// C large fits. The class with the largest decision value wins; votes(x) shows whether it is the only
/// positive one.
template <BinaryEstimator Estimator>
class OneVsRest : public EnsembleEstimator<Estimator, Scheme::one_vs_rest> {
public:
    using EnsembleEstimator<Estimator, Scheme::one_vs_rest>::EnsembleEstimator;
};
template <BinaryEstimator Estimator>
OneVsRest(Estimator) -> OneVsRest<Estimator>;

}  // namespace kernelet
