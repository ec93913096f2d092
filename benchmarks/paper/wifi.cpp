// Which of four rooms, by the strength of seven Wi-Fi routers (UCI, 2000 samples): one against one, centers
// and one width per coordinate free (PII), logistic loss, 10-fold cross-validation with the classes in
// equal parts, the defaults alone; how good the probabilities are. Usage: wifi [file [draw of the folds]]
// [reduced: four of the folds]

#include "../support/tables.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

/// How often the room of the largest probability is the right one, with the mean of that probability.
template <class Result>
void print_probabilities(const Result& result, const std::vector<int>& rooms) {
    std::printf("log loss %.4f, Brier score %.4f\n", log_loss(result.probabilities, rooms, result.classes),
                brier_score(result.probabilities, rooms, result.classes));
    const auto table =
        calibration_table(result.probabilities, rooms, result.classes, {.binning = Binning::equal_width});
    std::printf("probability of the likeliest room   share right   samples\n");
    for (const CalibrationBin& bin : table)
        std::printf("%27.2f %% %16.2f %% %9ld\n", 100.0 * bin.predicted, 100.0 * bin.observed,
                    static_cast<long>(bin.count));
    std::printf("expected calibration error %.4f\n", expected_calibration_error(table));
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int folds = 10;
    const int taken = bench::reduced(argc, argv) ? bench::reduced_folds : folds;
    const auto table = bench::table_or_skip(argc, argv, "wifi_localization.txt",
                                            "the UCI repository (Wireless Indoor Localization)");
    if (!table) return 0;
    const Matrix x = table->topRows(7);
    std::vector<int> rooms;
    for (Index i = 0; i < x.cols(); ++i) rooms.push_back(static_cast<int>(std::lround((*table)(7, i))));
    const OneVsOne<SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>> classifier;
    const auto result = cross_validate(
        classifier, x, rooms, stratified_folds(rooms, folds, bench::draw_of(argc, argv)).first(taken));
    double kernels = 0.0, seconds = 0.0;
    for (std::size_t f = 0; f < result.folds.size(); ++f) {
        const auto& fold = result.folds[f];
        for (const std::string& warning : fold.fit->warnings)
            std::printf("fold %zu: %s\n", f, warning.c_str());
        seconds += fold.seconds;
        kernels += fold.fit->model.mean_kernels() / taken;
        std::fprintf(stderr, "fold %zu of %d: %.2f %% with %.1f kernels a classifier, %.0f s\n", f + 1, taken,
                     100.0 * (1.0 - fold.score), fold.fit->model.mean_kernels(), seconds);
    }
    std::printf(
        "rooms, %d of %d folds: %.2f %% right with %.2f kernels a classifier, %.1f s a fold (the paper: 98 "
        "%%)\n",
        taken, folds, 100.0 * (1.0 - result.score), kernels, seconds / taken);
    std::vector<int> tested;
    for (const Index i : result.tested) tested.push_back(rooms[static_cast<std::size_t>(i)]);
    std::cout << to_string(ConfusionMatrix(tested, result.predictions)) << std::flush;
    print_probabilities(result, tested);
    return 0;
}
