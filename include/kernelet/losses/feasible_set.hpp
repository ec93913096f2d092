#pragma once

#include <kernelet/losses/aggregate.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

/// C = {ŷ : the loss is within tolerance}, all that the profiled dual needs of the loss:
///     g(λ) = min over ŷ in C of ⟨λ, ŷ⟩ − Φ(λ).
/// Per sample C is a product of intervals, whatever the loss; aggregate it is one level set Σ wℓ ≤ ε Σ w, by
/// the closed forms of the loss or by losses/aggregate.hpp. All matrices are q x n.
template <class Loss>
class FeasibleSet {
public:
    FeasibleSet(Loss loss, Matrix target, Scope scope, Vector tolerances, Vector weights)
        : loss_(std::move(loss)),
          target_(std::move(target)),
          scope_(scope),
          tolerances_(std::move(tolerances)),
          weights_(std::move(weights)) {}

    const Loss& loss() const { return loss_; }
    const Matrix& target() const { return target_; }
    const Vector& weights() const { return weights_; }
    Scope scope() const { return scope_; }
    double tolerance(Index i) const { return tolerances_(i); }

    /// min over C of ⟨λ, ŷ⟩: the minimum of the paper's (11) with μ eliminated; −∞ where λ leaves the set's barrier cone. O(qn).
    double minimum(const ConstMatrixRef& lambda) const {
        return scope_ == Scope::aggregate
                   ? detail::aggregate_minimum(loss_, lambda, target_, weights_, tolerances_(0))
                   : detail::interval_minimum(loss_, lambda, target_, tolerances_);
    }

    /// The nearest point of C. O(qn).
    Projection project(const ConstMatrixRef& point) const {
        return scope_ == Scope::aggregate
                   ? detail::aggregate_projection(loss_, point, target_, weights_, tolerances_(0))
                   : detail::interval_projection(loss_, point, target_, tolerances_);
    }

    /// The nearest λ at which the minimum is finite: zero where C is unbounded on the side that λ points away
    /// from (hinge and logistic: yλ ≥ 0), λ itself where C is bounded. A sum of losses is unbounded where its
    /// terms are. O(qn).
    Matrix into_barrier_cone(Matrix lambda) const {
        for (Index i = 0; i < lambda.cols(); ++i)
            for (Index o = 0; o < lambda.rows(); ++o)
                if (detail::unbounded(loss_.interval(target_(o, i), tolerances_(i)), lambda(o, i)))
                    lambda(o, i) = 0.0;
        return lambda;
    }

    /// The proximal step of λ ↦ −min⟨λ, ŷ⟩: by Moreau's identity v + η P_C(−v/η), without the signs that
    /// rounding would turn.
    Matrix prox(const ConstMatrixRef& v, double eta) const {
        Matrix scaled = v;
        detail::scale(scaled, -1.0 / eta);
        Matrix next = v;
        detail::add_scaled(next, eta, project(scaled).point);
        return into_barrier_cone(std::move(next));
    }

    /// How far ŷ is outside of C, in the unit of ŷ: the root of the mean squared distance (aggregate), or the
    /// largest distance of one sample.
    double violation(const ConstMatrixRef& prediction) const {
        Matrix distance = prediction;
        detail::add_scaled(distance, -1.0, project(prediction).point);
        if (scope_ == Scope::per_sample) return detail::max_abs(distance);
        return detail::root_mean_square(distance);
    }

    /// The least tolerance a prediction would meet: for the squared loss the RMS residual, or the largest.
    /// O(qn).
    double residual(const ConstMatrixRef& prediction) const {
        if (scope_ == Scope::aggregate) return detail::tolerance_of_level(loss_, mean_loss(prediction));
        double worst = 0.0;
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                worst = std::max(worst, loss_.value(prediction(o, i), target_(o, i)));
        return detail::tolerance_of_level(loss_, worst);
    }

    /// The mean weighted loss of a prediction. O(qn).
    double mean_loss(const ConstMatrixRef& prediction) const {
        double sum = 0.0;
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                sum += weights_(i) * loss_.value(prediction(o, i), target_(o, i));
        return sum / (detail::sum(weights_) * static_cast<double>(prediction.rows()));
    }

private:
    Loss loss_;
    Matrix target_;  // q x n
    Scope scope_;
    Vector tolerances_;  // n
    Vector weights_;     // n
};

}  // namespace kernelet
