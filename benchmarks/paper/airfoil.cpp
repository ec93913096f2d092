// Airfoil self-noise (UCI, 1503 samples, 5 inputs of very different scales) by 10-fold cross-validation: root
// mean squared error on the folds left out, in deviations of the target, with one width per coordinate and
// with one width per kernel, at most so many kernels, otherwise the defaults. Usage: airfoil [file] [kernels
// ... = 30 60]

#include "../support/tables.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace kernelet;

constexpr int folds = 10;

template <class Kernel>
void row(const char* name, const Matrix& x, const Vector& y, Index most) {
    const SparseKernelEstimator<Kernel> estimator({.max_kernels = most});
    const auto result = cross_validate(estimator, x, y, random_folds(y.size(), folds, 1));
    double seconds = 0.0;
    for (std::size_t f = 0; f < result.folds.size(); ++f) {
        seconds += result.folds[f].seconds / folds;
        std::fprintf(stderr, "%s, fold %zu: %s\n", name, f, result.folds[f].fit->report.brief().c_str());
    }
    std::printf("%-22s at most %3ld   %6.1f kernels   error %.4f   %6.1f s a fit\n", name,
                static_cast<long>(most), result.mean_kernels(), std::sqrt(result.score), seconds);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto table =
        bench::table_or_skip(argc, argv, "airfoil.csv", "the UCI repository (Airfoil Self-Noise)");
    if (!table) return 0;
    const Matrix x = table->topRows(table->rows() - 1);
    Vector y = table->bottomRows(1).transpose();
    y.array() -= y.mean();
    y /= std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
    std::vector<Index> limits{30, 60};
    if (argc > 2) limits.clear();
    for (int k = 2; k < argc; ++k) limits.push_back(std::atol(argv[k]));
    for (const Index most : limits) {
        row<AnisotropicGaussian>("a width a coordinate", x, y, most);
        row<Gaussian>("one width a kernel", x, y, most);
    }
    return 0;
}
