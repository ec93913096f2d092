// A user-defined loss: a value, a derivative, and what a tolerance means. Here log cosh, which is quadratic
// for small residuals and forgives large ones, on data of which one sample in ten is wrong.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>

// ------------------------------------------------------------------------------------------------------
struct LogCosh {
    static constexpr std::string_view name = "log_cosh";
    double scale = 0.1;  // residuals far beyond it count by their size, not its square
    double value(double prediction, double target) const {
        const double u = std::abs(prediction - target) / scale;  // log cosh u without overflow
        return scale * scale * (u + std::log1p(std::exp(-2.0 * u)) - std::log(2.0));
    }
    double derivative(double prediction, double target) const {
        return scale * std::tanh((prediction - target) / scale);
    }
    double level(double tolerance) const { return value(tolerance, 0.0); }
    kernelet::Interval interval(double target, double tolerance) const {
        return {target - tolerance, target + tolerance};
    }
};
static_assert(kernelet::ConvexLoss<LogCosh>);
// ------------------------------------------------------------------------------------------------------

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(150, -3.0, 3.0);
    const auto truth = [](double at) {
        return std::exp(-at * at) - 0.5 * std::exp(-8.0 * (at - 1.5) * (at - 1.5));
    };
    std::mt19937 random(2);
    std::normal_distribution<double> noise(0.0, 0.02);
    std::uniform_real_distribution<double> excess(1.0, 2.0);
    Eigen::VectorXd y = x.unaryExpr(truth).transpose();
    for (Eigen::Index i = 0; i < y.size(); ++i) {
        y(i) += noise(random);
        if (i % 10 == 3) y(i) += excess(random);  // wrong
    }

    const kernelet::Box domain(-3.6, 3.6, {0.1, 3.6});
    const auto robust = kernelet::SparseKernelEstimator<kernelet::Gaussian, LogCosh>().fit(x, y, domain);
    const auto squared = kernelet::SparseKernelEstimator<>().fit(x, y, domain);
    const Eigen::RowVectorXd fresh = Eigen::RowVectorXd::LinSpaced(500, -3.0, 3.0);
    const auto error = [&](const auto& fit) {
        return std::sqrt((fit.model.predict(fresh) - fresh.unaryExpr(truth).transpose()).squaredNorm() /
                         500.0);
    };
    std::printf(
        "against the clean signal, root mean squared error: log cosh %.4f with %td kernels, squares %.4f "
        "with %td\n",
        error(robust), robust.model.size(), error(squared), squared.model.size());
    std::cout << robust.report.brief() << '\n';
    return error(robust) < 0.5 * error(squared) ? 0 : 1;
}
