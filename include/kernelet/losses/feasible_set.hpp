#pragma once

#include <kernelet/losses/squared.hpp>
#include <kernelet/types.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace kernelet {

/// C = {ŷ : the loss is within tolerance}, all that the profiled dual knows of the loss:
///     g(λ) = min over ŷ in C of ⟨λ, ŷ⟩ − Φ(λ).
/// Per sample C is a product of intervals, whatever the loss; aggregate it is one level set Σ wℓ ≤ ε Σ w, and
/// the loss knows its support function and projection. All matrices are q x n.
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

    /// min over C of ⟨λ, ŷ⟩; −∞ where λ leaves the set's barrier cone. O(qn).
    double minimum(const ConstMatrixRef& lambda) const {
        if (scope_ == Scope::aggregate)
            return loss_.aggregate_minimum(lambda, target_, weights_, tolerances_(0));
        double sum = 0.0;
        for (Index i = 0; i < lambda.cols(); ++i)
            for (Index o = 0; o < lambda.rows(); ++o) {
                const double multiplier = lambda(o, i);
                if (multiplier == 0.0) continue;  // 0·∞ = 0
                const Interval bounds = loss_.interval(target_(o, i), tolerances_(i));
                sum += multiplier * (multiplier > 0.0 ? bounds.lo : bounds.hi);
            }
        return sum;
    }

    /// The nearest point of C. O(qn).
    Projection project(const ConstMatrixRef& point) const {
        if (scope_ == Scope::aggregate)
            return loss_.aggregate_projection(point, target_, weights_, tolerances_(0));
        Projection result{point, Matrix::Ones(point.rows(), point.cols()),
                          Matrix::Zero(point.rows(), point.cols())};
        for (Index i = 0; i < point.cols(); ++i)
            for (Index o = 0; o < point.rows(); ++o) {
                const Interval bounds = loss_.interval(target_(o, i), tolerances_(i));
                result.point(o, i) = bounds.clamp(point(o, i));
                result.diagonal(o, i) = bounds.contains(point(o, i)) && bounds.lo < bounds.hi ? 1.0 : 0.0;
            }
        return result;
    }

    /// The proximal step of λ ↦ −min⟨λ, ŷ⟩: by Moreau's identity v + η P_C(−v/η).
    Matrix prox(const ConstMatrixRef& v, double eta) const { return v + eta * project(-v / eta).point; }

    /// How far ŷ is outside of C, in the unit of ŷ: the root of the mean squared distance (aggregate), or the
    /// largest distance of one sample.
    double violation(const ConstMatrixRef& prediction) const {
        const Matrix distance = prediction - project(prediction).point;
        if (scope_ == Scope::per_sample) return distance.size() == 0 ? 0.0 : distance.cwiseAbs().maxCoeff();
        return distance.norm() / std::sqrt(static_cast<double>(std::max<Index>(1, distance.size())));
    }

    /// The loss of a prediction in the tolerance's own terms: mean weighted loss, or the worst sample's.
    /// O(qn).
    double mean_loss(const ConstMatrixRef& prediction) const {
        double sum = 0.0;
        for (Index i = 0; i < prediction.cols(); ++i)
            for (Index o = 0; o < prediction.rows(); ++o)
                sum += weights_(i) * loss_.value(prediction(o, i), target_(o, i));
        return sum / (weights_.sum() * static_cast<double>(prediction.rows()));
    }

private:
    Loss loss_;
    Matrix target_;  // q x n
    Scope scope_;
    Vector tolerances_;  // n
    Vector weights_;     // n
};

}  // namespace kernelet
