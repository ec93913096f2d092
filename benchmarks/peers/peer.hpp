#pragma once

#include "../support/tuning.hpp"

#include <functional>
#include <string>
#include <vector>

/// The interface of a library in the comparison: one file per library makes its peers, for peers.cpp.
namespace peers {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// Inputs of mean zero and deviation one; targets, or the numbers of classes.
struct Samples {
    Matrix x{};  // d x n
    Vector y{};
    bool classes = false;

    Index size() const { return y.size(); }
    Samples part(const std::vector<Index>& chosen) const {
        return {x(Eigen::all, chosen), y(chosen), classes};
    }
    Samples at_most(Index most) const {
        return size() <= most ? *this : part(bench::subsample(size(), most, 1));
    }
    /// Root mean squared deviation of the targets, their unit.
    double deviation() const { return std::sqrt((y.array() - y.mean()).square().mean()); }
    /// Ascending.
    std::vector<double> labels() const {
        std::vector<double> all(y.data(), y.data() + y.size());
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
};

/// Samples wrong, or the sum of squared errors.
inline double error_sum(const Samples& truth, const Vector& predicted) {
    if (truth.classes) return static_cast<double>((truth.y.array() != predicted.array()).count());
    return (truth.y - predicted).squaredNorm();
}

/// The tuned parameters; zero: not a parameter of that method.
struct Setting {
    double width = 0.0;
    double cost = 0.0;     // C of a support vector machine
    double epsilon = 0.0;  // its tube
    double ridge = 0.0;
    Index kernels = 0;
};

/// Predicts the same points each time it is called: these wait in the library's own format, so that it alone
/// is timed.
using Prediction = std::function<Vector()>;

struct Fitted {
    double kernels{};  // the mean of its classifiers
    Index distinct{};  // in all
    std::function<Prediction(const Matrix&)> prepare{};
    /// As prepare, with one call per point, for libraries that predict blocks; empty: prepare does so.
    std::function<Prediction(const Matrix&)> prepare_single{};

    Vector predict(const Matrix& x) const { return prepare(x)(); }
};

struct Peer {
    std::string name{};
    std::string tuning{};  // how its hyper-parameters are chosen
    Index most_samples{};  // trains on no more
    std::function<Setting(const Samples&)> choose{};
    std::function<Fitted(const Samples&, const Setting&)> fit{};
};

inline constexpr int tuning_folds = 5;
inline constexpr Index tuned_widths = 8;

/// Cross-validation of a grid on at most so many samples.
template <class Fit>
Setting choose_by_cross_validation(const Samples& all, Index most, const std::vector<Setting>& grid,
                                   const Fit& fit) {
    const Samples some = all.at_most(most);
    const kernelet::Folds folds = some.classes ? kernelet::stratified_folds(some.y, tuning_folds, 2)
                                               : kernelet::random_folds(some.size(), tuning_folds, 2);
    return bench::best_by_cross_validation(
        grid, folds, [&](const Setting& setting, const kernelet::Split& split) {
            const Samples left_out = some.part(split.test);
            return error_sum(left_out, fit(some.part(split.train), setting).predict(left_out.x));
        });
}

/// Two classes a and b as targets +1 and −1.
inline Samples against(const Samples& all, double a, double b) {
    std::vector<Index> chosen;
    for (Index i = 0; i < all.size(); ++i)
        if (all.y(i) == a || all.y(i) == b) chosen.push_back(i);
    Samples pair = all.part(chosen);
    pair.y = (pair.y.array() == a).select(Vector::Ones(pair.size()), -1.0);
    return pair;
}

std::vector<Peer> of_kernelet();
std::vector<Peer> of_libsvm();
std::vector<Peer> of_dlib();

}  // namespace peers
