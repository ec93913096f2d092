#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

/// Scores of predictions. Numbers come in two matrices of the same shape: columns of n, or q x n.
namespace kernelet {

/// The least probability in log_loss(): a true class of probability zero costs 34.5.
inline constexpr double least_probability = 1e-15;

namespace detail {

inline void require_same_shape(const Matrix& a, const Matrix& b, std::string_view a_name,
                               std::string_view b_name) {
    require(a.rows() == b.rows() && a.cols() == b.cols(), a_name, " is ", a.rows(), " x ", a.cols(), " but ",
            b_name, " is ", b.rows(), " x ", b.cols());
    require(a.size() > 0, a_name, " and ", b_name, " are empty");
    require_finite(a, a_name);
    require_finite(b, b_name);
}

/// The mean of f(predicted, y) over all entries.
template <class Loss>
double mean_loss(const Matrix& predicted, const Matrix& y, const Loss& loss) {
    require_same_shape(predicted, y, "predicted", "y");
    double sum = 0.0;
    for (Index k = 0; k < y.size(); ++k) sum += loss(predicted.data()[k], y.data()[k]);
    return sum / static_cast<double>(y.size());
}

inline void require_probabilities(const Matrix& p) {
    constexpr double rounding = 1e-9;
    require_finite(p, "probabilities");
    for (Index j = 0; j < p.cols(); ++j)
        for (Index i = 0; i < p.rows(); ++i)
            require(p(i, j) >= 0.0 && p(i, j) <= 1.0 + rounding, "probabilities(", i, ", ", j, ") is ",
                    p(i, j), "; probabilities lie between 0 and 1");
}

/// Probabilities of +1 and targets −1 and +1.
inline void require_two_classes(const Matrix& p, const Matrix& y) {
    require_same_shape(p, y, "probabilities", "y");
    require_probabilities(p);
    for (Index j = 0; j < y.cols(); ++j)
        for (Index i = 0; i < y.rows(); ++i)
            require(y(i, j) == 1.0 || y(i, j) == -1.0, "y(", i, ", ", j, ") is ", y(i, j),
                    "; the targets of two classes are -1 and +1");
}

/// The row of each label in probabilities that are classes x n; −1 where it has none.
template <ClassLabel Label>
std::vector<Index> class_rows(const Matrix& p, const std::vector<Label>& labels,
                              const std::vector<Label>& classes) {
    require(p.rows() == static_cast<Index>(classes.size()), "probabilities has ", p.rows(), " rows for ",
            classes.size(), " classes");
    require(p.cols() == static_cast<Index>(labels.size()), "labels has ", labels.size(),
            " entries but probabilities has ", p.cols(), " columns");
    require(p.size() > 0, "probabilities is empty");
    require_probabilities(p);
    for (std::size_t c = 1; c < classes.size(); ++c)
        require(classes[c - 1] < classes[c], "classes must be distinct and ascending; number ", c,
                " is not above the one before");
    std::vector<Index> rows;
    for (const Label& label : labels) rows.push_back(class_of<Label>(classes, label));
    return rows;
}

}  // namespace detail

/// Mean of (ŷ − y)² over all entries.
template <class P, class Y>
double mean_squared_error(const Eigen::MatrixBase<P>& predicted, const Eigen::MatrixBase<Y>& y) {
    return detail::mean_loss(predicted.template cast<double>(), y.template cast<double>(),
                             [](double a, double b) { return (a - b) * (a - b); });
}

/// √mean_squared_error, in the unit of y.
template <class P, class Y>
double root_mean_squared_error(const Eigen::MatrixBase<P>& predicted, const Eigen::MatrixBase<Y>& y) {
    return std::sqrt(mean_squared_error(predicted, y));
}

/// Mean of |ŷ − y| over all entries.
template <class P, class Y>
double mean_absolute_error(const Eigen::MatrixBase<P>& predicted, const Eigen::MatrixBase<Y>& y) {
    return detail::mean_loss(predicted.template cast<double>(), y.template cast<double>(),
                             [](double a, double b) { return std::abs(a - b); });
}

/// 1 − Σ (ŷ − y)² / Σ (y − ȳ)², ȳ the mean of each output: 1 is exact, 0 no better than the mean. NaN where y does not
/// vary. A matrix of one column is one output.
template <class P, class Y>
double r_squared(const Eigen::MatrixBase<P>& predicted, const Eigen::MatrixBase<Y>& y) {
    const double residual = mean_squared_error(predicted, y) * static_cast<double>(y.size());
    Matrix targets = y.template cast<double>();
    if (targets.cols() == 1) targets.resize(1, targets.rows());
    double total = 0.0;
    for (Index o = 0; o < targets.rows(); ++o) {
        double mean = 0.0;
        for (Index i = 0; i < targets.cols(); ++i)
            mean += targets(o, i) / static_cast<double>(targets.cols());
        for (Index i = 0; i < targets.cols(); ++i) total += (targets(o, i) - mean) * (targets(o, i) - mean);
    }
    return total > 0.0 ? 1.0 - residual / total : std::numeric_limits<double>::quiet_NaN();
}

/// Mean of −log p, p the probability of what is true, at least `least`: the price of a message per sample, in nats. P(+1)
/// and targets −1 and +1 in the same shape.
template <class P, class Y>
double log_loss(const Eigen::MatrixBase<P>& probabilities, const Eigen::MatrixBase<Y>& y,
                double least = least_probability) {
    const Matrix p = probabilities.template cast<double>(), targets = y.template cast<double>();
    detail::require_two_classes(p, targets);
    detail::require_positive(least, "least");
    return detail::mean_loss(p, targets, [&](double probability, double target) {
        return -std::log(std::clamp(target > 0.0 ? probability : 1.0 - probability, least, 1.0));
    });
}

/// Log loss of several classes: probabilities is classes x n, rows in the order of `classes`, ascending; n labels in a
/// std::vector or an Eigen vector. A label that is none of the classes has probability zero.
template <class P, class Labels, ClassLabel Label>
double log_loss(const Eigen::MatrixBase<P>& probabilities, const Labels& labels,
                const std::vector<Label>& classes, double least = least_probability) {
    const Matrix p = probabilities.template cast<double>();
    const std::vector<Index> rows = detail::class_rows<Label>(p, detail::gathered_labels(labels), classes);
    detail::require_positive(least, "least");
    double sum = 0.0;
    for (Index i = 0; i < p.cols(); ++i) {
        const Index row = rows[static_cast<std::size_t>(i)];
        sum -= std::log(std::clamp(row < 0 ? 0.0 : p(row, i), least, 1.0));
    }
    return sum / static_cast<double>(p.cols());
}

/// Mean of (p − 1)² where y is +1 and p² where it is −1, p = P(+1) (Brier 1950, halved): 0 is exact, 1/4 a coin.
template <class P, class Y>
double brier_score(const Eigen::MatrixBase<P>& probabilities, const Eigen::MatrixBase<Y>& y) {
    const Matrix p = probabilities.template cast<double>(), targets = y.template cast<double>();
    detail::require_two_classes(p, targets);
    return detail::mean_loss(p, targets, [](double probability, double target) {
        const double miss = probability - (target > 0.0 ? 1.0 : 0.0);
        return miss * miss;
    });
}

/// Mean of Σ_c (p_c − [c is true])², between 0 and 2 (Brier 1950); of two classes twice the score above.
template <class P, class Labels, ClassLabel Label>
double brier_score(const Eigen::MatrixBase<P>& probabilities, const Labels& labels,
                   const std::vector<Label>& classes) {
    const Matrix p = probabilities.template cast<double>();
    const std::vector<Index> rows = detail::class_rows<Label>(p, detail::gathered_labels(labels), classes);
    double sum = 0.0;
    for (Index i = 0; i < p.cols(); ++i) {
        const Index row = rows[static_cast<std::size_t>(i)];
        if (row < 0) sum += 1.0;  // what is true has no row
        for (Index c = 0; c < p.rows(); ++c) {
            const double miss = p(c, i) - (c == row ? 1.0 : 0.0);
            sum += miss * miss;
        }
    }
    return sum / static_cast<double>(p.cols());
}

}  // namespace kernelet
