#pragma once

#include <kernelet/detail/inputs.hpp>
#include <kernelet/multiclass/ensemble_fit.hpp>

#include <utility>

namespace kernelet {

/// Labels of any kind from an estimator of two classes, by one of the schemes: what OneVsOne and OneVsRest have in
/// common. A value; fit() is const and may be called from many threads.
template <BinaryEstimator Estimator, Scheme scheme>
class EnsembleEstimator {
public:
    /// The type for load().
    template <ClassLabel Label>
    using Model = EnsembleModel<detail::BinaryKernel<Estimator>, Label>;

    explicit EnsembleEstimator(Estimator estimator = Estimator{}) : estimator_(std::move(estimator)) {}

    const Estimator& estimator() const { return estimator_; }

    /// x is d x n, one sample per column, any Eigen expression, float or double; labels n of them, a
    /// std::vector or an Eigen vector, of at least two classes. The observer receives the progress of the whole
    /// ensemble; after its stop every classifier is the best one so far. It is called by the threads that fit, one
    /// at a time.
    template <Numbers X, class Labels, Observer Watch>
    auto fit(const X& x, const Labels& labels, Watch observer) const {
        return fitted(x, labels, detail::NoDomain{}, {.whole = std::move(observer)});
    }
    template <Numbers X, class Labels>
    auto fit(const X& x, const Labels& labels, const EnsembleObserver& observer = {}) const {
        return fitted(x, labels, detail::NoDomain{}, {.each = observer});
    }
    /// All classifiers on this domain, or each on the one that `domain` makes for it, see DomainMaker.
    template <Numbers X, class Labels, class DomainType, Observer Watch>
    requires Domain<DomainType> || DomainMaker<DomainType>
    auto fit(const X& x, const Labels& labels, const DomainType& domain, Watch observer) const {
        return fitted(x, labels, domain, {.whole = std::move(observer)});
    }
    template <Numbers X, class Labels, class DomainType>
    requires Domain<DomainType> || DomainMaker<DomainType>
    auto fit(const X& x, const Labels& labels, const DomainType& domain,
             const EnsembleObserver& observer = {}) const {
        return fitted(x, labels, domain, {.each = observer});
    }

private:
    template <Numbers X, class Labels, class DomainType>
    auto fitted(const X& x, const Labels& labels, const DomainType& domain,
                const detail::EnsembleObservers& observers) const {
        auto gathered = detail::gathered_labels(labels);
        const detail::LabelledSamples<typename decltype(gathered)::value_type> data{
            detail::input_matrix(x).template cast<double>(), std::move(gathered)};
        return detail::fit_ensemble(estimator_, scheme, data, domain, observers);
    }

    Estimator estimator_;
};

}  // namespace kernelet
