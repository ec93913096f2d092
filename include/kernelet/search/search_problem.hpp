#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/detail/watch.hpp>
#include <kernelet/domains/any_domain.hpp>
#include <kernelet/kernels/any_kernel.hpp>
#include <kernelet/losses/any_loss.hpp>
#include <kernelet/search/kernel_expansion.hpp>
#include <kernelet/search/priors.hpp>
#include <kernelet/search/smoothed_loss.hpp>

#include <cstdint>

namespace kernelet {

class SharedLevel;

/// The cost that the search minimises,
///     Σ_i w_i ℓ(f(x_i), y_i) + ridge Σ_i w_i ‖a‖² + WidthPrior,   f = Σ_j a_j k(x, z_j; θ_j) + trend,
/// over the number of kernels, their nodes (z; θ) in the domain, a, and the trend. Holds references to
/// samples and watch: lives no longer than they do.
struct SearchProblem {
    AnyKernel kernel;
    AnyDomain domain;
    const detail::TiledPoints& points;  ///< x_i
    SmoothedLoss<AnyLoss> loss;         ///< of y_i with weights w_i
    Priors priors{};
    Trend trend = Trend::none;
    std::uint64_t seed = 1;
    detail::Watch* watch = nullptr;  ///< or none
    SharedLevel* shared = nullptr;   ///< where other processes take part in the sums over these samples

    Index outputs() const { return loss.target().rows(); }

    /// To be called in every loop that may take longer than some milliseconds.
    void poll() const {
        if (watch != nullptr) watch->poll();
    }

    /// f at the samples, q x n. O(n K d).
    Matrix prediction(const KernelExpansion& model) const { return expansion_values(kernel, points, model); }
};

}  // namespace kernelet
