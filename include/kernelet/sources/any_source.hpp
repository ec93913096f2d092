#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/sources/sample_range.hpp>
#include <kernelet/sources/team.hpp>

#include <concepts>
#include <functional>

namespace kernelet {

/// Any source, as one type, without a copy: refers to the source that it was made of.
class AnySource {
public:
    template <SampleSource Source>
    requires(!std::same_as<Source, AnySource>) explicit AnySource(const Source& source)
        : size_([&source] { return static_cast<Index>(source.size()); }),
          read_([&source](Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) {
              source.read(first, count, x, y, weights);
          }),
          dimension_(static_cast<Index>(source.dimension())),
          outputs_(static_cast<Index>(source.outputs())),
          owned_{0, size_()} {
        if constexpr (requires { source.team(); }) {
            team_ = &source.team();
            owned_ = source.owned();
        }
    }

    Index size() const { return size_(); }
    Index dimension() const { return dimension_; }
    Index outputs() const { return outputs_; }
    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        read_(first, count, x, y, weights);
    }

    /// The samples that this process reads: whole blocks. All of them without a team.
    SampleRange owned() const { return owned_; }
    /// The processes that share the source, or none.
    detail::Team* team() const { return team_; }

private:
    std::function<Index()> size_;
    std::function<void(Index, Index, MatrixRef, MatrixRef, VectorRef)> read_;
    Index dimension_, outputs_;
    SampleRange owned_;
    detail::Team* team_ = nullptr;
};

}  // namespace kernelet
