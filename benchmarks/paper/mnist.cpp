// Handwritten digits, the paper's table: one against one, 400 k-means centers per digit as candidates
// (PII''), logistic loss; kernels begin at candidates and then move. Accuracy on the 10 000 test images
// against kernels per classifier, also for ten outputs that share their kernels. Images are reduced to their
// leading principal components: centers move in as many coordinates as there are.
// Usage: mnist [folder] [small] [large] [shared] [reduced]; without words, small and shared; reduced, which
// comes last, trains on the first tenth of the images

#include "../support/mnist.hpp"
#include "../support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

constexpr Index components = 40;           // of 784: 79 % of the variance
constexpr Index candidates_a_digit = 400;  // the paper's

struct Images {
    Matrix train{}, test{};  // components x n
    std::vector<int> train_labels{}, test_labels{};
    std::vector<Matrix> centers{};  // of each digit
};

CandidateCenters domain_of(const Matrix& centers, const Matrix& x) {
    return CandidateCenters(centers, widths_from_samples(x)).released();
}

Options options_of(Index most) {
    Options options;
    options.max_kernels = most;
    options.intercept = true;
    options.dual_samples = bench::samples_of_the_dual;
    return options;
}

template <class Model>
void row(const char* name, const Model& model, const Images& images, double kernels, double seconds,
         const char* paper) {
    const auto score = model.accuracy(images.test, images.test_labels);
    std::printf("%-34s %7.1f kernels, %5ld in all   %.2f %%   %5.0f s   %s\n", name, kernels,
                static_cast<long>(model.size()), 100.0 * score.share(), seconds, paper);
    std::fflush(stdout);
}

void one_against_one(const Images& images, const char* name, Index most, const char* paper) {
    const OneVsOne<SparseKernelEstimator<Gaussian, LogisticLoss>> classifier(
        SparseKernelEstimator<Gaussian, LogisticLoss>(options_of(most)));
    const auto domain = [&](const Opponents& who, const Matrix& x) {
        const Matrix& a = images.centers[static_cast<std::size_t>(who.positive)];
        const Matrix& b = images.centers[static_cast<std::size_t>(*who.negative)];
        Matrix both(a.rows(), a.cols() + b.cols());
        both << a, b;
        return domain_of(both, x);
    };
    const double start = bench::seconds();
    const auto fit =
        classifier.fit(images.train, images.train_labels, domain, [&](const EnsembleProgress& progress) {
            const auto left = static_cast<double>(progress.classifiers - progress.done);
            std::fprintf(stderr, "\r%s: %ld of %ld pairs, %.0f s, about %.0f s left   %s", name,
                         static_cast<long>(progress.done), static_cast<long>(progress.classifiers),
                         progress.seconds, progress.seconds * left / static_cast<double>(progress.done),
                         left > 0.0 ? "" : "\n");
        });
    for (const std::string& warning : fit.warnings) std::printf("%s\n", warning.c_str());
    row(name, fit.model, images, fit.model.mean_kernels(), bench::seconds() - start, paper);
}

void shared(const Images& images, Index most) {
    const SharedKernels<SparseKernelEstimator<Gaussian, LogisticLoss>> classifier(
        SparseKernelEstimator<Gaussian, LogisticLoss>(options_of(most)));
    Matrix centers(components, 0);
    for (const Matrix& digit : images.centers) {
        centers.conservativeResize(Eigen::NoChange, centers.cols() + digit.cols());
        centers.rightCols(digit.cols()) = digit;
    }
    const double start = bench::seconds();
    const auto fit = classifier.fit(images.train, images.train_labels, domain_of(centers, images.train));
    std::fprintf(stderr, "%s\n", fit.report.brief().c_str());
    row("ten outputs, shared kernels", fit.model, images, static_cast<double>(fit.model.size()),
        bench::seconds() - start, "");
}

}  // namespace

int main(int argc, char** argv) {
    constexpr Index reduction = 10;
    const bool reduced = bench::reduced(argc, argv);
    auto digits = bench::digits_or_skip(argc, argv);
    if (!digits) return 0;
    if (reduced) {
        const Index kept = digits->train.cols() / reduction;
        digits->train = digits->train.leftCols(kept).eval();
        digits->train_labels.resize(static_cast<std::size_t>(kept));
        std::printf("reduced: trained on %ld images, which costs accuracy\n", static_cast<long>(kept));
    }
    const auto asked = [&](const std::string& word) {
        return argc <= 2 || std::find(argv + 2, argv + argc, word) != argv + argc;
    };
    const double start = bench::seconds();
    Images images;
    const bench::PrincipalComponents principal(digits->train, components);
    images.train = principal.project(digits->train);
    images.test = principal.project(digits->test);
    images.train_labels = digits->train_labels;
    images.test_labels = digits->test_labels;
    for (int digit = 0; digit < 10; ++digit) {
        std::vector<Index> members;
        for (Index i = 0; i < images.train.cols(); ++i)
            if (images.train_labels[static_cast<std::size_t>(i)] == digit) members.push_back(i);
        images.centers.push_back(
            k_means(Matrix(images.train(Eigen::all, members)), candidates_a_digit).centers);
    }
    std::fprintf(stderr, "%ld components and the candidates: %.0f s\n", static_cast<long>(components),
                 bench::seconds() - start);
    if (asked("small")) one_against_one(images, "at most 53 a classifier", 53, "(the paper: 53, 85.66 %)");
    if (argc > 2 && asked("large"))
        one_against_one(images, "at most 788 a classifier", 788, "(the paper: 788, 98.12 %)");
    if (asked("shared")) shared(images, 4000);
    std::printf("the whole table: %.0f s\n", bench::seconds() - start);
    return 0;
}
