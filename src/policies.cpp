// The stock kernels and losses behind the interfaces that a fit uses, the kernels as C, the
// C files of models, and the checks of their parts.
#include <kernelet/compiled.hpp>
#include <kernelet/model/c_kernels_impl.hpp>
#include <kernelet/model/export_c_impl.hpp>
#include <kernelet/model/model_parts_impl.hpp>
#include <kernelet/multiclass/export_c_impl.hpp>

namespace kernelet {

template CKernel c_kernel<double>(const Gaussian&, Index);
template CKernel c_kernel<double>(const AnisotropicGaussian&, Index);
template CKernel c_kernel<double>(const Laplacian&, Index);
template CKernel c_kernel<double>(const Matern32&, Index);
template CKernel c_kernel<double>(const Matern52&, Index);
template CKernel c_kernel<double>(const Sinc&, Index);
template CKernel c_kernel<double>(const Polynomial&, Index);

}  // namespace kernelet

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

template CKernel c_choice<double>(const std::vector<CKernel>&);
template void require_model<double>(const ModelParts&);
template std::string c_file_of<double>(const CModel&, const CExportOptions&);
template std::string c_file_of<double>(const CEnsemble&, const CExportOptions&);

}  // namespace kernelet::detail
