// One point is predicted without an allocation: malloc is counted (linked with --wrap=malloc), and operator new calls it.

#include <kernelet/predict.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {
long allocations = 0;  // NOLINT: counted by the functions below
}

extern "C" void* __real_malloc(std::size_t);
extern "C" void* __wrap_malloc(std::size_t size) {
    ++allocations;
    return __real_malloc(size);
}
void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = __real_malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
    using namespace kernelet;
    constexpr Index d = 3, kernels = 5;
    const InputScaling scaling{Vector::Zero(d), Vector::Ones(d)};
    const Matrix isotropic = Matrix::Constant(d + 1, kernels, 0.5),
                 each = Matrix::Constant(2 * d, kernels, 0.5);
    const Matrix a = Matrix::Ones(kernels, 1);
    const SparseKernelModel<Gaussian> gaussian(Gaussian{}, scaling, isotropic, a, Vector::Zero(1));
    const SparseKernelModel<AnisotropicGaussian> anisotropic(AnisotropicGaussian{}, scaling, each, a,
                                                             Vector::Zero(1));
    const Vector x = Vector::Constant(d, 0.3);
    const long setting_up = allocations;
    const double sum = gaussian(x) + anisotropic(x);
    const long predicting = allocations - setting_up;
    std::printf("%ld allocations before, %ld by two predictions (%g)\n", setting_up, predicting, sum);
    return setting_up > 0 && predicting == 0 ? 0 : 1;
}
