#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/lengths.hpp>
#include <kernelet/field/coefficient_field.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kernelet {

/// The end of an ascent.
struct Peak {
    Vector node{};    ///< (z; θ) in the fit's units
    Vector value{};   ///< ᾱ there, q
    double height{};  ///< ‖ᾱ‖
};

/// log ‖ᾱ‖ as a function of a node, in coordinates where a step of one is a width: z/w and log θ. Rows that the
/// domain does not free stay. Several widths of one node move together: the measure ρ has them equal, and only
/// the search sets them free. Holds references to the field and the domain.
template <KernelFamily Kernel, Domain DomainType>
class AscentCoordinates {
public:
    AscentCoordinates(const CoefficientField<Kernel>& field, const DomainType& domain, const Vector& start)
        : field_(field), domain_(domain), reference_(detail::norm(field.jet(start).value)) {}

    /// log ‖ᾱ‖ relative to the start, so that the unit of y cancels to the bit; its gradient; and ᾱ.
    struct Height {
        double value = -std::numeric_limits<double>::infinity();
        Vector gradient{};
        Vector field{};
    };

    Index rows() const { return domain_.rows(); }
    /// Whether ᾱ does not vanish at the start.
    bool usable() const { return reference_ > 0.0; }

    /// O(|supp λ| (d + p)).
    Height at(const Vector& node) const {
        FieldJet jet = field_.jet(node);
        Height out{.gradient = Vector::Zero(rows()), .field = std::move(jet.value)};
        const double height = detail::norm(out.field);
        if (!(height > 0.0)) return out;
        out.value = std::log(height / reference_);
        // ∇ log ‖ᾱ‖ = (∇ᾱ)ᵀ ᾱ / ‖ᾱ‖²
        detail::add_product_tn(out.gradient, jet.gradient, out.field, 1.0 / (height * height));
        for (Index row = 0; row < rows(); ++row)
            out.gradient(row) *= domain_.free(row) ? unit(node, row) : 0.0;
        share_widths(out.gradient);
        return out;
    }

    /// The node after a step, inside the domain.
    Vector moved(const Vector& from, const Vector& step) const {
        Vector to = from;
        for (Index row = 0; row < rows(); ++row) {
            if (row < domain_.dimension())
                to(row) += unit(from, row) * step(row);
            else
                to(row) *= std::exp(step(row));
        }
        domain_.project(to);
        for (Index row = 0; row < rows(); ++row)
            if (!domain_.free(row)) to(row) = from(row);
        return to;
    }

    /// The step made between two nodes, in the coordinates of the first.
    Vector difference(const Vector& from, const Vector& to) const {
        Vector step = Vector::Zero(rows());
        for (Index row = 0; row < rows(); ++row)
            if (domain_.free(row))
                step(row) = row < domain_.dimension() ? (to(row) - from(row)) / unit(from, row)
                                                      : std::log(to(row) / from(row));
        return step;
    }

    /// The gradient without the coordinates that press against the boundary of the domain.
    Vector inward(const Vector& node, const Vector& gradient) const {
        constexpr double probe = 1e-3;
        Vector step = gradient, reduced = gradient;
        detail::scale(step, probe / std::max(1e-300, detail::norm(gradient)));
        const Vector made = difference(node, moved(node, step));
        for (Index row = 0; row < rows(); ++row)
            if (made(row) == 0.0) reduced(row) = 0.0;
        return reduced;
    }

private:
    double unit(const Vector& node, Index row) const {
        return row < domain_.dimension()
                   ? detail::length_along(field_.kernel(), node, domain_.dimension(), row)
                   : 1.0;
    }

    void share_widths(Vector& gradient) const {
        Index widths = 0;  // free rows of θ
        double together = 0.0;
        for (Index row = domain_.dimension(); row < rows(); ++row) {
            widths += domain_.free(row) ? 1 : 0;
            together += gradient(row);
        }
        if (widths < 2) return;
        for (Index row = domain_.dimension(); row < rows(); ++row)
            gradient(row) = domain_.free(row) ? together / static_cast<double>(widths) : 0.0;
    }

    const CoefficientField<Kernel>& field_;
    const DomainType& domain_;
    double reference_;
};

namespace detail {

/// The inverse Hessian of BFGS after a step s and a change y of the gradient of what is minimised:
///     H ← (I − s yᵀ/ρ) H (I − y sᵀ/ρ) + s sᵀ/ρ,   ρ = sᵀy.
/// Unchanged where the curvature is not positive. O(n²).
template <class Scalar = double>
void bfgs_update(Matrix& inverse_hessian, const Vector& step, const Vector& change) {
    constexpr double least_curvature = 1e-12;
    const double curvature = dot<Scalar>(step, change);
    if (!(curvature > least_curvature * norm<Scalar>(step) * norm<Scalar>(change))) return;
    const Matrix hy = product<Scalar>(inverse_hessian, change);
    const double factor = (1.0 + dot<Scalar>(change, hy) / curvature) / curvature;
    add_outer<Scalar>(inverse_hessian, factor, step.data(), step.data());
    add_outer<Scalar>(inverse_hessian, -1.0 / curvature, hy.data(), step.data());
    add_outer<Scalar>(inverse_hessian, -1.0 / curvature, step.data(), hy.data());
}

}  // namespace detail

/// Ascends ‖ᾱ‖ from a node inside the domain, by a projected quasi-Newton method (BFGS) in AscentCoordinates. At
/// the boundary the gradient's outward part is dropped, so that maxima on the boundary are found as such. Each
/// step costs one jet, O(|supp λ| (d + p)).
template <KernelFamily Kernel, Domain DomainType>
Peak ascend(const CoefficientField<Kernel>& field, const DomainType& domain, const ConstVectorRef& start,
            Index max_steps) {
    constexpr double longest = 0.5;     // of one step, in widths: stay on the hill
    constexpr double shortest = 1e-10;  // of a step, in widths: arrived
    constexpr double flat = 1e-9;       // relative gradient: arrived
    constexpr double armijo = 1e-4;
    Vector node = start;
    domain.project(node);
    const AscentCoordinates<Kernel, DomainType> coordinates(field, domain, node);
    if (!coordinates.usable()) return {node, Vector::Zero(field.outputs()), 0.0};
    auto now = coordinates.at(node);
    Matrix inverse_hessian = Matrix::Identity(node.size(), node.size());
    for (Index iteration = 0; iteration < max_steps && std::isfinite(now.value); ++iteration) {
        const Vector reduced = coordinates.inward(node, now.gradient);
        if (detail::norm(reduced) <= flat) break;
        Vector direction = Vector::Zero(node.size());
        detail::add_product(direction, inverse_hessian, reduced);
        for (Index row = 0; row < node.size(); ++row)
            if (reduced(row) == 0.0) direction(row) = 0.0;
        if (!(detail::dot(direction, reduced) > 0.0)) {
            inverse_hessian = Matrix::Identity(node.size(), node.size());
            direction = reduced;
        }
        const double size = detail::norm(direction);
        if (size > longest) detail::scale(direction, longest / size);
        bool accepted = false;
        for (double length = 1.0; !accepted && length * std::min(size, longest) > shortest; length *= 0.5) {
            Vector scaled = direction;
            detail::scale(scaled, length);
            Vector next = coordinates.moved(node, scaled);
            auto then = coordinates.at(next);
            const Vector step = coordinates.difference(node, next);
            if (!(then.value >= now.value + armijo * detail::dot(now.gradient, step)) ||
                !(detail::norm(step) > shortest))
                continue;
            // of −log ‖ᾱ‖, whose curvature is positive at a maximum
            detail::bfgs_update(inverse_hessian, step, now.gradient - then.gradient);
            node = std::move(next);
            now = std::move(then);
            accepted = true;
        }
        if (!accepted) break;
    }
    const double height = detail::norm(now.field);
    return {std::move(node), std::move(now.field), height};
}

}  // namespace kernelet
