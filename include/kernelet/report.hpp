#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace kernelet {

/// How a fit ended. Misuse throws; everything else is one of these, with the best point kept.
enum class Status {
    converged,         ///< the dual's relative gap is within the solver's goal
    iteration_limit,   ///< the solver used up its iterations; the gap says how far it came
    stopped,           ///< an observer said stop
    kernel_limit,      ///< max_kernels bound: the model does not meet the tolerance
    tolerance_missed,  ///< the dual met the tolerance, the discrete model on its peaks does not
    infeasible         ///< no function of this domain meets the tolerance; the dual grows without bound
};

constexpr std::string_view to_string(Status status) {
    switch (status) {
        case Status::converged:
            return "converged";
        case Status::iteration_limit:
            return "iteration limit";
        case Status::stopped:
            return "stopped by the observer";
        case Status::kernel_limit:
            return "kernel limit";
        case Status::tolerance_missed:
            return "tolerance missed by the discrete model";
        case Status::infeasible:
            return "infeasible";
    }
    return "unknown";
}

/// One line of a solver's life, given to the observer.
struct Progress {
    std::string_view stage{};  ///< "dual", "peaks", "refit"
    Index iteration{};
    Index iterations{};  ///< the most there can be in this stage
    double dual_value{};
    double gap = std::numeric_limits<double>::infinity();  ///< relative, where the solver knows it
    double seconds{};                                      ///< since the fit began
};

/// What an observer answers.
enum class Verdict { proceed, stop };

/// How solvers hold an observer; empty: nobody watches.
using ObserverFunction = std::function<Verdict(const Progress&)>;

struct StageSeconds {
    double dual{};
    double peaks{};
    double refit{};
    double total() const { return dual + peaks + refit; }
};

/// (P − D) relative to the larger of |P| and |D|; 0 where both vanish.
inline double relative_gap(double primal, double dual) {
    const double scale = std::max(std::abs(primal), std::abs(dual));
    return scale > 0.0 ? (primal - dual) / scale : 0.0;
}

/// What a fit has to say about itself.
struct Report {
    Status status = Status::iteration_limit;

    // the integral problem, on the solver's own nodes
    double dual_value{};       ///< D = g(λ): a lower bound of the optimum, up to the error of the integrals
    double primal_value{};     ///< P of the recovered α, with the convexified penalty
    double max_violation{};    ///< of the recovered α, in y's unit: P counts only where this is small
    double support_measure{};  ///< ρ{α ≠ 0}, between 0 and 1
    double gamma{};            ///< as used
    double threshold_ratio{};  ///< √(2γ) / max|ᾱ|
    double tolerance{};        ///< as used
    double noise_deviation{};  ///< estimated from the data; 0 where the tolerance was given
    Index nodes{};             ///< of the quadrature, or of a batch
    Index iterations{};        ///< of the dual solver

    // the discrete model
    Index peaks{};   ///< distinct maxima of |ᾱ| above the threshold
    Index merged{};  ///< ascents that arrived at a peak already found, and kernels the refit found redundant
    Index kernels{};
    double residual{};  ///< on the samples: RMS (aggregate) or the largest |ŷ − y| (per sample)

    StageSeconds seconds{};

    double gap() const { return primal_value - dual_value; }
    double relative_gap() const { return kernelet::relative_gap(primal_value, dual_value); }

    /// One line.
    std::string brief() const {
        return detail::text(to_string(status), ": ", kernels, " kernels, residual ", residual, " (tolerance ",
                            tolerance, "), dual gap ", 100.0 * relative_gap(), " % of the integral problem, ",
                            iterations, " iterations, ", seconds.total(), " s");
    }

    /// Everything, in plain words.
    std::string full() const {
        return detail::text(
            "status            ", to_string(status), "\n", "kernels           ", kernels, " (", peaks,
            " peaks above the threshold, ", merged, " merged)\n", "residual          ", residual,
            " on the samples; tolerance ", tolerance,
            noise_deviation > 0.0 ? detail::text(", from an estimated noise deviation of ", noise_deviation)
                                  : "",
            "\n", "dual value D      ", dual_value, "\n", "primal value P    ", primal_value,
            " for an alpha that misses the tolerance by ", max_violation, "\n", "gap P - D         ", gap(),
            " (", 100.0 * relative_gap(), " %)\n", "support           ", 100.0 * support_measure,
            " % of the domain; gamma ", gamma, ", threshold at ", threshold_ratio, " of the highest peak\n",
            "dual solver       ", iterations, " iterations on ", nodes, " nodes\n", "seconds           ",
            seconds.dual, " dual, ", seconds.peaks, " peaks, ", seconds.refit, " refit\n",
            "The gap speaks of the integral problem on the solver's nodes, not of the number of kernels: "
            "those are read\n",
            "off the peaks of alpha and refitted.\n");
    }
};

}  // namespace kernelet
