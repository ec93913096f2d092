#pragma once

#include <kernelet/search/search_problem.hpp>

#include <vector>

namespace kernelet {

/// A search problem on some of the samples of another.
class PartialProblem {
public:
    PartialProblem(const SearchProblem& whole, const std::vector<Index>& which)
        : PartialProblem(whole, which, whole.priors) {}
    PartialProblem(const SearchProblem& whole, const std::vector<Index>& which, const Priors& priors)
        : points_(whole.points.some(which)),
          y_(detail::columns_of(whole.loss.target(), which)),
          weights_(detail::entries_of(whole.loss.weights(), which)),
          problem_{whole.kernel, whole.domain, points_,    whole.loss.on(y_, weights_),
                   priors,       whole.trend,  whole.seed, whole.watch} {}
    PartialProblem(const PartialProblem&) = delete;  // the problem holds references to the others
    PartialProblem& operator=(const PartialProblem&) = delete;

    const SearchProblem& problem() const { return problem_; }

private:
    detail::TiledPoints points_;
    Matrix y_;
    Vector weights_;
    SearchProblem problem_;
};

}  // namespace kernelet
