// Learns a chirp from 201 noisy samples, and prints and draws the model. README.md quotes the lines between the
// two lines of dashes.
#include <kernelet/kernelet.hpp>

#include "support/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>
#include <random>

namespace {

double chirp(double x) { return std::sin(0.5 * std::numbers::pi * x * x); }

/// α on an even grid in z and log w, all in one call. Columns: z, w, log10 w, α.
template <class Field>
Eigen::MatrixXd sampled(const Field& field, const kernelet::Box& box, Eigen::Index across, Eigen::Index up) {
    const Eigen::VectorXd z = Eigen::VectorXd::LinSpaced(across, box.lo()(0), box.hi()(0));
    const Eigen::VectorXd log_w =
        Eigen::VectorXd::LinSpaced(up, std::log10(box.widths().lo), std::log10(box.widths().hi));
    Eigen::MatrixXd table(across * up, 4);
    Eigen::MatrixXd nodes(field.rows(), table.rows());
    for (Eigen::Index j = 0; j < table.rows(); ++j) {
        const double at = z(j % across), width = std::pow(10.0, log_w(j / across));
        table.row(j) << at, width, log_w(j / across), 0.0;
        nodes.col(j) = field.node(Eigen::VectorXd::Constant(1, at), width);
    }
    table.col(3) = field.at(nodes).transpose();
    return table;
}

}  // namespace

int main() {
    // ------------------------------------------------------------------------------------------------------
    // y = sin(½πx²) + noise of variance 1e-3, at 201 places
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0.0, std::sqrt(1e-3));
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(201, -5.0, 5.0);  // d x n
    const Eigen::VectorXd y = x.transpose().unaryExpr([&](double at) { return chirp(at) + noise(random); });

    const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    const auto fit = estimator.fit(x, y);

    std::printf("f(0.3) = %.4f, f'(0.3) = %.4f\n", fit.model(0.3), fit.model.gradient(0.3));
    std::cout << fit.report.full() << '\n';
    // ------------------------------------------------------------------------------------------------------

    const Eigen::MatrixXd centers = fit.model.centers(), widths = fit.model.widths();
    std::printf("kernel   center    width  coefficient\n");
    for (Eigen::Index j = 0; j < fit.model.size(); ++j)
        std::printf("%6td %8.4f %8.4f %12.4f\n", j + 1, centers(j), widths(j), fit.model.coefficients()(j));

    const Eigen::RowVectorXd fresh = Eigen::RowVectorXd::LinSpaced(1000, -4.995, 4.995);
    const Eigen::VectorXd error = fit.model.predict(fresh) - fresh.unaryExpr(&chirp).transpose();
    const double mse = error.squaredNorm() / 1000.0;
    std::printf("against the clean signal at 1000 new points: mean squared error %.5f, largest error %.3f\n",
                mse, error.cwiseAbs().maxCoeff());
    constexpr double largest_mse = 0.005;
    if (!(mse <= largest_mse)) {
        std::cerr << "the mean squared error exceeds " << largest_mse << '\n';
        return 1;
    }

    Eigen::MatrixXd samples(x.size(), 4), curve(fresh.size(), 3), kernels(fit.model.size(), 3);
    samples << x.transpose(), y, fit.model.predict(x), x.unaryExpr(&chirp).transpose();
    curve << fresh.transpose(), fit.model.predict(fresh), fresh.unaryExpr(&chirp).transpose();
    kernels << centers.transpose(), widths.transpose(), fit.model.coefficients();
    const kernelet::Box domain = kernelet::box_from_samples(x);  // as fit() read it off the data
    const double widest_shown = std::min(domain.widths().hi, 3.0 * widths.maxCoeff());
    const kernelet::Box shown(domain.lo(), domain.hi(), {domain.widths().lo, widest_shown});
    plot::write_csv("fit.csv", "x,y,fit,truth", samples);
    plot::write_csv("curve.csv", "x,fit,truth", curve);
    plot::write_csv("kernels.csv", "center,width,coefficient", kernels);
    plot::write_csv("alpha.csv", "z,w,log10_w,alpha", sampled(fit.field, shown, 601, 201), 7);
    plot::draw_fit();
    plot::draw_alpha();
}
