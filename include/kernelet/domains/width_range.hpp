#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <cmath>

namespace kernelet {

/// How widths are spread over their interval: evenly in log w (many scales at once), or evenly in w (the
/// paper).
enum class Spacing { logarithmic, uniform };

/// Nodes and weights for integrals under a domain's measure ρ: ∫ h dρ ≈ Σ_j weights_j h(nodes_j), Σ weights
/// = 1.
struct Quadrature {
    Matrix nodes{};
    Vector weights{};
};

/// The measure of the parameter θ that all domains share: one width drawn from an interval, written to all p
/// rows of θ. A family of several widths thus starts isotropic and is set free by the slide.
class WidthRange {
public:
    WidthRange(Interval widths, Spacing spacing) : widths_(widths), spacing_(spacing) {
        detail::require_widths(widths, "widths");
    }

    Interval interval() const { return widths_; }

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

    void project(VectorRef theta) const {
        for (Index row = 0; row < theta.size(); ++row) theta(row) = widths_.clamp(theta(row));
    }

private:
    Interval widths_;
    Spacing spacing_;
};

}  // namespace kernelet
