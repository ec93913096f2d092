// A model to a file and back to the bit, and the same model as one file of C.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(80, 0.0, 4.0);
    const Eigen::VectorXd y =
        x.transpose().unaryExpr([](double at) { return std::sin(3.0 * at) * std::exp(-0.3 * at); });
    const auto model =
        kernelet::SparseKernelEstimator<>(kernelet::Options{.tolerance = 0.01}).fit(x, y).model;

    kernelet::save("model.txt", model);  // replaces the file only when all is written
    const auto again = kernelet::load<kernelet::SparseKernelModel<kernelet::Gaussian>>("model.txt");

    std::ofstream c("model.c");
    kernelet::export_c(c, model,
                       {.scalar = kernelet::CScalar::float32, .name = "damped_sine", .gradient = true});
    c.close();
    std::printf("%td kernels; f(1) = %.17g, loaded %.17g\n", model.size(), model(1.0), again(1.0));
    std::printf("written: model.txt, and model.c with float damped_sine(const float x[1])\n");
    return model(1.0) == again(1.0) && c ? 0 : 1;
}
