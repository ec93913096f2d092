// expect: KernelFamily
// control.cpp with one member out of reach.
#include <kernelet/kernelet.hpp>

struct CustomKernel : kernelet::Gaussian {
private:
    using kernelet::Gaussian::jet;
};

int main() { kernelet::SparseKernelEstimator<CustomKernel, kernelet::SquaredLoss> estimator; }
