#pragma once

#include <kernelet/report.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace kernelet {

/// Said after each classifier that is done.
struct EnsembleProgress {
    Index done{};
    Index classifiers{};
    double seconds{};  ///< since the first began
};

/// Called by the threads that fit, one at a time. May be empty.
using EnsembleObserver = std::function<void(const EnsembleProgress&)>;

namespace detail {

/// One observer for the fits of an ensemble: what each of them reports becomes one Progress of the whole, with the
/// stage "classifiers", and a stop of one is a stop of all. Called from the threads that fit, one at a time.
class EnsembleWatch {
public:
    /// `samples` are those of each classifier: what it is expected to take is proportional to them.
    EnsembleWatch(ObserverFunction observer, EnsembleObserver each, std::vector<Index> samples)
        : observer_(std::move(observer)), each_(std::move(each)) {
        for (const Index n : samples) parts_.push_back({static_cast<double>(n)});
    }

    bool watched() const { return static_cast<bool>(observer_); }

    /// The observer of classifier m.
    ObserverFunction part(Index m) {
        return [this, m](const Progress& progress) { return tell(m, progress); };
    }

    /// Classifier m is fitted.
    void finish(Index m) {
        const std::lock_guard<std::mutex> guard(turn_);
        Part& part = parts_[static_cast<std::size_t>(m)];
        part.total = part.seconds;
        part.done = true;
        ++done_;
        if (each_) each_({done_, static_cast<Index>(parts_.size()), seconds()});
        if (observer_ && (!stopped_ || done_ == static_cast<Index>(parts_.size()))) ask();
    }

private:
    using Clock = std::chrono::steady_clock;

    struct Part {
        double weight{};
        double seconds{};
        double total{};  // as expected now; 0 before it has begun
        bool done = false;
    };

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    Verdict tell(Index m, const Progress& progress) {
        const std::lock_guard<std::mutex> guard(turn_);
        Part& part = parts_[static_cast<std::size_t>(m)];
        part.seconds = progress.seconds;
        part.total = progress.seconds + progress.seconds_left;
        if (!stopped_) ask();
        return stopped_ ? Verdict::stop : Verdict::proceed;
    }

    void ask() {
        Progress progress;
        progress.iteration = done_;
        progress.iterations = static_cast<Index>(parts_.size());
        const bool all = done_ == progress.iterations;
        progress.stage = !all ? "classifiers" : stopped_ ? "stopped" : "done";
        progress.seconds = seconds();
        const double estimate = fraction();
        fraction_ = all && !stopped_ ? 1.0 : std::max(fraction_, estimate);
        progress.fraction = fraction_;
        progress.seconds_left = !all && estimate > 0.0 ? progress.seconds * (1.0 - estimate) / estimate : 0.0;
        if (observer_(progress) == Verdict::stop) stopped_ = true;
    }

    /// The seconds spent by all classifiers relative to those they are expected to take: as much per sample as those
    /// that are done, or else as those that have begun expect; of one that runs, the more its own estimate the further
    /// it is.
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
    EnsembleObserver each_;
    std::vector<Part> parts_{};
    std::mutex turn_{};
    Clock::time_point start_ = Clock::now();
    Index done_ = 0;
    double fraction_ = 0.0;
    bool stopped_ = false;
};

}  // namespace detail

}  // namespace kernelet
