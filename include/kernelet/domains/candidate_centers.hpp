#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace kernelet {

/// PII'' of the paper: the centers are M given points, each with widths from an interval; only the widths are free, unless
/// the centers are released.
class CandidateCenters {
public:
    CandidateCenters(Matrix centers, Interval widths, Spacing spacing = Spacing::logarithmic)
        : centers_(std::move(centers)), widths_(widths, spacing) {
        detail::require(centers_.rows() > 0 && centers_.cols() > 0, "centers is ", centers_.rows(), " x ",
                        centers_.cols(), "; candidate centers are d x M, one per column, M >= 1");
        detail::require_finite(centers_, "centers");
        std::tie(lo_, hi_) = detail::bounding_box(centers_);
    }

    /// These candidates, with centers that the ascent of peaks and the search may move inside the candidates'
    /// bounding box.
    CandidateCenters released() const {
        CandidateCenters copy = *this;
        copy.released_ = true;
        return copy;
    }

    const Matrix& centers() const { return centers_; }
    Interval widths() const { return widths_.interval(); }
    Index dimension() const { return centers_.rows(); }
    Index rows() const { return dimension() + widths_.rows(); }
    bool free(Index row) const { return row < dimension() ? released_ : widths_.free(row - dimension()); }

    CandidateCenters with_parameters(ParameterLayout layout) const {
        CandidateCenters copy = *this;
        copy.widths_ = widths_.with_parameters(std::move(layout));
        return copy;
    }

    Index uniforms() const { return 2 + widths_.shape_uniforms(); }

    void place(const ConstVectorRef& u, VectorRef node) const {
        const Index m = centers_.cols();
        const Index j = std::min(m - 1, static_cast<Index>(u(0) * static_cast<double>(m)));
        for (Index c = 0; c < dimension(); ++c) node(c) = centers_(c, j);
        widths_.place(u(1), u(u.size() - 1), node.data() + dimension());
    }

    void project(VectorRef node) const {
        if (released_) detail::clamp_to_box(node.data(), lo_, hi_);
        widths_.project(node.data() + dimension());
    }

    /// Every candidate at every level of width; none where `budget` does not give each candidate a few
    /// levels.
    std::optional<Quadrature> rule(Index budget) const {
        const Index m = centers_.cols();
        const Interval range = widths_.interval();
        const Index wanted = 1 + static_cast<Index>(std::log(range.hi / range.lo) / finest_log_step);
        const Index count = std::min(wanted, widths_.budget_of_a_shape(budget) / m);
        if (count < std::min(wanted, fewest_levels)) return std::nullopt;
        const Quadrature levels = widths_.levels(count);
        Quadrature rule{Matrix(rows(), m * count), Vector(m * count)};
        for (Index l = 0; l < count; ++l)
            for (Index j = 0; j < m; ++j) {
                for (Index row = 0; row < rows(); ++row)
                    rule.nodes(row, l * m + j) = row < dimension() ? centers_(row, j) : levels.nodes(0, l);
                rule.weights(l * m + j) = levels.weights(l) / static_cast<double>(m);
            }
        return widths_.with_shapes(rule);
    }

private:
    static constexpr double finest_log_step = 0.1;  // Gaussians a tenth apart in log w have coherence 0.998
    static constexpr Index fewest_levels = 4;

    Matrix centers_;
    WidthRange widths_;
    Vector lo_, hi_;
    bool released_ = false;
};

}  // namespace kernelet
