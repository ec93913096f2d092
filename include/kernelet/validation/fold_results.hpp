#pragma once

#include <kernelet/detail/labels.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

/// The results of cross_validate().
namespace kernelet {

/// The kind of the scores of a cross-validation.
enum class ScoreKind {
    mean_squared_error,  ///< of targets, over samples and outputs
    share_wrong          ///< of labels, between 0 and 1
};

constexpr std::string_view to_string(ScoreKind kind) {
    return kind == ScoreKind::share_wrong ? "share wrong" : "mean squared error";
}

/// One fold of a cross-validation.
template <class FitType>
struct FoldResult {
    /// The result of fit() on the training part, as by a direct call; none where a stop came before it began.
    std::optional<FitType> fit{};
    /// The fit ran to its end. The samples of other folds are neither predicted nor scored.
    bool finished = false;
    Index kernels{};
    double score =
        std::numeric_limits<double>::quiet_NaN();  ///< on the samples of the fold, where it is finished
    double seconds{};                              ///< of the fit
};

/// The results that all cross-validations have in common.
template <class FitType>
struct CrossValidation {
    std::vector<FoldResult<FitType>> folds{};
    /// The samples of finished folds, ascending: all samples but those for training only, unless stopped.
    std::vector<Index> tested{};
    ScoreKind kind = ScoreKind::mean_squared_error;
    double score =
        std::numeric_limits<double>::quiet_NaN();  ///< over the tested samples; NaN where there are none
    bool stopped = false;                          ///< the observer left folds unfinished

    /// Over the finished folds.
    double mean_kernels() const {
        return mean_of([](const auto& fold) { return static_cast<double>(fold.kernels); });
    }
    /// Standard deviation of the scores of the finished folds over the square root of their number. The folds share
    /// training samples, so that it is rather too small (Bengio and Grandvalet 2004).
    double standard_error() const {
        const double mean = mean_of([](const auto& fold) { return fold.score; });
        const auto count = static_cast<double>(
            std::count_if(folds.begin(), folds.end(), [](const auto& f) { return f.finished; }));
        const double variance =
            mean_of([&](const auto& fold) { return (fold.score - mean) * (fold.score - mean); });
        return std::sqrt(variance / (count - 1.0));
    }

private:
    template <class Value>
    double mean_of(const Value& value) const {
        double sum = 0.0, count = 0.0;
        for (const FoldResult<FitType>& fold : folds) {
            if (!fold.finished) continue;
            sum += value(fold);
            count += 1.0;
        }
        return sum / count;
    }
};

/// A cross-validation on targets. Where y is a column, so are predictions and probabilities.
template <class FitType>
struct TargetCrossValidation : CrossValidation<FitType> {
    /// Each sample of `tested` by the model fitted without its fold: as many rows or columns as y has samples.
    Matrix predictions{};
    /// P(+1) in the same shape, where the models were fitted with the logistic loss; else empty.
    Matrix probabilities{};
};

/// A cross-validation on labels.
template <class FitType, ClassLabel Label>
struct LabelCrossValidation : CrossValidation<FitType> {
    std::vector<Label> predictions{};  ///< of `tested`, each by the model that was fitted without its fold
    std::vector<Label> classes{};      ///< all labels given, each once, ascending
    /// classes x tested, where the models were fitted with the logistic loss; else empty. Zero for a class that the
    /// training part did not have.
    Matrix probabilities{};
};

}  // namespace kernelet
