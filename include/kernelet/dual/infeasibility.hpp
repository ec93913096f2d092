#pragma once

#include <kernelet/dual/dual_problem.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kernelet {

/// Whether λ proves, numerically, that the domain cannot carry the data. Every α that meets the tolerance
/// satisfies
///     min over C of ⟨λ, ŷ⟩ ≤ ⟨λ, f⟩ = ∫ ⟨ᾱ, α⟩ dρ ≤ ‖ᾱ‖ ‖α‖,
/// so ‖α‖ ≥ min⟨λ, ŷ⟩ / ‖ᾱ‖. Where that exceeds `most_amplification` times the size of y, only coefficients
/// that cancel to as many digits could meet it, and the problem counts as infeasible (at conflicting
/// duplicates the bound is infinite). On the noisy chirp from 51 to 501 samples the bound is between 100 and
/// 2000.
struct InfeasibilityTest {
    double most_amplification = 1e6;

    template <class Kernel, class Loss, class Domain>
    bool proves(const DualProblem<Kernel, Loss, Domain>& problem, const ConstMatrixRef& lambda,
                const ConstMatrixRef& field, const ConstVectorRef& weights) const {
        const double gain = problem.feasible.minimum(lambda);
        if (!(gain > 0.0)) return false;
        double squares = 0.0;
        for (Index j = 0; j < field.cols(); ++j)
            for (Index o = 0; o < field.rows(); ++o) squares += field(o, j) * field(o, j) * weights(j);
        const double size = std::sqrt(squares);
        const Matrix& y = problem.feasible.target();
        const double scale = detail::root_mean_square(y);
        return gain > most_amplification * scale * size;
    }
};

/// The samples that carry a proof of infeasibility: those with the largest ‖λ_i‖, down to a tenth of the
/// largest.
inline std::vector<Index> culprits(const ConstMatrixRef& lambda) {
    constexpr double least_share = 0.1;
    const Vector prices = detail::column_norms(lambda);
    std::vector<Index> order(static_cast<std::size_t>(prices.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return prices(a) > prices(b); });
    while (!order.empty() && prices(order.back()) < least_share * prices(order.front())) order.pop_back();
    return order;
}

}  // namespace kernelet
