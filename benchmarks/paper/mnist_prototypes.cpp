// 0 against 1 among handwritten digits by their first three principal components, centers and widths free
// (PII), hinge loss, the dual on 500 samples: accuracy on the test images, and the centers of the kernels
// with the largest coefficients for either digit, mapped back to images (prototypes.png). None is a sample.
// Usage: mnist_prototypes [folder]

#include "../../examples/support/plot.hpp"
#include "../support/mnist.hpp"
#include "../support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

constexpr Index components = 3;  // the paper's
constexpr Index most_drawn = 4;  // of each digit

/// Those with a coefficient of this sign, the largest first.
std::vector<Index> speaking_for(const Vector& a, double sign) {
    std::vector<Index> kernels;
    for (Index j = 0; j < a.size(); ++j)
        if (sign * a(j) > 0.0) kernels.push_back(j);
    std::sort(kernels.begin(), kernels.end(), [&](Index l, Index r) { return sign * a(l) > sign * a(r); });
    if (static_cast<Index>(kernels.size()) > most_drawn) kernels.resize(most_drawn);
    return kernels;
}

/// prototypes.png: one row per digit.
void draw(const Matrix& images, const std::vector<int>& digits, const std::vector<double>& coefficients) {
    std::string body =
        "set terminal pngcairo size 1000,560 enhanced font 'Sans,12'\nset multiplot\n"
        "set palette gray negative\nset cbrange [0:1]\nunset colorbox\nunset tics\n"
        "set border lc rgb 0x9a9a9a\nset size ratio -1\nset xrange [-0.5:27.5]\n"
        "set yrange [27.5:-0.5]\nset label 1 'Centers of the kernels that speak most for a 0 "
        "(above) and for a 1 (below), as images' at screen 0.03, 0.95 font ',15'\n";
    int shown[2] = {0, 0};
    for (std::size_t k = 0; k < digits.size(); ++k) {
        const std::string file = "prototype_" + std::to_string(k + 1) + ".csv";
        const Matrix image = Eigen::Map<const Matrix>(images.col(static_cast<Index>(k)).data(),
                                                      bench::image_side, bench::image_side)
                                 .transpose();
        plot::write_csv(file, "one row of pixels a line, 0 paper, 1 ink", image, 6);
        const int row = digits[k], column = shown[row]++;
        char place[400];
        std::snprintf(
            place, sizeof place,
            "set lmargin at screen %.3f; set rmargin at screen %.3f; set tmargin at screen %.3f; set "
            "bmargin at screen %.3f\nset title 'coefficient %.1f' offset 0,-0.6\n",
            0.03 + 0.24 * column, 0.24 + 0.24 * column, 0.84 - 0.43 * row, 0.47 - 0.43 * row,
            coefficients[k]);
        body += place;
        body += "plot '" + file + "' matrix skip 1 with image notitle\nunset label 1\n";
    }
    plot::draw("prototypes", body + "unset multiplot\n");
}

}  // namespace

int main(int argc, char** argv) {
    const auto digits = bench::digits_or_skip(argc, argv);
    if (!digits) return 0;
    const bench::TwoDigits train = bench::two_digits(digits->train, digits->train_labels, 0, 1),
                           test = bench::two_digits(digits->test, digits->test_labels, 0, 1);
    const bench::PrincipalComponents principal(train.images, components);
    Options options;
    options.dual_samples = bench::samples_of_the_dual;
    const double start = bench::seconds();
    const auto fit = SparseKernelEstimator<AnisotropicGaussian, HingeLoss>(options).fit(
        principal.project(train.images), train.labels, ProgressBar(std::cerr));
    const double seconds = bench::seconds() - start;
    const Vector right =
        fit.model.predict(principal.project(test.images)).cwiseProduct(test.labels);  // > 0 where right
    std::printf("%s\n", fit.report.brief().c_str());

    const Vector a = fit.model.coefficients().col(0);
    std::vector<Index> chosen = speaking_for(a, 1.0);
    std::vector<int> shown(chosen.size(), 0);
    for (const Index j : speaking_for(a, -1.0)) {
        chosen.push_back(j);
        shown.push_back(1);
    }
    std::vector<double> coefficients;
    for (const Index j : chosen) coefficients.push_back(a(j));
    draw(principal.back(fit.model.centers()(Eigen::all, chosen)), shown, coefficients);
    std::printf(
        "0 against 1, three components: %.2f %% right with %ld kernels, %.0f s (the paper: 99.62 %%)\n",
        100.0 * (right.array() > 0.0).cast<double>().mean(), static_cast<long>(fit.model.size()), seconds);
    return 0;
}
