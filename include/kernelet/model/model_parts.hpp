#pragma once

#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/types.hpp>

#include <utility>
#include <vector>

namespace kernelet {

/// What a model decays to far from all centers, in the units of the fit.
struct ModelTrend {
    template <class Derived>
    ModelTrend(const Eigen::MatrixBase<Derived>& offset_) : offset(offset_) {}
    ModelTrend(Vector offset_, Matrix slopes_) : offset(std::move(offset_)), slopes(std::move(slopes_)) {}

    Vector offset;    ///< q
    Matrix slopes{};  ///< d x q; empty where the trend is not linear
};

namespace detail {

/// The parts of a model without the type of its kernel.
struct ModelParts {
    const InputScaling& scaling;
    const Matrix& nodes;
    const Matrix& coefficients;
    const ModelTrend& trend;
    const ModelStatistics& statistics;
    const std::vector<bool>& lengths;  ///< which rows of θ are lengths, and not shapes

    Index dimension() const { return scaling.shift.size(); }
    Index outputs() const { return trend.offset.size(); }
};

/// Throws std::invalid_argument where sizes do not match or a number makes no model.
template <class Scalar>
void require_model(const ModelParts& model);

}  // namespace detail
}  // namespace kernelet

#ifndef KERNELET_COMPILED
#include <kernelet/model/model_parts_impl.hpp>
#endif
