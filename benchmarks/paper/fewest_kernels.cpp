// How few kernels, at what error, on the defaults alone: the chirp sin(½πx²) at several n, with gaps and
// undersampled, and ten Gaussians. MSE is against the noise-free signal on a fine grid. A Gaussian process
// (kernel ridge at the largest marginal likelihood) runs on the first realisations for comparison.
// Usage: fewest_kernels [realisations = 50]

#include "../support/realisation.hpp"
#include "../support/signals.hpp"
#include "../support/summary.hpp"

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace kernelet;
using bench::chirp;
using bench::gaussians;
using bench::mean;
using bench::mean_squared_error;
using bench::quantile;
using bench::Realisation;

constexpr int process_realisations = 5;  // of the Gaussian process: n³ each

struct Asked {
    double kernels;        // median, or mean where said
    bool mean_of_kernels;  // the bound is on the mean
    double error;          // median
    double process_ratio;  // > 0: the error bound is this times the Gaussian process's median instead
    double mean_error;     // > 0: a bound on the mean error too
};

bool table_row(const char* name, int realisations, const std::function<Realisation(std::uint64_t)>& make,
               const Asked& asked) {
    std::vector<double> kernels(static_cast<std::size_t>(realisations)), errors = kernels, heights = kernels,
                                                                         seconds = kernels;
    detail::parallel_for(realisations, [&](Index k) {
        const Realisation r = make(static_cast<std::uint64_t>(k) + 1);
        const double start = bench::seconds();
        const auto fit = SparseKernelEstimator<>().fit(r.x, r.y);
        const auto slot = static_cast<std::size_t>(k);
        seconds[slot] = bench::seconds() - start;
        kernels[slot] = static_cast<double>(fit.model.size());
        errors[slot] = mean_squared_error(fit.model, r);
        heights[slot] = fit.model.coefficients().cwiseAbs().maxCoeff() / r.y.cwiseAbs().maxCoeff();
    });
    double bound = asked.error, process = 0.0;
    if (asked.process_ratio > 0.0) {
        std::vector<double> of_process;
        for (int k = 0; k < std::min(realisations, process_realisations); ++k) {
            const Realisation r = make(static_cast<std::uint64_t>(k) + 1);
            KernelRidgeOptions options;
            options.criterion = RidgeCriterion::marginal_likelihood;
            of_process.push_back(mean_squared_error(KernelRidge<>(options).fit(r.x, r.y).model, r));
        }
        process = quantile(of_process, 0.5);
        bound = asked.process_ratio * process;
    }
    const double count = asked.mean_of_kernels ? mean(kernels) : quantile(kernels, 0.5);
    const bool met = count <= asked.kernels && quantile(errors, 0.5) <= bound &&
                     quantile(kernels, 0.9) <= asked.kernels + 3.0 && quantile(errors, 0.9) <= 2.0 * bound &&
                     (asked.mean_error <= 0.0 || mean(errors) <= asked.mean_error) &&
                     quantile(heights, 1.0) <= 20.0;
    std::printf("%-22s %4.0f %4.0f %6.2f   %8.1e %8.1e %8.1e %8.1e  %8.1e %8.1e  %5.1f  %5.2f %5.2f  %s\n",
                name, quantile(kernels, 0.5), quantile(kernels, 0.9), mean(kernels), quantile(errors, 0.5),
                quantile(errors, 0.9), mean(errors), quantile(errors, 1.0), process, bound,
                quantile(heights, 1.0), quantile(seconds, 0.5), quantile(seconds, 1.0),
                met ? "met" : "MISSED");
    std::fflush(stdout);
    return met;
}

}  // namespace

int main(int argc, char** argv) {
    const int realisations = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
    std::printf(
        "%d realisations; kernels: median, p90, mean; MSE: median, p90, mean, max, the Gaussian process's "
        "median,\n"
        "the bound; largest |a|/max|y|; seconds of a fit on one thread: median, max\n",
        realisations);
    bool all = true;
    for (const Index n : {201, 301, 401, 501})
        all &= table_row(("chirp n = " + std::to_string(n)).c_str(), realisations,
                         [n](std::uint64_t seed) { return chirp(n, false, seed); }, {18, false, 0, 1.3, 0});
    all &= table_row("chirp n = 101", realisations,
                     [](std::uint64_t seed) { return chirp(101, false, seed); }, {20, false, 1.5e-3, 0, 0});
    all &= table_row("chirp n = 201 random x", realisations,
                     [](std::uint64_t seed) { return chirp(201, true, seed); }, {20, false, 2.5e-3, 0, 0});
    all &= table_row("chirp n = 51", realisations, [](std::uint64_t seed) { return chirp(51, false, seed); },
                     {26, false, 0.05, 0, 0});
    all &= table_row("ten Gaussians n = 100", realisations,
                     [](std::uint64_t seed) { return gaussians(10, 0.453, 100, seed); },
                     {7.5, true, 6e-4, 0, 2e-3});
    return all ? 0 : 1;
}
