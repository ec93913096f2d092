#pragma once

#include <kernelet/report.hpp>
#include <kernelet/sources/message.hpp>
#include <kernelet/sources/source_error.hpp>
#include <kernelet/sources/team.hpp>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// An exception that all processes of a team throw together: its kind and its message.
struct Failure {
    enum class Kind : char { none, aborted, source, argument, other };
    Kind kind = Kind::none;
    std::string message{};

    /// The failure for the exception being handled; Interrupted, by the observer's stop, is aborted.
    static Failure current() {
        try {
            throw;
        } catch (const Interrupted& error) {
            return {Kind::aborted, error.what()};
        } catch (const SourceError& error) {
            return {Kind::source, error.what()};
        } catch (const std::invalid_argument& error) {
            return {Kind::argument, error.what()};
        } catch (const std::exception& error) {
            return {Kind::other, error.what()};
        } catch (...) {
            return {Kind::other, "kernelet: an exception that is no std::exception"};
        }
    }

    [[noreturn]] void raise() const {
        if (kind == Kind::source) throw SourceError(message);
        if (kind == Kind::argument) throw std::invalid_argument(message);
        throw std::runtime_error(message);
    }
};

template <class Archive>
void visit(Archive& archive, Failure& failure) {
    archive(failure.kind);
    archive(failure.message);
}

/// Calls from the root of a team to all of its processes. The root sends a request; each process, the root included,
/// answers by the same function; the root receives the answers in the order of the ranks. Where one of them throws, the
/// others end early, and all throw: ask() on the root, and once the root has called fail(), serve() elsewhere.
class TeamCalls {
public:
    using Bytes = Team::Bytes;
    /// An answer to a request. Ends early, by Interrupted, where team.others_raised().
    using Work = std::function<Bytes(const Bytes& request)>;

    TeamCalls(Team& team, Work work) : team_(team), work_(std::move(work)) {}

    /// On the root.
    std::vector<Bytes> ask(const Bytes& request) {
        send(Call::ask, [&](MessageWriter& to) { to(request); });
        std::exception_ptr own;
        Answer mine = answered(request, &own);
        std::vector<Bytes> packed = team_.gather(bytes_of(mine)), answers;
        Failure first;
        raised_.assign(packed.size(), 0);
        for (std::size_t rank = 0; rank < packed.size(); ++rank) {
            Answer answer;
            MessageReader reader(packed[rank]);
            visit(reader, answer);
            raised_[rank] = answer.raised ? 1 : 0;
            const Failure::Kind kind = answer.failure.kind;
            if (kind > Failure::Kind::aborted && first.kind == Failure::Kind::none)
                first = {kind, "kernelet: rank " + std::to_string(rank) + ": " + answer.failure.message};
            answers.push_back(std::move(answer.bytes));
        }
        if (first.kind != Failure::Kind::none) first.raise();
        if (own) std::rethrow_exception(own);  // stopped by the observer
        return answers;
    }

    /// On the root: all go on with its result.
    void finish(const Bytes& result) {
        send(Call::finish, [&](MessageWriter& to) { to(result); });
        team_.settle(raised_);
    }
    /// On the root, while an exception is being handled: all throw it.
    void fail() {
        Failure failure = Failure::current();
        send(Call::fail, [&](MessageWriter& to) { visit(to, failure); });
        team_.settle(raised_);
    }

    /// On the others: answers the requests of the root until it has finished; returns its result.
    Bytes serve() {
        for (;;) {
            const Bytes message = team_.broadcast({});
            MessageReader reader(message);
            Call call{};
            reader(call);
            reader(raised_);
            if (call == Call::ask) {
                Bytes request;
                reader(request);
                Answer answer = answered(request, nullptr);
                team_.gather(bytes_of(answer));
                continue;
            }
            team_.settle(raised_);
            if (call == Call::finish) {
                Bytes result;
                reader(result);
                return result;
            }
            Failure failure;
            visit(reader, failure);
            failure.raise();
        }
    }

private:
    enum class Call : char { ask, finish, fail };

    struct Answer {
        Failure failure{};
        bool raised{};  ///< whether the others were signalled to end early
        Bytes bytes{};
    };

    template <class Archive>
    friend void visit(Archive& archive, Answer& answer) {
        visit(archive, answer.failure);
        archive(answer.raised);
        archive(answer.bytes);
    }

    static Bytes bytes_of(Answer& answer) {
        MessageWriter writer;
        visit(writer, answer);
        return writer.bytes();
    }

    template <class Fill>
    void send(Call call, const Fill& fill) {
        MessageWriter writer;
        writer(call);
        writer(raised_);
        fill(writer);
        team_.broadcast(writer.bytes());
    }

    /// `thrown`: receives an exception, unless it is null.
    Answer answered(const Bytes& request, std::exception_ptr* thrown) {
        Answer answer;
        try {
            answer.bytes = work_(request);
        } catch (...) {
            answer.failure = Failure::current();
            if (thrown != nullptr) *thrown = std::current_exception();
            // A process that ends because another one did sends no signal.
            answer.raised = !team_.others_raised();
            if (answer.raised) team_.raise();
        }
        return answer;
    }

    Team& team_;
    Work work_;
    std::vector<char> raised_{};  // by rank, in the last call that failed
};

}  // namespace kernelet::detail
