#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

/// Gradients against differences of predictions, integrals against quadrature.
namespace calculus_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// A kernel of x − z that does not define its gradient.
struct Plain {
    static constexpr std::string_view name = "plain";
    static constexpr bool translation_invariant = true;
    kernelet::Gaussian gaussian{};

    Index parameters(Index d) const { return gaussian.parameters(d); }
    kernelet::ParameterKind parameter_kind(Index row) const { return gaussian.parameter_kind(row); }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef values) const {
        gaussian.values(xt, node, values);
    }
    void jet(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
             kernelet::MatrixRef jet) const {
        gaussian.jet(xt, node, jet);
    }
};

/// Kernels, scales that differ by coordinate, two or one outputs, a linear trend.
template <class Kernel>
kernelet::SparseKernelModel<Kernel> random_model(const Kernel& kernel, Index d, Index q) {
    constexpr Index k = 7;
    Matrix nodes(d + kernel.parameters(d), k);
    nodes.topRows(d) = support::normals(d, k, 1);
    for (Index j = 0; j < k; ++j)
        for (Index row = d; row < nodes.rows(); ++row) {
            const bool shape = kernel.parameter_kind(row - d) == kernelet::ParameterKind::shape;
            nodes(row, j) =
                shape ? static_cast<double>(j % 3) : 0.5 + 0.1 * static_cast<double>((j + row) % 7);
        }
    const kernelet::InputScaling scaling{support::normals(d, 1, 2), support::uniforms(d, 1, 3, 0.5, 2.0)};
    return {kernel, scaling, nodes, support::normals(k, q, 4),
            kernelet::ModelTrend(Vector(support::normals(q, 1, 5)), Matrix(support::normals(d, q, 6)))};
}

/// ∂f_o/∂x_c by differences of fourth order, whose error is of the order of h⁴ and 1e-16/h.
template <class Model>
double difference(const Model& model, const Vector& x, Index c, Index o) {
    constexpr double h = 1e-3;
    const auto f = [&](double step) {
        Vector at = x;
        at(c) += step;
        const Matrix value = model.predict(at);
        return value(o);
    };
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h);
}

template <class Kernel>
void check_gradient(const Kernel& kernel, double accuracy) {
    for (const Index d : {1, 3})
        for (const Index q : {1, 2}) {
            CAPTURE(Kernel::name, d, q);
            const auto model = random_model(kernel, d, q);
            const Matrix x = support::normals(d, 300, 7);  // more than a strip
            const Matrix gradient = model.gradient(x);
            REQUIRE(gradient.rows() == d * q);
            double worst = 0.0, apart = 0.0;
            for (const Index i : {0, 1, 255, 256, 299}) {
                Matrix one(d, q);
                model.gradient(x.col(i), one);
                for (Index o = 0; o < q; ++o)
                    for (Index c = 0; c < d; ++c) {
                        const double g = gradient(o * d + c, i);
                        worst = std::max(worst, std::abs(g - difference(model, x.col(i), c, o)));
                        apart = std::max(apart, std::abs(g - one(c, o)));
                    }
            }
            CHECK(worst <= accuracy);
            CHECK(apart <= 1e-12);
        }
}

TEST_CASE("the gradient is that of differences of predictions", "[calculus]") {
    check_gradient(kernelet::Gaussian{}, 1e-9);
    check_gradient(kernelet::AnisotropicGaussian{}, 1e-9);
    check_gradient(kernelet::Matern52{}, 1e-7);  // not four times differentiable at the centers
    check_gradient(kernelet::Matern32{}, 1e-5);
    check_gradient(kernelet::Laplacian{}, 1e-7);
    check_gradient(kernelet::Sinc{}, 1e-8);
    check_gradient(kernelet::Polynomial{}, 1e-8);
    check_gradient(kernelet::Dictionary<kernelet::Gaussian, kernelet::Laplacian, kernelet::Matern52>{}, 1e-7);
    check_gradient(Plain{}, 1e-9);
    CHECK(!kernelet::detail::HasInputGradient<kernelet::detail::TiledPoints>);
}

TEST_CASE("the gradient at special places", "[calculus]") {
    const auto at_center = [](const auto& kernel) {
        const kernelet::SparseKernelModel model(kernel, kernelet::InputScaling::identity(2),
                                                Matrix::Constant(3, 1, 0.5), Matrix::Ones(1, 1),
                                                kernelet::ModelTrend(Vector::Zero(1)));
        return model.gradient(Matrix::Constant(2, 1, 0.5)).norm();
    };
    CHECK(at_center(kernelet::Gaussian{}) == 0.0);
    CHECK(at_center(kernelet::Laplacian{}) == 0.0);
    CHECK(at_center(kernelet::Matern32{}) == 0.0);
    CHECK(at_center(kernelet::Sinc{}) == 0.0);
    const auto line = random_model(kernelet::Gaussian{}, 1, 1);
    CHECK(line.gradient(0.3) == line.gradient(Matrix::Constant(1, 1, 0.3))(0));
    Matrix small(1, 2);
    CHECK_THROWS_AS(line.gradient(Vector::Constant(1, 0.3), small), std::invalid_argument);
    CHECK_THROWS_AS(line.gradient(Matrix::Constant(1, 1, std::numeric_limits<double>::quiet_NaN())),
                    std::invalid_argument);
}

/// ∫ f over a box by the midpoint rule.
template <class Model>
Matrix by_midpoints(const Model& model, const kernelet::Box& box) {
    constexpr Index n = 200;
    const Vector step = (box.hi() - box.lo()) / static_cast<double>(n);
    Matrix sum = Matrix::Zero(model.outputs(), 1);
    for (Index i = 0; i < n; ++i) {
        Matrix x(2, n);
        for (Index j = 0; j < n; ++j) {
            x(0, j) = box.lo()(0) + (static_cast<double>(i) + 0.5) * step(0);
            x(1, j) = box.lo()(1) + (static_cast<double>(j) + 0.5) * step(1);
        }
        sum += model.predict(x).rowwise().sum();
    }
    return sum * step.prod();
}

TEST_CASE("the integral over a box is that of a quadrature", "[calculus]") {
    const kernelet::Box box(Vector::Constant(2, -1.0), Vector::Constant(2, 2.0),
                            kernelet::Interval{0.1, 1.0});
    const auto isotropic = random_model(kernelet::Gaussian{}, 2, 2);
    CHECK((isotropic.integral(box) - by_midpoints(isotropic, box)).norm() <= 1e-4);
    const auto stretched = random_model(kernelet::AnisotropicGaussian{}, 2, 2);
    CHECK((stretched.integral(box.lo(), box.hi()) - by_midpoints(stretched, box)).norm() <= 1e-4);
    // Far in a tail, where erf is one: ∫_20^30 e^{−t²/2} dt = √(π/2) erfc(20/√2).
    const kernelet::SparseKernelModel<kernelet::Gaussian> tail(
        kernelet::Gaussian{}, kernelet::InputScaling::identity(1), Matrix(Eigen::Vector2d(0.0, 1.0)),
        Matrix::Ones(1, 1), kernelet::ModelTrend(Vector::Zero(1)));
    const double far = std::sqrt(std::acos(-1.0) / 2.0) * std::erfc(20.0 / std::sqrt(2.0));
    CHECK(tail.integral(Vector::Constant(1, 20.0), Vector::Constant(1, 30.0))(0) ==
          Approx(far).epsilon(1e-12));
    CHECK(tail.integral(Vector::Constant(1, -30.0), Vector::Constant(1, -20.0))(0) ==
          Approx(far).epsilon(1e-12));
    CHECK_THROWS_AS(tail.integral(Vector::Constant(1, 1.0), Vector::Constant(1, 0.0)), std::invalid_argument);
}

}  // namespace calculus_test
