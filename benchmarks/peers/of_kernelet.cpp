// kernelet on its defaults, and the two baselines it brings: kernel ridge and matching pursuit.

#include "peer.hpp"

#include <kernelet/baselines/komp.hpp>
#include <kernelet/kernelet.hpp>

#include <memory>
#include <utility>

namespace peers {
namespace {

using namespace kernelet;

constexpr Index all_samples = 1'000'000;

/// For values, and for two classes of numbers −1 and +1.
template <class Kernel>
Fitted of_model(const SparseKernelModel<Kernel>& fitted, bool classes) {
    const auto model = std::make_shared<const SparseKernelModel<Kernel>>(fitted.without_statistics());
    const auto label = [classes](double value) { return !classes ? value : value < 0.0 ? -1.0 : 1.0; };
    return {.kernels = static_cast<double>(model->size()),
            .distinct = model->size(),
            .prepare = [=](const Matrix& x) -> Prediction {
                return [=] { return Vector(model->predict(x).unaryExpr(label)); };
            },
            .prepare_single = [=](const Matrix& x) -> Prediction {
                return [=] {
                    Vector values(x.cols());
                    for (Index i = 0; i < x.cols(); ++i) values(i) = label((*model)(x.col(i)));
                    return values;
                };
            }};
}

template <class Kernel>
Fitted of_ensemble(EnsembleModel<Kernel, double> fitted) {
    const auto model = std::make_shared<const EnsembleModel<Kernel, double>>(std::move(fitted));
    return {.kernels = model->mean_kernels(),
            .distinct = model->size(),
            .prepare = [=](const Matrix& x) -> Prediction {
                return [=] {
                    const std::vector<double> labels = model->predict(x);
                    return Vector(Eigen::Map<const Vector>(labels.data(), static_cast<Index>(labels.size())));
                };
            },
            .prepare_single = [=](const Matrix& x) -> Prediction {
                return [=] {
                    Vector labels(x.cols());
                    for (Index i = 0; i < x.cols(); ++i) labels(i) = model->predict(x.col(i)).front();
                    return labels;
                };
            }};
}

Fitted sparse(const Samples& samples, const Setting&) {
    using Classifier = SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>;
    if (!samples.classes)
        return of_model(SparseKernelEstimator<AnisotropicGaussian>().fit(samples.x, samples.y).model, false);
    if (samples.labels().size() == 2) return of_model(Classifier().fit(samples.x, samples.y).model, true);
    return of_ensemble(OneVsOne<Classifier>().fit(samples.x, samples.y).model);
}

/// Regression on labels −1 and +1, for each pair of classes: `regress` makes a model of samples.
template <class Regress>
Fitted by_regression(const Samples& samples, const Regress& regress) {
    if (!samples.classes || samples.labels().size() == 2)
        return of_model(regress(samples.x, samples.y), samples.classes);
    std::vector<SparseKernelModel<Gaussian>> models;
    const std::vector<double> labels = samples.labels();
    for (std::size_t a = 0; a < labels.size(); ++a)
        for (std::size_t b = a + 1; b < labels.size(); ++b) {
            const Samples pair = against(samples, labels[a], labels[b]);
            models.push_back(regress(pair.x, pair.y));
        }
    return of_ensemble(EnsembleModel<Gaussian, double>(Scheme::one_vs_one, labels, models));
}

Fitted ridge(const Samples& samples, const Setting& setting) {
    return by_regression(samples, [&](const Matrix& x, const Vector& y) {
        return KernelRidge<>({.widths = {setting.width}, .ridges = {setting.ridge}}).fit(x, y).model;
    });
}

/// Width and ridge by leaving one out; several classes as one output each, of −1 and +1.
Setting choose_ridge(const Samples& all) {
    constexpr Index most = 600;  // n³ for each width
    const Samples samples = all.at_most(most);
    Matrix y = samples.y.transpose();
    if (const std::vector<double> labels = samples.labels(); samples.classes && labels.size() > 2) {
        y.resize(static_cast<Index>(labels.size()), samples.size());
        for (Index c = 0; c < y.rows(); ++c)
            y.row(c) = (samples.y.array() == labels[static_cast<std::size_t>(c)])
                           .select(Vector::Ones(samples.size()), -1.0)
                           .transpose();
    }
    const auto fit = KernelRidge<>({.width_levels = tuned_widths}).fit(samples.x, y);
    return {.width = fit.chosen.width, .ridge = fit.chosen.ridge};
}

Fitted pursuit(const Samples& samples, const Setting& setting) {
    return by_regression(samples, [&](const Matrix& x, const Vector& y) {
        return Komp<>({.width = setting.width, .max_kernels = setting.kernels}).fit(x, y).model;
    });
}

Setting choose_pursuit(const Samples& samples) {
    constexpr Index most = 400;  // a path of n³ for each number of kernels and fold
    const double width = choose_ridge(samples).width;
    std::vector<Setting> grid;
    for (const Index kernels : {5, 10, 15, 20, 30, 40, 60, 80, 120})
        grid.push_back({.width = width, .kernels = kernels});
    return choose_by_cross_validation(samples, most, grid, pursuit);
}

}  // namespace

std::vector<Peer> of_kernelet() {
    constexpr Index most_of_ridge = 3000, most_of_pursuit = 1000;  // n³ of either
    return {
        {"kernelet", "nothing: the defaults, a width for each coordinate", all_samples,
         [](const Samples&) { return Setting{}; }, sparse},
        {"KernelRidge", "8 widths, 21 ridges: leaving one out on at most 600 samples", most_of_ridge,
         choose_ridge, ridge},
        {"Komp", "the width of KernelRidge; 5 to 120 kernels: 5-fold cross-validation on at most 400 samples",
         most_of_pursuit, choose_pursuit, pursuit}};
}

}  // namespace peers
