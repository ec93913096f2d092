#include <kernelet/predict.hpp>

#include <cstdio>
#include <fstream>

int main(int, char** arguments) {
    std::ifstream file(arguments[1]);
    const auto model = kernelet::load<kernelet::SparseKernelModel<kernelet::Gaussian>>(file);
    const Eigen::MatrixXd x = Eigen::MatrixXd::Zero(model.dimension(), 1);
    std::printf("%g\n", model.predict(x)(0));
}
