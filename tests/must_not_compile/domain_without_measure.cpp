// expect: Domain
// A box without place(), the map from the unit cube that is its measure.
#include <kernelet/kernelet.hpp>

struct CustomDomain : kernelet::Box {
    using kernelet::Box::Box;

private:
    using kernelet::Box::place;
};

int main() {
    Eigen::MatrixXd X = Eigen::MatrixXd::Random(1, 40);
    Eigen::VectorXd y = X.row(0).transpose();
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss> estimator;
    estimator.fit(X, y, CustomDomain(-1.0, 1.0, kernelet::Interval{0.1, 1.0}));
}
