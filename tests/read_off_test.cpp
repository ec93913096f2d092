#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/domains/read_off.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace read_off_test {

using kernelet::Box;
using kernelet::box_from_samples;
using kernelet::Index;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::widths_from_samples;
using kernelet::detail::median_neighbour_distance;

/// The middle of the distances of all samples to the nearest at another place.
double brute_force(const Matrix& x) {
    std::vector<double> nearest;
    for (Index i = 0; i < x.cols(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < x.cols(); ++j) {
            const double distance = (x.col(i) - x.col(j)).norm();
            if (distance > 0.0) least = std::min(least, distance);
        }
        nearest.push_back(least);
    }
    std::sort(nearest.begin(), nearest.end());
    return nearest[nearest.size() / 2];
}

TEST_CASE("the median distance to the nearest neighbour is what brute force finds", "[read_off]") {
    for (const Index d : {1, 2, 3, 6})
        for (const Index n : {2, 3, 50, 199}) {
            const Matrix x = support::uniforms(d, n, static_cast<std::uint64_t>(n + d));
            INFO("d " << d << ", n " << n);
            CHECK(median_neighbour_distance(x) == Approx(brute_force(x)).epsilon(1e-13));
            CHECK(median_neighbour_distance(x.rowwise().reverse()) ==
                  Approx(median_neighbour_distance(x)).epsilon(1e-13));
        }
    // Above its number of probes it is an estimate.
    const Matrix many = support::uniforms(2, 1500, 8);
    CHECK(median_neighbour_distance(many) == Approx(brute_force(many)).epsilon(0.15));
}

TEST_CASE("repeated samples do not make the distance zero", "[read_off]") {
    for (const Index d : {1, 2}) {
        Matrix x = support::uniforms(d, 100, 3);
        x.rightCols(80) = x.leftCols(20).replicate(1, 4);
        CHECK(median_neighbour_distance(x) == Approx(brute_force(x.leftCols(20))).epsilon(1e-13));
        CHECK(median_neighbour_distance(Matrix::Ones(d, 5)) == 0.0);
        CHECK(median_neighbour_distance(Matrix::Ones(d, 1)) == 0.0);
    }
}

TEST_CASE("the box is the samples' and a tenth more on each side", "[read_off]") {
    Matrix x = support::uniforms(2, 60, 4, -3.0, 9.0);
    const Box box = box_from_samples(x);
    for (Index c = 0; c < 2; ++c) {
        const double lo = x.row(c).minCoeff(), hi = x.row(c).maxCoeff();
        CHECK(box.lo()(c) == Approx(lo - 0.1 * (hi - lo)));
        CHECK(box.hi()(c) == Approx(hi + 0.1 * (hi - lo)));
    }
    CHECK(box.widths().lo == Approx(brute_force(x)));
    CHECK(box.widths().hi == Approx(0.5 * (box.hi() - box.lo()).norm()));
}

TEST_CASE("widths of equispaced samples run from half their spacing to half the box", "[read_off]") {
    const Matrix x = Vector::LinSpaced(201, -5.0, 5.0).transpose();
    const Interval widths = widths_from_samples(x);
    CHECK(widths.lo == Approx(0.025));
    CHECK(widths.hi == Approx(6.0));
}

TEST_CASE("one place, two places: a domain all the same", "[read_off]") {
    for (const Index d : {1, 3}) {
        for (const Index n : {1, 7}) {
            const Interval widths = widths_from_samples(Matrix::Constant(d, n, 0.3));
            CHECK(widths.lo == 1.0);
            CHECK(widths.hi == 1.0);
            CHECK(box_from_samples(Matrix::Constant(d, n, 0.3)).dimension() == d);
        }
        Matrix two = Matrix::Zero(d, 2);
        two(0, 1) = 1.0;  // the neighbour is farther than half of the box: the interval is not reversed
        const Interval widths = widths_from_samples(two);
        CHECK(widths.lo <= widths.hi);
        CHECK(widths.hi == Approx(0.6));
    }
}

TEST_CASE("the domain scales with the samples exactly", "[read_off]") {
    for (const Index d : {1, 2}) {
        const Matrix x = support::uniforms(d, 80, 5);
        const Box box = box_from_samples(x);
        for (const double factor : {0x1.0p-12, 4.0}) {
            const Box scaled = box_from_samples(factor * x);
            CHECK(support::same_bits(scaled.lo(), factor * box.lo()));
            CHECK(support::same_bits(scaled.hi(), factor * box.hi()));
            CHECK(scaled.widths().lo == factor * box.widths().lo);
            CHECK(scaled.widths().hi == factor * box.widths().hi);
        }
    }
}

}  // namespace read_off_test
