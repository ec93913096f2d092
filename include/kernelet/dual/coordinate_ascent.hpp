#pragma once

#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/dual/solver_options.hpp>

namespace kernelet {

/// The augmented dual by Newton steps on a block of λ at a time, ᾱ at the nodes kept up to date: a block of b
/// samples costs b (B + |on|) kernel values and O(b² |on| + b³) work, and nothing of size n² is ever held.
/// Samples in spatial order make blocks of neighbours, between which the coupling is strongest. One output,
/// no trend, which would tie all blocks together.
class CoordinateAscent {
public:
    explicit CoordinateAscent(CoordinateAscentOptions options = {}) : options_(options) {
        options_.validate();
    }

    const CoordinateAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    CoordinateAscentOptions options_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/dual/coordinate_ascent_impl.hpp>
#endif
