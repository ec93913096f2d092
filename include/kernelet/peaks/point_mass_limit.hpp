#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/options.hpp>

namespace kernelet {

struct PointMassLimitOptions {
    /// Relative gap at which it stops; also how far below the threshold a maximum of ‖ᾱ‖ still is an atom.
    double gap = 1e-3;
    /// Most exchanges of atoms.
    Index max_exchanges = 50;
    /// Nodes among which maxima are looked for, off which they are then followed.
    Index max_nodes = 4096;
    PeakOptions peaks{};

    void validate() const {
        detail::require_positive(gap, "solver.gap");
        detail::require_at_least(max_exchanges, 1, "solver.max_exchanges");
        detail::require_at_least(max_nodes, 1, "solver.max_nodes");
        peaks.validate();
    }
};

/// The limit γ → ∞, where α tends to point masses m_j at nodes ω_j and the problem to total variation:
///     minimise τ Σ_j ‖m_j‖   subject to   f = Σ_j m_j k(·, ω_j) ∈ C,         τ = √(2γ),
///     maximise min over C of ⟨λ, ŷ⟩   subject to   ‖ᾱ(ω)‖ ≤ τ for all ω.
/// Sliding Frank–Wolfe by exchange: solve on the atoms at hand; where ‖ᾱ‖ exceeds τ, its maxima, found off
/// the grid by the ascents that find the peaks of every field, join the atoms, and those without mass leave.
/// An atom thus moves to its local maximum. The certificate is its own: λ τ/max‖ᾱ‖ is feasible for the
/// dual over all of Ω that the ascents see, P is the mass of a feasible model, and both are exact sums:
/// there is no integral and no error of one.
///
/// It stands right of field and peaks in the flow, being made of them; it is a dual solver in every other
/// respect. Without a threshold (γ = 0) τ = 1: mass has no other unit.
class PointMassLimit {
public:
    explicit PointMassLimit(PointMassLimitOptions options = {}) : options_(options) { options_.validate(); }

    const PointMassLimitOptions& options() const { return options_; }

    template <class Kernel, class Loss, class Domain>
    DualSolution solve(const DualProblem<Kernel, Loss, Domain>& problem,
                       const ObserverFunction& observer = {}) const;

private:
    PointMassLimitOptions options_;
};

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/peaks/point_mass_limit_impl.hpp>
#endif
