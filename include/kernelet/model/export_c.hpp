#pragma once

#include <kernelet/model/c_family.hpp>
#include <kernelet/model/c_kernels.hpp>
#include <kernelet/model/c_options.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/model/whole_files.hpp>

#include <ostream>
#include <string>

namespace kernelet {
namespace detail {

/// A model without the type of its kernel.
struct CModel {
    CFamily family{};
    const InputScaling& scaling;
    const Matrix& nodes;
    const Matrix& coefficients;
    const ModelTrend& trend;
    std::string loss{};

    Index dimension() const { return scaling.shift.size(); }
    Index outputs() const { return trend.offset.size(); }
    bool logistic() const { return loss == "logistic"; }
};

/// The C file of a model.
template <class Scalar>
std::string c_file_of(const CModel& model, const CExportOptions& options);

template <KernelFamily Kernel>
std::string c_text_of(const SparseKernelModel<Kernel>& model, const CExportOptions& options) {
    const CModel plain{c_family(model.kernel(), model.dimension()),
                       model.scaling(),
                       model.nodes(),
                       model.coefficients(),
                       model.trend(),
                       model.loss()};
    return c_file_of<double>(plain, options);
}

}  // namespace detail

/// Writes a model as one C99 file that needs no heap and includes nothing but <math.h>, or <stdint.h> with
/// CFunctions::own:
///     double name(const double x[d])                       one output
///     void name(const double x[d], double y[q])            q outputs
///     void name_gradient(const double x[d], double g[d q]) with options.gradient, in the order of gradient()
///     double name_probability(const double x[d])           for models fitted with the logistic loss; (x, p[q]) for q
/// and float for double with CScalar::float32. Of all stock kernels, and of those that have a c_kernel(), see CKernel.
/// Double differs from predict() by a few units in the last place of the largest partial sum; an x that is not finite is
/// not refused. Constants are exact to the bit, whatever format flags or locale the stream has.
template <KernelFamily Kernel>
void export_c(std::ostream& stream, const SparseKernelModel<Kernel>& model,
              const CExportOptions& options = {}) {
    detail::write_text(stream, detail::c_text_of(model, options));
}

/// Exports to a file, which is replaced only after everything is written.
template <KernelFamily Kernel>
void export_c(const std::string& path, const SparseKernelModel<Kernel>& model,
              const CExportOptions& options = {}) {
    detail::write_file(path, detail::c_text_of(model, options));
}

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/model/export_c_impl.hpp>
#endif
