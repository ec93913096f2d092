#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

namespace kernelet {

/// Samples in memory: x is d x n, one sample per column; y a column of n targets, or q x n; weights n or none. Float or
/// double. Refers to matrices and maps and copies nothing of them; expressions are evaluated once.
template <class XScalar, class YScalar = XScalar>
class MatrixSource {
public:
    template <class S>
    using View = Eigen::Ref<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;

    template <class X, class Y>
    MatrixSource(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y,
                 const Vector* weights = nullptr)
        : x_(x.derived()), y_(y.derived()), weights_(weights) {
        const Index n = x_.cols();
        column_ = y_.cols() == 1 && y_.rows() == n;
        detail::require(x_.rows() > 0, "x has no rows; x is d x n, one sample per column, d >= 1");
        detail::require_targets(y_.rows(), y_.cols(), x_.rows(), n);
        detail::require(weights == nullptr || weights->size() == n, "weights has ",
                        weights != nullptr ? weights->size() : 0, " entries for ", n, " samples");
    }

    Index size() const { return x_.cols(); }
    Index dimension() const { return x_.rows(); }
    Index outputs() const { return column_ ? 1 : y_.rows(); }

    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        for (Index i = 0; i < count; ++i) {
            for (Index c = 0; c < x.rows(); ++c) x(c, i) = static_cast<double>(x_(c, first + i));
            for (Index o = 0; o < y.rows(); ++o)
                y(o, i) = static_cast<double>(column_ ? y_(first + i, 0) : y_(o, first + i));
            if (weights_ != nullptr) weights(i) = (*weights_)(first + i);
        }
    }

private:
    View<XScalar> x_;
    View<YScalar> y_;
    const Vector* weights_;
    bool column_ = false;
};

template <class X, class Y>
MatrixSource(const Eigen::MatrixBase<X>&, const Eigen::MatrixBase<Y>&)
    -> MatrixSource<typename X::Scalar, typename Y::Scalar>;
template <class X, class Y>
MatrixSource(const Eigen::MatrixBase<X>&, const Eigen::MatrixBase<Y>&, const Vector*)
    -> MatrixSource<typename X::Scalar, typename Y::Scalar>;

}  // namespace kernelet
