#pragma once

#include <kernelet/search/backward_elimination.hpp>
#include <kernelet/search/final_model.hpp>
#include <kernelet/search/forward_selection.hpp>
#include <kernelet/search/linear_elimination.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// The best models of other sizes, from the one that a search found: one kernel fewer at a time down to none, each time
/// without the kernel after whose removal and a minimisation the cost is least, and one kernel more at a time up to half
/// as many again, each time with the candidate of the largest gain. While a model has more parameters than are
/// minimised over, linear_elimination() removes a fifth of its kernels at a time. Costs about one
/// minimisation per size and kernel tried.
template <class Scalar = double>
class SizePath {
public:
    /// Holds references. The problem has the priors and the trend that the search ended with.
    SizePath(const SearchProblem& problem, const Matrix& candidates, const Options& options)
        : problem_(problem),
          options_(options),
          lm_(problem),
          candidates_(problem, candidates, options.search.forward.gain_samples) {}

    /// By rising size, that of `found` among them. After a stop, those that there are.
    std::vector<KernelExpansion> run(const SearchResult& found) {
        lm_.set_ridge(found.ridge);
        std::vector<KernelExpansion> models{found.model};
        sizes_ =
            found.model.size() + 1 + std::max<Index>(0, largest(found.model.size()) - found.model.size());
        try {
            shrink(found.model, models);
            grow(found.model, models);
        } catch (const Interrupted&) {
            // the models so far
        }
        std::stable_sort(models.begin(), models.end(),
                         [](const auto& l, const auto& r) { return l.size() < r.size(); });
        return models;
    }

private:
    bool movable(Index kernels) const { return kernels * lm_.free_rows() <= options_.search.max_parameters; }

    Index largest(Index found) const {
        const Index parameters = lm_.free_rows() + problem_.outputs();
        const Index affordable = std::max<Index>(1, problem_.loss.target().size() / parameters);
        constexpr Index at_least = 2;
        return std::min(
            {affordable, options_.max_kernels.value_or(affordable), found + std::max(at_least, found / 2)});
    }

    /// Throws Interrupted after a stop, with the model among the others.
    void add(const KernelExpansion& model, std::vector<KernelExpansion>& models) {
        models.push_back(model);
        if (problem_.watch == nullptr) return;
        const auto count = static_cast<Index>(models.size());
        const auto part = [&](Index done) { return static_cast<double>(done) / static_cast<double>(sizes_); };
        problem_.watch->advance(part(count), part(count + 1));
        problem_.watch->report({.iteration = count, .iterations = sizes_});
    }

    void grow(const KernelExpansion& found, std::vector<KernelExpansion>& models) {
        SearchState<Scalar> state{lm_, criterion_, candidates_, options_.search};
        FittedKernels model = lm_.evaluate(found.nodes, found);
        while (model.size() < largest(found.size()) && movable(model.size() + 1) && candidates_.size() > 0) {
            const Vector gains = candidates_(model.fit);
            model = detail::settled(
                state, detail::with_candidate(state, model, best_candidate(candidates_.nodes(), gains)));
            add(model.fit, models);
        }
    }

    void shrink(const KernelExpansion& found, std::vector<KernelExpansion>& models) {
        SearchState<Scalar> state{lm_, criterion_, candidates_, options_.search};
        FittedKernels model = lm_.evaluate(found.nodes, found);
        while (model.size() > 0) {
            model = movable(model.size()) ? without_cheapest(state, model) : without_fifth(model);
            add(model.fit, models);
        }
    }

    /// The model after the removal of least cost among those tried.
    FittedKernels without_cheapest(SearchState<Scalar>& state, FittedKernels& model) {
        std::optional<FittedKernels> best;
        for (const Index j : detail::removal_order(state, model)) {
            FittedKernels trial = lm_.resume(detail::without_kernel(state, model, j), options_.search.trial);
            if (!best || trial.cost < best->cost) best = std::move(trial);
        }
        return best->size() > 0 ? detail::settled(state, std::move(*best)) : std::move(*best);
    }

    FittedKernels without_fifth(const FittedKernels& model) {
        const Matrix& nodes = model.fit.nodes;
        const LeastSquaresProblem linear{
            problem_.kernel, problem_.points, problem_.loss.target(),         problem_.loss.weights(),
            lm_.ridge(),     problem_.trend,  detail::poll_of(problem_.watch)};
        const Index kept = nodes.cols() - std::max<Index>(1, nodes.cols() / 5);
        return lm_.evaluate(
            detail::columns_of<Scalar>(nodes, linear_elimination<Scalar>(linear, nodes, kept)));
    }

    const SearchProblem& problem_;
    const Options& options_;
    LevenbergMarquardt<Scalar> lm_;
    CandidateGains<Scalar> candidates_;
    Criterion criterion_{};
    Index sizes_ = 1;  // that there may be
};

}  // namespace kernelet
