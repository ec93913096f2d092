#pragma once

#include <kernelet/types.hpp>

#include <cmath>

/// The cost of a coefficient, ½a² + γ·1[a ≠ 0], and its conjugates, through the threshold τ = √(2γ). For q
/// outputs a is a vector and everything acts on its length.
namespace kernelet::penalty {

inline double threshold(double gamma) { return std::sqrt(2.0 * gamma); }

/// The conjugate [½ā² − γ]_+ of a length ā: what one node adds to Φ (paper (12)).
inline double conjugate(double length, double tau) {
    return length > tau ? 0.5 * (length * length - tau * tau) : 0.0;
}

/// φ**(a): the convex envelope, τ|a| up to τ and ½a² + γ beyond. A node of a quadrature is a cell of which a
/// fraction |a|/τ may be on; this is what that costs.
inline double envelope(double length, double tau) {
    return length <= tau ? tau * length : 0.5 * (length * length + tau * tau);
}

/// argmax over a of ⟨a, ā⟩ − φ**(a) − (δ/2)‖a − c‖², as a function of the length of b = ā + δc; along b.
///     0 up to τ,   (|b| − τ)/δ up to (1 + δ)τ,   |b|/(1 + δ) beyond.
inline double proximal_length(double length, double tau, double delta) {
    if (length <= tau) return 0.0;
    if (length < (1.0 + delta) * tau) return (length - tau) / delta;
    return length / (1.0 + delta);
}

/// The derivative of proximal_length in the length of b. Without a threshold nothing is ever off.
inline double proximal_slope(double length, double tau, double delta) {
    if (length <= tau && tau > 0.0) return 0.0;
    if (length < (1.0 + delta) * tau) return 1.0 / delta;
    return 1.0 / (1.0 + delta);
}

}  // namespace kernelet::penalty
