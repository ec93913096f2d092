// Surrogates of the classical test functions in 2 to 10 dimensions, from samples of a Latin hypercube without noise and
// with noise of 0.05 of the function's deviation: kernelet on its defaults, a width per coordinate, a Gaussian
// process with a length scale per coordinate (marginal likelihood), kernel ridge with one width (leaving one out) and
// LIBSVM's regression with one width (width, C and tube by 5-fold cross-validation). Medians over the designs; errors
// and noise in deviations of the function; "clean" and "new" are the shares of clean values and of new observations at
// 2000 points inside the intervals of 95 % that `with_deviation` and `with_noise` give. Draws surrogates.png.
// Usage: surrogates [samples, 300] [designs, 5]

#include "../support/surrogates.hpp"
#include "../../examples/support/plot.hpp"
#include "../support/signals.hpp"
#include "../support/tuning.hpp"
#ifdef KERNELET_BENCHMARKS_LIBSVM
#include "../support/libsvm.hpp"
#endif

#include <kernelet/baselines.hpp>
#include <kernelet/detail/median.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/validation/folds.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

double error_of(const Vector& predicted, const bench::SurrogateData& data) {
    return std::sqrt((predicted - data.truth).squaredNorm() / static_cast<double>(data.truth.size())) /
           data.deviation;
}

/// The share of values inside intervals of 95 %, in percent.
double covered(const Prediction& predicted, const Vector& values) {
    constexpr double normal_95 = 1.96;
    Index inside = 0;
    for (Index i = 0; i < values.size(); ++i)
        inside += std::abs(predicted.mean(i) - values(i)) <= normal_95 * predicted.deviation(i) ? 1 : 0;
    return 100.0 * static_cast<double>(inside) / static_cast<double>(values.size());
}

#ifdef KERNELET_BENCHMARKS_LIBSVM
/// Support vector regression, tuned by 5-fold cross-validation; y in its own deviations.
double support_vector_error(const bench::SurrogateData& data) {
    const Vector y = (data.y.array() - data.y.mean()) / data.deviation;
    std::vector<bench::SvmSetting> grid;
    for (const double width : bench::width_ladder(data.x, 5))
        for (const double cost : {1.0, 10.0, 100.0})
            for (const double epsilon : {0.003, 0.03}) grid.push_back({width, cost, epsilon});
    const auto task = bench::SvmModel::Task::regression;
    const auto left = [&](const bench::SvmSetting& setting, const Split& parts) {
        const bench::SvmModel model(task, data.x(Eigen::all, parts.train), y(parts.train), setting);
        return (model.predict(Matrix(data.x(Eigen::all, parts.test))) - y(parts.test)).squaredNorm();
    };
    const bench::SvmSetting best = bench::best_by_cross_validation(grid, random_folds(y.size(), 5, 1), left);
    const Vector predicted = bench::SvmModel(task, data.x, y, best).predict(data.test);
    return error_of((predicted * data.deviation).array() + data.y.mean(), data);
}
#endif

struct Outcomes {
    std::vector<double> kernels{}, errors{}, noise{}, clean{}, fresh{}, seconds{};
    std::vector<double> process_errors{}, process_seconds{}, ridge_errors{}, vector_errors{};
};

void add_design(Outcomes& out, const bench::SurrogateData& data, double noise) {
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(data.x, data.y);
    out.seconds.push_back(bench::seconds() - start);
    out.kernels.push_back(static_cast<double>(fit.model.size()));
    out.errors.push_back(error_of(fit.model.predict(data.test), data));
    out.noise.push_back(fit.model.statistics().noise(0) / data.deviation);
    out.clean.push_back(covered(fit.model.predict(data.test, with_deviation), data.truth));
    const detail::CounterRandom normal(1, 54);
    Vector observed = data.truth;
    for (Index i = 0; i < observed.size(); ++i)
        observed(i) += noise * data.deviation * normal.normal(static_cast<std::uint64_t>(i));
    out.fresh.push_back(covered(fit.model.predict(data.test, with_noise), observed));
    const double process_start = bench::seconds();
    const GaussianProcessFit process = GaussianProcess().fit(data.x, data.y);
    out.process_seconds.push_back(bench::seconds() - process_start);
    out.process_errors.push_back(error_of(process.model.predict(data.test), data));
    out.ridge_errors.push_back(error_of(KernelRidge<>().fit(data.x, data.y).model.predict(data.test), data));
#ifdef KERNELET_BENCHMARKS_LIBSVM
    out.vector_errors.push_back(support_vector_error(data));
#endif
}

void draw(Index samples) {
    plot::draw("surrogates",
               plot::title(detail::text(
                   "Error of surrogates from ", samples,
                   " samples, in deviations of the function: left without noise, right with 0.05")) +
                   plot::panel(0.075, 0.50) + R"gnuplot(
set multiplot
set grid ytics lc rgb 0xececec lt 1
set logscale y
set format y "10^{%T}"
set xrange [-0.5:5.5]
set xtics rotate by -30 ("borehole" 0, "OTL" 1, "Friedman" 2, "Ishigami" 3, "Branin" 4, "Franke" 5)
set ylabel "error" textcolor rgb ink
plot "surrogates.csv" using 1:($2 == 0 ? $5 : 1/0) skip 1 with points pt 5 ps 1.2 lc rgb blue title "Gaussian process", \
     "" using 1:($2 == 0 ? $7 : 1/0) skip 1 with points pt 9 ps 1.2 lc rgb amber title "support vectors", \
     "" using 1:($2 == 0 ? $4 : 1/0) skip 1 with points pt 7 ps 1.4 lc rgb red title "kernelet"
unset label 1
)gnuplot" + plot::panel(0.58, 0.975) +
                   R"gnuplot(
plot "surrogates.csv" using 1:($2 > 0 ? $5 : 1/0) skip 1 with points pt 5 ps 1.2 lc rgb blue notitle, \
     "" using 1:($2 > 0 ? $7 : 1/0) skip 1 with points pt 9 ps 1.2 lc rgb amber notitle, \
     "" using 1:($2 > 0 ? $4 : 1/0) skip 1 with points pt 7 ps 1.4 lc rgb red notitle
unset multiplot
)gnuplot");
}

}  // namespace

int main(int argc, char** argv) {
    const Index samples = argc > 1 ? std::max(10, std::atoi(argv[1])) : 300;
    const int designs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    std::printf("%ld samples, medians of %d designs\n", static_cast<long>(samples), designs);
    std::printf(
        "| function (inputs) | noise | kernels | error | noise estimated | clean | new | seconds | Gaussian "
        "process, seconds | kernel ridge | support vectors "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    Matrix table(0, 7);
    for (const double noise : {0.0, 0.05}) {
        Index number = 0;
        double log_ratios = 0.0;
        for (const bench::SurrogateFunction& function : bench::surrogate_functions()) {
            Outcomes out;
            for (int design = 1; design <= designs; ++design)
                add_design(
                    out, bench::surrogate_data(function, samples, noise, static_cast<std::uint64_t>(design)),
                    noise);
            const double error = detail::median(out.errors), process = detail::median(out.process_errors);
            const double vectors =
                out.vector_errors.empty() ? std::nan("") : detail::median(out.vector_errors);
            std::printf(
                "| %s (%ld) | %.2f | %.0f | %.2g | %.4f | %.1f | %.1f | %.2f | %.2g, %.2f | %.2g | %.2g |\n",
                function.name.c_str(), static_cast<long>(function.inputs), noise, detail::median(out.kernels),
                error, detail::median(out.noise), detail::median(out.clean), detail::median(out.fresh),
                detail::median(out.seconds), process, detail::median(out.process_seconds),
                detail::median(out.ridge_errors), vectors);
            std::fflush(stdout);
            log_ratios += std::log(error / process);
            table.conservativeResize(table.rows() + 1, Eigen::NoChange);
            table.bottomRows(1) << static_cast<double>(number++), noise, detail::median(out.kernels), error,
                process, detail::median(out.ridge_errors), vectors;
        }
        std::printf("noise %.2f: error relative to the process, geometric mean %.3f\n", noise,
                    std::exp(log_ratios / static_cast<double>(number)));
    }
    plot::write_csv("surrogates.csv", "function,noise,kernels,kernelet,process,ridge,vectors", table);
    draw(samples);
    return 0;
}
