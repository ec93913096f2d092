#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/detail/spatial_order.hpp>

#include <algorithm>
#include <vector>

namespace spatial_order_test {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::spatial_order;

bool is_permutation(std::vector<Index> order, Index n) {
    std::sort(order.begin(), order.end());
    for (Index i = 0; i < n; ++i)
        if (order[static_cast<std::size_t>(i)] != i) return false;
    return static_cast<Index>(order.size()) == n;
}

double path_length(const Matrix& x, const std::vector<Index>& order) {
    double length = 0.0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
        length += (x.col(order[i + 1]) - x.col(order[i])).norm();
    return length;
}

TEST_CASE("in one dimension the order is ascending, and stable", "[spatial_order]") {
    Matrix x = support::uniforms(1, 300, 1);
    x = (10.0 * x).array().floor().matrix();  // many ties
    const std::vector<Index> order = spatial_order(x);
    REQUIRE(is_permutation(order, 300));
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const double here = x(0, order[i]), next = x(0, order[i + 1]);
        CHECK((here < next || (here == next && order[i] < order[i + 1])));
    }
}

TEST_CASE("in two and three dimensions tiles have small boxes", "[spatial_order]") {
    for (const Index d : {2, 3}) {
        constexpr Index n = 2048, tile = 32;
        Matrix x = support::uniforms(d, n, 2);
        x.row(1) = 1e4 * x.row(1).array() - 7.0;  // the unit of a coordinate does not matter
        const std::vector<Index> order = spatial_order(x);
        REQUIRE(is_permutation(order, n));
        Matrix unit = x;
        unit.row(1) = (x.row(1).array() + 7.0) / 1e4;
        const Matrix sorted = unit(Eigen::all, order);
        double volume = 0.0;
        for (Index t = 0; t < n; t += tile) {
            const Vector lo = sorted.middleCols(t, tile).rowwise().minCoeff();
            const Vector hi = sorted.middleCols(t, tile).rowwise().maxCoeff();
            volume += (hi - lo).prod();
        }
        INFO("d " << d);
        CHECK(volume / (n / tile) < 0.1);  // a random tile covers nearly all of the cube
        std::vector<Index> given(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) given[static_cast<std::size_t>(i)] = i;
        CHECK(path_length(unit, order) < 0.3 * path_length(unit, given));
    }
}

TEST_CASE("beyond three dimensions the order is as given", "[spatial_order]") {
    const std::vector<Index> order = spatial_order(support::uniforms(4, 50, 3));
    CHECK(is_permutation(order, 50));
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("samples all at one place, and few of them", "[spatial_order]") {
    for (const Index d : {1, 2, 3}) {
        for (const Index n : {1, 2, 40}) {
            const std::vector<Index> order = spatial_order(Matrix::Constant(d, n, 3.3));
            CHECK(is_permutation(order, n));
            CHECK(std::is_sorted(order.begin(), order.end()));
        }
        Matrix line = Matrix::Constant(d, 30, 1.0);  // one coordinate changes
        line.row(d - 1) = Vector::LinSpaced(30, 1.0, -1.0).transpose();
        const std::vector<Index> order = spatial_order(line);
        CHECK(std::is_sorted(order.rbegin(), order.rend()));
    }
}

TEST_CASE("the order does not depend on the order of the samples", "[spatial_order]") {
    for (const Index d : {1, 2, 3}) {
        const Matrix x = support::uniforms(d, 100, 4);
        const Matrix reversed = x.rowwise().reverse();
        CHECK(support::same_bits(x(Eigen::all, spatial_order(x)),
                                 reversed(Eigen::all, spatial_order(reversed))));
    }
}

}  // namespace spatial_order_test
