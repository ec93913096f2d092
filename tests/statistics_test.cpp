#include "support/catch.hpp"
#include "support/search.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/search/levenberg_marquardt.hpp>
#include <kernelet/search/statistics.hpp>

#include <Eigen/LU>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace statistics_test {

using Catch::Matchers::ContainsSubstring;
using namespace kernelet;
using Model = SparseKernelModel<Gaussian>;

/// A model, samples of uneven weights of mean one, and their residual.
struct Setting {
    Matrix x{};
    Matrix nodes{};
    Matrix a{};
    Matrix residual{};
    Vector weights{};

    Setting(Index d, Index outputs, Index n = 90)
        : x(support::uniforms(d, n, 51, -3.0, 3.0)),
          nodes(d + 1, 3),
          a(support::uniforms(3, outputs, 52, 0.5, 1.5)),
          residual(0.1 * support::normals(outputs, n, 53)),
          weights(support::uniforms(n, 1, 54, 0.3, 2.0)) {
        nodes.topRows(d).setZero();
        nodes.row(0) << -1.5, 0.1, 1.8;
        nodes.row(d) << 0.6, 0.7, 0.9;
        a.row(1) *= -1.0;
        weights /= weights.mean();
        if (outputs > 1) residual.row(1) *= 3.0;
    }

    KernelExpansion model() const { return {nodes, a, Vector::Zero(a.cols())}; }
};

Vector kernel_values(const Matrix& x, const Vector& node) {
    const Index d = x.rows();
    return (-0.5 * (x.colwise() - node.head(d)).colwise().squaredNorm() / (node(d) * node(d)))
        .array()
        .exp()
        .transpose();
}

/// The derivative of output o in all parameters, n x P, from the formula.
Matrix jacobian(const Matrix& x, const Matrix& nodes, const Matrix& a, Index o) {
    const Index d = x.rows(), k = nodes.cols(), q = a.cols();
    Matrix j = Matrix::Zero(x.cols(), k * (q + d + 1));
    for (Index c = 0; c < k; ++c) {
        const double square = nodes(d, c) * nodes(d, c);
        const Vector values = kernel_values(x, nodes.col(c));
        const Matrix away = x.colwise() - nodes.col(c).head(d);
        j.col(o * k + c) = values;
        for (Index row = 0; row < d; ++row)
            j.col(q * k + c * (d + 1) + row) =
                a(c, o) * values.cwiseProduct(away.row(row).transpose()) / square;
        j.col(q * k + c * (d + 1) + d) =
            a(c, o) * values.cwiseProduct(away.colwise().squaredNorm().transpose()) / square;
    }
    return j;
}

/// σ of an output, and the covariance of the parameters that are free.
struct ByHand {
    Vector noise{};
    Matrix covariance{};

    ByHand(const Setting& s, const std::vector<Index>& free) : noise(s.a.cols()) {
        const Index q = s.a.cols(), n = s.x.cols();
        Matrix information =
            Matrix::Zero(s.nodes.cols() * (q + s.nodes.rows()), s.nodes.cols() * (q + s.nodes.rows()));
        const double left = 1.0 - static_cast<double>(free.size()) / static_cast<double>(q * n);
        for (Index o = 0; o < q; ++o) {
            double squares = 0.0;
            for (Index i = 0; i < n; ++i) squares += s.weights(i) * s.residual(o, i) * s.residual(o, i);
            noise(o) = std::sqrt(squares / (s.weights.sum() * left));
            const Matrix j = jacobian(s.x, s.nodes, s.a, o);
            information += j.transpose() * s.weights.asDiagonal() * j / (noise(o) * noise(o));
        }
        const Matrix inverse = Matrix(information(free, free)).inverse();
        covariance = Matrix::Zero(information.rows(), information.cols());
        covariance(free, free) = inverse;
    }
};

ModelStatistics statistics(const Setting& s, const AnyDomain& domain, double ridge = 0.0) {
    const detail::TiledPoints points(s.x);
    const Matrix y = expansion_values(AnyKernel(Gaussian{}), points, s.model()) + s.residual;
    return statistics_of({Gaussian{}, points, y, s.weights, ridge}, domain, s.model());
}

Box wide(Index d) { return {Vector::Constant(d, -5.0), Vector::Constant(d, 5.0), {0.01, 10.0}}; }

/// Relative to the deviations of the two parameters.
double difference(const Matrix& covariance, const Matrix& expected) {
    const Vector unit =
        expected.diagonal().cwiseSqrt().unaryExpr([](double v) { return v > 0.0 ? 1.0 / v : 1.0; });
    return (unit.asDiagonal() * (covariance - expected) * unit.asDiagonal()).cwiseAbs().maxCoeff();
}

#ifdef NDEBUG
constexpr Index fitted_samples = 101;
#else
constexpr Index fitted_samples = 31;  // sanitizers are slow
#endif

}  // namespace statistics_test

TEST_CASE("the covariance is the inverse of the information matrix of all parameters", "[statistics]") {
    using namespace statistics_test;
    const Index d = GENERATE(1, 2), outputs = GENERATE(1, 2);
    const Setting s(d, outputs);
    std::vector<Index> all;
    for (Index at = 0; at < 3 * (outputs + d + 1); ++at) all.push_back(at);
    const ByHand expected(s, all);
    const ModelStatistics found = statistics(s, wide(d));
    CAPTURE(d, outputs);
    REQUIRE(found.noise.size() == outputs);
    REQUIRE(found.covariance.rows() == expected.covariance.rows());
    CHECK((found.noise - expected.noise).cwiseAbs().maxCoeff() <= 1e-12);
    CHECK(difference(found.covariance, expected.covariance) <= 1e-7);
    CHECK(support::same_bits(found.covariance, found.covariance.transpose()));
    // A ridge is prior information: it lowers the variance of every parameter.
    const ModelStatistics ridged = statistics(s, wide(d), 1e-2);
    CHECK((ridged.covariance.diagonal().array() < found.covariance.diagonal().array()).all());
}

TEST_CASE("parameters that the domain holds have no variance and add none to the others", "[statistics]") {
    using namespace statistics_test;
    const Index outputs = GENERATE(1, 2);
    const Setting s(2, outputs);
    std::vector<Index> centers, widths, neither;  // that are free, besides the coefficients
    for (Index at = 0; at < 3 * (outputs + 3); ++at) {
        const bool coefficient = at < 3 * outputs, width = (at - 3 * outputs) % 3 == 2;
        if (coefficient) neither.push_back(at);
        if (coefficient || !width) centers.push_back(at);
        if (coefficient || width) widths.push_back(at);
    }
    const FixedWidth fixed(Vector::Constant(2, -5.0), Vector::Constant(2, 5.0), 0.7);
    const CandidateCenters held(s.nodes.topRows(2), {0.01, 10.0});
    const ByHand of_centers(s, centers), of_widths(s, widths);
    const ModelStatistics with_centers = statistics(s, fixed), with_widths = statistics(s, held);
    CHECK((with_centers.noise - of_centers.noise).cwiseAbs().maxCoeff() <= 1e-12);
    CHECK(difference(with_centers.covariance, of_centers.covariance) <= 1e-7);
    CHECK(difference(with_widths.covariance, of_widths.covariance) <= 1e-7);
    for (Index j = 0; j < 3; ++j) {
        CHECK((with_centers.covariance.row(3 * outputs + 3 * j + 2).array() == 0.0).all());
        CHECK((with_centers.covariance.col(3 * outputs + 3 * j + 2).array() == 0.0).all());
        CHECK((with_widths.covariance.row(3 * outputs + 3 * j).array() == 0.0).all());
        CHECK((with_widths.covariance.row(3 * outputs + 3 * j + 1).array() == 0.0).all());
        CHECK(with_widths.covariance(3 * outputs + 3 * j + 2, 3 * outputs + 3 * j + 2) > 0.0);
    }
    const ModelStatistics all = statistics(s, wide(2));
    for (const Index at : neither) CHECK(with_centers.covariance(at, at) < all.covariance(at, at));
}

TEST_CASE("shares are the relative norms of the kernels and add up to one", "[statistics]") {
    using namespace statistics_test;
    for (const Index outputs : {1, 2}) {
        const Setting s(1, outputs);
        Vector sizes(3);
        for (Index j = 0; j < 3; ++j) {
            double sum = 0.0;
            const Vector k = kernel_values(s.x, s.nodes.col(j));
            for (Index o = 0; o < outputs; ++o)
                for (Index i = 0; i < s.x.cols(); ++i) sum += s.weights(i) * std::pow(s.a(j, o) * k(i), 2);
            sizes(j) = std::sqrt(sum);
        }
        const Vector shares = statistics(s, wide(1)).shares;
        CHECK((shares - sizes / sizes.sum()).cwiseAbs().maxCoeff() <= 1e-12);
        CHECK(shares.sum() == Approx(1.0).epsilon(1e-13));
    }
}

TEST_CASE("a fit orders its kernels by falling share and holds their statistics", "[statistics]") {
    using namespace statistics_test;
    const Index outputs = GENERATE(1, 2);
    const support::Chirp signal = support::chirp(fitted_samples, 3);
    const Matrix x = 0.6 * signal.x;
    Matrix y(outputs, x.cols());
    y.row(0) = (0.5 * std::numbers::pi * x.array().square()).sin();
    if (outputs > 1) y.row(1) = (2.0 * x.array()).cos();
    y += 0.03 * support::normals(outputs, x.cols(), 4);
    const auto fit = SparseKernelEstimator<>().fit(x, y);
    const Model& model = fit.model;
    const ModelStatistics& known = model.statistics();
    REQUIRE(model.size() >= 2);
    REQUIRE(known.shares.size() == model.size());
    CHECK(known.shares.sum() == Approx(1.0).epsilon(1e-12));
    Vector sizes(model.size());
    for (Index j = 0; j < model.size(); ++j) {
        if (j > 0) CHECK(known.shares(j) <= known.shares(j - 1));
        Vector node = model.nodes().col(j);
        node.head(1) = model.centers().col(j);
        node.tail(1) = model.widths().col(j);
        sizes(j) = model.coefficients().row(j).norm() * kernel_values(x, node).norm();
    }
    CHECK((known.shares - sizes / sizes.sum()).cwiseAbs().maxCoeff() <= 1e-10);
    const auto parameters = static_cast<double>(model.size() * (outputs + 2));
    Matrix left = model.predict(x);
    if (outputs == 1) left.transposeInPlace();
    left -= y;
    // Parameters count as far as the data and not the prior determine them: γ is less than their number, not by much.
    for (Index o = 0; o < outputs; ++o) {
        const auto deviation = [&](double spent) {
            return std::sqrt(left.row(o).squaredNorm() /
                             (static_cast<double>(x.cols()) - spent / static_cast<double>(outputs)));
        };
        CHECK(known.noise(o) < deviation(parameters));
        CHECK(known.noise(o) > deviation(0.6 * parameters));
    }
    CHECK(model.standard_errors().rows() == model.size());
    CHECK(model.standard_errors().cols() == outputs);
    CHECK((model.standard_errors().array() > 0.0).all());
    CHECK(model.predict(x, with_deviation).deviation.maxCoeff() <= 2.0 * known.noise.maxCoeff());
}

TEST_CASE("standard errors and deviations are the scatter of repeated fits", "[statistics]") {
    using namespace statistics_test;
    const Index outputs = GENERATE(1, 2);
    constexpr Index n = 80, realisations = 250;
    constexpr double sigma = 0.03;
    const Matrix x = Vector::LinSpaced(n, -3.0, 3.5).transpose();
    Matrix truth(2, 2), heights(outputs, 2);
    truth << -1.0, 1.2, 0.7, 0.9;
    heights.col(0).setConstant(1.0);
    heights.col(1).setConstant(-0.7);
    if (outputs > 1) heights.row(1) << 0.4, 0.9;
    // Noise of variance σ²/w, as the weights imply.
    Vector weights = Vector::Ones(n);
    if (outputs > 1) weights = support::uniforms(n, 1, 61, 0.3, 2.0);
    weights /= weights.mean();
    const Gaussian kernel;
    const detail::TiledPoints points(x);
    const Box box = wide(1);
    InputScaling scaling = InputScaling::identity(1);  // the user's x is another
    scaling.shift << 3.0;
    scaling.scale << 10.0;
    const Matrix clean = detail::synthesize(kernel, points, truth, heights);
    const Matrix at = scaling.to_user(Vector::LinSpaced(12, -2.5, 3.0).transpose());
    const Matrix exact =
        Model(kernel, scaling, truth, heights.transpose(), Vector::Zero(outputs)).predict(at);
    Matrix scatter = Matrix::Zero(2, outputs), claimed = scatter;
    Matrix scatter_at = Matrix::Zero(exact.rows(), exact.cols()), claimed_at = scatter_at;
    double variance = 0.0;
    for (Index r = 0; r < realisations; ++r) {
        const Matrix noise = sigma * support::normals(outputs, n, 1000 + static_cast<std::uint64_t>(r)) *
                             weights.cwiseSqrt().cwiseInverse().asDiagonal();
        const Matrix y = clean + noise;
        const SearchProblem problem = support::squared_problem(box, points, y, weights, {});
        const KernelExpansion fit =
            LevenbergMarquardt<>(problem)
                .minimize(truth, {.max_steps = 40, .min_decrease = 1e-9, .damping = 1e-3})
                .fit;
        const Model model(kernel, scaling, fit.nodes, fit.coefficients, Vector::Zero(outputs),
                          statistics_of({kernel, points, y, weights}, box, fit));
        scatter += (model.coefficients() - heights.transpose()).cwiseAbs2();
        claimed += model.standard_errors().cwiseAbs2();
        const Prediction prediction = model.predict(at, with_deviation);
        scatter_at += (prediction.mean - exact).cwiseAbs2();
        claimed_at += prediction.deviation.cwiseAbs2();
        variance += model.statistics().noise.squaredNorm() / static_cast<double>(outputs * realisations);
    }
    CAPTURE(outputs, scatter, claimed, scatter_at, claimed_at);
    CHECK(variance == Approx(sigma * sigma).epsilon(0.04));
    const Matrix errors = claimed.cwiseQuotient(scatter).cwiseSqrt();
    const Matrix deviations = claimed_at.cwiseQuotient(scatter_at).cwiseSqrt();
    CHECK(errors.minCoeff() >= 0.85);
    CHECK(errors.maxCoeff() <= 1.15);
    CHECK(deviations.minCoeff() >= 0.85);
    CHECK(deviations.maxCoeff() <= 1.15);
    CHECK(deviations.mean() == Approx(1.0).epsilon(0.08));
}

TEST_CASE("each entry of the covariance belongs to its parameter of the model", "[statistics]") {
    using namespace statistics_test;
    const Setting s(1, 2);
    ModelStatistics known;
    known.covariance = Vector::LinSpaced(12, 1.0, 12.0).asDiagonal();
    const Model model(Gaussian{}, InputScaling::identity(1), s.nodes, s.a, Vector::Ones(2), known);
    for (Index o = 0; o < 2; ++o)
        for (Index j = 0; j < 3; ++j)
            CHECK(model.standard_errors()(j, o) == Approx(std::sqrt(static_cast<double>(1 + o * 3 + j))));
    const Matrix x = Vector::LinSpaced(40, -4.0, 4.0).transpose();
    const Prediction prediction = model.predict(x, with_deviation);
    CHECK(support::same_bits(prediction.mean, model.predict(x)));
    for (Index o = 0; o < 2; ++o) {
        const Matrix j = jacobian(x, s.nodes, s.a, o);
        const Vector expected = (j * known.covariance).cwiseProduct(j).rowwise().sum().cwiseSqrt();
        CHECK((prediction.deviation.row(o).transpose() - expected).cwiseAbs().maxCoeff() <= 1e-12);
    }
    // Far from all kernels the deviation is zero.
    CHECK((model.predict(Matrix::Constant(1, 1, 1e3), with_deviation).deviation.array() <= 1e-20).all());
}

TEST_CASE("statistics are finite without noise, for coincident kernels and few samples", "[statistics]") {
    using namespace statistics_test;
    Setting s(1, 2);
    s.residual.setZero();
    const ModelStatistics exact = statistics(s, wide(1));
    CHECK((exact.noise.array() == 0.0).all());
    CHECK(exact.covariance.isZero(0.0));
    Setting same(1, 1);
    same.nodes.col(1) = same.nodes.col(0);
    const ModelStatistics coincident = statistics(same, wide(1));
    CHECK(coincident.covariance.allFinite());
    CHECK((coincident.covariance.diagonal().array() > 0.0).all());
    const Setting few(1, 1, 4);
    const ModelStatistics overfull = statistics(few, wide(1));
    CHECK(overfull.noise.allFinite());
    CHECK(overfull.covariance.allFinite());
    Setting none(1, 1);
    none.nodes.resize(2, 0);
    none.a.resize(0, 1);
    CHECK(statistics(none, wide(1)).covariance.size() == 0);
    CHECK(statistics(none, wide(1)).shares.size() == 0);
    Setting many(1, 1, 5);
    many.nodes = Matrix::Ones(2, 334);  // 1002 parameters
    many.a = Matrix::Ones(334, 1);
    CHECK(statistics(many, wide(1)).covariance.size() == 0);
    CHECK(statistics(many, wide(1)).shares.sum() == Approx(1.0));
}

TEST_CASE("a model without a covariance refuses deviations and predicts the same mean", "[statistics]") {
    using namespace statistics_test;
    const Setting s(1, 1);
    const Model full(Gaussian{}, InputScaling::identity(1), s.nodes, s.a, Vector::Ones(1),
                     statistics(s, wide(1)));
    const Model bare = full.without_statistics();
    CHECK(full.standard_errors().size() == 3);
    CHECK(bare.statistics().covariance.size() == 0);
    CHECK(bare.statistics().shares.size() == 0);
    CHECK(bare.statistics().noise.size() == 0);
    CHECK(support::same_bits(bare.predict(s.x), full.predict(s.x)));
    CHECK_THROWS_AS(bare.standard_errors(), std::invalid_argument);
    CHECK_THAT(support::refusal([&] { bare.standard_errors(); }),
               ContainsSubstring("no covariance") && ContainsSubstring("made by hand"));
    CHECK_THAT(support::refusal([&] { bare.predict(s.x, with_deviation); }),
               ContainsSubstring("no covariance"));
    const Model empty(Gaussian{}, InputScaling::identity(1), Matrix(2, 0), Matrix(0, 1), Vector::Ones(1));
    const Prediction flat = empty.predict(s.x, with_deviation);
    CHECK((flat.mean.array() == 1.0).all());
    CHECK((flat.deviation.array() <= 1e-20).all());
}

TEST_CASE("the local width is the mean width of the kernels at a point", "[statistics]") {
    using namespace statistics_test;
    Matrix nodes(2, 3), a(3, 1);
    nodes << -20.0, 0.0, 0.5, 0.3, 0.5, 2.0;
    a << 0.1, 1.0, -3.0;
    InputScaling scaling = InputScaling::identity(1);
    scaling.shift << 7.0;
    scaling.scale << 4.0;
    const Model model(Gaussian{}, scaling, nodes, a, Vector::Zero(1));
    const auto user = [&](double x) { return 7.0 + 4.0 * x; };
    // alone, in the user's units
    CHECK(model.local_width(user(-20.0)) == Approx(4.0 * 0.3).epsilon(1e-12));
    CHECK(model.local_width(user(-20.4)) == Approx(4.0 * 0.3).epsilon(1e-12));
    // nothing reaches: the widest
    CHECK(model.local_width(user(1e4)) == Approx(4.0 * 2.0).epsilon(1e-12));
    // two overlap: the mean of the logarithms, by the sizes of the parts
    for (const double x : {-1.0, 0.0, 0.4, 1.5}) {
        const double one = std::exp(-0.5 * x * x / 0.25),
                     two = 3.0 * std::exp(-0.5 * (x - 0.5) * (x - 0.5) / 4.0);
        const double expected = std::exp((one * std::log(0.5) + two * std::log(2.0)) / (one + two));
        CHECK(model.local_width(user(x)) == Approx(4.0 * expected).epsilon(1e-9));
    }
    const Matrix several = scaling.to_user(Eigen::RowVector3d(-20.0, 0.4, 1.5));
    const Matrix widths = model.local_width(several);
    REQUIRE(widths.rows() == 1);
    REQUIRE(widths.cols() == 3);
    for (Index i = 0; i < 3; ++i)
        CHECK(widths(0, i) == Approx(model.local_width(several(0, i))).epsilon(1e-9));
    // one width per coordinate where the scales differ
    Matrix plane(3, 1);
    plane << 0.0, 0.0, 0.5;
    InputScaling uneven = InputScaling::identity(2);
    uneven.scale << 2.0, 10.0;
    const Model flat(Gaussian{}, uneven, plane, Matrix::Ones(1, 1), Vector::Zero(1));
    const Matrix both = flat.local_width(Matrix(Vector::Zero(2)));
    REQUIRE(both.rows() == 2);
    CHECK(both(0, 0) == Approx(1.0));
    CHECK(both(1, 0) == Approx(5.0));
    const Model empty(Gaussian{}, scaling, Matrix(2, 0), Matrix(0, 1), Vector::Zero(1));
    CHECK(empty.local_width(several).cols() == 0);
    CHECK_THROWS_AS(empty.local_width(0.0), std::invalid_argument);
    CHECK_THROWS_AS(flat.local_width(0.0), std::invalid_argument);
}
