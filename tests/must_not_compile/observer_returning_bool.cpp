// expect: Observer
// An observer must return a Verdict: a bool does not show whether true means "go on" or "stop".
#include <kernelet/kernelet.hpp>

int main() {
    Eigen::MatrixXd X = Eigen::MatrixXd::Random(1, 40);
    Eigen::VectorXd y = X.row(0).transpose();
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    estimator.fit(X, y, [](const kernelet::Progress&) { return true; });
}
