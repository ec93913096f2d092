// LIBSVM: C-SVC for classes (its own one against one), ε-SVR for values, Gaussian kernels of one width.

#include "peer.hpp"

#include "../support/libsvm.hpp"

#include <memory>

namespace peers {
namespace {

using bench::SvmModel;
using bench::SvmPoints;

Fitted fit(const Samples& samples, const Setting& setting) {
    const auto task = samples.classes ? SvmModel::Task::classification : SvmModel::Task::regression;
    const auto model = std::make_shared<const SvmModel>(
        task, samples.x, samples.y, bench::SvmSetting{setting.width, setting.cost, setting.epsilon});
    return {.kernels = model->kernels_a_classifier(),
            .distinct = model->kernels(),
            .prepare = [model](const Matrix& x) -> Prediction {
                return [model, points = std::make_shared<const SvmPoints>(x)] {
                    return model->predict(*points);
                };
            }};
}

Setting choose(const Samples& samples) {
    constexpr Index most = 800;
    const double unit = samples.classes ? 1.0 : samples.deviation();
    std::vector<Setting> grid;
    for (const double width : bench::width_ladder(samples.x, tuned_widths))
        for (const double cost : {1.0, 10.0, 100.0}) {
            if (samples.classes) grid.push_back({.width = width, .cost = cost});
            for (const double tube : {0.3, 0.1, 0.03})
                if (!samples.classes)
                    grid.push_back({.width = width, .cost = cost * unit, .epsilon = tube * unit});
        }
    return choose_by_cross_validation(samples, most, grid, fit);
}

}  // namespace

std::vector<Peer> of_libsvm() {
    constexpr Index all = 1'000'000;
    return {{"LIBSVM",
             "8 widths, C of 1, 10 and 100, for values a tube of 0.3, 0.1 and 0.03 (both in deviations of "
             "the target): 5-fold cross-validation on at most 800 samples",
             all, choose, fit}};
}

}  // namespace peers
