#include <kernelet/kernelet.hpp>

#include <iostream>

int main() {
    const Eigen::MatrixXd X = Eigen::RowVectorXd::LinSpaced(40, -1.0, 1.0);
    const Eigen::VectorXd y = (3.0 * X.row(0)).array().sin().transpose();

    const kernelet::Options options{.tolerance = 0.05};
    const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator(options);
    const auto fit = estimator.fit(X, y);
    std::cout << fit.model.size() << " kernels\n";
}
