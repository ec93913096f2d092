#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/losses/aggregate.hpp>
#include <kernelet/losses/noise_level.hpp>
#include <kernelet/losses/smoothing.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>

namespace kernelet {

namespace detail {

/// The interface of a loss inside a fit: one call per pass over all samples, and one per number that is needed
/// a few times per fit.
struct LossInterface {
    virtual ~LossInterface() = default;
    virtual std::string_view name() const = 0;
    virtual bool is_classification() const = 0;
    virtual bool is_squared() const = 0;
    virtual bool is_log_likelihood() const = 0;
    virtual bool adapts() const = 0;
    virtual std::shared_ptr<const LossInterface> adapted(double noise_deviation) const = 0;
    virtual double value(double prediction, double target) const = 0;
    virtual double derivative(double prediction, double target) const = 0;
    virtual double level(double tolerance) const = 0;
    virtual Interval interval(double target, double tolerance) const = 0;
    virtual double argmin(double lambda, double mu, double target, double radius) const = 0;
    virtual double farthest(double target, double tolerance, double samples) const = 0;
    virtual double noise_level(double deviation) const = 0;
    virtual double aggregate_minimum(const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                                     const ConstVectorRef& weights, double tolerance) const = 0;
    virtual Projection aggregate_projection(const ConstMatrixRef& point, const ConstMatrixRef& target,
                                            const ConstVectorRef& weights, double tolerance) const = 0;
    virtual double smoothed_cost(const SmoothingPass& pass) const = 0;
    virtual Matrix smoothed_pull(const SmoothingPass& pass) const = 0;
    virtual Vector smoothed_curvature(const SmoothingPass& pass) const = 0;
};

template <class Loss>
std::shared_ptr<const LossInterface> erase_loss(const Loss& loss);

/// The interface of one loss: its closed forms, or the searches of losses/separable.hpp and losses/aggregate.hpp.
template <class Loss>
struct LossAdaptor final : LossInterface {
    explicit LossAdaptor(Loss given) : loss(std::move(given)) {}

    std::string_view name() const override { return Loss::name; }
    bool is_classification() const override { return detail::is_classification<Loss>(); }
    bool is_squared() const override { return std::same_as<Loss, SquaredLoss>; }
    bool is_log_likelihood() const override {
        if constexpr (requires { Loss::log_likelihood; })
            return Loss::log_likelihood;
        else
            return false;
    }
    bool adapts() const override { return detail::adapts<Loss>; }
    std::shared_ptr<const LossInterface> adapted(double noise_deviation) const override {
        return erase_loss(detail::adapted(loss, noise_deviation));
    }
    double value(double prediction, double target) const override { return loss.value(prediction, target); }
    double derivative(double prediction, double target) const override {
        return loss.derivative(prediction, target);
    }
    double level(double tolerance) const override { return loss.level(tolerance); }
    Interval interval(double target, double tolerance) const override {
        return loss.interval(target, tolerance);
    }
    double argmin(double lambda, double mu, double target, double radius) const override {
        return detail::argmin(loss, lambda, mu, target, radius);
    }
    double farthest(double target, double tolerance, double samples) const override {
        return detail::farthest(loss, target, tolerance, samples);
    }
    double noise_level(double deviation) const override { return detail::noise_level(loss, deviation); }
    double aggregate_minimum(const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                             const ConstVectorRef& weights, double tolerance) const override {
        return detail::aggregate_minimum(loss, lambda, target, weights, tolerance);
    }
    Projection aggregate_projection(const ConstMatrixRef& point, const ConstMatrixRef& target,
                                    const ConstVectorRef& weights, double tolerance) const override {
        return detail::aggregate_projection(loss, point, target, weights, tolerance);
    }
    double smoothed_cost(const SmoothingPass& pass) const override {
        return detail::smoothed_cost(loss, pass);
    }
    Matrix smoothed_pull(const SmoothingPass& pass) const override {
        return detail::smoothed_pull(loss, pass);
    }
    Vector smoothed_curvature(const SmoothingPass& pass) const override {
        return detail::smoothed_curvature(loss, pass);
    }

    Loss loss;
};

/// Not inline, so that `extern template` spares a file its compilation.
template <class Loss>
std::shared_ptr<const LossInterface> erase_loss(const Loss& loss) {
    return std::make_shared<const LossAdaptor<Loss>>(loss);
}

}  // namespace detail

/// Any loss, as one type: a fit is compiled once for all of them. Copies share what they hold, which is const.
class AnyLoss {
public:
    static constexpr std::string_view name = "any";

    template <class Loss>
    requires(!std::same_as<Loss, AnyLoss> && ConvexLoss<Loss>) AnyLoss(const Loss& loss)
        : held_(detail::erase_loss(loss)) {}

    /// The name of the loss it holds.
    std::string_view held_name() const { return held_->name(); }
    bool is_classification() const { return held_->is_classification(); }
    bool is_squared() const { return held_->is_squared(); }
    /// Whether the loss is −log p(y | f) as it stands, without a scale to be estimated.
    bool is_log_likelihood() const { return held_->is_log_likelihood(); }
    /// Whether the loss chooses its scale by the noise.
    bool adapts() const { return held_->adapts(); }
    AnyLoss adapted(double noise_deviation) const { return AnyLoss(held_->adapted(noise_deviation)); }

    double value(double prediction, double target) const { return held_->value(prediction, target); }
    double derivative(double prediction, double target) const {
        return held_->derivative(prediction, target);
    }
    double level(double tolerance) const { return held_->level(tolerance); }
    Interval interval(double target, double tolerance) const { return held_->interval(target, tolerance); }
    double argmin(double lambda, double mu, double target, double radius) const {
        return held_->argmin(lambda, mu, target, radius);
    }
    double farthest_of(double target, double tolerance, double samples) const {
        return held_->farthest(target, tolerance, samples);
    }
    double noise_level(double deviation) const { return held_->noise_level(deviation); }
    double aggregate_minimum(const ConstMatrixRef& lambda, const ConstMatrixRef& target,
                             const ConstVectorRef& weights, double tolerance) const {
        return held_->aggregate_minimum(lambda, target, weights, tolerance);
    }
    Projection aggregate_projection(const ConstMatrixRef& point, const ConstMatrixRef& target,
                                    const ConstVectorRef& weights, double tolerance) const {
        return held_->aggregate_projection(point, target, weights, tolerance);
    }
    double smoothed_cost(const detail::SmoothingPass& pass) const { return held_->smoothed_cost(pass); }
    Matrix smoothed_pull(const detail::SmoothingPass& pass) const { return held_->smoothed_pull(pass); }
    Vector smoothed_curvature(const detail::SmoothingPass& pass) const {
        return held_->smoothed_curvature(pass);
    }

private:
    explicit AnyLoss(std::shared_ptr<const detail::LossInterface> held) : held_(std::move(held)) {}

    std::shared_ptr<const detail::LossInterface> held_;
};

}  // namespace kernelet
