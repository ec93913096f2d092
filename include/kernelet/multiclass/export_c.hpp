#pragma once

#include <kernelet/model/export_c.hpp>
#include <kernelet/multiclass/c_ensemble.hpp>
#include <kernelet/multiclass/ensemble.hpp>

#include <ostream>
#include <string>

namespace kernelet {
namespace detail {

/// The C file of an ensemble.
template <class Scalar>
std::string c_file_of(const CEnsemble& ensemble, const CExportOptions& options);

template <KernelFamily Kernel, TextLabel Label>
std::string c_text_of(const EnsembleModel<Kernel, Label>& ensemble, const CExportOptions& options) {
    const MergedKernels<Kernel>& kernels = ensemble.kernels();
    CEnsemble plain{c_family(kernels.kernel(), ensemble.dimension()),
                    ensemble.scheme(),
                    kernels.groups(),
                    kernels.sums(),
                    Matrix(kernels.groups().front().nodes.rows(), kernels.size()),
                    {},
                    c_labels(ensemble.classes()),
                    ensemble.loss()};
    Index j = 0;
    for (const KernelGroup& group : kernels.groups()) {
        copy(ConstBlock(group.nodes), Block(plain.nodes).columns(j, group.nodes.cols()));
        j += group.nodes.cols();
    }
    if constexpr (HasReach<Kernel>)
        for (Index k = 0; k < j; ++k)
            plain.reach.push_back(kernels.kernel().reach(column_ref(plain.nodes, k)));
    return c_file_of<double>(plain, options);
}

}  // namespace detail

/// Writes an ensemble as one C99 file that needs no heap and includes nothing but <math.h>, or <stdint.h> with
/// CFunctions::own:
///     int name(const double x[d])                          the class, 0, 1, ..., as decide() has it for one point
///     long name_label(int which)                           its label; const char * of text, double of numbers
///     void name_margins(const double x[d], double f[m])    the decision value of each classifier
///     void name_probability(const double x[d], double p[c])  for ensembles fitted with the logistic loss
/// and float for double with CScalar::float32. An `options.gradient` is refused.
template <KernelFamily Kernel, TextLabel Label>
void export_c(std::ostream& stream, const EnsembleModel<Kernel, Label>& ensemble,
              const CExportOptions& options = {}) {
    detail::write_text(stream, detail::c_text_of(ensemble, options));
}

/// Exports to a file, which is replaced only after everything is written.
template <KernelFamily Kernel, TextLabel Label>
void export_c(const std::string& path, const EnsembleModel<Kernel, Label>& ensemble,
              const CExportOptions& options = {}) {
    detail::write_file(path, detail::c_text_of(ensemble, options));
}

}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/multiclass/export_c_impl.hpp>
#endif
