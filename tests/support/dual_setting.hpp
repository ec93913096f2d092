#pragma once

#include "support/signals.hpp"

#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/peaks/point_mass_limit_impl.hpp>

#include <utility>

namespace support {

/// A chirp and all that a DualProblem refers to, kept alive together.
template <class Omega = kernelet::Box>
struct DualSetting {
    Matrix x{};
    Omega domain;
    kernelet::Gaussian kernel{};
    kernelet::detail::TiledPoints points;
    kernelet::FeasibleSet<kernelet::SquaredLoss> feasible;

    DualSetting(Matrix inputs, const Vector& y, Omega omega, kernelet::Scope scope, double tolerance)
        : x(std::move(inputs)),
          domain(std::move(omega)),
          points(x),
          feasible(kernelet::SquaredLoss{}, y.transpose(), scope, Vector::Constant(y.size(), tolerance),
                   Vector::Ones(y.size())) {}

    kernelet::DualProblem<kernelet::Gaussian, kernelet::SquaredLoss, Omega> problem(
        double gamma = 0.0) const {
        return {kernel, domain, points, feasible, gamma};
    }
};

inline DualSetting<> chirp_setting(Index n, kernelet::Scope scope, double tolerance = 0.05) {
    const Chirp signal = chirp(n, 7);
    return {signal.x, signal.y, kernelet::box_from_samples(signal.x), scope, tolerance};
}

/// γ that puts the threshold at s times the highest |ᾱ₀|.
template <class Problem>
double gamma_of(const Problem& problem, const kernelet::DualSolution& unsparse, double s) {
    const double tau = s * problem.field(unsparse.lambda, unsparse.quadrature.nodes).cwiseAbs().maxCoeff();
    return 0.5 * tau * tau;
}

}  // namespace support
