#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kernelet {

/// How a fit ended. Misuse throws; everything else is one of these, with the best point kept.
enum class Status {
    converged,         ///< the dual's relative gap is within the solver's goal
    iteration_limit,   ///< the solver used up its iterations; the gap shows how far it came
    diverged,          ///< a fixed step size, or γ, was too large for this problem
    stopped,           ///< an observer returned stop
    kernel_limit,      ///< max_kernels bound: one more kernel would fit better
    tolerance_missed,  ///< the dual met the tolerance, the discrete model on its peaks does not
    infeasible         ///< no function of this domain meets the tolerance; the dual grows without bound
};

constexpr std::string_view to_string(Status status) {
    switch (status) {
        case Status::converged:
            return "converged";
        case Status::iteration_limit:
            return "iteration limit";
        case Status::diverged:
            return "diverged";
        case Status::stopped:
            return "stopped by the observer";
        case Status::kernel_limit:
            return "kernel limit";
        case Status::tolerance_missed:
            return "tolerance missed";
        case Status::infeasible:
            return "infeasible";
    }
    return "unknown";
}

/// The reason why the number of kernels is not larger, or not smaller.
enum class Bound {
    criterion,    ///< an information criterion: one more kernel explains no more than noise would
    tolerance,    ///< the tolerance is met: with one kernel fewer the search misses it
    max_kernels,  ///< max_kernels: one more kernel would fit better
    samples,      ///< as many parameters as the samples allow
    exhausted,    ///< the tolerance is not met, and no further kernel lowers the error noticeably
    held_out,     ///< samples held out: more kernels do not lower their loss by more than its standard error
    observer      ///< the observer: the search was stopped
};

constexpr std::string_view to_string(Bound bound) {
    switch (bound) {
        case Bound::criterion:
            return "the information criterion";
        case Bound::tolerance:
            return "the tolerance";
        case Bound::max_kernels:
            return "max_kernels";
        case Bound::samples:
            return "the number of samples";
        case Bound::exhausted:
            return "the gain of further kernels";
        case Bound::held_out:
            return "the held-out samples";
        case Bound::observer:
            return "the observer";
    }
    return "unknown";
}

/// The progress of a fit, for its observer. A stage reports after each of its iterations, and repeats its last
/// report at least every 20 ms in between.
struct Progress {
    /// "dual", "peaks", "search"; before them "read" and after them "passes" where samples are read in blocks; "sizes" of
    /// a kernel path; "classifiers" of an ensemble; "folds" of a cross-validation; in the last report "done" or
    /// "stopped".
    std::string_view stage{};
    Index iteration{};
    Index iterations{};  ///< the most there can be in this stage; 0 where that is not known
    double dual_value{};
    double gap = std::numeric_limits<double>::infinity();  ///< relative, where the solver computes it
    double seconds{};                                      ///< since the fit began
    /// Of the whole fit that is done, by time, between 0 and 1: an estimate that never falls and is 1 at the end.
    double fraction{};
    double seconds_left{};  ///< estimated from what has passed; may rise

    /// Whether this is the last report of a fit, whose verdict is ignored.
    bool is_last() const { return stage == "done" || stage == "stopped"; }
};

/// The return value of an observer.
enum class Verdict { proceed, stop };

/// How solvers hold an observer; empty: none.
using ObserverFunction = std::function<Verdict(const Progress&)>;

/// Thrown inside a fit, never out of it, once the observer has answered stop. Code that has a best point catches it.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "kernelet: the observer stopped the fit"; }
};

/// Wall time of the stages of a fit.
struct StageSeconds {
    double dual{};
    double peaks{};
    union {  // one number under two names, the second for one version
        double search{};
        [[deprecated("use search")]] double refit;
    };
    double total() const { return dual + peaks + search; }
};

/// (P − D) relative to the larger of |P| and |D|; 0 where both vanish.
inline double relative_gap(double primal, double dual) {
    const double scale = std::max(std::abs(primal), std::abs(dual));
    return scale > 0.0 ? (primal - dual) / scale : 0.0;
}

/// How close to optimal the dual solution is. It certifies the integral problem on the solver's own nodes: D
/// ≤ optimum ≤ P, up to the error of the integrals, and P counts only where the violation is small. It does
/// not certify the number of kernels of the discrete model.
struct Certificate {
    double dual_value{};    ///< D = g(λ)
    double primal_value{};  ///< P = Σ ρ φ**(α) of the recovered α
    double
        max_violation{};  ///< how far outside the tolerance that α is, in y's unit (FeasibleSet::violation)
    double support_measure{};    ///< ρ{α ≠ 0}, between 0 and 1
    double integration_error{};  ///< the largest change of D on two other quadratures, relative to D
    double gamma{};              ///< as used
    double threshold_ratio{};    ///< √(2γ) / max‖ᾱ‖
    Index nodes{};               ///< on which D and P were integrated
    Index iterations{};          ///< of the dual solver
    bool
        certified{};  ///< D and P are known: not after a stop or a divergence, nor beyond the range of a double

    double gap() const { return primal_value - dual_value; }
    /// 1 where nothing is certified: zero is a lower bound of the cost, and no upper bound is known.
    double relative_gap() const { return certified ? kernelet::relative_gap(primal_value, dual_value) : 1.0; }
};

/// The report of a fit.
struct Report : Certificate {
    Status status = Status::iteration_limit;

    double tolerance{};         ///< as given, or as chosen; the largest where each sample has its own
    bool tolerance_given{};     ///< given by the user; otherwise only the dual was solved at it
    double noise_deviation{};   ///< estimated from the data; 0 where the tolerance was given
    double solved_tolerance{};  ///< what the dual was solved at: the tolerance, or, where that is infeasible,
                                ///< the least tried that is not

    Index samples{};       ///< in all
    Index dual_samples{};  ///< on which the dual was solved: those of the certificate

    double unsparse_height{};  ///< max‖ᾱ₀‖ of the solution without sparsity, from which γ was made; 0 where γ
                               ///< was given

    // the discrete model
    Index peaks{};  ///< distinct maxima of ‖ᾱ‖ above the threshold
    Index
        merged{};  ///< ascents that arrived at a peak already found, and kernels that are redundant at the end
    Index kernels{};
    Bound bound = Bound::criterion;  ///< what decided on that number
    double residual{};  ///< the least tolerance the model would meet: RMS residual or mean loss (aggregate),
                        ///< the largest of a sample (per sample); on the
                        ///< samples that are held where a fit to more of them was stopped
    double model_violation{};  ///< how far outside the tolerance the model is, in y's unit

    /// ‖λ_i‖, one per sample in the order given, none where a source was given. With a tolerance per sample, the rate at
    /// which the optimal cost falls as that tolerance grows: large where a sample forces complexity, zero where it costs
    /// nothing. With the aggregate tolerance of the squared loss, in proportion to w_i |r_i|, r the residuals of the
    /// integral problem. Zero for samples that the dual was not solved on, see dual_samples.
    Vector prices{};
    /// Where the status is infeasible: the samples that no function of the domain can meet together, largest
    /// ‖λ_i‖ first.
    std::vector<Index> culprits{};

    StageSeconds seconds{};

    /// One line of about a hundred characters, with three digits.
    std::string brief() const {
        using detail::brief_number;
        return detail::text(to_string(status), ": ", kernels, kernels == 1 ? " kernel by " : " kernels by ",
                            to_string(bound), ", residual ", brief_number(residual),
                            tolerance_given ? detail::text(" (tolerance ", brief_number(tolerance), ")") : "",
                            certified ? detail::text(", gap ", brief_number(100.0 * relative_gap()), " %")
                                      : ", no certificate",
                            ", ", brief_number(seconds.total()), " s");
    }

    /// Everything, in plain words.
    std::string full() const {
        return detail::text(
            "status            ", to_string(status), "\n", full_culprits(), "kernels           ", kernels,
            ", bound by ", to_string(bound), "; the search began at ", peaks, " peaks above the threshold, ",
            merged, " merged\n", full_residual(), full_certificate(), "dual solver       ", iterations,
            " iterations on ", nodes, " nodes", on_samples(), "\n", "seconds           ", seconds.dual,
            " dual, ", seconds.peaks, " peaks, ", seconds.search, " search\n", certified ? caveat : "");
    }

private:
    std::string on_samples() const {
        return dual_samples < samples ? detail::text(" on ", dual_samples, " of ", samples, " samples") : "";
    }

    std::string full_culprits() const {
        if (culprits.empty()) return "";
        std::string blame;
        for (std::size_t i = 0; i < culprits.size() && i < most_named; ++i)
            blame.append(" ").append(std::to_string(culprits[i]));
        return detail::text("infeasible        no function of the domain meets the tolerance at samples",
                            blame, "\n", "                  solved at tolerance ", solved_tolerance,
                            " instead\n");
    }

    std::string full_residual() const {
        return detail::text(
            "residual          ", residual, " on the samples; ",
            tolerance_given ? "tolerance " : "no tolerance was given; the dual was solved at ", tolerance,
            noise_deviation > 0.0 ? detail::text(", from an estimated noise deviation of ", noise_deviation)
                                  : "",
            tolerance_given && model_violation > 0.0 ? detail::text("; missed by ", model_violation) : "",
            "\n");
    }

    std::string full_certificate() const {
        if (!certified && status == Status::stopped)
            return "certificate       none: the fit was stopped, and D and P are not known\n";
        if (!certified && status == Status::diverged)
            return "certificate       none: the dual solver diverged\n";
        if (!certified) return "certificate       none: D and P are out of the range of a double\n";
        return detail::text("dual value D      ", dual_value, "\n", "primal value P    ", primal_value,
                            " for an alpha that violates the tolerance by ", max_violation, "\n",
                            "gap P - D         ", gap(), " (", 100.0 * relative_gap(),
                            " %); on other quadratures D changes by ", 100.0 * integration_error, " %\n",
                            "support           ", 100.0 * support_measure, " % of the domain; gamma ", gamma,
                            ", threshold at ", threshold_ratio, " of the highest peak\n");
    }

    static constexpr std::string_view caveat =
        "D bounds the optimum of the integral problem from below, up to the error of the integrals. P bounds "
        "it\n"
        "from above if its alpha is within the tolerance. Neither bounds the smallest possible number of\n"
        "kernels: a local search from the peaks of alpha finds the model.\n";

    static constexpr std::size_t most_named = 10;
};

}  // namespace kernelet
