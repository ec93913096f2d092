// Labels from few samples: eight problems of two classes, 60 to 500 samples, each drawn anew for every
// realisation, tested on up to 3000 others; kernelet's defaults (logistic loss, one width per coordinate)
// against LIBSVM's classifier, whose width (8) and C (0.3 to 1000 in half decades) are tuned by 5-fold
// cross-validation. Six problems are made here, two need files. Usage: few_labels [folder of the data]
// [realisations = 6]

#include "../support/signals.hpp"
#include "../support/tables.hpp"
#include "../support/tuning.hpp"
#ifdef KERNELET_BENCHMARKS_LIBSVM
#include "../support/libsvm.hpp"
#endif

#include <kernelet/detail/parallel.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/validation/folds.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kernelet;

constexpr std::array<Index, 4> sizes{60, 120, 250, 500};
constexpr Index tests = 3000;

using Random = std::mt19937_64;
double normal(Random& random) { return std::normal_distribution<double>()(random); }
double uniform(Random& random, double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random);
}
double coin(Random& random) { return uniform(random, 0.0, 1.0) < 0.5 ? -1.0 : 1.0; }

struct Problem {
    std::string name{};
    std::function<bench::Data(Index, Random&)> draw{};
};

/// A problem whose samples are made one by one: `make` fills x and returns the class.
template <class Make>
Problem made(std::string name, Index d, Make make) {
    return {std::move(name), [=](Index n, Random& random) {
                bench::Data data{Matrix(d, n), Vector(n)};
                for (Index i = 0; i < n; ++i) data.y(i) = make(data.x.col(i), random);
                return data;
            }};
}

/// Two classes of a table whose last row is the class.
Problem of_table(std::string name, const Matrix& table, double first, double second) {
    return {
        std::move(name), [=](Index n, Random& random) {
            const Index d = table.rows() - 1;
            std::vector<Index> chosen;
            for (Index i = 0; i < table.cols(); ++i)
                if (table(d, i) == first || table(d, i) == second) chosen.push_back(i);
            std::shuffle(chosen.begin(), chosen.end(), random);
            chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(n)));
            const Matrix part = table(Eigen::all, chosen);
            const Vector one = Vector::Ones(part.cols());
            return bench::Data{part.topRows(d), (part.row(d).transpose().array() == first).select(one, -one)};
        }};
}

std::vector<Problem> problems(const std::string& folder) {
    std::vector<Problem> all{made("a line", 2,
                                  [](auto x, Random& random) {
                                      const double y = coin(random);
                                      x << normal(random) + y, normal(random);
                                      return y;
                                  }),
                             made("a disc", 2,
                                  [](auto x, Random& random) {
                                      x << uniform(random, -2.0, 2.0), uniform(random, -2.0, 2.0);
                                      return x.norm() + 0.3 * normal(random) < 1.3 ? 1.0 : -1.0;
                                  }),
                             made("exclusive or", 2,
                                  [](auto x, Random& random) {
                                      const double a = coin(random), b = coin(random);
                                      x << a + 0.6 * normal(random), b + 0.6 * normal(random);
                                      return a * b;
                                  }),
                             made("a wave", 2,
                                  [](auto x, Random& random) {
                                      x << uniform(random, -3.0, 3.0), uniform(random, -2.0, 2.0);
                                      return x(1) + 0.4 * normal(random) > std::sin(2.0 * x(0)) ? 1.0 : -1.0;
                                  }),
                             made("moons and three inputs of noise", 5,
                                  [](auto x, Random& random) {
                                      const double y = coin(random),
                                                   angle = uniform(random, 0.0, std::numbers::pi);
                                      for (Index c = 0; c < 5; ++c)
                                          x(c) = (c < 2 ? 0.25 : 1.0) * normal(random);
                                      x(0) += y * std::cos(angle) + (y < 0.0 ? 1.0 : 0.0);
                                      x(1) += y * std::sin(angle) + (y < 0.0 ? 0.5 : 0.0);
                                      return y;
                                  }),
                             made("a narrow in a wide Gaussian", 4, [](auto x, Random& random) {
                                 const double y = coin(random);
                                 for (Index c = 0; c < 4; ++c) x(c) = (y > 0.0 ? 1.0 : 2.0) * normal(random);
                                 x(0) += y;
                                 return y;
                             })};
    const auto add = [&](const char* name, const char* file, const char* source, double first,
                         double second) {
        std::string path = folder + "/" + file;
        char* arguments[] = {nullptr, path.data()};
        if (const auto table = bench::table_or_skip(folder.empty() ? 1 : 2, arguments, file, source))
            all.push_back(of_table(name, *table, first, second));
    };
    add("banana", "banana.csv", "the KEEL repository (data set banana)", 1.0, -1.0);
    add("rooms 2 and 3", "wifi_localization.txt", "the UCI repository (Wireless Indoor Localization)", 2.0,
        3.0);
    return all;
}

double share_wrong(const Vector& predicted, const Vector& truth) {
    return (predicted.array() * truth.array() <= 0.0).cast<double>().mean();
}

struct Outcome {
    double wrong{}, kernels{}, seconds{};
};

Outcome ours(const bench::Data& train, const bench::Data& test) {
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>().fit(train.x, train.y);
    return {share_wrong(fit.model.predict(test.x), test.y), static_cast<double>(fit.model.size()),
            bench::seconds() - start};
}

#ifdef KERNELET_BENCHMARKS_LIBSVM
Outcome theirs(const bench::Data& train, const bench::Data& test) {
    using bench::SvmModel;
    using bench::SvmSetting;
    constexpr Index widths = 8;
    constexpr int folds = 5;
    const double start = bench::seconds();
    const InputScaling scaling = InputScaling::standard(train.x);
    const Matrix x = scaling.to_internal(train.x);
    std::vector<SvmSetting> grid;
    for (const double width : bench::width_ladder(x, widths))
        for (int half_decade = -1; half_decade <= 6; ++half_decade)
            grid.push_back({width, std::pow(10.0, 0.5 * half_decade)});
    const auto classifier = [](const Matrix& points, const Vector& labels, const SvmSetting& setting) {
        return SvmModel(SvmModel::Task::classification, points, labels, setting);
    };
    const SvmSetting best = bench::best_by_cross_validation(
        grid, random_folds(x.cols(), folds, 2), [&](const SvmSetting& setting, const Split& part) {
            const Vector truth = train.y(part.test);
            return static_cast<double>(truth.size()) *
                   share_wrong(classifier(x(Eigen::all, part.train), train.y(part.train), setting)
                                   .predict(x(Eigen::all, part.test)),
                               truth);
        });
    const SvmModel model = classifier(x, train.y, best);
    return {share_wrong(model.predict(scaling.to_internal(test.x)), test.y),
            static_cast<double>(model.kernels()), bench::seconds() - start};
}
#endif

}  // namespace

int main(int argc, char** argv) {
    const int realisations = argc > 2 ? std::max(1, std::atoi(argv[2])) : 6;
    const std::vector<Problem> all = problems(argc > 1 ? argv[1] : "");
    std::vector<std::pair<const char*, Outcome (*)(const bench::Data&, const bench::Data&)>> methods{
        {"kernelet", ours}};
#ifdef KERNELET_BENCHMARKS_LIBSVM
    methods.emplace_back("LIBSVM", theirs);
#else
    std::printf("LIBSVM was not found when this was built (libsvm-dev, libsvm-devel): left out\n");
#endif
    std::printf("%% wrong (kernels), %d realisations\n| samples |", realisations);
    for (const Index n : sizes) std::printf(" %ld |", static_cast<long>(n));
    std::printf("\n|---|---|---|---|---|\n");
    // of each method, for each number of samples: all problems
    Matrix sum = Matrix::Zero(static_cast<Index>(methods.size()), static_cast<Index>(sizes.size()));
    Vector seconds = Vector::Zero(sum.rows());
    for (std::size_t p = 0; p < all.size(); ++p)
        for (Index m = 0; m < sum.rows(); ++m) {
            const auto& [name, method] = methods[static_cast<std::size_t>(m)];
            std::printf("| %s: %s |", all[p].name.c_str(), name);
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                std::vector<Outcome> outcomes(static_cast<std::size_t>(realisations));
                detail::parallel_for(realisations, [&, run = method](Index r) {
                    std::seed_seq seed{static_cast<unsigned>(p), static_cast<unsigned>(s),
                                       static_cast<unsigned>(r)};
                    Random random(seed);
                    const bench::Data data = all[p].draw(sizes[s] + tests, random);
                    const Index n = sizes[s], rest = data.y.size() - n;
                    outcomes[static_cast<std::size_t>(r)] = run({data.x.leftCols(n), data.y.head(n)},
                                                                {data.x.rightCols(rest), data.y.tail(rest)});
                });
                Outcome mean;
                for (const Outcome& outcome : outcomes) {
                    mean.wrong += outcome.wrong / realisations;
                    mean.kernels += outcome.kernels / realisations;
                    seconds(m) += outcome.seconds;
                }
                sum(m, static_cast<Index>(s)) += mean.wrong / static_cast<double>(all.size());
                std::printf(" %.2f (%.1f) |", 100.0 * mean.wrong, mean.kernels);
                std::fflush(stdout);
            }
            std::printf("\n");
        }
    for (Index m = 0; m < sum.rows(); ++m) {
        std::printf("| mean: %s |", methods[static_cast<std::size_t>(m)].first);
        for (Index s = 0; s < sum.cols(); ++s) std::printf(" %.2f |", 100.0 * sum(m, s));
        std::printf("\n");
    }
    for (Index m = 0; m < sum.rows(); ++m)
        std::printf("%s: %.0f s in all, tuning included\n", methods[static_cast<std::size_t>(m)].first,
                    seconds(m));
    return 0;
}
