#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/types.hpp>

#include <algorithm>

/// An unpenalised intercept in the dual: f = ∫ α k + b. Maximising ⟨λ, f⟩ over b leaves the dual finite only
/// where Σ_i λ_i = 0 for each output; g is the same function on that plane.
namespace kernelet {

/// A λ near this one with Σ_i λ_i = 0: of its positive and its negative entries those with the larger sum
/// are scaled to the smaller. Signs stay, so λ does not leave the barrier cone of an unbounded C, as it would
/// where its mean is taken off. O(qn).
inline Matrix balanced(Matrix lambda) {
    for (Index o = 0; o < lambda.rows(); ++o) {
        double above = 0.0, below = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i) {
            above += std::max(lambda(o, i), 0.0);
            below -= std::min(lambda(o, i), 0.0);
        }
        const double least = std::min(above, below);
        for (Index i = 0; i < lambda.cols(); ++i)
            if (lambda(o, i) != 0.0) lambda(o, i) *= least / (lambda(o, i) > 0.0 ? above : below);
    }
    return lambda;
}

/// One more node of the augmented dual, k ≡ 1 without threshold or penalty: only its proximal term,
///     max over b of ⟨b, Σλ⟩ − (δ/2)‖b − b_k‖²,   attained at b = b_k + Σλ/δ.
struct ProximalIntercept {
    Vector anchor{};  ///< b_k, q; empty where there is no intercept

    bool exists() const { return anchor.size() > 0; }
    /// b
    Vector at(const Matrix& lambda, double delta) const {
        Vector b = anchor;
        detail::add_scaled(b, 1.0 / delta, detail::row_sums(lambda));
        return b;
    }
    /// The maximum: ⟨b_k, Σλ⟩ + ‖Σλ‖²/(2δ), 0 where there is no intercept.
    double value(const Matrix& lambda, double delta) const {
        if (!exists()) return 0.0;
        const Vector sum = detail::row_sums(lambda);
        return detail::dot(anchor, sum) + 0.5 / delta * detail::squared_norm(sum);
    }
};

}  // namespace kernelet
