#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>

#include <utility>

namespace kernelet {

/// f(x) = offset + Σ_j a_j k(x, z_j; θ_j): K kernels, each with its own center and parameter, q outputs. The
/// only thing that predicts; a value that owns all it needs. Kernels are kept in the units of the fit
/// together with the scaling, and spoken of in the user's. Far from all centers the model decays to its
/// offset. Thread safety: const members may be called from many threads.
template <KernelFamily Kernel>
class SparseKernelModel {
public:
    using KernelType = Kernel;

    /// nodes is (d + p) x K in the scaling's internal units, coefficients K x q, offset q.
    SparseKernelModel(Kernel kernel, InputScaling scaling, Matrix nodes, Matrix coefficients, Vector offset)
        : kernel_(std::move(kernel)),
          scaling_(std::move(scaling)),
          nodes_(std::move(nodes)),
          coefficients_(std::move(coefficients)),
          offset_(std::move(offset)) {
        const Index d = scaling_.shift.size();
        detail::require(d > 0, "scaling.shift is empty; a model needs at least one input");
        detail::require(scaling_.scale.size() == d, "scaling.scale has ", scaling_.scale.size(),
                        " entries, scaling.shift ", d);
        detail::require(nodes_.rows() == d + kernel_.parameters(d), "nodes has ", nodes_.rows(), " rows; ",
                        d + kernel_.parameters(d), " are needed for ", d, " inputs");
        detail::require(coefficients_.rows() == nodes_.cols(), "coefficients has ", coefficients_.rows(),
                        " rows for ", nodes_.cols(), " kernels");
        detail::require(offset_.size() > 0 && coefficients_.cols() == offset_.size(), "coefficients has ",
                        coefficients_.cols(), " columns for ", offset_.size(), " outputs");
        detail::require_finite(scaling_.shift, "scaling.shift");
        detail::require_finite(nodes_, "nodes");
        detail::require_finite(coefficients_, "coefficients");
        detail::require_finite(offset_, "offset");
        for (Index c = 0; c < d; ++c)
            detail::require_positive(scaling_.scale(c), detail::text("scaling.scale(", c, ")"));
        for (Index row = d; row < nodes_.rows(); ++row)
            if (kernel_.parameter_kind(row - d) != ParameterKind::shape)
                for (Index j = 0; j < nodes_.cols(); ++j)
                    detail::require_positive(nodes_(row, j), detail::text("nodes(", row, ", ", j, ")"));
    }

    /// The number of kernels.
    Index size() const { return nodes_.cols(); }
    Index dimension() const { return scaling_.shift.size(); }
    Index outputs() const { return offset_.size(); }

    /// d x K, in the user's units.
    Matrix centers() const { return scaling_.to_user(nodes_.topRows(dimension())); }

    /// p x K in the user's units; d x K where an isotropic width meets coordinates of different scale.
    Matrix widths() const {
        const Index d = dimension();
        const Index p = nodes_.rows() - d;
        const Matrix theta = size() > 0 ? Matrix(nodes_.bottomRows(p)) : Matrix(p, 0);
        Matrix widths = theta;
        for (Index row = 0; row < theta.rows(); ++row) {
            const ParameterKind kind = kernel_.parameter_kind(row);
            if (kind == ParameterKind::coordinate_scale) widths.row(row) *= scaling_.scale(row);
            if (kind == ParameterKind::isotropic_scale && scaling_.isotropic())
                widths.row(row) *= scaling_.scale(0);
            if (kind == ParameterKind::isotropic_scale && !scaling_.isotropic())
                return scaling_.scale * theta.row(row);
        }
        return widths;
    }

    /// K x q.
    const Matrix& coefficients() const { return coefficients_; }
    /// What the model predicts far from all centers: q.
    const Vector& offset() const { return offset_; }

    const Kernel& kernel() const { return kernel_; }
    const InputScaling& scaling() const { return scaling_; }
    /// (d + p) x K in the units of the fit.
    const Matrix& nodes() const { return nodes_; }

    /// Predictions in the shape of the targets: a column of n for one output, q x n for several. x is d x n,
    /// any Eigen expression, float or double. n K kernel values.
    template <class Derived>
    Matrix predict(const Eigen::MatrixBase<Derived>& x) const {
        const Matrix points = x.template cast<double>();
        detail::require(points.rows() == dimension(), "x has ", points.rows(), " rows; the model has ",
                        dimension(), " inputs (x is d x n, one sample a column)");
        detail::require_finite(points, "x");
        Matrix values = internal(scaling_.to_internal(points));
        if (outputs() == 1) return values.transpose();
        return values;
    }

    /// The one output at one point.
    template <class Derived>
    double operator()(const Eigen::MatrixBase<Derived>& x) const {
        detail::require(outputs() == 1, "operator() is for one output; this model has ", outputs(),
                        ": use predict()");
        detail::require(x.cols() == 1, "x has ", x.cols(), " columns; operator() takes one point");
        return predict(x)(0, 0);
    }
    double operator()(double x) const { return (*this)(Vector::Constant(1, x)); }

private:
    Matrix internal(const Matrix& x) const {
        Matrix values =
            detail::synthesize(kernel_, detail::TiledPoints(x), nodes_, coefficients_.transpose());
        values.colwise() += offset_;
        return values;
    }

    Kernel kernel_;
    InputScaling scaling_;
    Matrix nodes_;
    Matrix coefficients_;
    Vector offset_;
};

}  // namespace kernelet
