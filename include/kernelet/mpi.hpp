#pragma once

/// Samples on several machines, by MPI. Optional: the only header that needs <mpi.h>, and included by no other.
/// CMake: find_package(kernelet COMPONENTS mpi), then link kernelet::mpi.

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/sources/any_source.hpp>
#include <kernelet/sources/message.hpp>
#include <kernelet/sources/source_error.hpp>
#include <kernelet/sources/team.hpp>
#include <kernelet/sources/team_calls.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kernelet::mpi {

/// The processes of a communicator as a Team. All calls of MPI are made from the thread that fits: MPI_THREAD_FUNNELED
/// suffices where that is the main thread. Uses a duplicate of the communicator, so that nothing else meets its messages.
class Team final : public detail::Team {
public:
    explicit Team(MPI_Comm communicator) {
        MPI_Comm_dup(communicator, &communicator_);
        MPI_Comm_rank(communicator_, &rank_);
        MPI_Comm_size(communicator_, &size_);
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    /// A model or a source may outlive MPI_Finalize.
    ~Team() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0) MPI_Comm_free(&communicator_);
    }

    bool is_root() const override { return rank_ == root; }
    int rank() const override { return rank_; }
    int size() const override { return size_; }

    Bytes broadcast(Bytes message) override {
        unsigned long long count = message.size();
        MPI_Bcast(&count, 1, MPI_UNSIGNED_LONG_LONG, root, communicator_);
        message.resize(count);
        for_chunks(message,
                   [&](char* data, int bytes) { MPI_Bcast(data, bytes, MPI_BYTE, root, communicator_); });
        return message;
    }

    std::vector<Bytes> gather(const Bytes& message) override {
        std::vector<Bytes> all;
        if (!is_root()) {
            send(message, root);
            return all;
        }
        for (int from = 0; from < size_; ++from) all.push_back(from == root ? message : receive(from));
        return all;
    }

    void settle(const std::vector<char>& raised) override {
        for (int from = 0; from < static_cast<int>(raised.size()); ++from)
            if (raised[static_cast<std::size_t>(from)] != 0 && from != rank_)
                MPI_Recv(nullptr, 0, MPI_BYTE, from, raise_tag, communicator_, MPI_STATUS_IGNORE);
        if (!sent_.empty()) MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE);
        sent_.clear();
    }

    void raise() override {
        for (int to = 0; to < size_; ++to)
            if (to != rank_) {
                sent_.emplace_back();
                MPI_Isend(nullptr, 0, MPI_BYTE, to, raise_tag, communicator_, &sent_.back());
            }
    }

    bool others_raised() override {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, raise_tag, communicator_, &found, MPI_STATUS_IGNORE);
        return found != 0;
    }

    /// From one process to another.
    void send(Bytes message, int to) {
        unsigned long long count = message.size();
        MPI_Send(&count, 1, MPI_UNSIGNED_LONG_LONG, to, message_tag, communicator_);
        for_chunks(message, [&](char* data, int bytes) {
            MPI_Send(data, bytes, MPI_BYTE, to, message_tag, communicator_);
        });
    }
    Bytes receive(int from) {
        unsigned long long count = 0;
        MPI_Recv(&count, 1, MPI_UNSIGNED_LONG_LONG, from, message_tag, communicator_, MPI_STATUS_IGNORE);
        Bytes message(count);
        for_chunks(message, [&](char* data, int bytes) {
            MPI_Recv(data, bytes, MPI_BYTE, from, message_tag, communicator_, MPI_STATUS_IGNORE);
        });
        return message;
    }

private:
    static constexpr int root = 0, message_tag = 1, raise_tag = 2;

    /// MPI counts by int.
    template <class Body>
    static void for_chunks(Bytes& message, const Body& body) {
        constexpr std::size_t most = std::size_t{1} << 30U;
        for (std::size_t at = 0; at < message.size(); at += most)
            body(message.data() + at, static_cast<int>(std::min(most, message.size() - at)));
    }

    MPI_Comm communicator_{};
    int rank_ = 0, size_ = 1;
    std::vector<MPI_Request> sent_{};
};

/// Samples that are spread over the processes of a communicator, each of which reads its own: those of rank 0 come first,
/// then those of rank 1, and so on. A SampleSource; fit() and everything else of this class are collective. All processes
/// get the same model to the bit, also for another number of processes: see BlockTree. Shards may be empty or of any size.
/// Only the observer of rank 0 is called; it may stop the fit. Where one process throws, all throw.
template <SampleSource Source>
class Shards {
public:
    /// `local`: the samples of this process. An empty one may have any dimension and number of outputs.
    Shards(MPI_Comm communicator, Source local)
        : team_(std::make_shared<Team>(communicator)), local_(std::make_shared<Source>(std::move(local))) {
        detail::TeamCalls calls(*team_, [this](const Bytes&) { return shape(); });
        if (team_->is_root()) {
            try {
                const std::vector<Bytes> shapes = calls.ask({});
                agree(shapes);
            } catch (...) {
                calls.fail();
                throw;
            }
            calls.finish(plan());
        } else {
            read_plan(calls.serve());
        }
        exchange();
    }

    /// The number of samples of all processes.
    Index size() const { return starts_.back(); }
    Index dimension() const { return dimension_; }
    Index outputs() const { return outputs_; }

    /// Samples of blocks that begin on this process, by their numbers among all.
    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        const Index begin = starts_[rank()], end = starts_[rank() + 1];
        if (const auto now = static_cast<Index>(local_->size()); now != end - begin)
            throw SourceError(detail::text("kernelet: the shard had ", end - begin,
                                           " samples at first and has ", now, " now"));
        detail::require(first >= owned().begin && first + count <= owned().end, "samples ", first, " to ",
                        first + count - 1, " are not on this process, which reads ", owned().begin, " to ",
                        owned().end - 1);
        const Index own = std::clamp<Index>(end - first, 0, count);
        if (own > 0) local_->read(first - begin, own, x.leftCols(own), y.leftCols(own), weights.head(own));
        for (Index i = own; i < count; ++i) {
            const Index at = first + i - end;
            x.col(i) = tail_x_.col(at);
            y.col(i) = tail_y_.col(at);
            weights(i) = tail_weights_(at);
        }
    }

    /// The samples that this process reads: the blocks that begin in its shard.
    SampleRange owned() const { return owned_of(rank()); }
    detail::Team& team() const { return *team_; }

private:
    using Bytes = detail::Team::Bytes;

    std::size_t rank() const { return static_cast<std::size_t>(team_->rank()); }

    Bytes shape() const {
        detail::MessageWriter writer;
        writer(static_cast<Index>(local_->size()));
        writer(static_cast<Index>(local_->dimension()));
        writer(static_cast<Index>(local_->outputs()));
        return writer.bytes();
    }

    /// On the root: the shapes of all shards.
    void agree(const std::vector<Bytes>& shapes) {
        starts_ = {0};
        for (std::size_t r = 0; r < shapes.size(); ++r) {
            detail::MessageReader reader(shapes[r]);
            Index count = 0, d = 0, q = 0;
            reader(count);
            reader(d);
            reader(q);
            starts_.push_back(starts_.back() + count);
            if (count == 0) continue;
            if (dimension_ == 0) std::tie(dimension_, outputs_) = std::pair(d, q);
            detail::require(d == dimension_ && q == outputs_, "rank ", r, " has ", d, " inputs and ", q,
                            " outputs; ranks before it have ", dimension_, " and ", outputs_);
        }
        detail::require(starts_.back() > 0, "no rank has any samples");
    }

    Bytes plan() const {
        detail::MessageWriter writer;
        writer(starts_);
        writer(dimension_);
        writer(outputs_);
        return writer.bytes();
    }
    void read_plan(const Bytes& bytes) {
        detail::MessageReader reader(bytes);
        reader(starts_);
        reader(dimension_);
        reader(outputs_);
    }

    SampleRange owned_of(std::size_t r) const {
        const Index per_block = samples_per_block(dimension_, outputs_);
        const auto up = [&](Index sample) {
            return std::min(starts_.back(), (sample + per_block - 1) / per_block * per_block);
        };
        const SampleRange owned{up(starts_[r]), up(starts_[r + 1])};
        return starts_[r] == starts_[r + 1] ? SampleRange{owned.begin, owned.begin} : owned;
    }

    /// The end of a block belongs to the process on which the block begins: the others send it, once. All go through the
    /// same pairs of processes in the same order. A process that cannot read signals this to all.
    void exchange() {
        const auto ranks = static_cast<int>(starts_.size()) - 1;
        detail::Failure failure;
        std::vector<Bytes> received;
        for (int to = 0; to < ranks; ++to)
            for (int from = to + 1; from < ranks; ++from) {
                const Index begin = std::max(starts_[static_cast<std::size_t>(to) + 1],
                                             starts_[static_cast<std::size_t>(from)]);
                const Index end = std::min(owned_of(static_cast<std::size_t>(to)).end,
                                           starts_[static_cast<std::size_t>(from) + 1]);
                if (begin >= end) continue;
                if (team_->rank() == from) team_->send(part(begin, end, failure), to);
                if (team_->rank() == to) received.push_back(team_->receive(from));
            }
        detail::TeamCalls calls(*team_, [&](const Bytes&) {
            if (failure.kind != detail::Failure::Kind::none) failure.raise();
            return Bytes{};
        });
        if (!team_->is_root()) {
            calls.serve();
        } else {
            try {
                calls.ask({});
            } catch (...) {
                calls.fail();
                throw;
            }
            calls.finish({});
        }
        keep(received);
    }

    /// The samples begin ... end − 1, which are in the shard of this process.
    Bytes part(Index begin, Index end, detail::Failure& failure) const {
        Matrix x = Matrix::Zero(dimension_, end - begin), y = Matrix::Zero(outputs_, end - begin);
        Vector weights = Vector::Ones(end - begin);
        try {
            local_->read(begin - starts_[rank()], end - begin, x, y, weights);
        } catch (...) {
            failure = detail::Failure::current();
        }
        detail::MessageWriter writer;
        writer(x);
        writer(y);
        writer(weights);
        return writer.bytes();
    }

    void keep(const std::vector<Bytes>& received) {
        const Index count = std::max<Index>(0, owned().end - starts_[rank() + 1]);
        tail_x_.resize(dimension_, count);
        tail_y_.resize(outputs_, count);
        tail_weights_.resize(count);
        Index at = 0;
        for (const Bytes& bytes : received) {
            detail::MessageReader reader(bytes);
            Matrix x, y;
            Vector weights;
            reader(x);
            reader(y);
            reader(weights);
            for (Index i = 0; i < x.cols(); ++i, ++at) {
                tail_x_.col(at) = x.col(i);
                tail_y_.col(at) = y.col(i);
                tail_weights_(at) = weights(i);
            }
        }
    }

    std::shared_ptr<Team> team_;  // copies share the team and the local source
    std::shared_ptr<Source> local_;
    std::vector<Index> starts_{};  // of the shards, and the number of all samples
    Index dimension_ = 0, outputs_ = 0;
    Matrix tail_x_{}, tail_y_{};  // the end of the last block of this process, from the shards that follow
    Vector tail_weights_{};
};

}  // namespace kernelet::mpi
