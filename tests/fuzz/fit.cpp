// Fits to small problems across kernels, losses, scopes, domains and solvers: each ends within its limits with finite numbers and
// a report that agrees with the data, or is refused by an std::invalid_argument that names what was passed.
#include "fuzz/bytes.hpp"
#include "fuzz/problem.hpp"
#include "support/report_oracle.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>

#include <chrono>
#include <cmath>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace kernelet;
using fuzz::Bytes;

#if defined(NDEBUG)
constexpr double grace_seconds = 1.0;
#else
constexpr double grace_seconds = 4.0;  // sanitizers are slow, and so is a machine that does much else
#endif

/// The solvers with few nodes: what is tested here does not depend on their number.
fuzz::ChosenSolver solver_of(Bytes& bytes) {
    const StoppingOptions stopping{.max_nodes = bytes.between(16, 256)};
    const AugmentedNewtonOptions newton{.stopping = stopping,
                                        .dense_samples = bytes.once_in(8) ? 0 : 1500,
                                        .dense_nodes = bytes.once_in(8) ? 0 : 4096};
    const CoordinateAscentOptions blocks{.stopping = stopping, .block = bytes.between(1, 8)};
    const SampledAscentOptions sampling{.first_nodes = 64, .max_nodes = 256};
    switch (bytes.choice(8)) {
        case 0:
            return {detail::erase_solver(AugmentedNewton(newton)), "AugmentedNewton"};
        case 1:
            return {detail::erase_solver(CoordinateAscent(blocks)), "CoordinateAscent"};
        case 2:
            return {detail::erase_solver(PointMassLimit({.max_exchanges = 10, .max_nodes = 128})),
                    "PointMassLimit"};
        case 3: {
            StochasticSupergradientOptions steps{.batch = 64, .iterations = 100, .evaluation_nodes = 128};
            steps.max_batch = 256;
            return {detail::erase_solver(StochasticSupergradient(steps)), "StochasticSupergradient",
                    steps.gap};
        }
        case 4: {
            StochasticSupergradientOptions steps{.batch = 16, .iterations = 50, .evaluation_nodes = 128};
            steps.eta_lambda = bytes.usual() * bytes.unit();
            steps.eta_mu = bytes.usual();
            return {detail::erase_solver(StochasticSupergradient(steps)), "StochasticSupergradient",
                    steps.gap};
        }
        case 5:
            return {detail::erase_solver(SampledAscent<CoordinateAscent>(sampling, CoordinateAscent(blocks))),
                    "CoordinateAscent"};
        default:
            return {detail::erase_solver(AutomaticSolver({.newton = newton,
                                                          .blocks = blocks,
                                                          .sampling = sampling,
                                                          .blocks_from = bytes.once_in(4) ? 0 : 300}))};
    }
}

template <class Model>
void require_saved(const Model& model) {
    std::ostringstream first, second;
    save(first, model);
    std::istringstream text(first.str());
    save(second, load<Model>(text));
    fuzz::require(first.str() == second.str(), "a fitted model is saved and reads back another", first.str());
}

template <class Kernel>
void require_sound(const Fit<Kernel>& fit, const fuzz::Problem& problem, const fuzz::ChosenSolver& solver) {
    const Report& report = fit.report;
    const std::string words = report.full() + fuzz::words_of(problem) + "solver " + solver.name;
    for (const double value : {report.tolerance, report.solved_tolerance, report.noise_deviation,
                               report.residual, report.model_violation, report.max_violation, report.gamma,
                               report.threshold_ratio, report.unsparse_height, report.seconds.total()})
        fuzz::require(std::isfinite(value) && value >= 0.0,
                      "a number of the report is negative or not finite", words);
    fuzz::require(fit.model.centers().allFinite() && fit.model.widths().allFinite() &&
                      fit.model.coefficients().allFinite() && fit.multipliers.allFinite(),
                  "the model or the multipliers are not finite", words);
    fuzz::require(report.support_measure >= 0.0 && report.support_measure <= 1.0 + 1e-9,
                  "a support measure outside [0, 1]", words);
    fuzz::require_readable(report.brief(), 300);
    // Between samples, where a model is used.
    const Matrix& x = problem.samples.x;
    Matrix between = 0.5 * x;
    for (Index i = 0; i < x.cols(); ++i) between.col(i) += 0.5 * x.col((i + 1) % x.cols());
    fuzz::require(fit.model.predict(between).allFinite(), "a prediction between samples is not finite",
                  words);
    require_saved(fit.model);
    const std::string contradiction = support::report_contradiction(
        fit, support::AskedFit<AnyLoss>{problem.samples, problem.options, problem.loss, solver.gap});
    if (!contradiction.empty()) fuzz::fail(contradiction, fuzz::words_of(problem) + "solver " + solver.name);
}

/// The names of what the caller has passed, one of which a refusal begins with.
void require_named(const std::string& message, const fuzz::Problem& problem,
                   const fuzz::ChosenSolver& solver) {
    fuzz::require_readable(message);
    std::vector<std::string> passed{"x", "y", "options.", "the kernel",
                                    "the " + std::string(problem.loss.held_name())};
    if (problem.samples.weights.size() > 0) passed.emplace_back("weights");
    if (problem.samples.tolerances.size() > 0) passed.emplace_back("tolerances");
    if (problem.domain) passed.emplace_back("the domain");
    if (!solver.name.empty()) passed.push_back(solver.name);
    for (const std::string& name : passed)
        if (message.rfind("kernelet: " + name, 0) == 0) return;
    fuzz::fail("a refusal that does not begin with what was passed",
               message + "\n" + fuzz::words_of(problem));
}

template <class Kernel>
void fit(const Kernel& kernel, const fuzz::Problem& problem, Bytes& bytes) {
    const fuzz::ChosenSolver solver = solver_of(bytes);
    // Some fits are cut off, most end by themselves, and some must.
    const bool limited = problem.samples.x.cols() > 6 || !bytes.once_in(8);
    const double limit_seconds = bytes.once_in(4) ? 0.03 : 0.3;
    const auto begin = std::chrono::steady_clock::now();
    try {
        const SparseKernelEstimator<Kernel, AnyLoss, fuzz::ChosenSolver> estimator(problem.options, solver,
                                                                                   kernel, problem.loss);
        ObserverFunction observer = [](const Progress&) { return Verdict::proceed; };
        if (limited) observer = TimeLimit(limit_seconds);
        const Fit<Kernel> found = problem.domain ? estimator.fit(problem.samples, *problem.domain, observer)
                                                 : estimator.fit(problem.samples, observer);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        fuzz::require(!limited || taken.count() < limit_seconds + grace_seconds, "a time limit was exceeded",
                      found.report.full());
        require_sound(found, problem, solver);
    } catch (const std::invalid_argument& error) {
        require_named(error.what(), problem, solver);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const support::Threads single(1);
    Bytes bytes(data, size);
    const Index kernel = bytes.choice(8);
    fuzz::Problem problem = fuzz::problem_of(bytes);
    switch (kernel) {
        case 0:
            fit(Gaussian{}, problem, bytes);
            break;
        case 1:
            fit(AnisotropicGaussian{}, problem, bytes);
            break;
        case 2:
            fit(Laplacian{}, problem, bytes);
            break;
        case 3:
            fit(Matern32{}, problem, bytes);
            break;
        case 4:
            fit(Matern52{}, problem, bytes);
            break;
        case 5:
            fit(Sinc{}, problem, bytes);
            break;
        case 6:
            fit(Polynomial{3}, problem, bytes);
            break;
        default:
            fit(Dictionary<Gaussian, Laplacian>{}, problem, bytes);
    }
    return 0;
}
