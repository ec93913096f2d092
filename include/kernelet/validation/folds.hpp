#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

/// Samples to train on and samples to test on, both ascending.
struct Split {
    std::vector<Index> train{};
    std::vector<Index> test{};
};

/// Samples divided into folds. Each fold is the test part of one fit, and all other samples are its training part. A
/// value.
class Folds {
public:
    /// The number of a sample that is in every training part and is never tested.
    static constexpr Index train_only = -1;

    /// The fold of each sample: 0, 1, ... or train_only. No fold is empty, and none has all samples.
    explicit Folds(std::vector<Index> numbers) : numbers_(std::move(numbers)) {
        const Index n = samples();
        std::vector<Index> sizes;
        for (Index i = 0; i < n; ++i) {
            const Index fold = numbers_[static_cast<std::size_t>(i)];
            detail::require(fold >= train_only && fold < n, "numbers[", i, "] = ", fold,
                            "; a fold is a number from 0 to n - 1, or -1 for training only");
            if (fold >= static_cast<Index>(sizes.size())) sizes.resize(static_cast<std::size_t>(fold) + 1);
            if (fold != train_only) ++sizes[static_cast<std::size_t>(fold)];
        }
        detail::require(!sizes.empty(), "numbers has no sample of a fold; at least one is to be tested");
        count_ = static_cast<Index>(sizes.size());
        for (Index k = 0; k < count_; ++k) {
            const Index size = sizes[static_cast<std::size_t>(k)];
            detail::require(size > 0, "fold ", k, " of ", count_, " has no samples");
            detail::require(size < n, "fold ", k, " has all ", n, " samples; none is left to train on");
        }
    }

    /// The number of folds.
    Index count() const { return count_; }
    /// The number of samples.
    Index samples() const { return static_cast<Index>(numbers_.size()); }
    /// The fold of each sample.
    const std::vector<Index>& numbers() const { return numbers_; }

    /// Fold k as the test part, and its training part. O(n).
    Split split(Index k) const {
        detail::require(k >= 0 && k < count_, "split(", k, "): there are ", count_, " folds, from 0 on");
        Split parts;
        for (Index i = 0; i < samples(); ++i)
            if (numbers_[static_cast<std::size_t>(i)] == k) parts.test.push_back(i);
        const Index first = parts.test.front() - gap_, last = parts.test.back() + gap_;
        for (Index i = 0; i < samples(); ++i)
            if (numbers_[static_cast<std::size_t>(i)] != k && (gap_ == 0 || i < first || i > last))
                parts.train.push_back(i);
        return parts;
    }

    /// Only the first so many folds are tested; the samples of the others are for training only.
    Folds first(Index folds) const {
        detail::require(folds >= 1 && folds <= count_, "first(", folds, "): there are ", count_, " folds");
        Folds fewer = *this;
        fewer.count_ = folds;
        for (Index& fold : fewer.numbers_)
            if (fold >= folds) fold = train_only;
        return fewer;
    }

private:
    friend Folds time_blocks(Index samples, Index folds, Index gap);

    std::vector<Index> numbers_;
    Index count_ = 0;
    Index gap_ = 0;  // only of folds that are runs of neighbours
};

namespace detail {

inline void require_folds(Index folds, Index samples) {
    require(samples >= 2, "samples = ", samples,
            "; at least two are needed, one to train on and one to test");
    require(folds >= 2 && folds <= samples, "folds = ", folds,
            " must be between 2 and the number of samples, ", samples);
}

/// Shuffles by Fisher and Yates.
inline void shuffle(std::vector<Index>& values, const CounterRandom& random) {
    for (std::size_t i = values.size(); i > 1; --i)
        std::swap(values[i - 1],
                  values[static_cast<std::size_t>(random.uniform(i) * static_cast<double>(i))]);
}

/// Fold numbers 0, 1, ..., 0, 1, ... in random order.
inline std::vector<Index> shuffled_numbers(Index samples, Index folds, std::uint64_t seed) {
    constexpr std::uint64_t stream = 21;
    std::vector<Index> numbers;
    for (Index i = 0; i < samples; ++i) numbers.push_back(i % folds);
    shuffle(numbers, CounterRandom(seed, stream));
    return numbers;
}

/// The samples of each distinct value, in ascending order of the values. `values` is a std::vector or an Eigen vector;
/// text of any kind is compared as std::string.
template <class Values>
std::vector<std::vector<Index>> samples_by_value(const Values& values, std::string_view name) {
    using Entry = std::remove_cvref_t<decltype(values[0])>;
    using Value =
        std::conditional_t<std::is_convertible_v<const Entry&, std::string_view>, std::string, Entry>;
    using Place = decltype(values.size());  // signed of Eigen, unsigned of the standard library
    std::vector<std::pair<Value, Index>> sorted;
    for (Place i = 0; i < values.size(); ++i) {
        const Value value(values[i]);
        if constexpr (std::floating_point<Value>)
            require(std::isfinite(value), name, "(", i, ") is ", value, "; it must be finite");
        sorted.emplace_back(value, static_cast<Index>(i));
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::vector<Index>> samples;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
        if (k == 0 || sorted[k - 1].first < sorted[k].first) samples.emplace_back();
        samples.back().push_back(sorted[k].second);
    }
    return samples;
}

}  // namespace detail

/// Folds drawn at random, their sizes as equal as can be.
inline Folds random_folds(Index samples, Index folds, std::uint64_t seed = 1) {
    detail::require_folds(folds, samples);
    return Folds(detail::shuffled_numbers(samples, folds, seed));
}

/// Random folds into which each class is divided as equally as can be. `labels` has one per sample: a std::vector or an
/// Eigen vector. One class at least needs a sample for every fold.
template <class Labels>
Folds stratified_folds(const Labels& labels, Index folds, std::uint64_t seed = 1) {
    const std::vector<std::vector<Index>> classes = detail::samples_by_value(labels, "labels");
    std::vector<Index> numbers(static_cast<std::size_t>(labels.size()));
    detail::require_folds(folds, static_cast<Index>(numbers.size()));
    std::size_t largest = 0;
    for (const std::vector<Index>& members : classes) {
        largest = std::max(largest, members.size());
        const std::vector<Index> dealt =
            detail::shuffled_numbers(static_cast<Index>(members.size()), folds, ++seed);
        for (std::size_t k = 0; k < members.size(); ++k)
            numbers[static_cast<std::size_t>(members[k])] = dealt[k];
    }
    detail::require(folds <= static_cast<Index>(largest), "folds = ", folds,
                    "; the largest class of labels has ", largest, " samples, so that a fold would be empty");
    return Folds(std::move(numbers));
}

/// Folds that keep the samples of a group together. `groups` names the group of each sample: a std::vector or an Eigen
/// vector. Groups are placed in the order of their sizes, the largest first, each in the smallest fold so far: the
/// largest fold has at most 4/3 as many samples as that of the best division (Graham 1969). The seed orders groups of
/// equal size.
template <class Groups>
Folds grouped_folds(const Groups& groups, Index folds, std::uint64_t seed = 1) {
    constexpr std::uint64_t stream = 22;
    std::vector<std::vector<Index>> members = detail::samples_by_value(groups, "groups");
    const auto count = static_cast<Index>(members.size());
    detail::require(folds >= 2 && folds <= count, "folds = ", folds,
                    " must be between 2 and the number of distinct groups, ", count);
    std::vector<Index> order;
    for (Index g = 0; g < count; ++g) order.push_back(g);
    detail::shuffle(order, detail::CounterRandom(seed, stream));
    const auto size_of = [&](Index g) { return members[static_cast<std::size_t>(g)].size(); };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size_of(a) > size_of(b); });
    std::vector<std::size_t> sizes(static_cast<std::size_t>(folds));
    std::vector<Index> numbers(static_cast<std::size_t>(groups.size()));
    for (const Index g : order) {
        const auto smallest = std::min_element(sizes.begin(), sizes.end());
        *smallest += size_of(g);
        for (const Index i : members[static_cast<std::size_t>(g)])
            numbers[static_cast<std::size_t>(i)] = static_cast<Index>(smallest - sizes.begin());
    }
    return Folds(std::move(numbers));
}

/// Folds that are runs of neighbouring samples, for samples in the order of time. `gap` samples on each side of the test
/// part are left out of its training part: the distance over which samples are correlated.
inline Folds time_blocks(Index samples, Index folds, Index gap = 0) {
    detail::require_folds(folds, samples);
    detail::require_at_least(gap, 0, "gap");
    std::vector<Index> numbers;
    for (Index k = 0; k < folds; ++k) {
        const Index first = k * samples / folds, end = (k + 1) * samples / folds;
        numbers.insert(numbers.end(), static_cast<std::size_t>(end - first), k);
        detail::require(first > gap || samples - end > gap, "gap = ", gap,
                        " leaves nothing to train on beside fold ", k, ", samples ", first, " to ", end - 1,
                        " of ", samples);
    }
    Folds blocks(std::move(numbers));
    blocks.gap_ = gap;
    return blocks;
}

}  // namespace kernelet
