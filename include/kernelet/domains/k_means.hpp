#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

struct KMeansOptions {
    Index max_iterations = 100;
    /// The same seed, input and binary give the same bits.
    std::uint64_t seed = 1;
    /// Stops when the RMS of the centers' last moves is at most this fraction of the samples' RMS distance
    /// from their mean. Zero: stops only when no sample changes its center.
    double settled = 1e-4;
    /// Largest number of lower bounds held, one double each. With one per sample and center most distances
    /// are pruned; with fewer, centers share bounds and fewer distances are pruned.
    Index max_bounds = Index{1} << 24;

    void validate() const {
        detail::require_at_least(max_iterations, 0, "options.max_iterations");
        detail::require_nonnegative(settled, "options.settled");
        detail::require_at_least(max_bounds, 1, "options.max_bounds");
    }
};

/// A partition of the samples; every center has at least one.
struct KMeans {
    Matrix centers{};                 ///< d x count; fewer columns where x has fewer distinct samples
    std::vector<Index> assignment{};  ///< the center of each sample
    double inertia{};                 ///< Σ ‖x_i − its center‖²
    Index iterations{};
    Index distances{};  ///< number computed; without pruning, samples x centers per iteration
};

namespace detail {

/// Lloyd's iteration from k-means++ seeds. Distances that cannot change anything by the triangle inequality
/// are not computed (Elkan 2003; bounds shared by groups of centers: Ding et al. 2015):
///     d(x, c) ≥ d(c, a) − d(x, a)           while seeding, a the sample's center
///     d(x, c') ≥ d(x, c) − d(c, c')         c' the place to which c has moved
/// Elkan's bounds by distances between centers are left out: they cost about as many distances as they save.
/// A bound is used only where it holds by more than rounding, so that every decision is the same as with all
/// distances. `Scalar` is double: a template compiles where it is used.
template <class Scalar = double>
class BoundedLloyd {
public:
    /// x is d x n and must outlive this object.
    BoundedLloyd(const ConstBlock& x, Index count, const KMeansOptions& options)
        : x_(x),
          options_(options),
          group_size_(ceil_of(count, std::clamp(options.max_bounds / x.cols, Index{1}, count))),
          lower_(ceil_of(count, group_size_), x.cols),
          nearest_(x.cols),
          upper_(x.cols),
          tight_(static_cast<std::size_t>(x.cols), 1) {
        fill(lower_, infinity);
        result_.centers.resize(x.rows, count);
        result_.assignment.assign(static_cast<std::size_t>(x.cols), 0);
        seed(count);
    }

    KMeans run() {
        const Index k = result_.centers.cols();
        const double spread = deviation();
        while (result_.iterations < options_.max_iterations) {
            ++result_.iterations;
            move_to_means();
            const bool settled =
                norm<Scalar>(drift_) <= options_.settled * std::sqrt(static_cast<double>(k)) * spread;
            const bool same = assign() == 0;
            if (!fill_empty() && (same || settled)) break;
        }
        tighten();
        result_.inertia = 0.0;
        for (Index i = 0; i < n(); ++i) result_.inertia += nearest_(i);
        return std::move(result_);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr Index block = 32;  // samples per unit of parallel work

    static Index ceil_of(Index a, Index b) { return (a + b - 1) / b; }

    Index n() const { return x_.cols; }
    Index group(Index center) const { return center / group_size_; }
    Index& center_of(Index i) { return result_.assignment[static_cast<std::size_t>(i)]; }
    char& tight(Index i) { return tight_[static_cast<std::size_t>(i)]; }
    void lower_to(Index center, Index i, double bound) {
        double& held = lower_(group(center), i);
        held = std::min(held, bound);
    }

    double squared(const double* a, const double* b) const {
        return (ConstRunMap<Scalar>(a, x_.rows) - ConstRunMap<Scalar>(b, x_.rows)).square().sum();
    }
    double to_center(Index i, Index c) const { return squared(x_.column(i), center(c)); }

    const double* center(Index c) const { return result_.centers.data() + c * x_.rows; }
    void place(Index c, const double* at) { std::copy_n(at, x_.rows, &result_.centers(0, c)); }

    /// Cost of one distance per sample, in kernel values of about eight coordinates.
    Index work() const { return n() * (1 + x_.rows / 8); }

    /// Runs body(i, distances) for every sample; the body adds to `distances` the number it computed.
    template <class Body>
    void for_samples(const Body& body) {
        const Index blocks = ceil_of(n(), block);
        std::vector<Index> distances(static_cast<std::size_t>(blocks), 0);
        parallel_for(
            blocks,
            [&](Index b) {
                for (Index i = b * block; i < std::min(n(), (b + 1) * block); ++i)
                    body(i, distances[static_cast<std::size_t>(b)]);
            },
            work());
        for (const Index part : distances) result_.distances += part;
    }

    /// k-means++ (Arthur, Vassilvitskii 2007): each center is a sample drawn with probability proportional to
    /// its squared distance from the centers so far, and therefore never a copy of one of them.
    void seed(Index count) {
        const CounterRandom random(options_.seed, random_stream);
        place(0, x_.column(static_cast<Index>(random.uniform(0) * static_cast<double>(n()))));
        for_samples([&](Index i, Index& distances) {
            nearest_(i) = to_center(i, 0);
            upper_(i) = std::sqrt(nearest_(i));
            ++distances;
        });
        // No distance exceeds twice the largest from any one sample; bounds are exact to a part of that.
        slack_ = 2.0 * max_abs(upper_) * std::numeric_limits<double>::epsilon() *
                 static_cast<double>(x_.rows + 4 * options_.max_iterations + 64);
        for (Index c = 1; c < count; ++c) {
            const Index chosen = draw(random.uniform(static_cast<std::uint64_t>(c)));
            if (chosen < 0) {
                Matrix drawn(x_.rows, c);
                copy(ConstBlock(result_.centers).columns(0, c), drawn);
                result_.centers = std::move(drawn);
                break;
            }
            place(c, x_.column(chosen));
            Vector gaps(c);
            for (Index other = 0; other < c; ++other)
                gaps(other) = std::sqrt(squared(center(other), center(c)));
            result_.distances += c;
            for_samples([&](Index i, Index& distances) { offer(i, c, gaps(center_of(i)), distances); });
        }
    }

    /// Returns the sample at this fraction of the running sum of d², or −1 where all samples are centers.
    Index draw(double part) const {
        double total = 0.0, sum = 0.0;
        for (Index i = 0; i < n(); ++i) total += nearest_(i);
        Index last = -1;
        for (Index i = 0; i < n(); ++i) {
            if (nearest_(i) == 0.0) continue;
            last = i;
            sum += nearest_(i);
            if (sum > part * total) break;
        }
        return last;
    }

    /// Assigns sample i to the new center c if that is nearer; c lies `gap` from the sample's present center.
    void offer(Index i, Index c, double gap, Index& distances) {
        if (0.5 * gap >= upper_(i) + slack_) {
            lower_to(c, i, gap - upper_(i));
            return;
        }
        const double found = to_center(i, c);
        ++distances;
        if (found < nearest_(i)) {
            lower_to(center_of(i), i, upper_(i));
            center_of(i) = c;
            nearest_(i) = found;
            upper_(i) = std::sqrt(found);
        } else {
            lower_to(c, i, std::sqrt(found));
        }
    }

    /// RMS distance of the samples from their mean.
    double deviation() const {
        Vector mean = row_sums<Scalar>(x_);
        for (Index c = 0; c < x_.rows; ++c) mean(c) /= static_cast<double>(n());
        double sum = 0.0;
        for (Index i = 0; i < n(); ++i) sum += squared(x_.column(i), mean.data());
        return std::sqrt(sum / static_cast<double>(n()));
    }

    /// Moves each center to the mean of its samples, which are added in their order.
    void move_to_means() {
        const Index k = result_.centers.cols();
        std::vector<std::vector<Index>> members(static_cast<std::size_t>(k));
        for (Index i = 0; i < n(); ++i) members[static_cast<std::size_t>(center_of(i))].push_back(i);
        drift_.resize(k);
        parallel_for(
            k,
            [&](Index c) {
                const std::vector<Index>& own = members[static_cast<std::size_t>(c)];
                Vector mean = Vector::Zero(x_.rows);
                for (const Index i : own) add_scaled<Scalar>(mean, 1.0, x_.columns(i, 1));
                for (Index row = 0; row < x_.rows; ++row) mean(row) /= static_cast<double>(own.size());
                drift_(c) = std::sqrt(squared(mean.data(), center(c)));
                place(c, mean.data());
            },
            work());
        result_.distances += k;
        group_drift_ = Vector::Zero(lower_.rows());
        for (Index c = 0; c < k; ++c) group_drift_(group(c)) = std::max(group_drift_(group(c)), drift_(c));
    }

    /// Assigns every sample to its nearest center; of several at the same distance its own, else the first.
    /// Returns how many samples changed their center.
    Index assign() {
        std::vector<char> changed(static_cast<std::size_t>(n()), 0);
        for_samples([&](Index i, Index& distances) {
            const Index before = center_of(i);
            reassign(i, distances);
            changed[static_cast<std::size_t>(i)] = center_of(i) != before;
        });
        return std::count(changed.begin(), changed.end(), char{1});
    }

    void reassign(Index i, Index& distances) {
        Index a = center_of(i);
        if (drift_(a) > 0.0) tight(i) = 0;
        upper_(i) += drift_(a);
        add_scaled<Scalar>(Block(lower_).columns(i, 1), -1.0, group_drift_);
        const Index k = result_.centers.cols();
        for (Index g = 0; g * group_size_ < k; ++g) {
            if (upper_(i) + slack_ <= lower_(g, i)) continue;
            tighten(i, distances);
            if (upper_(i) + slack_ <= lower_(g, i)) continue;
            double least = infinity;  // distance to the other centers of this group
            for (Index c = g * group_size_; c < std::min(k, (g + 1) * group_size_); ++c) {
                if (c == a) continue;
                const double found = to_center(i, c);
                ++distances;
                if (found < nearest_(i)) {
                    if (group(a) == g)
                        least = std::min(least, upper_(i));
                    else
                        lower_to(a, i, upper_(i));
                    a = c;
                    nearest_(i) = found;
                    upper_(i) = std::sqrt(found);
                } else {
                    least = std::min(least, std::sqrt(found));
                }
            }
            lower_(g, i) = least;
        }
        center_of(i) = a;
    }

    /// Computes the distance of a sample from its center where only a bound is known.
    void tighten(Index i, Index& distances) {
        if (tight(i)) return;
        nearest_(i) = to_center(i, center_of(i));
        upper_(i) = std::sqrt(nearest_(i));
        tight(i) = 1;
        ++distances;
    }
    void tighten() {
        for_samples([&](Index i, Index& distances) { tighten(i, distances); });
    }

    /// Puts each center without samples on the first of the samples farthest from their own centers, among
    /// centers with at least two samples. Such a sample exists: seeds are distinct, so there are at least as
    /// many samples as centers. Returns whether there was a center without samples.
    bool fill_empty() {
        const Index k = result_.centers.cols();
        std::vector<Index> sizes(static_cast<std::size_t>(k), 0);
        for (Index i = 0; i < n(); ++i) ++sizes[static_cast<std::size_t>(center_of(i))];
        bool filled = false;
        for (Index c = 0; c < k; ++c) {
            if (sizes[static_cast<std::size_t>(c)] > 0) continue;
            if (!filled) tighten();
            filled = true;
            Index farthest = -1;
            for (Index i = 0; i < n(); ++i)
                if (sizes[static_cast<std::size_t>(center_of(i))] > 1 &&
                    (farthest < 0 || nearest_(i) > nearest_(farthest)))
                    farthest = i;
            const double jump = std::sqrt(to_center(farthest, c));
            ++result_.distances;
            for (Index i = 0; i < n(); ++i) lower_(group(c), i) -= jump;
            lower_to(center_of(farthest), farthest, upper_(farthest));
            --sizes[static_cast<std::size_t>(center_of(farthest))];
            ++sizes[static_cast<std::size_t>(c)];
            place(c, x_.column(farthest));
            center_of(farthest) = c;
            nearest_(farthest) = upper_(farthest) = 0.0;
        }
        return filled;
    }

    static constexpr std::uint64_t random_stream = 0x6b6d65616e73;  // differs from the streams of a fit

    ConstBlock x_;
    KMeansOptions options_;
    Index group_size_;
    Matrix lower_;  // groups x n: lower bound on the distances to a group's centers, without the sample's own
    Vector nearest_;              // squared distance to the own center, where tight_
    Vector upper_;                // upper bound on the distance to the own center
    std::vector<char> tight_;     // whether nearest_ is up to date
    Vector drift_, group_drift_;  // the last move of each center, and the largest of each group
    double slack_ = 0.0;
    KMeans result_{};
};

}  // namespace detail

/// Returns `count` centers such that Σ ‖x_i − nearest center‖² is small: k-means++ seeds, then Lloyd's
/// iteration with pruning by bounds. x is d x n, one sample per column. The centers can serve as candidates
/// of CandidateCenters where there are too many samples. Where x has fewer distinct samples than `count`,
/// returns those. A center left without samples moves to the sample farthest from its own center. Memory
/// n · min(count, max_bounds/n); time n · count · d for the seeds and a small part of that per iteration.
template <class Scalar = double>
[[gnu::noinline]] KMeans k_means(const ConstMatrixRef& x, Index count, const KMeansOptions& options = {}) {
    options.validate();
    detail::require(x.rows() > 0 && x.cols() > 0, "x is ", x.rows(), " x ", x.cols(),
                    "; x is d x n, one sample per column, n >= 1");
    detail::require(count >= 1 && count <= x.cols(), "count = ", count, " must be in [1, ", x.cols(),
                    "], the number of samples");
    detail::require_finite(x, "x");
    constexpr int most_exponent = 300;  // of 2; sums of squares overflow or vanish beyond
    int exponent = 0;
    std::frexp(detail::max_abs(x), &exponent);
    if (std::abs(exponent) <= most_exponent) return detail::BoundedLloyd<Scalar>(x, count, options).run();
    const auto scaled = [](const detail::ConstBlock& values,
                           int by) {  // in two steps: 2^by may not be a double
        Matrix out(values.rows, values.cols);
        detail::copy(values, out);
        detail::scale<Scalar>(out, std::ldexp(1.0, by / 2));
        detail::scale<Scalar>(out, std::ldexp(1.0, by - by / 2));
        return out;
    };
    const Matrix unit = scaled(x, -exponent);
    KMeans result = detail::BoundedLloyd<Scalar>(unit, count, options).run();
    result.centers = scaled(result.centers, exponent);
    result.inertia = std::ldexp(result.inertia, 2 * exponent);
    return result;
}

}  // namespace kernelet
