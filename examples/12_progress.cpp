// A fit that reports its progress, and one that is stopped: the best model so far is returned.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>

int main() {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0.0, 0.1);
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(1000, -4.0, 4.0);
    const Eigen::VectorXd y =
        x.transpose().unaryExpr([&](double at) { return std::sin(1.5 * at * at) + noise(random); });
    const kernelet::SparseKernelEstimator<> estimator;

    // One bar over the whole fit, and at most 20 seconds.
    const auto whole =
        estimator.fit(x, y, kernelet::both(kernelet::ProgressBar(std::cerr), kernelet::TimeLimit(20.0)));
    std::printf("%s\n", whole.report.brief().c_str());

    // Any callable will do: this one stops in the middle.
    const auto stopped = estimator.fit(x, y, [](const kernelet::Progress& progress) {
        return progress.fraction < 0.5 ? kernelet::Verdict::proceed : kernelet::Verdict::stop;
    });
    std::printf("%s\n", stopped.report.brief().c_str());
    return stopped.report.status == kernelet::Status::stopped && stopped.model.size() > 0 ? 0 : 1;
}
