#pragma once

/// The templates that the sources of compiled mode (src/) instantiate and a file in that mode does not.
/// Empty without KERNELET_COMPILED, which a target made by kernelet_add_compiled() defines.

#ifdef KERNELET_COMPILED

#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/erased_fit.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/losses/epsilon_insensitive.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/huber.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/losses/quantile.hpp>
#include <kernelet/losses/squared.hpp>

namespace kernelet {

class AugmentedNewton;
class CoordinateAscent;
class PointMassLimit;
class StochasticSupergradient;
template <class Inner>
class SampledAscent;

}  // namespace kernelet

namespace kernelet::detail {

extern template std::shared_ptr<const KernelInterface> erase_kernel(const Gaussian&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const AnisotropicGaussian&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const Laplacian&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const Matern32&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const Matern52&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const Sinc&);
extern template std::shared_ptr<const KernelInterface> erase_kernel(const Polynomial&);

extern template std::shared_ptr<const LossInterface> erase_loss(const SquaredLoss&);
extern template std::shared_ptr<const LossInterface> erase_loss(const EpsilonInsensitiveLoss&);
extern template std::shared_ptr<const LossInterface> erase_loss(const HingeLoss&);
extern template std::shared_ptr<const LossInterface> erase_loss(const HuberLoss&);
extern template std::shared_ptr<const LossInterface> erase_loss(const LogisticLoss&);
extern template std::shared_ptr<const LossInterface> erase_loss(const QuantileLoss&);

extern template void require_valid(const Options&);
extern template void require_valid(const AutomaticSolverOptions&);

extern template ErasedSolver erase_solver(const AutomaticSolver&);
extern template ErasedSolver erase_solver(const AugmentedNewton&);
extern template ErasedSolver erase_solver(const CoordinateAscent&);
extern template ErasedSolver erase_solver(const PointMassLimit&);
extern template ErasedSolver erase_solver(const StochasticSupergradient&);
extern template ErasedSolver erase_solver(const SampledAscent<CoordinateAscent>&);

}  // namespace kernelet::detail

#endif
