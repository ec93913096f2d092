#include "support/catch.hpp"
#include "support/report_oracle.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace stopping_test {

using namespace kernelet;

#ifdef NDEBUG
constexpr Index line_samples = 101, plane_samples = 150, class_samples = 120;
#else
constexpr Index line_samples = 31, plane_samples = 40, class_samples = 40;  // sanitizers are slow
#endif

/// Returns stop at its call number `stop`, counted from zero, and records each Progress.
struct StopAt {
    std::size_t stop;
    History told{};

    Verdict operator()(const Progress& progress) {
        const std::size_t calls = told.rows().size();
        told(progress);
        return calls < stop ? Verdict::proceed : Verdict::stop;
    }
};

/// Calls at which a fit that made so many of them is stopped.
std::vector<std::size_t> stops(std::size_t calls) {
#ifdef NDEBUG
    std::vector<std::size_t> at{0, 1, 3, 8, calls / 4, calls / 2, 3 * calls / 4};
#else
    std::vector<std::size_t> at{0, 3, calls / 2};
#endif
    std::erase_if(at, [&](std::size_t k) { return k + 1 >= calls; });
    return at;
}

/// Stops a fit at various calls and checks what comes of it. run(observer) fits.
template <class Run, class Loss>
void check_stops(const Run& run, const support::AskedFit<Loss>& asked) {
    const History history;
    const auto whole = run(ObserverFunction(history));
    CHECK(support::report_contradiction(whole, asked) == "");
    CHECK(whole.report.status != Status::stopped);
    for (const std::size_t k : stops(history.rows().size())) {
        StopAt observer{k};
        const auto fit = run(ObserverFunction(observer));
        CAPTURE(k, history.rows().size(), std::string(history.rows()[k].stage), fit.report.full());
        // Some reports are a matter of time: this run may have ended before.
        if (observer.told.rows().back().stage == "done") continue;
        CHECK(fit.report.status == Status::stopped);
        CHECK(fit.model.size() > 0);
        CHECK(support::report_contradiction(fit, asked) == "");
        // one more report, the last, and no question after the stop
        REQUIRE(observer.told.rows().size() == k + 2);
        CHECK(observer.told.rows().back().stage == "stopped");
    }
}

}  // namespace stopping_test

TEST_CASE("a stop in any stage leaves a model that predicts and a report without contradictions",
          "[stopping]") {
    using namespace stopping_test;
    const support::Threads single_thread(1);
    const support::Chirp signal = support::chirp(line_samples, 1);
    SECTION("information criterion") {
        const support::AskedFit<SquaredLoss> asked{{signal.x, signal.y}};
        check_stops([&](ObserverFunction o) { return SparseKernelEstimator<>().fit(signal.x, signal.y, o); },
                    asked);
    }
    SECTION("max_kernels is never exceeded") {
        const Options options{.max_kernels = 3};
        const support::AskedFit<SquaredLoss> asked{{signal.x, signal.y}, options};
        check_stops(
            [&](ObserverFunction o) { return SparseKernelEstimator<>(options).fit(signal.x, signal.y, o); },
            asked);
    }
    SECTION("tolerance, per sample") {
        const Options options{.tolerance = 0.3, .scope = Scope::per_sample};
        const support::AskedFit<SquaredLoss> asked{{signal.x, signal.y}, options};
        check_stops(
            [&](ObserverFunction o) { return SparseKernelEstimator<>(options).fit(signal.x, signal.y, o); },
            asked);
    }
}

TEST_CASE("labels and several widths: a stop in any stage leaves a classifier", "[stopping]") {
    using namespace stopping_test;
    const support::Threads single_thread(1);
    const Matrix x = support::uniforms(2, plane_samples, 3, -1.0, 1.0);
    Vector y(x.cols());
    for (Index i = 0; i < x.cols(); ++i) y(i) = x.col(i).norm() < 0.7 ? 1.0 : -1.0;
    const support::AskedFit<LogisticLoss> asked{{x, y}};
    check_stops(
        [&](ObserverFunction o) {
            return SparseKernelEstimator<AnisotropicGaussian, LogisticLoss>().fit(x, y, o);
        },
        asked);
}

TEST_CASE("the first-order search is stopped as well", "[stopping]") {
    using namespace stopping_test;
    const support::Threads single_thread(1);
    const Matrix x = support::uniforms(2, plane_samples, 3, -1.0, 1.0);
    const Vector y =
        (3.0 * x.row(0).array()).sin().transpose() + 0.05 * support::normals(x.cols(), 1, 4).array();
    Options options;
    options.search.first_order.max_second_order_work = 1.0;
    options.search.first_order.final_steps = 40;
    const support::AskedFit<SquaredLoss> asked{{x, y}, options};
    check_stops([&](ObserverFunction o) { return SparseKernelEstimator<>(options).fit(x, y, o); }, asked);
}

TEST_CASE("every dual solver is stopped at its next step", "[stopping]") {
    using namespace stopping_test;
    const support::Threads single_thread(1);
    const support::Chirp signal = support::chirp(line_samples, 2);
    const Box domain(-5.0, 5.0, Interval{0.3, 3.0});
    const auto stopped = [&](const auto& solver, std::size_t call) {
        using Solver = std::remove_cvref_t<decltype(solver)>;
        StopAt observer{call};
        const Options options{.tolerance = 0.3};
        const auto fit = SparseKernelEstimator<Gaussian, SquaredLoss, Solver>(options, solver)
                             .fit(signal.x, signal.y, domain, ObserverFunction(observer));
        CHECK(fit.report.status == Status::stopped);
        CHECK(support::report_contradiction(
                  fit, support::AskedFit<SquaredLoss>{{signal.x, signal.y}, options}) == "");
    };
    for (const std::size_t call : {0U, 1U, 4U}) {
        CAPTURE(call);
        stopped(AugmentedNewton(), call);
        stopped(CoordinateAscent(), call);
        stopped(PointMassLimit(), call);
        stopped(StochasticSupergradient(), call);
        stopped(SampledAscent<AugmentedNewton>(), call);
    }
}

TEST_CASE("the fraction never falls and ends at one; stages come in order", "[stopping]") {
    using namespace stopping_test;
    const support::Chirp signal = support::chirp(line_samples, 3);
    const History history;
    const auto watched = SparseKernelEstimator<>().fit(signal.x, signal.y, history);
    const std::vector<std::string> order{"", "dual", "peaks", "search", "done"};
    std::size_t stage = 0;
    double fraction = 0.0, seconds = 0.0;
    for (const Progress& row : history.rows()) {
        const auto found = std::find(order.begin(), order.end(), std::string(row.stage));
        REQUIRE(found != order.end());
        CHECK(static_cast<std::size_t>(found - order.begin()) >= stage);
        stage = static_cast<std::size_t>(found - order.begin());
        CHECK(row.fraction >= fraction);
        CHECK(row.fraction <= 1.0);
        CHECK(row.seconds >= seconds);
        CHECK(std::isfinite(row.seconds_left));
        CHECK(row.seconds_left >= 0.0);
        fraction = row.fraction;
        seconds = row.seconds;
    }
    CHECK(history.rows().back().stage == "done");
    CHECK(fraction == 1.0);
    for (const char* name : {"dual", "search"})
        CHECK(std::any_of(history.rows().begin(), history.rows().end(),
                          [&](const Progress& row) { return row.stage == name; }));
    // an observer does not change the fit
    const auto alone = SparseKernelEstimator<>().fit(signal.x, signal.y);
    CHECK(support::same_bits(alone.model.nodes(), watched.model.nodes()));
    CHECK(support::same_bits(alone.model.coefficients(), watched.model.coefficients()));
}

TEST_CASE("an ensemble is watched as one fit and stopped as one", "[stopping]") {
    using namespace stopping_test;
    const Matrix x = support::uniforms(2, class_samples, 5, -1.0, 1.0);
    std::vector<int> labels;
    for (Index i = 0; i < x.cols(); ++i) labels.push_back((x(0, i) > 0.0 ? 1 : 0) + (x(1, i) > 0.0 ? 2 : 0));
    const OneVsOne<SparseKernelEstimator<Gaussian, LogisticLoss>> pairs;
    const History history;
    pairs.fit(x, labels, history);
    double fraction = 0.0;
    for (const Progress& row : history.rows()) {
        CHECK(row.fraction >= fraction);
        CHECK(row.iterations == 6);
        fraction = row.fraction;
    }
    CHECK(history.rows().back().stage == "done");
    CHECK(fraction == 1.0);
    for (const std::size_t k : stops(history.rows().size())) {
        StopAt observer{k};
        const auto fit = pairs.fit(x, labels, observer);
        REQUIRE(fit.reports.size() == 6);
        if (observer.told.rows().back().stage == "done") continue;  // it ended before
        CHECK(std::any_of(fit.reports.begin(), fit.reports.end(),
                          [](const auto& report) { return report.report.status == Status::stopped; }));
        CHECK(fit.model.predict(x).size() == labels.size());
        CHECK(observer.told.rows().back().stage == "stopped");
        CHECK(!fit.warnings.empty());
    }
    const auto rest = OneVsRest<SparseKernelEstimator<Gaussian, LogisticLoss>>().fit(
        x, labels, [](const Progress&) { return Verdict::stop; });
    CHECK(rest.model.predict(x).size() == labels.size());
}

TEST_CASE("paths and warm starts are watched", "[stopping]") {
    using namespace stopping_test;
    const support::Chirp signal = support::chirp(line_samples, 4);
    const SparseKernelEstimator<> estimator;
    const std::vector<double> grid{0.1, 0.5, 2.0};
    const History history;
    const auto rows = estimator.regularization_path(signal.x, signal.y, grid, history);
    CHECK(rows.size() == 3);
    double fraction = 0.0;
    Index ends = 0;
    for (const Progress& row : history.rows()) {
        CHECK(row.fraction >= fraction);
        fraction = row.fraction;
        ends += row.is_last() ? 1 : 0;
    }
    CHECK(fraction == 1.0);
    CHECK(ends == 1);
    const auto half = estimator.regularization_path(signal.x, signal.y, grid, [](const Progress& progress) {
        return progress.fraction < 0.4 ? Verdict::proceed : Verdict::stop;
    });
    CHECK(half.size() < 3);
    const auto cold = estimator.fit(signal.x, signal.y);
    const auto stopped =
        estimator.fit_from(cold, signal.x, signal.y, [](const Progress&) { return Verdict::stop; });
    CHECK(stopped.report.status == Status::stopped);
}
