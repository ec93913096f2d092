// expect: compiles
// The right version of every other file here: if this one fails, those fail for the wrong reason.
#include <kernelet/kernelet.hpp>

struct CustomKernel : kernelet::Gaussian {};

int main() {
    kernelet::SparseKernelEstimator<CustomKernel, kernelet::SquaredLoss> custom;

    Eigen::MatrixXd X = Eigen::MatrixXd::Random(1, 40);
    Eigen::VectorXd y = X.row(0).transpose();
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    auto observer = [](const kernelet::Progress&) { return kernelet::Verdict::proceed; };
    using Fit = decltype(estimator.fit(X, y, observer));  // chosen, not instantiated: that takes a minute
    static_cast<void>(sizeof(Fit));
}
