#pragma once

#include <kernelet/search/damped_steps.hpp>
#include <kernelet/search/final_model.hpp>
#include <kernelet/search/pass_request.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

/// Functions of the normal equations of one pass over the samples, without another pass.
namespace kernelet::detail {

/// A model with the sums [Φ t B]'W[Φ t B] over a part of the samples at its nodes.
struct LinearizedModel {
    KernelExpansion fit{};
    double cost{};     ///< Σ w ℓ + ridge ‖a‖² + WidthPrior
    double samples{};  ///< in the part
    double weight{};   ///< Σ w
    /// The minimum over (a, b) of the quadratic model; for the squared loss the coefficients of `fit`.
    EliminatedCoefficients newton{};
    double coefficient_gain{};   ///< what it lowers the cost by; 0 for the squared loss
    QuadraticModel quadratic{};  ///< all kernels move
    Vector pull{};               ///< −½ ∂cost/∂(z/w, log θ) at `newton`, Kf

    Index size() const { return fit.size(); }
};

/// The columns [Φ t B] of some kernels, `chosen` in any order, of K kernels with q outputs and f free rows.
inline std::vector<Index> columns_of_kernels(const std::vector<Index>& chosen, Index k, Index q, Index f) {
    std::vector<Index> columns = chosen;
    for (Index o = 0; o < q; ++o) columns.push_back(k + o);
    for (const Index j : chosen)
        for (Index c = 0; c < f; ++c) columns.push_back(k + q + j * f + c);
    return columns;
}

/// The sums of some kernels.
template <class Scalar = double>
GramMatrices sums_of_columns(const GramMatrices& sums, const std::vector<Index>& columns) {
    return {entries_of<Scalar>(sums.gram, columns, columns), rows_of<Scalar>(sums.cross, columns),
            sums.trend};
}

/// The coefficients of a trend's functions from offset and slopes, t x q: the inverse of TrendBasis::offset and slopes.
inline Matrix trend_coefficients(const TrendBasis& trend, const KernelExpansion& model) {
    const Index q = model.offset.size();
    Matrix b = Matrix::Zero(trend.size(), q);
    for (Index o = 0; o < q && trend.size() > 0; ++o) {
        b(0, o) = model.offset(o);
        for (Index c = 1; c < trend.size() && model.slopes.size() > 0; ++c) {
            const double inverse = trend.inverse_deviation()(c - 1);
            b(0, o) += model.slopes(c - 1, o) * trend.mean()(c - 1);
            b(c, o) = inverse > 0.0 ? model.slopes(c - 1, o) / inverse : 0.0;
        }
    }
    return b;
}

/// Without a trend the offset is left as it is.
inline void set_trend(KernelExpansion& model, const TrendBasis& trend, const Matrix& b) {
    if (trend.size() > 0) model.offset = trend.offset(b);
    model.slopes = trend.slopes(b);
}

/// Σ h ‖Φa + Tb − t‖² + ridge ‖a‖² at any (a, b). O((K + t)² q).
template <class Scalar = double>
double quadratic_cost(const GramMatrices& sums, const Matrix& a, const Matrix& b, double ridge) {
    const Index k = a.rows(), q = a.cols();
    const ConstBlock gram(sums.gram), cross(sums.cross);
    double cost = ridge * squared_norm<Scalar>(a);
    const Matrix ga = product<Scalar>(gram.part(0, 0, k, k), a);
    const Matrix cb = product<Scalar>(cross.part(0, 0, k, cross.cols), b);
    const Matrix tb = product<Scalar>(sums.trend, b);
    for (Index o = 0; o < q; ++o) {
        cost += gram(k + o, k + o);
        for (Index j = 0; j < k; ++j) cost += a(j, o) * (ga(j, o) - 2.0 * gram(j, k + o) + 2.0 * cb(j, o));
        for (Index c = 0; c < b.rows(); ++c) cost += b(c, o) * (tb(c, o) - 2.0 * cross(k + o, c));
    }
    return cost;
}

/// Σ h ‖Φδ + Tε‖² of a change of coefficients.
template <class Scalar = double>
double quadratic_change(const GramMatrices& sums, const EliminatedCoefficients& change) {
    const Matrix &a = change.coefficients, &b = change.trend;
    const ConstBlock gram(sums.gram), cross(sums.cross);
    double squares = dot<Scalar>(a, product<Scalar>(gram.part(0, 0, a.rows(), a.rows()), a));
    if (b.rows() > 0)
        squares += dot<Scalar>(b, product<Scalar>(sums.trend, b)) +
                   2.0 * dot<Scalar>(a, product<Scalar>(cross.part(0, 0, a.rows(), b.rows()), b));
    return squares;
}

/// a_jo (B'W(t − Φa⁺ − Tb⁺))_jc,o summed over the outputs, Kf, a the coefficients at which B was taken.
template <class Scalar = double>
Vector pull_of(const GramMatrices& sums, const Matrix& a, const EliminatedCoefficients& newton) {
    const Index k = a.rows(), q = a.cols(), first = k + q, count = sums.gram.cols() - first;
    const ConstBlock gram(sums.gram);
    Matrix rest = gram.part(first, k, count, q).copied();
    add_product<Scalar>(rest, gram.part(first, 0, count, k), newton.coefficients, -1.0);
    if (newton.trend.rows() > 0)
        add_product<Scalar>(rest, ConstBlock(sums.cross).part(first, 0, count, newton.trend.rows()),
                            newton.trend, -1.0);
    Vector pull = Vector::Zero(count);
    for (Index i = 0; i < count; ++i)
        for (Index o = 0; o < q; ++o) pull(i) += a(i / (count / k), o) * rest(i, o);
    return pull;
}

/// Σ_o J_o'WJ_o/σ_o² from the sums, lower triangle, numbered as in ModelStatistics::covariance: the columns of J are
/// those of [Φ B T] times a coefficient, a unit, or the scale of a trend's function. O(q P²).
template <class Scalar = double>
Matrix information_of(const LinearizedModel& model, const NodeUnits& units, const TrendBasis& trend,
                      const Vector& noise) {
    struct Term {
        Index column;
        double factor;
    };
    const Matrix& a = model.fit.coefficients;
    const Index k = a.rows(), q = a.cols(), f = units.size(), rows = model.fit.nodes.rows(), t = trend.size(),
                kernels = k * (q + rows), columns = k + q + k * f;
    const GramMatrices& sums = model.quadratic.sums;
    const auto entry = [&](Index i, Index j) {
        if (i < j) std::swap(i, j);
        if (i < columns) return sums.gram(i, j);
        return j < columns ? sums.cross(j, i - columns) : sums.trend(i - columns, j - columns);
    };
    const double mean_weight = model.weight / model.samples;
    Matrix information = Matrix::Zero(kernels + q * t, kernels + q * t);
    for (Index o = 0; o < q; ++o) {
        if (!(noise(o) > 0.0)) continue;
        std::vector<std::pair<Index, std::vector<Term>>> parameters;
        for (Index j = 0; j < k; ++j) parameters.push_back({o * k + j, {{j, 1.0}}});
        for (Index j = 0; j < k; ++j)
            for (Index c = 0; c < f; ++c) {
                const Index row = units.rows()[static_cast<std::size_t>(c)];
                const double unit = units.unit(column_ref(model.fit.nodes, j), row);
                parameters.push_back({k * q + j * rows + row, {{k + q + j * f + c, a(j, o) / unit}}});
            }
        for (Index c = 0; c < t; ++c) {
            std::vector<Term> terms{{columns + c, 1.0}};
            const double inverse = c > 0 ? trend.inverse_deviation()(c - 1) : 0.0;
            if (inverse > 0.0) terms = {{columns + c, 1.0 / inverse}, {columns, trend.mean()(c - 1)}};
            parameters.push_back({kernels + o * t + c, std::move(terms)});
        }
        const double scale = 1.0 / (mean_weight * noise(o) * noise(o));
        for (const auto& [i, left] : parameters)
            for (const auto& [j, right] : parameters)
                for (const Term& l : left)
                    for (const Term& r : right)
                        if (i >= j)
                            information(i, j) += scale * l.factor * r.factor * entry(l.column, r.column);
    }
    return information;
}

}  // namespace kernelet::detail
