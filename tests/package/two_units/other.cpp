#include <kernelet/kernelet.hpp>

Eigen::Index kernels_found_elsewhere(const Eigen::MatrixXd& X, const Eigen::VectorXd& y);

Eigen::Index kernels_found_elsewhere(const Eigen::MatrixXd& X, const Eigen::VectorXd& y) {
    return kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss>()
        .fit(X, y)
        .model.size();
}
