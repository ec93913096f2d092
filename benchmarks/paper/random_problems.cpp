// Random small problems (n 2 to 60, d 1 to 4, duplicated points, outliers a million times the scale, scales
// of x and y from 1e-6 to 1e6): each must end with a status, finite numbers and a certificate, and scale
// exactly with powers of two. Usage: random_problems [count]

#include "support/random_problem.hpp"
#include "support/report_oracle.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char** argv) {
    using namespace kernelet;
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::map<std::string, int> endings;
    int not_finite = 0, not_exact = 0, contradictions = 0;
    for (int k = 0; k < count; ++k) {
        const support::RandomProblem problem = support::random_problem(static_cast<std::uint64_t>(k));
        const auto fit = SparseKernelEstimator<>(problem.options).fit(problem.x, problem.y);
        ++endings[std::string(to_string(fit.report.status))];
        const bool finite = fit.model.coefficients().allFinite() && std::isfinite(fit.report.dual_value) &&
                            std::isfinite(fit.report.primal_value) &&
                            std::isfinite(fit.report.integration_error);
        const support::RandomProblem other = problem.scaled(0.25, 8.0);
        const auto scaled = SparseKernelEstimator<>(other.options).fit(other.x, other.y);
        const bool exact =
            scaled.report.status == fit.report.status && scaled.model.size() == fit.model.size() &&
            (4.0 * scaled.model.centers().array() == fit.model.centers().array()).all() &&
            (4.0 * scaled.model.widths().array() == fit.model.widths().array()).all() &&
            (0.125 * scaled.model.coefficients().array() == fit.model.coefficients().array()).all();
        const std::string contradiction = support::report_contradiction(
            fit, support::AskedFit<SquaredLoss>{{problem.x, problem.y}, problem.options});
        if (!contradiction.empty()) std::printf("problem %d: %s\n", k, contradiction.c_str());
        contradictions += contradiction.empty() ? 0 : 1;
        not_exact += exact ? 0 : 1;
        not_finite += finite ? 0 : 1;
        if (!finite || !exact)
            std::printf("problem %d: finite %d, scales %d: %s\n", k, finite, exact,
                        fit.report.brief().c_str());
        if ((k + 1) % 100 == 0) std::fprintf(stderr, "%d of %d\n", k + 1, count);
    }
    for (const auto& [status, number] : endings) std::printf("%6d  %s\n", number, status.c_str());
    std::printf(
        "%d problems: %d with a number that is not finite, %d that did not scale to the bit, %d with a "
        "report that "
        "contradicts itself\n",
        count, not_finite, not_exact, contradictions);
    return not_finite + not_exact + contradictions == 0 ? 0 : 1;
}
