#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/losses/separable.hpp>

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Kernels and losses chosen when the program runs: one instance of fit() for a whole suite, where each pair
/// of types would take half a minute to compile.
namespace support {

using kernelet::Index;

/// Families of any parameter; shapes() is empty where a family has none.
template <class... Families>
class AnyKernel {
public:
    static constexpr std::string_view name = "any";

    template <class Kernel>
    AnyKernel(Kernel kernel) : kernel_(std::move(kernel)) {}
    AnyKernel() = default;

    Index parameters(Index d) const {
        return std::visit([&](const auto& k) { return k.parameters(d); }, kernel_);
    }
    kernelet::ParameterKind parameter_kind(Index row) const {
        return std::visit([&](const auto& k) { return k.parameter_kind(row); }, kernel_);
    }
    std::vector<double> shapes() const {
        return std::visit([](const auto& k) { return kernelet::parameter_layout(k, 1).shapes; }, kernel_);
    }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        std::visit([&](const auto& of) { of.values(xt, node, k); }, kernel_);
    }
    void jet(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
             kernelet::MatrixRef j) const {
        std::visit([&](const auto& of) { of.jet(xt, node, j); }, kernel_);
    }

private:
    std::variant<Families...> kernel_{};
};

/// Losses; sums over samples go by the generic searches.
template <class... Losses>
class AnyLoss {
public:
    static constexpr std::string_view name = "any";
    static constexpr bool classification = (kernelet::detail::is_classification<Losses>() && ...);

    template <class Loss>
    AnyLoss(Loss loss) : loss_(std::move(loss)) {}
    AnyLoss() = default;

    double value(double prediction, double target) const {
        return std::visit([&](const auto& l) { return l.value(prediction, target); }, loss_);
    }
    double derivative(double prediction, double target) const {
        return std::visit([&](const auto& l) { return l.derivative(prediction, target); }, loss_);
    }
    double level(double tolerance) const {
        return std::visit([&](const auto& l) { return l.level(tolerance); }, loss_);
    }
    kernelet::Interval interval(double target, double tolerance) const {
        return std::visit([&](const auto& l) { return l.interval(target, tolerance); }, loss_);
    }
    double proximal(double point, double kappa, double target) const {
        return std::visit([&](const auto& l) { return kernelet::detail::proximal(l, point, kappa, target); },
                          loss_);
    }
    double curvature(double prediction, double target) const {
        return std::visit([&](const auto& l) { return l.curvature(prediction, target); }, loss_);
    }
    double conjugate(double slope, double target) const {
        return std::visit([&](const auto& l) { return kernelet::detail::conjugate(l, slope, target); },
                          loss_);
    }
    double argmin(double lambda, double mu, double target, double radius) const {
        return std::visit(
            [&](const auto& l) { return kernelet::detail::argmin(l, lambda, mu, target, radius); }, loss_);
    }
    AnyLoss adapted(double noise) const {
        return std::visit([&](const auto& l) -> AnyLoss { return kernelet::detail::adapted(l, noise); },
                          loss_);
    }

private:
    std::variant<Losses...> loss_{};
};

}  // namespace support
