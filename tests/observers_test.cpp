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

/// A report of the dual after some seconds, where so much of the fit is done.
Progress at(double fraction, double seconds) {
    Progress progress;
    progress.stage = "dual";
    progress.iteration = 3;
    progress.iterations = 300;
    progress.gap = 0.25;
    progress.seconds = seconds;
    progress.fraction = fraction;
    progress.seconds_left = fraction > 0.0 ? seconds * (1.0 - fraction) / fraction : 0.0;
    return progress;
}

Progress last(double seconds) {
    Progress progress = at(1.0, seconds);
    progress.stage = "done";
    return progress;
}

TEST_CASE("the bar shows the fraction of the whole, the stage, the gap and the time left", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    CHECK(bar(at(0.5, 3.0)) == Verdict::proceed);  // half done: as long again
    const std::string drawn = stream.str();
    CHECK(std::count(drawn.begin(), drawn.end(), '#') == 15);  // of 30
    CHECK_THAT(drawn, ContainsSubstring("50 %"));
    CHECK_THAT(drawn, ContainsSubstring("dual"));
    CHECK_THAT(drawn, ContainsSubstring("gap 25 %"));
    CHECK_THAT(drawn, ContainsSubstring(" 3 s left"));
    CHECK(drawn.find('\n') == std::string::npos);  // still the same line
    bar(last(6.0));
    CHECK(stream.str().back() == '\n');
    CHECK_THAT(stream.str(), ContainsSubstring("100 %") && ContainsSubstring("done after 6 s"));
}

TEST_CASE("a stopped fit ends its bar where it was stopped", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    Progress stopped = at(0.4, 1.25);
    stopped.stage = "stopped";
    bar(stopped);
    CHECK_THAT(stream.str(), ContainsSubstring("40 %") && ContainsSubstring("stopped after 1.3 s"));
    CHECK(stream.str().back() == '\n');
}

TEST_CASE("the bar is drawn at most ten times per second, and at the end", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    for (int k = 0; k < 1000; ++k) bar(at(0.001 * k, 0.001 * k));
    bar(last(1.0));
    const std::string drawn = stream.str();
    const auto lines = std::count(drawn.begin(), drawn.end(), '\r');
    CHECK(lines >= 5);
    CHECK(lines <= 12);
    CHECK(std::count(drawn.begin(), drawn.end(), '\n') == 1);
}

TEST_CASE("a shorter line covers the longer one before it", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    bar(at(0.5, 3000.0));
    const std::size_t longer = stream.str().size();
    Progress shorter = at(0.9, 3001.0);
    shorter.gap = std::numeric_limits<double>::infinity();
    bar(shorter);
    CHECK(stream.str().size() - longer == longer);
}

TEST_CASE("the bar survives numbers that say nothing", "[observers]") {
    std::ostringstream stream;
    ProgressBar bar(stream);
    bar(at(0.0, 0.0));
    bar(at(7.0, 1.0));
    bar(at(-1.0, 2.0));
    Progress unknown = at(0.3, 3.0);
    unknown.gap = std::numeric_limits<double>::infinity();
    bar(unknown);
    CHECK(stream.str().size() < 1000);
    CHECK(stream.str().find("inf") == std::string::npos);
}

TEST_CASE("the time limit stops at its time and not before", "[observers]") {
    const TimeLimit limit(2.0);
    CHECK(limit(at(0.1, 0.0)) == Verdict::proceed);
    CHECK(limit(at(0.1, 1.999)) == Verdict::proceed);
    CHECK(limit(at(0.1, 2.0)) == Verdict::stop);
    CHECK(limit(at(0.1, 5.0)) == Verdict::stop);
    for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THAT(support::refusal([&] { TimeLimit{seconds}; }), ContainsSubstring("seconds"));
}

TEST_CASE("copies of a history share one record", "[observers]") {
    History history;
    History copy = history;
    CHECK(copy(at(0.1, 0.1)) == Verdict::proceed);
    CHECK(copy(at(0.2, 0.2)) == Verdict::proceed);
    REQUIRE(history.rows().size() == 2);
    CHECK(history.rows()[1].fraction == 0.2);
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
            CHECK(joined(at(0.0, 0.0)) == (stops ? Verdict::stop : Verdict::proceed));
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
    CHECK(calls == 3);  // nothing is asked after the stop
    CHECK(stopped.model.predict(signal.x).allFinite());
    CHECK(fit.report.status != kernelet::Status::stopped);
}

}  // namespace observers_test
