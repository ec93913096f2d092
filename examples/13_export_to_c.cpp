// A model as one file of C99: no heap, no library but exp, tables of constants; compile model.c with any C compiler.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(80, 0.0, 4.0);
    const Eigen::VectorXd y =
        x.transpose().unaryExpr([](double at) { return std::sin(3.0 * at) * std::exp(-0.3 * at); });
    const auto fit = kernelet::SparseKernelEstimator<>(kernelet::Options{.tolerance = 0.01}).fit(x, y);

    std::ofstream file("model.c");
    kernelet::export_c(file, fit.model,
                       {.scalar = kernelet::CScalar::float32,
                        .name = "damped_sine",
                        .gradient = true,
                        .functions = kernelet::CFunctions::own});  // an exponential of its own, no <math.h>
    file.close();
    std::printf("%td kernels in model.c: float damped_sine(const float x[1])\n", fit.model.size());
    std::printf("damped_sine(1) is %.9g here, and in C up to the rounding of float\n", fit.model(1.0));
    return file ? 0 : 1;
}
