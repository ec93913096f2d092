#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/peaks/coherence.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

// One suite for all families. A family joins with a Truth, its formula and parameters to try, and its name in
// the list below.
#define KERNELET_TESTED_KERNELS                                                                 \
    kernelet::Gaussian, kernelet::AnisotropicGaussian, kernelet::Laplacian, kernelet::Matern32, \
        kernelet::Matern52, kernelet::Sinc, kernelet::Polynomial, kernels_test::Mixed

namespace kernels_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::ParameterKind;
using kernelet::Vector;

/// A macro's list cannot hold the comma.
using Mixed = kernelet::Dictionary<kernelet::Gaussian, kernelet::Laplacian, kernelet::Matern52>;

template <class Kernel>
struct Truth;

/// One width, k a function of (x − z)/w with k = 1 at x = z, differentiable, accurate to the last digits.
struct Usual {
    static constexpr bool of_difference = true;
    static constexpr bool smooth = true;
    static constexpr double rounding =
        2e-35;  // what is added to a relative error of 1e-13: exponents end at −80
    /// θ for inputs of dimension d from numbers in [0, 1).
    static Vector theta(Index /*d*/, const Vector& u) { return Vector::Constant(1, 0.3 + 1.2 * u(0)); }
    static ParameterKind kind(Index /*d*/, Index /*row*/) { return ParameterKind::isotropic_scale; }
};

template <>
struct Truth<kernelet::Gaussian> : Usual {
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        return std::exp(-(x - z).squaredNorm() / (2.0 * theta(0) * theta(0)));
    }
};

template <>
struct Truth<kernelet::AnisotropicGaussian> : Usual {
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        return std::exp(-0.5 * (x - z).cwiseQuotient(theta).squaredNorm());
    }
    static Vector theta(Index d, const Vector& u) { return 0.3 + 1.2 * u.head(d).array(); }
    static ParameterKind kind(Index /*d*/, Index /*row*/) { return ParameterKind::coordinate_scale; }
};

template <>
struct Truth<kernelet::Laplacian> : Usual {
    static constexpr bool smooth = false;
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        return std::exp(-(x - z).norm() / theta(0));
    }
};

template <>
struct Truth<kernelet::Matern32> : Usual {
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        const double s = std::sqrt(3.0) * (x - z).norm() / theta(0);
        return (1.0 + s) * std::exp(-s);
    }
};

template <>
struct Truth<kernelet::Matern52> : Usual {
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        const double s = std::sqrt(5.0) * (x - z).norm() / theta(0);
        return (1.0 + s + s * s / 3.0) * std::exp(-s);
    }
};

template <>
struct Truth<kernelet::Sinc> : Usual {
    static constexpr double rounding = 1e-15;  // at its zeros the sine has no relative accuracy
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        double product = 1.0;
        for (Index c = 0; c < x.size(); ++c) {
            const double u = (x(c) - z(c)) / theta(0);
            product *= u == 0.0 ? 1.0 : std::sin(std::numbers::pi * u) / (std::numbers::pi * u);
        }
        return product;
    }
};

template <>
struct Truth<kernelet::Polynomial> : Usual {
    static constexpr bool of_difference = false;
    static constexpr double rounding = 1e-14;  // 1 + ⟨x, z⟩ may cancel
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        return std::pow(1.0 + x.dot(z), theta(0));
    }
    static Vector theta(Index /*d*/, const Vector& u) {
        return Vector::Constant(1, std::floor(1.0 + 5.0 * u(0)));
    }
    static ParameterKind kind(Index /*d*/, Index /*row*/) { return ParameterKind::shape; }
};

template <>
struct Truth<Mixed> : Usual {
    static constexpr bool smooth = false;
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        if (theta(1) == 0.0) return Truth<kernelet::Gaussian>::formula(x, z, theta);
        if (theta(1) == 1.0) return Truth<kernelet::Laplacian>::formula(x, z, theta);
        return Truth<kernelet::Matern52>::formula(x, z, theta);
    }
    static Vector theta(Index /*d*/, const Vector& u) {
        return Eigen::Vector2d(0.3 + 1.2 * u(0), std::floor(3.0 * u(1)));
    }
    static ParameterKind kind(Index /*d*/, Index row) {
        return row == 0 ? ParameterKind::isotropic_scale : ParameterKind::shape;
    }
};

constexpr Index most_parameters = 8;

template <class Kernel>
Vector random_theta(Index d, std::uint64_t seed) {
    return Truth<Kernel>::theta(d, support::uniforms(most_parameters, 1, seed));
}

/// (z; θ) with z in [−1, 1]^d.
template <class Kernel>
Vector random_node(Index d, std::uint64_t seed) {
    const Vector theta = random_theta<Kernel>(d, seed);
    Vector node(d + theta.size());
    node << support::uniforms(d, 1, seed + 1, -1.0, 1.0), theta;
    return node;
}

template <class Kernel>
Vector values_of(const Kernel& kernel, const Matrix& x, const Vector& node) {
    Vector k(x.cols());
    kernel.values(x.transpose().eval(), node, k);
    return k;
}

TEMPLATE_TEST_CASE("a family's values are its formula", "[kernels]", KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    for (const Index d : {1, 2, 3, 6})
        for (Index m = 1; m <= 33; m += m < 9 ? 1 : 8) {  // every remainder of a packet
            const auto seed = static_cast<std::uint64_t>(100 * d + m);
            const Vector node = random_node<TestType>(d, seed);
            REQUIRE(node.size() == d + kernel.parameters(d));
            const Matrix x = support::uniforms(d, m, seed + 7, -2.0, 2.0);
            const Vector k = values_of(kernel, x, node);
            for (Index i = 0; i < m; ++i) {
                const double exact =
                    Truth<TestType>::formula(x.col(i), node.head(d), node.tail(node.size() - d));
                CHECK(std::abs(k(i) - exact) <= 1e-13 * std::abs(exact) + Truth<TestType>::rounding);
            }
        }
}

TEMPLATE_TEST_CASE("a tile's values and jet are those of its samples one by one", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    for (const Index d : {1, 3}) {
        constexpr Index m = 7, before = 3, after = 2;  // a tile within a longer matrix of samples
        const Vector node = random_node<TestType>(d, 5);
        const Matrix all = support::uniforms(before + m + after, d, 6, -2.0, 2.0);
        const auto tile = all.middleRows(before, m);
        Vector k(m);
        kernel.values(tile, node, k);
        Matrix jets = Matrix::Constant(before + m + after, 1 + node.size(), 7.0);
        kernel.jet(tile, node, jets.middleRows(before, m));
        CHECK((jets.topRows(before).array() == 7.0).all());
        CHECK((jets.bottomRows(after).array() == 7.0).all());
        for (Index i = 0; i < m; ++i) {
            Matrix jet(1, 1 + node.size());
            kernel.jet(tile.row(i), node, jet);
            const double size = jet.cwiseAbs().maxCoeff();
            CHECK(std::abs(k(i) - values_of(kernel, tile.row(i).transpose(), node)(0)) <= 1e-14 * size);
            CHECK((jets.row(before + i) - jet).cwiseAbs().maxCoeff() <= 1e-14 * size);
        }
    }
}

TEMPLATE_TEST_CASE("a family is symmetric in x and z", "[kernels]", KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    for (const Index d : {1, 2, 5})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const Vector node = random_node<TestType>(d, seed);
            const Vector x = support::uniforms(d, 1, seed + 50, -1.0, 1.0);
            Vector swapped = node;
            swapped.head(d) = x;
            const double there = values_of(kernel, x, node)(0);
            const double back = values_of(kernel, node.head(d), swapped)(0);
            CHECK(std::abs(there - back) <= 1e-14 * (1.0 + std::abs(there)));
        }
}

TEMPLATE_TEST_CASE("a family's Gram matrices are positive semidefinite", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    constexpr Index n = 40;
    for (const Index d : {1, 2, 4})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const Matrix x = support::uniforms(d, n, seed, -1.0, 1.0);
            Vector node = random_node<TestType>(d, seed);
            Matrix gram(n, n);
            for (Index j = 0; j < n; ++j) {
                node.head(d) = x.col(j);
                gram.col(j) = values_of(kernel, x, node);
            }
            const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(gram).eigenvalues();
            CHECK(eigenvalues.minCoeff() >= -1e-13 * eigenvalues.maxCoeff());
            CHECK(eigenvalues.maxCoeff() > 0.0);
        }
}

TEMPLATE_TEST_CASE("a family's jet is its derivative in z and log of theta", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    constexpr double h = 1e-5;
    for (const Index d : {1, 2, 4})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            constexpr Index m = 13;
            const Vector node = random_node<TestType>(d, seed);
            Matrix x = support::uniforms(d, m, seed + 9, -1.5, 1.5);
            if (Truth<TestType>::smooth) x.col(0) = node.head(d);
            const Index rows = node.size();
            Matrix jet = Matrix::Constant(m, 1 + rows, 7.0);
            kernel.jet(x.transpose().eval(), node, jet);
            const Vector k = values_of(kernel, x, node);
            const double size = k.cwiseAbs().maxCoeff();
            CHECK((jet.col(0) - k).cwiseAbs().maxCoeff() <= 1e-15 * size);
            for (Index row = 0; row < rows; ++row) {
                Vector less = node, more = node;
                if (row < d) {
                    less(row) -= h;
                    more(row) += h;
                } else if (Truth<TestType>::kind(d, row - d) == ParameterKind::shape) {
                    CHECK(jet.col(1 + row).isZero(0.0));
                    continue;
                } else {
                    less(row) *= std::exp(-h);
                    more(row) *= std::exp(h);
                }
                const Vector slope = (values_of(kernel, x, more) - values_of(kernel, x, less)) / (2.0 * h);
                INFO("d " << d << ", row " << row);
                CHECK((jet.col(1 + row) - slope).cwiseAbs().maxCoeff() <= 1e-7 * (1.0 + size));
                CHECK(slope.cwiseAbs().maxCoeff() > 1e-3);  // the comparison is of something
            }
        }
}

TEMPLATE_TEST_CASE("a family of x - z is one and flat at its center, also where it has a kink", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    if constexpr (Truth<TestType>::of_difference) {
        for (const Index d : {1, 2, 4})
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                const Vector node = random_node<TestType>(d, seed);
                Matrix jet(1, 1 + node.size());
                TestType{}.jet(node.head(d).transpose(), node, jet);
                CHECK(jet(0) == 1.0);
                CHECK(jet.rightCols(node.size()).isZero(0.0));
            }
    }
}

TEMPLATE_TEST_CASE("a family's lengths follow the unit of x", "[kernels]", KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    for (const Index d : {1, 2, 4}) {
        for (Index row = 0; row < kernel.parameters(d); ++row)
            CHECK(kernel.parameter_kind(row) == Truth<TestType>::kind(d, row));
        if (!Truth<TestType>::of_difference) continue;
        constexpr Index m = 9;
        for (const double unit : {0.25, 0x1.0p-560, 0x1.0p+560}) {  // of the last two no square is a double
            const Vector node = random_node<TestType>(d, static_cast<std::uint64_t>(d));
            const Matrix x = support::uniforms(d, m, 77, -1.5, 1.5);
            Vector units = Vector::Constant(d, unit);
            if (kernel.parameter_kind(0) == ParameterKind::coordinate_scale)
                for (Index c = 0; c < d; ++c) units(c) *= static_cast<double>(1 << c);
            Vector scaled = node;
            scaled.head(d).array() *= units.array();
            for (Index row = d; row < node.size(); ++row)
                if (kernel.parameter_kind(row - d) != ParameterKind::shape) scaled(row) *= units(row - d);
            Matrix jet(m, 1 + node.size()), scaled_jet(m, 1 + node.size());
            kernel.jet(x.transpose().eval(), node, jet);
            kernel.jet((x.transpose() * units.asDiagonal()).eval(), scaled, scaled_jet);
            scaled_jet.middleCols(1, d).array().rowwise() *= units.transpose().array();
            INFO("d " << d << ", unit " << unit);
            CHECK((scaled_jet - jet).cwiseAbs().maxCoeff() <= 1e-14 * jet.cwiseAbs().maxCoeff());
            CHECK((values_of(kernel, units.asDiagonal() * x, scaled) - jet.col(0)).cwiseAbs().maxCoeff() <=
                  1e-15);
        }
    }
}

TEMPLATE_TEST_CASE("a family's shapes are numbers to choose from, for the one row that is a shape",
                   "[kernels]", KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    Index rows = 0;
    for (Index row = 0; row < kernel.parameters(2); ++row)
        rows += kernel.parameter_kind(row) == ParameterKind::shape ? 1 : 0;
    if constexpr (requires { kernel.shapes(); }) {
        CHECK(rows == 1);
        const std::vector<double> shapes = kernel.shapes();
        REQUIRE_FALSE(shapes.empty());
        for (std::size_t i = 0; i < shapes.size(); ++i)
            CHECK(shapes[i] == shapes[0] + static_cast<double>(i));
    } else {
        CHECK(rows == 0);
    }
}

TEMPLATE_TEST_CASE("past its reach a family is below rounding, not long before", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    if constexpr (kernelet::detail::HasReach<TestType>) {
        for (const Index d : {1, 2, 5})
            for (std::uint64_t seed = 1; seed <= 20; ++seed) {
                const Vector node = random_node<TestType>(d, seed);
                const double reach = kernel.reach(node);
                REQUIRE(std::isfinite(reach));
                REQUIRE(reach > 0.0);
                Vector direction = support::normals(d, 1, seed + 30);
                direction /= direction.norm();
                const double peak = std::abs(values_of(kernel, node.head(d), node)(0));
                for (const double factor : {1.0 + 1e-9, 1.1, 3.0, 1e3, 1e8, 1e200}) {
                    const Vector x = node.head(d) + factor * reach * direction;
                    const double k = values_of(kernel, x, node)(0);
                    CHECK(std::isfinite(k));
                    CHECK(std::abs(k) < 0x1.0p-53 * peak);
                }
                double before = 0.0;  // along the coordinate where it reaches farthest
                for (Index c = 0; c < d; ++c) {
                    const Vector x = node.head(d) + 0.9 * reach * Vector::Unit(d, c);
                    before = std::max(before, std::abs(values_of(kernel, x, node)(0)));
                }
                CHECK(before > 0x1.0p-53 * peak);
            }
    }
}

/// The family without its closed form: coherence is then taken over points.
template <class Kernel>
struct WithoutClosedForm {
    static constexpr std::string_view name = Kernel::name;
    Kernel kernel{};
    Index parameters(Index d) const { return kernel.parameters(d); }
    ParameterKind parameter_kind(Index row) const { return kernel.parameter_kind(row); }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        kernel.values(xt, node, k);
    }
    void jet(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
             kernelet::MatrixRef j) const {
        kernel.jet(xt, node, j);
    }
};

TEMPLATE_TEST_CASE("coherence is the normalised integral of the product of two kernels", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    const TestType kernel{};
    if constexpr (requires(const Vector& node) { kernel.coherence(node, node); }) {
        for (const Index d : {1, 2}) {
            // The trapezium rule on a grid past which both kernels vanish.
            constexpr double extent = 12.0;
            const Index side = d == 1 ? 2001 : 161;
            const Vector line = Vector::LinSpaced(side, -extent, extent);
            Matrix x(d, d == 1 ? side : side * side);
            for (Index i = 0; i < x.cols(); ++i) {
                x(0, i) = line(i % side);
                if (d == 2) x(1, i) = line(i / side);
            }
            const kernelet::detail::TiledPoints points(x);
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                const Vector a = random_node<TestType>(d, seed);
                const Vector b = random_node<TestType>(d, seed + 100);
                const Vector ka = values_of(kernel, x, a);
                const Vector kb = values_of(kernel, x, b);
                const double integral = std::abs(ka.dot(kb)) / (ka.norm() * kb.norm());
                INFO("d " << d);
                CHECK(std::abs(kernelet::coherence(kernel, points, a, b) - integral) <= 1e-6);
                CHECK(std::abs(kernelet::coherence(WithoutClosedForm<TestType>{}, points, a, b) - integral) <=
                      1e-12);
                CHECK(kernelet::coherence(kernel, points, a, b) == kernelet::coherence(kernel, points, b, a));
                CHECK(std::abs(kernelet::coherence(kernel, points, a, a) - 1.0) <= 1e-14);
            }
        }
    }
}

TEMPLATE_TEST_CASE("a family is a KernelFamily, with and without its fast paths", "[kernels]",
                   KERNELET_TESTED_KERNELS) {
    STATIC_REQUIRE(kernelet::KernelFamily<TestType>);
    STATIC_REQUIRE(kernelet::KernelFamily<WithoutClosedForm<TestType>>);
    CHECK_FALSE(std::string(TestType::name).empty());
    CHECK(std::string(TestType::name).find_first_of(" \n") == std::string::npos);  // one word of a model file
}

TEST_CASE("an anisotropic Gaussian of equal widths is the Gaussian", "[kernels]") {
    for (const Index d : {1, 3}) {
        constexpr Index m = 20;
        const Matrix xt = support::uniforms(m, d, 3, -2.0, 2.0);
        const Vector one = random_node<kernelet::Gaussian>(d, 4),
                     other = random_node<kernelet::Gaussian>(d, 8);
        const auto spread = [&](const Vector& node) {
            Vector wide(2 * d);
            wide << node.head(d), Vector::Constant(d, node(d));
            return wide;
        };
        const kernelet::Gaussian gaussian;
        const kernelet::AnisotropicGaussian anisotropic;
        Matrix narrow(m, 2 + d), wide(m, 1 + 2 * d);
        gaussian.jet(xt, one, narrow);
        anisotropic.jet(xt, spread(one), wide);
        CHECK((narrow.leftCols(1 + d) - wide.leftCols(1 + d)).cwiseAbs().maxCoeff() <= 1e-14);
        CHECK(wide.rightCols(d).rowwise().sum().isApprox(narrow.col(1 + d), 1e-14));
        CHECK(anisotropic.reach(spread(one)) == gaussian.reach(one));
        CHECK(anisotropic.coherence(spread(one), spread(other)) ==
              Approx(gaussian.coherence(one, other)).epsilon(1e-13));
    }
}

TEST_CASE("the Laplacian's slope has length k/w up to its kink", "[kernels]") {
    for (const double r : {1e-140, 1e-100, 1e-20, 1e-8, 0.1, 1.0}) {
        const Eigen::Vector3d node(0.0, 0.0, 0.5);
        Matrix jet(1, 4);
        kernelet::Laplacian{}.jet(Eigen::RowVector2d(0.6 * r, -0.8 * r), node, jet);
        CHECK(jet(1) == Approx(0.6 / 0.5 * std::exp(-r / 0.5)).epsilon(1e-13));
        CHECK(jet(2) == Approx(-0.8 / 0.5 * std::exp(-r / 0.5)).epsilon(1e-13));
        CHECK(jet(3) == Approx(r / 0.5 * std::exp(-r / 0.5)).epsilon(1e-13));
    }
    // closer than any r whose square is a double: no slope, and no overflow
    Matrix jet(1, 3);
    kernelet::Laplacian{}.jet(Vector::Constant(1, 1e-300), Eigen::Vector2d(0.0, 0.5), jet);
    CHECK(jet(0) == 1.0);
    CHECK(std::abs(jet(1)) <= 2.0);
}

TEST_CASE("the sinc's derivative is right to the last digits, at its peak, at its zeros and far out",
          "[kernels]") {
    constexpr double w = 0.7;
    const Eigen::Vector2d node(0.0, w);
    for (double u = 1e-9; u < 50.0; u *= 1.07) {
        Matrix jet(1, 3);
        kernelet::Sinc{}.jet(Vector::Constant(1, u * w), node, jet);
        const long double t = std::numbers::pi_v<long double> * static_cast<long double>(u * w) / w;
        // −s'(t) for s = sin t / t; Σ_n (−1)^{n+1} 2n t^{2n−1}/(2n+1)! as far as long double goes
        long double fall = (std::sin(t) / t - std::cos(t)) / t;
        if (t < 1.0L) {
            long double power = t, factorial = 6.0L;
            fall = 0.0L;
            for (int n = 1; n <= 14; ++n) {
                fall += (n % 2 == 1 ? 2.0L : -2.0L) * n * power / factorial;
                power *= t * t;
                factorial *= (2.0L * n + 2.0L) * (2.0L * n + 3.0L);
            }
        }
        INFO("u " << u);
        // relative near the peak, else relative to the slopes around
        const double tolerance =
            1e-12 * (t < 1.0L ? std::abs(static_cast<double>(fall)) : 1.0 / static_cast<double>(t));
        CHECK(std::abs(jet(1) * w / std::numbers::pi - static_cast<double>(fall)) <= tolerance);
        CHECK(std::abs(jet(2) / static_cast<double>(t) - static_cast<double>(fall)) <= tolerance);
    }
    // In the plane, where the other coordinate's factor is zero: only its own slope is left.
    Matrix jet(1, 4);
    kernelet::Sinc{}.jet(Eigen::RowVector2d(w, 0.0), Eigen::Vector3d(0.0, 0.0, w), jet);
    CHECK(std::abs(jet(0)) <= 1e-15);
    CHECK(jet(1) == Approx(1.0 / w));  // −(π/w) cos(π)/π
    CHECK(std::abs(jet(2)) <= 1e-15);
}

TEST_CASE("a polynomial's orders are 1 ... max_order, and no order is too high to evaluate", "[kernels]") {
    CHECK(kernelet::Polynomial{}.shapes() == std::vector<double>{1, 2, 3, 4, 5});
    CHECK(kernelet::Polynomial(1).shapes() == std::vector<double>{1});
    CHECK(kernelet::Polynomial(kernelet::Polynomial::highest_order).shapes().back() ==
          static_cast<double>(kernelet::Polynomial::highest_order));
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(support::refusal([] { kernelet::Polynomial(0); }), ContainsSubstring("max_order = 0"));
    CHECK_THAT(support::refusal([] { kernelet::Polynomial(-3); }), ContainsSubstring("max_order = -3"));
    CHECK_THAT(support::refusal([] { kernelet::Polynomial(kernelet::Polynomial::highest_order + 1); }),
               ContainsSubstring("max_order = 21"));
    // A node of a model fitted with more orders, and one between two orders.
    const Vector x = Vector::Constant(1, 1.0);
    CHECK(values_of(kernelet::Polynomial{}, x, Eigen::Vector2d(1.0, 9.0))(0) == 512.0);
    CHECK(values_of(kernelet::Polynomial{}, x, Eigen::Vector2d(1.0, 2.6))(0) == 8.0);
    CHECK(values_of(kernelet::Polynomial{}, x, Eigen::Vector2d(-3.0, 3.0))(0) == -8.0);
}

/// A family that calls its width a shape and has no shapes().
struct Secretive : kernelet::Gaussian {
    static constexpr const char* name = "secretive";
    ParameterKind parameter_kind(Index) const { return ParameterKind::shape; }
};

/// A family whose one width is of the first coordinate.
struct Sided : kernelet::Gaussian {
    static constexpr std::string_view name = "sided";
    ParameterKind parameter_kind(Index) const { return ParameterKind::coordinate_scale; }
};

/// A family without a default.
struct Configured : kernelet::Gaussian {
    static constexpr std::string_view name = "configured";
    explicit Configured(double factor_) : factor(factor_) {}
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        kernelet::Gaussian::values(xt, node, k);
        k *= factor;
    }
    double factor;
};

template <class... Families>
concept Listable = requires {
    typename kernelet::Dictionary<Families...>;
};

TEST_CASE("a dictionary is the family that its tag stands for", "[kernels]") {
    using kernelet::Gaussian, kernelet::Laplacian, kernelet::Matern52, kernelet::Sinc;
    CHECK(Mixed::name == "dictionary<gaussian,laplacian,matern52>");
    CHECK(kernelet::Dictionary<Sinc>::name == "dictionary<sinc>");
    CHECK(Mixed{}.shapes() == std::vector<double>{0, 1, 2});

    constexpr Index d = 2, m = 20;
    const Matrix xt = support::uniforms(m, d, 3, -2.0, 2.0);
    const auto same = [&](double tag, const auto& family) {
        const Eigen::Vector3d node(0.1, -0.2, 0.8);
        const Eigen::Vector4d tagged(0.1, -0.2, 0.8, tag);
        Vector k(m), dictionary_k(m);
        Matrix jet(m, 4), dictionary_jet(m, 5);
        family.values(xt, node, k);
        family.jet(xt, node, jet);
        Mixed{}.values(xt, tagged, dictionary_k);
        Mixed{}.jet(xt, tagged, dictionary_jet);
        return support::same_bits(k, dictionary_k) && support::same_bits(jet, dictionary_jet.leftCols(4)) &&
               dictionary_jet.col(4).isZero(0.0) && Mixed{}.reach(tagged) == family.reach(node);
    };
    CHECK(same(0.0, Gaussian{}));
    CHECK(same(1.0, Laplacian{}));
    CHECK(same(2.0, Matern52{}));
    CHECK_FALSE(same(2.0, Laplacian{}));
    CHECK(same(0.8, Laplacian{}));  // the nearest
    CHECK(same(7.0, Matern52{}));

    // its families are values given to it
    const kernelet::Dictionary chosen(Gaussian{}, Configured(3.0));
    CHECK(values_of(chosen, Vector::Zero(1), Eigen::Vector3d(0.0, 1.0, 0.0))(0) == 1.0);
    CHECK(values_of(chosen, Vector::Zero(1), Eigen::Vector3d(0.0, 1.0, 1.0))(0) == 3.0);
    STATIC_REQUIRE(kernelet::KernelFamily<kernelet::Dictionary<Gaussian, Configured>>);
    STATIC_REQUIRE_FALSE(std::default_initializable<kernelet::Dictionary<Gaussian, Configured>>);

    STATIC_REQUIRE(kernelet::detail::HasReach<Mixed>);
    STATIC_REQUIRE_FALSE(kernelet::detail::HasReach<kernelet::Dictionary<Gaussian, Sinc>>);
}

TEST_CASE("a dictionary refuses families that do not share their parameters", "[kernels]") {
    using Catch::Matchers::ContainsSubstring;
    using kernelet::AnisotropicGaussian, kernelet::Dictionary, kernelet::Gaussian;
    CHECK_THAT(support::refusal([] { Dictionary<Gaussian, AnisotropicGaussian>{}; }),
               ContainsSubstring("anisotropic_gaussian has 2 parameters for 2 inputs"));
    CHECK_THAT(support::refusal([] { Dictionary<AnisotropicGaussian>{}; }),
               ContainsSubstring("1 are needed"));
    CHECK_THAT(support::refusal([] { Dictionary<Secretive>{}; }), ContainsSubstring("of secretive"));
    CHECK_THAT(support::refusal([] { Dictionary<Gaussian, Sided>{}; }), ContainsSubstring("of sided"));
    STATIC_REQUIRE(Listable<Gaussian, kernelet::Sinc>);
    STATIC_REQUIRE_FALSE(Listable<Gaussian, kernelet::Polynomial>);  // has a shape itself
    STATIC_REQUIRE_FALSE(Listable<Gaussian, Mixed>);
}

}  // namespace kernels_test

TEST_CASE("exponentials are those of the standard library up to rounding, and bounded", "[kernels]") {
    using namespace kernelet;
    constexpr Index n = 200001;
    const Vector x = Vector::LinSpaced(n, -79.99, 0.0);
    Vector own = -2.0 * x;
    detail::exponentials(own.data(), n, -0.5);
    double worst = 0.0, apart = 0.0;
    for (Index i = 0; i < n; ++i) {
        worst = std::max(worst, std::abs(own(i) / std::exp(x(i)) - 1.0));
        detail::Lanes lanes = detail::Lanes{} + x(i);
        detail::bounded_exponentials(lanes);
        apart = std::max(apart, std::abs(lanes[0] / std::exp(x(i)) - 1.0));
    }
    CHECK(worst <= 1e-15);
    CHECK(apart <= 1e-15);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Vector ends(5);
    ends << 0.0, -1e300, -infinity, 3.0, std::numeric_limits<double>::quiet_NaN();
    detail::exponentials(ends.data(), ends.size());
    CHECK(ends(0) == 1.0);
    CHECK(ends(1) == Approx(std::exp(-80.0)));
    CHECK(ends(2) == Approx(std::exp(-80.0)));
    CHECK(ends(3) == 1.0);
    CHECK(std::isnan(ends(4)));
}

TEST_CASE("squared distances by the block are those point by point", "[kernels]") {
    using namespace kernelet;
    for (const Index d : {1, 2, 3, 8, 17})
        for (const Index n : {1, 7, 31, 32, 33, 100}) {
            const Matrix x = support::normals(n, d, 31), z = support::normals(d, 1, 32);
            const Vector w = support::normals(d, 1, 33).array().exp().matrix();
            Vector plain(n), scaled(n);
            detail::squared_distances<false>(x, z.data(), nullptr, plain.data());
            detail::squared_distances<true>(x, z.data(), w.data(), scaled.data());
            for (Index i = 0; i < n; ++i) {
                const Vector apart = x.row(i).transpose() - z;
                CHECK(plain(i) == Approx(apart.squaredNorm()).epsilon(1e-14));
                CHECK(scaled(i) == Approx(apart.cwiseQuotient(w).squaredNorm()).epsilon(1e-14));
            }
        }
}
