// A model to a file and back, to the bit, also as one of several in a stream.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <sstream>

int main() {
    using Model = kernelet::SparseKernelModel<kernelet::Gaussian>;
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(80, 0.0, 4.0);
    const Eigen::VectorXd y =
        x.transpose().unaryExpr([](double at) { return std::sin(3.0 * at) * std::exp(-0.3 * at); });
    const kernelet::SparseKernelEstimator<> estimator(kernelet::Options{.tolerance = 0.01});
    const Model model = estimator.fit(x, y).model, mirrored = estimator.fit(x, -y).model;

    kernelet::save("model.txt", model);  // replaces the file only when all is written
    const auto again = kernelet::load<Model>("model.txt");
    std::printf("%td kernels; f(1) = %.17g, loaded %.17g\n", model.size(), model(1.0), again(1.0));

    std::stringstream stream;  // a stream may hold several models, one after the other
    kernelet::save(stream, model);
    kernelet::save(stream, mirrored);
    const auto first = kernelet::load<Model>(stream), second = kernelet::load<Model>(stream);
    std::printf("from a stream: f(1) = %.17g and %.17g\n", first(1.0), second(1.0));

    try {
        kernelet::load<Model>("missing.txt");
        return 1;
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
    }
    return model(1.0) == again(1.0) && model(1.0) == first(1.0) && mirrored(1.0) == second(1.0) ? 0 : 1;
}
