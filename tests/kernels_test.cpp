#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/peaks/coherence.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>

// One suite for all families. A family joins with a Truth, its formula and parameters to try, and its name in
// the list below.
#define KERNELET_TESTED_KERNELS kernelet::Gaussian

namespace kernels_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

template <class Kernel>
struct Truth;

template <>
struct Truth<kernelet::Gaussian> {
    static double formula(const Vector& x, const Vector& z, const Vector& theta) {
        return std::exp(-(x - z).squaredNorm() / (2.0 * theta(0) * theta(0)));
    }
    /// θ for inputs of dimension d from numbers in [0, 1).
    static Vector theta(Index /*d*/, const Vector& u) { return Vector::Constant(1, 0.3 + 1.2 * u(0)); }
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
                CHECK(std::abs(k(i) - exact) <= 1e-13 * std::abs(exact) + 1e-300);
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
            const Matrix x = support::uniforms(d, m, seed + 9, -1.5, 1.5);
            const Index rows = node.size();
            Matrix jet = Matrix::Constant(m, 1 + rows, 7.0);
            kernel.jet(x.transpose().eval(), node, jet);
            CHECK((jet.col(0) - values_of(kernel, x, node)).cwiseAbs().maxCoeff() <= 1e-15);
            for (Index row = 0; row < rows; ++row) {
                Vector less = node, more = node;
                if (row < d) {
                    less(row) -= h;
                    more(row) += h;
                } else if (kernel.parameter_kind(row - d) == kernelet::ParameterKind::shape) {
                    CHECK(jet.col(1 + row).isZero(0.0));
                    continue;
                } else {
                    less(row) *= std::exp(-h);
                    more(row) *= std::exp(h);
                }
                const Vector slope = (values_of(kernel, x, more) - values_of(kernel, x, less)) / (2.0 * h);
                INFO("d " << d << ", row " << row);
                CHECK((jet.col(1 + row) - slope).cwiseAbs().maxCoeff() <= 1e-7);
                CHECK(slope.cwiseAbs().maxCoeff() > 1e-3);  // the comparison is of something
            }
        }
}

TEMPLATE_TEST_CASE("past its reach a family is below rounding", "[kernels]", KERNELET_TESTED_KERNELS) {
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
                for (const double factor : {1.0 + 1e-9, 1.1, 3.0, 1e3, 1e8}) {
                    const Vector x = node.head(d) + factor * reach * direction;
                    const double k = values_of(kernel, x, node)(0);
                    CHECK(std::isfinite(k));
                    CHECK(std::abs(k) < 0x1.0p-53 * peak);
                }
            }
    }
}

/// The family without its closed form: coherence is then taken over points.
template <class Kernel>
struct WithoutClosedForm {
    static constexpr std::string_view name = Kernel::name;
    Kernel kernel{};
    Index parameters(Index d) const { return kernel.parameters(d); }
    kernelet::ParameterKind parameter_kind(Index row) const { return kernel.parameter_kind(row); }
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

}  // namespace kernels_test
