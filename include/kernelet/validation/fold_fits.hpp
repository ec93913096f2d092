#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/dense_blocks.hpp>
#include <kernelet/detail/joint_watch.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/report.hpp>
#include <kernelet/types.hpp>
#include <kernelet/validation/fold_results.hpp>
#include <kernelet/validation/folds.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

/// Fits targets: fit(x, y) with x d x n and y n x 1 or q x n returns something with a `model`:
///     model.predict(x)         numbers in the shape of y
///     model.size()             the number of kernels
/// Optional:
///     fit(x, y, observer)      stops when the observer returns stop
///     model.loss()             "hinge" or "logistic": y is −1 or +1 and the sign of predict(x) decides
///     model.probability(x)     P(+1) in the shape of y, called where loss() is "logistic"
///     E::LossType              a loss type whose `classification` agrees with loss()
/// Examples: SparseKernelEstimator, KernelRidge, Komp, GaussianProcess. fit() is called from many threads at once.
template <class E>
concept TargetEstimator = requires(const E& estimator, const Matrix& x, const Matrix& y) {
    { estimator.fit(x, y).model.predict(x) } -> std::convertible_to<Matrix>;
    { estimator.fit(x, y).model.size() } -> std::convertible_to<Index>;
};

/// Fits labels: fit(x, labels) with x d x n and n labels returns something with a `model`:
///     model.predict(x)         a std::vector of labels
///     model.size()             the number of kernels
/// Optional:
///     fit(x, labels, observer) stops when the observer returns stop
///     model.probability(x)     classes x n, rows in the order of model.classes(), called where model.loss() is "logistic"
/// Examples: OneVsOne, OneVsRest, SharedKernels. fit() is called from many threads at once.
template <class E, class Label>
concept LabelEstimator = ClassLabel<Label> &&
    requires(const E& estimator, const Matrix& x, const std::vector<Label>& labels) {
    { estimator.fit(x, labels).model.predict(x) } -> std::same_as<std::vector<Label>>;
    { estimator.fit(x, labels).model.size() } -> std::convertible_to<Index>;
};

namespace detail {

template <class Estimator, class Targets>
using FitOf = std::remove_cvref_t<decltype(std::declval<const Estimator&>().fit(
    std::declval<const Matrix&>(), std::declval<const Targets&>()))>;

/// The result of fold k, before the folds are put together.
template <class FitType, class Predictions>
struct FoldOutcome {
    FoldResult<FitType> result{};
    Predictions predictions{};
    Matrix probabilities{};
};

/// Targets of some samples, q x n; a column for one output, as all fits take it.
template <class Scalar = double>
Matrix targets_at(const Matrix& y, const std::vector<Index>& samples) {
    Matrix part = columns_of<Scalar>(y, samples);
    if (part.rows() == 1) part.resize(part.cols(), 1);
    return part;
}
template <ClassLabel Label>
std::vector<Label> targets_at(const std::vector<Label>& labels, const std::vector<Index>& samples) {
    std::vector<Label> part;
    for (const Index i : samples) part.push_back(labels[static_cast<std::size_t>(i)]);
    return part;
}

template <bool watched, class Estimator, class Targets>
FitOf<Estimator, Targets> fit_part(const Estimator& estimator, const Matrix& x, const Targets& y,
                                   [[maybe_unused]] const ObserverFunction& observer) {
    if constexpr (watched) {
        if constexpr (requires { estimator.fit(x, y, observer); })
            return estimator.fit(x, y, observer);
        else
            return estimator.fit(x, y);
    } else {
        return estimator.fit(x, y);
    }
}

/// Probabilities of a model that was fitted with the logistic loss; empty of others.
template <class Model>
Matrix probabilities_of(const Model& model, const Matrix& x) {
    if constexpr (requires { model.probability(x), model.loss(); })
        if (model.loss() == "logistic") return model.probability(x);
    return {};
}

/// The cross-validation of one estimator on samples: y is q x n, or labels.
template <class Estimator, class Targets>
class FoldFits {
public:
    using FitType = FitOf<Estimator, Targets>;
    using Outcome = FoldOutcome<FitType, std::remove_cvref_t<decltype(std::declval<FitType&>().model.predict(
                                             std::declval<Matrix&>()))>>;

    /// Keeps what it is given by reference.
    FoldFits(const Estimator& estimator, const Matrix& x, const Targets& y, const Folds& folds)
        : estimator_(estimator), x_(x), y_(y), folds_(folds) {
        require(x_.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
        require(folds_.samples() == x_.cols(), "folds has ", folds_.samples(), " samples but x has ",
                x_.cols(), " columns; x is d x n, one sample per column");
        require_finite(x_, "x");
    }

    /// Fits and predicts the folds, in parallel. Each is a fit by itself, so that the results do not depend on the number
    /// of threads.
    template <bool watched>
    std::vector<Outcome> run(const ObserverFunction& observer) const {
        std::vector<Outcome> outcomes(static_cast<std::size_t>(folds_.count()));
        JointWatch watch(observer, "folds", std::vector<Index>(outcomes.size(), x_.cols()));
        parallel_for(folds_.count(), [&](Index k) {
            Outcome& outcome = outcomes[static_cast<std::size_t>(k)];
            if (!watch.stopped()) fit_fold<watched>(k, watch, outcome);
            watch.finish(k, outcome.result.seconds);
        });
        return outcomes;
    }

private:
    using Clock = std::chrono::steady_clock;

    template <bool watched>
    void fit_fold(Index k, JointWatch& watch, Outcome& outcome) const {
        const Split split = folds_.split(k);
        const Matrix train = columns_of<double>(x_, split.train), test = columns_of<double>(x_, split.test);
        const Targets targets = targets_at(y_, split.train);
        const Clock::time_point start = Clock::now();
        const bool reports = watched && watch.watched();
        FoldResult<FitType>& result = outcome.result;
        try {
            if (reports)
                result.fit.emplace(fit_part<watched>(estimator_, train, targets, watch.part(k)));
            else
                result.fit.emplace(fit_part<false>(estimator_, train, targets, {}));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(text(error.what(), " (in the training part of fold ", k, ")"));
        }
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        result.kernels = result.fit->model.size();
        result.finished = !watch.cut_short(k);
        if (!result.finished) return;
        outcome.predictions = result.fit->model.predict(test);
        outcome.probabilities = probabilities_of(result.fit->model, test);
    }

    const Estimator& estimator_;
    const Matrix& x_;
    const Targets& y_;
    const Folds& folds_;
};

}  // namespace detail

}  // namespace kernelet
