#pragma once

#include <kernelet/domains/box.hpp>

namespace kernelet {

/// PII' of the paper: centers uniform on a box, one width for all; only the centers are free.
class FixedWidth {
public:
    FixedWidth(const Box& box, double width) : box_(box.lo(), box.hi(), checked(width)) {}
    FixedWidth(Vector lo, Vector hi, double width) : box_(std::move(lo), std::move(hi), checked(width)) {}
    FixedWidth(double lo, double hi, double width) : box_(lo, hi, checked(width)) {}

    const Box& box() const { return box_; }
    Interval widths() const { return box_.widths(); }
    Index dimension() const { return box_.dimension(); }
    Index rows() const { return box_.rows(); }
    bool free(Index row) const { return row < dimension(); }

    FixedWidth with_parameters(ParameterLayout layout) const {
        FixedWidth copy = *this;
        copy.box_ = box_.with_parameters(std::move(layout));
        return copy;
    }

    Index uniforms() const { return box_.uniforms(); }
    void place(const ConstVectorRef& u, VectorRef node) const { box_.place(u, node); }
    void project(VectorRef node) const { box_.project(node); }
    std::optional<Quadrature> rule(Index budget) const { return box_.rule(budget); }

private:
    static Interval checked(double width) {
        detail::require_positive(width, "width");
        return {width, width};
    }

    Box box_;  // whose interval of widths is a point
};

}  // namespace kernelet
