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

/// What the options' own check says, and the estimator that is handed them: the same.
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
    }
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
        CHECK_THAT(report.full(), ContainsSubstring(word));
    }
    kernelet::Report report;
    CHECK(report.gap() == 0.0);
    CHECK(report.relative_gap() == 0.0);
    report.primal_value = 4.0;
    report.dual_value = 3.0;
    CHECK(report.gap() == 1.0);
    CHECK(report.relative_gap() == Approx(0.25));
    CHECK(kernelet::relative_gap(-3.0, -4.0) == Approx(0.25));
}

}  // namespace options_test
