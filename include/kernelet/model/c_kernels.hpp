#pragma once

#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/model/c_kernel.hpp>

#include <tuple>
#include <vector>

/// The stock kernels as C, in the arithmetic of their values() and gradient().
namespace kernelet {

template <class Scalar = double>
CKernel c_kernel(const Gaussian&, Index d);
template <class Scalar = double>
CKernel c_kernel(const AnisotropicGaussian&, Index d);
template <class Scalar = double>
CKernel c_kernel(const Laplacian&, Index d);
template <class Scalar = double>
CKernel c_kernel(const Matern32&, Index d);
template <class Scalar = double>
CKernel c_kernel(const Matern52&, Index d);
template <class Scalar = double>
CKernel c_kernel(const Sinc&, Index d);
template <class Scalar = double>
CKernel c_kernel(const Polynomial&, Index d);

namespace detail {

/// One of several kernels of the same θ, chosen by the tag.
template <class Scalar>
CKernel c_choice(const std::vector<CKernel>& families);

}  // namespace detail

/// The C form of a dictionary, from those of its families.
template <class... Families>
CKernel c_kernel(const Dictionary<Families...>& dictionary, Index d) {
    std::vector<CKernel> families;
    std::apply([&](const Families&... family) { (families.push_back(c_kernel(family, d)), ...); },
               dictionary.families());
    return detail::c_choice<double>(families);
}

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/model/c_kernels_impl.hpp>
#endif
