#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace options_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::Index;
using kernelet::Options;
using support::refusal;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The message of the options' own check, which must equal that of an estimator with these options.
std::string objection(const Options& options) {
    const std::string own = refusal([&] { options.validate(); });
    const std::string estimators = refusal([&] { kernelet::SparseKernelEstimator<>{options}; });
    CHECK(own == estimators);
    return own;
}

TEST_CASE("the defaults are valid", "[options]") {
    CHECK(objection({}).empty());
    CHECK(
        objection({.tolerance = 0.0, .max_kernels = 1, .gamma = 0.0, .sparsity = 0.0, .ridge = 0.0}).empty());
    Options edge;
    edge.peaks.merge_coherence = 1.0;
    edge.peaks.seed_coherence = 1.0;
    edge.peaks.max_seeds = 1;
    edge.peaks.max_steps = 1;
    CHECK(objection(edge).empty());
}

TEST_CASE("each invalid field is named, with its value", "[options]") {
    for (const double bad : {-1e-3, nan, infinity}) {
        CHECK_THAT(objection({.tolerance = bad}), ContainsSubstring("options.tolerance = "));
        CHECK_THAT(objection({.gamma = bad}), ContainsSubstring("options.gamma = "));
        CHECK_THAT(objection({.sparsity = bad}), ContainsSubstring("options.sparsity = "));
        CHECK_THAT(objection({.noise_multiple = bad}), ContainsSubstring("options.noise_multiple = "));
        CHECK_THAT(objection({.ridge = bad}), ContainsSubstring("options.ridge = "));
    }
    CHECK_THAT(objection({.noise_multiple = 0.0}), ContainsSubstring("options.noise_multiple = 0"));
    CHECK_THAT(objection({.tolerance = -0.25}), ContainsSubstring("-0.25"));
    CHECK_THAT(objection({.max_kernels = 0}), ContainsSubstring("options.max_kernels = 0"));
    CHECK_THAT(objection({.max_kernels = -3}), ContainsSubstring("options.max_kernels = -3"));
}

TEST_CASE("each invalid field of the peaks is named", "[options]") {
    const auto with = [](auto change) {
        Options options;
        change(options.peaks);
        return objection(options);
    };
    for (const double bad : {0.0, -0.1, 1.1, nan}) {
        CHECK_THAT(with([&](auto& p) { p.merge_coherence = bad; }),
                   ContainsSubstring("options.peaks.merge_coherence = "));
        CHECK_THAT(with([&](auto& p) { p.seed_coherence = bad; }),
                   ContainsSubstring("options.peaks.seed_coherence = "));
    }
    for (const Index bad : {0, -1}) {
        CHECK_THAT(with([&](auto& p) { p.max_seeds = bad; }),
                   ContainsSubstring("options.peaks.max_seeds = "));
        CHECK_THAT(with([&](auto& p) { p.max_steps = bad; }),
                   ContainsSubstring("options.peaks.max_steps = "));
    }
}

TEST_CASE("each invalid field of the search is named, with its value and its rule", "[options]") {
    using kernelet::SearchOptions;
    // Sets a field to each of these numbers. `at` returns its address.
    const auto check = [](const std::string& field, const std::string& rule, const auto& numbers,
                          const auto& at) {
        for (const auto number : numbers) {
            Options options;
            *at(options.search) = number;
            CHECK(objection(options) == kernelet::detail::text("kernelet: options.search.", field, " = ",
                                                               number, " must be ", rule));
        }
    };
    using Reals = std::vector<double>;
    using Counts = std::vector<Index>;
    const Reals not_positive{0.0, -0.25, nan, infinity}, not_nonnegative{-0.25, nan, infinity};
    const Reals not_fraction{0.0, -0.25, 1.5, nan}, not_above_one{1.0, 0.5, nan, infinity};
    const Counts below_zero{-1, -7}, below_one{0, -3}, below_two{1, 0, -3};
    // priors
    check("priors.coefficient_deviation", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.coefficient_deviation; });
    check("priors.decision_deviation", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.decision_deviation; });
    check("priors.typical_width_fraction", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.typical_width_fraction; });
    check("priors.log_width_deviation", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.log_width_deviation; });
    check("priors.max_coefficient_ratio", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.max_coefficient_ratio; });
    check("priors.min_noise_fraction", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.min_noise_fraction; });
    check("priors.ridge_increase", "finite and > 1", not_above_one,
          [](SearchOptions& s) { return &s.priors.ridge_increase; });
    check("priors.max_ridge_increases", ">= 0", below_zero,
          [](SearchOptions& s) { return &s.priors.max_ridge_increases; });
    check("priors.wide_kernel_fraction", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.priors.wide_kernel_fraction; });
    // criterion
    check("criterion.label_price_fraction", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.criterion.label_price_fraction; });
    check("criterion.label_information", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.criterion.label_information; });
    check("criterion.min_mass", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.criterion.min_mass; });
    check("criterion.min_gain", "in [0, 1)", Reals{-0.25, 1.0, nan},
          [](SearchOptions& s) { return &s.criterion.min_gain; });
    // forward selection and backward elimination
    check("forward.tries", ">= 1", below_one, [](SearchOptions& s) { return &s.forward.tries; });
    check("forward.patience", ">= 0", below_zero, [](SearchOptions& s) { return &s.forward.patience; });
    check("forward.gain_samples", ">= 1", below_one,
          [](SearchOptions& s) { return &s.forward.gain_samples; });
    check("forward.max_coherence", "in (0, 1]", not_fraction,
          [](SearchOptions& s) { return &s.forward.max_coherence; });
    check("backward.tries", ">= 1", below_one, [](SearchOptions& s) { return &s.backward.tries; });
    check("backward.damping", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.backward.damping; });
    // the first-order search
    check("first_order.max_second_order_work", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.first_order.max_second_order_work; });
    check("first_order.first_kernels", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.first_kernels; });
    check("first_order.held_out_fraction", "in (0, 1)", Reals{0.0, 1.0, -0.25, nan},
          [](SearchOptions& s) { return &s.first_order.held_out_fraction; });
    check("first_order.growing_samples", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.growing_samples; });
    check("first_order.gain_samples", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.gain_samples; });
    check("first_order.growing_steps", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.growing_steps; });
    check("first_order.batch_steps", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.batch_steps; });
    check("first_order.final_steps", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.final_steps; });
    check("first_order.steps_per_scaling", ">= 1", below_one,
          [](SearchOptions& s) { return &s.first_order.steps_per_scaling; });
    check("first_order.min_decrease", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.first_order.min_decrease; });
    // both uses of Levenberg and Marquardt's method
    check("trial.max_steps", ">= 0", below_zero, [](SearchOptions& s) { return &s.trial.max_steps; });
    check("trial.min_decrease", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.trial.min_decrease; });
    check("trial.damping", "finite and > 0", not_positive, [](SearchOptions& s) { return &s.trial.damping; });
    check("trial.damping_decrease", "in (0, 1]", not_fraction,
          [](SearchOptions& s) { return &s.trial.damping_decrease; });
    check("trial.damping_increase", "finite and > 1", not_above_one,
          [](SearchOptions& s) { return &s.trial.damping_increase; });
    check("trial.max_damping", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.trial.max_damping; });
    check("polish.max_steps", ">= 0", below_zero, [](SearchOptions& s) { return &s.polish.max_steps; });
    check("polish.min_decrease", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.polish.min_decrease; });
    check("polish.damping", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.polish.damping; });
    check("polish.damping_decrease", "in (0, 1]", not_fraction,
          [](SearchOptions& s) { return &s.polish.damping_decrease; });
    check("polish.damping_increase", "finite and > 1", not_above_one,
          [](SearchOptions& s) { return &s.polish.damping_increase; });
    check("polish.max_damping", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.polish.max_damping; });
    check("trial.steps_per_curvature", ">= 1", below_one,
          [](SearchOptions& s) { return &s.trial.steps_per_curvature; });
    check("trial.race_steps", ">= 0", below_zero, [](SearchOptions& s) { return &s.trial.race_steps; });
    check("trial.newton.max_steps", ">= 1", below_one,
          [](SearchOptions& s) { return &s.trial.newton.max_steps; });
    check("trial.newton.min_decrease", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.trial.newton.min_decrease; });
    check("evidence.max_rounds", ">= 0", below_zero, [](SearchOptions& s) { return &s.evidence.max_rounds; });
    check("evidence.gain_per_kernel", "finite and >= 0", not_nonnegative,
          [](SearchOptions& s) { return &s.evidence.gain_per_kernel; });
    check("evidence.price_decrease", "in (0, 1)", Reals{0.0, 1.0, -0.25, nan},
          [](SearchOptions& s) { return &s.evidence.price_decrease; });
    check("evidence.min_price", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.evidence.min_price; });
    check("evidence.trial.max_steps", ">= 0", below_zero,
          [](SearchOptions& s) { return &s.evidence.trial.max_steps; });
    check("priors.learned_count", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.learned_count; });
    check("priors.metric_deviation", "finite and > 0", not_positive,
          [](SearchOptions& s) { return &s.priors.metric_deviation; });
    check("levels.first_samples", ">= 1", below_one,
          [](SearchOptions& s) { return &s.levels.first_samples; });
    check("levels.first_labels", ">= 1", below_one, [](SearchOptions& s) { return &s.levels.first_labels; });
    check("levels.growth", ">= 2", below_two, [](SearchOptions& s) { return &s.levels.growth; });
    // the search as a whole
    check("moving_kernels", ">= 1", below_one, [](SearchOptions& s) { return &s.moving_kernels; });
    check("careful_tries", ">= 0", below_zero, [](SearchOptions& s) { return &s.careful_tries; });
    check("settling_steps", ">= 0", below_zero, [](SearchOptions& s) { return &s.settling_steps; });
    check("candidates", ">= 0", below_zero, [](SearchOptions& s) { return &s.candidates; });
    check("max_parameters", ">= 2", below_two, [](SearchOptions& s) { return &s.max_parameters; });
    check("min_start_kernels", ">= 1", below_one, [](SearchOptions& s) { return &s.min_start_kernels; });
    check("label_window", "finite and > 0", not_positive, [](SearchOptions& s) { return &s.label_window; });
    check("noise_window", "finite and > 0", not_positive, [](SearchOptions& s) { return &s.noise_window; });
}

TEST_CASE("the bounds of the search options that are included are valid", "[options]") {
    Options options;
    options.search.priors.max_ridge_increases = 0;
    options.search.priors.wide_kernel_fraction = 0.0;
    options.search.criterion.min_mass = options.search.criterion.min_gain = 0.0;
    options.search.forward = {.tries = 1, .patience = 0, .gain_samples = 1, .max_coherence = 1.0};
    options.search.backward = {.tries = 1};
    options.search.first_order.min_decrease = 0.0;
    options.search.trial = {.max_steps = 0, .min_decrease = 0.0, .damping_decrease = 1.0};
    options.search.candidates = 0;
    options.search.max_parameters = 2;
    options.search.min_start_kernels = 1;
    CHECK(objection(options).empty());
}

TEST_CASE("each invalid field of Algorithm 1 is named", "[options]") {
    using kernelet::StochasticSupergradient;
    using Fields = kernelet::StochasticSupergradientOptions;
    const auto with = [](auto change) {
        Fields fields;
        change(fields);
        return refusal([&] { StochasticSupergradient{fields}; });
    };
    CHECK(with([](Fields&) {}).empty());
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        CHECK_THAT(with([&](Fields& f) { f.eta_lambda = bad; }), ContainsSubstring("solver.eta_lambda = "));
        CHECK_THAT(with([&](Fields& f) { f.eta_mu = bad; }), ContainsSubstring("solver.eta_mu = "));
        CHECK_THAT(with([&](Fields& f) { f.initial_mu = bad; }), ContainsSubstring("solver.initial_mu = "));
    }
    for (const Index bad : {0, -5}) {
        CHECK_THAT(with([&](Fields& f) { f.batch = bad; }), ContainsSubstring("solver.batch = "));
        CHECK_THAT(with([&](Fields& f) { f.iterations = bad; }), ContainsSubstring("solver.iterations = "));
        CHECK_THAT(with([&](Fields& f) { f.evaluation_nodes = bad; }),
                   ContainsSubstring("solver.evaluation_nodes = "));
        CHECK_THAT(with([&](Fields& f) { f.rank = bad; }), ContainsSubstring("solver.rank = "));
    }
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        CHECK_THAT(with([&](Fields& f) { f.gap = bad; }), ContainsSubstring("solver.gap = "));
        CHECK_THAT(with([&](Fields& f) { f.violation = bad; }), ContainsSubstring("solver.violation = "));
        CHECK_THAT(with([&](Fields& f) { f.integration = bad; }), ContainsSubstring("solver.integration = "));
    }
    CHECK_THAT(with([](Fields& f) { f.max_batch = f.batch - 1; }), ContainsSubstring("solver.max_batch = "));
}

TEST_CASE("no solver takes zero iterations", "[options]") {
    CHECK_THAT(refusal([] {
                   kernelet::SampledAscentOptions fields;
                   fields.first_nodes = 0;
                   kernelet::SampledAscent<>{fields};
               }),
               ContainsSubstring("solver.first_nodes = 0"));
    CHECK_THAT(refusal([] {
                   kernelet::SampledAscentOptions fields;
                   fields.max_nodes = 10;
                   kernelet::SampledAscent<>{fields};
               }),
               ContainsSubstring("solver.max_nodes = 10"));
    CHECK_THAT(refusal([] {
                   kernelet::AugmentedNewtonOptions fields;
                   fields.max_iterations = 0;
                   kernelet::AugmentedNewton{fields};
               }),
               ContainsSubstring("solver.max_iterations = 0"));
    CHECK_THAT(refusal([] {
                   kernelet::AutomaticSolverOptions fields;
                   fields.newton.max_iterations = -1;
                   kernelet::AutomaticSolver{fields};
               }),
               ContainsSubstring("max_iterations = -1"));
    CHECK_THAT(refusal([] {
                   kernelet::AutomaticSolverOptions fields;
                   fields.sampling.integration = 0.0;
                   kernelet::AutomaticSolver{fields};
               }),
               ContainsSubstring("solver.integration = 0"));
    CHECK_THAT(refusal([] {
                   kernelet::AutomaticSolverOptions fields;
                   fields.blocks_from = -1;
                   kernelet::AutomaticSolver{fields};
               }),
               ContainsSubstring("solver.blocks_from = -1"));
}

TEST_CASE("a report says its status in words, in both lengths", "[options]") {
    using kernelet::Status;
    std::vector<std::string> seen;
    for (const Status status : {Status::converged, Status::iteration_limit, Status::stopped,
                                Status::kernel_limit, Status::tolerance_missed, Status::infeasible}) {
        kernelet::Report report;
        report.status = status;
        report.kernels = 26;
        const std::string word(to_string(status));
        CHECK(std::count(seen.begin(), seen.end(), word) == 0);
        seen.push_back(word);
        CHECK_THAT(report.brief(), ContainsSubstring(word));
        CHECK_THAT(report.brief(), ContainsSubstring("26 kernels"));
        CHECK(report.brief().find('\n') == std::string::npos);
        report.residual = report.tolerance = 1.0 / 3e11;
        report.tolerance_given = report.certified = true;
        report.dual_value = 1.0;
        report.primal_value = 1.00123456;
        CHECK(report.brief().size() <= 128);
        CHECK_THAT(report.full(), ContainsSubstring(word));
    }
    kernelet::Report report;
    CHECK(report.gap() == 0.0);
    CHECK(report.relative_gap() == 1.0);  // nothing is certified
    report.certified = true;
    CHECK(report.relative_gap() == 0.0);
    report.primal_value = 4.0;
    report.dual_value = 3.0;
    CHECK(report.gap() == 1.0);
    CHECK(report.relative_gap() == Approx(0.25));
    CHECK(kernelet::relative_gap(-3.0, -4.0) == Approx(0.25));
}

}  // namespace options_test
