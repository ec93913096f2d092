// Seconds to a relative gap of 1e-2 and of 1e-3, each solver on the same problem (threshold at half of the
// highest |alpha-bar| without sparsity, tolerance twice the noise). AugmentedNewton and CoordinateAscent
// integrate on the same nodes; SampledAscent draws its own, in numbers that double until the integrals agree
// to 1 %. One row a solver and problem; "-": not reached within the time limit, with the gap it got to. A gap
// counts only where alpha is within 1e-4 of the size of y of the tolerance.
// Usage: dual_solvers [largest n]

#include "../support/signals.hpp"

#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/kernelet.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace kernelet;

constexpr double time_limit = 60.0;

struct Reached {
    double rough = -1.0;
    double fine = -1.0;
    double gap = 1.0;
};

template <class Solver, class Problem>
Reached race(const Problem& problem, const Solver& rough, const Solver& fine) {
    Reached reached;
    const auto run = [&](const Solver& solver, double goal) {
        const double start = bench::seconds();
        const DualSolution s = solver.solve(problem, [&](const Progress&) {
            return bench::seconds() - start < time_limit ? Verdict::proceed : Verdict::stop;
        });
        reached.gap = s.relative_gap();
        return s.status == Status::converged && s.relative_gap() <= goal ? bench::seconds() - start : -1.0;
    };
    reached.rough = run(rough, 1e-2);
    if (reached.rough >= 0.0) reached.fine = run(fine, 1e-3);
    return reached;
}

void print(Index n, Index d, const char* name, const Reached& r) {
    const auto cell = [](double value) { return value < 0.0 ? std::string("-") : detail::text(value); };
    std::printf("%7ld %3ld  %-18s %10s %10s   %.1e\n", static_cast<long>(n), static_cast<long>(d), name,
                cell(r.rough).c_str(), cell(r.fine).c_str(), r.gap);
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
    AugmentedNewtonOptions newton[2];
    CoordinateAscentOptions blocks[2];
    SampledAscentOptions sampling;
    sampling.max_nodes = nodes;
    for (int k = 0; k < 2; ++k) {
        const double goal = k == 0 ? 1e-2 : 1e-3;
        newton[k].stopping.gap = blocks[k].stopping.gap = goal;
        newton[k].stopping.max_nodes = blocks[k].stopping.max_nodes = nodes;
        blocks[k].max_sweeps = 100000;
    }
    const Quadrature few = problem.nodes(1024);
    problem.fixed_nodes = &few;
    const DualSolution unsparse = AugmentedNewton(newton[0]).solve(problem);
    problem.fixed_nodes = nullptr;
    const double tau = 0.5 * problem.field(unsparse.lambda, unsparse.quadrature.nodes).cwiseAbs().maxCoeff();
    problem.gamma = 0.5 * tau * tau;
    print(x.cols(), x.rows(), "AugmentedNewton",
          race(problem, AugmentedNewton(newton[0]), AugmentedNewton(newton[1])));
    print(x.cols(), x.rows(), "CoordinateAscent",
          race(problem, CoordinateAscent(blocks[0]), CoordinateAscent(blocks[1])));
    using Sampled = SampledAscent<AugmentedNewton>;
    print(x.cols(), x.rows(), "SampledAscent",
          race(problem, Sampled(sampling, AugmentedNewton(newton[0])),
               Sampled(sampling, AugmentedNewton(newton[1]))));
}

}  // namespace

int main(int argc, char** argv) {
    const Index largest = argc > 1 ? std::atol(argv[1]) : 10000;
    std::printf("      n   d  solver               to 1e-2 s  to 1e-3 s   last gap\n");
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
