#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/detail/random.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/multiclass/one_vs_one.hpp>
#include <kernelet/observers.hpp>
#include <kernelet/validation.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace validation_test {

using namespace kernelet;
using Catch::Matchers::ContainsSubstring;
using support::refusal;
using support::same_bits;

// ------------------------------------------------------------------------------------------------- estimators

/// Predicts the mean of its targets, plus `offset`. Its fit takes `steps` reports.
struct MeanModel {
    double mean = 0.0;
    template <class X>
    Matrix predict(const X& x) const {
        return Matrix::Constant(x.cols(), 1, mean);
    }
    Index size() const { return 1; }
};
struct MeanFit {
    MeanModel model{};
    Index reports = 0;
};
struct MeanEstimator {
    Index steps = 4;

    MeanFit fit(const Matrix& x, const Vector& y) const { return fit(x, y, ObserverFunction{}); }
    MeanFit fit(const Matrix& x, const Vector& y, const ObserverFunction& observer) const {
        if (x.cols() != y.size()) throw std::logic_error("x and y differ");  // Catch is for one thread
        MeanFit fit{{y.mean()}, 0};
        for (Index step = 0; observer && step < steps; ++step) {
            ++fit.reports;
            Progress progress;
            progress.stage = "search";
            progress.seconds = static_cast<double>(step + 1);
            progress.seconds_left = static_cast<double>(steps - step - 1);
            if (observer(progress) == Verdict::stop) {
                progress.stage = "stopped";
                observer(progress);
                return fit;
            }
        }
        return fit;
    }
};
/// A MeanEstimator of labels: the sign of its predictions decides.
struct LogisticMean : MeanEstimator {
    using LossType = LogisticLoss;
};
/// A MeanModel of labels, whose fit takes no observer.
struct SignModel : MeanModel {
    std::string loss() const { return "hinge"; }
};
struct SignEstimator {
    struct SignFit {
        SignModel model{};
    };
    SignFit fit(const Matrix& /*x*/, const Vector& y) const { return {{{y.mean()}}}; }
};

/// Predicts the first label of its training part.
template <class Label>
struct FirstModel {
    Label first{};
    std::vector<Label> predict(const Matrix& x) const {
        return std::vector<Label>(static_cast<std::size_t>(x.cols()), first);
    }
    Index size() const { return 0; }
};
struct FirstEstimator {
    template <class Label>
    struct FirstFit {
        FirstModel<Label> model{};
    };
    template <class Label>
    FirstFit<Label> fit(const Matrix& /*x*/, const std::vector<Label>& labels) const {
        return {{labels.front()}};
    }
};

static_assert(TargetEstimator<MeanEstimator>);
static_assert(TargetEstimator<SparseKernelEstimator<>>);
static_assert(!TargetEstimator<MeanModel>);
using Binary = SparseKernelEstimator<Gaussian, LogisticLoss>;
static_assert(LabelEstimator<OneVsOne<Binary>, int>);
static_assert(LabelEstimator<FirstEstimator, std::string>);
static_assert(!LabelEstimator<SparseKernelEstimator<>, double>);

Options at_most(Index kernels) {
    Options options;
    options.max_kernels = kernels;
    return options;
}

/// Columns of a matrix, entries of a column.
Matrix at(const Matrix& values, const std::vector<Index>& which) {
    const bool column = values.cols() == 1;
    const auto count = static_cast<Index>(which.size());
    Matrix part(column ? count : values.rows(), column ? 1 : count);
    for (Index k = 0; k < count; ++k)
        for (Index row = 0; row < (column ? 1 : values.rows()); ++row)
            part(column ? k : row, column ? 0 : k) = column ? values(which[static_cast<std::size_t>(k)], 0)
                                                            : values(row, which[static_cast<std::size_t>(k)]);
    return part;
}

// ------------------------------------------------------------------------------------------------------ folds

/// How many samples are in each fold and none outside; every sample is on one side of each split.
std::vector<Index> sizes_of_partition(const Folds& folds) {
    std::vector<Index> sizes, tested(static_cast<std::size_t>(folds.samples()), 0);
    for (Index k = 0; k < folds.count(); ++k) {
        const Split split = folds.split(k);
        sizes.push_back(static_cast<Index>(split.test.size()));
        std::set<Index> all(split.train.begin(), split.train.end());
        for (const Index i : split.test) {
            ++tested[static_cast<std::size_t>(i)];
            CHECK(folds.numbers()[static_cast<std::size_t>(i)] == k);
            all.insert(i);
        }
        CHECK(std::is_sorted(split.train.begin(), split.train.end()));
        CHECK(std::is_sorted(split.test.begin(), split.test.end()));
        CHECK(static_cast<Index>(all.size()) == folds.samples());
        CHECK(split.train.size() + split.test.size() == all.size());
    }
    CHECK(std::all_of(tested.begin(), tested.end(), [](Index times) { return times == 1; }));
    return sizes;
}

Index spread(const std::vector<Index>& sizes) {
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    return *most - *least;
}

TEST_CASE("random folds part the samples equally, and a seed means the same folds", "[validation]") {
    const Folds folds = random_folds(103, 10, 3);
    CHECK(folds.count() == 10);
    CHECK(folds.samples() == 103);
    CHECK(spread(sizes_of_partition(folds)) == 1);
    CHECK(folds.numbers() == random_folds(103, 10, 3).numbers());
    CHECK(folds.numbers() != random_folds(103, 10, 4).numbers());
    CHECK(sizes_of_partition(random_folds(5, 5)) == std::vector<Index>(5, 1));  // leaving one out
    // By definition, 0, 1, ..., 9, 0, 1, ... shuffled (Fisher and Yates): published figures are of these folds.
    std::vector<Index> numbers(103);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Index>(i % 10);
    const kernelet::detail::CounterRandom random(3, 21);
    for (std::size_t i = numbers.size() - 1; i > 0; --i)
        std::swap(numbers[i],
                  numbers[static_cast<std::size_t>(random.uniform(i + 1) * static_cast<double>(i + 1))]);
    CHECK(folds.numbers() == numbers);
}

TEST_CASE("stratified folds divide every class equally", "[validation]") {
    std::vector<std::string> labels;
    for (int i = 0; i < 100; ++i) labels.push_back(i % 7 == 0 ? "rare" : i % 3 == 0 ? "some" : "usual");
    const Folds folds = stratified_folds(labels, 6, 5);
    sizes_of_partition(folds);
    for (const char* label : {"rare", "some", "usual"}) {
        std::vector<Index> sizes(6, 0);
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (labels[i] == label) ++sizes[static_cast<std::size_t>(folds.numbers()[i])];
        CHECK(spread(sizes) <= 1);
    }
    CHECK(folds.numbers() == stratified_folds(labels, 6, 5).numbers());
    // Labels in Eigen vectors, and text of another kind, are the same labels.
    Eigen::VectorXi numbers(100);
    std::vector<const char*> texts;
    for (int i = 0; i < 100; ++i) {
        numbers(i) = i % 7 == 0 ? -2 : i % 3 == 0 ? 0 : 9;
        texts.push_back(labels[static_cast<std::size_t>(i)].c_str());
    }
    CHECK(folds.numbers() == stratified_folds(numbers, 6, 5).numbers());
    CHECK(folds.numbers() == stratified_folds(numbers.transpose(), 6, 5).numbers());
    CHECK(folds.numbers() == stratified_folds(texts, 6, 5).numbers());
    // With one class they are random folds of the next seed.
    CHECK(stratified_folds(std::vector<int>(50, 1), 5, 8).numbers() == random_folds(50, 5, 9).numbers());
}

TEST_CASE("groups are never divided, and folds are nearly as equal as can be", "[validation]") {
    const std::vector<Index> group_sizes{24, 8, 6, 4, 3, 2, 1};
    std::vector<int> groups;
    for (std::size_t g = 0; g < group_sizes.size(); ++g)
        for (Index i = 0; i < group_sizes[g]; ++i) groups.push_back(static_cast<int>(g));
    for (std::size_t i = 0; i < groups.size(); ++i) std::swap(groups[i], groups[(i * 7) % groups.size()]);
    for (const Index count : {2, 3, 7}) {
        const Folds folds = grouped_folds(groups, count, 2);
        const std::vector<Index> sizes = sizes_of_partition(folds);
        for (std::size_t i = 0; i < groups.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (groups[i] == groups[j]) CHECK(folds.numbers()[i] == folds.numbers()[j]);
        CHECK(folds.numbers() == grouped_folds(groups, count, 2).numbers());
        // The largest fold of the best division, by trying all.
        Index best = 48;
        std::vector<Index> place(group_sizes.size(), 0);
        for (bool more = count < 7; more;) {
            std::vector<Index> loads(static_cast<std::size_t>(count), 0);
            for (std::size_t g = 0; g < place.size(); ++g)
                loads[static_cast<std::size_t>(place[g])] += group_sizes[g];
            best = std::min(best, *std::max_element(loads.begin(), loads.end()));
            std::size_t g = 0;
            while (g < place.size() && ++place[g] == count) place[g++] = 0;
            more = g < place.size();
        }
        if (count < 7) CHECK(3 * *std::max_element(sizes.begin(), sizes.end()) <= 4 * best);
        if (count == 7) CHECK(*std::max_element(sizes.begin(), sizes.end()) == 24);
    }
    const std::vector<int> each{1, 2, 3, 4, 5, 6, 7, 8};  // groups of equal size are drawn
    CHECK(grouped_folds(each, 2, 1).numbers() != grouped_folds(each, 2, 2).numbers());
}

TEST_CASE("blocks of time are runs, with a gap on each side that is left out of training", "[validation]") {
    const Folds plain = time_blocks(11, 3);
    CHECK(plain.numbers() == std::vector<Index>{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2});
    sizes_of_partition(plain);
    const Folds folds = time_blocks(11, 3, 2);
    CHECK(folds.numbers() == plain.numbers());
    CHECK(folds.split(0).train == std::vector<Index>{5, 6, 7, 8, 9, 10});
    CHECK(folds.split(1).train == std::vector<Index>{0, 9, 10});
    CHECK(folds.split(1).test == std::vector<Index>{3, 4, 5, 6});
    CHECK(folds.split(2).train == std::vector<Index>{0, 1, 2, 3, 4});
    CHECK(folds.first(1).split(0).train == folds.split(0).train);
}

TEST_CASE("samples for training only are never tested", "[validation]") {
    const Folds folds({0, Folds::train_only, 1, 0, Folds::train_only});
    CHECK(folds.count() == 2);
    CHECK(folds.split(0).test == std::vector<Index>{0, 3});
    CHECK(folds.split(0).train == std::vector<Index>{1, 2, 4});
    CHECK(folds.split(1).train == std::vector<Index>{0, 1, 3, 4});
    const Folds first = folds.first(1);
    CHECK(first.count() == 1);
    CHECK(first.numbers() == std::vector<Index>{0, -1, -1, 0, -1});
    CHECK(first.split(0).train == folds.split(0).train);
}

TEST_CASE("folds that cannot be are refused by name", "[validation]") {
    CHECK_THAT(refusal([] { random_folds(10, 11); }), ContainsSubstring("folds = 11"));
    CHECK_THAT(refusal([] { random_folds(10, 1); }), ContainsSubstring("folds = 1"));
    CHECK_THAT(refusal([] { random_folds(1, 1); }), ContainsSubstring("samples = 1"));
    CHECK_THAT(refusal([] {
                   stratified_folds(std::vector<int>{1, 1, 2, 2, 3, 3}, 3);
               }),
               ContainsSubstring("folds = 3; the largest class of labels has 2"));
    const std::vector<double> missing{1.0, 2.0, std::numeric_limits<double>::quiet_NaN()};
    CHECK_THAT(refusal([&] { stratified_folds(missing, 2); }), ContainsSubstring("labels(2)"));
    CHECK_THAT(refusal([&] { grouped_folds(missing, 2); }), ContainsSubstring("groups(2)"));
    CHECK_THAT(refusal([] {
                   grouped_folds(std::vector<int>{1, 1, 2, 2}, 3);
               }),
               ContainsSubstring("groups, 2"));
    CHECK_THAT(refusal([] { time_blocks(10, 2, -1); }), ContainsSubstring("gap = -1"));
    CHECK_THAT(refusal([] { time_blocks(10, 2, 5); }), ContainsSubstring("gap = 5"));
    CHECK(refusal([] { time_blocks(10, 2, 4); }).empty());
    CHECK_THAT(refusal([] { Folds({0, 2, 0}); }), ContainsSubstring("fold 1 of 3"));
    CHECK_THAT(refusal([] { Folds({0, -2}); }), ContainsSubstring("numbers[1] = -2"));
    CHECK_THAT(refusal([] { Folds({0, 7}); }), ContainsSubstring("numbers[1] = 7"));
    CHECK_THAT(refusal([] { Folds({0, 0}); }), ContainsSubstring("fold 0 has all 2"));
    CHECK_THAT(refusal([] { Folds({-1, -1}); }), ContainsSubstring("numbers"));
    CHECK_THAT(refusal([] { random_folds(4, 2).split(2); }), ContainsSubstring("split(2)"));
    CHECK_THAT(refusal([] { (void)random_folds(4, 2).first(3); }), ContainsSubstring("first(3)"));
}

// ------------------------------------------------------------------------------------------- cross-validation

TEST_CASE("targets: predictions of each fold are those of a fit by hand without it", "[validation]") {
    const support::Chirp signal = support::chirp(30, 1);
    const SparseKernelEstimator<> estimator(at_most(3));
    const Folds folds = random_folds(30, 3, 1);
    const auto result = cross_validate(estimator, signal.x, signal.y, folds);
    double sum = 0.0;
    for (Index k = 0; k < 3; ++k) {
        const Split split = folds.split(k);
        const auto fit = estimator.fit(at(signal.x, split.train), at(signal.y, split.train));
        const Matrix predicted = fit.model.predict(at(signal.x, split.test));
        const double squares = (predicted - at(signal.y, split.test)).squaredNorm();
        CHECK(same_bits(at(result.predictions, split.test), predicted));
        const auto& fold = result.folds[static_cast<std::size_t>(k)];
        CHECK(fold.finished);
        CHECK(fold.kernels == fit.model.size());
        CHECK(same_bits(fold.fit->model.nodes(), fit.model.nodes()));
        CHECK(fold.fit->report.dual_value == fit.report.dual_value);
        CHECK(fold.score == Approx(squares / 10.0).epsilon(1e-12));
        sum += squares;
    }
    CHECK(result.predictions.cols() == 1);
    CHECK(result.probabilities.size() == 0);
    CHECK(result.kind == ScoreKind::mean_squared_error);
    CHECK(result.score == Approx(sum / 30.0).epsilon(1e-12));
    CHECK(result.score == Approx(mean_squared_error(result.predictions, signal.y)).epsilon(1e-12));
    CHECK(!result.stopped);
    CHECK(result.tested.size() == 30);
    // Any expression, and float; a row of targets gives a row of predictions.
    const Eigen::MatrixXf narrow = signal.x.cast<float>();
    const Eigen::VectorXf target = signal.y.cast<float>();
    const auto of_float = cross_validate(estimator, narrow, target.transpose(), folds.first(1));
    const auto of_double = cross_validate(estimator, Matrix(narrow.cast<double>()),
                                          Vector(target.cast<double>()), folds.first(1));
    CHECK(same_bits(of_float.predictions, of_double.predictions.transpose()));
    CHECK(of_float.predictions.rows() == 1);
    CHECK(of_float.predictions.cols() == 10);
}

TEST_CASE("several outputs: predictions are q x n", "[validation]") {
    const support::Chirp signal = support::chirp(24, 2);
    Matrix y(2, 24);
    y << signal.y.transpose(), signal.x.array().square().matrix();
    const SparseKernelEstimator<> estimator(at_most(3));
    const Folds folds = time_blocks(24, 2, 1);
    const auto result = cross_validate(estimator, signal.x, y, folds);
    for (Index k = 0; k < 2; ++k) {
        const Split split = folds.split(k);
        const auto fit = estimator.fit(at(signal.x, split.train), at(y, split.train));
        const Matrix predicted = fit.model.predict(at(signal.x, split.test));
        CHECK(same_bits(at(result.predictions, split.test), predicted));
    }
    CHECK(result.score == Approx((result.predictions - y).squaredNorm() / 48.0).epsilon(1e-12));
}

/// Three overlapping clusters in the plane; labels 10, 20, 30.
std::pair<Matrix, std::vector<int>> clusters(Index n) {
    Matrix x = 0.6 * support::normals(2, n, 4);
    std::vector<int> labels;
    for (Index i = 0; i < n; ++i) {
        const Index c = i % 3;
        x(0, i) += c == 1 ? 1.5 : 0.0;
        x(1, i) += c == 2 ? 1.5 : 0.0;
        labels.push_back(10 * static_cast<int>(c + 1));
    }
    return {x, labels};
}

TEST_CASE("labels: predictions and probabilities are those of fits by hand", "[validation]") {
    const auto [x, labels] = clusters(60);
    const OneVsOne<Binary> estimator(Binary(at_most(2)));
    const Folds folds = stratified_folds(labels, 2, 1);
    const auto result = cross_validate(estimator, x, labels, folds);
    CHECK(result.classes == std::vector<int>{10, 20, 30});
    CHECK(result.kind == ScoreKind::share_wrong);
    Index wrong = 0;
    for (Index k = 0; k < 2; ++k) {
        const Split split = folds.split(k);
        std::vector<int> train;
        for (const Index i : split.train) train.push_back(labels[static_cast<std::size_t>(i)]);
        const auto fit = estimator.fit(at(x, split.train), train);
        const std::vector<int> predicted = fit.model.predict(at(x, split.test));
        CHECK(same_bits(at(result.probabilities, split.test), fit.model.probability(at(x, split.test))));
        Index wrong_here = 0;
        for (std::size_t j = 0; j < predicted.size(); ++j) {
            const auto i = static_cast<std::size_t>(split.test[j]);
            CHECK(result.predictions[i] == predicted[j]);
            wrong_here += predicted[j] == labels[i] ? 0 : 1;
        }
        CHECK(result.folds[static_cast<std::size_t>(k)].score ==
              Approx(static_cast<double>(wrong_here) / static_cast<double>(predicted.size())));
        CHECK(result.folds[static_cast<std::size_t>(k)].fit->model.mean_kernels() ==
              fit.model.mean_kernels());
        wrong += wrong_here;
    }
    CHECK(result.score == Approx(static_cast<double>(wrong) / 60.0));
    CHECK(wrong > 0);
}

TEST_CASE("labels of any kind, in a std::vector or an Eigen vector", "[validation]") {
    const FirstEstimator first;
    const Matrix x = Matrix::Zero(1, 4);
    const Folds folds = time_blocks(4, 2);
    const auto numbers = cross_validate(first, x, Vector{{2.0, 5.0, 5.0, 7.0}}, folds);
    CHECK(numbers.classes == std::vector<double>{2.0, 5.0, 7.0});
    CHECK(numbers.predictions == std::vector<double>{5.0, 5.0, 2.0, 2.0});
    CHECK(numbers.score == 0.75);
    CHECK(numbers.probabilities.size() == 0);
    const auto texts = cross_validate(first, x, std::vector<const char*>{"a", "b", "b", "a"}, folds);
    CHECK(texts.predictions == std::vector<std::string>{"b", "b", "a", "a"});
    CHECK(texts.folds[1].score == 0.5);
}

TEST_CASE("a class that the training part lacks has probability zero", "[validation]") {
    auto [x, labels] = clusters(30);
    std::vector<Index> numbers;
    for (const int label : labels)
        numbers.push_back(label == 20 ? 0 : static_cast<Index>(numbers.size()) % 2);
    const auto result = cross_validate(OneVsOne<Binary>(Binary(at_most(2))), x, labels, Folds(numbers));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto column = static_cast<Index>(i);
        CHECK(result.probabilities.col(column).sum() == Approx(1.0));
        CHECK((result.probabilities(1, column) == 0.0) == (numbers[i] == 0));
    }
}

TEST_CASE("two classes: the share of wrong signs, and the probabilities of +1", "[validation]") {
    const auto [x, labels] = clusters(60);
    Vector y(60);
    for (Index i = 0; i < 60; ++i) y(i) = labels[static_cast<std::size_t>(i)] == 20 ? 1.0 : -1.0;
    const Binary estimator(at_most(2));
    const Folds folds = stratified_folds(y, 2);
    const auto result = cross_validate(estimator, x, y, folds);
    CHECK(result.kind == ScoreKind::share_wrong);
    CHECK(result.score == Approx((result.predictions.array() * y.array() <= 0.0).cast<double>().mean()));
    for (Index k = 0; k < 2; ++k) {
        const Split split = folds.split(k);
        const auto fit = estimator.fit(at(x, split.train), at(y, split.train));
        CHECK(same_bits(at(result.probabilities, split.test), fit.model.probability(at(x, split.test))));
        CHECK(same_bits(at(result.predictions, split.test), fit.model.predict(at(x, split.test))));
    }
    // By the name of the loss; a decision of zero is for +1.
    const Vector signs{{1.0, 1.0, -1.0, 1.0}};
    const auto decided = cross_validate(SignEstimator{}, Matrix::Zero(1, 4), signs, time_blocks(4, 2));
    CHECK(decided.kind == ScoreKind::share_wrong);
    CHECK(decided.predictions == Vector{{0.0, 0.0, 1.0, 1.0}});
    CHECK(decided.folds[0].score == 0.0);
    CHECK(decided.folds[1].score == 0.5);
    CHECK(decided.score == 0.25);
    CHECK(decided.standard_error() == Approx(0.25));
    CHECK(decided.mean_kernels() == 1.0);
    // By the type of the loss, where the estimator names it.
    CHECK(cross_validate(LogisticMean{}, Matrix::Zero(1, 4), signs, time_blocks(4, 2)).score == 0.25);
}

TEST_CASE("samples for training only are in no prediction", "[validation]") {
    const Vector y{{1.0, 2.0, 3.0, 4.0, 5.0}};
    const auto result = cross_validate(MeanEstimator{}, Matrix::Zero(1, 5), y, Folds({0, -1, 1, 0, -1}));
    CHECK(result.tested == std::vector<Index>{0, 2, 3});
    CHECK(result.predictions == Vector{{10.0 / 3.0, 3.0, 10.0 / 3.0}});
    CHECK(!result.stopped);
}

TEST_CASE("cross-validation has the same bits for any number of threads", "[validation][threads]") {
    const auto [x, labels] = clusters(45);
    const OneVsOne<Binary> estimator(Binary(at_most(2)));
    const Folds folds = stratified_folds(labels, 3);
    const support::Chirp signal = support::chirp(30, 3);
    const auto run = [&, &x = x, &labels = labels](int threads) {
        const support::Threads scope(threads);
        return std::pair(
            cross_validate(estimator, x, labels, folds),
            cross_validate(SparseKernelEstimator<>(at_most(3)), signal.x, signal.y, time_blocks(30, 3)));
    };
    const auto one = run(1), two = run(2);
    CHECK(one.first.predictions == two.first.predictions);
    CHECK(same_bits(one.first.probabilities, two.first.probabilities));
    CHECK(one.first.score == two.first.score);
    CHECK(same_bits(one.second.predictions, two.second.predictions));
    CHECK(one.second.score == two.second.score);
}

// --------------------------------------------------------------------------------------------------- observers

TEST_CASE("the observer is told of the whole cross-validation", "[validation]") {
    const Vector y = support::normals(20, 1, 1);
    History history;
    const auto result = cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, random_folds(20, 5), history);
    CHECK(!result.stopped);
    REQUIRE(history.rows().size() == 25);  // four reports per fit, and one after each
    double fraction = 0.0;
    for (std::size_t k = 0; k < history.rows().size(); ++k) {
        const Progress& progress = history.rows()[k];
        const bool last = k + 1 == history.rows().size();
        CHECK(progress.stage == (last ? "done" : "folds"));
        CHECK(progress.iterations == 5);
        CHECK(progress.fraction >= fraction);
        CHECK((progress.fraction == 1.0) == last);
        fraction = progress.fraction;
    }
    CHECK(history.rows().back().iteration == 5);
    CHECK(history.rows().back().seconds_left == 0.0);
    // On one thread and with fits that foresee their time, the fraction is that of the work.
    const support::Threads one(1);
    History exact;
    cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, random_folds(20, 5), exact);
    CHECK(exact.rows()[12].fraction == Approx(11.0 / 20.0));
    // Fits that report nothing are counted when they are done.
    History silent;
    cross_validate(SignEstimator{}, Matrix::Zero(1, 20), y, random_folds(20, 5), silent);
    REQUIRE(silent.rows().size() == 5);
    CHECK(silent.rows()[3].iteration == 4);
    // An empty function watches nothing.
    CHECK(cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, random_folds(20, 5), ObserverFunction{})
              .score == result.score);
}

TEST_CASE("a stop ends all fits, and folds without a full fit are not scored", "[validation]") {
    const support::Threads one(1);
    const Vector y = support::normals(20, 1, 2);
    const Folds folds = time_blocks(20, 5);
    Index reports = 0;
    const auto result = cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, folds, [&](const Progress&) {
        return ++reports == 13 ? Verdict::stop : Verdict::proceed;  // five per fold: within the third
    });
    CHECK(reports == 14);  // and the last one
    CHECK(result.stopped);
    const auto whole = cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, folds);
    for (std::size_t k = 0; k < 5; ++k) {
        CHECK(result.folds[k].finished == (k < 2));
        CHECK(result.folds[k].fit.has_value() == (k < 3));
        CHECK(std::isnan(result.folds[k].score) == (k >= 2));
        if (k < 2) CHECK(result.folds[k].score == whole.folds[k].score);
    }
    CHECK(result.folds[2].fit->reports == 3);
    CHECK(result.tested == std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(same_bits(result.predictions, whole.predictions.topRows(8)));
    CHECK(result.score == Approx((result.predictions - y.head(8)).squaredNorm() / 8.0));
    CHECK_THAT(refusal([&] { (void)mean_squared_error(result.predictions, y); }), ContainsSubstring("8 x 1"));
    // Told to stop at once, nothing is fitted to its end and nothing scored.
    const auto none = cross_validate(MeanEstimator{}, Matrix::Zero(1, 20), y, folds,
                                     [](const Progress&) { return Verdict::stop; });
    CHECK(none.stopped);
    CHECK(none.tested.empty());
    CHECK(none.predictions.size() == 0);
    CHECK(std::isnan(none.score));
    CHECK(std::isnan(none.mean_kernels()));
}

TEST_CASE("a stop reaches the library's own fits, in every thread", "[validation][threads]") {
    const auto [x, labels] = clusters(60);
    for (const int threads : {1, 2}) {
        const support::Threads scope(threads);
        std::atomic<Index> reports{0};
        History history;
        const auto result =
            cross_validate(OneVsOne<Binary>(Binary(at_most(2))), x, labels, stratified_folds(labels, 4),
                           both(history, [&](const Progress& progress) {
                               ++reports;
                               return progress.iteration >= 1 ? Verdict::stop : Verdict::proceed;
                           }));
        CHECK(result.stopped);
        CHECK(history.rows().back().stage == "stopped");
        CHECK(std::count_if(result.folds.begin(), result.folds.end(),
                            [](const auto& f) { return f.finished; }) >= 1);
        CHECK(result.predictions.size() == result.tested.size());
        CHECK(result.probabilities.cols() == static_cast<Index>(result.tested.size()));
        CHECK(result.tested.size() < 60);
    }
}

TEST_CASE("a cross-validation that cannot be is refused by name", "[validation]") {
    const Vector y = support::normals(6, 1, 1);
    const Matrix x = support::normals(2, 6, 2);
    const MeanEstimator mean;
    const Folds folds = time_blocks(6, 3);
    CHECK_THAT(refusal([&] { cross_validate(mean, x, y, time_blocks(5, 2)); }),
               ContainsSubstring("folds has 5 samples but x has 6"));
    CHECK_THAT(refusal([&] { cross_validate(mean, x, y.head(5), folds); }), ContainsSubstring("y is 5 x 1"));
    CHECK_THAT(refusal([&] { cross_validate(mean, Matrix(0, 6), y, folds); }),
               ContainsSubstring("x has no rows"));
    Matrix broken = x;
    broken(1, 4) = std::numeric_limits<double>::infinity();
    CHECK_THAT(refusal([&] { cross_validate(mean, broken, y, folds); }), ContainsSubstring("x(1, 4)"));
    Vector missing = y;
    missing(3) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(refusal([&] { cross_validate(mean, x, missing, folds); }), ContainsSubstring("y(0, 3)"));
    const OneVsOne<Binary> rooms;
    CHECK_THAT(refusal([&] {
                   cross_validate(rooms, x, std::vector<int>{1, 2}, folds);
               }),
               ContainsSubstring("labels has 2 entries"));
    // What a fit refuses names the fold: here one class is left.
    CHECK_THAT(refusal([&] {
                   cross_validate(rooms, x, std::vector<int>{1, 1, 1, 1, 2, 2}, folds);
               }),
               ContainsSubstring("one class only") && ContainsSubstring("fold 2"));
}

// ------------------------------------------------------------------------------------------------------ scores

TEST_CASE("scores of numbers are what their definitions say", "[validation]") {
    const Matrix y = support::normals(2, 30, 1), predicted = y + 0.3 * support::normals(2, 30, 2);
    double squares = 0.0, absolute = 0.0, total = 0.0;
    for (Index o = 0; o < 2; ++o) {
        double mean = 0.0;
        for (Index i = 0; i < 30; ++i) mean += y(o, i) / 30.0;
        for (Index i = 0; i < 30; ++i) {
            squares += std::pow(predicted(o, i) - y(o, i), 2);
            absolute += std::abs(predicted(o, i) - y(o, i));
            total += std::pow(y(o, i) - mean, 2);
        }
    }
    CHECK(mean_squared_error(predicted, y) == Approx(squares / 60.0));
    CHECK(root_mean_squared_error(predicted, y) == Approx(std::sqrt(squares / 60.0)));
    CHECK(mean_absolute_error(predicted, y) == Approx(absolute / 60.0));
    CHECK(r_squared(predicted, y) == Approx(1.0 - squares / total));
    const Vector column{{1.0, 2.0, 6.0}};
    CHECK(r_squared(column, column) == 1.0);
    CHECK(r_squared(Vector::Constant(3, 3.0), column) == Approx(0.0).margin(1e-15));
    CHECK(std::isnan(r_squared(column, Vector::Ones(3))));
    CHECK_THAT(refusal([&] { (void)mean_absolute_error(column, y); }),
               ContainsSubstring("predicted is 3 x 1 but y is 2 x 30"));
    CHECK_THAT(refusal([&] { (void)mean_squared_error(Vector{}, Vector{}); }), ContainsSubstring("empty"));
    const Vector missing{{1.0, std::numeric_limits<double>::quiet_NaN(), 0.0}};
    CHECK_THAT(refusal([&] { (void)mean_squared_error(missing, column); }),
               ContainsSubstring("predicted(1, 0)"));
}

TEST_CASE("a confusion matrix counts predicted labels for each true one, and prints them", "[validation]") {
    const std::vector<std::string> truth{"cat", "cat", "dog", "dog", "dog", "owl"};
    const std::vector<const char*> predicted{"cat", "dog", "dog", "dog", "cat", "emu"};
    const ConfusionMatrix confusion(truth, predicted);
    CHECK(confusion.classes() == std::vector<std::string>{"cat", "dog", "emu", "owl"});
    for (std::size_t t = 0; t < 4; ++t)
        for (std::size_t p = 0; p < 4; ++p) {
            Index count = 0;
            for (std::size_t i = 0; i < truth.size(); ++i)
                count += truth[i] == confusion.classes()[t] && predicted[i] == confusion.classes()[p] ? 1 : 0;
            CHECK(confusion.count(t, p) == count);
        }
    CHECK(confusion.samples() == 6);
    CHECK(confusion.right() == 3);
    CHECK(confusion.share_right() == 0.5);
    CHECK(confusion.recall(1) == Approx(2.0 / 3.0));
    CHECK(confusion.precision(0) == Approx(0.5));
    CHECK(std::isnan(confusion.recall(2)));
    CHECK(confusion.precision(2) == 0.0);
    CHECK(confusion.recall(3) == 0.0);
    CHECK(std::isnan(confusion.precision(3)));
    CHECK(to_string(confusion) ==
          "true \\ predicted   cat      dog  emu  owl   recall\n"
          "             cat     1        1    0    0     50 %\n"
          "             dog     1        2    0    0  66.67 %\n"
          "             emu     0        0    0    0        -\n"
          "             owl     0        0    1    0      0 %\n"
          "       precision  50 %  66.67 %  0 %    -     50 %\n");
    CHECK(ConfusionMatrix(Eigen::Vector3i(1, 2, 1), std::vector<int>{1, 1, 1}).right() == 2);
    CHECK_THAT(refusal([] {
                   ConfusionMatrix(std::vector<int>{1}, std::vector<int>{1, 2});
               }),
               ContainsSubstring("labels has 1 entries but predicted has 2"));
    CHECK_THAT(refusal([] { ConfusionMatrix(std::vector<int>{}, std::vector<int>{}); }),
               ContainsSubstring("labels is empty"));
}

/// Probabilities of three classes, columns that add up to one.
Matrix three_probabilities(Index n) {
    Matrix p = support::uniforms(3, n, 6);
    for (Index i = 0; i < n; ++i) p.col(i) /= p.col(i).sum();
    return p;
}

TEST_CASE("log loss and Brier score are what their definitions say", "[validation]") {
    const Vector p = support::uniforms(40, 1, 5);
    const std::vector<int> classes{1, 2, 3};
    const Matrix many = three_probabilities(40);
    Vector y(40);
    std::vector<int> labels;
    double loss = 0.0, brier = 0.0, loss_many = 0.0, brier_many = 0.0;
    for (Index i = 0; i < 40; ++i) {
        y(i) = i % 3 == 0 ? 1.0 : -1.0;
        labels.push_back(1 + static_cast<int>(i % 3));
        loss -= std::log(y(i) > 0.0 ? p(i) : 1.0 - p(i)) / 40.0;
        brier += std::pow(p(i) - (y(i) > 0.0 ? 1.0 : 0.0), 2) / 40.0;
        loss_many -= std::log(many(i % 3, i)) / 40.0;
        for (Index c = 0; c < 3; ++c) brier_many += std::pow(many(c, i) - (c == i % 3 ? 1.0 : 0.0), 2) / 40.0;
    }
    CHECK(log_loss(p, y) == Approx(loss));
    CHECK(brier_score(p, y) == Approx(brier));
    CHECK(log_loss(many, labels, classes) == Approx(loss_many));
    CHECK(brier_score(many, labels, classes) == Approx(brier_many));
    // Two classes by either form.
    Matrix both_rows(2, 40);
    both_rows << (1.0 - p.array()).matrix().transpose(), p.transpose();
    const Vector signs = y;
    const std::vector<double> two{-1.0, 1.0};
    CHECK(log_loss(both_rows, signs, two) == Approx(loss));
    CHECK(brier_score(both_rows, signs, two) == Approx(2.0 * brier));
}

TEST_CASE("probabilities of zero cost what the least probability costs", "[validation]") {
    CHECK(log_loss(Vector{{0.0, 1.0}}, Vector{{1.0, 1.0}}) == Approx(-0.5 * std::log(least_probability)));
    CHECK(log_loss(Vector{{1.0}}, Vector{{-1.0}}, 1e-3) == Approx(-std::log(1e-3)));
    const std::vector<int> classes{1, 2};
    const Matrix sure{{1.0, 0.0}, {0.0, 1.0}};
    CHECK(log_loss(sure, std::vector<int>{1, 2}, classes) == 0.0);
    CHECK(log_loss(sure, std::vector<int>{2, 2}, classes, 0.01) == Approx(-0.5 * std::log(0.01)));
    CHECK(log_loss(sure, std::vector<int>{1, 9}, classes) == Approx(-0.5 * std::log(least_probability)));
    CHECK(brier_score(sure, std::vector<int>{1, 9}, classes) == 1.0);  // (0 + 1 + 1)/2
}

TEST_CASE("a calibration table counts in bins of equal size or equal width", "[validation]") {
    const Vector p{{0.05, 0.15, 0.15, 0.35, 0.55, 0.62, 0.9, 1.0}};
    const Vector y{{-1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0}};
    const auto equal = calibration_table(p, y, {.bins = 4});
    // Cut at 2, 4 and 6 samples, but for the two of 0.15.
    REQUIRE(equal.size() == 4);
    CHECK(equal[0].count == 3);
    CHECK(equal[0].predicted == Approx((0.05 + 0.15 + 0.15) / 3.0));
    CHECK(equal[0].observed == Approx(1.0 / 3.0));
    CHECK(equal[1].count == 1);
    CHECK(equal[3].observed == 1.0);
    double error = 0.0;
    for (const CalibrationBin& bin : equal)
        error += static_cast<double>(bin.count) / 8.0 * std::abs(bin.observed - bin.predicted);
    CHECK(expected_calibration_error(equal) == Approx(error));
    const auto wide = calibration_table(p, y, {.bins = 4, .binning = Binning::equal_width});
    REQUIRE(wide.size() == 4);
    CHECK(wide[0].count == 3);
    CHECK(wide[1].count == 1);
    CHECK(wide[2].predicted == Approx(0.5 * (0.55 + 0.62)));
    CHECK(wide[2].observed == 0.5);
    CHECK(wide[3].count == 2);
    const auto tenths = calibration_table(p, y, {.binning = Binning::equal_width});
    CHECK(tenths.size() == 6);  // those without samples are left out
    CHECK(tenths.back().predicted == Approx(0.95));
    // The order of the samples does not matter.
    const auto turned = calibration_table(Vector(p.reverse()), Vector(y.reverse()), {.bins = 4});
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(turned[k].count == equal[k].count);
        CHECK(turned[k].observed == equal[k].observed);
    }
    // Outcomes drawn with their probabilities are calibrated; certain forecasts of a coin are not.
    const Vector uniform = support::uniforms(20000, 1, 9), coin = support::uniforms(20000, 1, 10);
    Vector drawn(20000);
    for (Index i = 0; i < 20000; ++i) drawn(i) = coin(i) < uniform(i) ? 1.0 : -1.0;
    CHECK(expected_calibration_error(calibration_table(uniform, drawn)) < 0.02);
    CHECK(expected_calibration_error(calibration_table(Vector::Ones(20000), drawn)) ==
          Approx(0.5).margin(0.02));
}

TEST_CASE("calibration of several classes is that of the likeliest", "[validation]") {
    const Matrix p = three_probabilities(50);
    std::vector<int> labels;
    Vector top(50), right(50);
    for (Index i = 0; i < 50; ++i) {
        labels.push_back(1 + static_cast<int>((i * i) % 3));
        Index best = 0;
        top(i) = p.col(i).maxCoeff(&best);
        right(i) = best + 1 == labels.back() ? 1.0 : -1.0;
    }
    const auto table = calibration_table(p, labels, std::vector<int>{1, 2, 3}, {.bins = 5});
    const auto expected = calibration_table(top, right, {.bins = 5});
    REQUIRE(table.size() == 5);
    for (std::size_t k = 0; k < 5; ++k) {
        CHECK(table[k].count == expected[k].count);
        CHECK(table[k].predicted == expected[k].predicted);
        CHECK(table[k].observed == expected[k].observed);
    }
}

TEST_CASE("probabilities that are none are refused by name", "[validation]") {
    const std::vector<int> classes{1, 2};
    const Matrix sure{{1.0, 0.0}, {0.0, 1.0}};
    CHECK_THAT(refusal([&] {
                   (void)log_loss(Vector{{0.5, 1.5}}, Vector{{1.0, 1.0}});
               }),
               ContainsSubstring("probabilities(1, 0) is 1.5"));
    CHECK_THAT(refusal([&] {
                   (void)brier_score(Vector{{0.5, 0.5}}, Vector{{1.0, 0.0}});
               }),
               ContainsSubstring("y(1, 0) is 0"));
    CHECK_THAT(refusal([&] { (void)log_loss(sure, std::vector<int>{1}, classes); }),
               ContainsSubstring("labels has 1 entries but probabilities has 2 columns"));
    CHECK_THAT(refusal([&] {
                   (void)log_loss(sure, std::vector<int>{1, 2}, std::vector<int>{1, 2, 3});
               }),
               ContainsSubstring("2 rows for 3 classes"));
    CHECK_THAT(refusal([&] {
                   (void)brier_score(sure, std::vector<int>{1, 2}, std::vector<int>{2, 1});
               }),
               ContainsSubstring("ascending"));
    CHECK_THAT(refusal([&] {
                   (void)log_loss(sure, std::vector<int>{1, 2}, classes, 0.0);
               }),
               ContainsSubstring("least = 0"));
    CHECK_THAT(refusal([&] {
                   (void)calibration_table(sure, std::vector<int>{1, 2}, classes, {.bins = 0});
               }),
               ContainsSubstring("options.bins = 0"));
    CHECK_THAT(refusal([] { (void)expected_calibration_error({}); }), ContainsSubstring("table"));
}

}  // namespace validation_test
