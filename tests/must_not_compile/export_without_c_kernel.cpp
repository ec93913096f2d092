// expect: needs CKernel c_kernel
// A user-defined kernel that can be fitted and evaluated, but does not define its C form.
#include <kernelet/model/export_c.hpp>

#include <iostream>
#include <string_view>

struct CustomKernel {
    static constexpr std::string_view name = "custom";
    kernelet::Index parameters(kernelet::Index) const { return 1; }
    kernelet::ParameterKind parameter_kind(kernelet::Index) const {
        return kernelet::ParameterKind::isotropic_scale;
    }
    void values(const kernelet::ConstMatrixRef&, const kernelet::ConstVectorRef&, kernelet::VectorRef) const {
    }
    void jet(const kernelet::ConstMatrixRef&, const kernelet::ConstVectorRef&, kernelet::MatrixRef) const {}
};

void write(const kernelet::SparseKernelModel<CustomKernel>& model) { kernelet::export_c(std::cout, model); }
