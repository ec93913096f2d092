// A fit to a sine: one program for both modes of the package.
#include <kernelet/kernelet.hpp>

#include <iostream>

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(40, -1.0, 1.0);
    const Eigen::VectorXd y = (3.0 * x).array().sin().transpose();
    const auto fit = kernelet::SparseKernelEstimator<>(kernelet::Options{.tolerance = 0.05}).fit(x, y);
    std::cout << "kernelet " << KERNELET_VERSION_STRING << ": " << fit.model.size() << " kernels\n";
    return fit.model.size() > 0 ? 0 : 1;
}
