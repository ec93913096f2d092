// Tells two moons apart and draws what was learned: the probability of either class over the plane, the
// boundary between them, and the kernels that make it.
#include <kernelet/kernelet.hpp>

#include "support/plot.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>
#include <random>

namespace {

struct Moons {
    Eigen::MatrixXd x;  // 2 x n
    Eigen::VectorXd y;  // −1 and +1
};

constexpr double spread = 0.2;  // deviation of the noise

/// A half circle of radius one for each class; they reach into each other.
Eigen::Vector2d moon(double label, double angle) {
    if (label > 0.0) return {std::cos(angle), std::sin(angle)};
    return {1.0 - std::cos(angle), 0.5 - std::sin(angle)};
}

Moons two_moons(Eigen::Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> angle(0.0, std::numbers::pi);
    std::normal_distribution<double> noise(0.0, spread);
    Moons moons{Eigen::MatrixXd(2, n), Eigen::VectorXd(n)};
    for (Eigen::Index i = 0; i < n; ++i) {
        moons.y(i) = i % 2 == 0 ? 1.0 : -1.0;
        moons.x.col(i) = moon(moons.y(i), angle(random));
        for (double& coordinate : moons.x.col(i)) coordinate += noise(random);
    }
    return moons;
}

/// The optimal (Bayes) classifier: decides by the densities that two_moons() draws from,
/// ∫ exp(−‖x − moon(t)‖²/2σ²) dt.
Eigen::VectorXd best_decisions(const Eigen::MatrixXd& x) {
    constexpr int steps = 200;
    Eigen::ArrayXd difference = Eigen::ArrayXd::Zero(x.cols());
    for (const double label : {-1.0, 1.0})
        for (int k = 0; k < steps; ++k) {
            const Eigen::Vector2d at = moon(label, std::numbers::pi * (k + 0.5) / steps);
            const Eigen::ArrayXd squares = (x.colwise() - at).colwise().squaredNorm().transpose();
            difference += label * (-0.5 * squares / (spread * spread)).exp();
        }
    return difference.sign();
}

double accuracy(const Eigen::VectorXd& decisions, const Eigen::VectorXd& labels) {
    return (decisions.array() == labels.array()).cast<double>().mean();
}

/// The probability of +1 on a grid: x1 in the first row, x2 in the first column.
template <class Model>
Eigen::MatrixXd sampled(const Model& model, const Eigen::RowVectorXd& x1, const Eigen::VectorXd& x2) {
    Eigen::MatrixXd table = Eigen::MatrixXd::Zero(x2.size() + 1, x1.size() + 1);
    table.row(0).tail(x1.size()) = x1;
    table.col(0).tail(x2.size()) = x2;
    Eigen::MatrixXd points(2, x1.size());
    for (Eigen::Index row = 0; row < x2.size(); ++row) {
        points << x1, Eigen::RowVectorXd::Constant(x1.size(), x2(row));
        table.row(row + 1).tail(x1.size()) = model.probability(points).transpose();
    }
    return table;
}

}  // namespace

int main() {
    const Moons samples = two_moons(300, 1);
    const kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss> estimator;
    const auto fit = estimator.fit(samples.x, samples.y);

    const Eigen::MatrixXd centers = fit.model.centers(), widths = fit.model.widths();
    const Eigen::MatrixXd coefficients = fit.model.coefficients();
    std::printf("kernel           center            widths  coefficient\n");
    for (Eigen::Index j = 0; j < fit.model.size(); ++j)
        std::printf("%6td %8.4f %8.4f %8.4f %8.4f %12.4f\n", j + 1, centers(0, j), centers(1, j),
                    widths(0, j), widths(1, j), coefficients(j, 0));

    const Moons fresh = two_moons(10000, 2);
    const double right = accuracy(fit.model.classify(fresh.x).cast<double>(), fresh.y);
    const double best = accuracy(best_decisions(fresh.x), fresh.y);
    std::printf(
        "\n10000 fresh samples: %.2f %% right with %td kernels; who knows both moons and the noise: %.2f "
        "%%\n\n",
        100.0 * right, fit.model.size(), 100.0 * best);
    std::cout << fit.report.brief() << '\n';

    constexpr double allowed = 0.01;
    if (!(right >= best - allowed)) {
        std::cerr << "the accuracy is more than " << allowed << " below the best possible\n";
        return 1;
    }

    Eigen::MatrixXd points(samples.y.size(), 3), kernels(fit.model.size(), 5);
    points << samples.x.transpose(), samples.y;
    kernels << centers.transpose(), widths.transpose(), coefficients;
    plot::write_csv("samples.csv", "x1,x2,label", points);
    plot::write_csv("kernels.csv", "center1,center2,width1,width2,coefficient", kernels);
    const Eigen::RowVectorXd x1 = Eigen::RowVectorXd::LinSpaced(541, -2.2, 3.2);
    const Eigen::VectorXd x2 = Eigen::VectorXd::LinSpaced(351, -1.5, 2.0);
    plot::write_csv("probability.csv", "x1 in the next row; x2 in the first column; probability of +1",
                    sampled(fit.model, x1, x2), 5);
    plot::draw_classifier();
}
