#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/sources/source_error.hpp>
#include <kernelet/types.hpp>

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kernelet {

/// One sample in a file of raw numbers: d inputs, then q outputs, then a weight where there is one.
struct RawLayout {
    Index dimension = 1;         ///< d
    Index outputs = 1;           ///< q; 0 where samples are only predicted
    bool weighted = false;       ///< whether a weight follows
    std::uint64_t skip_bytes{};  ///< before the first sample

    Index numbers() const { return dimension + outputs + (weighted ? 1 : 0); }
};

/// A file of raw floats or doubles in this machine's byte order, one sample after the other, read in blocks and never
/// held. Each read opens the file, so that blocks may be read from many threads.
template <std::floating_point Number = double>
class RawFile {
public:
    explicit RawFile(std::string path, RawLayout layout = {}) : path_(std::move(path)), layout_(layout) {
        detail::require_at_least(layout.dimension, 1, "layout.dimension");
        detail::require_at_least(layout.outputs, 0, "layout.outputs");
        size();
    }

    const std::string& path() const { return path_; }

    /// Looks at the file each time: one that grows or shrinks is noticed between two passes.
    Index size() const {
        errno = 0;
        std::ifstream file(path_, std::ios::binary | std::ios::ate);
        const std::streamoff end = file ? static_cast<std::streamoff>(file.tellg()) : -1;
        if (end < 0)
            throw SourceError(detail::text("kernelet: cannot open ", path_, ": ", std::strerror(errno)));
        const auto bytes = static_cast<std::uint64_t>(end);
        const std::uint64_t record = static_cast<std::uint64_t>(layout_.numbers()) * sizeof(Number);
        if (bytes < layout_.skip_bytes || (bytes - layout_.skip_bytes) % record != 0)
            throw SourceError(detail::text("kernelet: ", path_, " has ", bytes, " bytes, ",
                                           layout_.skip_bytes, " before the first sample, and samples of ",
                                           record, ": the last one is cut off"));
        return static_cast<Index>((bytes - layout_.skip_bytes) / record);
    }
    Index dimension() const { return layout_.dimension; }
    Index outputs() const { return layout_.outputs; }

    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        const Index record = layout_.numbers();
        std::vector<Number> numbers(static_cast<std::size_t>(count * record));
        fetch(static_cast<std::uint64_t>(first * record), numbers);
        const Number* at = numbers.data();
        for (Index i = 0; i < count; ++i) {
            for (Index c = 0; c < layout_.dimension; ++c) x(c, i) = static_cast<double>(*at++);
            for (Index o = 0; o < layout_.outputs; ++o) y(o, i) = static_cast<double>(*at++);
            if (layout_.weighted) weights(i) = static_cast<double>(*at++);
        }
    }

private:
    void fetch(std::uint64_t number, std::vector<Number>& to) const {
        errno = 0;
        std::ifstream file(path_, std::ios::binary);
        const auto bytes = static_cast<std::streamsize>(to.size() * sizeof(Number));
        file.seekg(static_cast<std::streamoff>(layout_.skip_bytes + number * sizeof(Number)));
        file.read(reinterpret_cast<char*>(to.data()), bytes);
        if (!file || file.gcount() != bytes)
            throw SourceError(detail::text("kernelet: cannot read ", path_, ": ",
                                           errno != 0 ? std::strerror(errno) : "the file ends too early"));
    }

    std::string path_;
    RawLayout layout_;
};

/// Writes predictions to a file of raw numbers, sample by sample: where predict(source, ...) sends its blocks. Copies
/// write to the same file.
template <std::floating_point Number = double>
class RawWriter {
public:
    explicit RawWriter(const std::string& path)
        : path_(path), file_(std::make_shared<std::ofstream>(path, std::ios::binary)) {
        require_good();
    }

    /// values: q x m, of the samples first ... first + m − 1, placed where these belong in the file.
    void operator()(Index first, const Matrix& values) {
        std::vector<Number> numbers(static_cast<std::size_t>(values.size()));
        for (Index k = 0; k < values.size(); ++k)
            numbers[static_cast<std::size_t>(k)] = static_cast<Number>(values(k));
        file_->seekp(static_cast<std::streamoff>(first * values.rows()) *
                     static_cast<std::streamoff>(sizeof(Number)));
        file_->write(reinterpret_cast<const char*>(numbers.data()),
                     static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
        file_->flush();
        require_good();
    }

private:
    void require_good() const {
        if (!*file_)
            throw SourceError(detail::text("kernelet: cannot write ", path_, ": ", std::strerror(errno)));
    }

    std::string path_;
    std::shared_ptr<std::ofstream> file_;
};

}  // namespace kernelet
