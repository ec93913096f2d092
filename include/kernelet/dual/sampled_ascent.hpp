#pragma once

#include <kernelet/dual/coordinate_ascent.hpp>
#include <kernelet/dual/solver_options.hpp>

#include <utility>

namespace kernelet {

/// The dual on drawn nodes, for domains that have no rule (d ≥ 4) and samples too many for dense systems: a
/// stage draws B nodes, the next of one low-discrepancy sequence under ρ, solves the dual on them with Inner,
/// begun at the last stage's λ, and looks at D on as many nodes again, which λ has not seen. It stops where
/// the two agree, not after a fixed T; otherwise B doubles. Most of the way is thus gone on few nodes.
///
/// Second-order steps on a frozen batch, rather than a new batch for each gradient step: K = ∫kk is
/// numerically singular, and at n = 1000 accelerated proximal steps with growing batches and averaging came
/// to no certificate in a minute where this takes a second.
/// Memory O(n + B) with CoordinateAscent inside.
template <class Inner = CoordinateAscent>
class SampledAscent {
public:
    explicit SampledAscent(SampledAscentOptions options = {}, Inner inner = Inner{})
        : options_(options), inner_(std::move(inner)) {
        options_.validate();
    }

    const SampledAscentOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    SampledAscentOptions options_;
    Inner inner_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/dual/sampled_ascent_impl.hpp>
#endif
