#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/dual/penalty.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelet {

/// ᾱ and its derivatives at one node.
struct FieldJet {
    Vector value{};     ///< q
    Matrix gradient{};  ///< q x (d + p): in z and log θ
};

/// ᾱ(z, w) = Σ_i λ_i k(x_i, z; w) and α = ᾱ·1[‖ᾱ‖ > √(2γ)], as functions (paper (17), (18) and Corollary 2). Owns the samples it needs: those
/// with λ ≠ 0. Nodes are columns (z; θ) in the fit's own units; the functions of a point (z, w) take the
/// user's units.
template <KernelFamily Kernel>
class CoefficientField {
public:
    /// x is d x n in the fit's units, λ is q x n.
    CoefficientField(Kernel kernel, const ConstMatrixRef& x, const ConstMatrixRef& lambda, double gamma,
                     InputScaling scaling, double support_measure = 0.0)
        : kernel_(std::move(kernel)),
          points_(detail::columns_of(x, support_of(lambda))),
          lambda_(detail::columns_of(lambda, support_of(lambda))),
          gamma_(gamma),
          scaling_(std::move(scaling)),
          support_measure_(support_measure) {}

    const Kernel& kernel() const { return kernel_; }
    Index dimension() const { return scaling_.shift.size(); }
    Index rows() const { return dimension() + kernel_.parameters(dimension()); }
    Index outputs() const { return lambda_.rows(); }
    double gamma() const { return gamma_; }
    double threshold() const { return penalty::threshold(gamma_); }
    /// ρ{α ≠ 0} on the solver's nodes.
    double support_measure() const { return support_measure_; }

    /// ᾱ at nodes in the fit's units: q x B. |supp λ| B kernel values.
    Matrix raw_at(const ConstMatrixRef& nodes, const detail::Poll& poll = {}) const {
        return detail::analyze(kernel_, points_, lambda_, nodes, poll);
    }

    /// α at nodes in the fit's units: q x B.
    Matrix at(const ConstMatrixRef& nodes) const {
        Matrix values = raw_at(nodes);
        for (Index j = 0; j < values.cols(); ++j)
            if (detail::column_norm(values, j) <= threshold()) std::fill_n(&values(0, j), values.rows(), 0.0);
        return values;
    }

    /// ᾱ and ∂ᾱ/∂(z, log θ) at one node in the fit's units. O(|supp λ| (d + p)).
    FieldJet jet(const ConstVectorRef& node) const {
        FieldJet jet{Vector::Zero(outputs()), Matrix::Zero(outputs(), rows())};
        Matrix tile(detail::TiledPoints::tile, 1 + rows());
        const double reach = detail::reach_of(kernel_, node);
        for (Index t = 0; t < points_.tiles(); ++t) {
            if (!points_.touches(t, node.data(), reach)) continue;
            const Index m = points_.count(t);
            kernel_.jet(points_.rows(t), node,
                        detail::matrix_ref(detail::Block(tile).part(0, 0, m, 1 + rows())));
            const detail::ConstBlock lambda = detail::ConstBlock(lambda_).columns(points_.first(t), m);
            detail::add_matrix_vector(jet.value.data(), lambda, tile.data());
            for (Index row = 0; row < rows(); ++row)
                detail::add_matrix_vector(&jet.gradient(0, row), lambda, &tile(0, 1 + row));
        }
        return jet;
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
        for (Index c = 0; c < dimension(); ++c) column(c) = (z(c) - scaling_.shift(c)) / scaling_.scale(c);
        const ParameterLayout layout = parameter_layout(kernel_, dimension());
        std::fill_n(&column(dimension()), layout.scales(), scaling_.isotropic() ? w / scaling_.scale(0) : w);
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
        const Matrix gradient = jet(node(z, w)).gradient;
        Vector g(rows());
        for (Index row = 0; row < rows(); ++row)
            g(row) = row < dimension() ? gradient(0, row) / scaling_.scale(row) : gradient(0, row);
        return g;
    }
    Vector gradient(double z, double w) const { return gradient(Vector::Constant(1, z), w); }

private:
    static double single(const Matrix& value) {
        detail::require(value.rows() == 1, "this field has ", value.rows(), " outputs; use at() or raw_at()");
        return value(0, 0);
    }

    /// The samples with λ ≠ 0.
    static std::vector<Index> support_of(const detail::ConstBlock& lambda) {
        std::vector<Index> used;
        for (Index i = 0; i < lambda.cols; ++i)
            if (detail::any_nonzero(lambda.columns(i, 1))) used.push_back(i);
        return used;
    }

    Kernel kernel_;
    detail::TiledPoints points_;
    Matrix lambda_;
    double gamma_;
    InputScaling scaling_;
    double support_measure_;
};

}  // namespace kernelet
