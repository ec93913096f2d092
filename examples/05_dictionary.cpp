// Several families at once: Gaussian where the signal is smooth, Laplacian at a kink, chosen by the same
// threshold that chooses center and width.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(201, -4.0, 4.0);
    const auto truth = [](double at) {
        return std::exp(-std::abs(at + 1.5) / 0.7) + std::exp(-0.5 * std::pow((at - 1.6) / 0.6, 2));
    };
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0.0, 0.01);
    Eigen::VectorXd y = x.unaryExpr(truth).transpose();
    for (Eigen::Index i = 0; i < y.size(); ++i) y(i) += noise(random);

    const kernelet::Box domain(-4.8, 4.8, {0.04, 4.8});
    using Families = kernelet::Dictionary<kernelet::Gaussian, kernelet::Laplacian>;
    const auto fit = kernelet::SparseKernelEstimator<Families>().fit(x, y, domain);
    const char* const names[] = {"Gaussian", "Laplacian"};
    for (Eigen::Index j = 0; j < fit.model.size(); ++j)
        std::printf("%-9s at %7.3f, width %6.3f, height %6.3f\n",
                    names[static_cast<int>(fit.model.shapes()(j))], fit.model.centers()(0, j),
                    fit.model.widths()(0, j), fit.model.coefficients()(j));
    std::cout << fit.report.brief() << '\n';
    return fit.model.size() == 2 ? 0 : 1;
}
