// expect: DualSolver
#include <kernelet/kernelet.hpp>

struct CustomSolver {
    int solve() const { return 0; }
};

int main() {
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss, CustomSolver> estimator;
}
