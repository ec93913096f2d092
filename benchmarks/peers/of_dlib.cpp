// dlib: relevance vector machine, kernel ridge regression, and the latter brought down to few vectors that
// are moved to fit it best (reduced2). Gaussian kernels of one width; several classes one against one.

#include "peer.hpp"

#include <dlib/svm.h>

#include <memory>
#include <set>
#include <utility>

namespace peers {
namespace {

using Point = dlib::matrix<double, 0, 1>;
using Rbf = dlib::radial_basis_kernel<Point>;
using Function = dlib::decision_function<Rbf>;

std::vector<Point> points_of(const Matrix& x) {
    std::vector<Point> points;
    for (Index i = 0; i < x.cols(); ++i) {
        Point point(x.rows());
        for (Index c = 0; c < x.rows(); ++c) point(c) = x(c, i);
        points.push_back(std::move(point));
    }
    return points;
}

Rbf kernel_of(const Setting& setting) { return Rbf(0.5 / (setting.width * setting.width)); }

/// A function for values and for two classes of −1 and +1, else one for each pair of classes.
struct Machine {
    std::vector<double> labels{};  // none: values
    std::vector<Function> functions{};

    double operator()(const Point& x) const {
        if (labels.empty()) return functions.front()(x);
        if (labels.size() == 2) return functions.front()(x) < 0.0 ? -1.0 : 1.0;
        std::vector<int> votes(labels.size(), 0);
        auto function = functions.begin();
        for (std::size_t a = 0; a < labels.size(); ++a)
            for (std::size_t b = a + 1; b < labels.size(); ++b) ++votes[(*function++)(x) < 0.0 ? b : a];
        return labels[static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin())];
    }
};

/// `train` makes a function of points and targets.
template <class Train>
Fitted by(const Samples& samples, const Train& train) {
    const auto trained = [&](const Samples& part) {
        return Function(train(points_of(part.x), std::vector<double>(part.y.begin(), part.y.end())));
    };
    Machine machine{samples.classes ? samples.labels() : std::vector<double>{}, {}};
    if (machine.labels.size() <= 2) machine.functions.push_back(trained(samples));
    for (std::size_t a = 0; machine.labels.size() > 2 && a < machine.labels.size(); ++a)
        for (std::size_t b = a + 1; b < machine.labels.size(); ++b)
            machine.functions.push_back(trained(against(samples, machine.labels[a], machine.labels[b])));

    std::set<std::vector<double>> distinct;
    double kernels = 0.0;
    for (const Function& function : machine.functions) {
        kernels += static_cast<double>(function.basis_vectors.size());
        for (const Point& vector : function.basis_vectors) distinct.emplace(vector.begin(), vector.end());
    }
    const auto model = std::make_shared<const Machine>(std::move(machine));
    return {.kernels = kernels / static_cast<double>(model->functions.size()),
            .distinct = static_cast<Index>(distinct.size()),
            .prepare = [model](const Matrix& x) -> Prediction {
                return [model, points = points_of(x)] {
                    Vector values(static_cast<Index>(points.size()));
                    for (std::size_t i = 0; i < points.size(); ++i)
                        values(static_cast<Index>(i)) = (*model)(points[i]);
                    return values;
                };
            }};
}

Fitted relevance(const Samples& samples, const Setting& setting) {
    return by(samples, [&](const auto& x, const auto& y) -> Function {
        if (samples.classes) {
            dlib::rvm_trainer<Rbf> trainer;
            trainer.set_kernel(kernel_of(setting));
            return trainer.train(x, y);
        }
        dlib::rvm_regression_trainer<Rbf> trainer;
        trainer.set_kernel(kernel_of(setting));
        return trainer.train(x, y);
    });
}

/// Its λ is left at zero: dlib then chooses it by leaving one out.
dlib::krr_trainer<Rbf> ridge_trainer(const Samples& samples, const Setting& setting) {
    dlib::krr_trainer<Rbf> trainer;
    trainer.set_kernel(kernel_of(setting));
    if (samples.classes) trainer.use_classification_loss_for_loo_cv();
    return trainer;
}

Fitted ridge(const Samples& samples, const Setting& setting) {
    return by(samples,
              [&](const auto& x, const auto& y) { return ridge_trainer(samples, setting).train(x, y); });
}

Fitted reduced(const Samples& samples, const Setting& setting) {
    return by(samples, [&](const auto& x, const auto& y) {
        return dlib::reduced2(ridge_trainer(samples, setting), static_cast<long>(setting.kernels))
            .train(x, y);
    });
}

/// Cross-validation of the width alone.
template <class Fit>
Setting choose_width(const Samples& samples, Index most, const Fit& fit) {
    std::vector<Setting> grid;
    for (const double width : bench::width_ladder(samples.x, tuned_widths)) grid.push_back({.width = width});
    return choose_by_cross_validation(samples, most, grid, fit);
}

constexpr Index most_of_ridge_tuning = 300, most_of_relevance_tuning = 250, most_of_reduced_tuning = 250;

Setting choose_relevance(const Samples& samples) {
    return choose_width(samples, most_of_relevance_tuning, relevance);
}
Setting choose_ridge(const Samples& samples) { return choose_width(samples, most_of_ridge_tuning, ridge); }

Setting choose_reduced(const Samples& samples) {
    const double width = choose_ridge(samples).width;
    std::vector<Setting> grid;
    for (const Index kernels : {5, 10, 20, 40}) grid.push_back({.width = width, .kernels = kernels});
    return choose_by_cross_validation(samples, most_of_reduced_tuning, grid, reduced);
}

}  // namespace

std::vector<Peer> of_dlib() {
    constexpr Index all = 1'000'000, most_of_relevance = 1000;
    return {{"dlib rvm", "8 widths: 5-fold cross-validation on at most 250 samples", most_of_relevance,
             choose_relevance, relevance},
            {"dlib krr",
             "8 widths: 5-fold cross-validation on at most 300 samples; lambda by its own leaving one out",
             all, choose_ridge, ridge},
            {"dlib reduced2",
             "the width of dlib krr; 5 to 40 vectors: 5-fold cross-validation on at most 250 samples", all,
             choose_reduced, reduced}};
}

}  // namespace peers
