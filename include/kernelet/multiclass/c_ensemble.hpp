#pragma once

#include <kernelet/model/c_family.hpp>
#include <kernelet/multiclass/c_labels.hpp>
#include <kernelet/multiclass/ensemble.hpp>

#include <string>
#include <vector>

namespace kernelet::detail {

/// An ensemble without the types of its kernel and its labels.
struct CEnsemble {
    CFamily family{};
    Scheme scheme{};
    const std::vector<KernelGroup>& groups;
    const std::vector<KernelSum>& sums;
    Matrix nodes{};               ///< of all groups, one behind the other
    std::vector<double> reach{};  ///< of each node; empty for a family without
    CLabels labels{};
    std::string loss{};

    Index dimension() const { return groups.front().scaling.shift.size(); }
    Index classes() const { return static_cast<Index>(labels.constants.size()); }
    Index classifiers() const { return static_cast<Index>(sums.size()); }
    bool pairs() const { return scheme == Scheme::one_vs_one; }
    /// Whether some classifier has a linear trend.
    bool slopes() const {
        bool any = false;
        for (const KernelSum& sum : sums) any = any || sum.slopes.size() > 0;
        return any;
    }
};

}  // namespace kernelet::detail
