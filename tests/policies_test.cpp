#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Every kernel and loss through the whole flow. Domains are boxes given by hand: a fit is compiled for each
// kind of domain.
namespace policies_test {

using namespace kernelet;
using Kernel = AnyKernel;
using Loss = AnyLoss;
using ClassLoss = AnyLoss;

template <class L = Loss, class K = Kernel>
auto fitted(const K& kernel, const L& loss, const Matrix& x, const Matrix& y, const Box& box,
            const Options& options = {}) {
    return SparseKernelEstimator<K, L, AugmentedNewton>(options, AugmentedNewton{}, kernel, loss)
        .fit(x, y, box);
}

/// Σ_j a_j k(x, node_j).
template <class K>
Vector sum_of(const K& kernel, const Matrix& x, const Matrix& nodes, const Vector& a) {
    Vector y = Vector::Zero(x.cols()), k(x.cols());
    for (Index j = 0; j < nodes.cols(); ++j) {
        kernel.values(x.transpose().eval(), nodes.col(j), k);
        y += a(j) * k;
    }
    return y;
}

/// Each planted node has a kernel within 2 % of its widths of its center and 5 % of its widths.
template <class Model>
void check_planted(const Model& model, const Matrix& nodes) {
    REQUIRE(model.size() == nodes.cols());
    const Index d = model.dimension();
    for (Index j = 0; j < nodes.cols(); ++j) {
        Index nearest = 0;
        (model.centers().colwise() - nodes.col(j).head(d)).colwise().norm().minCoeff(&nearest);
        for (Index c = 0; c < d; ++c) {
            const double width = nodes(d + std::min(c, nodes.rows() - d - 1), j);
            CHECK(std::abs(model.centers()(c, nearest) - nodes(c, j)) <= 0.02 * width);
        }
        for (Index row = d; row < nodes.rows(); ++row)
            CHECK(model.widths()(row - d, nearest) == Approx(nodes(row, j)).epsilon(0.05));
    }
}

const Matrix line = Vector::LinSpaced(161, -5.0, 5.0).transpose();
constexpr double noise = 0.005;

Matrix planted_on_a_line() {
    Matrix nodes(2, 3);
    nodes << -3.13, 0.42, 3.31, 0.5, 0.8, 0.4;
    return nodes;
}
const Eigen::Vector3d amplitudes(1.5, -1.0, 2.0);
#ifdef NDEBUG
constexpr std::size_t every_pair = 1;
#else
constexpr std::size_t every_pair = 19;  // of kernel and loss: sanitizers are slow
#endif

const std::vector<std::pair<std::string, Loss>> losses{{"squared", SquaredLoss{}},
                                                       {"huber", HuberLoss{}},
                                                       {"epsilon-insensitive", EpsilonInsensitiveLoss{noise}},
                                                       {"quantile", QuantileLoss{0.5}}};

}  // namespace policies_test

TEST_CASE("planted kernels of every family are found under every regression loss", "[policies]") {
    using namespace policies_test;
    const Matrix nodes = planted_on_a_line();
    const std::vector<std::pair<std::string, Kernel>> kernels{{"gaussian", Gaussian{}},
                                                              {"anisotropic", AnisotropicGaussian{}},
                                                              {"laplacian", Laplacian{}},
                                                              {"matern32", Matern32{}},
                                                              {"matern52", Matern52{}}};
    const Box box(-6.0, 6.0, {0.0625, 6.0});
    std::size_t pair = 0;
    for (const auto& [kernel_name, kernel] : kernels)
        for (const auto& [loss_name, loss] : losses) {
            INFO(kernel_name << ", " << loss_name);
            if (pair++ % every_pair != 0) continue;
            const Vector y =
                sum_of(kernel, line, nodes, amplitudes) + noise * support::normals(line.cols(), 1, 5);
            check_planted(fitted(kernel, loss, line, y, box).model, nodes);
        }
}

TEST_CASE("planted centers of bandlimited kernels are found under every regression loss", "[policies]") {
    using namespace policies_test;
    Matrix nodes = planted_on_a_line();
    nodes.row(1).setConstant(0.5);
    const Vector y = sum_of(Sinc{}, line, nodes, amplitudes) + noise * support::normals(line.cols(), 1, 6);
    std::size_t pair = 0;
    for (const auto& [name, loss] : losses) {
        INFO(name);
        if (pair++ % every_pair != 0) continue;
        check_planted(fitted(Kernel(Sinc{}), loss, line, y, Box(-6.0, 6.0, {0.5, 0.5})).model, nodes);
    }
}

TEST_CASE("a width for each coordinate is found, in the user's units", "[policies]") {
    using namespace policies_test;
    const Matrix x = support::uniforms(2, 400, 3, -3.0, 3.0);
    Matrix nodes(4, 3);
    nodes << -1.5, 0.3, 1.7, -1.2, 1.6, -1.1, 0.4, 1.2, 0.5, 1.1, 0.4, 0.6;
    const Vector y =
        sum_of(AnisotropicGaussian{}, x, nodes, amplitudes) + noise * support::normals(x.cols(), 1, 7);
    const Box box(Eigen::Vector2d(-3.6, -3.6), Eigen::Vector2d(3.6, 3.6), {0.1, 4.0});
    check_planted(fitted(Kernel(AnisotropicGaussian{}), Loss(SquaredLoss{}), x, y, box).model, nodes);
}

TEST_CASE("the order of a planted polynomial is chosen, and its place", "[policies]") {
    using namespace policies_test;
    const Matrix x = Vector::LinSpaced(81, -2.0, 2.0).transpose(),
                 fresh = Vector::LinSpaced(200, -1.99, 1.99).transpose();
    // No width to draw: the box's are of no consequence.
    const Box box(-1.0, 1.0, {1.0, 1.0});
    for (const double order : {2.0, 3.0}) {
        INFO("order " << order);
        const Matrix node = Eigen::Vector2d(0.7, order);
        const Vector amplitude = Vector::Constant(1, -0.8);
        const Vector y = sum_of(Polynomial{}, x, node, amplitude) + noise * support::normals(x.cols(), 1, 14);
        const auto fit = fitted(Kernel(Polynomial{}), Loss(SquaredLoss{}), x, y, box);
        const Vector error = fit.model.predict(fresh) - sum_of(Polynomial{}, fresh, node, amplitude);
        CHECK(error.norm() <= noise * std::sqrt(static_cast<double>(error.size())));
        CHECK(fit.model.widths().rows() == 0);
        REQUIRE(fit.model.size() == 1);
        CHECK(fit.model.shapes()(0) == order);
        CHECK(fit.model.centers()(0) == Approx(0.7).margin(0.01));
    }
}

TEST_CASE("a bandlimited signal comes back from jittered samples, the better the more of them",
          "[policies]") {
    using namespace policies_test;
    // Band: sums of sincs of width one, at places without a sample.
    Matrix band(2, 5);
    band << -3.3, -1.2, 0.4, 1.9, 3.6, 1.0, 1.0, 1.0, 1.0, 1.0;
    Vector a(5);
    a << 1.0, -0.7, 1.2, 0.5, -1.1;
    const auto error = [&](Index n) {
        Matrix x = Vector::LinSpaced(n, -6.0, 6.0).transpose();
        x += support::uniforms(1, n, 8, -4.0, 4.0) / static_cast<double>(n);
        const Vector y = sum_of(Sinc{}, x, band, a) + 0.02 * support::normals(n, 1, 9);
        const auto fit = fitted(Kernel(Sinc{}), Loss(SquaredLoss{}), x, y, Box(-7.0, 7.0, {1.0, 1.0}));
        const Matrix fresh = Vector::LinSpaced(501, -5.5, 5.5).transpose();
        return std::sqrt((fit.model.predict(fresh) - sum_of(Sinc{}, fresh, band, a)).squaredNorm() / 501.0);
    };
    const double few = error(30), some = error(120), many = error(480);
    CHECK(few <= 0.05);
    CHECK(some < few);
    CHECK(many < some);
}

TEST_CASE("two outputs of the same centers share their kernels", "[policies]") {
    using namespace policies_test;
    const Matrix nodes = planted_on_a_line();
    Matrix y(2, line.cols());
    y.row(0) = sum_of(Gaussian{}, line, nodes, amplitudes).transpose();
    y.row(1) = sum_of(Gaussian{}, line, nodes, Eigen::Vector3d(-0.6, 1.4, 0.9)).transpose();
    y += noise * support::normals(2, line.cols(), 11);
    const Box box(-6.0, 6.0, {0.0625, 6.0});
    const Loss loss = SquaredLoss{};
    const auto alone = fitted(Kernel(Gaussian{}), loss, line, y.row(0).transpose(), box);
    const auto both = fitted(Kernel(Gaussian{}), loss, line, y, box);
    CHECK(both.model.size() <= alone.model.size() + 1);
    CHECK(both.model.coefficients().cols() == 2);
    CHECK((both.model.predict(line) - y).norm() <= 1.2 * noise * std::sqrt(static_cast<double>(y.size())));
}

TEST_CASE("a dictionary takes a kink and a smooth bump with fewer kernels than either family", "[policies]") {
    using namespace policies_test;
    const Matrix x = Vector::LinSpaced(201, -4.0, 4.0).transpose();
    const Vector truth = (-(x.row(0).array() + 1.5).abs() / 0.7).exp().matrix().transpose() +
                         (-0.5 * ((x.row(0).array() - 1.6) / 0.6).square()).exp().matrix().transpose();
    const Vector y = truth + 0.01 * support::normals(201, 1, 4);
    const Box box(-4.8, 4.8, {0.04, 4.8});
    const Options options{.tolerance = 0.0125};
    const auto both = fitted<SquaredLoss>(Dictionary<Gaussian, Laplacian>{}, {}, x, y, box, options);
    const auto smooth = fitted(Kernel(Gaussian{}), Loss(SquaredLoss{}), x, y, box, options);
    const auto kinked = fitted(Kernel(Laplacian{}), Loss(SquaredLoss{}), x, y, box, options);
    CHECK(both.report.residual <= 0.0125);
    CHECK(both.model.size() < smooth.model.size());
    CHECK(both.model.size() < kinked.model.size());
    REQUIRE(both.model.size() == 2);
    // the Laplacian at the kink, the Gaussian at the bump
    for (Index j = 0; j < 2; ++j) {
        const bool kink = both.model.shapes()(j) == 1.0;
        CHECK(both.model.centers()(0, j) == Approx(kink ? -1.5 : 1.6).margin(0.02));
        CHECK(both.model.widths()(0, j) == Approx(kink ? 0.7 : 0.6).epsilon(0.05));
    }
    CHECK(both.model.shapes().sum() == 1.0);
}

TEST_CASE("a dictionary takes |x| and a smooth bump with fewer kernels than either family", "[policies]") {
    using namespace policies_test;
    constexpr Index samples = 121;
    const Matrix x = Vector::LinSpaced(samples, -4.0, 4.0).transpose();
    const Vector bump = (-0.5 * ((x.row(0).array() - 1.6) / 0.4).square()).exp().matrix().transpose();
    const Vector truth = x.row(0).cwiseAbs().transpose() + bump;
    // Wide enough for |x| as the tip of a Laplacian.
    const Box box(-4.8, 4.8, {0.04, 16.0});
    constexpr double tolerance = 0.0125;
    const Options options{.tolerance = tolerance};
    const Vector y = truth + 0.01 * support::normals(samples, 1, 4);
    const auto both = fitted<SquaredLoss>(Dictionary<Gaussian, Laplacian>{}, {}, x, y, box, options);
    const auto smooth = fitted(Kernel(Gaussian{}), Loss(SquaredLoss{}), x, y, box, options);
    const auto kinked = fitted(Kernel(Laplacian{}), Loss(SquaredLoss{}), x, y, box, options);
    CHECK(both.report.residual <= tolerance);
    CHECK(both.model.size() < smooth.model.size());
    CHECK(both.model.size() < kinked.model.size());
    // no worse against the clean signal than what it is asked to leave of the noisy one
    CHECK((both.model.predict(x) - truth).norm() <= tolerance * std::sqrt(static_cast<double>(samples)));
}

#ifdef NDEBUG  // half a minute under sanitizers
TEST_CASE("units of x and y make no difference to any kernel", "[policies]") {
    using namespace policies_test;
    // Each family's own signal: where a model is only an approximation, rounding may choose another.
    Matrix bumps(3, 2), each_width(4, 2), square(3, 1);
    bumps << -0.8, 0.9, 0.4, -0.5, 0.7, 1.0;
    each_width << bumps, 1.1, 0.6;
    square << 0.5, -0.3, 2.0;
    struct Planted {
        std::string name;
        Kernel kernel;
        Matrix nodes;
    };
    const std::vector<Planted> families{{"gaussian", Gaussian{}, bumps},
                                        {"laplacian", Laplacian{}, bumps},
                                        {"matern32", Matern32{}, bumps},
                                        {"matern52", Matern52{}, bumps},
                                        {"sinc", Sinc{}, bumps},
                                        {"polynomial", Polynomial{}, square},
                                        {"anisotropic", AnisotropicGaussian{}, each_width}};
    struct Units {
        Eigen::Vector2d x;
        double y;
    };
    const std::vector<Units> alike{{{4.0, 4.0}, 0.125}, {{3.7, 3.7}, 17.3}};
    const std::vector<Units> apart{{{64.0, 0.25}, 0.125}, {{0.013, 370.0}, 17.3}};
    // Scaled already, so that a width is the same along both coordinates also where they are scaled inside.
    Matrix x = support::uniforms(2, 60, 15, -2.0, 2.0);
    x = InputScaling::standard(x).to_internal(x);
    for (const auto& [name, kernel, nodes] : families) {
        const Vector y = sum_of(kernel, x, nodes, Eigen::Vector2d(1.5, -1.0).head(nodes.cols())) +
                         noise * support::normals(x.cols(), 1, 16);
        for (const bool standardize : {true, false}) {
            // A polynomial has no length: its box of centers would have to shrink as x grows.
            if (!standardize && name == "polynomial") continue;
            Options options;
            options.standardize = standardize;
            const SparseKernelEstimator<Kernel, Loss, AugmentedNewton> estimator(options, AugmentedNewton{},
                                                                                 kernel, Loss(SquaredLoss{}));
            const auto base = estimator.fit(x, y);
            REQUIRE(base.model.size() > 0);
            const Matrix widths = base.model.widths();
            // With each coordinate scaled inside, each may have its own unit.
            for (const Units& unit : standardize ? apart : alike) {
                INFO(name << (standardize ? ", standardized" : "") << ", x by " << unit.x.transpose()
                          << ", y by " << unit.y);
                const auto fit = estimator.fit(unit.x.asDiagonal() * x, unit.y * y);
                // Not to the bit: a loss without closed forms is searched, in steps of no unit.
                const auto same = [](const Matrix& scaled, const Matrix& expected) {
                    return (scaled - expected).norm() <= 1e-4 * expected.norm();
                };
                CHECK(same(fit.model.predict(unit.x.asDiagonal() * x), unit.y * base.model.predict(x)));
                REQUIRE(fit.model.size() == base.model.size());
                CHECK(same(fit.model.centers(), unit.x.asDiagonal() * base.model.centers()));
                // One width of both coordinates becomes two where their units differ.
                Matrix expected(fit.model.widths().rows(), widths.cols());
                for (Index row = 0; row < expected.rows(); ++row)
                    expected.row(row) = unit.x(row) * widths.row(std::min(row, widths.rows() - 1));
                CHECK(same(fit.model.widths(), expected));
                CHECK(same(fit.model.coefficients(), unit.y * base.model.coefficients()));
            }
        }
    }
}
#endif

TEST_CASE("an intercept takes an offset of any size and leaves the kernels where they are",
          "[policies][intercept]") {
    using namespace policies_test;
    const Matrix nodes = planted_on_a_line();
    const Vector y =
        sum_of(Gaussian{}, line, nodes, amplitudes) + noise * support::normals(line.cols(), 1, 5);
    const Box box(-6.0, 6.0, {0.0625, 6.0});
    const Options options{.center = false, .intercept = true};
    const auto at = [&](double offset) {
        return fitted(Kernel(Gaussian{}), Loss(HuberLoss{}), line, y.array() + offset, box, options);
    };
    const auto near = at(0.0), far = at(1e4);
    check_planted(near.model, nodes);
    check_planted(far.model, nodes);
    CHECK(far.report.status == Status::converged);
    CHECK(far.report.relative_gap() <= 1e-3);
    CHECK(far.report.dual_value == Approx(near.report.dual_value).epsilon(1e-3));
    CHECK(std::abs(far.multipliers.sum()) <= 1e-12 * far.multipliers.cwiseAbs().sum());
    CHECK(far.model.offset()(0) == Approx(1e4).margin(2.0 * noise));
}

#ifdef NDEBUG  // six fits of labels: a minute and a half under sanitizers
TEST_CASE("hinge and logistic find a planted boundary", "[policies]") {
    using namespace policies_test;
    // Inside a ring of two bumps: +1.
    const auto inside = [](const Matrix& x) -> Vector {
        Matrix nodes(3, 2);
        nodes << -1.0, 1.2, 0.4, -0.5, 0.6, 0.8;
        return sum_of(Gaussian{}, x, nodes, Eigen::Vector2d(1.0, 1.0)).array() - 0.5;
    };
    const auto sign = [](const Vector& f) -> Vector {
        return f.unaryExpr([](double v) { return v > 0.0 ? 1.0 : -1.0; });
    };
    const Matrix x = support::uniforms(2, 300, 12, -3.0, 3.0),
                 fresh = support::uniforms(2, 2000, 13, -3.0, 3.0);
    const Box box(Eigen::Vector2d(-3.6, -3.6), Eigen::Vector2d(3.6, 3.6), {0.15, 4.0});
    const std::vector<std::pair<std::string, ClassLoss>> kinds{{"logistic", LogisticLoss{}},
                                                               {"hinge", HingeLoss{}}};
    for (const auto& [name, loss] : kinds) {
        INFO(name);
        const auto fit = fitted<ClassLoss>(Kernel(Gaussian{}), loss, x, sign(inside(x)), box);
        CHECK(fit.report.status == Status::converged);
        CHECK(fit.model.size() <= 5);
        const Vector labels = fit.model.classify(fresh).cast<double>();
        const auto error = [&](const auto& model) {
            return ((model.classify(fresh).template cast<double>() - sign(inside(fresh))).cwiseAbs() / 2.0)
                .mean();
        };
        CHECK(error(fit.model) <= 0.03);
        CHECK(labels == sign(fit.model.predict(fresh)));
        if (name == "hinge") {  // its decision values are no log odds
            CHECK_THROWS_AS(fit.model.probability(fresh), std::logic_error);
            continue;
        }
        CHECK(labels == sign(fit.model.probability(fresh).array() - 0.5));
        // On separable classes the evidence bounds the coefficients, unless a tolerance requires larger
        // ones.
        const auto mean_loss = [&](const auto& model) {
            return (-sign(inside(x)).cwiseProduct(Vector(model.predict(x)))).array().exp().log1p().mean();
        };
        const double gentle = mean_loss(fit.model);
        CHECK(gentle >= 0.01);
        const auto steep =
            fitted<ClassLoss>(Kernel(Gaussian{}), loss, x, sign(inside(x)), box, {.tolerance = 0.8 * gentle});
        CHECK(steep.report.model_violation == 0.0);
        CHECK(mean_loss(steep.model) <= 0.8 * gentle * (1.0 + 1e-9));
        // One in seven is inside: with an intercept no kernel is spent on the others.
        const auto offset =
            fitted<ClassLoss>(Kernel(Gaussian{}), loss, x, sign(inside(x)), box, {.intercept = true});
        CHECK(offset.report.status == Status::converged);
        CHECK(offset.model.offset()(0) < -1.0);
        CHECK(offset.model.size() < fit.model.size());
        CHECK(error(offset.model) <= 0.03);
    }
}
#endif
