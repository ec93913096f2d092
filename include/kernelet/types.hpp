#pragma once

#include <kernelet/detail/requirements.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <vector>

namespace kernelet {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Views passed to kernels, domains and solvers: no copy for whole matrices, columns and row ranges.
using ConstMatrixRef = Eigen::Ref<const Matrix>;
using ConstVectorRef = Eigen::Ref<const Vector>;
using MatrixRef = Eigen::Ref<Matrix>;
using VectorRef = Eigen::Ref<Vector>;

/// These views through a template parameter, always double. Eigen expressions of a type that depends on a
/// template parameter are compiled where they are called and not wherever their header is included.
template <class Scalar>
struct Views {
    using ConstMatrix = Eigen::Ref<const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>>;
    using ConstVector = Eigen::Ref<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>;
    using MutableMatrix = Eigen::Ref<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>>;
    using MutableVector = Eigen::Ref<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>;
};
template <class Scalar>
using ConstMatrixRefOf = typename Views<Scalar>::ConstMatrix;
template <class Scalar>
using ConstVectorRefOf = typename Views<Scalar>::ConstVector;
template <class Scalar>
using MatrixRefOf = typename Views<Scalar>::MutableMatrix;
template <class Scalar>
using VectorRefOf = typename Views<Scalar>::MutableVector;

/// A closed interval [lo, hi]; either end may be infinite.
struct Interval {
    double lo{};
    double hi{};

    bool contains(double value) const { return lo <= value && value <= hi; }
    double clamp(double value) const { return std::min(std::max(value, lo), hi); }
};

/// Nodes and weights for integrals under a domain's measure ρ: ∫ h dρ ≈ Σ_j weights_j h(nodes_j), Σ weights
/// = 1.
struct Quadrature {
    Matrix nodes{};
    Vector weights{};
};

/// The samples of a fit. `x` is d x n, one sample per column; `y` is a column of n targets, or q x n.
struct Samples {
    Matrix x{};
    Matrix y{};
    Vector weights{};  ///< n positive weights of the aggregate loss; empty: all one.
    Vector
        tolerances{};  ///< n tolerances, one per sample (per-sample scope); empty: Options::tolerance for all.
};

/// What a tolerance bounds: the loss summed over the samples, or the loss of each sample by itself.
enum class Scope { aggregate, per_sample };

/// The trend, which is fitted with the kernels and without a penalty: none, a constant, a constant and a slope per
/// input, or whichever of these the evidence prefers. Far from all centers a model equals its trend.
enum class Trend { automatic, none, constant, linear };

/// The kind of one row of a kernel's parameter θ: how it changes with the unit of the inputs.
enum class ParameterKind {
    isotropic_scale,   ///< a length, the same along every coordinate: scales with x
    coordinate_scale,  ///< a length along the coordinate of the same number: scales with that coordinate
    shape              ///< no length (an order, a tag): does not change
};

/// The properties of a kernel's parameter θ that a domain needs.
struct ParameterLayout {
    Index rows = 1;                ///< p
    std::vector<double> shapes{};  ///< the values its last row may take where that is a shape; else empty

    /// The rows that are lengths.
    Index scales() const { return shapes.empty() ? rows : rows - 1; }
};

/// The layout of a kernel's parameter for inputs of this dimension.
template <class Kernel>
ParameterLayout parameter_layout(const Kernel& kernel, Index dimension) {
    ParameterLayout layout{kernel.parameters(dimension)};
    if constexpr (requires { kernel.shapes(); }) layout.shapes = kernel.shapes();
    return layout;
}

/// Statistics that a fit computes with its model; all are empty where there are none.
struct ModelStatistics {
    /// K: the size of each kernel's part over the samples, ‖a_j k_j‖ relative to the sum of all. They add up
    /// to one.
    Vector shares{};
    /// q: the deviation of what the model leaves over.
    Vector noise{};
    /// q: the deviation of what the criterion would have left out, none or one per output. A function that lowers
    /// −2 log likelihood by less than the price of a kernel may be missing; its mean square over N samples is at most
    /// noise² · price/N.
    Vector discrepancy{};
    /// The covariance of all parameters, linearised at the fit:
    /// the coefficients (output o, kernel j at o K + j), then each kernel's
    /// center and log parameter (row r of kernel j at q K + j (d + p) + r, in the units of the fit), then the trend
    /// (function c of output o, 1 and then the inputs, at q K + K (d + p) + o t + c). Zero rows for what was not free to
    /// move.
    Matrix covariance{};
};

}  // namespace kernelet
