#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/joint_watch.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/multiclass/ensemble.hpp>
#include <kernelet/report.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

template <class Estimator>
using BinaryFit = decltype(std::declval<const Estimator&>().fit(std::declval<const Matrix&>(),
                                                                std::declval<const Vector&>()));

template <class Estimator>
using BinaryKernel = typename decltype(BinaryFit<Estimator>::model)::KernelType;

template <class Estimator>
using BinaryReport = std::remove_cvref_t<decltype(BinaryFit<Estimator>::report)>;

}  // namespace detail

/// Tells two classes apart: fit(x, y) with x d x n and y = ±1 returns something with
///     model                    a SparseKernelModel of one output, above zero for +1
///     report                   anything that can be copied
/// SparseKernelEstimator with HingeLoss, LogisticLoss or SquaredLoss is one. fit() is called from many
/// threads at once.
template <class E>
concept BinaryEstimator = std::copyable<E> &&
    std::same_as<decltype(detail::BinaryFit<E>::model), SparseKernelModel<detail::BinaryKernel<E>>> &&
    std::copyable<detail::BinaryReport<E>>;

/// The report on one classifier.
template <ClassLabel Label, class Report>
struct ClassifierReport {
    Label positive;
    std::optional<Label> negative{};  ///< none: all other classes
    /// The columns of x it was fitted on: sample k of the report is column samples[k].
    std::vector<Index> samples{};
    Index kernels{};
    Report report{};
};

/// The result of fit() of an ensemble. The reports are in the order of model.opponents().
template <KernelFamily Kernel, ClassLabel Label, class Report>
struct EnsembleFit {
    EnsembleModel<Kernel, Label> model;
    std::vector<ClassifierReport<Label, Report>> reports{};
    /// In plain words: classes of one sample, classifiers that are constant, fits that failed.
    std::vector<std::string> warnings{};
};

/// Reported after each classifier that is fitted.
struct EnsembleProgress {
    Index done{};
    Index classifiers{};
    double seconds{};  ///< since the first began
};

/// Called by the threads that fit, one at a time. May be empty.
using EnsembleObserver = std::function<void(const EnsembleProgress&)>;

/// Makes the domain of one classifier from the classes it separates and the samples it is fitted on, d x n.
template <class F>
concept DomainMaker = requires(const F& make, const Opponents& who, const Matrix& x) {
    { make(who, x) } -> Domain;
};

namespace detail {

/// The domain read off the data, wherever none is given.
struct NoDomain {};

/// The observers of an ensemble: of its whole progress, and of each fitted classifier. Either may be empty.
struct EnsembleObservers {
    ObserverFunction whole{};
    EnsembleObserver each{};
};

/// "class 1 against class 2", "class 1 against the rest".
template <ClassLabel Label>
std::string match_text(const std::vector<Label>& classes, const Opponents& who) {
    const auto name = [&](Index c) {
        return "class " + label_text<Label>(classes[static_cast<std::size_t>(c)]);
    };
    return name(who.positive) + " against " + (who.negative ? name(*who.negative) : "the rest");
}

/// The samples of one classifier in their order, and y = ±1 of each.
template <ClassLabel Label>
std::pair<std::vector<Index>, Vector> match_samples(const SortedLabels<Label>& labels, const Opponents& who) {
    std::vector<std::pair<Index, double>> signs;
    for (Index c = 0; c < static_cast<Index>(labels.members.size()); ++c)
        if (c == who.positive || !who.negative || c == *who.negative)
            for (const Index i : labels.members[static_cast<std::size_t>(c)])
                signs.emplace_back(i, c == who.positive ? 1.0 : -1.0);
    std::sort(signs.begin(), signs.end());
    std::vector<Index> samples;
    Vector y(static_cast<Index>(signs.size()));
    for (const auto& [i, sign] : signs) {
        y(static_cast<Index>(samples.size())) = sign;
        samples.push_back(i);
    }
    return {std::move(samples), std::move(y)};
}

/// A warning for each class with only one sample.
template <ClassLabel Label>
std::vector<std::string> lonely_classes(const SortedLabels<Label>& labels) {
    std::vector<std::string> warnings;
    for (std::size_t c = 0; c < labels.classes.size(); ++c)
        if (labels.members[c].size() == 1)
            warnings.push_back(text("class ", label_text<Label>(labels.classes[c]), " has one sample only"));
    return warnings;
}

/// The samples that an ensemble is fitted on.
template <ClassLabel Label>
struct LabelledSamples {
    Matrix x{};  ///< d x n
    std::vector<Label> labels{};
};

/// Fits one classifier, with or without an observer. `domain` is a Domain, a DomainMaker or NoDomain.
template <BinaryEstimator Estimator, class DomainType>
auto fit_classifier(const Estimator& estimator, const Matrix& x, const Vector& y, const DomainType& domain,
                    const ObserverFunction& observer) {
    if constexpr (std::same_as<DomainType, NoDomain>) {
        if constexpr (requires { estimator.fit(x, y, observer); })
            if (observer) return estimator.fit(x, y, observer);
        return estimator.fit(x, y);
    } else {
        if constexpr (requires { estimator.fit(x, y, domain, observer); })
            if (observer) return estimator.fit(x, y, domain, observer);
        return estimator.fit(x, y, domain);
    }
}

/// The result of fit() of an ensemble, put together from its classifiers.
template <BinaryEstimator Estimator, ClassLabel Label>
EnsembleFit<BinaryKernel<Estimator>, Label, BinaryReport<Estimator>> joined_fits(
    Scheme scheme, const SortedLabels<Label>& labels,
    const std::vector<std::pair<SparseKernelModel<BinaryKernel<Estimator>>, BinaryReport<Estimator>>>& fits) {
    using Kernel = BinaryKernel<Estimator>;
    using Model = EnsembleModel<Kernel, Label>;
    const std::vector<Opponents> opponents =
        Model::opponents_of(scheme, static_cast<Index>(labels.classes.size()));
    std::vector<SparseKernelModel<Kernel>> models;
    for (const auto& fit : fits) models.push_back(fit.first);
    EnsembleFit<Kernel, Label, BinaryReport<Estimator>> result{
        Model(scheme, labels.classes, models), {}, lonely_classes(labels)};
    for (std::size_t m = 0; m < opponents.size(); ++m) {
        const Opponents& who = opponents[m];
        const auto name = [&](Index c) -> Label { return labels.classes[static_cast<std::size_t>(c)]; };
        const auto& [model, report] = fits[m];
        result.reports.push_back({name(who.positive),
                                  who.negative ? std::optional<Label>(name(*who.negative)) : std::nullopt,
                                  match_samples(labels, who).first, model.size(), report});
        if (model.size() == 0)
            result.warnings.push_back(
                text(match_text(labels.classes, who), ": no kernels: the decision is constant"));
        if constexpr (std::derived_from<BinaryReport<Estimator>, Report>)
            if (report.status == Status::diverged || report.status == Status::infeasible ||
                report.status == Status::stopped)
                result.warnings.push_back(
                    text(match_text(labels.classes, who), ": the fit ended ", to_string(report.status)));
    }
    return result;
}

/// Fits all classifiers of a scheme, in parallel; each is a fit by itself, so that the results do not depend on the
/// number of threads. `domain` is a Domain, a DomainMaker or NoDomain.
template <BinaryEstimator Estimator, ClassLabel Label, class DomainType>
auto fit_ensemble(const Estimator& estimator, Scheme scheme, const LabelledSamples<Label>& data,
                  const DomainType& domain, const EnsembleObservers& observers) {
    using Kernel = BinaryKernel<Estimator>;
    using Binary = std::pair<SparseKernelModel<Kernel>, BinaryReport<Estimator>>;
    const Matrix& x = data.x;
    require(x.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
    const SortedLabels<Label> labels(data.labels, x.cols());
    require_finite(x, "x");
    const std::vector<Opponents> opponents =
        EnsembleModel<Kernel, Label>::opponents_of(scheme, static_cast<Index>(labels.classes.size()));
    std::vector<Index> sizes;
    sizes.reserve(opponents.size());
    for (const Opponents& who : opponents)
        sizes.push_back(static_cast<Index>(match_samples(labels, who).first.size()));
    const auto classifiers = static_cast<Index>(opponents.size());
    JointWatch watch(observers.whole, "classifiers", sizes, [&](Index done, double seconds) {
        if (observers.each) observers.each({done, classifiers, seconds});
    });
    std::vector<std::optional<Binary>> fits(opponents.size());
    parallel_for(classifiers, [&](Index m) {
        const Opponents& who = opponents[static_cast<std::size_t>(m)];
        const auto [samples, y] = match_samples(labels, who);
        const Matrix part = columns_of(x, samples);
        const ObserverFunction observer = watch.watched() ? watch.part(m) : ObserverFunction{};
        try {
            const auto fit = [&, &y = y] {
                if constexpr (DomainMaker<DomainType>)
                    return fit_classifier(estimator, part, y, domain(who, part), observer);
                else
                    return fit_classifier(estimator, part, y, domain, observer);
            }();
            fits[static_cast<std::size_t>(m)].emplace(fit.model.without_statistics(), fit.report);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(text(error.what(), " (", match_text(labels.classes, who), ")"));
        }
        watch.finish(m);
    });
    std::vector<Binary> all;
    for (const auto& fit : fits) all.push_back(*fit);
    return joined_fits<Estimator>(scheme, labels, all);
}

}  // namespace detail

}  // namespace kernelet
