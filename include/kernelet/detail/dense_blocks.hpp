#pragma once

#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <vector>

/// Views of blocks of numbers, and what is done with them entry by entry: sums, scalings, parts. Each function is
/// compiled for one type of argument and, where it holds an Eigen expression, is a template without a purpose of its
/// own (`class Scalar = double`): a file that includes this header and calls nothing pays nothing.
namespace kernelet::detail {

/// An Eigen object stored by columns whose columns are contiguous: a matrix, a vector, or a block of one.
template <class Derived>
concept ColumnStorage = requires(const Derived& values) {
    { values.data() } -> std::convertible_to<const double*>;
    values.outerStride();
    requires !Derived::IsRowMajor && Derived::InnerStrideAtCompileTime == 1;
};

/// A view of a rows x cols block of doubles, column-major. Eigen::Ref<const Matrix> would serve as well, but
/// its constructor instantiates a copying loop for every type of expression it is made from.
struct ConstBlock {
    const double* data{};
    Index rows{};
    Index cols{};
    Index stride{};  ///< from one column to the next

    ConstBlock(const double* data_, Index rows_, Index cols_, Index stride_)
        : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
    template <ColumnStorage Derived>
    ConstBlock(const Derived& values)
        : ConstBlock(values.data(), values.rows(), values.cols(), values.outerStride()) {}

    /// The first entry of column j; null for an empty matrix.
    const double* column(Index j) const { return data == nullptr ? nullptr : data + j * stride; }
    double operator()(Index i, Index j) const { return data[i + j * stride]; }
    Index size() const { return rows * cols; }
    /// Rows `first` ... of columns `left` ...
    ConstBlock part(Index first, Index left, Index count, Index width) const {
        return {data == nullptr ? nullptr : column(left) + first, count, width, stride};
    }
    ConstBlock columns(Index left, Index width) const { return part(0, left, rows, width); }
    /// A copy as a matrix.
    Eigen::MatrixXd copied() const {
        Eigen::MatrixXd out(rows, cols);
        for (Index j = 0; j < cols; ++j) std::copy_n(column(j), rows, out.data() + j * rows);
        return out;
    }
    /// Whether it is one run of numbers.
    bool contiguous() const { return stride == rows || cols <= 1; }
};

/// The same, to be written to.
struct Block : ConstBlock {
    Block(double* data_, Index rows_, Index cols_, Index stride_)
        : ConstBlock(data_, rows_, cols_, stride_) {}
    template <ColumnStorage Derived>
    Block(Derived& values) : Block(values.data(), values.rows(), values.cols(), values.outerStride()) {}
    template <ColumnStorage Derived>
    Block(Derived&& values) : Block(values.data(), values.rows(), values.cols(), values.outerStride()) {}

    double* column(Index j) const { return const_cast<double*>(ConstBlock::column(j)); }
    double& operator()(Index i, Index j) const { return column(j)[i]; }
    Block part(Index first, Index left, Index count, Index width) const {
        return {data == nullptr ? nullptr : column(left) + first, count, width, stride};
    }
    Block columns(Index left, Index width) const { return part(0, left, rows, width); }
};

template <class Scalar>
using ConstDenseMap =
    Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using DenseMap = Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using ConstRunMap = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <class Scalar>
using RunMap = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

template <class Scalar = double>
ConstDenseMap<Scalar> mapped(const ConstBlock& a) {
    return {a.data, a.rows, a.cols, Eigen::OuterStride<>(a.stride)};
}
template <class Scalar = double>
DenseMap<Scalar> mapped(const Block& a) {
    return {a.column(0), a.rows, a.cols, Eigen::OuterStride<>(a.stride)};
}

// sums

/// Σ_i a_i b_i over two runs of n numbers.
template <class Scalar = double>
[[gnu::noinline]] Scalar dot_run(const Scalar* a, const Scalar* b, Index n) {
    return (ConstRunMap<Scalar>(a, n) * ConstRunMap<Scalar>(b, n)).sum();
}

/// Σ_i w_i a_i² over two runs of n numbers.
template <class Scalar = double>
[[gnu::noinline]] Scalar weighted_squares(const Scalar* a, const Scalar* w, Index n) {
    return (ConstRunMap<Scalar>(a, n).square() * ConstRunMap<Scalar>(w, n)).sum();
}

/// ⟨A, B⟩ = Σ_ij a_ij b_ij.
template <class Scalar = double>
double dot(const ConstBlock& a, const ConstBlock& b) {
    if (a.contiguous() && b.contiguous()) return dot_run<Scalar>(a.data, b.data, a.size());
    double sum = 0.0;
    for (Index j = 0; j < a.cols; ++j) sum += dot_run<Scalar>(a.column(j), b.column(j), a.rows);
    return sum;
}

/// Σ_ij a_ij².
template <class Scalar = double>
double squared_norm(const ConstBlock& a) {
    return dot<Scalar>(a, a);
}

template <class Scalar = double>
double norm(const ConstBlock& a) {
    return std::sqrt(squared_norm<Scalar>(a));
}

template <class Scalar = double>
[[gnu::noinline]] double sum(const ConstBlock& a) {
    double total = 0.0;
    for (Index j = 0; j < a.cols; ++j)
        if (a.rows > 0) total += ConstRunMap<Scalar>(a.column(j), a.rows).sum();
    return total;
}

/// max |a_ij|, 0 of nothing.
inline double max_abs(const ConstBlock& a) {
    double largest = 0.0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) largest = std::max(largest, std::abs(a(i, j)));
    return largest;
}

/// ‖a − b‖² of two runs of n numbers, for small n.
inline double squared_distance(const double* a, const double* b, Index n) {
    double squares = 0.0;
    for (Index c = 0; c < n; ++c) squares += (a[c] - b[c]) * (a[c] - b[c]);
    return squares;
}

/// Whether some entry is not zero (NaN is not).
inline bool any_nonzero(const ConstBlock& a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i)
            if (a(i, j) != 0.0) return true;
    return false;
}

inline bool all_finite(const ConstBlock& a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i)
            if (!std::isfinite(a(i, j))) return false;
    return true;
}

/// √(mean of the squares), 0 of nothing.
template <class Scalar = double>
double root_mean_square(const ConstBlock& a) {
    return norm<Scalar>(a) / std::sqrt(static_cast<double>(std::max<Index>(1, a.size())));
}

/// ‖a_j‖² of one column, for columns of a few entries.
inline double column_squares(const ConstBlock& a, Index j) {
    double squares = 0.0;
    for (Index i = 0; i < a.rows; ++i) squares += a(i, j) * a(i, j);
    return squares;
}
inline double column_norm(const ConstBlock& a, Index j) { return std::sqrt(column_squares(a, j)); }

/// ‖a_j‖ of each column.
template <class Scalar = double>
Vector column_norms(const ConstBlock& a) {
    Vector norms(a.cols);
    for (Index j = 0; j < a.cols; ++j)
        norms(j) = std::sqrt(dot_run<Scalar>(a.column(j), a.column(j), a.rows));
    return norms;
}

/// max_j ‖a_j‖, 0 of nothing.
inline double largest_column_norm(const ConstBlock& a) {
    double largest = 0.0;
    for (Index j = 0; j < a.cols; ++j) largest = std::max(largest, column_norm(a, j));
    return largest;
}

/// ‖a_i‖ of each row.
template <class Scalar = double>
Vector row_norms(const ConstBlock& a) {
    Vector norms = Vector::Zero(a.rows);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) norms(i) += a(i, j) * a(i, j);
    for (Index i = 0; i < a.rows; ++i) norms(i) = std::sqrt(norms(i));
    return norms;
}

/// Σ_j a_ij of each row.
template <class Scalar = double>
Vector row_sums(const ConstBlock& a) {
    Vector sums = Vector::Zero(a.rows);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) sums(i) += a(i, j);
    return sums;
}

// entry by entry

/// B ← B + s A.
template <class Scalar = double>
[[gnu::noinline]] void add_scaled(const Block& b, double s, const ConstBlock& a) {
    for (Index j = 0; j < a.cols; ++j)
        RunMap<Scalar>(b.column(j), a.rows) += s * ConstRunMap<Scalar>(a.column(j), a.rows);
}

/// A ← s A.
template <class Scalar = double>
[[gnu::noinline]] void scale(const Block& a, double s) {
    for (Index j = 0; j < a.cols; ++j) RunMap<Scalar>(a.column(j), a.rows) *= s;
}

/// The least and the largest of a run.
template <class Scalar = double>
[[gnu::noinline]] void range_run(const double* v, Index n, double& least, double& largest) {
    const ConstRunMap<Scalar> values(v, n);
    least = values.minCoeff();
    largest = values.maxCoeff();
}

/// B ← s diag(v) A; B may be A.
template <class Scalar = double>
[[gnu::noinline]] void scale_rows(const Block& b, const double* v, const ConstBlock& a, double s = 1.0) {
    for (Index j = 0; j < a.cols; ++j)
        RunMap<Scalar>(b.column(j), a.rows) =
            s * ConstRunMap<Scalar>(a.column(j), a.rows) * ConstRunMap<Scalar>(v, a.rows);
}

/// A diag(v).
template <class Scalar = double>
Matrix with_scaled_columns(const ConstBlock& a, const double* v) {
    Matrix scaled(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) scaled(i, j) = a(i, j) * v[j];
    return scaled;
}

/// A + v 1ᵀ in place: v_i on row i.
inline void add_to_rows(const Block& a, const ConstBlock& v) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) a(i, j) += v(i, 0);
}

/// A ← A + s I.
inline void add_to_diagonal(const Block& a, double s) {
    for (Index i = 0; i < std::min(a.rows, a.cols); ++i) a(i, i) += s;
}

inline void copy(const ConstBlock& from, const Block& to) {
    for (Index j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
}

inline void fill(const Block& a, double value) {
    for (Index j = 0; j < a.cols; ++j) std::fill_n(a.column(j), a.rows, value);
}

// parts

template <class Scalar = double>
Matrix transposed(const ConstBlock& a) {
    Matrix out(a.cols, a.rows);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
    return out;
}

template <class Scalar = double>
Matrix columns_of(const ConstBlock& a, const std::vector<Index>& which) {
    Matrix out(a.rows, static_cast<Index>(which.size()));
    for (std::size_t j = 0; j < which.size(); ++j)
        std::copy_n(a.column(which[j]), a.rows, out.data() + static_cast<Index>(j) * a.rows);
    return out;
}

template <class Scalar = double>
Matrix entries_of(const ConstBlock& a, const std::vector<Index>& rows, const std::vector<Index>& columns) {
    Matrix out(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
    for (Index j = 0; j < out.cols(); ++j)
        for (Index i = 0; i < out.rows(); ++i)
            out(i, j) = a(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    return out;
}

template <class Scalar = double>
Matrix rows_of(const ConstBlock& a, const std::vector<Index>& which) {
    Matrix out(static_cast<Index>(which.size()), a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < out.rows(); ++i) out(i, j) = a(which[static_cast<std::size_t>(i)], j);
    return out;
}

template <class Scalar = double>
Vector entries_of(const Vector& v, const std::vector<Index>& which) {
    Vector out(static_cast<Index>(which.size()));
    for (Index i = 0; i < out.size(); ++i) out(i) = v(which[static_cast<std::size_t>(i)]);
    return out;
}

/// [A B].
template <class Scalar = double>
Matrix beside(const ConstBlock& a, const ConstBlock& b) {
    Matrix out(a.rows, a.cols + b.cols);
    copy(a, Block(out).columns(0, a.cols));
    copy(b, Block(out).columns(a.cols, b.cols));
    return out;
}

/// The upper triangle of a square matrix from its lower one.
inline void mirror_lower(const Block& a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < j; ++i) a(i, j) = a(j, i);
}

}  // namespace kernelet::detail
