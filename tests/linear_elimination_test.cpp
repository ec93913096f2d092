#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/search/linear_elimination.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace linear_elimination_test {

using kernelet::Gaussian;
using kernelet::Index;
using kernelet::linear_elimination;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::TiledPoints;

struct Setting {
    Matrix x, nodes, y;
    Vector weights;
    double ridge;
};

Setting setting(Index outputs, double ridge, std::uint64_t seed) {
    Setting s;
    s.x = support::uniforms(1, 75, seed);
    s.nodes = Matrix(2, 9);
    s.nodes.row(0) = support::uniforms(1, 9, seed + 1);
    s.nodes.row(1) = support::uniforms(1, 9, seed + 2, 0.05, 0.2);
    s.y = support::normals(outputs, 75, seed + 3);
    s.weights = support::uniforms(75, 1, seed + 4, 0.2, 3.0);
    s.ridge = ridge;
    return s;
}

/// min Σ w ‖Σ a k − y‖² + ridge Σ w ‖a‖² on some of the kernels.
double least_error(const Setting& s, const std::vector<Index>& kept) {
    const auto k = static_cast<Index>(kept.size());
    const Index n = s.x.cols();
    Matrix design = Matrix::Zero(n + k, k);
    Matrix target = Matrix::Zero(n + k, s.y.rows());
    for (Index i = 0; i < n; ++i) {
        const double root = std::sqrt(s.weights(i));
        for (Index j = 0; j < k; ++j) {
            const Index node = kept[static_cast<std::size_t>(j)];
            design(i, j) =
                root * std::exp(-std::pow((s.x(0, i) - s.nodes(0, node)) / s.nodes(1, node), 2) / 2.0);
        }
        target.row(i) = root * s.y.col(i).transpose();
    }
    design.bottomRows(k).diagonal().setConstant(std::sqrt(s.ridge * s.weights.sum()));
    const Matrix a = design.colPivHouseholderQr().solve(target);
    return (design * a - target).squaredNorm();
}

std::vector<Index> without(std::vector<Index> kept, std::size_t position) {
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(position));
    return kept;
}

std::vector<Index> keep(const Setting& s, Index count) {
    const TiledPoints points(s.x);
    return linear_elimination({Gaussian{}, points, s.y, s.weights, s.ridge}, s.nodes, count);
}

TEST_CASE("each removal is the one of the least squared error by brute force", "[linear_elimination]") {
    for (const Index outputs : {1, 2})
        for (const double ridge : {1e-6, 1e-2})
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                const Setting s = setting(outputs, ridge, 100 * seed);
                std::vector<Index> kept = keep(s, 9);
                REQUIRE(kept.size() == 9);
                for (Index count = 8; count >= 1; --count) {
                    double best = std::numeric_limits<double>::infinity();
                    std::vector<Index> expected;
                    for (std::size_t removed = 0; removed < kept.size(); ++removed) {
                        const double error = least_error(s, without(kept, removed));
                        if (error < best) {
                            best = error;
                            expected = without(kept, removed);
                        }
                    }
                    kept = keep(s, count);
                    INFO("q " << outputs << ", ridge " << ridge << ", seed " << seed << ", count " << count);
                    REQUIRE(static_cast<Index>(kept.size()) == count);
                    CHECK(std::is_sorted(kept.begin(), kept.end()));
                    // By the error, not by the kernels: two removals may cost the same up to rounding.
                    CHECK(least_error(s, kept) <= best * (1.0 + 1e-9));
                    kept = expected;
                }
            }
}

TEST_CASE("no kernel is removed where all may stay", "[linear_elimination]") {
    const Setting s = setting(1, 1e-7, 7);
    for (const Index count : {9, 10, 1000}) {
        const std::vector<Index> kept = keep(s, count);
        REQUIRE(kept.size() == 9);
        for (std::size_t j = 0; j < 9; ++j) CHECK(kept[j] == static_cast<Index>(j));
    }
}

TEST_CASE("kernels that the data do not contain are removed first", "[linear_elimination]") {
    Setting s = setting(1, 1e-9, 8);
    s.nodes.row(0) = Vector::LinSpaced(9, 0.05, 0.95).transpose();
    s.nodes.row(1).setConstant(0.05);
    // y is made of kernels 1, 4 and 7.
    for (Index i = 0; i < s.x.cols(); ++i) {
        s.y(0, i) = 0.0;
        for (const Index j : {1, 4, 7})
            s.y(0, i) += std::exp(-std::pow((s.x(0, i) - s.nodes(0, j)) / 0.05, 2) / 2.0);
    }
    CHECK(keep(s, 3) == std::vector<Index>{1, 4, 7});
}

TEST_CASE("duplicates are removed first, and the Gram matrix stays invertible", "[linear_elimination]") {
    Setting s = setting(1, 0.0, 9);
    s.nodes.col(8) = s.nodes.col(0);
    const std::vector<Index> all = keep(s, 9);
    const double before = least_error(s, without(all, 8));
    const std::vector<Index> kept = keep(s, 8);
    const auto has = [&](Index j) { return std::count(kept.begin(), kept.end(), j); };
    CHECK(has(0) + has(8) == 1);
    CHECK(least_error(s, kept) <= before * (1.0 + 1e-6));
}

}  // namespace linear_elimination_test
