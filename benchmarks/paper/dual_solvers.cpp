// Seconds to a relative gap of 5e-2, 1e-2 and 1e-3, each solver on the same problem (threshold at half of the highest
// |alpha-bar| without sparsity, tolerance twice the noise). AugmentedNewton and CoordinateAscent integrate on the same
// nodes; SampledAscent and StochasticSupergradient take nodes in numbers that grow until the integrals agree to 1 %. One row
// per solver and problem; "-": not reached within the time limit or the iterations of the solver, with the gap it got to. A gap counts only where alpha is
// within 1e-4 of the size of y of the tolerance, 5e-3 for StochasticSupergradient. Numbers held: AugmentedNewton n^2 up to
// 1500 samples, else n and the nodes squared that are on; CoordinateAscent and SampledAscent n + B;
// StochasticSupergradient 65 n + B; each up to 16 MB of kernel values more.
// Usage: dual_solvers [largest n]

#include "../support/signals.hpp"

#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/kernelet.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace kernelet;

constexpr double time_limit = 60.0;

constexpr std::array<double, 3> goals{5e-2, 1e-2, 1e-3};

struct Reached {
    std::array<double, goals.size()> seconds{-1.0, -1.0, -1.0};
    double gap = 1.0;
};

/// solver_for(goal) for each goal, until one is missed.
template <class Problem, class SolverFor>
Reached race(const Problem& problem, const SolverFor& solver_for) {
    Reached reached;
    for (std::size_t k = 0; k < goals.size(); ++k) {
        const double start = bench::seconds();
        const DualSolution s = solver_for(goals[k]).solve(problem, [&](const Progress&) {
            return bench::seconds() - start < time_limit ? Verdict::proceed : Verdict::stop;
        });
        reached.gap = s.relative_gap();
        if (s.status != Status::converged || !(std::abs(s.relative_gap()) <= goals[k])) break;
        reached.seconds[k] = bench::seconds() - start;
    }
    return reached;
}

void print(Index n, Index d, const char* name, const Reached& r) {
    std::printf("%7ld %3ld  %-24s", static_cast<long>(n), static_cast<long>(d), name);
    for (const double seconds : r.seconds)
        std::printf(" %10s", seconds < 0.0 ? "-" : detail::text(seconds).c_str());
    std::printf("   %.1e\n", r.gap);
    std::fflush(stdout);
}

template <class Omega>
void compare(const bench::Data& data, const Omega& domain, Index nodes) {
    const Gaussian kernel;
    const std::vector<Index> order = detail::spatial_order(data.x);
    const Matrix x = data.x(Eigen::all, order);
    const Vector y = data.y(order).array() - data.y.mean();
    const detail::TiledPoints points(x);
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, y.transpose(), Scope::aggregate,
                                            Vector::Constant(y.size(), 2.0 * std::sqrt(1e-3)),
                                            Vector::Ones(y.size()));
    DualProblem<Gaussian, SquaredLoss, Omega> problem(kernel, domain, points, feasible);
    const auto newton = [&](double goal) {
        AugmentedNewtonOptions options;
        options.stopping.gap = goal;
        options.stopping.max_nodes = nodes;
        return AugmentedNewton(options);
    };
    const Quadrature few = problem.nodes(1024);
    problem.fixed_nodes = &few;
    const DualSolution unsparse = newton(1e-2).solve(problem);
    problem.fixed_nodes = nullptr;
    const double tau = 0.5 * problem.field(unsparse.lambda, unsparse.quadrature.nodes).cwiseAbs().maxCoeff();
    problem.gamma = 0.5 * tau * tau;
    const Index n = x.cols(), d = x.rows();
    print(n, d, "AugmentedNewton", race(problem, newton));
    print(n, d, "CoordinateAscent", race(problem, [&](double goal) {
              CoordinateAscentOptions options;
              options.stopping.gap = goal;
              options.stopping.max_nodes = nodes;
              options.max_sweeps = 100000;
              return CoordinateAscent(options);
          }));
    print(n, d, "SampledAscent", race(problem, [&](double goal) {
              SampledAscentOptions options;
              options.max_nodes = nodes;
              return SampledAscent<AugmentedNewton>(options, newton(goal));
          }));
    print(n, d, "StochasticSupergradient", race(problem, [&](double goal) {
              StochasticSupergradientOptions options;
              options.gap = goal;
              options.integration = 0.01;
              options.max_batch = nodes;
              return StochasticSupergradient(options);
          }));
}

}  // namespace

int main(int argc, char** argv) {
    const Index largest = argc > 1 ? std::atol(argv[1]) : 10000;
    std::printf("      n   d  solver                    to 5e-2 s  to 1e-2 s  to 1e-3 s   last gap\n");
    for (const Index d : {1, 2, 5})
        for (Index n = 100; n <= largest; n *= 10) {
            const bench::Data data = bench::regression(n, d, 1);
            if (d < around_samples_from_dimension)
                compare(data, box_from_samples(data.x), 8192);
            else
                compare(data, AroundSamples(data.x, widths_from_samples(data.x)), 4096);
        }
    return 0;
}
