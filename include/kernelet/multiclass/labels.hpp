#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/labels.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <vector>

namespace kernelet::detail {

/// Labels sorted out.
template <ClassLabel Label>
struct SortedLabels {
    std::vector<Label> classes{};               // distinct, in ascending order
    std::vector<std::vector<Index>> members{};  // the samples of each class, in their order

    /// Throws where there are fewer than two classes.
    SortedLabels(const std::vector<Label>& labels, Index samples) {
        require(static_cast<Index>(labels.size()) == samples, "labels has ", labels.size(),
                " entries but x has ", samples, " columns; one label per sample, x is d x n");
        require(samples > 0, "x has no columns; x is d x n, one sample per column, n >= 1");
        require_ordered(labels);
        classes = labels;
        std::sort(classes.begin(), classes.end());
        classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
        require(classes.size() >= 2, "labels has one class only, ", label_text<Label>(classes.front()),
                "; at least two classes are needed");
        members.resize(classes.size());
        for (std::size_t i = 0; i < labels.size(); ++i)
            members[static_cast<std::size_t>(class_of(classes, Label(labels[i])))].push_back(
                static_cast<Index>(i));
    }
};

}  // namespace kernelet::detail
