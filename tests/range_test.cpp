// Numbers at the ends of the range of a double: a fit works, or refuses and names the argument; no report has a number that is
// not finite.
#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace range_test {

using namespace kernelet;
using Catch::Matchers::ContainsSubstring;
using support::refusal;

const Eigen::RowVectorXd& places() {
    static const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(25, 0.0, 1.0);
    return x;
}
const Vector& wave() {
    static const Vector y = (6.0 * places().array()).sin().transpose();
    return y;
}

template <class Fit>
void check_finite(const Fit& fit) {
    const Report& report = fit.report;
    for (const double value :
         {report.dual_value, report.primal_value, report.max_violation, report.gamma, report.support_measure,
          report.integration_error, report.residual, report.tolerance, report.solved_tolerance,
          report.noise_deviation, report.model_violation})
        CHECK(std::isfinite(value));
    CHECK(report.prices.allFinite());
    CHECK(fit.multipliers.allFinite());
    CHECK(fit.model.predict(places()).allFinite());
    CHECK(report.full().find("nan") == std::string::npos);
}

double relative_rms(const Vector& predicted, const Vector& y) {
    const double scale = y.cwiseAbs().maxCoeff();
    return std::sqrt((predicted / scale - y / scale).squaredNorm() / static_cast<double>(y.size()));
}

TEST_CASE("y may be tiny or huge, with a tolerance", "[range]") {
    const auto usual = SparseKernelEstimator<>(Options{.tolerance = 0.05}).fit(places(), wave());
    for (const double scale : {1e-300, 1e-200, 1e-155, 1e-31, 1e31, 1e140}) {
        const Vector y = wave() * scale;
        const auto fit = SparseKernelEstimator<>(Options{.tolerance = 0.05 * scale}).fit(places(), y);
        CAPTURE(scale);
        check_finite(fit);
        CHECK(fit.report.status == Status::converged);
        CHECK(fit.model.size() == usual.model.size());
        CHECK(relative_rms(fit.model.predict(places()), y) <= 0.05 * (1.0 + 1e-9));
        CHECK(fit.report.residual / scale == Approx(usual.report.residual).epsilon(1e-6));
        // D and P are squares of y: not certified where they are no numbers.
        CHECK(fit.report.certified == (scale > 1e-150));
        if (!fit.report.certified) {
            CHECK(fit.report.relative_gap() == 1.0);
            CHECK(fit.report.full().find("certificate       none") != std::string::npos);
        }
    }
}

TEST_CASE("y may be tiny or huge, without a tolerance", "[range]") {
    for (const double scale : {1e-155, 1e140}) {
        const Vector y = wave() * scale;
        const auto fit = SparseKernelEstimator<>().fit(places(), y);
        check_finite(fit);
        CHECK(relative_rms(fit.model.predict(places()), y) < 0.02);
        const auto path = SparseKernelEstimator<>(Options{.max_kernels = 3}).kernel_path(places(), y);
        for (const auto& row : path) CHECK(std::isfinite(row.residual));
        CHECK(path.back().residual < 0.5 * scale);
    }
}

TEST_CASE("powers of two beyond the usual range scale to the bit", "[range]") {
    const auto unit = SparseKernelEstimator<>(Options{.tolerance = 0.05}).fit(places(), wave());
    for (const int exponent : {-400, 400}) {
        const Vector y = wave() * std::ldexp(1.0, exponent);
        const auto fit =
            SparseKernelEstimator<>(Options{.tolerance = std::ldexp(0.05, exponent)}).fit(places(), y);
        CHECK(fit.model.centers() == unit.model.centers());
        CHECK(fit.model.widths() == unit.model.widths());
        CHECK(fit.model.coefficients() == unit.model.coefficients() * std::ldexp(1.0, exponent));
        CHECK(fit.report.dual_value == std::ldexp(unit.report.dual_value, 2 * exponent));
        CHECK(fit.report.gamma == std::ldexp(unit.report.gamma, 2 * exponent));
        CHECK(fit.multipliers == unit.multipliers * std::ldexp(1.0, exponent));
        CHECK(fit.model.standard_errors() == unit.model.standard_errors() * std::ldexp(1.0, exponent));
        CHECK(fit.field(0.4, 0.2) == std::ldexp(unit.field(0.4, 0.2), exponent));
    }
}

TEST_CASE("what is out of range is named", "[range]") {
    const SparseKernelEstimator<> estimator;
    CHECK_THAT(refusal([&] { estimator.fit(places(), Vector(wave() * 1e155)); }), ContainsSubstring("y(0, "));
    const auto weighted = [&](double weight) {
        Vector weights = Vector::Ones(25);
        weights(3) = weight;
        return refusal([&] { estimator.fit(Samples{.x = places(), .y = wave(), .weights = weights}); });
    };
    CHECK_THAT(weighted(1.7e308), ContainsSubstring("weights(3)"));
    CHECK_THAT(weighted(1e-200), ContainsSubstring("weights(3)"));
    CHECK(weighted(1e12).empty());
    CHECK(weighted(1e-12).empty());
    CHECK_THAT(refusal([] { Options{.sparsity = 1e150}.validate(); }), ContainsSubstring("options.sparsity"));
    CHECK_THAT(refusal([] { Options{.tolerance = 1e200}.validate(); }),
               ContainsSubstring("options.tolerance"));
    const SparseKernelEstimator<Gaussian, HuberLoss> robust;
    CHECK_THAT(refusal([&] { robust.fit(places(), Vector(wave() * 1e-200)); }), ContainsSubstring("y is"));
    const CallableSource source({.size = 25, .dimension = 1},
                                [](Index first, Index count, MatrixRef x, MatrixRef y, VectorRef) {
                                    for (Index i = 0; i < count; ++i) {
                                        x(0, i) = static_cast<double>(first + i);
                                        y(0, i) = 1e-200 * static_cast<double>((first + i) % 5);
                                    }
                                });
    CHECK_THAT(refusal([&] { estimator.fit(source); }), ContainsSubstring("y is"));
}

TEST_CASE("a gamma or a sparsity beyond all data: finite, and nothing certified that is not known",
          "[range]") {
    Matrix two(2, 25);
    two << wave().transpose(), 2.0 * wave().transpose();
    for (const double gamma : {1e10, 1e50, 1e200, 1e300}) {
        CAPTURE(gamma);
        const auto one =
            SparseKernelEstimator<>(Options{.tolerance = 0.05, .gamma = gamma}).fit(places(), wave());
        check_finite(one);
        CHECK(one.report.gamma == gamma);
        for (const Scope scope : {Scope::aggregate, Scope::per_sample}) {
            const Options options{.tolerance = 0.05, .scope = scope, .gamma = gamma};
            check_finite(SparseKernelEstimator<>(options).fit(places(), two));
        }
    }
    check_finite(SparseKernelEstimator<>(Options{.tolerance = 0.05, .sparsity = 1e90}).fit(places(), wave()));
}

TEST_CASE("infeasible fits of several outputs have finite prices", "[range]") {
    Matrix two(2, 25);
    two << wave().transpose(), 2.0 * wave().transpose();
    for (Index i = 0; i < 25; i += 2) two(0, i) += 1.0;
    for (const Scope scope : {Scope::aggregate, Scope::per_sample})
        for (const double width : {0.5, 2.0, 20.0}) {
            const SparseKernelEstimator<> estimator(Options{.tolerance = 1e-6, .scope = scope});
            const auto fit = estimator.fit(places(), two, FixedWidth(0.0, 1.0, width));
            check_finite(fit);
            CHECK(fit.report.status != Status::converged);
        }
}

template <class Kernel>
void check_bits_of_points() {
    for (const Index d : {Index{1}, Index{3}, Index{7}}) {
        detail::CounterRandom random(17, static_cast<std::uint64_t>(d));
        auto numbers = [&, k = std::uint64_t{0}](Index rows, Index cols) mutable {
            Matrix out(rows, cols);
            for (Index i = 0; i < out.size(); ++i) out(i) = 2.0 * random.uniform(k++) - 1.0;
            return out;
        };
        const Kernel kernel;
        const Index p = kernel.parameters(d), k = 9;
        Matrix nodes = numbers(d + p, k);
        for (Index j = 0; j < k; ++j)
            for (Index row = d; row < d + p; ++row)
                nodes(row, j) = kernel.parameter_kind(row - d) == ParameterKind::shape
                                    ? static_cast<double>(j % 2)
                                    : 0.05 + 0.2 * std::abs(nodes(row, j));
        const SparseKernelModel<Kernel> model(kernel, InputScaling::identity(d), nodes, 1e3 * numbers(k, 1),
                                              Vector(Vector::Constant(1, 0.25)));
        const Matrix points = numbers(d, 300);
        const Vector all = model.predict(points);
        for (const Index count : {Index{1}, Index{2}, Index{3}, Index{5}, Index{256}, Index{257}}) {
            const Vector some = model.predict(points.rightCols(count));
            CHECK(some == all.tail(count));
        }
        for (Index i = 0; i < points.cols(); ++i) REQUIRE(model(points.col(i)) == all(i));
    }
}

TEST_CASE("a point has the same bits alone and among others", "[range]") {
    check_bits_of_points<Gaussian>();
    check_bits_of_points<AnisotropicGaussian>();
    check_bits_of_points<Laplacian>();
    check_bits_of_points<Matern32>();
    check_bits_of_points<Matern52>();
    check_bits_of_points<Sinc>();
    check_bits_of_points<Polynomial>();
    check_bits_of_points<Dictionary<Gaussian, Laplacian>>();
}

TEST_CASE("what was moved from, and a classifier that is not there", "[range]") {
    auto fit = SparseKernelEstimator<>(Options{.tolerance = 0.05}).fit(places(), wave());
    const auto taken = std::move(fit.model);
    CHECK(taken.size() > 0);
    CHECK(fit.model.size() == 0);
    CHECK(fit.model.widths().cols() == 0);
    CHECK(fit.model.centers().cols() == 0);
    std::vector<int> labels;
    for (int i = 0; i < 25; ++i) labels.push_back(i % 3);
    const auto ensemble = OneVsOne<SparseKernelEstimator<Gaussian, LogisticLoss>>().fit(places(), labels);
    CHECK_THAT(refusal([&] { ensemble.model.classifier(7); }), ContainsSubstring("classifier(7)"));
}

}  // namespace range_test
