#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/dual/penalty.hpp>

#include <utility>
#include <vector>

namespace kernelet {

/// ᾱ and its derivatives at one node.
struct FieldJet {
    Vector value{};     ///< q
    Matrix gradient{};  ///< q x (d + p): in z and log θ
};

/// ᾱ(z, w) = Σ_i λ_i k(x_i, z; w) and α = ᾱ·1[‖ᾱ‖ > √(2γ)], as functions. Owns the samples it needs: those
/// with λ ≠ 0. Nodes are columns (z; θ) in the fit's own units; the functions of a point (z, w) speak the
/// user's.
template <KernelFamily Kernel>
class CoefficientField {
public:
    /// x is d x n in the fit's units, λ is q x n.
    CoefficientField(Kernel kernel, const ConstMatrixRef& x, const ConstMatrixRef& lambda, double gamma,
                     InputScaling scaling, double support_measure = 0.0)
        : kernel_(std::move(kernel)),
          lambda_(lambda.rows(), 0),
          points_(Matrix(x.rows(), 0)),
          gamma_(gamma),
          scaling_(std::move(scaling)),
          support_measure_(support_measure) {
        std::vector<Index> used;
        for (Index i = 0; i < lambda.cols(); ++i)
            if ((lambda.col(i).array() != 0.0).any()) used.push_back(i);
        points_ = detail::TiledPoints(x(Eigen::all, used));
        lambda_ = lambda(Eigen::all, used);
    }

    const Kernel& kernel() const { return kernel_; }
    Index dimension() const { return scaling_.shift.size(); }
    Index rows() const { return dimension() + kernel_.parameters(dimension()); }
    Index outputs() const { return lambda_.rows(); }
    double gamma() const { return gamma_; }
    double threshold() const { return penalty::threshold(gamma_); }
    /// ρ{α ≠ 0} on the solver's nodes.
    double support_measure() const { return support_measure_; }

    /// ᾱ at nodes in the fit's units: q x B. |supp λ| B kernel values.
    Matrix raw_at(const ConstMatrixRef& nodes) const {
        return detail::analyze(kernel_, points_, lambda_, nodes);
    }

    /// α at nodes in the fit's units: q x B.
    Matrix at(const ConstMatrixRef& nodes) const {
        Matrix values = raw_at(nodes);
        for (Index j = 0; j < values.cols(); ++j)
            if (values.col(j).norm() <= threshold()) values.col(j).setZero();
        return values;
    }

    /// ᾱ and ∂ᾱ/∂(z, log θ) at one node in the fit's units. O(|supp λ| (d + p)).
    FieldJet jet(const ConstVectorRef& node) const {
        Matrix sum = Matrix::Zero(outputs(), 1 + rows());
        Matrix tile(detail::TiledPoints::tile, 1 + rows());
        for (Index t = 0; t < points_.tiles(); ++t) {
            if (detail::out_of_reach(kernel_, points_, t, node)) continue;
            const Index m = points_.count(t);
            kernel_.jet(points_.rows(t), node, tile.topRows(m));
            sum.noalias() += lambda_.middleCols(points_.first(t), m) * tile.topRows(m);
        }
        return {sum.col(0), sum.rightCols(rows())};
    }

    /// A node in the fit's units from a center in the user's units and one width, of the family's first shape
    /// where it has several. The width is in the user's units where all coordinates have one scale; otherwise
    /// it counts deviations of each coordinate.
    Vector node(const ConstVectorRef& z, double w) const {
        detail::require(z.size() == dimension(), "z has ", z.size(), " coordinates; the field has ",
                        dimension());
        detail::require_finite(z, "z");
        detail::require_positive(w, "w");
        Vector column(rows());
        column.head(dimension()) = scaling_.to_internal(z);
        const ParameterLayout layout = parameter_layout(kernel_, dimension());
        column.segment(dimension(), layout.scales())
            .setConstant(scaling_.isotropic() ? w / scaling_.scale(0) : w);
        if (!layout.shapes.empty()) column(rows() - 1) = layout.shapes.front();
        return column;
    }

    /// ᾱ(z, w) of the one output.
    double raw(const ConstVectorRef& z, double w) const { return single(raw_at(node(z, w))); }
    double raw(double z, double w) const { return raw(Vector::Constant(1, z), w); }

    /// α(z, w) of the one output: zero where |ᾱ| ≤ √(2γ).
    double operator()(const ConstVectorRef& z, double w) const { return single(at(node(z, w))); }
    double operator()(double z, double w) const { return (*this)(Vector::Constant(1, z), w); }

    /// ∂ᾱ/∂(z, log w) of the one output, z in the user's units.
    Vector gradient(const ConstVectorRef& z, double w) const {
        detail::require(outputs() == 1, "gradient is of one output; this field has ", outputs());
        Vector g = jet(node(z, w)).gradient.row(0).transpose();
        g.head(dimension()).array() /= scaling_.scale.array();
        return g;
    }
    Vector gradient(double z, double w) const { return gradient(Vector::Constant(1, z), w); }

private:
    static double single(const Matrix& value) {
        detail::require(value.rows() == 1, "this field has ", value.rows(), " outputs; use at() or raw_at()");
        return value(0, 0);
    }

    Kernel kernel_;
    Matrix lambda_;
    detail::TiledPoints points_;
    double gamma_;
    InputScaling scaling_;
    double support_measure_;
};

}  // namespace kernelet
