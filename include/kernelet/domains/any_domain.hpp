#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

namespace kernelet {

/// Any domain, as one type: a fit is compiled once for all of them, and `extern template` can spare a file
/// even that. Its members are called once per node and never per sample: the call through a pointer is
/// cheap compared with the n kernel values of a node. Copies share what they hold, which is const.
class AnyDomain {
public:
    /// Not of itself, and asked first: whether that is a domain depends on how it is copied.
    template <class DomainType>
    requires(!std::same_as<DomainType, AnyDomain> && Domain<DomainType>) AnyDomain(DomainType domain)
        : held_(std::make_shared<const Held<DomainType>>(std::move(domain))) {}

    Interval widths() const { return held_->widths(); }
    Index dimension() const { return held_->dimension(); }
    Index rows() const { return held_->rows(); }
    bool free(Index row) const { return held_->free(row); }
    AnyDomain with_parameters(const ParameterLayout& layout) const { return held_->with_parameters(layout); }
    Index uniforms() const { return held_->uniforms(); }
    void place(const ConstVectorRef& u, VectorRef node) const { held_->place(u, node); }
    void project(VectorRef node) const { held_->project(node); }
    std::optional<Quadrature> rule(Index budget) const { return held_->rule(budget); }

private:
    struct Interface {
        virtual ~Interface() = default;
        virtual Interval widths() const = 0;
        virtual Index dimension() const = 0;
        virtual Index rows() const = 0;
        virtual bool free(Index row) const = 0;
        virtual AnyDomain with_parameters(const ParameterLayout& layout) const = 0;
        virtual Index uniforms() const = 0;
        virtual void place(const ConstVectorRef& u, VectorRef node) const = 0;
        virtual void project(VectorRef node) const = 0;
        virtual std::optional<Quadrature> rule(Index budget) const = 0;
    };

    template <class DomainType>
    struct Held final : Interface {
        explicit Held(DomainType given) : domain(std::move(given)) {}
        Interval widths() const override { return domain.widths(); }
        Index dimension() const override { return domain.dimension(); }
        Index rows() const override { return domain.rows(); }
        bool free(Index row) const override { return domain.free(row); }
        AnyDomain with_parameters(const ParameterLayout& layout) const override {
            return domain.with_parameters(layout);
        }
        Index uniforms() const override { return domain.uniforms(); }
        void place(const ConstVectorRef& u, VectorRef node) const override { domain.place(u, node); }
        void project(VectorRef node) const override { domain.project(node); }
        std::optional<Quadrature> rule(Index budget) const override { return domain.rule(budget); }

        DomainType domain;
    };

    std::shared_ptr<const Interface> held_;
};

}  // namespace kernelet
