#pragma once

#include <kernelet/detail/trend_basis.hpp>
#include <kernelet/domains/input_scaling.hpp>
#include <kernelet/search/gram_matrices.hpp>
#include <kernelet/search/kernel_expansion.hpp>
#include <kernelet/sources/block_tree.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// The request for one pass over the samples of a source: all that a process other than the root needs.
struct PassRequest {
    enum class Kind : char {
        survey,            ///< checks all samples and returns a random part of them
        normal_equations,  ///< the sums of GramMatrices at a model, and its cost
        losses,            ///< losses, residuals and gradient of a model
        projection,        ///< what a projection onto the feasible set needs at one multiplier
        // Sums over the samples in memory, shared among processes, see SharedLevel:
        level_samples,   ///< sends these samples to the processes
        level_values,    ///< parts of [Φ t]'W[Φ t]
        level_gradient,  ///< parts of the gradient
        level_gram       ///< parts of [Φ t B]'W[Φ t B]
    };

    Kind kind = Kind::survey;
    /// The fraction of the samples that is seen: those whose number hashes below it. Parts of one seed are nested.
    double part = 1.0;
    std::uint64_t seed = 1;
    /// Whether the samples of a block are put into spatial order, which pays where kernels reach few of them.
    bool ordered = false;
    InputScaling scaling{};    ///< of x
    Vector baseline{};         ///< of y, q
    double noise_deviation{};  ///< by which the loss chooses its scale
    double window{};           ///< of SmoothedLoss
    Index trend_size{};        ///< of TrendBasis, with its mean and inverse deviation
    Vector trend_mean{}, trend_inverse{};
    std::vector<Index> free_rows{};  ///< of a node
    KernelExpansion model{};
    double tolerance{};   ///< of one sample, for the largest violation
    double multiplier{};  ///< κ of the projection

    Samples level{};                  ///< in the units of the fit
    Trend level_trend = Trend::none;  ///< fitted with the kernels
    std::vector<Index> moving{};      ///< kernels of the model

    TrendBasis trend() const { return {trend_size, trend_mean, trend_inverse}; }
};

template <class Archive>
void visit(Archive& archive, KernelExpansion& model) {
    archive(model.nodes);
    archive(model.coefficients);
    archive(model.offset);
    archive(model.slopes);
}

template <class Archive>
void visit(Archive& archive, InputScaling& scaling) {
    archive(scaling.shift);
    archive(scaling.scale);
}

template <class Archive>
void visit(Archive& archive, PassRequest& request) {
    archive(request.kind);
    archive(request.part);
    archive(request.seed);
    archive(request.ordered);
    visit(archive, request.scaling);
    archive(request.baseline);
    archive(request.noise_deviation);
    archive(request.window);
    archive(request.trend_size);
    archive(request.trend_mean);
    archive(request.trend_inverse);
    archive(request.free_rows);
    visit(archive, request.model);
    archive(request.tolerance);
    archive(request.multiplier);
    archive(request.level.x);
    archive(request.level.y);
    archive(request.level.weights);
    archive(request.level_trend);
    archive(request.moving);
}

/// Totals of Kind::normal_equations.
struct PassSums {
    double samples{};  ///< in the part
    double weight{};   ///< Σ w
    double cost{};  ///< Σ w ℓ of the smoothed loss; 0 for the squared one, whose cost follows from the sums
    double total{};  ///< Σ h, see WorkingSquares
    GramMatrices sums{};

    static Index size(Index columns, Index trend) {
        return 4 + columns * columns + columns * trend + trend * trend;
    }

    void add_to(Vector& to) const {
        to(0) += samples;
        to(1) += weight;
        to(2) += cost;
        to(3) += total;
        double* at = to.data() + 4;
        for (const Matrix* matrix : {&sums.gram, &sums.cross, &sums.trend})
            for (Index k = 0; k < matrix->size(); ++k) *at++ += (*matrix)(k);
    }

    static PassSums from(const Vector& totals, Index columns, Index trend) {
        PassSums out{totals(0), totals(1), totals(2), totals(3), GramMatrices::zero(columns, trend)};
        const double* at = totals.data() + 4;
        for (Matrix* matrix : {&out.sums.gram, &out.sums.cross, &out.sums.trend})
            for (Index k = 0; k < matrix->size(); ++k) (*matrix)(k) = *at++;
        return out;
    }
};

/// Totals of Kind::losses.
struct PassLosses {
    double samples{};
    double weight{};
    double loss{};              ///< Σ w ℓ
    Vector squares{};           ///< Σ w (y − f)², q
    Vector masses{};            ///< Σ w k², K
    Matrix gradient{};          ///< −½ ∂Σwℓ/∂a, K x q
    Matrix trend{};             ///< the same of the trend's coefficients, t x q
    double largest_loss{};      ///< of one sample and output
    double largest_distance{};  ///< to the interval that the tolerance allows one sample

    static Index size(Index kernels, Index outputs, Index trend) {
        return 3 + outputs + kernels + (kernels + trend) * outputs;
    }
    static PassLosses zero(Index kernels, Index outputs, Index trend) {
        PassLosses out;
        out.squares = Vector::Zero(outputs);
        out.masses = Vector::Zero(kernels);
        out.gradient = Matrix::Zero(kernels, outputs);
        out.trend = Matrix::Zero(trend, outputs);
        return out;
    }

    void add_to(PassTotals& to) const {
        to.sums(0) += samples;
        to.sums(1) += weight;
        to.sums(2) += loss;
        double* at = to.sums.data() + 3;
        for (const ConstBlock& part :
             {ConstBlock(squares), ConstBlock(masses), ConstBlock(gradient), ConstBlock(trend)})
            for (Index j = 0; j < part.cols; ++j)
                for (Index i = 0; i < part.rows; ++i) *at++ += part(i, j);
        to.maxima(0) = std::max(to.maxima(0), largest_loss);
        to.maxima(1) = std::max(to.maxima(1), largest_distance);
    }

    static PassLosses from(const PassTotals& totals, PassLosses shape) {
        shape.samples = totals.sums(0);
        shape.weight = totals.sums(1);
        shape.loss = totals.sums(2);
        const double* at = totals.sums.data() + 3;
        for (const Block& part :
             {Block(shape.squares), Block(shape.masses), Block(shape.gradient), Block(shape.trend)})
            for (Index j = 0; j < part.cols; ++j)
                for (Index i = 0; i < part.rows; ++i) part(i, j) = *at++;
        shape.largest_loss = totals.maxima(0);
        shape.largest_distance = totals.maxima(1);
        return shape;
    }
};

}  // namespace kernelet::detail
