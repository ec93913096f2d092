#pragma once

#include <kernelet/multiclass/ensemble_fit.hpp>

#include <utility>

namespace kernelet {

/// Labels of any kind from an estimator of two classes: one classifier for each class, fitted on all samples.
/// C large fits. The class with the largest decision value wins; votes(x) says whether it alone claims the
/// sample. A value; fit() is const and may be called from many threads.
template <BinaryEstimator Estimator>
class OneVsRest {
public:
    /// What load() is told to read.
    template <ClassLabel Label>
    using Model = EnsembleModel<detail::BinaryKernel<Estimator>, Label>;

    explicit OneVsRest(Estimator estimator = Estimator{}) : estimator_(std::move(estimator)) {}

    const Estimator& estimator() const { return estimator_; }

    /// x is d x n, one sample per column, any Eigen expression, float or double; labels n of them, a
    /// std::vector or an Eigen vector, of at least two classes.
    template <class X, class Labels>
    auto fit(const Eigen::MatrixBase<X>& x, const Labels& labels,
             const EnsembleObserver& observer = {}) const {
        return detail::fit_ensemble(estimator_, Scheme::one_vs_rest, x.template cast<double>(),
                                    detail::gathered_labels(labels), detail::NoDomain{}, observer);
    }
    /// Every classifier on this domain, or on one of its own where `domain` makes them.
    template <class X, class Labels, class Omega>
    requires Domain<Omega> || DomainMaker<Omega>
    auto fit(const Eigen::MatrixBase<X>& x, const Labels& labels, const Omega& domain,
             const EnsembleObserver& observer = {}) const {
        return detail::fit_ensemble(estimator_, Scheme::one_vs_rest, x.template cast<double>(),
                                    detail::gathered_labels(labels), domain, observer);
    }

private:
    Estimator estimator_;
};

}  // namespace kernelet
