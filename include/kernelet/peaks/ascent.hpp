#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/lengths.hpp>
#include <kernelet/field/coefficient_field.hpp>

#include <cmath>
#include <limits>

namespace kernelet {

/// Where an ascent arrived.
struct Peak {
    Vector node{};    ///< (z; θ) in the fit's units
    Vector value{};   ///< ᾱ there, q
    double height{};  ///< ‖ᾱ‖
};

/// Ascends ½‖ᾱ‖² from a node inside the domain, by a projected quasi-Newton method (BFGS) in coordinates
/// where a step of one is a width: z/w and log θ. Coordinates the domain does not free stay; at the boundary
/// the gradient's outward part is dropped, so maxima on the boundary are found as such. Several widths of one
/// node move together: the measure ρ has them equal, and only the slide sets them free. Each step costs one
/// jet, O(|supp λ| (d + p)).
template <KernelFamily Kernel, Domain Omega>
Peak ascend(const CoefficientField<Kernel>& field, const Omega& domain, const ConstVectorRef& start,
            Index max_steps) {
    constexpr double longest = 0.5;     // of one step, in widths: stay on the hill
    constexpr double shortest = 1e-10;  // of a step, in widths: arrived
    constexpr double flat = 1e-9;       // relative gradient: arrived
    constexpr double armijo = 1e-4;
    const Index d = domain.dimension();
    const Index rows = domain.rows();

    Vector node = start;
    domain.project(node);
    // log ‖ᾱ‖, relative to the start so that the unit of y cancels to the bit, and its gradient in the scaled
    // coordinates
    const double reference = field.jet(node).value.norm();
    if (!(reference > 0.0)) return {node, Vector::Zero(field.outputs()), 0.0};
    const auto climb = [&](const Vector& at, double& value, Vector& gradient, Vector& field_value) {
        const FieldJet jet = field.jet(at);
        field_value = jet.value;
        const double height = jet.value.norm();
        value = height > 0.0 ? std::log(height / reference) : -std::numeric_limits<double>::infinity();
        gradient.setZero(rows);
        if (!(height > 0.0)) return;
        gradient = jet.gradient.transpose() * jet.value / (height * height);
        for (Index c = 0; c < d; ++c) gradient(c) *= detail::length_along(field.kernel(), at, d, c);
        for (Index row = 0; row < rows; ++row)
            if (!domain.free(row)) gradient(row) = 0.0;
        Index widths = 0;  // free rows of θ
        for (Index row = d; row < rows; ++row) widths += domain.free(row) ? 1 : 0;
        if (widths > 1) {
            const double together = gradient.tail(rows - d).sum() / static_cast<double>(widths);
            for (Index row = d; row < rows; ++row) gradient(row) = domain.free(row) ? together : 0.0;
        }
    };
    const auto moved = [&](const Vector& from, const Vector& step) {
        Vector to = from;
        for (Index c = 0; c < d; ++c) to(c) += detail::length_along(field.kernel(), from, d, c) * step(c);
        to.tail(rows - d).array() *= step.tail(rows - d).array().exp();
        domain.project(to);
        for (Index row = 0; row < rows; ++row)
            if (!domain.free(row)) to(row) = from(row);
        return to;
    };
    // The step actually made between two nodes, in the coordinates of the first.
    const auto difference = [&](const Vector& from, const Vector& to) {
        Vector step = Vector::Zero(rows);
        for (Index row = 0; row < rows; ++row)
            if (domain.free(row))
                step(row) = row < d
                                ? (to(row) - from(row)) / detail::length_along(field.kernel(), from, d, row)
                                : std::log(to(row) / from(row));
        return step;
    };

    double value = 0.0;
    Vector gradient(rows), field_value;
    climb(node, value, gradient, field_value);
    Matrix inverse_hessian = Matrix::Identity(rows, rows);
    for (Index iteration = 0; iteration < max_steps && std::isfinite(value); ++iteration) {
        // Drop coordinates pressed against the boundary.
        Vector reduced = gradient;
        const Vector probe =
            difference(node, moved(node, 1e-3 * gradient / std::max(1e-300, gradient.norm())));
        for (Index row = 0; row < rows; ++row)
            if (probe(row) == 0.0) reduced(row) = 0.0;
        if (reduced.norm() <= flat) break;
        Vector direction = inverse_hessian * reduced;
        for (Index row = 0; row < rows; ++row)
            if (reduced(row) == 0.0) direction(row) = 0.0;
        if (!(direction.dot(reduced) > 0.0)) {
            inverse_hessian.setIdentity();
            direction = reduced;
        }
        if (direction.norm() > longest) direction *= longest / direction.norm();
        bool accepted = false;
        for (double length = 1.0; length * direction.norm() > shortest; length *= 0.5) {
            const Vector next = moved(node, length * direction);
            double next_value = 0.0;
            Vector next_gradient(rows), next_field;
            climb(next, next_value, next_gradient, next_field);
            const Vector step = difference(node, next);
            if (!(next_value >= value + armijo * gradient.dot(step)) || !(step.norm() > shortest)) continue;
            const Vector change = gradient - next_gradient;  // of −log‖ᾱ‖: positive curvature at a maximum
            const double curvature = step.dot(change);
            if (curvature > 1e-12 * step.norm() * change.norm()) {
                const Matrix left = Matrix::Identity(rows, rows) - step * change.transpose() / curvature;
                inverse_hessian =
                    left * inverse_hessian * left.transpose() + step * step.transpose() / curvature;
            }
            node = next;
            value = next_value;
            gradient = next_gradient;
            field_value = next_field;
            accepted = true;
            break;
        }
        if (!accepted) break;
    }
    return {node, field_value, field_value.norm()};
}

}  // namespace kernelet
