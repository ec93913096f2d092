#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/domains/width_range.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// PII of the paper: centers uniform on a box of R^d, widths from an interval; centers and widths are both free.
class Box {
public:
    Box(Vector lo, Vector hi, Interval widths, Spacing spacing = Spacing::logarithmic)
        : lo_(std::move(lo)), hi_(std::move(hi)), widths_(widths, spacing) {
        check_corners();
    }

    Box(double lo, double hi, Interval widths, Spacing spacing = Spacing::logarithmic)
        : Box(Vector::Constant(1, lo), Vector::Constant(1, hi), widths, spacing) {}

    /// Widths from 1/200 to 1/2 of the box's diagonal.
    Box(Vector lo, Vector hi)
        : lo_(std::move(lo)), hi_(std::move(hi)), widths_(default_widths(), Spacing::logarithmic) {}

    Box(double lo, double hi) : Box(Vector::Constant(1, lo), Vector::Constant(1, hi)) {}

    const Vector& lo() const { return lo_; }
    const Vector& hi() const { return hi_; }
    Interval widths() const { return widths_.interval(); }

    Index dimension() const { return lo_.size(); }
    Index rows() const { return dimension() + widths_.rows(); }
    bool free(Index row) const { return row < dimension() || widths_.free(row - dimension()); }

    /// This domain for a kernel of another parameter.
    Box with_parameters(ParameterLayout layout) const {
        Box copy = *this;
        copy.widths_ = widths_.with_parameters(std::move(layout));
        return copy;
    }

    /// This domain, with a separate interval in which each of several widths of a kernel may move.
    Box with_coordinate_widths(Interval widths) const {
        Box copy = *this;
        copy.widths_ = widths_.with_coordinate_widths(widths);
        return copy;
    }

    /// The image of the uniform measure on the unit cube of d + 1 coordinates, and one for a shape, is ρ.
    Index uniforms() const { return dimension() + 1 + widths_.shape_uniforms(); }

    void place(const ConstVectorRef& u, VectorRef node) const {
        const Index d = dimension();
        for (Index c = 0; c < d; ++c) node(c) = lo_(c) + u(c) * (hi_(c) - lo_(c));
        widths_.place(u(d), u(u.size() - 1), node.data() + d);
    }

    void project(VectorRef node) const {
        const Index d = dimension();
        detail::clamp_to_box(node.data(), lo_, hi_);
        widths_.project(node.data() + d);
    }

    /// A multiresolution grid: levels equally spaced in log w, and at each level centers whose spacing is a
    /// fixed share of that level's width: as fine as the kernel needs and no finer. The finest share within
    /// `budget` nodes is taken; none where even the coarsest does not fit (d beyond 3, usually).
    std::optional<Quadrature> rule(Index budget) const {
        for (double share = finest_share; share <= coarsest_share; share *= 1.1)
            if (const double total = visit_levels(share, [](const auto&...) {});
                total <= static_cast<double>(widths_.budget_of_a_shape(budget)))
                return widths_.with_shapes(grid(share, static_cast<Index>(total)));
        return std::nullopt;
    }

private:
    // Adjacent Gaussians w/2 apart, or a quarter apart in log w, have coherence 0.94 and 0.98: a finer grid
    // adds nodes, not functions. Past 2w the gaps between centers show in the integral.
    static constexpr double finest_share = 0.5;
    static constexpr double coarsest_share = 2.0;
    static constexpr double log_step_of_share = 0.5;

    /// Calls visit(w, measure of the level, centers along each coordinate, their product) per level; returns
    /// the number of nodes.
    template <class Visit>
    double visit_levels(double share, const Visit& visit) const {
        const Interval range = widths_.interval();
        const double span = std::log(range.hi / range.lo);
        const Quadrature levels = widths_.levels(1 + static_cast<Index>(span / (log_step_of_share * share)));
        double total = 0.0;
        for (Index l = 0; l < levels.weights.size(); ++l) {
            const double w = levels.nodes(0, l);
            std::vector<double> counts;
            double cells = 1.0;
            for (Index c = 0; c < dimension(); ++c) {
                counts.push_back(std::max(std::ceil((hi_(c) - lo_(c)) / (share * w)), 1.0));
                cells *= counts.back();
            }
            total += cells;
            visit(w, levels.weights(l), counts, cells);
        }
        return total;
    }

    Quadrature grid(double share, Index total) const {
        const Index d = dimension();
        Quadrature rule{Matrix(rows(), total), Vector(total)};
        Index next = 0;
        visit_levels(share, [&](double w, double measure, const std::vector<double>& counts, double cells) {
            for (Index cell = 0; cell < static_cast<Index>(cells); ++cell, ++next) {
                auto rest = static_cast<double>(cell);
                for (Index c = 0; c < d; ++c) {
                    const double count = counts[static_cast<std::size_t>(c)];
                    const double position = std::fmod(rest, count);
                    rest = std::floor(rest / count);
                    rule.nodes(c, next) = lo_(c) + (position + 0.5) / count * (hi_(c) - lo_(c));
                }
                for (Index row = d; row < rows(); ++row) rule.nodes(row, next) = w;
                rule.weights(next) = measure / cells;
            }
        });
        return rule;
    }

    void check_corners() const {
        detail::require(lo_.size() > 0, "box.lo is empty; a box needs at least one coordinate");
        detail::require(lo_.size() == hi_.size(), "box.lo has ", lo_.size(), " coordinates and box.hi has ",
                        hi_.size());
        detail::require_finite(lo_, "box.lo");
        detail::require_finite(hi_, "box.hi");
        for (Index c = 0; c < lo_.size(); ++c)
            detail::require(lo_(c) <= hi_(c), "box.lo(", c, ") = ", lo_(c), " must be <= box.hi(", c,
                            ") = ", hi_(c));
    }

    Interval default_widths() const {
        check_corners();
        double squares = 0.0;
        for (Index c = 0; c < dimension(); ++c) squares += (hi_(c) - lo_(c)) * (hi_(c) - lo_(c));
        const double diagonal = std::sqrt(squares);
        detail::require(diagonal > 0.0, "box has no extent; give its widths as a third argument");
        return {diagonal / 200.0, diagonal / 2.0};
    }

    Vector lo_, hi_;
    WidthRange widths_;
};

}  // namespace kernelet
