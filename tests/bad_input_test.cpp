#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// Every public entry, with what people hand it by mistake: an exception that names the argument, or a
// sensible fit.
namespace bad_input_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::Box;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Options;
using kernelet::Progress;
using kernelet::Samples;
using kernelet::Scope;
using kernelet::Vector;
using kernelet::Verdict;
using support::refusal;

// Fits of a few samples run on one thread: waking more takes longer than the work.

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using Estimator =
    kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss, kernelet::AugmentedNewton>;

/// On few nodes: what is tested here does not depend on their number.
Estimator quick(Options options = {}) {
    kernelet::AugmentedNewtonOptions solver;
    solver.stopping.max_nodes = 400;
    return Estimator(std::move(options), kernelet::AugmentedNewton(solver));
}

Verdict proceed(const Progress&) { return Verdict::proceed; }

/// All ways to hand samples to fit().
std::vector<std::function<void(const Matrix&, const Matrix&)>> entries() {
    const Box box(0.0, 1.0, Interval{0.1, 1.0});
    const auto samples = [](const Matrix& x, const Matrix& y) { return Samples{.x = x, .y = y}; };
    return {
        [](const Matrix& x, const Matrix& y) { quick().fit(x, y); },
        [](const Matrix& x, const Matrix& y) { quick().fit(x, y, proceed); },
        [box](const Matrix& x, const Matrix& y) { quick().fit(x, y, box); },
        [box](const Matrix& x, const Matrix& y) { quick().fit(x, y, box, proceed); },
        [samples](const Matrix& x, const Matrix& y) { quick().fit(samples(x, y)); },
        [samples](const Matrix& x, const Matrix& y) { quick().fit(samples(x, y), proceed); },
        [samples, box](const Matrix& x, const Matrix& y) { quick().fit(samples(x, y), box); },
        [samples, box](const Matrix& x, const Matrix& y) { quick().fit(samples(x, y), box, proceed); },
        [](const Matrix& x, const Matrix& y) { quick().regularization_path(x, y, {0.5}); },
    };
}

void check_refused(const Matrix& x, const Matrix& y, const std::string& named) {
    for (const auto& entry : entries()) CHECK_THAT(refusal([&] { entry(x, y); }), ContainsSubstring(named));
}

TEST_CASE("no samples, no coordinates", "[bad_input]") {
    check_refused(Matrix(1, 0), Matrix(0, 1), "x has no columns");
    check_refused(Matrix(1, 0), Matrix(1, 0), "x has no columns");
    check_refused(Matrix(3, 0), Matrix(3, 1), "x has no columns");
    check_refused(Matrix(0, 0), Matrix(0, 0), "x has no rows");
    check_refused(Matrix(0, 5), Matrix::Ones(5, 1), "x has no rows");
}

TEST_CASE("as many targets as samples", "[bad_input]") {
    const Matrix x = support::uniforms(1, 5, 1);
    check_refused(x, Matrix::Ones(4, 1), "y is 4 x 1");
    check_refused(x, Matrix::Ones(6, 1), "y is 6 x 1");
    check_refused(x, Matrix::Ones(1, 4), "y is 1 x 4");
    check_refused(x, Matrix::Ones(5, 2), "y is 5 x 2");
    check_refused(x, Matrix(0, 0), "y is 0 x 0");
    check_refused(x, Matrix(0, 5), "y is 0 x 5");
}

TEST_CASE("not a number and infinity are named where they are", "[bad_input]") {
    const Matrix x = support::uniforms(1, 5, 2);
    const Matrix y = support::normals(5, 1, 3);
    for (const double bad : {nan, infinity, -infinity}) {
        Matrix holed = x;
        holed(0, 3) = bad;
        check_refused(holed, y, "x(0, 3)");
        holed = y;
        holed(2) = bad;
        check_refused(x, holed, "y(0, 2)");
    }
    Eigen::MatrixXf single = x.cast<float>();
    single(0, 1) = std::numeric_limits<float>::quiet_NaN();
    CHECK_THAT(refusal([&] { quick().fit(single, y.cast<float>()); }), ContainsSubstring("x(0, 1)"));
    Matrix second = support::uniforms(2, 5, 4);
    second(1, 4) = nan;
    CHECK_THAT(refusal([&] { quick().fit(second, y); }), ContainsSubstring("x(1, 4)"));
}

TEST_CASE("weights and tolerances, one a sample", "[bad_input]") {
    const Matrix x = support::uniforms(1, 5, 5);
    const Vector y = support::normals(5, 1, 6);
    const auto weighted = [&](const Vector& weights) {
        return refusal([&] { quick().fit(Samples{.x = x, .y = y, .weights = weights}); });
    };
    CHECK_THAT(weighted(Vector::Ones(4)), ContainsSubstring("weights has 4"));
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        Vector weights = Vector::Ones(5);
        weights(3) = bad;
        CHECK_THAT(weighted(weights), ContainsSubstring("weights(3)"));
    }
    const auto tolerant = [&](const Vector& tolerances, Scope scope) {
        return refusal([&] {
            quick({.scope = scope}).fit(Samples{.x = x, .y = y, .weights = {}, .tolerances = tolerances});
        });
    };
    CHECK_THAT(tolerant(Vector::Ones(6), Scope::per_sample), ContainsSubstring("tolerances has 6"));
    CHECK_THAT(tolerant(Vector::Ones(5), Scope::aggregate), ContainsSubstring("options.scope"));
    for (const double bad : {-1e-9, nan, infinity}) {
        Vector tolerances = Vector::Ones(5);
        tolerances(1) = bad;
        CHECK_THAT(tolerant(tolerances, Scope::per_sample), ContainsSubstring("tolerances(1)"));
    }
}

TEST_CASE("options and solvers that make no sense never become an estimator", "[bad_input]") {
    CHECK_THAT(refusal([] { quick({.tolerance = -0.1}); }), ContainsSubstring("options.tolerance"));
    CHECK_THAT(refusal([] { quick({.max_kernels = 0}); }), ContainsSubstring("options.max_kernels"));
    CHECK_THAT(refusal([] { quick({.gamma = -1.0}); }), ContainsSubstring("options.gamma"));
    CHECK_THAT(refusal([] {
                   kernelet::StochasticSupergradientOptions none;
                   none.iterations = 0;
                   kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::SquaredLoss,
                                                   kernelet::StochasticSupergradient>(
                       {}, kernelet::StochasticSupergradient(none));
               }),
               ContainsSubstring("solver.iterations"));
    const Matrix x = support::uniforms(1, 5, 7);
    CHECK_THAT(refusal([&] {
                   quick().regularization_path(x, support::normals(5, 1, 8), {0.5, -1.0});
               }),
               ContainsSubstring("grid[1]"));
}

TEST_CASE("a domain of another dimension", "[bad_input]") {
    const Matrix x = support::uniforms(2, 6, 9);
    const Vector y = support::normals(6, 1, 10);
    const Interval widths{0.1, 1.0};
    CHECK_THAT(refusal([&] { quick().fit(x, y, Box(0.0, 1.0)); }), ContainsSubstring("domain has 1"));
    CHECK_THAT(refusal([&] { quick().fit(x, y, kernelet::FixedWidth(0.0, 1.0, 0.2)); }),
               ContainsSubstring("domain has 1"));
    CHECK_THAT(refusal([&] { quick().fit(x, y, kernelet::CandidateCenters(Matrix::Zero(3, 4), widths)); }),
               ContainsSubstring("domain has 3"));
    CHECK_THAT(refusal([&] { quick().fit(x, y, kernelet::AroundSamples(Matrix::Zero(3, 4), widths)); }),
               ContainsSubstring("domain has 3"));
}

TEST_CASE("a query that is not a number", "[bad_input]") {
    const support::Threads single_thread(1);
    const auto fit = quick().fit(support::uniforms(1, 12, 11), support::normals(12, 1, 12));
    for (const double bad : {nan, infinity}) {
        CHECK_THAT(refusal([&] { fit.model(bad); }), ContainsSubstring("x(0, 0)"));
        CHECK_THAT(refusal([&] { fit.model.predict(Matrix::Constant(1, 2, bad)); }),
                   ContainsSubstring("x(0, 0)"));
        CHECK_THAT(refusal([&] { fit.field(bad, 0.1); }), ContainsSubstring("z(0, 0)"));
        CHECK_THAT(refusal([&] { fit.field.raw(0.1, bad); }), ContainsSubstring("w = "));
    }
    CHECK_THAT(refusal([&] { fit.field(0.1, 0.0); }), ContainsSubstring("w = 0"));
    CHECK_THAT(refusal([&] { fit.field(0.1, -2.0); }), ContainsSubstring("w = -2"));
}

/// The properties of every fit, however odd its data.
template <class Fit>
void check_sensible(const Fit& fit, const Matrix& x) {
    CHECK(fit.model.predict(x).allFinite());
    CHECK(fit.model.coefficients().allFinite());
    CHECK(fit.model.size() == fit.report.kernels);
    CHECK(std::isfinite(fit.report.residual));
    CHECK(std::isfinite(fit.report.gamma));
    CHECK(fit.report.support_measure >= 0.0);
    CHECK(fit.report.support_measure <= 1.0 + 1e-12);
    CHECK_FALSE(fit.report.brief().empty());
}

TEST_CASE("one sample is met", "[bad_input]") {
    const support::Threads single_thread(1);
    for (const Index d : {1, 2, 5})
        for (const bool center : {true, false})
            for (const Scope scope : {Scope::aggregate, Scope::per_sample}) {
                const Matrix x = Matrix::Constant(d, 1, 0.7);
                const Matrix y = Matrix::Constant(1, 1, 3.0);
                const auto fit = quick({.scope = scope, .center = center}).fit(x, y);
                INFO("d " << d << ", center " << center);
                check_sensible(fit, x);
                CHECK(fit.model.predict(x)(0) == Approx(3.0).epsilon(0.02));
            }
}

TEST_CASE("a constant is learned without a kernel", "[bad_input]") {
    const support::Threads single_thread(1);
    const Matrix x = support::uniforms(1, 20, 13);
    for (const double value : {0.0, 4.25, -0.1, 1e100}) {
        const auto fit = quick().fit(x, Vector::Constant(20, value));
        INFO("value " << value);
        check_sensible(fit, x);
        const Vector predicted = fit.model.predict(support::uniforms(1, 9, 14, -3.0, 3.0));
        CHECK((predicted.array() - value).abs().maxCoeff() <= 1e-9 * std::abs(value));
        CHECK(fit.report.residual <= 1e-9 * std::abs(value));
        if (value == 0.0 || value == 4.25) CHECK(fit.model.size() == 0);
    }
    // Not centered, zero is still nothing, and a constant is met.
    const auto zero = quick({.center = false}).fit(x, Vector::Zero(20));
    CHECK(zero.model.size() == 0);
    CHECK(zero.model(0.5) == 0.0);
    const auto one = quick({.tolerance = 0.05, .center = false}).fit(x, Vector::Ones(20));
    check_sensible(one, x);
    CHECK(one.model.size() > 0);
}

TEST_CASE("samples all at one place: their mean", "[bad_input]") {
    const support::Threads single_thread(1);
    for (const Index d : {1, 2, 5}) {
        const Matrix x = Matrix::Constant(d, 10, 0.1);
        const Vector y = support::normals(10, 1, 15);
        const auto fit = quick().fit(x, y);
        check_sensible(fit, x);
        INFO("d " << d);
        CHECK(fit.model.predict(x.leftCols(1))(0) == Approx(y.mean()).margin(0.05));
        const auto asked = quick({.tolerance = 1e-3}).fit(x, y);  // which cannot be
        check_sensible(asked, x);
        CHECK(asked.report.status != kernelet::Status::converged);
        CHECK(asked.model.predict(x.leftCols(1))(0) == Approx(y.mean()).margin(0.05));
    }
}

TEST_CASE("a coordinate that never changes does no harm", "[bad_input]") {
    const support::Threads single_thread(1);
    Matrix x = support::uniforms(2, 40, 16);
    x.row(1).setConstant(0.1);
    const Vector y = (4.0 * x.row(0).array()).sin().transpose();
    const auto fit = quick({.tolerance = 0.02}).fit(x, y);
    check_sensible(fit, x);
    CHECK(fit.report.residual <= 0.1);
    // The model does not jump next to the plane of the samples.
    Matrix beside = x;
    beside.row(1).array() += 1e-6;
    CHECK((fit.model.predict(beside) - fit.model.predict(x)).cwiseAbs().maxCoeff() <= 1e-3);
}

TEST_CASE("two samples, and repeated samples that disagree", "[bad_input]") {
    const support::Threads single_thread(1);
    Matrix two(1, 2);
    two << 0.0, 1.0;
    const auto fit = quick({.tolerance = 0.01}).fit(two, (Vector(2) << -1.0, 1.0).finished());
    check_sensible(fit, two);
    CHECK(fit.model(1.0) > fit.model(0.0));

    Matrix x(1, 20);
    x << support::uniforms(1, 10, 17), support::uniforms(1, 10, 17);
    Vector y = Vector::Ones(20);
    y.head(10).setConstant(-1.0);
    for (const Scope scope : {Scope::aggregate, Scope::per_sample}) {
        const auto torn = quick({.tolerance = 0.1, .scope = scope}).fit(x, y);
        check_sensible(torn, x);
        CHECK(torn.report.status != kernelet::Status::converged);
        CHECK(torn.report.residual >= 0.99);  // no function does better than 0
    }
}

TEST_CASE("tolerance zero and a tolerance above all of y", "[bad_input]") {
    const support::Threads single_thread(1);
    const Matrix x = Vector::LinSpaced(15, 0.0, 1.0).transpose();
    const Vector y = (6.0 * x.row(0).array()).sin().transpose();
    for (const Scope scope : {Scope::aggregate, Scope::per_sample}) {
        const auto exact = quick({.tolerance = 0.0, .scope = scope}).fit(x, y);
        check_sensible(exact, x);
        const auto loose = quick({.tolerance = 100.0, .scope = scope}).fit(x, y);
        check_sensible(loose, x);
        CHECK(loose.model.size() == 0);  // the offset alone is within it
        CHECK(loose.report.status == kernelet::Status::converged);
    }
}

TEST_CASE("large and small units", "[bad_input]") {
    const support::Threads single_thread(1);
    const Matrix x = Vector::LinSpaced(25, 0.0, 1.0).transpose();
    const Vector y = (6.0 * x.row(0).array()).sin().transpose();
    for (const double unit : {1e-100, 1e100}) {
        INFO("unit " << unit);
        const auto wide = quick().fit(unit * x, y);
        check_sensible(wide, unit * x);
        CHECK(wide.report.residual <= 0.1);
        const auto high = quick().fit(x, unit * y);
        check_sensible(high, x);
        CHECK(high.report.residual <= 0.1 * unit);
    }
}

TEST_CASE("an observer that stops at once leaves a usable model", "[bad_input]") {
    const support::Threads single_thread(1);
    const Matrix x = Vector::LinSpaced(20, 0.0, 1.0).transpose();
    const Vector y = (6.0 * x.row(0).array()).sin().transpose();
    const auto fit = quick({.tolerance = 0.01}).fit(x, y, [](const Progress&) { return Verdict::stop; });
    CHECK(fit.report.status == kernelet::Status::stopped);
    check_sensible(fit, x);
}

TEST_CASE("y as a row, a column, or several rows; x and y of float", "[bad_input]") {
    const support::Threads single_thread(1);
    const Matrix x = Vector::LinSpaced(20, 0.0, 1.0).transpose();
    const Vector y = (5.0 * x.row(0).array()).cos().transpose();
    const Estimator estimator = quick({.tolerance = 0.05});
    const auto column = estimator.fit(x, y);
    const auto row = estimator.fit(x, y.transpose());
    CHECK(support::same_bits(column.model.nodes(), row.model.nodes()));
    CHECK(support::same_bits(column.model.coefficients(), row.model.coefficients()));
    const auto single = estimator.fit(x.cast<float>(), y.cast<float>());
    CHECK((single.model.predict(x) - column.model.predict(x)).cwiseAbs().maxCoeff() <= 0.1);
    Matrix several(2, 20);
    several.row(0) = y.transpose();
    several.row(1) = -2.0 * y.transpose();
    const auto both = estimator.fit(x, several);
    CHECK(both.model.outputs() == 2);
    check_sensible(both, x);
}

}  // namespace bad_input_test
