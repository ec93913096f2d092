#pragma once

#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// One observer for several fits: what each of them reports becomes one Progress of the whole, and a stop of one is a
/// stop of all. The observer is called from the threads that fit, one at a time.
class JointWatch {
public:
    /// Called after each fit with the number of fits that are done and the seconds since the first began.
    using AfterEach = std::function<void(Index, double)>;

    /// `stage` is Progress::stage while fits run. `samples` are those of each fit: the seconds that it is
    /// expected to take are proportional to them. Either function may be empty.
    JointWatch(ObserverFunction observer, std::string_view stage, const std::vector<Index>& samples,
               AfterEach after_each = {})
        : observer_(std::move(observer)), stage_(stage), after_each_(std::move(after_each)) {
        for (const Index n : samples) parts_.push_back({static_cast<double>(n)});
    }

    bool watched() const { return static_cast<bool>(observer_); }

    /// Whether the observer has returned stop: fits that have not begun need not begin.
    bool stopped() const {
        const std::lock_guard<std::mutex> guard(turn_);
        return stopped_;
    }
    /// Whether fit m was stopped before its end.
    bool cut_short(Index m) const {
        const std::lock_guard<std::mutex> guard(turn_);
        return parts_[static_cast<std::size_t>(m)].cut_short;
    }

    /// The observer of fit m.
    ObserverFunction part(Index m) {
        return [this, m](const Progress& progress) { return tell(m, progress); };
    }

    /// Fit m is done, or was left out after a stop. `seconds` are those it took, for fits that report nothing.
    void finish(Index m, double seconds = 0.0) {
        const std::lock_guard<std::mutex> guard(turn_);
        Part& part = parts_[static_cast<std::size_t>(m)];
        part.total = part.seconds = std::max(part.seconds, seconds);
        part.done = true;
        ++done_;
        if (after_each_) after_each_(done_, this->seconds());
        if (observer_ && (!stopped_ || done_ == static_cast<Index>(parts_.size()))) ask();
    }

private:
    using Clock = std::chrono::steady_clock;

    struct Part {
        double weight{};
        double seconds{};
        double total{};  // as expected now; 0 before it has begun
        bool done = false;
        bool cut_short = false;
    };

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    Verdict tell(Index m, const Progress& progress) {
        const std::lock_guard<std::mutex> guard(turn_);
        Part& part = parts_[static_cast<std::size_t>(m)];
        part.seconds = progress.seconds;
        part.total = progress.seconds + progress.seconds_left;
        if (!stopped_) ask();
        if (stopped_ && !progress.is_last()) part.cut_short = true;
        return stopped_ ? Verdict::stop : Verdict::proceed;
    }

    void ask() {
        Progress progress;
        progress.iteration = done_;
        progress.iterations = static_cast<Index>(parts_.size());
        const bool all = done_ == progress.iterations;
        progress.stage = !all ? stage_ : stopped_ ? "stopped" : "done";
        progress.seconds = seconds();
        const double estimate = fraction();
        fraction_ = all && !stopped_ ? 1.0 : std::max(fraction_, estimate);
        progress.fraction = fraction_;
        progress.seconds_left = !all && estimate > 0.0 ? progress.seconds * (1.0 - estimate) / estimate : 0.0;
        if (observer_(progress) == Verdict::stop && !all) stopped_ = true;
    }

    /// The seconds spent by all fits relative to those they are expected to take: as much per sample as those that are
    /// done, or else as those that have begun expect; of one that runs, the more its own estimate the further it is.
    double fraction() const {
        constexpr double most = 0.999;
        const double per_sample = usual_seconds_per_sample();
        double spent = 0.0, expected = 0.0;
        for (const Part& part : parts_) {
            double usual = per_sample * part.weight;
            if (usual < part.seconds) usual = part.total;
            const double known = part.done ? 1.0 : part.total > 0.0 ? part.seconds / part.total : 0.0;
            spent += part.seconds;
            expected += known * part.total + (1.0 - known) * usual;
        }
        return expected > 0.0 ? std::min(most, spent / expected) : 0.0;
    }

    double usual_seconds_per_sample() const {
        double seconds = 0.0, samples = 0.0;
        for (const Part& part : parts_) {
            if (done_ > 0 && !part.done) continue;
            seconds += part.total;
            samples += part.total > 0.0 ? part.weight : 0.0;
        }
        return samples > 0.0 ? seconds / samples : 0.0;
    }

    ObserverFunction observer_;
    std::string_view stage_;
    AfterEach after_each_;
    std::vector<Part> parts_{};
    mutable std::mutex turn_{};
    Clock::time_point start_ = Clock::now();
    Index done_ = 0;
    double fraction_ = 0.0;
    bool stopped_ = false;
};

}  // namespace kernelet::detail
