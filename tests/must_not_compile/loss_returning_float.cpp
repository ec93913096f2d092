// expect: ConvexLoss
// A value in float would lose the digits that the dual needs.
#include <kernelet/kernelet.hpp>

struct CustomLoss : kernelet::SquaredLoss {
    float value(double prediction, double target) const { return static_cast<float>(prediction - target); }
};

int main() { kernelet::SparseKernelEstimator<kernelet::Gaussian, CustomLoss> estimator; }
