// expect: Observer
// A verdict is asked for: with true for "go on" or for "stop", half the readers would be wrong.
#include <kernelet/kernelet.hpp>

int main() {
    Eigen::MatrixXd X = Eigen::MatrixXd::Random(1, 40);
    Eigen::VectorXd y = X.row(0).transpose();
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    estimator.fit(X, y, [](const kernelet::Progress&) { return true; });
}
