#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/peaks/point_mass_limit_impl.hpp>

#include <cmath>
#include <utility>

namespace point_mass_limit_test {

using Catch::Matchers::ContainsSubstring;
using namespace kernelet;

constexpr Index n = 60;

/// Three Gaussians, two up and one down, and all that a problem refers to.
struct Setting {
    Matrix x = Vector::LinSpaced(n, 0.0, 10.0).transpose();
    Vector y{};
    Gaussian kernel{};
    Box box{-0.5, 10.5, {0.3, 2.0}};
    detail::TiledPoints points{x};
    Scope scope;
    double tolerance;
    FeasibleSet<SquaredLoss> feasible;

    Setting(Scope of, double t, double unit = 1.0)
        : y(unit * planted()),
          scope(of),
          tolerance(t),
          feasible(SquaredLoss{}, y.transpose(), of, Vector::Constant(n, t), Vector::Ones(n)) {}
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    DualProblem<Gaussian, SquaredLoss, Box> problem(double tau) const {
        return {kernel, box, points, feasible, 0.5 * tau * tau};
    }

    static Vector planted() {
        const auto bump = [](double t, double z, double w) {
            return std::exp(-0.5 * (t - z) * (t - z) / (w * w));
        };
        return Vector::LinSpaced(n, 0.0, 10.0).unaryExpr([&](double t) {
            return bump(t, 2.13, 0.55) - 0.7 * bump(t, 5.31, 0.8) + 0.4 * bump(t, 8.07, 0.45);
        });
    }
};

/// Σ_j m_j k(x, z_j; w_j), term by term.
Vector function(const Matrix& x, const Matrix& nodes, const Matrix& masses) {
    Vector f = Vector::Zero(x.cols());
    for (Index j = 0; j < nodes.cols(); ++j)
        for (Index i = 0; i < x.cols(); ++i)
            f(i) += masses(0, j) * std::exp(-0.5 * std::pow((x(0, i) - nodes(0, j)) / nodes(1, j), 2));
    return f;
}

/// max |Σ_i λ_i k(x_i, z; w)| over a grid of the domain much finer than a kernel.
double highest(const Setting& s, const Matrix& lambda) {
    double most = 0.0;
    for (double w = 0.3; w <= 2.0; w *= 1.02)
        for (double z = -0.5; z <= 10.5; z += 0.02) {
            double sum = 0.0;
            for (Index i = 0; i < n; ++i)
                sum += lambda(0, i) * std::exp(-0.5 * std::pow((s.x(0, i) - z) / w, 2));
            most = std::max(most, std::abs(sum));
        }
    return most;
}

#ifdef NDEBUG
constexpr Index grid_centers = 221, grid_widths = 30;
#else
constexpr Index grid_centers = 111, grid_widths = 16;  // sanitizers are slow
#endif

/// Nodes of equal measure, a small share of a width apart.
Quadrature fine_grid() {
    Quadrature grid{Matrix(2, grid_centers * grid_widths), Vector(grid_centers * grid_widths)};
    for (Index l = 0; l < grid_widths; ++l)
        for (Index c = 0; c < grid_centers; ++c)
            grid.nodes.col(l * grid_centers + c)
                << -0.5 + 11.0 * static_cast<double>(c) / static_cast<double>(grid_centers - 1),
                0.3 * std::pow(2.0 / 0.3, static_cast<double>(l) / static_cast<double>(grid_widths - 1));
    grid.weights.setConstant(1.0 / static_cast<double>(grid.nodes.cols()));
    return grid;
}

/// min of ⟨λ, ŷ⟩ over the tolerance.
double lowest(const Setting& s, const Vector& lambda) {
    const double slack = s.scope == Scope::aggregate ? std::sqrt(static_cast<double>(n)) * lambda.norm()
                                                     : lambda.cwiseAbs().sum();
    return lambda.dot(s.y) - s.tolerance * slack;
}

/// How far outside the tolerance, as it is given.
double outside(const Setting& s, const Vector& f) {
    const Vector r = f - s.y;
    return s.scope == Scope::aggregate ? r.norm() / std::sqrt(static_cast<double>(n)) - s.tolerance
                                       : r.cwiseAbs().maxCoeff() - s.tolerance;
}

}  // namespace point_mass_limit_test

TEST_CASE("the certificate of point masses, by hand", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Scope scope = GENERATE(Scope::aggregate, Scope::per_sample);
    const double tau = GENERATE(1.0, 30.0);
    const Setting s(scope, 0.02);
    PointMassLimitOptions options;
    const DualSolution solution = PointMassLimit(options).solve(s.problem(tau));
    CAPTURE(static_cast<int>(scope), tau, solution.iterations);
    REQUIRE(solution.status == Status::converged);
    CHECK(solution.atomic);
    CHECK(solution.relative_gap() <= options.gap);
    CHECK(solution.relative_gap() >= -options.gap);
    // few atoms, and those that carry mass are few
    const Matrix mass = solution.alpha * solution.quadrature.weights.asDiagonal();
    CHECK((mass.cwiseAbs().array() > 1e-3).count() <= 12);
    // P is the mass of a function within the tolerance
    CHECK(solution.primal_value == Approx(tau * mass.cwiseAbs().sum()).epsilon(1e-6));
    const double out = outside(s, function(s.x, solution.quadrature.nodes, mass));
    CHECK(out <= 2e-4 * s.y.norm() / std::sqrt(static_cast<double>(n)));
    CHECK(std::max(0.0, out) == Approx(solution.violation).margin(1e-4));
    // D is the value of a λ whose field nowhere exceeds τ; the λ kept is a trace above
    const Vector lambda = solution.lambda.row(0).transpose() / (1.0 + options.gap);
    CHECK(highest(s, lambda.transpose()) <= tau * (1.0 + 0.01));
    CHECK(highest(s, lambda.transpose()) >= tau * (1.0 - 0.01));
    CHECK(solution.dual_value == Approx(lowest(s, lambda)).epsilon(1e-9));
    // The best mass is that of the planted function, or less, since the tolerance takes some off.
    CHECK(solution.dual_value <= tau * 2.1);
    CHECK(solution.dual_value >= tau * 1.8);

    const Certificate certificate = certify(s.problem(tau), solution);
    CHECK(certificate.support_measure == 0.0);
    CHECK(certificate.integration_error == 0.0);
    CHECK(certificate.dual_value == solution.dual_value);
    CHECK(certificate.nodes == solution.quadrature.nodes.cols());
    CHECK(certificate.relative_gap() <= options.gap);
}

TEST_CASE("point masses are the limit of a large gamma on a fine grid", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Scope scope = GENERATE(Scope::aggregate, Scope::per_sample);
    const Setting s(scope, 0.02);
    const DualSolution limit = PointMassLimit().solve(s.problem(1.0));
    REQUIRE(limit.status == Status::converged);
    const double tau = 1e6;  // far above m_j/ρ_j
    AugmentedNewtonOptions options;
    options.stopping.gap = 1e-4;
    const Quadrature grid = fine_grid();
    auto problem = s.problem(tau);
    problem.fixed_nodes = &grid;
    const DualSolution fine = AugmentedNewton(options).solve(problem);
    REQUIRE(fine.status == Status::converged);
    CHECK(limit.dual_value == Approx(fine.dual_value / tau).epsilon(0.01));
    CHECK(limit.primal_value == Approx(fine.primal_value / tau).epsilon(0.01));
    // A grid is a part of the domain: the cost at the limit is never larger.
    CHECK(limit.dual_value <= fine.primal_value / tau * (1.0 + 1e-3));
    // And neither is wanted for its unit: τ = √(2γ) of the other, or one where γ is zero.
    CHECK(PointMassLimit().solve(s.problem(0.0)).dual_value == limit.dual_value);
    CHECK(PointMassLimit().solve(s.problem(8.0)).dual_value == Approx(8.0 * limit.dual_value).epsilon(1e-9));
}

TEST_CASE("atoms slide off the grid they were looked for on", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Setting s(Scope::per_sample, 1e-3);
    PointMassLimitOptions coarse;
    coarse.max_nodes = 200;
    const DualSolution solution = PointMassLimit(coarse).solve(s.problem(1.0));
    REQUIRE(solution.status == Status::converged);
    CHECK(solution.iterations > 1);
    const Matrix grid = s.box.rule(coarse.max_nodes)->nodes;
    Index off = 0;
    for (Index j = 0; j < solution.quadrature.nodes.cols(); ++j)
        if ((grid.colwise() - solution.quadrature.nodes.col(j)).colwise().norm().minCoeff() > 1e-6) ++off;
    CHECK(off > 0);
    const DualSolution fine = PointMassLimit().solve(s.problem(1.0));
    CHECK(solution.dual_value == Approx(fine.dual_value).epsilon(0.02));
}

TEST_CASE("where zero is good enough there are no atoms", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Scope scope = GENERATE(Scope::aggregate, Scope::per_sample);
    for (const auto& [tolerance, unit] : {std::pair{2.0, 1.0}, std::pair{0.1, 0.0}, std::pair{0.0, 0.0}}) {
        const Setting s(scope, tolerance, unit);
        const DualSolution solution = PointMassLimit().solve(s.problem(1.0));
        CHECK(solution.status == Status::converged);
        CHECK(solution.atomic);
        CHECK(solution.quadrature.nodes.cols() == 0);
        CHECK(solution.quadrature.nodes.rows() == 2);
        CHECK(solution.alpha.size() == 0);
        CHECK(solution.lambda.isZero(0.0));
        CHECK(solution.dual_value == 0.0);
        CHECK(solution.primal_value == 0.0);
        CHECK(solution.relative_gap() == 0.0);
        CHECK(solution.violation == 0.0);
        const Certificate certificate = certify(s.problem(1.0), solution);
        CHECK(certificate.support_measure == 0.0);
        CHECK(certificate.nodes == 0);
    }
}

TEST_CASE("point masses obey their observer and their limit of exchanges", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Setting s(Scope::per_sample, 1e-3);
    PointMassLimitOptions options;
    options.max_nodes = 60;
    Index calls = 0;
    const DualSolution stopped = PointMassLimit(options).solve(s.problem(1.0), [&](const Progress& progress) {
        CHECK(progress.stage == "dual");
        CHECK(progress.iteration == calls);
        CHECK(progress.iterations == options.max_exchanges);
        ++calls;
        return Verdict::stop;
    });
    CHECK(calls == 1);
    CHECK(stopped.status == Status::stopped);
    options.max_exchanges = 1;
    const DualSolution limited = PointMassLimit(options).solve(s.problem(1.0));
    CHECK(limited.status == Status::iteration_limit);
    CHECK(limited.iterations == 1);
    CHECK(limited.relative_gap() > options.gap);
    CHECK(limited.quadrature.nodes.cols() > 0);  // the best point is kept
    CHECK(limited.dual_value <= limited.primal_value);
}

TEST_CASE("a fit by point masses", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const Setting s(Scope::aggregate, 0.02);
    const Vector y = s.y + 0.01 * support::normals(n, 1, 71);
    Options options;
    const bool given = GENERATE(false, true);
    if (given) options.tolerance = 0.02;
    const auto fit = SparseKernelEstimator<Gaussian, SquaredLoss, PointMassLimit>(options).fit(s.x, y);
    CAPTURE(given, fit.report.full());
    CHECK(fit.report.status == Status::converged);
    CHECK(fit.report.support_measure == 0.0);
    CHECK(fit.report.integration_error == 0.0);
    CHECK(fit.report.relative_gap() <= 1e-3);
    CHECK(fit.report.peaks > 0);
    CHECK(fit.model.size() >= 1);
    CHECK(fit.model.size() <= 5);
    CHECK((fit.model.predict(s.x) - s.y).norm() <= 0.025 * std::sqrt(static_cast<double>(n)));
}

TEST_CASE("options of point masses are refused by name", "[point_mass_limit]") {
    using namespace point_mass_limit_test;
    const auto refusal = [](const PointMassLimitOptions& options) {
        return support::refusal([&] { PointMassLimit{options}; });
    };
    PointMassLimitOptions options;
    CHECK(refusal(options).empty());
    options.gap = 0.0;
    CHECK_THAT(refusal(options), ContainsSubstring("solver.gap"));
    options = {};
    options.max_exchanges = 0;
    CHECK_THAT(refusal(options), ContainsSubstring("solver.max_exchanges"));
    options = {};
    options.max_nodes = -3;
    CHECK_THAT(refusal(options), ContainsSubstring("solver.max_nodes") && ContainsSubstring("-3"));
    options = {};
    options.peaks.max_seeds = 0;
    CHECK_THAT(refusal(options), ContainsSubstring("peaks.max_seeds"));
}
