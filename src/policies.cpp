// The stock kernels and losses behind the interfaces that a fit uses.
#include <kernelet/compiled.hpp>

namespace kernelet::detail {

template std::shared_ptr<const KernelInterface> erase_kernel<Gaussian>(const Gaussian&);
template std::shared_ptr<const KernelInterface> erase_kernel<AnisotropicGaussian>(const AnisotropicGaussian&);
template std::shared_ptr<const KernelInterface> erase_kernel<Laplacian>(const Laplacian&);
template std::shared_ptr<const KernelInterface> erase_kernel<Matern32>(const Matern32&);
template std::shared_ptr<const KernelInterface> erase_kernel<Matern52>(const Matern52&);
template std::shared_ptr<const KernelInterface> erase_kernel<Sinc>(const Sinc&);
template std::shared_ptr<const KernelInterface> erase_kernel<Polynomial>(const Polynomial&);

template std::shared_ptr<const LossInterface> erase_loss<SquaredLoss>(const SquaredLoss&);
template std::shared_ptr<const LossInterface> erase_loss<EpsilonInsensitiveLoss>(
    const EpsilonInsensitiveLoss&);
template std::shared_ptr<const LossInterface> erase_loss<HingeLoss>(const HingeLoss&);
template std::shared_ptr<const LossInterface> erase_loss<HuberLoss>(const HuberLoss&);
template std::shared_ptr<const LossInterface> erase_loss<LogisticLoss>(const LogisticLoss&);
template std::shared_ptr<const LossInterface> erase_loss<QuantileLoss>(const QuantileLoss&);

}  // namespace kernelet::detail
