#pragma once

#include <kernelet/sources/message.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// The results of a pass over a set of samples: sums, and after them largest values.
struct PassTotals {
    Vector sums{};
    Vector maxima{};

    static PassTotals zero(Index sums, Index maxima) { return {Vector::Zero(sums), Vector::Zero(maxima)}; }
    /// Adds what another set of samples contributes.
    void join(const PassTotals& other) {
        for (Index k = 0; k < sums.size(); ++k) sums(k) += other.sums(k);
        for (Index k = 0; k < maxima.size(); ++k) maxima(k) = std::max(maxima(k), other.maxima(k));
    }
};

template <class Archive>
void visit(Archive& archive, PassTotals& totals) {
    archive(totals.sums);
    archive(totals.maxima);
}

/// A sum over numbered blocks in the order of a binary tree over their numbers: the totals of blocks 2k and 2k + 1 are
/// joined, then those of pairs, and so on. The order depends on the numbers alone, so that a process which holds some
/// consecutive blocks may sum the subtrees that are complete and send these, O(log blocks) of them: the result has the
/// same bits for any number of processes and threads.
class BlockTree {
public:
    /// The total of the blocks index·2^level ... (index + 1)·2^level − 1.
    struct Node {
        Index level{};
        Index index{};
        PassTotals totals{};
    };

    /// Adds what stands right of everything added so far.
    void add(Node node) {
        while (!nodes_.empty() && node.index % 2 == 1 && nodes_.back().level == node.level &&
               nodes_.back().index == node.index - 1) {
            nodes_.back().totals.join(node.totals);
            node = {node.level + 1, node.index / 2, std::move(nodes_.back().totals)};
            nodes_.pop_back();
        }
        nodes_.push_back(std::move(node));
    }

    /// The largest complete subtrees, from left to right.
    std::vector<Node>& nodes() { return nodes_; }

    /// The total of all, from the right to the left.
    PassTotals total() && {
        PassTotals out = std::move(nodes_.back().totals);
        for (std::size_t k = nodes_.size() - 1; k-- > 0;) {
            nodes_[k].totals.join(out);
            out = std::move(nodes_[k].totals);
        }
        return out;
    }

private:
    std::vector<Node> nodes_{};
};

template <class Archive>
void visit(Archive& archive, BlockTree::Node& node) {
    archive(node.level);
    archive(node.index);
    visit(archive, node.totals);
}

}  // namespace kernelet::detail
