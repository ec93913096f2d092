#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

/// How often each class was predicted as which: rows are true classes, columns predicted ones. A value.
template <ClassLabel Label>
class ConfusionMatrix {
public:
    /// As many labels of each: std::vector or Eigen vectors. The classes are all labels that occur.
    template <class Labels, class Predicted>
    ConfusionMatrix(const Labels& labels, const Predicted& predicted) {
        const auto truth = detail::gathered_labels(labels);
        const auto guess = detail::gathered_labels(predicted);
        detail::require(truth.size() == guess.size(), "labels has ", truth.size(),
                        " entries but predicted has ", guess.size());
        detail::require(!truth.empty(), "labels is empty");
        detail::require_ordered(truth);
        detail::require_ordered(guess);
        classes_.assign(truth.begin(), truth.end());
        classes_.insert(classes_.end(), guess.begin(), guess.end());
        std::sort(classes_.begin(), classes_.end());
        classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
        counts_.assign(classes_.size(), std::vector<Index>(classes_.size(), 0));
        for (std::size_t i = 0; i < truth.size(); ++i) ++counts_[place(truth[i])][place(guess[i])];
        samples_ = static_cast<Index>(truth.size());
    }

    /// In ascending order.
    const std::vector<Label>& classes() const { return classes_; }
    Index samples() const { return samples_; }

    /// How many samples of class number `truth` were predicted as class number `predicted`.
    Index count(std::size_t truth, std::size_t predicted) const { return counts_.at(truth).at(predicted); }

    Index right() const {
        Index sum = 0;
        for (std::size_t c = 0; c < classes_.size(); ++c) sum += counts_[c][c];
        return sum;
    }
    double share_right() const { return static_cast<double>(right()) / static_cast<double>(samples_); }

    /// The share of the samples of a class, by its number, that were predicted as such; NaN of a class without samples.
    double recall(std::size_t which) const {
        Index all = 0;
        for (const Index count : counts_.at(which)) all += count;
        return share(counts_[which][which], all);
    }
    /// The share of the samples predicted as a class that are of it; NaN of a class that was never predicted.
    double precision(std::size_t which) const {
        Index all = 0;
        for (const std::vector<Index>& row : counts_) all += row.at(which);
        return share(counts_[which][which], all);
    }

private:
    std::size_t place(const Label& label) const {
        return static_cast<std::size_t>(std::lower_bound(classes_.begin(), classes_.end(), label) -
                                        classes_.begin());
    }
    static double share(Index part, Index all) {
        return all > 0 ? static_cast<double>(part) / static_cast<double>(all)
                       : std::numeric_limits<double>::quiet_NaN();
    }

    std::vector<Label> classes_{};
    std::vector<std::vector<Index>> counts_{};
    Index samples_ = 0;
};
template <class Labels, class Predicted>
ConfusionMatrix(const Labels&, const Predicted&)
    -> ConfusionMatrix<typename decltype(detail::gathered_labels(std::declval<const Labels&>()))::value_type>;

namespace detail {

/// 0.9815 as "98.15 %"; "-" where there is none.
inline std::string percent_text(double share) {
    if (!std::isfinite(share)) return "-";
    constexpr double hundredths = 10000.0;
    return text(std::round(hundredths * share) / 100.0, " %");
}

/// Rows of cells, each column as wide as its widest cell and set to the right.
inline std::string table_text(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c == widths.size()) widths.push_back(0);
            widths[c] = std::max(widths[c], row[c].size());
        }
    std::string table;
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            table += (c > 0 ? "  " : "") + std::string(widths[c] - row[c].size(), ' ') + row[c];
        table += '\n';
    }
    return table;
}

}  // namespace detail

/// A table: a row for each true class, a column for each predicted one, with recall and precision.
template <ClassLabel Label>
std::string to_string(const ConfusionMatrix<Label>& confusion) {
    const auto name = [](const Label& label) {
        if constexpr (std::is_convertible_v<const Label&, std::string_view>)
            return std::string(std::string_view(label));
        else
            return detail::label_text<Label>(label);
    };
    const std::size_t classes = confusion.classes().size();
    std::vector<std::vector<std::string>> rows{{"true \\ predicted"}};
    std::vector<std::string> last{"precision"};
    for (const Label& label : confusion.classes()) rows.front().push_back(name(label));
    rows.front().push_back("recall");
    for (std::size_t t = 0; t < classes; ++t) {
        std::vector<std::string> row{name(confusion.classes()[t])};
        for (std::size_t p = 0; p < classes; ++p) row.push_back(std::to_string(confusion.count(t, p)));
        row.push_back(detail::percent_text(confusion.recall(t)));
        rows.push_back(row);
        last.push_back(detail::percent_text(confusion.precision(t)));
    }
    last.push_back(detail::percent_text(confusion.share_right()));
    rows.push_back(last);
    return detail::table_text(rows);
}

}  // namespace kernelet
