// The lowest point of a surface that is known from noisy samples alone: a model, and descent along its gradient.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <random>

int main() {
    const auto valley = [](double u, double v) {
        return 1.0 - std::exp(-2.0 * ((u - 0.4) * (u - 0.4) + (v + 0.2) * (v + 0.2)));
    };
    std::mt19937 random(1);
    std::uniform_real_distribution<double> place(-1.0, 1.0);
    std::normal_distribution<double> noise(0.0, 0.02);
    Eigen::MatrixXd x(2, 300);  // d x n
    Eigen::VectorXd y(300);
    for (Eigen::Index i = 0; i < y.size(); ++i) {
        x.col(i) << place(random), place(random);
        y(i) = valley(x(0, i), x(1, i)) + noise(random);
    }
    const auto model = kernelet::SparseKernelEstimator<>().fit(x, y).model;

    Eigen::Vector2d at(-0.3, 0.4);
    Eigen::MatrixXd slope(2, 1);
    for (int step = 0; step < 200; ++step) {
        model.gradient(at, slope);  // allocates nothing
        at -= 0.2 * slope;
        if (step % 20 == 0)
            std::printf("step %3d at (%6.3f, %6.3f), f = %7.4f, slope %.4f\n", step, at(0), at(1), model(at),
                        slope.norm());
    }
    std::printf("found (%.3f, %.3f); the lowest point is (0.4, -0.2)\n", at(0), at(1));
    return (at - Eigen::Vector2d(0.4, -0.2)).norm() < 0.05 ? 0 : 1;
}
