// Three classes by name, with the probability of each.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

int main() {
    const std::vector<std::string> names{"ash", "birch", "oak"};
    std::mt19937 random(1);
    std::normal_distribution<double> spread(0.0, 0.7);
    Eigen::MatrixXd x(2, 240);  // d x n
    std::vector<std::string> labels;
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
        const auto which = static_cast<std::size_t>(i % 3);
        const double angle = 2.1 * static_cast<double>(which);
        x.col(i) << std::cos(angle) + spread(random), std::sin(angle) + spread(random);
        labels.push_back(names[which]);
    }
    using Estimator = kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss>;
    const auto model = kernelet::OneVsOne<Estimator>().fit(x, labels).model;

    const Eigen::MatrixXd points =
        (Eigen::MatrixXd(2, 4) << 1.2, -0.5, -0.5, 0.0, 0.0, 1.0, -1.0, 0.0).finished();
    const Eigen::MatrixXd probability = model.probability(points);  // classes x n
    const std::vector<std::string> found = model.predict(points);
    std::printf("      x       y  %8s %8s %8s  predicted\n", "ash", "birch", "oak");
    for (Eigen::Index i = 0; i < points.cols(); ++i)
        std::printf("%7.2f %7.2f  %8.3f %8.3f %8.3f  %s\n", points(0, i), points(1, i), probability(0, i),
                    probability(1, i), probability(2, i), found[static_cast<std::size_t>(i)].c_str());
    std::printf("%.1f %% of the samples right\n", 100.0 * model.accuracy(x, labels).share());
    return model.accuracy(x, labels).share() > 0.7 ? 0 : 1;
}
