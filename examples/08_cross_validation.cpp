// How many kernels a chirp needs: for each limit on their number, the error on samples that were left out.
#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include "support/plot.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

int main() {
    constexpr double deviation = 0.03;  // of the noise in y = sin(½πx²) + noise
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0.0, deviation);
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(121, -4.0, 4.0);  // d x n
    const Eigen::VectorXd y = x.transpose().unaryExpr(
        [&](double at) { return std::sin(0.5 * std::numbers::pi * at * at) + noise(random); });

    const kernelet::Folds folds = kernelet::random_folds(y.size(), 5);
    Eigen::MatrixXd table(7, 3 + folds.count());
    std::printf("at most   kernels   root mean squared error\n");
    for (Eigen::Index row = 0; row < table.rows(); ++row) {
        const Eigen::Index limit = 2 * (row + 1);
        const kernelet::SparseKernelEstimator<> estimator({.max_kernels = limit});
        const auto result = kernelet::cross_validate(estimator, x, y, folds);
        table.row(row).head(3) << static_cast<double>(limit), result.mean_kernels(), std::sqrt(result.score);
        for (Eigen::Index k = 0; k < folds.count(); ++k)
            table(row, 3 + k) = std::sqrt(result.folds[static_cast<std::size_t>(k)].score);
        std::printf("%7.0f %9.1f %25.4f\n", table(row, 0), table(row, 1), table(row, 2));
    }
    plot::write_csv("errors.csv", "limit,kernels,error,error of each fold", table);
    plot::draw_cross_validation(deviation);
    return table.col(2).minCoeff() < 2.0 * deviation ? 0 : 1;
}
