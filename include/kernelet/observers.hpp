#pragma once

#include <kernelet/report.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

/// Small ready-made observers. Each is a callable to hand to fit(); `both` joins two.
namespace kernelet {

/// Draws a bar with the gap, the share done and the time left, on a stream of the user's, at most ten times a
/// second.
class ProgressBar {
public:
    explicit ProgressBar(std::ostream& stream) : stream_(&stream) {}

    Verdict operator()(const Progress& progress) {
        const bool last = progress.iteration + 1 >= progress.iterations;
        if (!last && progress.seconds - drawn_ < least_interval) return Verdict::proceed;
        drawn_ = progress.seconds;
        constexpr Index cells = 30;
        const double done = progress.iterations > 0
                                ? std::min(1.0, static_cast<double>(progress.iteration + 1) /
                                                    static_cast<double>(progress.iterations))
                                : 1.0;
        const auto filled = static_cast<std::size_t>(done * static_cast<double>(cells));
        const double left = done > 0.0 ? progress.seconds * (1.0 - done) / done : 0.0;
        *stream_ << '\r' << progress.stage << " [" << std::string(filled, '#')
                 << std::string(static_cast<std::size_t>(cells) - filled, ' ') << "] "
                 << progress.iteration + 1 << '/' << progress.iterations << "  " << gap(progress.gap)
                 << "at most " << static_cast<long>(left + 0.5) << " s left   " << (last ? "\n" : "")
                 << std::flush;
        return Verdict::proceed;
    }

private:
    /// Early on the recovered α is far from the tolerance and the gap means nothing yet.
    static std::string gap(double relative) {
        return relative >= 0.0 && relative < 1.0 ? detail::text("gap ", 100.0 * relative, " %, ")
                                                 : std::string();
    }

    static constexpr double least_interval = 0.1;
    std::ostream* stream_;
    double drawn_ = -least_interval;
};

/// Stops a fit after so many seconds; the best point is kept.
class TimeLimit {
public:
    explicit TimeLimit(double seconds) : seconds_(seconds) { detail::require_positive(seconds, "seconds"); }
    Verdict operator()(const Progress& progress) const {
        return progress.seconds < seconds_ ? Verdict::proceed : Verdict::stop;
    }

private:
    double seconds_;
};

/// Keeps every Progress. Copies share one record, so that what fit() was handed can be read afterwards.
class History {
public:
    Verdict operator()(const Progress& progress) {
        rows_->push_back(progress);
        return Verdict::proceed;
    }
    const std::vector<Progress>& rows() const { return *rows_; }

private:
    std::shared_ptr<std::vector<Progress>> rows_ = std::make_shared<std::vector<Progress>>();
};

/// Calls both; stops if either says so.
template <class First, class Second>
auto both(First first, Second second) {
    return
        [first = std::move(first), second = std::move(second)](const Progress& progress) mutable -> Verdict {
            const Verdict a = first(progress);
            const Verdict b = second(progress);
            return a == Verdict::stop || b == Verdict::stop ? Verdict::stop : Verdict::proceed;
        };
}

}  // namespace kernelet
