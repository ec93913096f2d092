#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace kernelet {

/// PII where a box would be empty (d ≥ 4): a center is a sample moved by a normal step whose length is about
/// half the width, z = x_i + w/(2√d)·N(0, I). That mixture is ρ. Centers and widths are free, inside the
/// samples' bounding box and a tenth more on each side.
class AroundSamples {
public:
    AroundSamples(Matrix samples, Interval widths, Spacing spacing = Spacing::logarithmic)
        : samples_(std::move(samples)), widths_(widths, spacing) {
        detail::require(samples_.rows() > 0 && samples_.cols() > 0, "samples is ", samples_.rows(), " x ",
                        samples_.cols(), "; samples are d x n, one per column, n >= 1");
        detail::require_finite(samples_, "samples");
        std::tie(lo_, hi_) = detail::bounding_box(samples_, box_margin);
    }

    static constexpr double box_margin = 0.1;

    Interval widths() const { return widths_.interval(); }
    Index dimension() const { return samples_.rows(); }
    Index rows() const { return dimension() + widths_.rows(); }
    bool free(Index row) const { return row < dimension() || widths_.free(row - dimension()); }

    AroundSamples with_parameters(ParameterLayout layout) const {
        AroundSamples copy = *this;
        copy.widths_ = widths_.with_parameters(std::move(layout));
        return copy;
    }

    /// This domain, with a separate interval in which each of several widths of a kernel may move.
    AroundSamples with_coordinate_widths(Interval widths) const {
        AroundSamples copy = *this;
        copy.widths_ = widths_.with_coordinate_widths(widths);
        return copy;
    }

    /// One uniform chooses the sample, one the width, d (rounded up to pairs) the step, and one the shape
    /// where there is one.
    Index uniforms() const { return 2 + 2 * ((dimension() + 1) / 2) + widths_.shape_uniforms(); }

    void place(const ConstVectorRef& u, VectorRef node) const {
        const Index d = dimension();
        const Index n = samples_.cols();
        const double w = widths_.at(u(1));
        const double step = 0.5 * w / std::sqrt(static_cast<double>(d));
        const Index i = std::min(n - 1, static_cast<Index>(u(0) * static_cast<double>(n)));
        for (Index c = 0; c < d; ++c) node(c) = samples_(c, i);
        for (Index c = 0; c < d; c += 2) {
            const auto [first, second] = detail::normal_pair(u(2 + c), u(3 + c));
            node(c) += step * first;
            if (c + 1 < d) node(c + 1) += step * second;
        }
        widths_.place(u(1), u(u.size() - 1), node.data() + dimension());
        project(node);
    }

    void project(VectorRef node) const {
        detail::clamp_to_box(node.data(), lo_, hi_);
        widths_.project(node.data() + dimension());
    }

    /// No grid in high dimension: nodes are drawn.
    std::optional<Quadrature> rule(Index /*budget*/) const { return std::nullopt; }

private:
    Matrix samples_;
    WidthRange widths_;
    Vector lo_, hi_;
};

}  // namespace kernelet
