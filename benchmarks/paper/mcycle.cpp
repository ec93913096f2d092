// Head acceleration in a motorcycle crash (Silverman 1985, 133 samples, noise of changing size, repeated x):
// 10-fold cross-validation, repeated, of the defaults against kernel ridge whose width and ridge are chosen
// by leaving one out. Usage: mcycle [file] [repetitions = 10]

#include "../support/signals.hpp"
#include "../support/tables.hpp"

#include <kernelet/baselines/kernel_ridge.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/validation/folds.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    using namespace kernelet;
    const auto table = bench::table_or_skip(argc, argv, "mcycle.csv", "R's package MASS (data set mcycle)");
    if (!table) return 0;
    const Matrix x = table->topRows(1);
    const Vector y = table->row(1).transpose();
    const int repetitions = argc > 2 ? std::max(1, std::atoi(argv[2])) : 10;
    constexpr int folds = 10;
    const Index runs = static_cast<Index>(repetitions) * folds;
    Vector ours(runs), ridge(runs), kernels(runs), samples(runs);
    detail::parallel_for(runs, [&](Index run) {
        const auto seed = static_cast<std::uint64_t>(run / folds + 1);
        const Split part = random_folds(y.size(), folds, seed).split(run % folds);
        const Matrix train = x(Eigen::all, part.train), test = x(Eigen::all, part.test);
        const Vector target = y(part.train), truth = y(part.test);
        const auto fit = SparseKernelEstimator<>().fit(train, target);
        ours(run) = (fit.model.predict(test) - truth).squaredNorm();
        kernels(run) = static_cast<double>(fit.model.size());
        ridge(run) = (KernelRidge<>().fit(train, target).model.predict(test) - truth).squaredNorm();
        samples(run) = static_cast<double>(train.cols());
    });
    const double total = static_cast<double>(repetitions) * static_cast<double>(y.size());
    const double ours_error = std::sqrt(ours.sum() / total), ridge_error = std::sqrt(ridge.sum() / total);
    std::printf("root mean squared error on the folds left out, %d times %d folds:\n", repetitions, folds);
    std::printf("kernelet       %6.2f g with %5.1f kernels, at most %.0f\n", ours_error, kernels.mean(),
                kernels.maxCoeff());
    std::printf("kernel ridge   %6.2f g with %5.1f kernels\n", ridge_error, samples.mean());
    return 0;
}
