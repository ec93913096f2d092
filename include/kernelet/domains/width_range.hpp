#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace kernelet {

/// How widths are spread over their interval: evenly in log w (many scales at once), or evenly in w (the
/// paper).
enum class Spacing { logarithmic, uniform };

/// The measure of the parameter θ that all domains share: one width drawn from an interval, written to all
/// rows of θ that are lengths, and a shape drawn from those the family has. A family of several widths thus
/// starts isotropic; the search sets them free.
class WidthRange {
public:
    WidthRange(Interval widths, Spacing spacing) : widths_(widths), spacing_(spacing) {
        detail::require_widths(widths, "widths");
    }

    Interval interval() const { return widths_; }
    Index rows() const { return layout_.rows; }
    /// Whether the ascent of peaks and the search may move this row of θ: all but a shape, unless the
    /// interval is a point.
    bool free(Index row) const { return row < layout_.scales() && widths_.lo < widths_.hi; }
    /// Uniforms besides the one of the width.
    Index shape_uniforms() const { return layout_.shapes.empty() ? 0 : 1; }

    /// This measure for another kernel. For a family without widths it is one point.
    WidthRange with_parameters(ParameterLayout layout) const {
        WidthRange copy = *this;
        copy.layout_ = std::move(layout);
        if (copy.layout_.scales() == 0) copy.widths_.lo = copy.widths_.hi;
        return copy;
    }

    /// This measure, with a separate interval in which each of several widths of a kernel may move.
    WidthRange with_coordinate_widths(Interval widths) const {
        detail::require_widths(widths, "coordinate widths");
        WidthRange copy = *this;
        copy.coordinate_widths_ = widths;
        return copy;
    }

    /// θ at quantile u of the widths; `last` chooses the shape where there is one.
    void place(double u, double last, double* theta) const {
        std::fill_n(theta, layout_.scales(), at(u));
        if (layout_.shapes.empty()) return;
        const auto count = static_cast<double>(layout_.shapes.size());
        theta[layout_.rows - 1] =
            layout_.shapes[static_cast<std::size_t>(std::min(last * count, count - 1.0))];
    }

    /// A rule over centers and widths, once for each shape.
    Quadrature with_shapes(const Quadrature& rule) const {
        if (layout_.shapes.empty()) return rule;
        const auto count = static_cast<Index>(layout_.shapes.size());
        const Index nodes = rule.nodes.cols();
        Quadrature all{Matrix(rule.nodes.rows(), nodes * count), Vector(nodes * count)};
        for (Index j = 0; j < nodes * count; ++j) {
            std::copy_n(&rule.nodes(0, j % nodes), rule.nodes.rows(), &all.nodes(0, j));
            all.nodes(all.nodes.rows() - 1, j) = layout_.shapes[static_cast<std::size_t>(j / nodes)];
            all.weights(j) = rule.weights(j % nodes) / static_cast<double>(count);
        }
        return all;
    }
    /// How many nodes of such a rule are left for centers and widths.
    Index budget_of_a_shape(Index budget) const {
        return budget / std::max<Index>(1, static_cast<Index>(layout_.shapes.size()));
    }

    /// The width at quantile u of the measure: lo (hi/lo)^u or lo + u (hi − lo).
    double at(double u) const {
        return spacing_ == Spacing::logarithmic ? widths_.lo * std::exp(u * std::log(widths_.hi / widths_.lo))
                                                : widths_.lo + u * (widths_.hi - widths_.lo);
    }

    /// The quantile of a width: the inverse of at(); 0 where all widths are one.
    double quantile(double w) const {
        if (widths_.hi == widths_.lo) return 0.0;
        return spacing_ == Spacing::logarithmic ? std::log(w / widths_.lo) / std::log(widths_.hi / widths_.lo)
                                                : (w - widths_.lo) / (widths_.hi - widths_.lo);
    }

    /// Levels equally spaced in log w, each the geometric middle of its cell, with the measure of the cell:
    /// (w, share).
    Quadrature levels(Index count) const {
        Quadrature rule{Matrix(1, count), Vector(count)};
        const double step = std::log(widths_.hi / widths_.lo) / static_cast<double>(count);
        for (Index l = 0; l < count; ++l) {
            const double below = widths_.lo * std::exp(step * static_cast<double>(l));
            rule.nodes(0, l) = std::min(widths_.hi, below * std::exp(0.5 * step));
            rule.weights(l) = widths_.hi == widths_.lo ? 1.0 / static_cast<double>(count)
                                                       : quantile(below * std::exp(step)) - quantile(below);
        }
        return rule;
    }

    void project(double* theta) const {
        const Interval bounds = layout_.scales() > 1 ? coordinate_widths_.value_or(widths_) : widths_;
        for (Index row = 0; row < layout_.scales(); ++row) theta[row] = bounds.clamp(theta[row]);
    }

private:
    Interval widths_;
    Spacing spacing_;
    std::optional<Interval> coordinate_widths_{};  // the bounds of one of several widths, where they differ
    ParameterLayout layout_{};
};

}  // namespace kernelet
