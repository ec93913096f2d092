// Two outputs that share their kernels: a point that moves in the plane, both coordinates from one set of
// bumps in time. y is q x n; each kernel has one center, one width and two coefficients.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>

int main() {
    const Eigen::Index n = 160;
    const Eigen::RowVectorXd t = Eigen::RowVectorXd::LinSpaced(n, 0.0, 10.0);
    const auto bump = [](double at, double z, double w) {
        return std::exp(-0.5 * std::pow((at - z) / w, 2));
    };
    std::mt19937 random(4);
    std::normal_distribution<double> noise(0.0, 0.01);
    Eigen::MatrixXd y(2, n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const double a = bump(t(i), 2.2, 0.7), b = bump(t(i), 5.1, 0.4), c = bump(t(i), 7.9, 0.9);
        y.col(i) << 1.0 * a - 0.8 * b + 0.3 * c, -0.5 * a + 0.6 * b + 1.2 * c;
        for (Eigen::Index o = 0; o < 2; ++o) y(o, i) += noise(random);
    }

    const auto fit = kernelet::SparseKernelEstimator<>().fit(t, y, kernelet::Box(-1.0, 11.0, {0.1, 6.0}));
    for (Eigen::Index j = 0; j < fit.model.size(); ++j)
        std::printf("kernel at %6.3f, width %5.3f: %6.3f across, %6.3f up\n", fit.model.centers()(0, j),
                    fit.model.widths()(0, j), fit.model.coefficients()(j, 0), fit.model.coefficients()(j, 1));
    std::cout << fit.report.brief() << '\n';
    return fit.model.size() == 3 ? 0 : 1;
}
