#pragma once

#include <kernelet/refit/complete.hpp>
#include <kernelet/refit/prune.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

struct FewestOptions {
    /// Of the slides inside the search.
    SlideOptions sliding{20, 1e-3, 0.1};
    /// Of what it ends with: to where the optimum decides and not the way there, which rounding may change.
    SlideOptions polishing{100, 1e-9, 0.1};
    PruneOptions pruning{};
    /// Times that the best model is given a kernel more, and pruned again, while that helps.
    Index rounds = 2;
    /// Kernels of the best model, the cheapest, that are tried to be replaced.
    Index swaps = 3;
    /// Of a model, K f, beyond which it is only completed and pruned: everything else would take minutes.
    Index most_parameters = 150;
};

/// The fewest kernels that a goal allows, from the peaks of a dual solution. Three starts: all peaks, those
/// of one sign, those of the other, since a wave is as well one broad kernel with dips as a kernel for every
/// half wave, and no sequence of single drops leads from one to the other. Each is completed, pruned, and the
/// best by the goal's score goes on. For several outputs, "sign" is along the axis in which coefficients vary
/// most.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Slid fewest(const Slide<Kernel, Omega, Loss>& slide, const Goal& goal, const Matrix& peaks,
            const Matrix& candidates, Index most, const FewestOptions& options = {}) {
    CompleteOptions completing;
    completing.sliding = options.sliding;
    const auto improved = [&](Slid model) {
        return prune(slide, goal, complete(slide, goal, candidates, std::move(model), most, completing),
                     options.sliding, options.pruning);
    };
    const Slid all = slide(peaks, options.sliding);
    Slid best = improved(all);
    double least = goal.score(best);
    const bool large = best.size() * slide.free_rows() > options.most_parameters;

    const auto consider = [&](Slid model) {
        const double score = goal.score(model);
        if (!(score < least)) return false;
        least = score;
        best = std::move(model);
        return true;
    };
    Vector side = Vector::Zero(peaks.cols());
    if (all.size() > 0) {
        const Matrix& a = all.at.coefficients;
        side = detail::product(a, detail::leading_axis(detail::product_tn(a, a)));
    }
    for (const double sign : {-1.0, 1.0}) {
        if (large) break;
        std::vector<Index> kept;
        for (Index j = 0; j < peaks.cols(); ++j)
            if (sign * side(j) > 0.0) kept.push_back(j);
        const auto count = static_cast<Index>(kept.size());
        if (count == 0 || count == peaks.cols()) continue;
        consider(improved(slide(detail::columns_of(peaks, kept), options.sliding)));
    }
    // One kernel more, then pruned again; and the same after a kernel less.
    const auto replaced = [&](const Slid& model) {
        return improved(slide(with_one_more(slide, model, candidates), options.sliding));
    };
    for (Index round = 0; round < options.rounds && candidates.cols() > 0 && !large; ++round)
        if (!consider(replaced(best))) break;
    if (candidates.cols() > 0 && !large) {
        const Slid from = best;
        std::vector<std::pair<double, Index>> order;
        for (Index j = 0; j < from.size(); ++j) order.emplace_back(from.at.price(j), j);
        std::sort(order.begin(), order.end());
        if (static_cast<Index>(order.size()) > options.swaps)
            order.resize(static_cast<std::size_t>(options.swaps));
        for (const auto& [price, j] : order)
            consider(replaced(slide(without_column(from.nodes, j), options.sliding)));
    }
    if constexpr (requires { slide.kernel().shapes(); }) {
        // No slide leads from one shape to another: each kernel tries them all.
        const std::vector<double> shapes = slide.kernel().shapes();
        for (Index j = 0; j < best.size(); ++j)
            for (const double shape : shapes) {
                if (j >= best.size() || best.nodes(best.nodes.rows() - 1, j) == shape) continue;
                Matrix other = best.nodes;
                other(other.rows() - 1, j) = shape;
                consider(prune(slide, goal, slide(std::move(other), options.sliding), options.sliding,
                               options.pruning));
            }
    }
    Slid polished = slide.from(best, options.polishing);
    return goal.score(polished) <= least ? polished : best;
}

}  // namespace kernelet
