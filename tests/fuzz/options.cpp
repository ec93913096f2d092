// Options and options of solvers with extreme numbers: validate() names a field that was changed, or a small fit ends within its
// limits and its report agrees with the data.
#include "fuzz/bytes.hpp"
#include "fuzz/fields.hpp"
#include "support/report_oracle.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace kernelet;
using fuzz::Bytes;

/// Sets some of the fields, most of them to extremes; returns their names.
std::vector<std::string> change(const fuzz::Fields& fields, Bytes& bytes) {
    std::vector<std::string> changed;
    for (Index count = bytes.between(0, 4); count > 0; --count) {
        const fuzz::Field& field =
            fields[static_cast<std::size_t>(bytes.choice(static_cast<Index>(fields.size())))];
        const bool usual = bytes.once_in(3);
        std::visit(
            [&](auto* at) {
                using Value = std::remove_reference_t<decltype(*at)>;
                if constexpr (std::is_same_v<Value, Index> || std::is_same_v<Value, std::optional<Index>>)
                    *at = usual ? bytes.between(0, 8) : bytes.extreme_count();
                else
                    *at = usual ? bytes.usual() : bytes.extreme();
            },
            field.at);
        changed.push_back(field.name);
    }
    return changed;
}

/// A wave on a line, or two classes, always the same.
Samples samples_of(bool labels) {
    constexpr Index n = 9;
    Samples samples{Matrix(1, n), Matrix(1, n), {}, {}};
    for (Index i = 0; i < n; ++i) {
        samples.x(0, i) = 0.125 * static_cast<double>(i);
        const double wave = std::sin(6.0 * samples.x(0, i)) + 0.01 * static_cast<double>(i % 3);
        samples.y(0, i) = labels ? (wave < 0.2 ? -1.0 : 1.0) : wave;
    }
    return samples;
}

/// What the fields of a struct were changed to passes validate(), or is refused by the name of one of them.
template <class OptionsType>
bool is_valid(const OptionsType& options, const std::vector<std::string>& changed) {
    try {
        options.validate();
        return true;
    } catch (const std::invalid_argument& error) {
        const std::string message = error.what();
        fuzz::require_readable(message);
        const bool named = std::any_of(changed.begin(), changed.end(), [&](const std::string& name) {
            return message.find(name + " ") != std::string::npos;
        });
        fuzz::require(named, "validate() does not name a field that was changed", message);
        return false;
    }
}

double gap_of(const AugmentedNewtonOptions& o) { return o.stopping.gap; }
double gap_of(const CoordinateAscentOptions& o) { return o.stopping.gap; }
double gap_of(const AutomaticSolverOptions& o) {
    return std::max(o.newton.stopping.gap, o.blocks.stopping.gap);
}
double gap_of(const PointMassLimitOptions& o) { return o.gap; }
double gap_of(const StochasticSupergradientOptions& o) { return o.gap; }

template <class Loss, class Solver, class SolverOptions>
void fit(const Options& options, const SolverOptions& solver_options, bool labels) {
    constexpr double limit_seconds = 0.05, grace_seconds = 4.0;
    const SparseKernelEstimator<Gaussian, Loss, Solver> estimator(options, Solver(solver_options));
    const Samples samples = samples_of(labels);
    const auto begin = std::chrono::steady_clock::now();
    try {
        const Fit<Gaussian> found = estimator.fit(samples, TimeLimit(limit_seconds));
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        fuzz::require(taken.count() < limit_seconds + grace_seconds, "a time limit was exceeded",
                      found.report.full());
        const std::string contradiction = support::report_contradiction(
            found, support::AskedFit<Loss>{samples, options, Loss{}, gap_of(solver_options)});
        if (!contradiction.empty()) fuzz::fail(contradiction, found.report.brief());
    } catch (const std::invalid_argument& error) {
        fuzz::require_readable(error.what());
        const std::string message = error.what();
        fuzz::require(
            message.rfind("kernelet: options.", 0) == 0 || message.rfind("kernelet: solver.", 0) == 0,
            "a fit refuses what was not passed", message);
    }
}

template <class Solver, class SolverOptions>
void check(Bytes& bytes) {
    Options options;
    SolverOptions solver;
    const bool labels = bytes.once_in(3), per_sample = bytes.once_in(3);
    if (per_sample) options.scope = Scope::per_sample;
    const bool of_solver = bytes.once_in(2);
    const std::vector<std::string> changed = change(fuzz::fields_of(options), bytes);
    const std::vector<std::string> changed_of_solver =
        of_solver ? change(fuzz::fields_of(solver), bytes) : std::vector<std::string>{};
    const bool valid = is_valid(options, changed);
    if (!is_valid(solver, changed_of_solver) || !valid) return;
    if (labels)
        fit<LogisticLoss, Solver>(options, solver, labels);
    else
        fit<SquaredLoss, Solver>(options, solver, labels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const support::Threads single(1);
    Bytes bytes(data, size);
    switch (bytes.choice(6)) {
        case 0:
            check<AugmentedNewton, AugmentedNewtonOptions>(bytes);
            break;
        case 1:
            check<CoordinateAscent, CoordinateAscentOptions>(bytes);
            break;
        case 2:
            check<PointMassLimit, PointMassLimitOptions>(bytes);
            break;
        case 3:
            check<StochasticSupergradient, StochasticSupergradientOptions>(bytes);
            break;
        default:
            check<AutomaticSolver, AutomaticSolverOptions>(bytes);
    }
    return 0;
}
