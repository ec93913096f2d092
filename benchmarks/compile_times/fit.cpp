#include <kernelet/kernelet.hpp>

#include <cstdio>

int main() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(201, -5.0, 5.0);
    const Eigen::VectorXd y = x.transpose().array().sin();
    const kernelet::SparseKernelEstimator<> estimator;
    const auto fit = estimator.fit(x, y);
    std::printf("%td kernels; %s\n", fit.model.size(), fit.report.brief().c_str());
}
