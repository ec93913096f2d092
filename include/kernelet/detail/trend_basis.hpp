#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet::detail {

/// The functions of a trend at samples: 1, and for a linear one (x_c − m_c)/s_c with the mean m and the deviation s of
/// the samples, so that they are nearly orthogonal wherever x is. A coordinate that does not vary has a function of 0.
class TrendBasis {
public:
    TrendBasis(Trend trend, const TiledPoints& points) : size_(trend == Trend::constant ? 1 : 0) {
        if (trend != Trend::linear) return;
        const Matrix& xt = points.transposed();
        const auto n = static_cast<double>(xt.rows());
        size_ = 1 + xt.cols();
        mean_ = Vector::Zero(xt.cols());
        inverse_ = Vector::Zero(xt.cols());
        for (Index c = 0; c < xt.cols(); ++c) {
            mean_(c) = sum(ConstBlock(xt).columns(c, 1)) / n;
            double squares = 0.0, largest = 0.0;
            for (Index i = 0; i < xt.rows(); ++i) {
                squares += (xt(i, c) - mean_(c)) * (xt(i, c) - mean_(c));
                largest = std::max(largest, std::abs(xt(i, c)));
            }
            constexpr double rounding = 1e-13;  // the mean of equal numbers may differ from them
            if (std::sqrt(squares / n) > rounding * largest) inverse_(c) = std::sqrt(n / squares);
        }
    }

    /// The functions with the mean and the inverse deviation of samples that are not at hand.
    TrendBasis(Index size, Vector mean, Vector inverse_deviation)
        : size_(size), mean_(std::move(mean)), inverse_(std::move(inverse_deviation)) {}

    /// t: 0, 1 or 1 + d.
    Index size() const { return size_; }
    /// m and 1/s, d; empty where the trend is not linear.
    const Vector& mean() const { return mean_; }
    const Vector& inverse_deviation() const { return inverse_; }

    /// The functions at samples first ..., each sample times its entry of `root`, counted from `first`: m x t.
    void fill(const TiledPoints& points, Index first, const double* root, const Block& to) const {
        if (size_ == 0) return;
        const Matrix& xt = points.transposed();
        for (Index i = 0; i < to.rows; ++i) to(i, 0) = root[i];
        for (Index c = 1; c < size_; ++c)
            for (Index i = 0; i < to.rows; ++i)
                to(i, c) = root[i] * (xt(first + i, c - 1) - mean_(c - 1)) * inverse_(c - 1);
    }

    /// All of them at all samples, t x n.
    Matrix values(const TiledPoints& points) const {
        const Vector ones = Vector::Ones(points.size());
        Matrix out(points.size(), size_);
        fill(points, 0, ones.data(), out);
        return transposed(out);
    }

    /// The offset and the slopes in x, d x q, of coefficients b, t x q.
    Vector offset(const Matrix& b) const {
        Vector out = Vector::Zero(b.cols());
        for (Index o = 0; size_ > 0 && o < b.cols(); ++o) {
            out(o) = b(0, o);
            for (Index c = 1; c < size_; ++c) out(o) -= b(c, o) * inverse_(c - 1) * mean_(c - 1);
        }
        return out;
    }
    Matrix slopes(const Matrix& b) const {
        if (size_ < 2) return {};
        Matrix out(size_ - 1, b.cols());
        for (Index o = 0; o < b.cols(); ++o)
            for (Index c = 1; c < size_; ++c) out(c - 1, o) = b(c, o) * inverse_(c - 1);
        return out;
    }

private:
    Index size_;
    Vector mean_{}, inverse_{};
};

/// Adds slopes'x, of d x q slopes or none, to values, q x n.
inline void add_slopes(Matrix& values, const TiledPoints& points, const Matrix& slopes) {
    if (slopes.size() > 0) add_scaled(values, 1.0, transposed(product(points.transposed(), slopes)));
}

}  // namespace kernelet::detail
