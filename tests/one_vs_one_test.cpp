#include "support/catch.hpp"
#include "support/sealed_text.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>
#include <kernelet/multiclass/one_vs_one.hpp>
#include <kernelet/multiclass/one_vs_rest.hpp>
#include <kernelet/multiclass/shared_kernels.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace one_vs_one_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::FormatError;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::OneVsOne;
using kernelet::OneVsRest;
using kernelet::Scheme;
using kernelet::SettledBy;
using kernelet::Vector;
using support::refusal;
using support::same_bits;
using Binary = kernelet::SparseKernelModel<Gaussian>;
template <class Label>
using Ensemble = kernelet::EnsembleModel<Gaussian, Label>;

/// A Gaussian that counts the values it computes.
struct Counted : Gaussian {
    static std::atomic<Index>& count() {
        static std::atomic<Index> values{0};
        return values;
    }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef out) const {
        count() += out.size();
        Gaussian::values(xt, node, out);
    }
};

/// A kernel at the mean of each of the two classes: cheap, and pairs share the kernels of the class they
/// share.
template <class Kernel = Gaussian>
struct Means {
    struct Fit {
        kernelet::SparseKernelModel<Kernel> model;
        std::string report{};
    };
    double width = 1.0;
    bool standardize = false;

    Fit fit(const Matrix& x, const Vector& y) const {
        const InputScaling scaling =
            standardize ? InputScaling::standard(x) : InputScaling::identity(x.rows());
        const Matrix inner = scaling.to_internal(x);
        Matrix nodes = Matrix::Zero(x.rows() + 1, 2), coefficients(2, 1);
        nodes.row(x.rows()).setConstant(width);
        coefficients << 1.0, -1.0;
        Vector sizes = Vector::Zero(2);
        for (Index i = 0; i < y.size(); ++i) {
            const Index side = y(i) > 0.0 ? 0 : 1;
            sizes(side) += 1.0;
            nodes.col(side).head(x.rows()) += inner.col(i);
        }
        for (Index side = 0; side < 2; ++side) nodes.col(side).head(x.rows()) /= sizes(side);
        return {
            {Kernel{}, scaling, nodes, coefficients, Vector::Zero(1)},
            std::to_string(static_cast<int>(sizes(0))) + ":" + std::to_string(static_cast<int>(sizes(1)))};
    }
    template <kernelet::Domain Omega>
    Fit fit(const Matrix& x, const Vector& y, const Omega& domain) const {
        kernelet::detail::require(domain.dimension() == x.rows(), "the domain has another dimension");
        Means other = *this;
        other.width = domain.widths().hi;
        return other.fit(x, y);
    }
};

static_assert(kernelet::BinaryEstimator<Means<>>);
static_assert(kernelet::BinaryEstimator<kernelet::SparseKernelEstimator<Gaussian, kernelet::LogisticLoss>>);
static_assert(!kernelet::BinaryEstimator<Gaussian>);
static_assert(!kernelet::BinaryEstimator<int>);

/// n samples of `classes` clusters in the plane, their labels 0, 1, ...
struct Clusters {
    Matrix x{};
    std::vector<int> labels{};
};
Clusters clusters(Index n, int classes, double spread, std::uint64_t seed) {
    Clusters data{spread * support::normals(2, n, seed), {}};
    for (Index i = 0; i < n; ++i) {
        const int label = static_cast<int>(i) % classes;
        const double angle = 6.2831853 * label / classes;
        data.x.col(i) += 3.0 * Vector{{std::cos(angle), std::sin(angle)}};
        data.labels.push_back(label);
    }
    return data;
}

/// A constant classifier: no kernels, an offset.
Binary constant(double decision) {
    return {Gaussian{}, InputScaling::identity(1), Matrix(2, 0), Matrix(0, 1), Vector::Constant(1, decision)};
}
Ensemble<int> constants(Scheme scheme, const std::vector<double>& decisions, std::vector<int> classes) {
    std::vector<Binary> models;
    for (const double decision : decisions) models.push_back(constant(decision));
    return {scheme, std::move(classes), models};
}

TEST_CASE("predictions are those of voting pair by pair", "[multiclass]") {
    for (const bool standardize : {false, true}) {
        const Clusters data = clusters(120, 5, 1.5, 3);
        const auto fit = OneVsOne(Means<>{0.7, standardize}).fit(data.x, data.labels);
        REQUIRE(fit.model.classifiers() == 10);
        const Matrix x = support::uniforms(2, 300, 4, -6.0, 6.0);
        const Matrix margins = fit.model.margins(x), votes = fit.model.votes(x), scores = fit.model.scores(x);
        const std::vector<int> labels = fit.model.predict(x);
        Index by_margins = 0;
        const auto decisions = fit.model.decide(x);
        for (Index i = 0; i < x.cols(); ++i) {
            std::vector<double> won(5, 0.0), sum(5, 0.0);
            Index m = 0;
            for (std::size_t a = 0; a < 5; ++a)
                for (std::size_t b = a + 1; b < 5; ++b, ++m) {
                    // a separate fit on the samples of the two classes
                    std::vector<Index> samples;
                    std::vector<double> y;
                    if (i == 0) {
                        for (Index s = 0; s < data.x.cols(); ++s) {
                            const int label = data.labels[static_cast<std::size_t>(s)];
                            if (label != static_cast<int>(a) && label != static_cast<int>(b)) continue;
                            samples.push_back(s);
                            y.push_back(label == static_cast<int>(a) ? 1.0 : -1.0);
                        }
                        const auto own = Means<>{0.7, standardize}.fit(
                            data.x(Eigen::all, samples),
                            Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size())));
                        const Vector decision = own.model.predict(x);
                        CHECK((decision.transpose() - margins.row(m)).cwiseAbs().maxCoeff() <= 1e-14);
                        CHECK(same_bits(own.model.nodes(), fit.model.classifier(m).nodes()));
                        CHECK(same_bits(own.model.coefficients(), fit.model.classifier(m).coefficients()));
                        CHECK(fit.reports[static_cast<std::size_t>(m)].samples == samples);
                        CHECK(fit.reports[static_cast<std::size_t>(m)].positive == static_cast<int>(a));
                        CHECK(fit.reports[static_cast<std::size_t>(m)].negative == static_cast<int>(b));
                        CHECK(fit.reports[static_cast<std::size_t>(m)].report == "24:24");
                        CHECK(fit.reports[static_cast<std::size_t>(m)].kernels == 2);
                    }
                    const double margin = margins(m, i);
                    if (margin > 0.0) won[a] += 1.0;
                    if (margin < 0.0) won[b] += 1.0;
                    sum[a] += margin;
                    sum[b] -= margin;
                }
            std::size_t best = 0;
            for (std::size_t c = 1; c < 5; ++c)
                if (won[c] > won[best] || (won[c] == won[best] && sum[c] > sum[best])) best = c;
            CHECK(labels[static_cast<std::size_t>(i)] == static_cast<int>(best));
            if (std::count(won.begin(), won.end(), won[best]) > 1) ++by_margins;
            for (std::size_t c = 0; c < 5; ++c) {
                CHECK(votes(static_cast<Index>(c), i) == won[c]);
                CHECK(scores(static_cast<Index>(c), i) == Approx(sum[c]).margin(1e-13));
            }
        }
        CHECK(std::count(decisions.settled_by.begin(), decisions.settled_by.end(), SettledBy::votes) ==
              300 - by_margins);
    }
}

TEST_CASE("one against the rest: the largest decision value", "[multiclass]") {
    const Clusters data = clusters(90, 4, 1.0, 13);
    const auto fit = OneVsRest(Means<>{0.9}).fit(data.x, data.labels);
    REQUIRE(fit.model.classifiers() == 4);
    const Matrix x = support::uniforms(2, 200, 14, -5.0, 5.0);
    const Matrix margins = fit.model.margins(x);
    const std::vector<int> labels = fit.model.predict(x);
    for (Index i = 0; i < x.cols(); ++i) {
        Index best = 0;
        margins.col(i).maxCoeff(&best);
        CHECK(labels[static_cast<std::size_t>(i)] == best);
    }
    CHECK(same_bits(fit.model.scores(x), margins));
    CHECK(same_bits(fit.model.votes(x), (margins.array() > 0.0).cast<double>().matrix()));
    for (const auto& report : fit.reports) {
        CHECK_FALSE(report.negative.has_value());
        CHECK(static_cast<Index>(report.samples.size()) == 90);  // all, in their order
        CHECK(std::is_sorted(report.samples.begin(), report.samples.end()));
    }
    CHECK(fit.reports[2].report == "22:68");
    CHECK(fit.reports[0].report == "23:67");
    CHECK(fit.model.accuracy(data.x, data.labels).share() > 0.9);
}

TEST_CASE("ties: by summed margins, then by order, and it says so", "[multiclass]") {
    const Matrix x = Matrix::Zero(1, 1);
    const auto decided = [&](const Ensemble<int>& model) {
        const auto decisions = model.decide(x);
        CHECK(model.predict(x).front() ==
              model.classes()[static_cast<std::size_t>(decisions.classes.front())]);
        return std::pair(model.predict(x).front(), decisions.settled_by.front());
    };
    const std::vector<int> classes{-7, 0, 9};
    const auto pairs = Scheme::one_vs_one;
    // order of the pairs: (-7, 0), (-7, 9), (0, 9)
    CHECK(decided(constants(pairs, {1.0, 1.0, 1.0}, classes)) == std::pair(-7, SettledBy::votes));
    CHECK(decided(constants(pairs, {1.0, -1.0, -1.0}, classes)) == std::pair(9, SettledBy::votes));
    // each beats one other: one vote for all
    CHECK(decided(constants(pairs, {1.0, -2.0, 5.0}, classes)) == std::pair(0, SettledBy::margins));
    CHECK(decided(constants(pairs, {1.0, -5.0, 2.0}, classes)) == std::pair(9, SettledBy::margins));
    CHECK(decided(constants(pairs, {5.0, -1.0, 2.0}, classes)) == std::pair(-7, SettledBy::margins));
    CHECK(decided(constants(pairs, {1.0, -1.0, 1.0}, classes)) == std::pair(-7, SettledBy::order));
    // a tie of the last two only
    CHECK(decided(constants(pairs, {-1.0, -1.0, 0.0}, classes)) == std::pair(0, SettledBy::order));
    CHECK(decided(constants(pairs, {-1.0, -2.0, 0.0}, classes)) == std::pair(9, SettledBy::margins));
    // no votes: far from all kernels
    CHECK(decided(constants(pairs, {0.0, 0.0, 0.0}, classes)) == std::pair(-7, SettledBy::order));
    CHECK(constants(pairs, {0.0, 0.0, 0.0}, classes).votes(x).isZero());

    const auto rest = Scheme::one_vs_rest;
    CHECK(decided(constants(rest, {-1.0, 2.0, -3.0}, classes)) == std::pair(0, SettledBy::votes));
    CHECK(decided(constants(rest, {1.0, 2.0, -3.0}, classes)) == std::pair(0, SettledBy::margins));
    CHECK(decided(constants(rest, {-3.0, -2.0, -1.0}, classes)) == std::pair(9, SettledBy::margins));
    CHECK(decided(constants(rest, {-3.0, -1.0, -1.0}, classes)) == std::pair(0, SettledBy::order));
}

TEST_CASE("probabilities of classes: coupled pairs, and those of the rest", "[multiclass]") {
    const auto p_of = [](const Ensemble<int>& ensemble) -> Vector {
        return ensemble.with_loss("logistic").probability(Matrix::Zero(1, 1)).col(0);
    };
    // Pairs that follow from probabilities, log odds log p_a/p_b, give these back.
    const Vector p{{0.5, 0.3, 0.15, 0.05}};
    std::vector<double> odds;
    for (Index a = 0; a < 4; ++a)
        for (Index b = a + 1; b < 4; ++b) odds.push_back(std::log(p(a) / p(b)));
    CHECK((p_of(constants(Scheme::one_vs_one, odds, {1, 2, 3, 4})) - p).norm() <= 1e-10);
    // Inconsistent pairs: the minimum of Σ (r_ba p_a − r_ab p_b)², whose Lagrangian has one gradient in all p.
    const std::vector<double> pairs{1.0, -0.3, 0.4};
    const Vector coupled = p_of(constants(Scheme::one_vs_one, pairs, {1, 2, 3}));
    Matrix r = Matrix::Zero(3, 3);
    std::size_t pair = 0;
    for (Index a = 0; a < 3; ++a)
        for (Index b = a + 1; b < 3; ++b) {
            r(a, b) = 1.0 / (1.0 + std::exp(-pairs[pair++]));
            r(b, a) = 1.0 - r(a, b);
        }
    Vector gradient = Vector::Zero(3);
    for (Index a = 0; a < 3; ++a)
        for (Index b = 0; b < 3; ++b)
            if (a != b) gradient(a) += r(b, a) * (r(b, a) * coupled(a) - r(a, b) * coupled(b));
    CHECK(gradient.maxCoeff() - gradient.minCoeff() <= 1e-10);
    CHECK(coupled.sum() == Approx(1.0));
    // Against the rest: each classifier's probability, normalised; far below zero too, where each is zero.
    const Vector rest = p_of(constants(Scheme::one_vs_rest, {1.0, -1.0, 0.0}, {1, 2, 3}));
    const auto sigma = [](double f) { return 1.0 / (1.0 + std::exp(-f)); };
    CHECK((rest - Vector{{sigma(1.0), sigma(-1.0), sigma(0.0)}} / (sigma(1.0) + sigma(-1.0) + 0.5)).norm() <=
          1e-14);
    CHECK((p_of(constants(Scheme::one_vs_rest, {-1000.0, -1001.0, -1002.0}, {1, 2, 3})) -
           Vector{{1.0, std::exp(-1.0), std::exp(-2.0)}} / (1.0 + std::exp(-1.0) + std::exp(-2.0)))
              .norm() <= 1e-12);
    CHECK_THROWS_AS(constants(Scheme::one_vs_rest, {1.0, -1.0}, {1, 2})
                        .with_loss("hinge")
                        .probability(Matrix::Zero(1, 1)),
                    std::logic_error);
    CHECK_THROWS_AS(constant(1.0).with_loss("squared").probability(Matrix::Zero(1, 1)), std::logic_error);
    CHECK_THROWS_AS(constant(1.0).probability(Matrix::Zero(1, 1)), std::logic_error);
}

TEST_CASE("the most probable class is the one that is predicted", "[multiclass]") {
    const kernelet::detail::CounterRandom random(9, 9);
    std::uint64_t drawn = 0;
    int disagreements = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const Index classes = 3 + trial % 4;
        const Scheme scheme = trial % 2 == 0 ? Scheme::one_vs_one : Scheme::one_vs_rest;
        std::vector<int> names;
        std::vector<double> decisions;
        for (int c = 0; c < static_cast<int>(classes); ++c) names.push_back(c);
        for (Index m = 0; m < (scheme == Scheme::one_vs_one ? classes * (classes - 1) / 2 : classes); ++m)
            decisions.push_back(3.0 * random.normal(drawn++));
        const auto ensemble = constants(scheme, decisions, names).with_loss("logistic");
        const Matrix p = ensemble.probability(Matrix::Zero(1, 1));
        Index most = 0;
        p.col(0).maxCoeff(&most);
        CHECK(most == ensemble.predict(Matrix::Zero(1, 1)).front());
        CHECK(p.minCoeff() >= 0.0);
        CHECK(p.sum() == Approx(1.0));
        if (scheme == Scheme::one_vs_one) {
            std::vector<double> sorted(p.data(), p.data() + p.size());
            std::sort(sorted.rbegin(), sorted.rend());
            if (sorted[0] - sorted[1] <= 1e-15) ++disagreements;
        }
    }
    CHECK(disagreements > 0);  // votes and coupled pairs do differ at times
}

TEST_CASE("shared kernels are stored and evaluated once", "[multiclass]") {
    const Clusters data = clusters(60, 6, 0.5, 23);
    const auto fit = OneVsOne(Means<Counted>{50.0}).fit(data.x, data.labels);
    CHECK(fit.model.size() == 6);  // a mean a class
    CHECK(fit.model.mean_kernels() == 2.0);
    CHECK(fit.model.kernels().groups().size() == 1);
    const Matrix x = support::normals(2, 101, 24);
    Counted::count() = 0;
    fit.model.predict(x);
    CHECK(Counted::count() == 6 * 101);  // so wide that none is skipped
    // one scaling per pair: none is shared
    const auto scaled = OneVsOne(Means<Counted>{50.0, true}).fit(data.x, data.labels);
    CHECK(scaled.model.size() == 30);
    CHECK(scaled.model.kernels().groups().size() == 15);

    // the same numbers under another scaling are other kernels
    const auto model = [](double scale, double z) {
        Matrix nodes(2, 1);
        nodes << z, 1.0;
        return Binary(Gaussian{}, {Vector::Zero(1), Vector::Constant(1, scale)}, nodes, Matrix::Ones(1, 1),
                      Vector::Zero(1));
    };
    const Ensemble<int> mixed(Scheme::one_vs_one, {1, 2, 3},
                              {model(1.0, 0.5), model(2.0, 0.5), model(1.0, 0.5)});
    CHECK(mixed.size() == 2);
    const Matrix at = Matrix::Constant(1, 1, 0.5);
    CHECK(mixed.margins(at)(0, 0) == 1.0);
    CHECK(mixed.margins(at)(1, 0) == Approx(std::exp(-0.5 * 0.25 * 0.25)));
    CHECK(mixed.margins(at)(2, 0) == 1.0);
    // the last bit counts
    const Ensemble<int> close(Scheme::one_vs_one, {1, 2, 3},
                              {model(1.0, 0.5), model(1.0, std::nextafter(0.5, 1.0)), model(1.0, 0.5)});
    CHECK(close.size() == 2);
}

TEST_CASE("labels of any kind", "[multiclass]") {
    const Clusters data = clusters(40, 3, 0.2, 33);
    const OneVsOne<Means<>> rooms;
    const auto reference = rooms.fit(data.x, data.labels).model.predict(data.x);
    REQUIRE(reference == data.labels);
    const auto check = [&](const auto& labels, const auto& expected) {
        const auto model = rooms.fit(data.x, labels).model;
        CHECK(model.predict(data.x) == expected);
        CHECK(model.accuracy(data.x, labels).right == 40);
        CHECK(model.classes().size() == 3);
        CHECK(std::is_sorted(model.classes().begin(), model.classes().end()));
    };
    std::vector<std::string> words;
    std::vector<const char*> pointers;
    const std::vector<std::string> copies{"kitchen", "bath", "hall"};  // not the literals' addresses
    std::vector<double> reals;
    Eigen::VectorXi column(40);
    Eigen::RowVectorXd row(40);
    for (std::size_t i = 0; i < 40; ++i) {
        const auto which = static_cast<std::size_t>(data.labels[i]);
        words.push_back(copies[which]);
        static const char* const literals[] = {"kitchen", "bath", "hall"};
        pointers.push_back(i % 2 == 0 ? copies[which].c_str() : literals[which]);
        reals.push_back(0.5 - data.labels[i]);
        column(static_cast<Index>(i)) = 100 * data.labels[i] - 77;
        row(static_cast<Index>(i)) = reals.back();
    }
    check(words, words);
    check(pointers, words);
    check(reals, reals);
    check(column, std::vector<int>(column.begin(), column.end()));
    check(row, reals);
    check((row.array() * 2.0).matrix().transpose(), [&] {
        std::vector<double> doubled = reals;
        for (double& value : doubled) value *= 2.0;
        return doubled;
    }());
    enum class Room { kitchen, bath, hall };
    std::vector<Room> rooms_of;
    for (const int label : data.labels) rooms_of.push_back(static_cast<Room>(label));
    CHECK(rooms.fit(data.x, rooms_of).model.predict(data.x) == rooms_of);
    std::vector<bool> flags;
    for (const int label : data.labels) flags.push_back(label == 1);
    CHECK(rooms.fit(data.x.cast<float>(), flags).model.classifiers() == 1);
    // neither the order of the samples nor that of first sight decides on the classes' order
    CHECK(rooms.fit(data.x, words).model.classes() == std::vector<std::string>{"bath", "hall", "kitchen"});
}

TEST_CASE("labels that cannot be told apart, and those unseen, are named", "[multiclass]") {
    Clusters data = clusters(20, 2, 0.3, 43);
    const OneVsOne<Means<>> rooms;
    const OneVsRest<Means<>> rest;
    CHECK_THAT(refusal([&] { rooms.fit(data.x, std::vector<int>(20, 4)); }),
               ContainsSubstring("one class only, 4"));
    CHECK_THAT(refusal([&] { rest.fit(data.x, std::vector<int>(20, 4)); }),
               ContainsSubstring("one class only, 4"));
    CHECK_THAT(refusal([&] { rooms.fit(data.x, std::vector<int>(19, 4)); }), ContainsSubstring("19 entries"));
    CHECK_THAT(refusal([&] { rooms.fit(Matrix(2, 0), std::vector<int>{}); }),
               ContainsSubstring("no columns"));
    CHECK_THAT(refusal([&] { rooms.fit(Matrix(0, 20), data.labels); }), ContainsSubstring("no rows"));
    CHECK_THAT(refusal([&] { rooms.fit(data.x, Eigen::MatrixXi::Zero(2, 10)); }),
               ContainsSubstring("2 x 10"));
    Vector reals = Vector::LinSpaced(20, 0.0, 1.0);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        reals(7) = bad;
        CHECK_THAT(refusal([&] { rooms.fit(data.x, reals); }), ContainsSubstring("labels(7)"));
    }
    Matrix broken = data.x;
    broken(1, 6) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(refusal([&] { rooms.fit(broken, data.labels); }), ContainsSubstring("x(1, 6)"));
    CHECK_THAT(
        refusal([&] {
            rooms.fit(data.x, data.labels, kernelet::Box(Vector::Zero(3), Vector::Ones(3), {1.0, 2.0}));
        }),
        ContainsSubstring("class 0 against class 1"));

    CHECK(rooms.fit(data.x, data.labels).warnings.empty());
    data.labels[3] = 12;
    const auto single = rooms.fit(data.x, data.labels);
    REQUIRE(single.warnings.size() == 1);
    CHECK_THAT(single.warnings.front(), ContainsSubstring("class 12 has one sample"));
    CHECK(single.model.classes() == std::vector<int>{0, 1, 12});

    const auto fit = rooms.fit(data.x.leftCols(3), std::vector<int>{5, 6, 5});
    const auto accuracy = fit.model.accuracy(data.x.leftCols(4), std::vector<int>{5, 6, 8, 8});
    CHECK(accuracy.right == 2);
    CHECK(accuracy.samples == 4);
    CHECK(accuracy.unseen == std::vector<int>{8});
    CHECK_THAT(refusal([&] { fit.model.accuracy(data.x, std::vector<int>{5}); }),
               ContainsSubstring("1 entries"));
    CHECK_THAT(refusal([&] { fit.model.predict(Matrix::Zero(3, 1)); }), ContainsSubstring("3 rows"));
}

/// An estimator whose fit fails, with that status.
struct Helpless {
    struct Fit {
        Binary model;
        kernelet::Report report{};
    };
    Fit fit(const Matrix& /*x*/, const Vector& /*y*/) const {
        Fit fit{constant(-1.0)};
        fit.report.status = kernelet::Status::diverged;
        return fit;
    }
};

TEST_CASE("classifiers that learned nothing are named", "[multiclass]") {
    const auto fit = OneVsOne(Helpless{}).fit(Matrix::Zero(1, 2), std::vector<std::string>{"a", "b"});
    REQUIRE(fit.warnings.size() == 4);
    CHECK_THAT(fit.warnings[2], ContainsSubstring("class 'a' against class 'b': no kernels"));
    CHECK_THAT(fit.warnings[3], ContainsSubstring("diverged"));
}

TEST_CASE("ensembles that do not fit together are refused", "[multiclass]") {
    const auto pairs = Scheme::one_vs_one;
    CHECK_THAT(refusal([&] { constants(pairs, {1.0, 1.0}, {1, 2, 3}); }), ContainsSubstring("3 are needed"));
    CHECK_THAT(refusal([&] { constants(pairs, {1.0}, {2, 1}); }), ContainsSubstring("ascending"));
    CHECK_THAT(refusal([&] { constants(pairs, {1.0}, {2, 2}); }), ContainsSubstring("distinct"));
    CHECK_THAT(refusal([&] { constants(Scheme::one_vs_rest, {1.0}, {2}); }),
               ContainsSubstring("two classes"));
    CHECK_THAT(refusal([&] { constants(pairs, {}, {1}); }), ContainsSubstring("no models"));
    const Binary plane(Gaussian{}, InputScaling::identity(2), Matrix(3, 0), Matrix(0, 1), Vector::Zero(1));
    CHECK_THAT(refusal([&] {
                   Ensemble<int>(Scheme::one_vs_rest, {1, 2}, {constant(1.0), plane});
               }),
               ContainsSubstring("1 and 2 inputs"));
    const Binary twofold(Gaussian{}, InputScaling::identity(1), Matrix(2, 0), Matrix(0, 2), Vector::Zero(2));
    CHECK_THAT(refusal([&] { Ensemble<int>(pairs, {1, 2}, {twofold}); }), ContainsSubstring("2 outputs"));
}

TEST_CASE("a domain is passed on to every fit", "[multiclass]") {
    const Clusters data = clusters(30, 3, 0.3, 53);
    const kernelet::Box box(Vector::Constant(2, -5.0), Vector::Constant(2, 5.0), {0.5, 0.625});
    const auto fit = OneVsOne<Means<>>().fit(data.x, data.labels, box);
    for (Index m = 0; m < 3; ++m) CHECK((fit.model.classifier(m).nodes().row(2).array() == 0.625).all());
    CHECK(OneVsRest<Means<>>().fit(data.x, data.labels, box).model.classifier(0).nodes()(2, 0) == 0.625);
}

TEST_CASE("a domain of its own for every fit, made from its samples", "[multiclass]") {
    const Clusters data = clusters(30, 3, 0.3, 53);
    const auto make = [](const kernelet::Opponents& who, const Matrix& x) {
        CHECK(x.cols() == 20);
        const double width =
            1.0 + static_cast<double>(who.positive) + 0.25 * static_cast<double>(*who.negative);
        return kernelet::Box(Vector::Constant(2, -5.0), Vector::Constant(2, 5.0), {0.5, width});
    };
    static_assert(kernelet::DomainMaker<decltype(make)>);
    static_assert(!kernelet::DomainMaker<kernelet::Box>);
    std::vector<Index> done;
    const auto watch = [&](const kernelet::EnsembleProgress& progress) {
        CHECK(progress.classifiers == 3);
        CHECK(progress.seconds >= 0.0);
        done.push_back(progress.done);
    };
    const auto fit = OneVsOne<Means<>>().fit(data.x, data.labels, make, watch);
    CHECK(done == std::vector<Index>{1, 2, 3});
    CHECK(fit.model.classifier(0).nodes()(2, 0) == 1.25);  // 0 against 1
    CHECK(fit.model.classifier(1).nodes()(2, 0) == 1.5);
    CHECK(fit.model.classifier(2).nodes()(2, 0) == 2.5);  // 1 against 2
    done.clear();
    CHECK(OneVsRest<Means<>>().fit(data.x, data.labels, watch).model.classifiers() == 3);
    CHECK(done.size() == 3);
}

/// A kernel at the mean of each class, with a coefficient for that class only.
struct SharedMeans : Means<> {
    using Means<>::fit;
    Fit fit(const Matrix& x, const Matrix& y) const {
        const Index q = y.rows();
        Matrix nodes(x.rows() + 1, q);
        for (Index c = 0; c < q; ++c) {
            const Vector members = (y.row(c).array() > 0.0).cast<double>();
            nodes.col(c) << x * members / members.sum(), width;
        }
        return {{Gaussian{}, InputScaling::identity(x.rows()), nodes, Matrix::Identity(q, q),
                 Vector::Constant(q, -0.5)},
                std::to_string(q)};
    }
};

TEST_CASE("one fit for all classes: kernels shared, the largest decision value wins", "[multiclass]") {
    const Clusters data = clusters(40, 4, 0.3, 54);
    const auto fit = kernelet::SharedKernels<SharedMeans>().fit(data.x, data.labels);
    CHECK(fit.report == "4");
    CHECK(fit.model.scheme() == Scheme::one_vs_rest);
    CHECK(fit.model.size() == 4);
    CHECK(fit.model.mean_kernels() == 4.0);
    CHECK(fit.model.predict(data.x) == data.labels);
    CHECK(fit.model.margins(data.x).colwise().maxCoeff().minCoeff() > 0.0);
    CHECK(fit.warnings.empty());
    const std::vector<std::string> words{"a", "b", "b"};
    const auto lonely = kernelet::SharedKernels<SharedMeans>().fit(data.x.leftCols(3), words);
    REQUIRE(lonely.warnings.size() == 1);
    CHECK_THAT(lonely.warnings[0], ContainsSubstring("class 'a' has one sample only"));
    CHECK_THAT(refusal([&] {
                   kernelet::SharedKernels<SharedMeans>().fit(data.x.leftCols(2), std::vector<int>{5, 5});
               }),
               ContainsSubstring("one class only"));
}

TEST_CASE("the same bits for any number of threads", "[multiclass]") {
    const Clusters data = clusters(300, 8, 1.0, 63);
    const Matrix x = support::normals(2, 20000, 64);  // enough to wake threads
    for (const bool standardize : {false, true}) {
        const auto run = [&](int threads) {
            const support::Threads scope(threads);
            const auto fit = OneVsOne(Means<>{0.8, standardize}).fit(data.x, data.labels);
            std::ostringstream text;
            kernelet::save(text, fit.model);
            return std::pair(text.str(), fit.model.margins(x));
        };
        REQUIRE(x.cols() * 8 >= kernelet::detail::least_parallel_work);
        const auto one = run(1);
        for (const int threads : {2, 4}) {
            const auto many = run(threads);
            CHECK(many.first == one.first);
            CHECK(same_bits(many.second, one.second));
        }
    }
}

TEST_CASE("three separated clusters by the library's own fit", "[multiclass]") {
    const Clusters data = clusters(45, 3, 0.3, 73);
    // one solver: each takes its time to compile
    using Estimator =
        kernelet::SparseKernelEstimator<Gaussian, kernelet::LogisticLoss, kernelet::AugmentedNewton>;
    const auto run = [&](int threads) {
        const support::Threads scope(threads);
        return OneVsOne(Estimator({.tolerance = 0.2, .max_kernels = 4})).fit(data.x, data.labels);
    };
    const auto fit = run(2);
    CHECK(fit.model.predict(data.x) == data.labels);
    const Clusters fresh = clusters(90, 3, 0.3, 74);
    CHECK(fit.model.accuracy(fresh.x, fresh.labels).right == 90);
    REQUIRE(fit.reports.size() == 3);
    for (const auto& report : fit.reports) {
        CHECK(report.report.kernels == report.kernels);
        CHECK(report.report.prices.size() == static_cast<Index>(report.samples.size()));
        CHECK(report.kernels <= 4);
    }
    CHECK(fit.warnings.empty());
    CHECK(same_bits(run(1).model.margins(fresh.x), fit.model.margins(fresh.x)));
    const auto shared =
        kernelet::SharedKernels(Estimator({.tolerance = 0.2, .max_kernels = 6})).fit(data.x, data.labels);
    CHECK(shared.model.size() <= 6);
    CHECK(shared.model.accuracy(fresh.x, fresh.labels).right == 90);
}

// save and load

template <class Label>
std::string saved(const Ensemble<Label>& model) {
    std::ostringstream stream;
    kernelet::save(stream, model);
    return stream.str();
}

template <class Label>
Ensemble<Label> loaded(const std::string& text) {
    std::istringstream stream(text);
    return kernelet::load<Ensemble<Label>>(stream);
}

template <class Label>
Index refused_line(const std::string& text) {
    try {
        loaded<Label>(text);
    } catch (const FormatError& error) {
        return error.line();
    }
    return 0;
}

template <class Label>
void check_round_trip(const Ensemble<Label>& model) {
    const Ensemble<Label> again = loaded<Label>(saved(model));
    CHECK(saved(again) == saved(model));
    CHECK(again.classes() == model.classes());
    CHECK(again.scheme() == model.scheme());
    CHECK(again.size() == model.size());
    const Matrix x = support::normals(model.dimension(), 200, 84);
    CHECK(same_bits(again.margins(x), model.margins(x)));
    CHECK(again.predict(x) == model.predict(x));
}

TEST_CASE("an ensemble saved and loaded: the same bits", "[multiclass]") {
    const Clusters data = clusters(50, 4, 0.8, 83);
    std::vector<std::string> words;
    std::vector<double> reals;
    std::vector<bool> flags;
    for (const int label : data.labels) {
        words.push_back(
            std::vector<std::string>{"", " two words ", "ü", "class x"}[static_cast<std::size_t>(label)]);
        reals.push_back(0.1 * label - 0.1);
        flags.push_back(label > 1);
    }
    for (const bool standardize : {false, true}) {
        const Means<> means{0.7, standardize};
        check_round_trip(OneVsOne(means).fit(data.x, data.labels).model);
        check_round_trip(OneVsRest(means).fit(data.x, data.labels).model);
        check_round_trip(OneVsOne(means).fit(data.x, words).model);
        check_round_trip(OneVsOne(means).fit(data.x, reals).model);
        check_round_trip(OneVsRest(means).fit(data.x, flags).model);
    }
    check_round_trip(constants(Scheme::one_vs_one, {-1.5}, {std::numeric_limits<int>::min(), 3}));
    const Ensemble<std::string> broken(Scheme::one_vs_one, {"a\nb", "c"}, {constant(1.0)});
    CHECK_THAT(refusal([&] { saved(broken); }), ContainsSubstring("line break"));
    // one model after the other in one stream
    std::stringstream stream;
    kernelet::save(stream, constant(2.0));
    kernelet::save(stream, constants(Scheme::one_vs_one, {-1.5}, {4, 6}));
    CHECK(kernelet::load<Binary>(stream).offset()(0) == 2.0);
    CHECK(kernelet::load<Ensemble<int>>(stream).classes() == std::vector<int>{4, 6});
}

TEST_CASE("an ensemble's file that is wrong is refused at its line", "[multiclass]") {
    const Clusters data = clusters(9, 3, 0.8, 85);
    std::vector<std::string> body =
        support::lines_of(saved(OneVsOne(Means<>{}).fit(data.x, data.labels).model));
    body.pop_back();
    REQUIRE(refused_line<int>(support::resealed(body)) == 0);
    //  1 kernelet  2 family  3 scheme  4 labels  5 inputs  6 classes  7-9 class  10 groups  11 kernels
    // 12 shift  13 scale  14-16 kernel  17 group  18 offset  19 slopes  20 slope  21 terms
    // 22-23 term  24 group ... loss
    REQUIRE(body.size() == 38);
    const auto with = [&](std::size_t line, const std::string& text) {
        auto changed = body;
        changed[line - 1] = text;
        return refused_line<int>(support::resealed(changed));
    };
    CHECK(with(1, "kernelet model 1") == 1);
    CHECK(with(1, "kernelet ensemble 4") == 1);
    CHECK(with(2, "family laplacian") == 2);
    CHECK(with(3, "scheme one_vs_two") == 3);
    CHECK(with(3, "scheme") == 3);
    CHECK(with(4, "labels text") == 4);
    CHECK(with(5, "inputs 3") == 12);
    CHECK(with(6, "classes 1") == 6);
    CHECK(with(6, "classes 2") == 9);
    CHECK(with(6, "classes 1000000000") == 10);
    CHECK(with(7, "class 1") == 8);  // twice
    CHECK(with(8, "class 7") == 9);  // not ascending
    for (const char* label : {"", "x", "1.5", "99999999999", "1 ", "1 2"})
        CHECK(with(8, std::string("class ") + label) == 8);
    CHECK(with(10, "groups 0") == 10);
    CHECK(with(10, "groups 2") == 17);
    CHECK(with(11, "kernels 2") == 16);
    CHECK(with(11, "kernels 4") == 17);
    CHECK(with(14, "kernel 1 2") == 14);
    CHECK(with(14, "kernel 1 2 nan") == 14);
    CHECK(with(17, "group 1") == 17);
    CHECK(with(17, "group -1") == 17);
    CHECK(with(18, "offset inf") == 18);
    CHECK(with(19, "slopes 1") == 19);
    CHECK(with(21, "terms 3") == 24);
    CHECK(with(22, "term 0") == 22);
    for (const char* kernel : {"3", "-1", "0.5", "1e300", "-1e300", "9223372036854775808"})
        CHECK(with(22, std::string("term ") + kernel + " 1") == 22);
    CHECK(with(14, "kernel 1 2 -1") > 0);  // a width
    CHECK(with(13, "scale 0 1") > 0);
    CHECK(with(3, "scheme one_vs_rest") == 0);  // as many classifiers: only the checksum differs
    auto sealed = support::lines_of(support::resealed(body));
    sealed[2] = "scheme one_vs_rest";
    std::string text;
    for (const std::string& line : sealed) text += line + "\n";
    CHECK(refused_line<int>(text) == 39);
    CHECK(refused_line<double>(support::resealed(body)) == 4);
    CHECK(refused_line<std::int8_t>(support::resealed(body)) == 0);
    auto large = body;
    large[8] = "class 200";
    CHECK(refused_line<std::int8_t>(support::resealed(large)) == 9);
}

TEST_CASE("thousands of damaged files: FormatError or the same ensemble", "[multiclass]") {
    const Clusters data = clusters(12, 3, 0.8, 86);
    const std::string whole = saved(OneVsOne(Means<>{1.0, true}).fit(data.x, data.labels).model);
    const kernelet::detail::CounterRandom random(5, 78);
    Index refused = 0;
    for (std::uint64_t file = 0; file < 4000; ++file) {
        std::string text = whole;
        const auto at = [&](std::uint64_t k) {
            return static_cast<std::size_t>(random.bits(8 * file + k) % text.size());
        };
        switch (file % 4) {
            case 0:
                text.resize(at(0));
                break;
            case 1:
                text[at(0)] = static_cast<char>(random.bits(8 * file + 1) % 256);
                break;
            case 2:
                text.erase(at(0), 1);
                break;
            default:  // lines swapped, the checksum mended: it must still be a sound ensemble or none
                auto lines = support::lines_of(text);
                lines.pop_back();
                std::swap(lines[at(0) % lines.size()], lines[at(1) % lines.size()]);
                text = support::resealed(lines);
        }
        try {
            const Ensemble<int> model = loaded<int>(text);
            if (file % 4 == 3)
                CHECK(saved(loaded<int>(saved(model))) == saved(model));
            else
                CHECK(saved(model) == whole);
        } catch (const FormatError&) {
            ++refused;
        }
    }
    CHECK(refused > 3000);
}

}  // namespace one_vs_one_test
