#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/detail/watch.hpp>
#include <kernelet/dual/dual_solution.hpp>
#include <kernelet/dual/penalty.hpp>
#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/types.hpp>

#include <optional>
#include <string_view>

namespace kernelet {

/// The input of a dual solver: the samples only through two linear maps, the loss only through its feasible
/// set. A solver written against these maps does not depend on where the samples are. Holds references:
/// it lives no longer than what it was made of.
template <class Kernel, class Loss, class Domain>
class DualProblem {
public:
    DualProblem(const Kernel& kernel_, const Domain& domain_, const detail::TiledPoints& points_,
                const FeasibleSet<Loss>& feasible_, double gamma_ = 0.0, std::uint64_t seed_ = 1)
        : kernel(kernel_),
          domain(domain_),
          points(points_),
          feasible(feasible_),
          gamma(gamma_),
          seed(seed_) {}

    const Kernel& kernel;
    const Domain& domain;
    const detail::TiledPoints& points;
    const FeasibleSet<Loss>& feasible;
    double gamma;
    std::uint64_t seed;
    const Matrix* warm_start = nullptr;       ///< a λ to begin from, q x n, or none
    const Quadrature* fixed_nodes = nullptr;  ///< nodes to integrate on, or the domain's own
    /// f = ∫αk + trend, unpenalised: Σ_i λ_i = 0 for each output, and Σ_i λ_i x_i = 0 where it is linear.
    Trend trend = Trend::none;
    double slack = 1.0;  ///< a solution may exceed the goals of gap and violation by this factor
    detail::Watch* watch =
        nullptr;  ///< of the fit, or none: field() and values() throw Interrupted after a stop

    Index samples() const { return points.size(); }
    Index outputs() const { return feasible.target().rows(); }

    bool has_trend() const { return trend == Trend::constant || trend == Trend::linear; }

    /// Throws where there is a trend, for a solver without one.
    void refuse_trend(std::string_view solver) const {
        detail::require(!has_trend(), "options.intercept or options.trend is given, but ", solver,
                        " solves the dual without a trend; use AugmentedNewton or the default solver");
    }

    /// ᾱ(z, w) = Σ_i λ_i k(x_i, z; w) at nodes (paper (17)): q x B.
    Matrix field(const ConstMatrixRef& lambda, const ConstMatrixRef& nodes) const {
        return detail::analyze(kernel, points, lambda, nodes, poll());
    }

    /// Σ_j a_j k(x_i, node_j): q x n. With a = ρα the integral f(x_i) = ∫ αk dρ (paper (5)).
    Matrix values(const ConstMatrixRef& nodes, const ConstMatrixRef& a) const {
        return detail::synthesize(kernel, points, nodes, a, poll());
    }

    /// To be called in long loops; polls the watch.
    detail::Poll poll() const { return detail::poll_of(watch); }

    /// The nodes given; else the domain's rule within `budget` nodes, or as many drawn.
    Quadrature nodes(Index budget) const {
        if (fixed_nodes != nullptr) return *fixed_nodes;
        std::optional<Quadrature> rule = domain.rule(budget);
        return rule ? std::move(*rule) : draw(0, budget);
    }

    /// Nodes first ... first + count − 1 of this problem's low-discrepancy sequence under ρ, with equal
    /// weights.
    Quadrature draw(Index first, Index count, std::uint64_t stream = 0) const {
        return placed(
            detail::low_discrepancy(domain.uniforms(), first, count, detail::CounterRandom(seed, stream)));
    }

    /// `count` independent nodes under ρ, from a stream of random numbers of their own.
    Quadrature draw_random(Index count, std::uint64_t stream) const {
        const detail::CounterRandom random(seed, stream);
        Matrix u(domain.uniforms(), count);
        for (Index k = 0; k < u.size(); ++k) u(k) = random.uniform(static_cast<std::uint64_t>(k));
        return placed(u);
    }

private:
    Quadrature placed(const Matrix& u) const {
        const Index count = u.cols();
        Quadrature drawn{Matrix(domain.rows(), count),
                         Vector::Constant(count, 1.0 / static_cast<double>(count))};
        for (Index j = 0; j < count; ++j)
            domain.place(detail::column_ref(u, j), detail::run_ref(&drawn.nodes(0, j), drawn.nodes.rows()));
        return drawn;
    }
};

}  // namespace kernelet
