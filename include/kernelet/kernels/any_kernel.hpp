#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelet {

namespace detail {

/// A kernel that is translation invariant, k(x + t, z + t; θ) = k(x, z; θ), and whose logarithm is a scalar
/// product, log k = ⟨φ(x), c(z; θ)⟩: its values on a block of samples are exp of a product of matrices, and so
/// are its slopes.
template <class Kernel>
concept LogLinear = requires(const Kernel& kernel, Index dimension, const ConstMatrixRef& xt,
                             const ConstVectorRef& node, MatrixRef features, VectorRef vector) {
    { kernel.features(dimension) } -> std::same_as<Index>;
    kernel.features(xt, features);
    kernel.log_coefficients(node, vector);
    kernel.log_slopes(node, node, vector);
};

/// The interface of a kernel inside a fit, called once per tile of samples.
struct KernelInterface {
    virtual ~KernelInterface() = default;
    virtual std::string_view name() const = 0;
    virtual Index parameters(Index dimension) const = 0;
    virtual ParameterKind parameter_kind(Index row) const = 0;
    virtual std::vector<double> shapes() const = 0;
    virtual void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef values) const = 0;
    virtual void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef jet) const = 0;
    virtual double reach(const ConstVectorRef& node) const = 0;
    virtual std::optional<double> coherence(const ConstVectorRef& a, const ConstVectorRef& b) const = 0;
    virtual bool is_log_linear() const = 0;
    virtual Index features(Index dimension) const = 0;
    virtual void features(const ConstMatrixRef& xt, MatrixRef features) const = 0;
    virtual void log_coefficients(const ConstVectorRef& node, VectorRef c) const = 0;
    virtual void log_slopes(const ConstVectorRef& node, const ConstVectorRef& g, VectorRef slopes) const = 0;
};

/// The interface of one family; what a family lacks is infinite, empty or never called.
template <class Kernel>
struct KernelAdaptor final : KernelInterface {
    explicit KernelAdaptor(Kernel given) : kernel(std::move(given)) {}

    std::string_view name() const override { return Kernel::name; }
    Index parameters(Index dimension) const override { return kernel.parameters(dimension); }
    ParameterKind parameter_kind(Index row) const override { return kernel.parameter_kind(row); }
    std::vector<double> shapes() const override {
        if constexpr (requires { kernel.shapes(); })
            return kernel.shapes();
        else
            return {};
    }
    void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef values) const override {
        kernel.values(xt, node, values);
    }
    void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef jet) const override {
        kernel.jet(xt, node, jet);
    }
    double reach(const ConstVectorRef& node) const override { return reach_of(kernel, node); }
    std::optional<double> coherence([[maybe_unused]] const ConstVectorRef& a,
                                    [[maybe_unused]] const ConstVectorRef& b) const override {
        if constexpr (requires {
                          { kernel.coherence(a, b) } -> std::convertible_to<double>;
                      })
            return kernel.coherence(a, b);
        else
            return std::nullopt;
    }
    bool is_log_linear() const override { return LogLinear<Kernel>; }
    Index features([[maybe_unused]] Index dimension) const override {
        if constexpr (LogLinear<Kernel>)
            return kernel.features(dimension);
        else
            return 0;
    }
    void features([[maybe_unused]] const ConstMatrixRef& xt, [[maybe_unused]] MatrixRef out) const override {
        if constexpr (LogLinear<Kernel>) kernel.features(xt, out);
    }
    void log_coefficients([[maybe_unused]] const ConstVectorRef& node,
                          [[maybe_unused]] VectorRef c) const override {
        if constexpr (LogLinear<Kernel>) kernel.log_coefficients(node, c);
    }
    void log_slopes([[maybe_unused]] const ConstVectorRef& node, [[maybe_unused]] const ConstVectorRef& g,
                    [[maybe_unused]] VectorRef slopes) const override {
        if constexpr (LogLinear<Kernel>) kernel.log_slopes(node, g, slopes);
    }

    Kernel kernel;
};

/// Not inline, so that `extern template` spares a file its compilation.
template <class Kernel>
std::shared_ptr<const KernelInterface> erase_kernel(const Kernel& kernel) {
    return std::make_shared<const KernelAdaptor<Kernel>>(kernel);
}

}  // namespace detail

/// Any kernel family, as one type: a fit is compiled once for all of them. One virtual call per tile of 32
/// kernel values. Copies share what they hold, which is const. It has every optional member of a KernelFamily;
/// reach() is infinite and shapes() empty where the family has none.
class AnyKernel {
public:
    static constexpr std::string_view name = "any";

    template <class Kernel>
    requires(!std::same_as<Kernel, AnyKernel> && KernelFamily<Kernel>) AnyKernel(const Kernel& kernel)
        : held_(detail::erase_kernel(kernel)) {}

    /// The name of the family it holds.
    std::string_view held_name() const { return held_->name(); }
    Index parameters(Index dimension) const { return held_->parameters(dimension); }
    ParameterKind parameter_kind(Index row) const { return held_->parameter_kind(row); }
    std::vector<double> shapes() const { return held_->shapes(); }
    void values(const ConstMatrixRef& xt, const ConstVectorRef& node, VectorRef values) const {
        held_->values(xt, node, values);
    }
    void jet(const ConstMatrixRef& xt, const ConstVectorRef& node, MatrixRef jet) const {
        held_->jet(xt, node, jet);
    }
    double reach(const ConstVectorRef& node) const { return held_->reach(node); }
    /// None where the family has no closed form.
    std::optional<double> closed_coherence(const ConstVectorRef& a, const ConstVectorRef& b) const {
        return held_->coherence(a, b);
    }
    bool is_log_linear() const { return held_->is_log_linear(); }
    Index features(Index dimension) const { return held_->features(dimension); }
    void features(const ConstMatrixRef& xt, MatrixRef out) const { held_->features(xt, out); }
    void log_coefficients(const ConstVectorRef& node, VectorRef c) const { held_->log_coefficients(node, c); }
    void log_slopes(const ConstVectorRef& node, const ConstVectorRef& g, VectorRef slopes) const {
        held_->log_slopes(node, g, slopes);
    }

private:
    std::shared_ptr<const detail::KernelInterface> held_;
};

}  // namespace kernelet
