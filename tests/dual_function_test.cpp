#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace dual_function_test {

using kernelet::Box;
using kernelet::DualEvaluation;
using kernelet::DualProblem;
using kernelet::evaluate_dual;
using kernelet::FeasibleSet;
using kernelet::FixedWidth;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Quadrature;
using kernelet::Scope;
using kernelet::SquaredLoss;
using kernelet::Vector;
namespace penalty = kernelet::penalty;

TEST_CASE("the conjugate is that of the cost, and the envelope the conjugate's conjugate",
          "[dual_function]") {
    const Vector grid = Vector::LinSpaced(40001, 0.0, 20.0);
    for (const double gamma : {0.0, 0.5, 3.0}) {
        const double tau = penalty::threshold(gamma);
        CHECK(tau * tau == Approx(2.0 * gamma).margin(1e-15));
        for (const double slope : {0.0, 0.3, 1.0, 1.5, 2.4, 2.5, 6.0}) {
            double most = 0.0;  // a = 0 costs nothing
            for (const double a : grid)
                if (a > 0.0) most = std::max(most, a * slope - 0.5 * a * a - gamma);
            CHECK(penalty::conjugate(slope, tau) == Approx(most).margin(1e-6));
        }
        for (const double a : {0.0, 0.3, 1.0, 1.5, 2.4, 2.5, 6.0}) {
            double most = -1.0;
            for (const double slope : grid) most = std::max(most, a * slope - penalty::conjugate(slope, tau));
            CHECK(penalty::envelope(a, tau) == Approx(most).margin(1e-3));
            CHECK(penalty::envelope(a, tau) <= 0.5 * a * a + (a > 0.0 ? gamma : 0.0) + 1e-15);
        }
    }
}

TEST_CASE("proximal_length is the argmax it stands for, proximal_slope its derivative", "[dual_function]") {
    const Vector grid = Vector::LinSpaced(40001, 0.0, 20.0);
    for (const double tau : {0.0, 1.0, 2.5})
        for (const double delta : {0.1, 1.0, 4.0})
            for (const double length : {0.0, 0.5, 1.04, 1.7, 2.3, 2.6, 3.3, 9.0}) {
                // ⟨a, ā⟩ − φ**(a) − (δ/2)‖a − c‖² up to a constant, along b = ā + δc
                double most = -1.0, where = 0.0;
                for (const double a : grid) {
                    const double value = a * length - penalty::envelope(a, tau) - 0.5 * delta * a * a;
                    if (value > most) {
                        most = value;
                        where = a;
                    }
                }
                INFO("tau " << tau << ", delta " << delta << ", length " << length);
                CHECK(penalty::proximal_length(length, tau, delta) == Approx(where).margin(1e-3));
                constexpr double h = 1e-7;
                const double slope = (penalty::proximal_length(length + h, tau, delta) -
                                      penalty::proximal_length(length - h, tau, delta)) /
                                     (2.0 * h);
                if (length > 0.0)
                    CHECK(penalty::proximal_slope(length, tau, delta) == Approx(slope).margin(1e-6));
            }
}

/// Everything a problem refers to. n samples of one input, q outputs.
struct World {
    World(Index n, Index outputs, Scope scope, double tolerance, bool weighted, std::uint64_t seed)
        : x(support::uniforms(1, n, seed, 0.0, 4.0)),
          points(x),
          feasible(SquaredLoss{}, support::normals(outputs, n, seed + 1), scope,
                   Vector::Constant(n, tolerance),
                   weighted ? Vector(support::uniforms(n, 1, seed + 2, 0.2, 3.0)) : Vector::Ones(n)) {}

    DualProblem<Gaussian, SquaredLoss, Box> problem(double gamma) const {
        return {kernel, domain, points, feasible, gamma, 1};
    }

    support::Threads one{1};  // thousands of small sums: waking threads would take longer
    Gaussian kernel{};
    Box domain{0.0, 4.0, Interval{0.2, 2.0}};
    Matrix x;
    kernelet::detail::TiledPoints points;
    FeasibleSet<SquaredLoss> feasible;
};

/// ŷ_d: the point of C at which ⟨λ, ŷ⟩ is least.
Matrix least_point(const FeasibleSet<SquaredLoss>& set, const Matrix& lambda) {
    const Matrix& y = set.target();
    if (set.scope() == Scope::per_sample) return y - set.tolerance(0) * lambda.cwiseSign();
    const Vector& w = set.weights();
    const double radius = set.tolerance(0) * std::sqrt(static_cast<double>(y.rows()) * w.sum());
    const Matrix scaled = lambda * w.cwiseInverse().asDiagonal();
    return y - radius / std::sqrt(lambda.cwiseProduct(scaled).sum()) * scaled;
}

struct Setting {
    Index outputs;
    Scope scope;
    bool weighted;
    double gamma;
};

const std::vector<Setting> settings{
    {1, Scope::aggregate, false, 0.0},  {1, Scope::aggregate, true, 2.0},
    {2, Scope::aggregate, true, 2.0},   {1, Scope::per_sample, false, 0.0},
    {1, Scope::per_sample, false, 2.0}, {3, Scope::per_sample, false, 2.0},
};

TEST_CASE("g is what its definition says", "[dual_function]") {
    for (const Setting& s : settings) {
        const World world(15, s.outputs, s.scope, 0.1, s.weighted, 10);
        const auto problem = world.problem(s.gamma);
        const Quadrature q = problem.nodes(300);
        const Matrix lambda = support::normals(s.outputs, 15, 20);
        const DualEvaluation found = evaluate_dual(problem, lambda, q);
        double phi = 0.0;
        Matrix prediction = Matrix::Zero(s.outputs, 15);
        for (Index j = 0; j < q.nodes.cols(); ++j) {
            Vector k(15);
            for (Index i = 0; i < 15; ++i)
                k(i) = std::exp(-std::pow((world.x(0, i) - q.nodes(0, j)) / q.nodes(1, j), 2) / 2.0);
            const Vector field = lambda * k;
            phi += q.weights(j) * std::max(0.0, 0.5 * field.squaredNorm() - s.gamma);
            const bool on = 0.5 * field.squaredNorm() > s.gamma;
            if (on) prediction += q.weights(j) * field * k.transpose();
            CHECK((found.alpha.col(j) - (on ? field : Vector::Zero(s.outputs))).isZero(1e-12));
        }
        CHECK(found.phi == Approx(phi));
        CHECK((found.prediction - prediction).isZero(1e-12));
        const double linear = lambda.cwiseProduct(least_point(world.feasible, lambda)).sum();
        CHECK(found.value == Approx(linear - phi));
    }
}

TEST_CASE("the supergradient is the derivative of g", "[dual_function]") {
    for (const Setting& s : settings) {
        const World world(15, s.outputs, s.scope, 0.1, s.weighted, 30);
        const auto problem = world.problem(s.gamma);
        const Quadrature q = problem.nodes(300);
        const Matrix lambda = 2.0 * support::normals(s.outputs, 15, 40);
        const DualEvaluation at = evaluate_dual(problem, lambda, q);
        const Vector lengths = problem.field(lambda, q.nodes).colwise().norm();
        if (s.gamma > 0.0) {  // some nodes on, some off
            const double tau = penalty::threshold(s.gamma);
            REQUIRE(lengths.minCoeff() < tau);
            REQUIRE(lengths.maxCoeff() > tau);
        }
        const Matrix supergradient = least_point(world.feasible, lambda) - at.prediction;
        constexpr double h = 1e-6;
        double worst = 0.0, worst_phi = 0.0;
        for (Index k = 0; k < lambda.size(); ++k) {
            Matrix less = lambda, more = lambda;
            less(k) -= h;
            more(k) += h;
            const DualEvaluation below = evaluate_dual(problem, less, q);
            const DualEvaluation above = evaluate_dual(problem, more, q);
            worst = std::max(worst, std::abs((above.value - below.value) / (2.0 * h) - supergradient(k)));
            worst_phi = std::max(worst_phi, std::abs((above.phi - below.phi) / (2.0 * h) - at.prediction(k)));
        }
        INFO("q " << s.outputs << ", gamma " << s.gamma);
        CHECK(worst <= 1e-5);
        CHECK(worst_phi <= 1e-5);
        CHECK(supergradient.cwiseAbs().maxCoeff() > 0.1);
    }
}

TEST_CASE("g is concave along every line", "[dual_function]") {
    for (const Setting& s : settings) {
        const World world(15, s.outputs, s.scope, 0.1, s.weighted, 50);
        const auto problem = world.problem(s.gamma);
        const Quadrature q = problem.nodes(200);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const Matrix a = 3.0 * support::normals(s.outputs, 15, seed);
            const Matrix b = 3.0 * support::normals(s.outputs, 15, seed + 100);
            const double ends =
                0.5 * (evaluate_dual(problem, a, q).value + evaluate_dual(problem, b, q).value);
            CHECK(evaluate_dual(problem, 0.5 * (a + b), q).value >= ends - 1e-10);
        }
    }
}

TEST_CASE("weak duality: g is below the cost of every feasible alpha", "[dual_function]") {
    for (const double gamma : {0.0, 0.5}) {
        World world(20, 1, Scope::aggregate, 0.2, false, 60);
        const auto drawing = world.problem(gamma);
        const Quadrature q = drawing.nodes(300);
        // y = f + noise of exactly the tolerance: this α is feasible, and on the boundary of C
        Matrix alpha = 3.0 * support::uniforms(1, q.nodes.cols(), 61);
        alpha.leftCols(q.nodes.cols() / 2).setZero();
        const Matrix f = drawing.values(q.nodes, alpha * q.weights.asDiagonal());
        Matrix noise = support::normals(1, 20, 62);
        noise *= 0.2 * std::sqrt(20.0) / noise.norm();
        const FeasibleSet<SquaredLoss> feasible({}, f + noise, Scope::aggregate, Vector::Constant(20, 0.2),
                                                Vector::Ones(20));
        REQUIRE(feasible.violation(f) <= 1e-12);
        const DualProblem<Gaussian, SquaredLoss, Box> problem(world.kernel, world.domain, world.points,
                                                              feasible, gamma);
        const double cost = kernelet::primal_cost(alpha, q.weights, penalty::threshold(gamma));
        double highest = -1e300;
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            const Matrix lambda =
                std::pow(10.0, static_cast<double>(seed % 7) - 3.0) * (support::normals(1, 20, seed) + f);
            highest = std::max(highest, evaluate_dual(problem, lambda, q).value);
        }
        CHECK(highest <= cost);
        CHECK(highest > 0.0);  // some λ gives a positive bound
    }
}

/// ∫ k(x_i, z) k(x_j, z) dz / (b − a), z uniform on [a, b], one width: in closed form.
Matrix closed_form_gram(const Matrix& x, double a, double b, double w) {
    Matrix k(x.cols(), x.cols());
    for (Index i = 0; i < x.cols(); ++i)
        for (Index j = 0; j < x.cols(); ++j) {
            const double middle = 0.5 * (x(0, i) + x(0, j));
            k(i, j) = std::exp(-std::pow(x(0, i) - x(0, j), 2) / (4.0 * w * w)) * 0.5 * w *
                      std::sqrt(std::numbers::pi) *
                      (std::erf((b - middle) / w) - std::erf((a - middle) / w)) / (b - a);
        }
    return k;
}

TEST_CASE("without sparsity and tolerance the dual is K lambda = y", "[dual_function]") {
    constexpr double w = 0.5;
    const Matrix x = Vector::LinSpaced(10, 3.0, 7.5).transpose();  // a width apart
    const kernelet::detail::TiledPoints points(x);
    const FixedWidth domain(0.0, 10.5, w);
    const Matrix y = support::normals(1, 10, 70);
    const FeasibleSet<SquaredLoss> feasible({}, y, Scope::per_sample, Vector::Zero(10), Vector::Ones(10));
    const Gaussian kernel{};
    const DualProblem<Gaussian, SquaredLoss, FixedWidth> problem(kernel, domain, points, feasible);
    const Quadrature q = problem.nodes(500);
    const Matrix gram = closed_form_gram(x, 0.0, 10.5, w);
    for (Index j = 0; j < 10; ++j) {
        Matrix unit = Matrix::Zero(1, 10);
        unit(0, j) = 1.0;
        CHECK((evaluate_dual(problem, unit, q).prediction - gram.row(j)).isZero(1e-8));
    }
    const Matrix lambda = gram.ldlt().solve(y.transpose()).transpose();
    kernelet::DualSolution solution;
    kernelet::complete_solution(problem, solution, lambda, q);
    const double optimum = 0.5 * lambda.cwiseProduct(y).sum();
    CHECK(solution.dual_value == Approx(optimum).epsilon(1e-5));
    CHECK(solution.primal_value == Approx(optimum).epsilon(1e-5));
    CHECK(std::abs(solution.relative_gap()) < 1e-5);
    CHECK(solution.violation < 1e-4);
    CHECK(support::same_bits(solution.lambda, lambda));
    CHECK(support::same_bits(solution.quadrature.nodes, q.nodes));
    CHECK(solution.alpha.cols() == q.nodes.cols());
}

TEST_CASE("curvature is the largest eigenvalue of K", "[dual_function]") {
    const World world(30, 1, Scope::aggregate, 0.1, false, 80);
    const auto problem = world.problem(0.0);
    const Quadrature q = problem.nodes(300);
    Matrix k(30, q.nodes.cols());
    for (Index j = 0; j < q.nodes.cols(); ++j)
        kernelet::detail::kernel_column(world.kernel, world.points, q.nodes.col(j), &k(0, j));
    const Matrix gram = k * q.weights.asDiagonal() * k.transpose();
    const double largest = Eigen::SelfAdjointEigenSolver<Matrix>(gram).eigenvalues().maxCoeff();
    const double found = kernelet::curvature(problem, q);
    CHECK(found <= largest * (1.0 + 1e-9));
    CHECK(found >= 0.95 * largest);
}

TEST_CASE("primal_cost and thresholded act on the length of each column", "[dual_function]") {
    Matrix field(2, 3);
    field << 3.0, 0.6, 0.0,  //
        4.0, 0.8, 0.0;
    const Vector weights = Vector::Constant(3, 1.0 / 3.0);
    Matrix expected = field;
    expected.col(1).setZero();
    CHECK(support::same_bits(kernelet::thresholded(field, 1.5), expected));
    CHECK(kernelet::primal_cost(field, weights, 1.5) ==
          Approx((0.5 * 25.0 + 0.5 * 1.5 * 1.5 + 1.5 * 1.0) / 3.0));
    CHECK(kernelet::phi(field, weights, 1.5) == Approx((0.5 * 25.0 - 0.5 * 1.5 * 1.5) / 3.0));
}

TEST_CASE("draws continue one sequence, streams differ, budgets hold", "[dual_function]") {
    const World world(5, 1, Scope::aggregate, 0.1, false, 90);
    const auto problem = world.problem(0.0);
    const Quadrature whole = problem.draw(0, 100);
    CHECK(support::same_bits(whole.nodes.rightCols(40), problem.draw(60, 40).nodes));
    CHECK(whole.weights.sum() == Approx(1.0));
    CHECK(support::same_bits(problem.draw_random(50, 1).nodes, problem.draw_random(50, 1).nodes));
    CHECK_FALSE(support::same_bits(problem.draw_random(50, 1).nodes, problem.draw_random(50, 2).nodes));
    CHECK(problem.nodes(300).nodes.cols() <= 300);

    const Matrix x = support::uniforms(5, 12, 91);  // no rule in this domain: drawn
    const kernelet::AroundSamples around(x, {0.1, 1.0});
    const kernelet::detail::TiledPoints points(x);
    const FeasibleSet<SquaredLoss> feasible({}, Matrix::Zero(1, 12), Scope::aggregate, Vector::Ones(12),
                                            Vector::Ones(12));
    const DualProblem<Gaussian, SquaredLoss, kernelet::AroundSamples> drawn(world.kernel, around, points,
                                                                            feasible);
    CHECK(drawn.nodes(77).nodes.cols() == 77);
    CHECK(drawn.nodes(77).weights.sum() == Approx(1.0));
}

}  // namespace dual_function_test
