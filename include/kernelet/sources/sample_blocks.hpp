#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/sources/any_source.hpp>
#include <kernelet/sources/source_error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// Consecutive samples of a source.
struct SampleBlock {
    Index first{};
    Matrix x{};        ///< d x m
    Matrix y{};        ///< q x m
    Vector weights{};  ///< m

    Index size() const { return x.cols(); }
};

/// The blocks of a source that this process reads. What a block holds is checked when it is read first, and compared with
/// that by a checksum whenever it is read again. Different blocks may be read from different threads.
class SampleBlocks {
public:
    /// `labels_of`: the name of a loss whose targets must be −1 or +1, or nothing.
    SampleBlocks(AnySource source, std::string labels_of)
        : source_(std::move(source)),
          labels_of_(std::move(labels_of)),
          size_(source_.size()),
          per_block_(samples_per_block(source_.dimension(), source_.outputs())),
          begin_(source_.owned().begin / per_block_),
          end_(begin_ + (source_.owned().end - source_.owned().begin + per_block_ - 1) / per_block_),
          checksums_(static_cast<std::size_t>(end_ - begin_)),
          seen_(checksums_.size(), 0) {
        require(size_ > 0, "the source has no samples");
        require(source_.dimension() > 0, "the source has no inputs; dimension() must be >= 1");
        require(source_.outputs() > 0, "the source has no outputs to fit; outputs() must be >= 1");
    }

    const AnySource& source() const { return source_; }
    /// The number of samples of all processes.
    Index samples() const { return size_; }
    /// The numbers of the blocks of this process, begin() ... end() − 1.
    Index begin() const { return begin_; }
    Index end() const { return end_; }

    /// To be called before each pass.
    void begin_pass() const {
        if (const Index now = source_.size(); now != size_)
            throw SourceError(
                text("kernelet: the source had ", size_, " samples at first and has ", now, " now"));
    }

    SampleBlock read(Index block) {
        SampleBlock out = raw(block);
        const std::uint64_t found = checksum(out);
        const auto slot = static_cast<std::size_t>(block - begin_);
        if (seen_[slot] == 0) {
            require_valid(out);
            checksums_[slot] = found;
            seen_[slot] = 1;
        } else if (checksums_[slot] != found) {
            throw SourceError(text("kernelet: ", name(out), " changed between two passes over the source"));
        }
        return out;
    }

private:
    SampleBlock raw(Index block) const {
        SampleBlock out;
        out.first = block * per_block_;
        const Index count = std::min(per_block_, size_ - out.first);
        out.x.resize(source_.dimension(), count);
        out.y.resize(source_.outputs(), count);
        out.weights = Vector::Ones(count);
        try {
            source_.read(out.first, count, out.x, out.y, out.weights);
        } catch (const std::exception& error) {
            throw SourceError(text("kernelet: reading ", name(out), " failed: ", error.what()));
        }
        return out;
    }

    std::string name(const SampleBlock& block) const {
        return text("block ", block.first / per_block_, " (samples ", block.first, " to ",
                    block.first + block.size() - 1, ")");
    }

    static std::uint64_t checksum(const SampleBlock& block) {
        std::uint64_t sum = 0;
        const auto add = [&sum](const double* values, Index count) {
            for (Index k = 0; k < count; ++k) {
                sum = (sum ^ std::bit_cast<std::uint64_t>(values[k])) * 0x9e3779b97f4a7c15ULL;
                sum ^= sum >> 32U;
            }
        };
        add(block.x.data(), block.x.size());
        add(block.y.data(), block.y.size());
        add(block.weights.data(), block.weights.size());
        return sum;
    }

    /// Throws as a fit to matrices does, with the numbers of the whole source.
    void require_valid(const SampleBlock& block) const {
        const auto finite = [&](const Matrix& values, const char* name) {
            for (Index i = 0; i < values.cols(); ++i)
                for (Index row = 0; row < values.rows(); ++row)
                    require(std::isfinite(values(row, i)), name, "(", row, ", ", block.first + i, ") is ",
                            values(row, i), "; every entry must be finite");
        };
        finite(block.x, "x");
        finite(block.y, "y");
        for (Index i = 0; i < block.size(); ++i) {
            require_weight(block.weights(i), block.first + i);
            for (Index o = 0; o < block.y.rows(); ++o) require_in_range(block.y(o, i), o, block.first + i);
            for (Index o = 0; !labels_of_.empty() && o < block.y.rows(); ++o)
                require(std::abs(block.y(o, i)) == 1.0, "y(", o, ", ", block.first + i, ") = ", block.y(o, i),
                        " must be -1 or +1 for the ", labels_of_, " loss");
        }
    }

    AnySource source_;
    std::string labels_of_;
    Index size_, per_block_, begin_, end_;
    std::vector<std::uint64_t> checksums_;
    std::vector<char> seen_;
};

}  // namespace kernelet::detail
