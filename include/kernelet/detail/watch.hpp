#pragma once

#include <kernelet/detail/poll.hpp>
#include <kernelet/report.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace kernelet::detail {

/// The connection of one fit to its observer. Stages report() what they have done and poll() in their loops; both
/// throw Interrupted once the observer has answered stop, and the stage that holds the best point so far catches
/// it. The observer is called from the thread that made the watch only; poll() from other threads does no more
/// than throw after a stop. A watch without an observer costs a branch per call.
class Watch {
public:
    Watch() = default;
    explicit Watch(ObserverFunction observer) : observer_(std::move(observer)) {}
    Watch(const Watch&) = delete;  // stages hold its address
    Watch& operator=(const Watch&) = delete;

    bool watched() const { return static_cast<bool>(observer_); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    /// Begins a stage that is expected to take `expected` seconds, with `later` seconds of stages after it. Both
    /// affect only Progress::fraction.
    void begin(std::string_view stage, double expected, double later) {
        last_.stage = stage;
        last_.iteration = last_.iterations = 0;
        stage_start_ = seconds();
        expected_ = expected;
        later_ = later;
        done_ = -1.0;
        advance(0.0, 1.0);
    }

    /// A second opinion on the seconds that the stage is expected to take.
    void expect(double seconds) { expected_ = 0.5 * (expected_ + seconds); }

    /// A part of the stage begins: from the fraction `done` of it to the fraction `next`, as expected beforehand.
    void advance(double done, double next) {
        if (done < done_) return;
        done_ = std::min(done, 1.0);
        next_ = std::clamp(next, done_, 1.0);
        part_start_ = seconds();
    }

    /// Calls the observer; throws Interrupted after its stop. Stage, seconds and fraction are filled in here.
    void report(const Progress& progress) {
        if (tell(progress) == Verdict::stop) throw Interrupted();
    }
    /// Calls the observer and returns its verdict, for a caller that handles a stop itself.
    Verdict tell(Progress progress) {
        if (!observer_) return Verdict::proceed;
        if (stopped()) return Verdict::stop;
        progress.stage = last_.stage;
        progress.seconds = seconds();
        progress.seconds_left = left_at(progress.seconds);
        progress.fraction = std::max(last_.fraction, fraction_at(progress.seconds, progress.seconds_left));
        last_ = progress;
        if (observer_(progress) == Verdict::stop) stopped_.store(true, std::memory_order_relaxed);
        return stopped() ? Verdict::stop : Verdict::proceed;
    }

    /// The last report.
    void finish() {
        if (!observer_) return;
        Progress progress = last_;
        progress.stage = stopped() ? "stopped" : "done";
        progress.seconds = seconds();
        progress.seconds_left = 0.0;
        if (!stopped()) progress.fraction = 1.0;
        observer_(progress);
    }

    /// Calls the observer where its last call was `interval` seconds ago; throws Interrupted after a stop.
    void poll() {
        if (!observer_) return;
        if (stopped()) throw Interrupted();
        if (std::this_thread::get_id() == thread_ && seconds() - last_.seconds >= interval) report(last_);
    }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr double interval = 0.02;

    /// The total of the stage, where so much of it is done after so many seconds. The seconds expected beforehand
    /// count as `prior` of what is left.
    double stage_total(double done, double spent) const {
        const double prior = 0.2 * (1.0 - done);
        return (prior * expected_ + spent) / (prior + done);
    }

    /// Elapsed/(elapsed + left); nothing before the first stage.
    double fraction_at(double now, double left) const {
        constexpr double most = 0.999;
        return done_ < 0.0 || !(now + left > 0.0) ? 0.0 : std::min(most, now / (now + left));
    }

    /// Inside a part of a stage, the fraction done follows the clock, ever slower.
    double left_at(double now) const {
        constexpr double rate = 1.5;
        if (done_ < 0.0) return 0.0;
        const double before = part_start_ - stage_start_, spent = now - stage_start_;
        const double part = next_ - done_, part_seconds = part * stage_total(done_, before);
        const double within =
            part_seconds > 0.0 ? 1.0 - std::exp(-rate * (spent - before) / part_seconds) : 1.0;
        return std::max(0.0, stage_total(done_ + part * within, spent) - spent) + later_;
    }

    ObserverFunction observer_{};
    std::thread::id thread_ = std::this_thread::get_id();
    Clock::time_point start_ = Clock::now();
    std::atomic<bool> stopped_{false};
    Progress last_{};
    double stage_start_ = 0.0, expected_ = 0.0, later_ = 0.0;
    double part_start_ = 0.0, done_ = -1.0, next_ = 1.0;
};

/// The question of a watch, or none.
inline Poll poll_of(Watch* watch) {
    if (watch == nullptr || !watch->watched()) return {};
    return {[](void* asked) { static_cast<Watch*>(asked)->poll(); }, watch};
}

}  // namespace kernelet::detail
