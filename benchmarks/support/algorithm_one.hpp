#pragma once

#include "realisation.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/// The paper's own way to a model: Algorithm 1 with the printed steps, the peaks of α, least squares on them;
/// nothing slid, added or dropped afterwards.
namespace bench {

/// As printed for an experiment.
struct PrintedSteps {
    double gamma{};
    double eta_lambda{};
    double eta_mu{};
    Index iterations{};
};

constexpr PrintedSteps steps_of_widths{4000.0, 0.001, 0.1, 5000};             // PII'', ten Gaussians
constexpr PrintedSteps steps_of_centers_and_widths{1000.0, 0.01, 1.0, 1000};  // PII, ten Gaussians
constexpr PrintedSteps steps_of_complexity{30.0, 0.05, 0.1, 1000};            // PII', m Gaussians
constexpr PrintedSteps steps_of_smoothness{2.0, 0.001, 30.0, 1000};           // PII, chirp

// What the paper leaves unstated, chosen once for all experiments.
constexpr double unstated_tolerance =
    0.1;  // √ε a sample: three deviations of the noise, which then is feasible
constexpr Index unstated_batch = 500;                   // B: ten nodes a unit of center and a tenth of width
constexpr kernelet::Interval mixture_widths{0.1, 1.0};  // W: the paper's grid for PI', and its widest kernels
constexpr kernelet::Interval chirp_widths{0.05, 1.0};   // its fastest half wave is 0.2 long

inline const char* unstated =
    "Algorithm 1: the printed gamma, steps and T; unstated in the paper and chosen here: epsilon = 0.1^2 a "
    "sample,\n"
    "B = 500, X the samples' interval, W = [0.1, 1] ([0.05, 1] for the chirp), uniform; then peaks and least "
    "squares.\n";

/// The peaks of α, highest first, and models on them.
class AlgorithmOneFit {
public:
    bool diverged = false;

    Index size() const { return nodes_.cols(); }
    const Matrix& nodes() const { return nodes_; }

    /// Least squares on the `most` highest peaks.
    kernelet::SparseKernelModel<kernelet::Gaussian> model(Index most) const {
        const Matrix chosen = nodes_.leftCols(std::min(most, size()));
        const auto solved =
            kernelet::least_squares(kernelet::Gaussian{}, kernelet::detail::TiledPoints(x_), chosen, y_,
                                    Vector::Ones(x_.cols()), kernelet::Options{}.ridge);
        return {kernelet::Gaussian{}, kernelet::InputScaling::identity(x_.rows()), chosen,
                solved.coefficients, Vector::Zero(1)};
    }
    kernelet::SparseKernelModel<kernelet::Gaussian> model() const { return model(size()); }

private:
    template <class Omega>
    friend AlgorithmOneFit algorithm_one(const Realisation&, const Omega&, const PrintedSteps&);

    Matrix x_{}, y_{}, nodes_{};
};

template <class Omega>
AlgorithmOneFit algorithm_one(const Realisation& r, const Omega& domain, const PrintedSteps& steps) {
    using namespace kernelet;
    const Index n = r.x.cols();
    const Gaussian kernel;
    const detail::TiledPoints points(r.x);
    AlgorithmOneFit fit;
    fit.x_ = r.x;
    fit.y_ = r.y.transpose();
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, fit.y_, Scope::per_sample,
                                            Vector::Constant(n, unstated_tolerance), Vector::Ones(n));
    const DualProblem problem(kernel, domain, points, feasible, steps.gamma);
    StochasticSupergradientOptions options;
    options.eta_lambda = steps.eta_lambda;
    options.eta_mu = steps.eta_mu;
    options.batch = unstated_batch;
    options.iterations = steps.iterations;
    const DualSolution dual = StochasticSupergradient(options).solve(problem);
    fit.diverged = dual.status == Status::diverged;
    const CoefficientField field(kernel, r.x, dual.lambda, steps.gamma, InputScaling::identity(r.x.rows()));
    const ExtractedPeaks found = extract_peaks(field, domain, points, dual.quadrature.nodes);
    fit.nodes_.resize(domain.rows(), static_cast<Index>(found.peaks.size()));
    for (std::size_t j = 0; j < found.peaks.size(); ++j)
        fit.nodes_.col(static_cast<Index>(j)) = found.peaks[j].node;
    return fit;
}

}  // namespace bench
