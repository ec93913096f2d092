#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/box.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/observers.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

namespace observers_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::both;
using kernelet::History;
using kernelet::Index;
using kernelet::Progress;
using kernelet::ProgressBar;
using kernelet::TimeLimit;
using kernelet::Verdict;

Progress at(Index iteration, Index iterations, double seconds) {
    Progress progress;
    progress.stage = "dual";
    progress.iteration = iteration;
    progress.iterations = iterations;
    progress.gap = 0.25;
    progress.seconds = seconds;
    return progress;
}

TEST_CASE("the bar shows what is done, the gap and the time left", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    CHECK(bar(at(49, 100, 3.0)) == Verdict::proceed);  // half done: as long again
    const std::string drawn = stream.str();
    CHECK(std::count(drawn.begin(), drawn.end(), '#') == 15);  // of 30
    CHECK_THAT(drawn, ContainsSubstring("dual"));
    CHECK_THAT(drawn, ContainsSubstring("50/100"));
    CHECK_THAT(drawn, ContainsSubstring("25 %"));
    CHECK_THAT(drawn, ContainsSubstring("3 s left"));
    CHECK(drawn.find('\n') == std::string::npos);  // still the same line
    bar(at(99, 100, 6.0));
    CHECK(stream.str().back() == '\n');
    CHECK_THAT(stream.str(), ContainsSubstring("100/100"));
}

TEST_CASE("the bar is drawn at most ten times a second, and at the end", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    for (Index k = 0; k < 1000; ++k) bar(at(k, 1000, 0.001 * static_cast<double>(k)));
    const std::string drawn = stream.str();
    const auto lines = std::count(drawn.begin(), drawn.end(), '\r');
    CHECK(lines >= 5);
    CHECK(lines <= 11);
    CHECK(std::count(drawn.begin(), drawn.end(), '\n') == 1);
}

TEST_CASE("the bar survives counts that say nothing", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    bar(at(0, 0, 0.0));
    bar(at(50, 10, 1.0));
    Progress unknown = at(3, 10, 2.0);
    unknown.gap = std::numeric_limits<double>::infinity();
    bar(unknown);
    CHECK(stream.str().size() < 1000);
}

TEST_CASE("the time limit stops at its time and not before", "[observers]") {
    const TimeLimit limit(2.0);
    CHECK(limit(at(0, 10, 0.0)) == Verdict::proceed);
    CHECK(limit(at(0, 10, 1.999)) == Verdict::proceed);
    CHECK(limit(at(0, 10, 2.0)) == Verdict::stop);
    CHECK(limit(at(0, 10, 5.0)) == Verdict::stop);
    for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THAT(support::refusal([&] { TimeLimit{seconds}; }), ContainsSubstring("seconds"));
}

TEST_CASE("copies of a history share one record", "[observers]") {
    History history;
    History copy = history;
    CHECK(copy(at(0, 10, 0.1)) == Verdict::proceed);
    CHECK(copy(at(1, 10, 0.2)) == Verdict::proceed);
    REQUIRE(history.rows().size() == 2);
    CHECK(history.rows()[1].iteration == 1);
    CHECK(History{}.rows().empty());
}

TEST_CASE("both are asked, and either may stop", "[observers]") {
    const auto says = [](Verdict verdict, int& calls) {
        return [verdict, &calls](const Progress&) {
            ++calls;
            return verdict;
        };
    };
    for (const Verdict first : {Verdict::proceed, Verdict::stop})
        for (const Verdict second : {Verdict::proceed, Verdict::stop}) {
            int a = 0, b = 0;
            auto joined = both(says(first, a), says(second, b));
            const bool stops = first == Verdict::stop || second == Verdict::stop;
            CHECK(joined(at(0, 1, 0.0)) == (stops ? Verdict::stop : Verdict::proceed));
            CHECK(a == 1);
            CHECK(b == 1);
        }
}

TEST_CASE("a fit tells its observer, in order, and obeys it", "[observers]") {
    const support::Threads single_thread(1);
    const support::Chirp signal = support::chirp(41, 1);
    const kernelet::SparseKernelEstimator<> estimator(kernelet::Options{.tolerance = 0.1});
    const kernelet::Box domain(-5.0, 5.0, kernelet::Interval{0.3, 3.0});
    const History history;
    const auto fit = estimator.fit(signal.x, signal.y, domain, history);
    REQUIRE(history.rows().size() > 1);
    for (std::size_t k = 0; k < history.rows().size(); ++k) {
        const Progress& row = history.rows()[k];
        CHECK_FALSE(row.stage.empty());
        CHECK(row.iteration >= 0);
        CHECK(row.iteration <= row.iterations);
        if (k > 0) CHECK(row.seconds >= history.rows()[k - 1].seconds);
    }
    int calls = 0;
    const auto stopped = estimator.fit(signal.x, signal.y, domain, [&](const Progress& progress) {
        if (progress.stage == "dual") ++calls;
        return calls < 3 ? Verdict::proceed : Verdict::stop;
    });
    CHECK(stopped.report.status == kernelet::Status::stopped);
    CHECK(calls == 3);  // the dual goes on no further
    CHECK(stopped.model.predict(signal.x).allFinite());
    CHECK(fit.report.status != kernelet::Status::stopped);
}

}  // namespace observers_test
