// Both units include everything: a function lacking `inline` is a duplicate symbol here and nowhere else.
#include <kernelet/kernelet.hpp>

Eigen::Index kernels_found_elsewhere(const Eigen::MatrixXd& X, const Eigen::VectorXd& y);

int main() {
    const Eigen::MatrixXd X = Eigen::RowVectorXd::LinSpaced(40, -1.0, 1.0);
    const Eigen::VectorXd y = (3.0 * X.row(0)).array().sin().transpose();
    const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    return estimator.fit(X, y).model.size() == kernels_found_elsewhere(X, y) ? 0 : 1;
}
