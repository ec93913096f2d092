// Whole fits, one line each: what sh cmake/run.sh speed compiles against two versions of the library and compares. Only
// names that both versions have. Usage: fits <problem> <first> <behind the last> <folder of the data>

#include "../../include/kernelet/validation/folds.hpp"  // also where the version compared has none
#include "../support/realisation.hpp"
#include "../support/signals.hpp"
#include "../support/tables.hpp"

#include <kernelet/kernelet.hpp>

#include <sys/resource.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kernelet;

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

/// Times `fit()`, which returns kernels and error.
template <class Fit>
void line(const std::string& problem, int which, const Fit& fit) {
    const double user = user_seconds(), wall = bench::seconds();
    const std::pair<double, double> found = fit();
    std::printf("%s %d user %.4f wall %.4f kernels %.2f error %.9g\n", problem.c_str(), which,
                user_seconds() - user, bench::seconds() - wall, found.first, found.second);
    std::fflush(stdout);
}

/// Mean squared error in deviations of y squared, a width per coordinate.
void airfoil(const std::string& name, const Matrix& table, int which) {
    const Matrix x = table.topRows(table.rows() - 1);
    Vector y = table.bottomRows(1).transpose();
    y.array() -= y.mean();
    y /= std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
    const Split part = random_folds(y.size(), 10, 1).split(which);
    line(name, which, [&] {
        const auto fit = SparseKernelEstimator<AnisotropicGaussian>().fit(x(Eigen::all, part.train),
                                                                          Vector(y(part.train)));
        const Vector left = fit.model.predict(x(Eigen::all, part.test)) - y(part.test);
        return std::pair(static_cast<double>(fit.model.size()),
                         left.squaredNorm() / static_cast<double>(left.size()));
    });
}

/// Fraction wrong.
template <class Loss>
void banana(const std::string& name, const Matrix& table, int which) {
    const Matrix x = table.topRows(2);
    const Vector y = table.row(2).transpose();
    const Split part = stratified_folds(y, 10, 1).split(which);
    Options options;
    options.dual_samples = 500;  // as both versions of this program set it; the default is 2000 or less
    if (std::getenv("KERNELET_DEFAULT_DUAL") != nullptr) options.dual_samples = Options{}.dual_samples;
    line(name, which, [&] {
        const auto fit = SparseKernelEstimator<AnisotropicGaussian, Loss>(options).fit(
            x(Eigen::all, part.train), Vector(y(part.train)));
        const Vector decisions = fit.model.predict(x(Eigen::all, part.test)), truth = y(part.test);
        return std::pair(static_cast<double>(fit.model.size()),
                         (decisions.array() * truth.array() <= 0.0).template cast<double>().mean());
    });
}

/// Fraction wrong; `which` counts ten folds per draw.
void rooms(const std::string& name, const Matrix& table, int which) {
    const Matrix x = table.topRows(7);
    std::vector<int> all, train, test;
    for (Index i = 0; i < x.cols(); ++i) all.push_back(static_cast<int>(std::lround(table(7, i))));
    const auto draw = static_cast<std::uint64_t>(1 + which / 10);
    const Split part = stratified_folds(all, 10, draw).split(which % 10);
    for (const Index i : part.train) train.push_back(all[static_cast<std::size_t>(i)]);
    for (const Index i : part.test) test.push_back(all[static_cast<std::size_t>(i)]);
    line(name, which, [&] {
        const auto fit = OneVsOne<SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>>().fit(
            x(Eigen::all, part.train), train);
        return std::pair(fit.model.mean_kernels(),
                         1.0 - fit.model.accuracy(x(Eigen::all, part.test), test).share());
    });
}

/// Mean squared error against the clean signal.
void chirp(const std::string& name, Index n, int which) {
    const bench::Realisation r = bench::chirp(n, false, static_cast<std::uint64_t>(which) + 1);
    line(name, which, [&] {
        const auto fit = SparseKernelEstimator<>().fit(r.x, r.y);
        return std::pair(static_cast<double>(fit.model.size()), bench::mean_squared_error(fit.model, r));
    });
}

/// Twelve planted Gaussians in the unit square, noise of deviation 0.05; mean squared error against the clean signal.
void bumps(const std::string& name, Index n, int which) {
    constexpr Index planted = 12, tested = 2000;
    const auto seed = static_cast<std::uint64_t>(which) + 1;
    const Matrix z = bench::regression(planted, 3, seed + 70).x;
    const auto clean = [&](double u, double v) {
        double sum = 0.0;
        for (Index j = 0; j < planted; ++j) {
            const double w = 0.12 + 0.06 * z(2, j), a = 0.5 * (z(0, j) + 1.0) - u,
                         b = 0.5 * (z(1, j) + 1.0) - v;
            sum += (j % 2 == 0 ? 1.0 : -0.7) * std::exp(-0.5 * (a * a + b * b) / (w * w));
        }
        return sum;
    };
    const kernelet::detail::CounterRandom noise(seed, 3);
    Matrix x = 0.5 * (bench::regression(n + tested, 2, seed).x.array() + 1.0);
    Vector y(n), truth(tested);
    for (Index i = 0; i < n; ++i)
        y(i) = clean(x(0, i), x(1, i)) + 0.05 * noise.normal(static_cast<std::uint64_t>(i));
    for (Index i = 0; i < tested; ++i) truth(i) = clean(x(0, n + i), x(1, n + i));
    line(name, which, [&] {
        const auto fit = SparseKernelEstimator<>().fit(x.leftCols(n), y);
        return std::pair(static_cast<double>(fit.model.size()),
                         (fit.model.predict(x.rightCols(tested)) - truth).squaredNorm() / tested);
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: fits <problem> <first> <behind the last> [folder of the data]\n");
        return 2;
    }
    const std::string problem = argv[1], folder = argc > 4 ? argv[4] : "../shared/data";
    const std::string file = problem == "airfoil" ? "airfoil.csv"
                             : problem == "rooms" ? "wifi_localization.txt"
                                                  : "banana.csv";
    const bool on_data =
        problem == "airfoil" || problem == "rooms" || problem == "logistic" || problem == "hinge";
    const auto table = on_data ? bench::read_table(folder + "/" + file) : std::optional<Matrix>{};
    if (on_data && !table) {
        std::printf("skipped: no %s/%s\n", folder.c_str(), file.c_str());
        return 0;
    }
    for (int which = std::atoi(argv[2]); which < std::atoi(argv[3]); ++which) {
        if (problem == "airfoil") airfoil(problem, *table, which);
        if (problem == "logistic") banana<LogisticLoss>(problem, *table, which);
        if (problem == "hinge") banana<HingeLoss>(problem, *table, which);
        if (problem == "rooms") rooms(problem, *table, which);
        if (problem.rfind("chirp", 0) == 0) chirp(problem, std::atol(problem.c_str() + 5), which);
        if (problem.rfind("bumps", 0) == 0) bumps(problem, std::atol(problem.c_str() + 5), which);
    }
    return 0;
}
