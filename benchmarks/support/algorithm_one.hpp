#pragma once

#include "realisation.hpp"

#include <kernelet/domains/any_domain.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

/// The paper's own way to a model: Algorithm 1, the peaks of α, least squares on them; nothing moved, added or removed
/// afterwards.
namespace bench {

/// The parameters printed in the paper for an experiment.
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

// Settings that the paper leaves unstated, chosen once for all experiments.
constexpr double unstated_tolerance =
    0.1;  // √ε per sample: three deviations of the noise, which then is feasible
constexpr Index unstated_batch = 500;                   // B: ten nodes per unit of center and tenth of width
constexpr kernelet::Interval mixture_widths{0.1, 1.0};  // W: the paper's grid for PI', and its widest kernels
constexpr kernelet::Interval chirp_widths{0.05, 1.0};   // its fastest half wave is 0.2 long

inline const char* unstated =
    "Algorithm 1: the printed gamma; steps and T as printed, or chosen by the solver; unstated in the paper "
    "and "
    "set here:\nepsilon = 0.1^2 per sample, B = 500, X the samples' interval, W = [0.1, 1] ([0.05, 1] for "
    "the chirp), "
    "uniform; then peaks\nand least squares.\n";

/// The peaks of α, highest first, and models on them.
class AlgorithmOneFit {
public:
    bool diverged = false;

    Index size() const { return nodes_.cols(); }
    const Matrix& nodes() const { return nodes_; }

    /// Least squares on the `most` highest peaks.
    kernelet::SparseKernelModel<kernelet::Gaussian> model(Index most) const;
    kernelet::SparseKernelModel<kernelet::Gaussian> model() const { return model(size()); }

private:
    friend AlgorithmOneFit solved(const Realisation&, const kernelet::AnyDomain&, double,
                                  const kernelet::StochasticSupergradient&);

    Matrix x_{}, y_{}, nodes_{};
};

/// With the printed steps.
AlgorithmOneFit algorithm_one(const Realisation& r, const kernelet::AnyDomain& domain,
                              const PrintedSteps& steps);

/// With the steps that the solver chooses, at the printed γ.
AlgorithmOneFit algorithm_one_chosen(const Realisation& r, const kernelet::AnyDomain& domain,
                                     const PrintedSteps& steps);

}  // namespace bench
