#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <concepts>
#include <memory>
#include <mutex>
#include <utility>

namespace kernelet {

/// How many samples there are, and of which shape.
struct SampleShape {
    Index size{};         ///< n
    Index dimension = 1;  ///< d
    Index outputs = 1;    ///< q; 0 where samples are only predicted
};

/// Samples that a callable writes: read(first, count, x, y, weights), see SampleSource. Calls are made one at a time, so
/// that the callable may keep a position or a buffer.
template <std::invocable<Index, Index, MatrixRef, MatrixRef, VectorRef> Read>
class CallableSource {
public:
    CallableSource(SampleShape shape, Read read)
        : shape_(shape), state_(std::make_shared<State>(std::move(read))) {
        detail::require_at_least(shape.size, 0, "shape.size");
        detail::require_at_least(shape.dimension, 1, "shape.dimension");
        detail::require_at_least(shape.outputs, 0, "shape.outputs");
    }

    Index size() const { return shape_.size; }
    Index dimension() const { return shape_.dimension; }
    Index outputs() const { return shape_.outputs; }

    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        state_->read(first, count, x, y, weights);
    }

private:
    struct State {
        explicit State(Read given) : read(std::move(given)) {}
        std::mutex mutex{};
        Read read;
    };

    SampleShape shape_;
    std::shared_ptr<State> state_;  // copies share the callable and its lock
};

}  // namespace kernelet
