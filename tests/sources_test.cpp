#include "support/catch.hpp"
#include "support/report_oracle.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/search/statistics.hpp>
#include <kernelet/sources/block_tree.hpp>
#include <kernelet/sources/message.hpp>

#include <Eigen/Dense>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sources_test {

using namespace kernelet;

/// A smooth function of two inputs with noise, which a part of the samples shows well.
struct Surface {
    Matrix x{};
    Vector y{};
};

Surface surface(Index n, std::uint64_t seed) {
    Surface out{support::uniforms(2, n, seed, -1.0, 1.0), Vector(n)};
    const Matrix noise = support::normals(n, 1, seed + 1);
    for (Index i = 0; i < n; ++i) {
        const double u = out.x(0, i), v = out.x(1, i);
        out.y(i) = std::exp(-4.0 * (u * u + v * v)) - 0.7 * std::exp(-6.0 * ((u - 0.5) * (u - 0.5) + v * v)) +
                   0.05 * noise(i, 0);
    }
    return out;
}

/// Fits go through passes from this many samples on.
Options streaming(Index held) {
    Options options;
    options.search.streams.held_samples = held;
    return options;
}

/// A file that is removed at the end.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

    template <class Number>
    void write(const std::vector<Number>& numbers, std::size_t bytes_less = 0) const {
        std::ofstream file(path_, std::ios::binary);
        file.write(reinterpret_cast<const char*>(numbers.data()),
                   static_cast<std::streamsize>(numbers.size() * sizeof(Number) - bytes_less));
    }

private:
    std::string path_;
};

template <class Number>
std::vector<Number> records(const Surface& s) {
    std::vector<Number> numbers;
    for (Index i = 0; i < s.y.size(); ++i) {
        numbers.push_back(static_cast<Number>(s.x(0, i)));
        numbers.push_back(static_cast<Number>(s.x(1, i)));
        numbers.push_back(static_cast<Number>(s.y(i)));
    }
    return numbers;
}

/// The message of a SourceError, or of another exception after its kind.
template <class Call>
std::string failure(const Call& call) {
    try {
        call();
    } catch (const SourceError& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string("other: ") + error.what();
    }
    return {};
}

template <class A, class B>
bool same_model(const A& a, const B& b) {
    return support::same_bits(a.centers(), b.centers()) && support::same_bits(a.widths(), b.widths()) &&
           support::same_bits(a.coefficients(), b.coefficients());
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_CASE("A matrix, a callable and a file are the same samples") {
    const Surface s = surface(700, 1);
    const TemporaryFile doubles("sources_test.f64"), floats("sources_test.f32");
    doubles.write(records<double>(s));
    floats.write(records<float>(s));
    const RawFile<double> file(doubles.path(), {.dimension = 2});
    const RawFile<float> rounded(floats.path(), {.dimension = 2});
    const CallableSource callable({700, 2, 1},
                                  [&](Index first, Index count, MatrixRef x, MatrixRef y, VectorRef) {
                                      x = s.x.middleCols(first, count);
                                      y = s.y.segment(first, count).transpose();
                                  });
    static_assert(SampleSource<RawFile<float>> && SampleSource<decltype(callable)>);
    static_assert(SampleSource<MatrixSource<double>> && !SampleSource<Matrix> && !SampleSource<Samples>);
    CHECK(file.size() == 700);
    Matrix x(2, 30), y(1, 30);
    Vector weights = Vector::Ones(30);
    file.read(600, 30, x, y, weights);
    CHECK(support::same_bits(x, s.x.middleCols(600, 30)));
    CHECK(support::same_bits(y, s.y.segment(600, 30).transpose()));
    rounded.read(0, 30, x, y, weights);
    CHECK((x - s.x.leftCols(30)).cwiseAbs().maxCoeff() < 1e-7);

    // All held: the very fit to matrices.
    const SparseKernelEstimator<> estimator;
    const auto fit = estimator.fit(s.x, s.y);
    CHECK(same_model(fit.model, estimator.fit(MatrixSource(s.x, s.y)).model));
    CHECK(same_model(fit.model, estimator.fit(file).model));
    CHECK(same_model(fit.model, estimator.fit(callable).model));
    // More samples than are held: every kind of source gives the same passes.
    const SparseKernelEstimator<> passes(streaming(300));
    const auto streamed = passes.fit(s.x, s.y);
    CHECK(same_model(streamed.model, passes.fit(file).model));
    CHECK(same_model(streamed.model,
                     passes.fit(callable, [](const Progress&) { return Verdict::proceed; }).model));
    CHECK(streamed.report.samples == 700);
    CHECK(streamed.multipliers.cols() == 700);
    CHECK(passes.fit(file).multipliers.size() == 0);
}

/// Weighted least squares at the nodes of a model, with its own prior on coefficients left out: plain loops.
double least_residual(const SparseKernelModel<Gaussian>& model, const Surface& s, const Vector& w) {
    Matrix phi(s.y.size(), model.size());
    for (Index j = 0; j < model.size(); ++j)
        for (Index i = 0; i < s.y.size(); ++i) {
            double squares = 0.0;
            for (Index c = 0; c < 2; ++c)
                squares += std::pow(
                    (s.x(c, i) - model.centers()(c, j)) / model.widths()(c % model.widths().rows(), j), 2);
            phi(i, j) = std::exp(-0.5 * squares) * std::sqrt(w(i));
        }
    const Vector target = s.y.cwiseProduct(w.cwiseSqrt());
    const Vector a = phi.colPivHouseholderQr().solve(target);
    return (phi * a - target).squaredNorm();
}

TEST_CASE("Passes end at the best fit to all samples") {
    const Surface s = surface(4000, 3);
    Samples samples{s.x, s.y, (support::uniforms(4000, 1, 5, 0.5, 2.0)).col(0)};
    const auto streamed = SparseKernelEstimator<>(streaming(800)).fit(samples);
    const auto whole = SparseKernelEstimator<>().fit(samples);
    const auto cost = [&](const auto& model) {
        return (model.predict(s.x).col(0) - s.y).cwiseAbs2().dot(samples.weights);
    };
    REQUIRE(streamed.model.size() > 1);
    // Coefficients are those of least squares over all samples, up to the prior on them.
    CHECK(cost(streamed.model) <= least_residual(streamed.model, s, samples.weights) * (1.0 + 1e-5));
    // With as many kernels, nodes are as good as those that a search on all samples found: within a few standard errors.
    if (streamed.model.size() == whole.model.size())
        CHECK(cost(streamed.model) <= cost(whole.model) * (1.0 + 20.0 / 4000.0));
    // The part that is held alone does worse.
    const auto held = SparseKernelEstimator<>().fit(s.x.leftCols(800), s.y.head(800));
    CHECK(cost(streamed.model) < cost(held.model));
}

TEST_CASE("Statistics from passes are those from all samples at once") {
    const Surface s = surface(3000, 7);
    Options options = streaming(600);
    options.trend = Trend::linear;
    options.standardize = false;
    options.center = false;
    const auto fit = SparseKernelEstimator<>(options).fit(s.x, s.y);
    const ModelStatistics& found = fit.model.statistics();
    REQUIRE(found.covariance.size() > 0);
    // The model's own parameters, judged on all samples: the prior on widths and centers is not known outside of the fit,
    // and counts for little compared with 3000 samples.
    const Matrix y = s.y.transpose();
    const Vector ones = Vector::Ones(3000);
    const detail::TiledPoints points(s.x);
    const LeastSquaresProblem problem{Gaussian(), points, y, ones, 1e-10, Trend::linear};
    KernelExpansion model;
    model.nodes.resize(3, fit.model.size());
    model.nodes.topRows(2) = fit.model.centers();
    model.nodes.row(2) = fit.model.widths().row(0);
    model.coefficients = fit.model.coefficients();
    model.offset = fit.model.offset();
    model.slopes = fit.model.slopes();
    const AnyDomain domain = box_from_samples(s.x).with_parameters({1});
    const ModelStatistics expected = statistics_of(problem, domain, model);
    CHECK(found.noise(0) == Approx(expected.noise(0)).epsilon(1e-3));
    REQUIRE(found.covariance.rows() == expected.covariance.rows());
    for (Index i = 0; i < found.covariance.rows(); ++i)
        CHECK(std::sqrt(found.covariance(i, i)) == Approx(std::sqrt(expected.covariance(i, i))).epsilon(0.1));
    for (Index j = 0; j < found.shares.size(); ++j)
        CHECK(found.shares(j) == Approx(expected.shares(j)).epsilon(1e-9));
}

TEST_CASE("A sum over blocks has the same bits however the blocks are shared out") {
    const Vector values = support::normals(37, 1, 9).col(0);
    const auto node = [&](Index block) {
        detail::PassTotals totals = detail::PassTotals::zero(1, 1);
        totals.sums(0) = totals.maxima(0) = values(block);
        return detail::BlockTree::Node{0, block, totals};
    };
    detail::BlockTree all;
    for (Index block = 0; block < 37; ++block) all.add(node(block));
    const detail::PassTotals expected = std::move(all).total();
    CHECK(expected.sums(0) == Approx(values.sum()).epsilon(1e-12));
    CHECK(expected.maxima(0) == std::max(0.0, values.maxCoeff()));
    for (Index first = 0; first <= 37; ++first)
        for (Index second = first; second <= 37; second += 5) {
            detail::BlockTree root;
            const std::vector<Index> ends{first, second, 37};
            Index block = 0;
            for (const Index end : ends) {
                detail::BlockTree own;
                for (; block < end; ++block) own.add(node(block));
                for (detail::BlockTree::Node& subtree : own.nodes()) root.add(std::move(subtree));
            }
            CHECK(std::move(root).total().sums(0) == expected.sums(0));
        }
}

TEST_CASE("Passes have the same bits for any number of threads") {
    const Surface s = surface(40000, 11);  // three blocks
    const SparseKernelEstimator<> estimator(streaming(1000));
    const support::Threads one(1);
    const auto serial = estimator.fit(s.x, s.y);
    for (const int count : {2, 3}) {
        const support::Threads threads(count);
        const auto fit = estimator.fit(s.x, s.y);
        CHECK(same_model(serial.model, fit.model));
        CHECK(support::same_bits(serial.model.statistics().covariance, fit.model.statistics().covariance));
        CHECK(serial.report.residual == fit.report.residual);
    }
}

template <class Loss>
void check_oracle(const Samples& samples, Options options, const Loss& loss = Loss{}) {
    options.search.streams.held_samples = 400;
    const SparseKernelEstimator<Gaussian, Loss> estimator(options, AutomaticSolver{}, Gaussian{}, loss);
    CHECK(support::report_contradiction(estimator.fit(samples),
                                        support::AskedFit<Loss>{samples, options, loss}) == "");
}

TEST_CASE("Reports of fits by passes are true") {
    const Surface s = surface(1500, 13);
    const Samples plain{s.x, s.y};
    Samples weighted = plain;
    weighted.weights = support::uniforms(1500, 1, 17, 0.2, 3.0).col(0);
    check_oracle<SquaredLoss>(plain, {});
    check_oracle<SquaredLoss>(weighted, {.tolerance = 0.06});
    check_oracle<SquaredLoss>(plain, {.tolerance = 0.3, .scope = Scope::per_sample});
    check_oracle<SquaredLoss>(plain, {.tolerance = 0.04, .max_kernels = 2});  // below the noise: missed
    check_oracle<EpsilonInsensitiveLoss>(weighted, {.tolerance = 0.05});
    Samples labels = plain;
    for (Index i = 0; i < 1500; ++i) labels.y(i, 0) = s.y(i) > 0.2 ? 1.0 : -1.0;
    check_oracle<LogisticLoss>(labels, {});
    check_oracle<LogisticLoss>(labels, {.trend = Trend::constant});
    check_oracle<HingeLoss>(labels, {.max_kernels = 3});
    Samples two{s.x, Matrix(2, 1500)};
    two.y.row(0) = s.y.transpose();
    two.y.row(1) = s.x.row(0) + s.y.transpose();
    check_oracle<SquaredLoss>(two, {.trend = Trend::linear});
    Samples constant{s.x, Matrix::Constant(1, 1500, 2.5)};
    check_oracle<SquaredLoss>(constant, {});
}

TEST_CASE("A tolerance holds for all samples, not only for those that are held") {
    const Surface s = surface(6000, 19);
    for (const double tolerance : {0.055, 0.08}) {
        Options options = streaming(300);
        options.tolerance = tolerance;
        const auto fit = SparseKernelEstimator<>(options).fit(s.x, s.y);
        CAPTURE(fit.report.full());
        const double residual = std::sqrt((fit.model.predict(s.x).col(0) - s.y).squaredNorm() / 6000.0);
        CHECK(fit.report.residual == Approx(residual).epsilon(1e-9));
        CHECK(residual <= tolerance);
        CHECK(fit.report.status == Status::converged);
    }
}

TEST_CASE("Sources that fail or change end in an exception that names the samples") {
    const Surface s = surface(20000, 23);  // two blocks
    const SparseKernelEstimator<> estimator(streaming(500));
    int reads = 0;
    const auto source = [&](const auto& spoil) {
        reads = 0;
        return CallableSource({20000, 2, 1},
                              [&, spoil](Index first, Index count, MatrixRef x, MatrixRef y, VectorRef w) {
                                  x = s.x.middleCols(first, count);
                                  y = s.y.segment(first, count).transpose();
                                  spoil(reads++, first, x, y, w);
                              });
    };
    const auto said = [&](const auto& spoil) { return failure([&] { estimator.fit(source(spoil)); }); };
    CHECK(contains(said([](int read, Index first, MatrixRef, MatrixRef, VectorRef) {
                       if (read > 1 && first > 0) throw std::runtime_error("the disk is gone");
                   }),
                   "(samples 16384 to 19999) failed: the disk is gone"));
    CHECK(contains(said([](int read, Index first, MatrixRef, MatrixRef y, VectorRef) {
                       if (read > 1 && first == 0) y(0, 5) += 1e-9;
                   }),
                   "block 0 (samples 0 to 16383) changed"));
    CHECK(contains(said([](int, Index first, MatrixRef x, MatrixRef, VectorRef) {
                       if (first > 0) x(1, 16) = std::numeric_limits<double>::quiet_NaN();
                   }),
                   "other: kernelet: x(1, 16400) is nan"));
    CHECK(contains(said([](int, Index first, MatrixRef, MatrixRef, VectorRef w) {
                       if (first > 0) w(0) = -1.0;
                   }),
                   "weights(16384) = -1 must be"));
    const SparseKernelEstimator<Gaussian, LogisticLoss> classifier(streaming(500));
    CHECK(
        contains(failure([&] { classifier.fit(source([](int, Index, MatrixRef, MatrixRef, VectorRef) {})); }),
                 "must be -1 or +1 for the logistic loss"));
}

TEST_CASE("Files that are missing, cut off or change are refused by name") {
    const Surface s = surface(1000, 29);
    const TemporaryFile file("sources_test_cut.f64");
    CHECK(contains(failure([&] { RawFile<double>("no such folder/x.f64"); }),
                   "cannot open no such folder/x.f64: No such"));
    file.write(records<double>(s), 5);
    CHECK(contains(failure([&] { RawFile<double>(file.path(), {.dimension = 2}); }),
                   "the last one is cut off"));
    file.write(records<double>(s));
    const RawFile<double> source(file.path(), {.dimension = 2});
    const SparseKernelEstimator<> estimator(streaming(300));
    CHECK(estimator.fit(source).model.size() > 0);
    // Shorter from the second stage on.
    bool cut = false;
    const auto shorten = [&](const Progress& progress) {
        if (progress.stage == "search" && !cut) file.write(records<double>(surface(900, 29)));
        cut = cut || progress.stage == "search";
        return Verdict::proceed;
    };
    CHECK(contains(failure([&] { estimator.fit(source, shorten); }),
                   "had 1000 samples at first and has 900 now"));
    const RawFile<double> short_file(file.path(), {.dimension = 2});
    Matrix x(2, 200), y(1, 200);
    Vector weights(200);
    CHECK(contains(failure([&] { short_file.read(800, 200, x, y, weights); }), "the file ends too early"));
}

TEST_CASE("A fit by passes stops when it is told to") {
    const Surface s = surface(20000, 31);
    const SparseKernelEstimator<> estimator(streaming(500));
    // Slow enough that the observer is asked in every stage.
    const CallableSource source({20000, 2, 1},
                                [&](Index first, Index count, MatrixRef x, MatrixRef y, VectorRef) {
                                    x = s.x.middleCols(first, count);
                                    y = s.y.segment(first, count).transpose();
                                    std::this_thread::sleep_for(std::chrono::milliseconds(25));
                                });
    const History history;
    const auto whole = estimator.fit(source, ObserverFunction(history));
    const auto error = [&](const auto& fit) { return (fit.model.predict(s.x).col(0) - s.y).norm(); };
    for (const char* stage : {"read", "search", "passes"}) {
        const auto fit = estimator.fit(source, [&](const Progress& progress) {
            return progress.stage == stage ? Verdict::stop : Verdict::proceed;
        });
        CAPTURE(stage, fit.report.full());
        CHECK(fit.report.status == Status::stopped);
        CHECK(fit.report.samples == 20000);
        CHECK(error(fit) < 0.5 * s.y.norm());
        // The model found before the passes is kept.
        if (std::string(stage) == "passes") CHECK(error(fit) < 1.1 * error(whole));
    }
    // The reported fraction rises to one.
    double before = 0.0;
    for (const Progress& row : history.rows()) {
        CHECK(row.fraction >= before);
        before = row.fraction;
    }
    CHECK(before == 1.0);
}

TEST_CASE("Predictions of a source are those of its samples, block by block") {
    const Surface s = surface(20000, 37);
    const auto fit = SparseKernelEstimator<>(streaming(500)).fit(s.x, s.y);
    Vector seen = Vector::Zero(20000);
    Index blocks = 0;
    fit.model.predict(MatrixSource(s.x, s.y), [&](Index first, const Matrix& values) {
        seen.segment(first, values.cols()) = values.transpose();
        ++blocks;
    });
    CHECK(blocks == 2);
    CHECK(support::same_bits(seen, fit.model.predict(s.x)));

    // A file of inputs alone, to a file.
    const TemporaryFile inputs("sources_test_x.f64"), outputs("sources_test_p.f64");
    inputs.write(std::vector<double>(s.x.data(), s.x.data() + s.x.size()));
    fit.model.predict(RawFile<double>(inputs.path(), {.dimension = 2, .outputs = 0}),
                      RawWriter<double>(outputs.path()));
    const RawFile<double> written(outputs.path(), {.dimension = 1, .outputs = 0});
    REQUIRE(written.size() == 20000);
    Matrix values(1, 20000), none(0, 20000);
    Vector weights(20000);
    written.read(0, 20000, values, none, weights);
    CHECK(support::same_bits(values.transpose(), seen));
    CHECK(contains(failure([&] {
                       fit.model.predict(RawFile<double>(inputs.path(), {.dimension = 1, .outputs = 0}),
                                         [](Index, const Matrix&) {});
                   }),
                   "the source has 1 inputs; the model has 2"));
}

TEST_CASE("Messages that are cut off are refused") {
    detail::MessageWriter writer;
    writer(Matrix(Matrix::Identity(3, 2)));
    writer(std::string("words"));
    writer(std::vector<Index>{1, 2, 3});
    const std::vector<char> whole = writer.bytes();
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const std::vector<char> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const auto read = [&] {
            detail::MessageReader reader(bytes);
            Matrix matrix;
            std::string words;
            std::vector<Index> numbers;
            reader(matrix);
            reader(words);
            reader(numbers);
            CHECK(words == "words");
            CHECK(numbers.back() == 3);
        };
        if (length == whole.size())
            CHECK_NOTHROW(read());
        else
            CHECK_THROWS_AS(read(), std::runtime_error);
    }
}

}  // namespace sources_test
