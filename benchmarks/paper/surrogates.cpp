// Surrogates of the classical test functions in 2 to 10 dimensions, from samples of a Latin hypercube without noise and
// with noise of 0.05 of the function's deviation: kernelet on its defaults, a width per coordinate, beside kernel ridge
// with one width, both chosen by leaving one out. Medians over the designs; errors and noise in deviations of the
// function, "within 95 %" the share of clean values at new points inside the interval that `with_deviation` gives.
// Usage: surrogates [samples, 300] [designs, 5]

#include "../support/surrogates.hpp"
#include "../support/signals.hpp"

#include <kernelet/baselines.hpp>
#include <kernelet/detail/median.hpp>
#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace kernelet;

template <class Model>
double error_of(const Model& model, const bench::SurrogateData& data) {
    return std::sqrt((model.predict(data.test) - data.truth).squaredNorm() /
                     static_cast<double>(data.truth.size())) /
           data.deviation;
}

struct Outcomes {
    std::vector<double> kernels{}, errors{}, noise{}, covered{}, seconds{}, ridge_errors{};
};

void add_design(Outcomes& out, const bench::SurrogateData& data) {
    constexpr double normal_95 = 1.96;
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(data.x, data.y);
    out.seconds.push_back(bench::seconds() - start);
    out.kernels.push_back(static_cast<double>(fit.model.size()));
    out.errors.push_back(error_of(fit.model, data));
    out.noise.push_back(fit.model.statistics().noise(0) / data.deviation);
    const Prediction predicted = fit.model.predict(data.test, with_deviation);
    Index inside = 0;
    for (Index i = 0; i < data.truth.size(); ++i)
        inside += std::abs(predicted.mean(i) - data.truth(i)) <= normal_95 * predicted.deviation(i) ? 1 : 0;
    out.covered.push_back(100.0 * static_cast<double>(inside) / static_cast<double>(data.truth.size()));
    out.ridge_errors.push_back(error_of(KernelRidge<>().fit(data.x, data.y).model, data));
}

}  // namespace

int main(int argc, char** argv) {
    const Index samples = argc > 1 ? std::max(10, std::atoi(argv[1])) : 300;
    const int designs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    std::printf("%ld samples, medians of %d designs\n", static_cast<long>(samples), designs);
    std::printf(
        "| function (inputs) | noise | kernels | error | noise estimated | within 95 %% | seconds | kernel "
        "ridge, %ld kernels |\n",
        static_cast<long>(samples));
    std::printf("|---|---|---|---|---|---|---|---|\n");
    for (const double noise : {0.0, 0.05})
        for (const bench::SurrogateFunction& function : bench::surrogate_functions()) {
            Outcomes out;
            for (int design = 1; design <= designs; ++design)
                add_design(
                    out, bench::surrogate_data(function, samples, noise, static_cast<std::uint64_t>(design)));
            std::printf("| %s (%ld) | %.2f | %.0f | %.4f | %.4f | %.1f | %.2f | %.4f |\n",
                        function.name.c_str(), static_cast<long>(function.inputs), noise,
                        detail::median(out.kernels), detail::median(out.errors), detail::median(out.noise),
                        detail::median(out.covered), detail::median(out.seconds),
                        detail::median(out.ridge_errors));
            std::fflush(stdout);
        }
    return 0;
}
