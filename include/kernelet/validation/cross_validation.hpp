#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/report.hpp>
#include <kernelet/types.hpp>
#include <kernelet/validation/fold_fits.hpp>
#include <kernelet/validation/fold_results.hpp>
#include <kernelet/validation/folds.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// Where the samples of finished folds are found: sample `sample` is number `place` of fold `fold`.
struct TestedSample {
    Index sample{};
    Index fold{};
    Index place{};
};

/// In the order of the samples.
inline std::vector<TestedSample> tested_samples(const Folds& folds, const std::vector<bool>& finished) {
    std::vector<TestedSample> tested;
    std::vector<Index> next(finished.size(), 0);
    for (Index i = 0; i < folds.samples(); ++i) {
        const Index fold = folds.numbers()[static_cast<std::size_t>(i)];
        if (fold == Folds::train_only || !finished[static_cast<std::size_t>(fold)]) continue;
        tested.push_back({i, fold, next[static_cast<std::size_t>(fold)]++});
    }
    return tested;
}

/// Moves the folds into the result; `error` of each tested sample becomes the scores.
template <class Result, class Outcome>
void join_folds(std::vector<Outcome>& outcomes, const std::vector<TestedSample>& tested,
                const std::vector<double>& errors, Result& result) {
    double sum = 0.0;
    std::vector<double> sums(outcomes.size(), 0.0);
    std::vector<double> counts(outcomes.size(), 0.0);
    for (std::size_t t = 0; t < tested.size(); ++t) {
        result.tested.push_back(tested[t].sample);
        sum += errors[t];
        sums[static_cast<std::size_t>(tested[t].fold)] += errors[t];
        counts[static_cast<std::size_t>(tested[t].fold)] += 1.0;
    }
    if (!tested.empty()) result.score = sum / static_cast<double>(tested.size());
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
        result.folds.push_back(std::move(outcomes[k].result));
        if (result.folds[k].finished) result.folds[k].score = sums[k] / counts[k];
        if (!result.folds[k].finished) result.stopped = true;
    }
}

template <class Outcome>
std::vector<TestedSample> tested_samples_of(const std::vector<Outcome>& outcomes, const Folds& folds) {
    std::vector<bool> finished;
    for (const Outcome& outcome : outcomes) finished.push_back(outcome.result.finished);
    return tested_samples(folds, finished);
}

/// Whether targets are labels −1 and +1.
template <class Estimator, class Outcome>
bool decides_by_sign([[maybe_unused]] const std::vector<Outcome>& outcomes) {
    if constexpr (requires { Estimator::LossType::classification; })
        return Estimator::LossType::classification;
    else if constexpr (requires { outcomes.front().result.fit->model.loss(); })
        for (const Outcome& outcome : outcomes)
            if (outcome.result.fit) {
                const auto& loss = outcome.result.fit->model.loss();
                return loss == "hinge" || loss == "logistic";
            }
    return false;
}

/// (ŷ − y)² averaged over the outputs, or the share of outputs whose sign is wrong, as classify() decides: 0 is +1.
inline double target_error(const double* predicted, const double* target, Index outputs, bool by_sign) {
    double sum = 0.0;
    for (Index o = 0; o < outputs; ++o) {
        const double difference = predicted[o] - target[o];
        const double wrong = (predicted[o] < 0.0 ? -1.0 : 1.0) == target[o] ? 0.0 : 1.0;
        sum += by_sign ? wrong : difference * difference;
    }
    return sum / static_cast<double>(outputs);
}

/// The columns of all folds in the order of the samples, rows x tested. With one output a fold may hold a column.
template <class Outcome>
Matrix gathered_columns(const std::vector<Outcome>& outcomes, Matrix Outcome::*values,
                        const std::vector<TestedSample>& tested, Index rows) {
    Matrix all(rows, static_cast<Index>(tested.size()));
    for (std::size_t t = 0; t < tested.size(); ++t) {
        const Matrix& fold = outcomes[static_cast<std::size_t>(tested[t].fold)].*values;
        if (fold.size() == 0) return {};
        std::copy_n(fold.data() + tested[t].place * rows, rows, all.data() + static_cast<Index>(t) * rows);
    }
    return all;
}

template <bool watched, class Estimator, class X, class Y>
auto validate_targets(const Estimator& estimator, const Eigen::MatrixBase<X>& x,
                      const Eigen::MatrixBase<Y>& y, const Folds& folds, const ObserverFunction& observer) {
    const Index n = x.cols();
    Matrix targets = y.template cast<double>();
    const bool column = targets.cols() == 1 && targets.rows() == n;
    if (column) targets.resize(1, n);
    require_targets(y.rows(), y.cols(), x.rows(), n);
    require_finite(targets, "y");
    const Index q = targets.rows();
    const Matrix points = x.template cast<double>();
    auto outcomes =
        FoldFits<Estimator, Matrix>(estimator, points, targets, folds).template run<watched>(observer);
    using Outcome = typename decltype(outcomes)::value_type;
    const std::vector<TestedSample> tested = tested_samples_of(outcomes, folds);
    const bool by_sign = decides_by_sign<Estimator>(outcomes);
    TargetCrossValidation<FitOf<Estimator, Matrix>> result;
    result.kind = by_sign ? ScoreKind::share_wrong : ScoreKind::mean_squared_error;
    result.predictions = gathered_columns(outcomes, &Outcome::predictions, tested, q);
    result.probabilities = gathered_columns(outcomes, &Outcome::probabilities, tested, q);
    std::vector<double> errors;
    for (std::size_t t = 0; t < tested.size(); ++t)
        errors.push_back(target_error(result.predictions.data() + static_cast<Index>(t) * q,
                                      targets.data() + tested[t].sample * q, q, by_sign));
    join_folds(outcomes, tested, errors, result);
    if (column) {
        result.predictions.resize(result.predictions.size(), 1);
        result.probabilities.resize(result.probabilities.size(), result.probabilities.size() > 0 ? 1 : 0);
    }
    return result;
}

/// Probabilities of all classes, classes x tested: a model has those of its training part.
template <class Outcome, ClassLabel Label>
Matrix gathered_probabilities(const std::vector<Outcome>& outcomes, const std::vector<TestedSample>& tested,
                              const std::vector<Label>& classes) {
    Matrix all(static_cast<Index>(classes.size()), static_cast<Index>(tested.size()));
    fill(all, 0.0);
    for (std::size_t t = 0; t < tested.size(); ++t) {
        const Outcome& outcome = outcomes[static_cast<std::size_t>(tested[t].fold)];
        if (outcome.probabilities.size() == 0) return {};
        const auto& known = outcome.result.fit->model.classes();
        for (std::size_t c = 0; c < known.size(); ++c)
            all(class_of<Label>(classes, known[c]), static_cast<Index>(t)) =
                outcome.probabilities(static_cast<Index>(c), tested[t].place);
    }
    return all;
}

template <bool watched, class Estimator, class X, ClassLabel Label>
auto validate_labels(const Estimator& estimator, const Eigen::MatrixBase<X>& x,
                     const std::vector<Label>& labels, const Folds& folds, const ObserverFunction& observer) {
    require(static_cast<Index>(labels.size()) == x.cols(), "labels has ", labels.size(),
            " entries but x has ", x.cols(), " columns; one label per sample, x is d x n");
    require_ordered(labels);
    const Matrix points = x.template cast<double>();
    auto outcomes = FoldFits<Estimator, std::vector<Label>>(estimator, points, labels, folds)
                        .template run<watched>(observer);
    const std::vector<TestedSample> tested = tested_samples_of(outcomes, folds);
    LabelCrossValidation<FitOf<Estimator, std::vector<Label>>, Label> result;
    result.kind = ScoreKind::share_wrong;
    result.classes = labels;
    std::sort(result.classes.begin(), result.classes.end());
    result.classes.erase(std::unique(result.classes.begin(), result.classes.end()), result.classes.end());
    std::vector<double> errors;
    for (const TestedSample& at : tested) {
        const auto& fold = outcomes[static_cast<std::size_t>(at.fold)];
        result.predictions.push_back(fold.predictions[static_cast<std::size_t>(at.place)]);
        const bool right = result.predictions.back() == labels[static_cast<std::size_t>(at.sample)];
        errors.push_back(right ? 0.0 : 1.0);
    }
    if constexpr (requires { outcomes.front().result.fit->model.classes(); })
        result.probabilities = gathered_probabilities(outcomes, tested, result.classes);
    join_folds(outcomes, tested, errors, result);
    return result;
}

/// Labels or targets, whichever the estimator fits to what is given.
template <bool watched, class Estimator, Numbers X, class Y>
auto cross_validate(const Estimator& estimator, const X& x, const Y& y, const Folds& folds,
                    const ObserverFunction& observer) {
    using Label = typename decltype(gathered_labels(y))::value_type;
    if constexpr (LabelEstimator<Estimator, Label>) {
        return validate_labels<watched>(estimator, input_matrix(x), gathered_labels(y), folds, observer);
    } else {
        static_assert(
            TargetEstimator<Estimator>,
            "kernelet: cross_validate needs a TargetEstimator and targets, or a LabelEstimator and labels");
        return validate_targets<watched>(estimator, input_matrix(x), target_matrix(y), folds, observer);
    }
}

}  // namespace detail

/// Fits the estimator to the training part of every fold and predicts the samples of the fold, which estimates the
/// error on new samples. x is d x n, one sample per column, any Eigen expression, float or double. y is a column
/// of n targets or q x n, or, for an estimator of labels, n labels in a std::vector or an Eigen vector. Returns a
/// TargetCrossValidation or a LabelCrossValidation. The folds are fitted on several threads, each fit on one; the result
/// has the same bits for any number of threads. All that the fits return is kept.
template <class Estimator, Numbers X, class Y>
auto cross_validate(const Estimator& estimator, const X& x, const Y& y, const Folds& folds) {
    return detail::cross_validate<false>(estimator, x, y, folds, {});
}

/// cross_validate() with an observer of the whole: the stage is "folds", the iterations are the finished folds.
/// After a stop no fold is begun, and those that run end early where their fit takes an observer; see
/// FoldResult::finished. The observer is called by the threads that fit, one at a time.
template <class Estimator, Numbers X, class Y, Observer Watch>
auto cross_validate(const Estimator& estimator, const X& x, const Y& y, const Folds& folds, Watch observer) {
    return detail::cross_validate<true>(estimator, x, y, folds, ObserverFunction(std::move(observer)));
}

}  // namespace kernelet
