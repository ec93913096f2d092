// Which of four rooms, by the strength of seven Wi-Fi routers (UCI, 2000 samples): one against one, centers
// and a width for each coordinate free (PII), logistic loss, 10-fold cross-validation with the classes in
// equal parts, the defaults alone. Usage: wifi [file [draw of the folds]] [reduced: four of the folds]

#include "../support/signals.hpp"
#include "../support/tables.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    using namespace kernelet;
    constexpr int folds = 10;
    const int taken = bench::reduced(argc, argv) ? bench::reduced_folds : folds;
    const auto table = bench::table_or_skip(argc, argv, "wifi_localization.txt",
                                            "the UCI repository (Wireless Indoor Localization)");
    if (!table) return 0;
    const Matrix x = table->topRows(7);
    std::vector<int> rooms;
    for (Index i = 0; i < x.cols(); ++i) rooms.push_back(static_cast<int>(std::lround((*table)(7, i))));
    const std::vector<int> fold = bench::stratified_folds(rooms, folds, bench::draw_of(argc, argv));
    Index right = 0, tested = 0;
    double kernels = 0.0, seconds = 0.0;
    for (int f = 0; f < taken; ++f) {
        const bench::Split part = bench::split(fold, f);
        std::vector<int> train, test;
        for (const Index i : part.train) train.push_back(rooms[static_cast<std::size_t>(i)]);
        for (const Index i : part.test) test.push_back(rooms[static_cast<std::size_t>(i)]);
        const double start = bench::seconds();
        const OneVsOne<SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>> classifier;
        const auto fit = classifier.fit(x(Eigen::all, part.train), train);
        seconds += bench::seconds() - start;
        for (const std::string& warning : fit.warnings) std::printf("fold %d: %s\n", f, warning.c_str());
        const auto score = fit.model.accuracy(x(Eigen::all, part.test), test);
        right += score.right;
        tested += static_cast<Index>(test.size());
        kernels += fit.model.mean_kernels() / taken;
        std::fprintf(stderr, "fold %d of %d: %.2f %% with %.1f kernels a classifier, %.0f s\n", f + 1, taken,
                     100.0 * score.share(), fit.model.mean_kernels(), seconds);
    }
    std::printf(
        "rooms, %d of %d folds: %.2f %% right with %.2f kernels a classifier, %.1f s a fold (the paper: 98 "
        "%%)\n",
        taken, folds, 100.0 * static_cast<double>(right) / static_cast<double>(tested), kernels,
        seconds / taken);
    return 0;
}
