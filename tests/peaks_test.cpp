#include "support/catch.hpp"
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/peaks/extract_peaks.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace peaks_test {

using kernelet::ascend;
using kernelet::Box;
using kernelet::CandidateCenters;
using kernelet::choose_seeds;
using kernelet::CoefficientField;
using kernelet::ExtractedPeaks;
using kernelet::FieldJet;
using kernelet::FixedWidth;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::merge_peaks;
using kernelet::Peak;
using kernelet::PeakOptions;
using kernelet::Vector;
using kernelet::detail::TiledPoints;

CoefficientField<Gaussian> field_of(const Matrix& x, const Matrix& lambda, double gamma = 0.0) {
    return {Gaussian{}, x, lambda, gamma, InputScaling::identity(x.rows())};
}

CoefficientField<Gaussian> random_field(Index d, Index outputs, std::uint64_t seed) {
    return field_of(support::uniforms(d, 40, seed), support::normals(outputs, 40, seed + 1));
}

/// The slope of log‖ᾱ‖ along each free coordinate, in widths, save where the domain ends and the slope points
/// out.
template <class Omega>
double slope_left(const CoefficientField<Gaussian>& field, const Omega& domain, const Vector& node) {
    const FieldJet jet = field.jet(node);
    const Index d = domain.dimension();
    Vector gradient = jet.gradient.transpose() * jet.value / jet.value.squaredNorm();
    gradient.head(d) *= node(d);
    double steepest = 0.0;
    for (Index row = 0; row < node.size(); ++row) {
        if (!domain.free(row)) continue;
        Vector beyond = node;
        beyond(row) += std::copysign(1e-6 * node(d), gradient(row));
        domain.project(beyond);
        if (beyond(row) == node(row)) continue;
        steepest = std::max(steepest, std::abs(gradient(row)));
    }
    return steepest;
}

template <class Omega>
void check_ascents(const Omega& domain, std::uint64_t seed) {
    const Index d = domain.dimension();
    for (const Index outputs : {1, 2}) {
        const auto field = random_field(d, outputs, seed);
        for (std::uint64_t start = 1; start <= 15; ++start) {
            Vector node(domain.rows());
            domain.place(support::uniforms(domain.uniforms(), 1, seed + 10 * start), node);
            const double before = field.raw_at(node).norm();
            const Peak peak = ascend(field, domain, node, 1000);
            INFO("d " << d << ", q " << outputs << ", start " << start);
            CHECK(peak.height >= before);
            CHECK(peak.height == Approx(field.raw_at(peak.node).norm()));
            CHECK((peak.value - field.raw_at(peak.node)).isZero(1e-12));
            Vector inside = peak.node;
            domain.project(inside);
            CHECK(support::same_bits(inside, peak.node));
            for (Index row = 0; row < domain.rows(); ++row)
                if (!domain.free(row)) CHECK(peak.node(row) == node(row));
            CHECK(slope_left(field, domain, peak.node) <= 1e-5);
        }
    }
}

TEST_CASE("an ascent ends at a stationary point of its domain, never lower", "[peaks]") {
    const Interval widths{0.05, 0.8};
    check_ascents(Box(0.0, 1.0, widths), 100);
    check_ascents(Box(Vector::Zero(2), Vector::Ones(2), widths), 200);
    check_ascents(FixedWidth(0.0, 1.0, 0.1), 300);
    check_ascents(FixedWidth(Vector::Zero(3), Vector::Ones(3), 0.3), 400);
    const Matrix z = support::uniforms(2, 30, 500);
    check_ascents(CandidateCenters(z, widths), 500);
    check_ascents(CandidateCenters(z, widths).released(), 600);
}

TEST_CASE("an ascent finds planted maxima off the grid and on the boundary", "[peaks]") {
    const Matrix x = Vector::LinSpaced(2, -2.0, 2.0).transpose();
    Matrix lambda(1, 2);
    lambda << 1.0, -1.5;
    const auto field = field_of(x, lambda);
    const FixedWidth inside(-5.0, 5.0, 0.3);
    Vector start(2);
    start << -1.8, 0.3;
    const Peak peak = ascend(field, inside, start, 60);
    CHECK(peak.node(0) == Approx(-2.0).margin(1e-8));
    CHECK(peak.node(1) == 0.3);
    CHECK(peak.value(0) == Approx(1.0));
    start(0) = 2.3;
    CHECK(ascend(field, inside, start, 60).value(0) == Approx(-1.5));  // |ᾱ| is what is climbed

    const FixedWidth cut(-1.8, 1.9, 0.3);  // both maxima lie outside
    start(0) = -1.5;
    CHECK(ascend(field, cut, start, 60).node(0) == Approx(-1.8).margin(1e-9));
    start(0) = 1.5;
    CHECK(ascend(field, cut, start, 60).node(0) == Approx(1.9).margin(1e-9));

    // A field that grows with the width ends at the widest.
    const auto broad = field_of(support::uniforms(1, 20, 5), Matrix::Ones(1, 20));
    start << 0.3, 0.1;
    CHECK(ascend(broad, Box(0.0, 1.0, Interval{0.05, 3.0}), start, 200).node(1) == 3.0);
}

TEST_CASE("where the field vanishes an ascent stays", "[peaks]") {
    const auto nothing = field_of(Matrix::Zero(1, 1), Matrix::Ones(1, 1));
    Vector start(2);
    start << 900.0, 0.1;  // out of reach: exactly zero
    const Peak peak = ascend(nothing, Box(0.0, 1000.0, Interval{0.1, 0.2}), start, 60);
    CHECK(support::same_bits(peak.node, start));
    CHECK(peak.height == 0.0);
}

TEST_CASE("seeds cover every node above the threshold, and no more than needed", "[peaks]") {
    const auto field = random_field(1, 1, 700);
    const Box box(0.0, 1.0, Interval{0.05, 0.8});
    const Matrix nodes = box.rule(4000)->nodes;
    const Matrix values = field.raw_at(nodes);
    const TiledPoints points(support::uniforms(1, 40, 700));
    const double threshold = 0.3 * values.cwiseAbs().maxCoeff();
    const PeakOptions options;
    const Gaussian kernel{};
    const auto seeds = choose_seeds(kernel, nodes, values, threshold, {points, options});
    REQUIRE(seeds.size() > 1);
    const auto covers = [&](Index s, Index j) {
        return values(0, s) * values(0, j) > 0.0 &&
               kernel.coherence(nodes.col(s), nodes.col(j)) > options.seed_coherence;
    };
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        CHECK(std::abs(values(0, seeds[i])) > threshold);
        if (i > 0) CHECK(std::abs(values(0, seeds[i])) <= std::abs(values(0, seeds[i - 1])));
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(covers(seeds[j], seeds[i]));
    }
    for (Index j = 0; j < nodes.cols(); ++j) {
        const bool covered = std::any_of(seeds.begin(), seeds.end(), [&](Index s) {
            return s == j || (covers(s, j) && std::abs(values(0, s)) >= std::abs(values(0, j)));
        });
        if (std::abs(values(0, j)) > threshold) CHECK(covered);
    }
    PeakOptions few;
    few.max_seeds = 3;
    const auto highest = choose_seeds(kernel, nodes, values, threshold, {points, few});
    REQUIRE(highest.size() == 3);
    CHECK(std::equal(highest.begin(), highest.end(), seeds.begin()));
    CHECK(choose_seeds(kernel, nodes, values, 2.0 * values.cwiseAbs().maxCoeff(), {points}).empty());
}

Peak peak_at(double z, double w, double value) {
    Vector node(2);
    node << z, w;
    return {node, Vector::Constant(1, value), std::abs(value)};
}

TEST_CASE("merging keeps the highest of what is alike, and only of one sign", "[peaks]") {
    const Matrix origin = Matrix::Zero(1, 1);
    const TiledPoints points(origin);
    const std::vector<Peak> found{peak_at(0.0, 1.0, 2.0),      peak_at(0.01, 1.0, 3.0),
                                  peak_at(0.0, 1.01, -1.0),    peak_at(5.0, 1.0, 2.5),
                                  peak_at(5.001, 1.0, 2.4999), peak_at(5.0, 3.0, 0.5)};
    const auto kept = merge_peaks(Gaussian{}, points, found, 0.95);
    REQUIRE(kept.size() == 4);
    CHECK(kept[0].value(0) == 3.0);
    CHECK(kept[1].value(0) == 2.5);
    CHECK(kept[2].value(0) == -1.0);  // the other sign is another peak
    CHECK(kept[3].value(0) == 0.5);   // the same place at another width too
    CHECK(merge_peaks(Gaussian{}, points, found, 0.1).size() == 3);
    CHECK(merge_peaks(Gaussian{}, points, {}, 0.95).empty());
}

TEST_CASE("peaks that were planted are extracted, each once", "[peaks]") {
    // At one width, well apart, the peaks of |ᾱ| are the samples themselves.
    Matrix x(1, 4);
    x << -6.137, -2.0, 1.777, 5.5;
    Matrix lambda(1, 4);
    lambda << 1.0, -3.0, 2.0, 0.4;
    const FixedWidth domain(-8.0, 8.0, 0.4);
    const TiledPoints points(x);
    const auto rule = domain.rule(4096);
    REQUIRE(rule.has_value());
    const auto field = field_of(x, lambda, 0.125);  // threshold 0.5: the last is no peak
    const ExtractedPeaks extracted = extract_peaks(field, domain, points, rule->nodes);
    REQUIRE(extracted.peaks.size() == 3);
    const std::vector<Index> highest_first{1, 2, 0};
    for (std::size_t k = 0; k < 3; ++k) {
        const Index i = highest_first[k];
        CHECK(extracted.peaks[k].node(0) == Approx(x(0, i)).margin(1e-7));
        CHECK(extracted.peaks[k].value(0) == Approx(lambda(0, i)));
        CHECK(extracted.peaks[k].height == Approx(std::abs(lambda(0, i))));
    }
    const auto seeds = choose_seeds(Gaussian{}, rule->nodes, field.raw_at(rule->nodes),
                                    PeakOptions{}.seed_level * 0.5, {points});
    CHECK(extracted.merged == static_cast<Index>(seeds.size()) - 3);

    const auto silent = field_of(x, lambda, 50.0);
    CHECK(extract_peaks(silent, domain, points, rule->nodes).peaks.empty());
    CHECK(extract_peaks(field_of(x, Matrix::Zero(1, 4)), domain, points, rule->nodes).peaks.empty());
}

TEST_CASE("peaks have the same bits for any number of threads", "[peaks]") {
    const auto field = random_field(2, 1, 800);
    const Box box(Vector::Zero(2), Vector::Ones(2), Interval{0.1, 0.8});
    const TiledPoints points(support::uniforms(2, 40, 800));
    const Matrix nodes = box.rule(2000)->nodes;
    const auto once = [&](int count) {
        const support::Threads threads(count);
        return extract_peaks(field, box, points, nodes);
    };
    const ExtractedPeaks one = once(1);
    REQUIRE(one.peaks.size() > 2);
    for (const int count : {2, 4}) {
        const ExtractedPeaks other = once(count);
        REQUIRE(other.peaks.size() == one.peaks.size());
        for (std::size_t k = 0; k < one.peaks.size(); ++k)
            CHECK(support::same_bits(one.peaks[k].node, other.peaks[k].node));
    }
}

}  // namespace peaks_test

namespace peaks_test {

/// Every node of a grid, centers x log widths, that is no lower than its neighbours, and above a level.
struct GridMaxima {
    Matrix nodes{};
    Vector values{};

    GridMaxima(const CoefficientField<Gaussian>& field, const Box& box, Index across, Index up,
               double level) {
        const Index d = box.dimension();
        Vector sizes = Vector::Constant(d + 1, static_cast<double>(across));
        sizes(d) = static_cast<double>(up);
        const auto total = static_cast<Index>(sizes.prod());
        Matrix grid(d + 1, total);
        const Interval widths = box.widths();
        const auto place = [&](Index j, Index row) {
            Index rest = j;
            for (Index r = 0; r < row; ++r) rest /= static_cast<Index>(sizes(r));
            return rest % static_cast<Index>(sizes(row));
        };
        for (Index j = 0; j < total; ++j)
            for (Index row = 0; row <= d; ++row) {
                const double share = static_cast<double>(place(j, row)) / (sizes(row) - 1.0);
                grid(row, j) = row < d ? box.lo()(row) + share * (box.hi()(row) - box.lo()(row))
                                       : widths.lo * std::pow(widths.hi / widths.lo, share);
            }
        const Vector all = field.raw_at(grid).transpose();
        std::vector<Index> found;
        for (Index j = 0; j < total; ++j) {
            bool highest = std::abs(all(j)) > level;
            // all 3^(d + 1) neighbours
            for (Index step = 0; step < static_cast<Index>(std::pow(3, d + 1)) && highest; ++step) {
                Index neighbour = j, stride = 1, code = step;
                bool inside = true;
                for (Index row = 0; row <= d; ++row) {
                    const Index move = code % 3 - 1, at = place(j, row) + move;
                    inside = inside && at >= 0 && at < static_cast<Index>(sizes(row));
                    neighbour += move * stride;
                    stride *= static_cast<Index>(sizes(row));
                    code /= 3;
                }
                if (inside && all(neighbour) * all(j) > all(j) * all(j)) highest = false;
            }
            if (highest) found.push_back(j);
        }
        nodes = grid(Eigen::all, found);
        values = all(found);
    }
};

}  // namespace peaks_test

TEST_CASE("no mode above the threshold is missed: a fine grid knows of none that the peaks do not",
          "[peaks]") {
    using namespace peaks_test;
    for (const Index d : {1, 2})
        for (std::uint64_t seed = 1; seed <= (d == 1 ? 20U : 2U); ++seed) {
            const CoefficientField<Gaussian> loose = random_field(d, 1, 50 * seed);
            const Box box(Vector::Constant(d, -0.1), Vector::Constant(d, 1.1), Interval{0.03, 0.7});
            const Matrix nodes = box.rule(8192)->nodes;
            const double threshold = 0.4 * loose.raw_at(nodes).cwiseAbs().maxCoeff();
            const Matrix x = support::uniforms(d, 40, 50 * seed);
            const CoefficientField<Gaussian> field =
                field_of(x, support::normals(1, 40, 50 * seed + 1), 0.5 * threshold * threshold);
            const TiledPoints points(x);
            const PeakOptions options;
            const ExtractedPeaks found = extract_peaks(field, box, points, nodes, options);
            // a hair above the threshold, where grid and ascent could disagree by rounding
            const GridMaxima grid(field, box, d == 1 ? 801 : 81, d == 1 ? 201 : 41, 1.001 * threshold);
            REQUIRE(grid.nodes.cols() > 0);
            INFO("d " << d << ", seed " << seed << ", " << found.peaks.size() << " peaks, "
                      << grid.nodes.cols() << " grid maxima");
            for (Index j = 0; j < grid.nodes.cols(); ++j) {
                double closest = 0.0;
                for (const Peak& peak : found.peaks)
                    if (peak.value(0) * grid.values(j) > 0.0)
                        closest = std::max(
                            closest, kernelet::coherence(Gaussian{}, points, peak.node, grid.nodes.col(j)));
                CHECK(closest > options.merge_coherence);
            }
        }
}

TEST_CASE("the highest peak is found in many dimensions", "[peaks]") {
    using namespace peaks_test;
    for (const Index d : {5, 10, 20}) {
        const Index n = 60;
        const Matrix x = support::normals(d, n, 70);
        const kernelet::AroundSamples around(x, Interval{0.5, 2.0 * std::sqrt(static_cast<double>(d))});
        const CoefficientField<Gaussian> field = field_of(x, support::normals(1, n, 71));
        const auto drawn = [&](Index count, std::uint64_t seed) {
            const Matrix u = support::uniforms(around.uniforms(), count, seed);
            Matrix nodes(around.rows(), count);
            for (Index j = 0; j < count; ++j) around.place(u.col(j), nodes.col(j));
            return nodes;
        };
        const Matrix nodes = drawn(1024, 72);
        const ExtractedPeaks found = extract_peaks(field, around, TiledPoints(x), nodes);
        REQUIRE_FALSE(found.peaks.empty());
        // Ascents from eight times as many other places get no higher.
        const Matrix others = drawn(8192, 73);
        const Vector heights = field.raw_at(others).cwiseAbs().transpose();
        double highest = 0.0;
        for (int k = 0; k < 40; ++k) {
            Index at = 0;
            Vector masked = heights;
            for (int skip = 0; skip < k; ++skip) {
                masked.maxCoeff(&at);
                masked(at) = 0.0;
            }
            masked.maxCoeff(&at);
            highest = std::max(highest, ascend(field, around, others.col(at), 200).height);
        }
        INFO("d " << d);
        CHECK(found.peaks.front().height >= (1.0 - 1e-6) * highest);
    }
}
