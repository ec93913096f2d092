#pragma once

#include <kernelet/model/c_expansion.hpp>
#include <kernelet/multiclass/c_labels.hpp>
#include <kernelet/multiclass/ensemble.hpp>

#include <cstddef>
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

/// What each kernel adds to which classifiers, kernels of all groups one behind the other.
struct CTerms {
    std::vector<Index> group{0};  ///< kernels of group g: from group[g] to before group[g + 1]
    std::vector<Index> first{0};  ///< terms of kernel j: from first[j] to before first[j + 1]
    std::vector<Index> classifier{};
    std::vector<double> coefficient{};

    explicit CTerms(const CEnsemble& ensemble) {
        for (const KernelGroup& one : ensemble.groups) group.push_back(group.back() + one.nodes.cols());
        struct Term {
            Index classifier{};
            double coefficient{};
        };
        std::vector<std::vector<Term>> terms(static_cast<std::size_t>(group.back()));
        for (std::size_t m = 0; m < ensemble.sums.size(); ++m)
            for (const KernelTerm& term : ensemble.sums[m].terms) {
                const Index j = group[static_cast<std::size_t>(ensemble.sums[m].group)] + term.kernel;
                if (term.coefficient != 0.0)
                    terms[static_cast<std::size_t>(j)].push_back({static_cast<Index>(m), term.coefficient});
            }
        for (const std::vector<Term>& of_kernel : terms) {
            for (const Term& term : of_kernel) {
                classifier.push_back(term.classifier);
                coefficient.push_back(term.coefficient);
            }
            first.push_back(static_cast<Index>(classifier.size()));
        }
    }
    Index size() const { return static_cast<Index>(classifier.size()); }
};

}  // namespace kernelet::detail
