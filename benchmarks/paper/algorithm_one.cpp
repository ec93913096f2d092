// Algorithm 1 with the steps that StochasticSupergradient chooses, and AugmentedNewton on the same problem: peaks,
// error of least squares on them, gap and integration error on the chirp, at the printed gamma with what else the paper
// leaves unstated (benchmarks/support/algorithm_one.hpp) and at what a fit with the defaults solves; D on bumps in two
// dimensions and on bananas with both losses of labels. Draws algorithm_one.png: D, P and the gap by iteration,
// as printed, with chosen steps, and of AugmentedNewton.
// Usage: algorithm_one [seeds, 10] [file of the bananas]

#include "../support/algorithm_one.hpp"
#include "../support/signals.hpp"
#include "../support/tables.hpp"

#include "../../examples/support/plot.hpp"

#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/search/least_squares.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace kernelet;

template <class Problem>
double half_height_gamma(Problem problem) {
    const Quadrature few = problem.nodes(2048);
    problem.fixed_nodes = &few;
    const DualSolution unsparse = AugmentedNewton().solve(problem);
    const double tau = 0.5 * problem.field(unsparse.lambda, few.nodes).cwiseAbs().maxCoeff();
    return 0.5 * tau * tau;
}

/// The result of one solver on one problem.
struct Outcome {
    Index peaks{};
    double error{};  // of least squares on the peaks
    double dual{}, gap{}, integration{}, seconds{};
};

template <class Problem, class Solver>
Outcome outcome(const Problem& problem, const Solver& solver, const bench::Realisation& r) {
    Outcome out;
    const double start = bench::seconds();
    const DualSolution s = solver.solve(problem);
    out.seconds = bench::seconds() - start;
    const Certificate certificate = certify(problem, s);
    const InputScaling same = InputScaling::identity(1);
    const CoefficientField field(Gaussian{}, r.x, s.lambda, problem.gamma, same);
    const ExtractedPeaks found = extract_peaks(field, problem.domain, problem.points, s.quadrature.nodes);
    out.peaks = static_cast<Index>(found.peaks.size());
    Matrix nodes(2, out.peaks);
    for (Index j = 0; j < out.peaks; ++j) nodes.col(j) = found.peaks[static_cast<std::size_t>(j)].node;
    constexpr double ridge = 1e-7;  // as algorithm_one()
    const Vector ones = Vector::Ones(r.x.cols());
    const auto solved =
        least_squares({Gaussian{}, problem.points, problem.feasible.target(), ones, ridge}, nodes);
    const SparseKernelModel<Gaussian> model(Gaussian{}, same, nodes, solved.coefficients, Vector::Zero(1));
    out.error = bench::mean_squared_error(model, r);
    out.dual = s.dual_value;
    out.gap = std::abs(s.relative_gap());
    out.integration = certificate.integration_error;
    return out;
}

/// One row. Each figure is the worst over the seeds; the second column counts seeds.
void chirp_row(Index n, bool printed, int seeds) {
    int close = 0;
    double gap = 0.0, integration = 0.0, off = 0.0, seconds = 0.0, newton_seconds = 0.0, newton_error = 0.0;
    std::vector<double> errors;
    Index least = n, most = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        const bench::Realisation r = bench::chirp(n, false, static_cast<std::uint64_t>(seed));
        const Gaussian kernel;
        const detail::TiledPoints points(r.x);
        const double tolerance = printed ? bench::unstated_tolerance : 1.6 * std::sqrt(bench::noise_variance);
        const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, r.y.transpose(),
                                                printed ? Scope::per_sample : Scope::aggregate,
                                                Vector::Constant(n, tolerance), Vector::Ones(n));
        const Box box =
            printed ? Box(-bench::chirp_edge, bench::chirp_edge, bench::chirp_widths, Spacing::uniform)
                    : box_from_samples(r.x);
        DualProblem<Gaussian, SquaredLoss, Box> problem(kernel, box, points, feasible, 0.0,
                                                        static_cast<std::uint64_t>(seed));
        problem.gamma = printed ? bench::steps_of_smoothness.gamma : half_height_gamma(problem);
        const Outcome newton = outcome(problem, AugmentedNewton(), r);
        const Outcome one = outcome(problem, StochasticSupergradient(), r);
        close += std::abs(one.peaks - newton.peaks) <= 4 ? 1 : 0;
        least = std::min(least, one.peaks);
        most = std::max(most, one.peaks);
        errors.push_back(one.error);
        newton_error = std::max(newton_error, newton.error);
        gap = std::max(gap, one.gap);
        integration = std::max(integration, one.integration);
        off = std::max(off, std::abs(one.dual / newton.dual - 1.0));
        seconds += one.seconds / seeds;
        newton_seconds += newton.seconds / seeds;
    }
    std::printf("| %ld | %d of %d | %ld to %ld | %.1e | %.1e | %.2f | %.2f | %.2f | %.2f, %.2f |\n",
                static_cast<long>(n), close, seeds, static_cast<long>(least), static_cast<long>(most),
                *std::max_element(errors.begin(), errors.end()), newton_error, 100.0 * gap,
                100.0 * integration, 100.0 * off, seconds, newton_seconds);
    std::fflush(stdout);
}

/// D, and that of AugmentedNewton.
template <class Loss>
void value_row(const char* name, const Matrix& inputs, const Matrix& targets, const Loss& loss,
               double tolerance) {
    const std::vector<Index> order = detail::spatial_order(inputs);
    const Matrix x = detail::columns_of(inputs, order), y = detail::columns_of(targets, order);
    const Gaussian kernel;
    const detail::TiledPoints points(x);
    const Box box = box_from_samples(x);
    const FeasibleSet<Loss> feasible(loss, y, Scope::aggregate, Vector::Constant(y.cols(), tolerance),
                                     Vector::Ones(y.cols()));
    DualProblem<Gaussian, Loss, Box> problem(kernel, box, points, feasible);
    problem.gamma = half_height_gamma(problem);
    double start = bench::seconds();
    const DualSolution newton = AugmentedNewton().solve(problem);
    const double newton_seconds = bench::seconds() - start;
    start = bench::seconds();
    const DualSolution one = StochasticSupergradient().solve(problem);
    const double seconds = bench::seconds() - start;
    problem.fixed_nodes = &one.quadrature;
    const double same_nodes = AugmentedNewton().solve(problem).dual_value;
    problem.fixed_nodes = nullptr;
    const double newton_integration = certify(problem, newton).integration_error;
    std::printf("| %s | %.5g (%.1f) | %.5g (%.1f) | %.2f | %.2f | %.2f | %.2f, %.2f |\n", name,
                newton.dual_value, 100.0 * newton_integration, one.dual_value,
                100.0 * certify(problem, one).integration_error,
                100.0 * std::abs(one.dual_value / newton.dual_value - 1.0),
                100.0 * std::abs(one.dual_value / same_nodes - 1.0), 100.0 * std::abs(one.relative_gap()),
                seconds, newton_seconds);
    std::fflush(stdout);
}

void draw(Index n) {
    const bench::Realisation r = bench::chirp(n, false, 1);
    const Gaussian kernel;
    const detail::TiledPoints points(r.x);
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, r.y.transpose(), Scope::per_sample,
                                            Vector::Constant(n, bench::unstated_tolerance), Vector::Ones(n));
    const Box box(-bench::chirp_edge, bench::chirp_edge, bench::chirp_widths, Spacing::uniform);
    const DualProblem<Gaussian, SquaredLoss, Box> problem(kernel, box, points, feasible,
                                                          bench::steps_of_smoothness.gamma);
    std::vector<std::array<double, 5>> rows;  // solver, iteration, D, P, gap
    const auto watch = [&](double solver) {
        return [&rows, solver](const Progress& p) {
            // gap = (P − D)/max(P, D)
            const double primal = p.gap >= 0.0 ? p.dual_value / (1.0 - p.gap) : p.dual_value * (1.0 + p.gap);
            rows.push_back(
                {solver, static_cast<double>(p.iteration + 1), p.dual_value, primal, std::abs(p.gap)});
            return Verdict::proceed;
        };
    };
    StochasticSupergradientOptions steps;
    steps.eta_lambda = bench::steps_of_smoothness.eta_lambda;
    steps.eta_mu = bench::steps_of_smoothness.eta_mu;
    for (const Index iterations : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}) {
        steps.iterations = iterations;
        const DualSolution s = StochasticSupergradient(steps).solve(problem);
        rows.push_back(
            {0.0, static_cast<double>(iterations), s.dual_value, s.primal_value, std::abs(s.relative_gap())});
    }
    const double best = AugmentedNewton().solve(problem, watch(2.0)).dual_value;
    StochasticSupergradientOptions fine;
    fine.gap = fine.violation = 1e-4;
    StochasticSupergradient(fine).solve(problem, watch(1.0));
    Matrix table(static_cast<Index>(rows.size()), 5);
    for (std::size_t k = 0; k < rows.size(); ++k)
        table.row(static_cast<Index>(k)) << rows[k][0], rows[k][1], std::max(0.0, rows[k][2] / best),
            std::max(0.0, rows[k][3] / best), std::max(1e-6, rows[k][4]);
    plot::write_csv("algorithm_one.csv", "solver,iteration,dual,primal,gap", table, 8);
    plot::draw("algorithm_one",
               plot::title(detail::text("Chirp, n = ", n,
                                        ": D (lines) and P (dashes) relative to the optimum, and the "
                                        "gap, by iteration")) +
                   plot::panel(0.075, 0.50) + R"gnuplot(
set multiplot
set grid ytics lc rgb 0xececec lt 1
set logscale x
set xrange [1:10000]
set yrange [0:1.4]
set key bottom right
set xlabel "iteration" textcolor rgb ink
set ylabel "relative to the optimum" textcolor rgb ink
plot "algorithm_one.csv" using ($1 == 0 ? $2 : 1/0):3 skip 1 with linespoints pt 5 ps 0.7 lw 2 lc rgb amber title "as printed", \
     "" using ($1 == 2 ? $2 : 1/0):3 skip 1 with lines lw 2 lc rgb blue title "AugmentedNewton", \
     "" using ($1 == 2 ? $2 : 1/0):4 skip 1 with lines lw 2 dt 2 lc rgb blue notitle, \
     "" using ($1 == 1 ? $2 : 1/0):3 skip 1 with lines lw 2 lc rgb red title "chosen steps", \
     "" using ($1 == 1 ? $2 : 1/0):4 skip 1 with lines lw 2 dt 2 lc rgb red notitle
unset label 1
)gnuplot" + plot::panel(0.58, 0.975) +
                   R"gnuplot(
set logscale y
set yrange [1e-5:2]
set format y "10^{%T}"
set ylabel "relative gap" textcolor rgb ink
plot "algorithm_one.csv" using ($1 == 0 ? $2 : 1/0):5 skip 1 with linespoints pt 5 ps 0.7 lw 2 lc rgb amber notitle, \
     "" using ($1 == 2 ? $2 : 1/0):5 skip 1 with lines lw 2 lc rgb blue notitle, \
     "" using ($1 == 1 ? $2 : 1/0):5 skip 1 with lines lw 2 lc rgb red notitle
unset multiplot
)gnuplot");
}

}  // namespace

int main(int argc, char** argv) {
    const int seeds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
    for (const bool printed : {true, false}) {
        std::printf(
            "\nchirp, %s; worst of %d seeds; gap, integration error and distance of D from AugmentedNewton's "
            "in %%\n",
            printed ? "gamma, tolerance, X and W of benchmarks/support/algorithm_one.hpp"
                    : "domain and threshold of the defaults, tolerance 1.6 deviations of the noise",
            seeds);
        std::printf(
            "| n | peaks within 4 of AugmentedNewton | peaks | MSE of least squares on them | on those of "
            "AugmentedNewton | gap | integration | D | seconds, AugmentedNewton "
            "|\n|---|---|---|---|---|---|---|---|---|\n");
        for (const Index n : {51, 101, 201, 301, 401, 501}) chirp_row(n, printed, seeds);
    }
    std::printf(
        "\n| problem | D of AugmentedNewton (integration, %%) | D (integration, %%) | apart, %% | apart on "
        "the same nodes, "
        "%% | gap, %% | seconds, AugmentedNewton |\n|---|---|---|---|---|---|---|\n");
    const bench::Data bumps = bench::regression(1000, 2, 1);
    value_row("bumps in 2-D, n = 1000", bumps.x, (bumps.y.array() - bumps.y.mean()).matrix().transpose(),
              SquaredLoss{}, 2.0 * std::sqrt(1e-3));
    std::vector<char*> files{argv[0]};
    if (argc > 2) files.push_back(argv[2]);
    if (const auto table = bench::table_or_skip(static_cast<int>(files.size()), files.data(), "banana.csv",
                                                "KEEL (banana)")) {
        const Matrix x = table->topRows(2).leftCols(1000), y = table->bottomRows(1).leftCols(1000);
        value_row("bananas, hinge, n = 1000", x, y, HingeLoss{}, 0.5);
        value_row("bananas, logistic, n = 1000", x, y, LogisticLoss{}, 0.35);
    }
    draw(201);
    return 0;
}
