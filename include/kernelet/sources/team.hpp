#pragma once

#include <vector>

namespace kernelet::detail {

/// The processes that hold the samples of one source between them, and their messages. All members but the last two are
/// collective: every process calls them, in the same order, from the thread that fits.
class Team {
public:
    using Bytes = std::vector<char>;

    Team() = default;
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    virtual ~Team() = default;

    /// The process that fits; the others sum over their samples on its requests.
    virtual bool is_root() const = 0;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The root's message, on every process.
    virtual Bytes broadcast(Bytes message) = 0;
    /// The messages of all processes in the order of their ranks, on the root; nothing elsewhere.
    virtual std::vector<Bytes> gather(const Bytes& message) = 0;
    /// Receives what raise() sent, `raised` by rank: after it nothing is under way.
    virtual void settle(const std::vector<char>& raised) = 0;

    /// Signals to all others, without waiting, that this process ends its pass early. At most once per fit.
    virtual void raise() = 0;
    /// Whether another process has called raise().
    virtual bool others_raised() = 0;
};

}  // namespace kernelet::detail
