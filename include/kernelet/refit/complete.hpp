#pragma once

#include <kernelet/refit/explained.hpp>
#include <kernelet/refit/goal.hpp>
#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// explained_by of what a model leaves over. Where samples are many, on some of them: who explains most shows
/// long before, and all candidates on all samples would be a third of a fit's time. They are in spatial
/// order, so that every so many-th is a fair part.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Vector explained_by(const Slide<Kernel, Omega, Loss>& slide, const Slid& model, const Matrix& candidates) {
    constexpr Index enough = 2000;
    const Index n = slide.points().size(), stride = (n + enough - 1) / enough;
    const Matrix prediction = slide.prediction(model);
    const Matrix pull = slide.loss().pull(prediction);
    const Vector curvature = slide.loss().curvature(prediction);
    if (stride == 1) return explained_by(slide.kernel(), slide.points(), candidates, pull, curvature);
    std::vector<Index> some;
    for (Index i = 0; i < n; i += stride) some.push_back(i);
    return explained_by(slide.kernel(), slide.points().some(some), candidates, detail::columns_of(pull, some),
                        detail::entries_of(curvature, some));
}

/// The model's nodes and the candidate that explains most of what it leaves over.
inline Matrix with_foremost(const Slid& model, const Matrix& candidates, const Vector& explained) {
    const double* first = explained.data();
    const Index best = std::max_element(first, first + explained.size()) - first;
    return with_column(model.nodes, detail::column_ref(candidates, best));
}

template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Matrix with_one_more(const Slide<Kernel, Omega, Loss>& slide, const Slid& model, const Matrix& candidates) {
    return with_foremost(model, candidates, explained_by(slide, model, candidates));
}

struct CompleteOptions {
    SlideOptions sliding{};
    /// Candidates tried where the one that explains most is not worth it: those that explain most after it,
    /// each apart from the others. What a kernel is good for shows only once all have slid.
    Index tries = 3;
    /// Kernels that need not be worth it themselves, as long as one after them is. An airfoil by kernels of
    /// one width: some folds stopped at 5 kernels and an error of 0.5, where 20 leave 0.3.
    Index patience = 2;
    /// Of the model, for each kernel added before a slide: a slide costs (K f)³.
    Index parameters_a_kernel = 75;
};

/// While the goal is not met, adds the candidate that explains most of what is left and slides, up to `most`
/// kernels; stops, at the best model seen, where kernels more are not worth it. The larger the model, the
/// more kernels are added, each to what the last left over, before all of them slide.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
Slid complete(const Slide<Kernel, Omega, Loss>& slide, const Goal& goal, const Matrix& candidates, Slid model,
              Index most, const CompleteOptions& options = {}) {
    const auto extended = [&](Index count) {
        Slid next = model;
        for (Index added = 0; added < count; ++added)
            next = slide(with_one_more(slide, next, candidates), {.max_steps = 0});
        return slide.from(std::move(next), options.sliding);
    };
    Slid best = model;
    for (Index idle = 0;
         idle <= options.patience && model.size() < most && candidates.cols() > 0 && !goal.met(model);) {
        const Index batch =
            std::min(std::max<Index>(1, model.size() * slide.free_rows() / options.parameters_a_kernel),
                     most - model.size());
        Slid next;
        if (batch > 1) next = extended(batch);
        if (batch == 1 || !goal.worth(best, next)) {
            const Vector explained = explained_by(slide, model, candidates);
            next = slide(with_foremost(model, candidates, explained), options.sliding);
            if (!goal.worth(best, next)) {
                const std::vector<Index> others =
                    foremost(slide.kernel(), slide.points(), candidates, explained, options.tries);
                for (std::size_t other = 1; other < others.size(); ++other) {
                    Slid trial =
                        slide(with_column(model.nodes, detail::column_ref(candidates, others[other])),
                              options.sliding);
                    if (goal.score(trial) < goal.score(next)) next = std::move(trial);
                }
            }
        }
        model = std::move(next);
        ++idle;
        if (goal.worth(best, model)) {
            best = model;
            idle = 0;
        }
    }
    return goal.met(model) ? model : best;
}

}  // namespace kernelet
