#pragma once

#include <kernelet/multiclass/ensemble_estimator.hpp>

namespace kernelet {

/// Labels of any kind from an estimator of two classes: one classifier for each pair of classes, fitted on
/// the samples of those two. C (C − 1)/2 small fits. Each votes; see EnsembleModel::decide for how ties are
/// settled.
template <BinaryEstimator Estimator>
class OneVsOne : public EnsembleEstimator<Estimator, Scheme::one_vs_one> {
public:
    using EnsembleEstimator<Estimator, Scheme::one_vs_one>::EnsembleEstimator;
};
template <BinaryEstimator Estimator>
OneVsOne(Estimator) -> OneVsOne<Estimator>;

}  // namespace kernelet
