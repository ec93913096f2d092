#pragma once

#include <kernelet/detail/check.hpp>
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
    /// Same seed, same input, same binary: same bits.
    std::uint64_t seed = 1;
    /// Centers have settled once the RMS of their last moves is at most this part of the samples' RMS
    /// distance from their mean. Zero: only once no sample changes its center.
    double settled = 1e-4;
    /// Most lower bounds held, one number each: with one a sample and center most distances are pruned; where
    /// there is no room for that, centers share bounds, and fewer are.
    Index max_bounds = Index{1} << 24;

    void validate() const {
        detail::require_at_least(max_iterations, 0, "options.max_iterations");
        detail::require_nonnegative(settled, "options.settled");
        detail::require_at_least(max_bounds, 1, "options.max_bounds");
    }
};

/// Every center has at least one sample.
struct KMeans {
    Matrix centers{};                 ///< d x count; fewer where x has fewer distinct samples than that
    std::vector<Index> assignment{};  ///< the center of each sample
    double inertia{};                 ///< Σ ‖x_i − its center‖²
    Index iterations{};
    Index distances{};  ///< computed in all; without pruning, samples x centers in each iteration
};

namespace detail {

/// Lloyd's iteration from k-means++ seeds. Distances that the triangle inequality shows to change nothing are
/// not computed (Elkan 2003; bounds shared by groups of centers: Ding et al. 2015):
///     d(x, c) ≥ d(c, a) − d(x, a)           while seeding, a the sample's center
///     d(x, c') ≥ d(x, c) − d(c, c')         c' where c has moved to
/// The distances between centers, which Elkan has as well, cost about as many as they save.
/// Bounds count only where they hold beyond rounding, so that every decision is the one that all distances
/// would have led to.
class BoundedLloyd {
public:
    BoundedLloyd(const ConstMatrixRef& x, Index count, const KMeansOptions& options)
        : x_(x),
          options_(options),
          group_size_(ceil_of(count, std::clamp(options.max_bounds / x.cols(), Index{1}, count))),
          lower_(Matrix::Constant(ceil_of(count, group_size_), x.cols(), infinity)),
          nearest_(x.cols()),
          upper_(x.cols()),
          tight_(static_cast<std::size_t>(x.cols()), 1) {
        result_.centers.resize(x.rows(), count);
        result_.assignment.assign(static_cast<std::size_t>(x.cols()), 0);
        seed(count);
    }

    KMeans run() {
        const Index k = result_.centers.cols();
        const double spread = deviation();
        while (result_.iterations < options_.max_iterations) {
            ++result_.iterations;
            move_to_means();
            const bool settled =
                drift_.norm() <= options_.settled * std::sqrt(static_cast<double>(k)) * spread;
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
    static constexpr Index block = 32;  // samples that a thread takes at once

    static Index ceil_of(Index a, Index b) { return (a + b - 1) / b; }

    Index n() const { return x_.cols(); }
    Index group(Index center) const { return center / group_size_; }
    Index& center_of(Index i) { return result_.assignment[static_cast<std::size_t>(i)]; }
    char& tight(Index i) { return tight_[static_cast<std::size_t>(i)]; }
    void lower_to(Index center, Index i, double bound) {
        double& held = lower_(group(center), i);
        held = std::min(held, bound);
    }

    template <class A, class B>
    static double squared(const A& a, const B& b) {
        return (a - b).squaredNorm();
    }
    double to_center(Index i, Index c) const { return squared(x_.col(i), result_.centers.col(c)); }

    /// In kernel values, of about eight coordinates each.
    Index work() const { return n() * (1 + x_.rows() / 8); }

    /// body(i, distances) for every sample, which adds the distances it computed.
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

    /// k-means++ (Arthur, Vassilvitskii 2007): each center a sample drawn with probability in proportion to
    /// its squared distance from the centers so far, so never a copy of one of them.
    void seed(Index count) {
        const CounterRandom random(options_.seed, random_stream);
        result_.centers.col(0) = x_.col(static_cast<Index>(random.uniform(0) * static_cast<double>(n())));
        for_samples([&](Index i, Index& distances) {
            nearest_(i) = to_center(i, 0);
            upper_(i) = std::sqrt(nearest_(i));
            ++distances;
        });
        // No distance exceeds twice the largest from any sample, and each is known to this part of that.
        slack_ = 2.0 * upper_.maxCoeff() * std::numeric_limits<double>::epsilon() *
                 static_cast<double>(x_.rows() + 4 * options_.max_iterations + 64);
        for (Index c = 1; c < count; ++c) {
            const Index chosen = draw(random.uniform(static_cast<std::uint64_t>(c)));
            if (chosen < 0) {
                result_.centers.conservativeResize(Eigen::NoChange, c);
                break;
            }
            result_.centers.col(c) = x_.col(chosen);
            Vector gaps(c);
            for (Index other = 0; other < c; ++other)
                gaps(other) = std::sqrt(squared(result_.centers.col(other), result_.centers.col(c)));
            result_.distances += c;
            for_samples([&](Index i, Index& distances) { offer(i, c, gaps(center_of(i)), distances); });
        }
    }

    /// The sample at this part of Σ d², or −1 where all samples are centers.
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

    /// The new center c, at a distance of `gap` from that of sample i.
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
        const Vector mean = x_.rowwise().mean();
        double sum = 0.0;
        for (Index i = 0; i < n(); ++i) sum += squared(x_.col(i), mean);
        return std::sqrt(sum / static_cast<double>(n()));
    }

    /// Each center to the mean of its samples, which are added in their order.
    void move_to_means() {
        const Index k = result_.centers.cols();
        std::vector<std::vector<Index>> members(static_cast<std::size_t>(k));
        for (Index i = 0; i < n(); ++i) members[static_cast<std::size_t>(center_of(i))].push_back(i);
        drift_.resize(k);
        parallel_for(
            k,
            [&](Index c) {
                const std::vector<Index>& own = members[static_cast<std::size_t>(c)];
                Vector mean = Vector::Zero(x_.rows());
                for (const Index i : own) mean += x_.col(i);
                mean /= static_cast<double>(own.size());
                drift_(c) = std::sqrt(squared(mean, result_.centers.col(c)));
                result_.centers.col(c) = mean;
            },
            work());
        result_.distances += k;
        group_drift_ = Vector::Zero(lower_.rows());
        for (Index c = 0; c < k; ++c) group_drift_(group(c)) = std::max(group_drift_(group(c)), drift_(c));
    }

    /// Every sample to its nearest center: its own where that is among the nearest, else the first of them.
    /// Returns how many changed.
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
        lower_.col(i) -= group_drift_;
        const Index k = result_.centers.cols();
        for (Index g = 0; g * group_size_ < k; ++g) {
            if (upper_(i) + slack_ <= lower_(g, i)) continue;
            tighten(i, distances);
            if (upper_(i) + slack_ <= lower_(g, i)) continue;
            double least = infinity;  // of the others in this group
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

    /// Puts each center without samples on the sample farthest from its own, the first of those, that is not
    /// the last its center has. There is one: seeds are distinct, so there are as many samples as centers.
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
            lower_.row(group(c)).array() -= jump;
            lower_to(center_of(farthest), farthest, upper_(farthest));
            --sizes[static_cast<std::size_t>(center_of(farthest))];
            ++sizes[static_cast<std::size_t>(c)];
            result_.centers.col(c) = x_.col(farthest);
            center_of(farthest) = c;
            nearest_(farthest) = upper_(farthest) = 0.0;
        }
        return filled;
    }

    static constexpr std::uint64_t random_stream = 0x6b6d65616e73;  // apart from the streams of a fit

    const ConstMatrixRef& x_;
    KMeansOptions options_;
    Index group_size_;
    Matrix lower_;            // groups x n: on the distance to the group's centers, the sample's own left out
    Vector nearest_, upper_;  // squared distance to the own center where tight; a bound on the distance
    std::vector<char> tight_;  // whether nearest_ is that of now
    Vector drift_, group_drift_;
    double slack_ = 0.0;
    KMeans result_{};
};

}  // namespace detail

/// `count` centers such that Σ ‖x_i − nearest center‖² is small: k-means++ seeds, then Lloyd's iteration with
/// pruning by bounds. x is d x n, one sample a column. The candidates for CandidateCenters where samples are
/// too many. Where x has fewer distinct samples than `count`, all of them are returned and no more. A center
/// left without samples goes to the sample farthest from its own. Memory n · min(count, max_bounds/n), time n
/// · count · d at first and a small part of that an iteration.
inline KMeans k_means(const ConstMatrixRef& x, Index count, const KMeansOptions& options = {}) {
    options.validate();
    detail::require(x.rows() > 0 && x.cols() > 0, "x is ", x.rows(), " x ", x.cols(),
                    "; x is d x n, one sample a column, n >= 1");
    detail::require(count >= 1 && count <= x.cols(), "count = ", count, " must be in [1, ", x.cols(),
                    "], the number of samples");
    detail::require_finite(x, "x");
    constexpr int most_exponent = 300;  // of 2, past which sums of squares overflow or vanish
    int exponent = 0;
    std::frexp(x.cwiseAbs().maxCoeff(), &exponent);
    if (std::abs(exponent) > most_exponent) {
        const auto scaled = [](const Matrix& values, int by) {  // in two steps: 2^-by may not be a double
            return Matrix(values * std::ldexp(1.0, by / 2) * std::ldexp(1.0, by - by / 2));
        };
        const Matrix unit = scaled(x, -exponent);
        KMeans result = detail::BoundedLloyd(unit, count, options).run();
        result.centers = scaled(result.centers, exponent);
        result.inertia = std::ldexp(result.inertia, 2 * exponent);
        return result;
    }
    return detail::BoundedLloyd(x, count, options).run();
}

}  // namespace kernelet
