#include <kernelet/kernelet.hpp>

#include <cstdio>

int main() {
    const Eigen::MatrixXd x = Eigen::MatrixXd::Random(2, 200);
    const Eigen::VectorXd y = x.row(0).transpose().array().sign();
    const kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss> estimator;
    const auto fit = estimator.fit(x, y);
    std::printf("%td kernels; %s\n", fit.model.size(), fit.report.brief().c_str());
}
