// Peak resident memory of five sweeps of block coordinate ascent at n = 100 000, d = 2, B = 4096. Linux only:
// reads /proc/self/status.

#include "../support/signals.hpp"

#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/kernelet.hpp>

#include <cstdio>
#include <fstream>
#include <string>

int main() {
    using namespace kernelet;
    const bench::Data data = bench::regression(100000, 2, 1);
    const Gaussian kernel;
    const Box domain = box_from_samples(data.x);
    const Matrix x = data.x(Eigen::all, detail::spatial_order(data.x));
    const detail::TiledPoints points(x);
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, data.y.transpose(), Scope::aggregate,
                                            Vector::Constant(data.y.size(), 0.1),
                                            Vector::Ones(data.y.size()));
    const DualProblem<Gaussian, SquaredLoss, Box> problem(kernel, domain, points, feasible);
    CoordinateAscentOptions options;
    options.max_sweeps = 5;
    SampledAscentOptions sampling;
    sampling.first_nodes = sampling.max_nodes = 4096;
    const double start = bench::seconds();
    const DualSolution solution = SampledAscent<>(sampling, CoordinateAscent(options)).solve(problem);
    std::printf("%ld sweeps, dual value %g, %.1f s\n", static_cast<long>(solution.iterations),
                solution.dual_value, bench::seconds() - start);
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM", 0) == 0) std::printf("peak resident memory: %s\n", line.c_str() + 6);
    return 0;
}
