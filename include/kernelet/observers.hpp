#pragma once

#include <kernelet/report.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

/// Small ready-made observers. Each is a callable to hand to fit(); `both` joins two.
namespace kernelet {

/// Draws one bar over all stages of a fit, with the stage, the gap of the dual while it is solved and the time left, on
/// a stream of the user's, at most ten times per second and once at the end.
class ProgressBar {
public:
    explicit ProgressBar(std::ostream& stream) : stream_(&stream) {}

    Verdict operator()(const Progress& progress) {
        const bool last = progress.is_last();
        if (!last && progress.seconds - drawn_ < min_interval) return Verdict::proceed;
        drawn_ = progress.seconds;
        constexpr double cells = 30.0;
        const double fraction = std::clamp(progress.fraction, 0.0, 1.0);
        const auto filled = static_cast<std::size_t>(fraction * cells);
        std::string line = detail::text("[", std::string(filled, '#'),
                                        std::string(static_cast<std::size_t>(cells) - filled, ' '), "] ",
                                        static_cast<Index>(100.0 * fraction), " %  ", progress.stage,
                                        last ? "" : gap(progress), time(progress, last));
        // Blanks over what a longer line before has left.
        const std::size_t length = line.size();
        if (length < length_) line.append(length_ - length, ' ');
        length_ = length;
        *stream_ << '\r' << line << (last ? "\n" : "") << std::flush;
        return Verdict::proceed;
    }

private:
    /// Early on the recovered α is far from the tolerance and the gap means nothing yet.
    static std::string gap(const Progress& progress) {
        return progress.gap >= 0.0 && progress.gap < 1.0 ? detail::text(", gap ", 100.0 * progress.gap, " %")
                                                         : std::string();
    }

    static std::string time(const Progress& progress, bool last) {
        if (last) return detail::text(" after ", tenths(progress.seconds), " s");
        return progress.fraction > 0.0 ? detail::text(", ", tenths(progress.seconds_left), " s left")
                                       : std::string();
    }

    /// To tenths below ten, whole above.
    static double tenths(double seconds) {
        return seconds < 10.0 ? std::round(10.0 * seconds) / 10.0 : std::round(seconds);
    }

    static constexpr double min_interval = 0.1;
    std::ostream* stream_;
    double drawn_ = -min_interval;
    std::size_t length_ = 0;
};

/// Stops a fit after so many seconds of wall time; the best model so far is kept. The fit returns within 100 ms of that,
/// or within one Levenberg–Marquardt step where that is longer.
class TimeLimit {
public:
    explicit TimeLimit(double seconds) : seconds_(seconds) { detail::require_positive(seconds, "seconds"); }
    Verdict operator()(const Progress& progress) const {
        return progress.seconds < seconds_ ? Verdict::proceed : Verdict::stop;
    }

private:
    double seconds_;
};

/// Records every Progress. Copies share one record, so that it can be read after fit() returns.
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

/// Calls both observers; stops if either returns stop.
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
