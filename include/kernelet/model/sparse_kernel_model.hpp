#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/check.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/model/expansion_strips.hpp>
#include <kernelet/model/gradient_strips.hpp>
#include <kernelet/model/model_parts.hpp>
#include <kernelet/model/one_point.hpp>
#include <kernelet/model/probabilities.hpp>
#include <kernelet/sources/sample_range.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelet {

/// Asks predict() for the deviation too: model.predict(x, with_deviation) for that of the function,
/// model.predict(x, with_noise) for that of a new observation.
struct WithDeviation {
    bool noise = false;
};
inline constexpr WithDeviation with_deviation{};
inline constexpr WithDeviation with_noise{true};

/// Both in the shape of predict(x).
struct Prediction {
    Matrix mean{};
    /// From the uncertainty of all parameters and statistics().discrepancy, with statistics().noise where it was asked
    /// for. It knows nothing of what no sample saw: far from the data only discrepancy and noise are left.
    Matrix deviation{};
};

/// f(x) = trend(x) + Σ_j a_j k(x, z_j; θ_j) (paper (4)): K kernels, each with its own center and parameter, q outputs. The only
/// thing that predicts; a value that owns all it needs. Kernels are kept in the units of the fit together with the
/// scaling, and spoken of in the user's. Far from all centers the model is its trend: a constant, or linear in x. Thread
/// safety: const members may be called from many threads.
template <KernelFamily Kernel>
class SparseKernelModel {
public:
    using KernelType = Kernel;

    /// nodes is (d + p) x K in the scaling's internal units, coefficients K x q; the trend may be given as its offset, q.
    // NOLINTNEXTLINE(readability-function-size): one argument per part of a model; the name is public.
    SparseKernelModel(Kernel kernel, InputScaling scaling, Matrix nodes, Matrix coefficients,
                      ModelTrend trend, ModelStatistics statistics = {})
        : kernel_(std::move(kernel)),
          scaling_(std::move(scaling)),
          nodes_(std::move(nodes)),
          coefficients_(std::move(coefficients)),
          trend_(std::move(trend)),
          statistics_(std::move(statistics)) {
        const Index d = scaling_.shift.size();
        std::vector<bool> lengths;
        for (Index row = 0; row < kernel_.parameters(d); ++row)
            lengths.push_back(kernel_.parameter_kind(row) != ParameterKind::shape);
        detail::require_model<double>({scaling_, nodes_, coefficients_, trend_, statistics_, lengths});
    }

    /// The number of kernels.
    Index size() const { return nodes_.cols(); }
    Index dimension() const { return scaling_.shift.size(); }
    Index outputs() const { return trend_.offset.size(); }

    /// d x K, in the user's units.
    Matrix centers() const {
        return scaling_.to_user(
            detail::matrix_ref(detail::ConstBlock(nodes_).part(0, 0, dimension(), size())));
    }

    /// In the user's units, a row for each width of the kernel; d x K where an isotropic width meets
    /// coordinates of different scale.
    Matrix widths() const {
        const Index d = dimension(), p = parameter_layout(kernel_, d).scales();
        bool stretched = false;  // an isotropic width in coordinates of different scale
        for (Index row = 0; row < p; ++row)
            stretched = stretched || (kernel_.parameter_kind(row) == ParameterKind::isotropic_scale &&
                                      !scaling_.isotropic());
        Matrix widths(stretched ? d : p, size());
        for (Index j = 0; j < size(); ++j)
            for (Index row = 0; row < widths.rows(); ++row)
                widths(row, j) =
                    stretched ? scaling_.scale(row) * nodes_(d, j) : unit_of_width(row) * nodes_(d + row, j);
        return widths;
    }

    /// The order or family each kernel has, K; empty for kernels that have none.
    Vector shapes() const {
        if (parameter_layout(kernel_, dimension()).shapes.empty() || size() == 0) return Vector(0);
        Vector shapes(size());
        for (Index j = 0; j < size(); ++j) shapes(j) = nodes_(nodes_.rows() - 1, j);
        return shapes;
    }

    /// K x q.
    const Matrix& coefficients() const { return coefficients_; }
    /// What the model predicts far from all centers: q. Of a linear trend, its value at scaling().shift.
    const Vector& offset() const { return trend_.offset; }
    /// Of a linear trend, offset() + slopes()' (x − scaling().shift), in the user's units: d x q; else empty.
    Matrix slopes() const {
        Matrix out = trend_.slopes;
        for (Index o = 0; o < out.cols(); ++o)
            for (Index c = 0; c < out.rows(); ++c) out(c, o) /= scaling_.scale(c);
        return out;
    }
    /// The trend in the units of the fit.
    const ModelTrend& trend() const { return trend_; }

    const Kernel& kernel() const { return kernel_; }
    const InputScaling& scaling() const { return scaling_; }
    /// (d + p) x K in the units of the fit.
    const Matrix& nodes() const { return nodes_; }

    /// What the fit knows about its kernels, which it lists by falling share. Empty for a model made by hand.
    const ModelStatistics& statistics() const { return statistics_; }
    /// The same model without them: all that predict(x) needs, to ship.
    SparseKernelModel without_statistics() const {
        return SparseKernelModel(kernel_, scaling_, nodes_, coefficients_, trend_).with_loss(loss_);
    }

    /// The name of the loss that the model was fitted with; empty for a model made by hand or by an early version.
    const std::string& loss() const { return loss_; }
    SparseKernelModel with_loss(std::string name) const& {
        return SparseKernelModel(*this).with_loss(std::move(name));
    }
    SparseKernelModel with_loss(std::string name) && {
        loss_ = std::move(name);
        return std::move(*this);
    }

    /// Of the coefficients, K x q, in the unit of y.
    Matrix standard_errors() const {
        require_covariance();
        Matrix errors(size(), outputs());
        for (Index i = 0; i < errors.size(); ++i)
            errors(i) = std::sqrt(std::max(statistics_.covariance(i, i), 0.0));
        return errors;
    }

    /// The width the model uses around each column of x, in the user's units: the geometric mean of widths(),
    /// each kernel counting by the size of its part there. Where no kernel reaches, the widest. Empty where
    /// there are no kernels. K values per point.
    template <Numbers X>
    Matrix local_width(const X& x) const {
        const Matrix points = detail::checked_points(detail::input_matrix(x), dimension());
        const Matrix widths = this->widths();
        if (size() == 0) return Matrix(widths.rows(), 0);
        const detail::TiledPoints tiled(scaling_.to_internal(points));
        Vector total = Vector::Zero(points.cols()), column(points.cols());
        Matrix logs = Matrix::Zero(widths.rows(), points.cols());
        const Vector heights = detail::row_norms(coefficients_);
        for (Index j = 0; j < size(); ++j) {
            detail::kernel_column(kernel_, tiled, detail::column_ref(nodes_, j), column.data());
            for (Index i = 0; i < points.cols(); ++i) {
                const double part = heights(j) * std::abs(column(i));
                total(i) += part;
                for (Index row = 0; row < widths.rows(); ++row)
                    logs(row, i) += part * std::log(widths(row, j));
            }
        }
        for (Index row = 0; row < widths.rows(); ++row) {
            double widest = widths(row, 0);
            for (Index j = 1; j < size(); ++j) widest = std::max(widest, widths(row, j));
            for (Index i = 0; i < points.cols(); ++i)
                logs(row, i) = total(i) > 0.0 ? std::exp(logs(row, i) / total(i)) : widest;
        }
        return logs;
    }
    double local_width(double x) const {
        detail::require(dimension() == 1 && size() > 0,
                        "local_width(number) is for one input and at least one kernel");
        return local_width(Vector::Constant(1, x))(0, 0);
    }

    /// Predictions and their standard deviation, √(j(x)' covariance j(x) + discrepancy²), j the derivative of f in all
    /// parameters; `with_noise` adds noise². O(n P²), P = K (q + d + p) and the trend.
    template <Numbers X>
    Prediction predict(const X& x, WithDeviation asked) const {
        if (size() > 0) require_covariance();
        const Matrix points = detail::checked_points(detail::input_matrix(x), dimension());
        Prediction prediction{predict(points), Matrix(outputs(), points.cols())};
        const detail::TiledPoints tiled(scaling_.to_internal(points));
        Matrix design(statistics_.covariance.rows(), detail::TiledPoints::tile);
        for (Index o = 0; o < outputs(); ++o) {
            double always = 0.0;
            if (statistics_.discrepancy.size() > 0) always += square(statistics_.discrepancy(o));
            if (asked.noise && statistics_.noise.size() > 0) always += square(statistics_.noise(o));
            for (Index t = 0; t < tiled.tiles(); ++t) {
                Matrix spread = Matrix::Zero(design.rows(), design.cols());
                if (design.rows() > 0) {
                    fill_design(tiled, t, o, design);
                    spread = detail::product(statistics_.covariance, design);
                }
                for (Index i = 0; i < tiled.count(t); ++i)
                    prediction.deviation(o, tiled.first(t) + i) =
                        std::sqrt(always + std::max(0.0, detail::dot_run(design.data() + i * design.rows(),
                                                                         spread.data() + i * design.rows(),
                                                                         design.rows())));
            }
        }
        if (outputs() == 1) prediction.deviation.resize(points.cols(), 1);
        return prediction;
    }

    /// Predictions in the shape of the targets: a column of n for one output, q x n for several. x is d x n,
    /// any Eigen expression, float or double; kernel values and sums are double. n K kernel values, a strip of points
    /// at a time: nothing else of size n is held.
    template <class Derived>
    Matrix predict(const Eigen::MatrixBase<Derived>& x) const {
        using Scalar = std::conditional_t<std::is_same_v<typename Derived::Scalar, float>, float, double>;
        detail::require_rows(x.rows(), dimension(), x.cols());
        if constexpr (std::is_same_v<typename Derived::Scalar, Scalar>)
            return predicted<Scalar>(x.derived());
        else
            return predicted<Scalar>(x.template cast<Scalar>());
    }

    /// The same of an Eigen array, or of a std::vector or std::span of points of one input.
    template <Numbers X>
    requires(!std::derived_from<X, Eigen::MatrixBase<X>>) Matrix predict(const X& x)
    const { return predict(detail::input_matrix(x)); }

    /// Predictions of all samples of a source, block by block in their order: sink(first, values) is handed those of the
    /// samples first, first + 1, ..., q x m. Targets are not looked at. Of a source that several processes share, each
    /// predicts the samples that it reads.
    template <SampleSource Source, std::invocable<Index, const Matrix&> Sink>
    void predict(const Source& source, Sink sink) const {
        const auto d = static_cast<Index>(source.dimension()), q = static_cast<Index>(source.outputs());
        detail::require(d == dimension(), "the source has ", d, " inputs; the model has ", dimension());
        SampleRange range{0, static_cast<Index>(source.size())};
        if constexpr (requires { source.owned(); }) range = source.owned();
        const Index per_block = samples_per_block(d, q);
        for (Index first = range.begin; first < range.end; first += per_block) {
            const Index m = std::min(per_block, range.end - first);
            Matrix x(d, m), y(q, m);
            Vector weights = Vector::Ones(m);
            source.read(first, m, x, y, weights);
            for (Index i = 0; i < m; ++i)
                for (Index c = 0; c < d; ++c)
                    detail::require(std::isfinite(x(c, i)), "x(", c, ", ", first + i, ") is ", x(c, i),
                                    "; every entry must be finite");
            Matrix values = predict(x);
            values.resize(outputs(), m);
            sink(first, std::as_const(values));
        }
    }

    /// Labels −1 and +1 by the sign of the decision value, in the shape of predict(x); 0 decides for +1.
    template <Numbers X>
    Eigen::MatrixXi classify(const X& x) const {
        const Matrix decisions = predict(x);
        Eigen::MatrixXi labels(decisions.rows(), decisions.cols());
        for (Index i = 0; i < decisions.size(); ++i) labels(i) = decisions(i) < 0.0 ? -1 : 1;
        return labels;
    }

    /// 1/(1 + e^−f), the probability of +1; above one half exactly where classify says +1 and f is not 0. Of a model
    /// that was fitted with the logistic loss; of another one it throws std::logic_error.
    template <Numbers X>
    Matrix probability(const X& x) const {
        detail::require_logistic(loss_);
        Matrix probabilities = predict(x);
        for (Index i = 0; i < probabilities.size(); ++i)
            probabilities(i) = detail::logistic(probabilities(i));
        return probabilities;
    }

    /// ∂f/∂x at the columns of x: d x n for one output, d q x n for q, output o in rows o d ... o d + d − 1. Where a kernel
    /// has a kink the middle of its slopes. O(n K d q).
    template <Numbers X>
    Matrix gradient(const X& x) const {
        static_assert(
            detail::HasInputGradient<Kernel>,
            "kernelet: this kernel lacks add_gradient(xt, node, a, out), out += a ∂k/∂x, m x d; a kernel of "
            "x − z may say so by static constexpr bool translation_invariant = true");
        const Matrix points = detail::checked_points(detail::input_matrix(x), dimension());
        return detail::gradient_strips(
            kernel_, detail::PointStrips<double>{points.data(), points.rows(), points.cols(), points.rows()},
            scaling_, {nodes_, coefficients_, trend_.offset, trend_.slopes});
    }
    /// The same at one point, written to `to`, d x q; allocates nothing up to 64 inputs. Returns nothing.
    template <class Derived>
    void gradient(const Eigen::MatrixBase<Derived>& x, MatrixRef to) const {
        detail::require(to.rows() == dimension() && to.cols() == outputs(), "the gradient is ", dimension(),
                        " x ", outputs(), "; there is room for ", to.rows(), " x ", to.cols());
        const detail::ScaledPoint point(x, scaling_);
        detail::PointBuffer buffer(dimension());
        const detail::Block slopes(buffer.data(), 1, dimension(), 1);
        for (Index o = 0; o < outputs(); ++o)
            for (Index c = 0; c < dimension(); ++c)
                to(c, o) = trend_.slopes.size() > 0 ? trend_.slopes(c, o) : 0.0;
        for (Index j = 0; j < size(); ++j) {
            if (beyond(point, j)) continue;
            for (Index c = 0; c < dimension(); ++c) slopes(0, c) = 0.0;
            detail::add_input_gradient(kernel_, {point.row(), detail::column_ref(nodes_, j)}, 1.0,
                                       detail::matrix_ref(slopes));
            for (Index o = 0; o < outputs(); ++o)
                for (Index c = 0; c < dimension(); ++c) to(c, o) += coefficients_(j, o) * slopes(0, c);
        }
        for (Index o = 0; o < outputs(); ++o)
            for (Index c = 0; c < dimension(); ++c) to(c, o) *= 1.0 / scaling_.scale(c);
    }
    /// f'(x) of one input and one output.
    double gradient(double x) const {
        detail::require(dimension() == 1 && outputs() == 1,
                        "gradient(number) is for one input and one output; this model has ", dimension(),
                        " and ", outputs());
        return gradient(Vector::Constant(1, x))(0, 0);
    }

    /// ∫ f(x) dx over the box lo ≤ x ≤ hi in the user's units, trend included, q: in closed form, for kernels that have
    /// one (Gaussian, AnisotropicGaussian). O(K d).
    Vector integral(const ConstVectorRef& lo,
                    const ConstVectorRef& hi) const requires detail::HasIntegral<Kernel> {
        const Index d = dimension();
        detail::require(lo.size() == d && hi.size() == d, "the box has ", lo.size(), " and ", hi.size(),
                        " coordinates; the model has ", d, " inputs");
        Vector low(d), high(d);
        double volume = 1.0;  // in the units of the fit
        for (Index c = 0; c < d; ++c) {
            detail::require(std::isfinite(lo(c)) && std::isfinite(hi(c)) && lo(c) <= hi(c),
                            "the box goes from ", lo(c), " to ", hi(c), " along coordinate ", c,
                            "; lo <= hi, both finite");
            low(c) = (lo(c) - scaling_.shift(c)) / scaling_.scale(c);
            high(c) = (hi(c) - scaling_.shift(c)) / scaling_.scale(c);
            volume *= high(c) - low(c);
        }
        Vector out(outputs());
        for (Index o = 0; o < outputs(); ++o) {
            out(o) = trend_.offset(o) * volume;
            for (Index c = 0; c < trend_.slopes.rows(); ++c)
                out(o) += trend_.slopes(c, o) * 0.5 * (low(c) + high(c)) * volume;
        }
        for (Index j = 0; j < size(); ++j) {
            const double part = kernel_.integral(low, high, detail::column_ref(nodes_, j));
            for (Index o = 0; o < outputs(); ++o) out(o) += coefficients_(j, o) * part;
        }
        for (Index o = 0; o < outputs(); ++o)
            for (Index c = 0; c < d; ++c) out(o) *= scaling_.scale(c);
        return out;
    }
    /// Over a Box, or anything else with corners lo() and hi().
    template <class BoxType>
    requires requires(const BoxType& box) {
        box.lo();
        box.hi();
    }
    Vector integral(const BoxType& box) const requires detail::HasIntegral<Kernel> {
        return integral(box.lo(), box.hi());
    }

    /// The one output at one point, the same bits as predict(x): K kernel values. Nothing is allocated up to 64 inputs.
    template <class Derived>
    double operator()(const Eigen::MatrixBase<Derived>& x) const {
        detail::require(outputs() == 1, "operator() is for one output; this model has ", outputs(),
                        ": use predict()");
        const detail::ScaledPoint point(x, scaling_);
        double sum = 0.0;
        if constexpr (detail::HasExponent<Kernel>) {
            sum = detail::exponential_sum(kernel_, point, nodes_, coefficients_.data());
        } else {
            alignas(64) double k[detail::lane_count];
            for (Index j = 0; j < size(); ++j) {
                if (beyond(point, j)) continue;
                detail::significant_values(kernel_, {point.tile(), detail::column_ref(nodes_, j)}, k);
                sum = detail::multiply_add(coefficients_(j, 0), k[0], sum);
            }
        }
        for (Index c = 0; c < trend_.slopes.rows(); ++c)
            sum = detail::multiply_add(trend_.slopes(c, 0), point(c), sum);
        return sum + trend_.offset(0);
    }
    double operator()(double x) const { return (*this)(Vector::Constant(1, x)); }

private:
    static double square(double value) { return value * value; }

    /// P without the trend.
    Index parameters() const { return size() * (outputs() + nodes_.rows()); }
    /// t, the functions of the trend that the covariance knows of: none, 1, or 1 and the inputs.
    Index trend_functions() const {
        if (trend_.slopes.size() > 0) return 1 + dimension();
        return statistics_.covariance.rows() > parameters() ? 1 : 0;
    }

    /// The derivative of output o in all parameters at the points of a tile, in columns.
    void fill_design(const detail::TiledPoints& tiled, Index t, Index o, Matrix& design) const {
        const Index m = tiled.count(t), rows = nodes_.rows();
        Matrix jet(detail::TiledPoints::tile, 1 + rows);
        detail::fill(design, 0.0);
        for (Index j = 0; j < size(); ++j) {
            kernel_.jet(tiled.rows(t), detail::column_ref(nodes_, j),
                        detail::matrix_ref(detail::Block(jet).part(0, 0, m, 1 + rows)));
            for (Index i = 0; i < m; ++i) {
                design(o * size() + j, i) = jet(i, 0);
                for (Index row = 0; row < rows; ++row)
                    design(size() * outputs() + j * rows + row, i) = coefficients_(j, o) * jet(i, 1 + row);
            }
        }
        const Index functions = trend_functions(), first = parameters() + o * functions;
        for (Index i = 0; functions > 0 && i < m; ++i) {
            design(first, i) = 1.0;
            for (Index c = 1; c < functions; ++c)
                design(first + c, i) = tiled.transposed()(tiled.first(t) + i, c - 1);
        }
    }

    /// Whether a point is out of a kernel's reach.
    bool beyond([[maybe_unused]] const detail::ScaledPoint& point, [[maybe_unused]] Index j) const {
        if constexpr (detail::HasReach<Kernel>) {
            const double reach = kernel_.reach(detail::column_ref(nodes_, j));
            for (Index c = 0; c < dimension(); ++c)
                if (nodes_(c, j) < point(c) - reach || nodes_(c, j) > point(c) + reach) return true;
        }
        return false;
    }

    /// The unit of a row of θ in the user's units, where it has one.
    double unit_of_width(Index row) const {
        const ParameterKind kind = kernel_.parameter_kind(row);
        if (kind == ParameterKind::coordinate_scale) return scaling_.scale(row);
        return kind == ParameterKind::isotropic_scale ? scaling_.scale(0) : 1.0;
    }

    void require_covariance() const {
        detail::require(statistics_.covariance.size() > 0,
                        "this model has no covariance: it was made by hand, saved without it, or too large");
    }

    /// x is evaluated where it is an expression, and read where it is where it is not.
    template <class Scalar>
    Matrix predicted(const Eigen::Ref<const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>, 0,
                                      Eigen::OuterStride<>>& x) const {
        const detail::PointStrips<Scalar> points{x.data(), x.rows(), x.cols(), x.outerStride()};
        Matrix values = detail::expansion_strips(kernel_, points, scaling_,
                                                 {nodes_, coefficients_, trend_.offset, trend_.slopes});
        if (outputs() == 1) values.resize(values.cols(), 1);
        return values;
    }

    Kernel kernel_;
    InputScaling scaling_;
    Matrix nodes_;
    Matrix coefficients_;
    ModelTrend trend_;
    ModelStatistics statistics_;
    std::string loss_{};
};

}  // namespace kernelet
