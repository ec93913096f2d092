// What every compiler, standard and set of flags has to get right: fits of each kind, header-only, checked against what they
// were made from. Compiled by check_compilers of cmake/run.sh; exits with the number of what went wrong.
#include <kernelet/baselines.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

int wrong = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    std::printf("wrong: %s\n", what);
    ++wrong;
}

double wave(double x) { return std::sin(3.0 * x) + 0.5 * x; }

void regression() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(80, -2.0, 2.0);
    const Vector y = x.transpose().unaryExpr(&wave);
    const auto fit = SparseKernelEstimator<>(Options{.tolerance = 0.02}).fit(x, y);
    const Vector residual = fit.model.predict(x) - y;
    check(fit.report.status == Status::converged, "status of a regression");
    check(std::sqrt(residual.squaredNorm() / 80.0) <= 0.02 * (1.0 + 1e-9), "tolerance of a regression");
    check(fit.report.certified && std::abs(fit.report.relative_gap()) < 0.05, "gap between P and D");
    std::stringstream stream;
    save(stream, fit.model);
    const auto again = load<SparseKernelModel<Gaussian>>(stream);
    check(Vector(again.predict(x)) == Vector(fit.model.predict(x)), "bits of a loaded model");
    check(fit.model(0.3) == fit.model.predict(Vector::Constant(1, 0.3))(0), "bits of a single prediction");
    const double step = 1e-6;
    const double slope = (fit.model(0.3 + step) - fit.model(0.3 - step)) / (2.0 * step);
    check(std::abs(fit.model.gradient(0.3) - slope) < 1e-5, "gradient");
    std::ostringstream c;
    export_c(c, fit.model);
    check(c.str().find("double model(const double x[1])") != std::string::npos, "exported C");
}

void several_outputs() {
    const Matrix x = Matrix::Random(2, 60);
    Matrix y(2, 60);
    for (Index i = 0; i < 60; ++i) y.col(i) << std::sin(2.0 * x(0, i)), x(0, i) * x(1, i);
    const auto fit = SparseKernelEstimator<AnisotropicGaussian>(Options{.max_kernels = 12}).fit(x, y);
    check(fit.model.size() <= 12, "limit on kernels");
    check(fit.model.predict(x).rows() == 2 && fit.report.residual < 0.2, "two outputs");
}

void labels() {
    const Matrix x = Matrix::Random(2, 90);
    std::vector<std::string> names;
    for (Index i = 0; i < 90; ++i) names.emplace_back(x(0, i) < -0.3 ? "a" : x(0, i) < 0.3 ? "b" : "c");
    const OneVsOne<SparseKernelEstimator<Gaussian, LogisticLoss>> classifier;
    const auto fit = classifier.fit(x, names);
    check(fit.model.accuracy(x, names).share() > 0.9, "share of labels that are right");
    const Matrix p = fit.model.probability(x);
    check((p.colwise().sum().array() - 1.0).abs().maxCoeff() < 1e-12, "sums of probabilities");
    const auto fitted = cross_validate(SparseKernelEstimator<>(Options{.max_kernels = 4}), x.topRows(1),
                                       Vector(x.row(1)), random_folds(90, 3));
    check(fitted.tested.size() == 90, "folds");
}

void misuse() {
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(10, 0.0, 1.0);
    Vector y = Vector::Ones(10);
    y(3) = std::nan("");
    try {
        SparseKernelEstimator<>().fit(x, y);
        check(false, "NaN in y is refused");
    } catch (const std::invalid_argument& error) {
        check(std::string(error.what()).find("y") != std::string::npos, "the message names y");
    }
}

}  // namespace

int main() {
    regression();
    several_outputs();
    labels();
    misuse();
    return wrong;
}
