#pragma once

#include <kernelet/types.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// Values as bytes, between processes of one program. A type of several parts has a function visit(archive, value) that
/// hands each part to the archive, the same for both directions.
namespace kernelet::detail {

template <class T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class MessageWriter {
public:
    template <PlainValue T>
    void operator()(const T& value) {
        put(&value, sizeof value);
    }
    template <PlainValue T>
    void operator()(const std::vector<T>& values) {
        (*this)(values.size());
        put(values.data(), values.size() * sizeof(T));
    }
    void operator()(const std::string& words) {
        (*this)(words.size());
        put(words.data(), words.size());
    }
    void operator()(const Matrix& values) { dense(values); }
    void operator()(const Vector& values) { dense(values); }

    const std::vector<char>& bytes() const { return bytes_; }

private:
    template <class Dense>
    void dense(const Dense& values) {
        (*this)(values.rows());
        (*this)(values.cols());
        put(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
    }

    void put(const void* data, std::size_t count) {
        if (count == 0) return;
        const auto* from = static_cast<const char*>(data);
        bytes_.insert(bytes_.end(), from, from + count);
    }

    std::vector<char> bytes_{};
};

class MessageReader {
public:
    explicit MessageReader(const std::vector<char>& bytes) : bytes_(bytes) {}

    template <PlainValue T>
    void operator()(T& value) {
        get(&value, sizeof value);
    }
    template <PlainValue T>
    void operator()(std::vector<T>& values) {
        values.resize(count(sizeof(T)));
        get(values.data(), values.size() * sizeof(T));
    }
    void operator()(std::string& words) {
        words.resize(count(1));
        get(words.data(), words.size());
    }
    void operator()(Matrix& values) { dense(values); }
    void operator()(Vector& values) { dense(values); }

private:
    /// The length of a list of items that are still to be read.
    std::size_t count(std::size_t item_bytes) {
        std::size_t items = 0;
        (*this)(items);
        if (items > (bytes_.size() - at_) / item_bytes)
            throw std::runtime_error("kernelet: a message is cut off");
        return items;
    }

    template <class Dense>
    void dense(Dense& values) {
        Index rows = 0, cols = 0;
        (*this)(rows);
        (*this)(cols);
        values.resize(rows, cols);
        get(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
    }

    void get(void* data, std::size_t count) {
        if (count > bytes_.size() - at_) throw std::runtime_error("kernelet: a message is cut off");
        if (count > 0) std::memcpy(data, bytes_.data() + at_, count);
        at_ += count;
    }

    const std::vector<char>& bytes_;
    std::size_t at_ = 0;
};

}  // namespace kernelet::detail
