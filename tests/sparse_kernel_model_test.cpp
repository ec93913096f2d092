#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace sparse_kernel_model_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::ParameterKind;
using kernelet::Vector;
using support::refusal;
using Model = kernelet::SparseKernelModel<Gaussian>;

InputScaling scaling(Index d, bool isotropic) {
    InputScaling s = InputScaling::identity(d);
    s.shift.setLinSpaced(d, 0.5, 3.0);
    s.scale.setConstant(2.5);
    if (!isotropic) s.scale.setLinSpaced(d, 0.1, 50.0);
    return s;
}

Model random_model(Index d, Index kernels, Index outputs, bool isotropic = true) {
    Matrix nodes(d + 1, kernels);
    nodes.topRows(d) = support::uniforms(d, kernels, 1, -1.0, 1.0);
    nodes.row(d) = support::uniforms(1, kernels, 2, 0.2, 0.9);
    return {Gaussian{}, scaling(d, isotropic), nodes, support::normals(kernels, outputs, 3),
            support::normals(outputs, 1, 4)};
}

/// offset + Σ a_j exp(−½ Σ_c ((x − z)_c / w_cj)²), from the model's accessors in the user's units.
Vector scalar_sum(const Model& model, const Vector& x) {
    const Matrix centers = model.centers();
    const Matrix widths = model.widths();
    Vector sum = model.offset();
    for (Index j = 0; j < model.size(); ++j) {
        double square = 0.0;
        for (Index c = 0; c < model.dimension(); ++c) {
            const double w = widths.rows() == 1 ? widths(0, j) : widths(c, j);
            square += std::pow((x(c) - centers(c, j)) / w, 2);
        }
        sum += std::exp(-0.5 * square) * model.coefficients().row(j).transpose();
    }
    return sum;
}

TEST_CASE("predict is the sum over what the model says of itself", "[sparse_kernel_model]") {
    for (const Index d : {1, 2, 5})
        for (const bool isotropic : {true, false})
            for (const Index outputs : {1, 3})
                for (const Index kernels : {1, 7, 40}) {
                    const Model model = random_model(d, kernels, outputs, isotropic);
                    REQUIRE(model.size() == kernels);
                    REQUIRE(model.dimension() == d);
                    REQUIRE(model.outputs() == outputs);
                    const Matrix x = model.scaling().to_user(support::uniforms(d, 45, 5, -1.5, 1.5));
                    const Matrix predicted = model.predict(x);
                    if (outputs == 1) {
                        REQUIRE(predicted.rows() == 45);
                        REQUIRE(predicted.cols() == 1);
                    } else {
                        REQUIRE(predicted.rows() == outputs);
                        REQUIRE(predicted.cols() == 45);
                    }
                    bool close = true;
                    for (Index i = 0; i < 45; ++i) {
                        const Vector exact = scalar_sum(model, x.col(i));
                        const Vector found =
                            outputs == 1 ? Vector(predicted.row(i).transpose()) : Vector(predicted.col(i));
                        close = close && (found - exact).isZero(1e-10);
                    }
                    INFO("d " << d << ", isotropic " << isotropic << ", q " << outputs);
                    CHECK(close);
                }
}

TEST_CASE("centers and widths are in the user's units", "[sparse_kernel_model]") {
    const Model same = random_model(2, 4, 1, true);
    CHECK(same.centers()(1, 2) == Approx(same.nodes()(1, 2) * 2.5 + 3.0));
    REQUIRE(same.widths().rows() == 1);  // one width per kernel where one scale serves
    CHECK(same.widths()(0, 3) == Approx(same.nodes()(2, 3) * 2.5));
    const Model different = random_model(2, 4, 1, false);
    REQUIRE(different.widths().rows() == 2);  // d per kernel where scales differ
    CHECK(different.widths()(0, 1) == Approx(different.nodes()(2, 1) * 0.1));
    CHECK(different.widths()(1, 1) == Approx(different.nodes()(2, 1) * 50.0));
    CHECK(different.coefficients().rows() == 4);
    CHECK(different.coefficients().cols() == 1);
}

/// Widths a coordinate and an order: only what is a length changes its unit.
struct Mixed {
    static constexpr std::string_view name = "mixed";
    Index parameters(Index d) const { return d + 1; }
    ParameterKind parameter_kind(Index row) const {
        return row < 2 ? ParameterKind::coordinate_scale : ParameterKind::shape;
    }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef&,
                kernelet::VectorRef k) const {
        k = xt.col(0);
    }
    void jet(const kernelet::ConstMatrixRef&, const kernelet::ConstVectorRef&, kernelet::MatrixRef) const {}
};

TEST_CASE("each row of theta changes its unit by its kind", "[sparse_kernel_model]") {
    InputScaling s = InputScaling::identity(2);
    s.scale << 2.0, 10.0;
    const kernelet::SparseKernelModel<Mixed> model(Mixed{}, s, Matrix::Ones(5, 1), Matrix::Ones(1, 1),
                                                   Vector::Zero(1));
    CHECK(support::same_bits(model.widths(), (Vector(3) << 2.0, 10.0, 1.0).finished()));
}

TEST_CASE("an empty model predicts its offset", "[sparse_kernel_model]") {
    for (const Index outputs : {1, 2}) {
        const Vector offset = support::normals(outputs, 1, 6);
        const Model model(Gaussian{}, InputScaling::identity(3), Matrix(4, 0), Matrix(0, outputs), offset);
        CHECK(model.size() == 0);
        const Matrix predicted = model.predict(support::normals(3, 10, 7));
        for (Index i = 0; i < 10; ++i)
            for (Index o = 0; o < outputs; ++o)
                CHECK((outputs == 1 ? predicted(i, 0) : predicted(o, i)) == offset(o));
        CHECK(model.predict(Matrix(3, 0)).size() == 0);
        CHECK(model.centers().cols() == 0);
        CHECK(model.widths().cols() == 0);
    }
    CHECK(random_model(1, 3, 1)(1e9) == random_model(1, 3, 1).offset()(0));  // so does any, far away
}

TEST_CASE("one point and a block of points agree to the bit", "[sparse_kernel_model]") {
    const Model line = random_model(1, 9, 1);
    const Matrix x = support::uniforms(1, 70, 8, -3.0, 5.0);
    const Matrix block = line.predict(x);
    const Model plane = random_model(2, 9, 1);
    const Matrix xy = support::uniforms(2, 70, 9, -3.0, 5.0);
    const Matrix block2 = plane.predict(xy);
    for (Index i = 0; i < 70; ++i) {
        CHECK(line(x(0, i)) == Approx(block(i)).epsilon(1e-13));
        CHECK(plane(xy.col(i)) == Approx(block2(i)).epsilon(1e-13));
    }
    CHECK(plane(Eigen::Vector2d(0.1, 0.2)) == plane((Vector(2) << 0.1, 0.2).finished()));
}

TEST_CASE("any Eigen expression will do, float too", "[sparse_kernel_model]") {
    const Model model = random_model(2, 5, 1);
    const Matrix x = support::uniforms(2, 33, 10, -3.0, 5.0);
    const Matrix expected = model.predict(x);
    const Eigen::MatrixXf single = x.cast<float>();
    CHECK(support::same_bits(model.predict(single), model.predict(single.cast<double>().eval())));
    CHECK((model.predict(single) - expected).isZero(1e-5));
    const Eigen::Map<const Matrix> map(x.data(), 2, 33);
    CHECK(support::same_bits(model.predict(map), expected));
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> strided(x.data(), 2, 16, Eigen::OuterStride<>(4));
    CHECK(model.predict(strided)(3) == Approx(expected(6)));
    const Eigen::Ref<const Matrix> ref(x);
    CHECK(support::same_bits(model.predict(ref), expected));
    CHECK((model.predict(x.block(0, 5, 2, 20)) - expected.middleRows(5, 20)).isZero(1e-13));
    CHECK((model.predict(x.rightCols(7)) - expected.bottomRows(7)).isZero(1e-13));
    CHECK((model.predict(0.5 * (x + x)) - expected).isZero(1e-13));
    const Eigen::Matrix<double, 2, Eigen::Dynamic, Eigen::RowMajor> rows = x;
    CHECK(support::same_bits(model.predict(rows), expected));
}

TEST_CASE("a query that makes no sense is refused, and named", "[sparse_kernel_model]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const Model model = random_model(2, 3, 1);
    Matrix x = Matrix::Zero(2, 5);
    x(1, 3) = nan;
    CHECK_THAT(refusal([&] { model.predict(x); }), ContainsSubstring("x(1, 3)"));
    x(1, 3) = std::numeric_limits<double>::infinity();
    CHECK_THAT(refusal([&] { model.predict(x); }), ContainsSubstring("x(1, 3)"));
    CHECK_THAT(refusal([&] { model.predict(Matrix::Zero(3, 2)); }), ContainsSubstring("x has 3 rows"));
    CHECK_THAT(refusal([&] { model(0.5); }), ContainsSubstring("x has 1 rows"));
    CHECK_THAT(refusal([&] { model(Matrix::Zero(2, 2)); }), ContainsSubstring("x has 2 columns"));
    CHECK_THAT(refusal([&] { random_model(1, 3, 1)(nan); }), ContainsSubstring("x(0, 0)"));
    CHECK_THAT(refusal([&] { random_model(1, 3, 2)(0.0); }), ContainsSubstring("one output"));
}

TEST_CASE("a model that fits not together is refused, and named", "[sparse_kernel_model]") {
    const Gaussian kernel{};
    const InputScaling one = InputScaling::identity(1);
    const Matrix nodes = Matrix::Ones(2, 3);
    const Matrix a = Matrix::Ones(3, 1);
    const Vector offset = Vector::Zero(1);
    CHECK(refusal([&] { Model(kernel, one, nodes, a, offset); }).empty());
    CHECK_THAT(refusal([&] { Model(kernel, {}, nodes, a, offset); }), ContainsSubstring("scaling.shift"));
    CHECK_THAT(refusal([&] {
                   Model(kernel, {Vector::Zero(1), Vector::Ones(2)}, nodes, a, offset);
               }),
               ContainsSubstring("scaling.scale"));
    CHECK_THAT(refusal([&] {
                   Model(kernel, {Vector::Zero(1), Vector::Zero(1)}, nodes, a, offset);
               }),
               ContainsSubstring("scaling.scale(0)"));
    CHECK_THAT(refusal([&] { Model(kernel, one, Matrix::Ones(3, 3), a, offset); }),
               ContainsSubstring("nodes"));
    CHECK_THAT(refusal([&] { Model(kernel, one, nodes, Matrix::Ones(2, 1), offset); }),
               ContainsSubstring("coefficients"));
    CHECK_THAT(refusal([&] { Model(kernel, one, nodes, Matrix::Ones(3, 2), offset); }),
               ContainsSubstring("coefficients"));
    CHECK_THAT(refusal([&] { Model(kernel, one, nodes, Matrix(3, 0), Vector(0)); }),
               ContainsSubstring("outputs"));
    Matrix bad = nodes;
    bad(1, 2) = -0.5;
    CHECK_THAT(refusal([&] { Model(kernel, one, bad, a, offset); }), ContainsSubstring("nodes(1, 2)"));
    bad(1, 2) = 0.0;
    CHECK_THAT(refusal([&] { Model(kernel, one, bad, a, offset); }), ContainsSubstring("nodes(1, 2)"));
    bad(1, 2) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(refusal([&] { Model(kernel, one, bad, a, offset); }), ContainsSubstring("nodes(1, 2)"));
    CHECK_THAT(refusal([&] {
                   Model(kernel, one, nodes, a, Vector::Constant(1, std::numeric_limits<double>::infinity()));
               }),
               ContainsSubstring("offset"));
}

}  // namespace sparse_kernel_model_test
