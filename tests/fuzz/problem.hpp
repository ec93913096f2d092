#pragma once

#include "fuzz/bytes.hpp"

#include <kernelet/kernelet.hpp>

#include <array>
#include <cmath>
#include <iomanip>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

/// Small problems from bytes.
namespace fuzz {

using kernelet::AnyDomain;
using kernelet::AnyLoss;
using kernelet::Interval;
using kernelet::Matrix;
using kernelet::Options;
using kernelet::Samples;
using kernelet::Vector;

/// Any solver as one type, so that fits are compiled once per kernel.
struct ChosenSolver {
    kernelet::detail::ErasedSolver held;
    std::string name{};  ///< in messages, where it may refuse a problem
    double gap = 1e-3;   ///< at which it calls itself converged

    kernelet::DualSolution solve(const kernelet::ErasedDualProblem& problem,
                                 const kernelet::ObserverFunction& observer) const {
        return held(problem, observer);
    }
};

struct Problem {
    Samples samples{};
    Options options{};
    AnyLoss loss = kernelet::SquaredLoss{};
    std::optional<AnyDomain> domain{};  ///< read off the samples where there is none
    double x_unit = 1.0, y_unit = 1.0;
};

/// Losses whose scale does not follow the noise: the oracle has to know it.
inline AnyLoss loss_of(Bytes& bytes, double y_unit) {
    switch (bytes.choice(8)) {
        case 0:
            return kernelet::EpsilonInsensitiveLoss(bytes.once_in(2) ? 0.0 : 0.1 * y_unit * bytes.usual());
        case 1:
            return kernelet::HuberLoss(y_unit * bytes.usual());
        case 2:
            return kernelet::QuantileLoss(
                bytes.once_in(2) ? 0.5 : 0.05 * static_cast<double>(bytes.between(1, 19)));
        case 3:
            return kernelet::HingeLoss{};
        case 4:
            return kernelet::LogisticLoss{};
        default:
            return kernelet::SquaredLoss{};
    }
}

/// Places on a grid, some of them twice; targets on a grid or of a wave, which kernels fit, with noise.
inline void fill(Samples& samples, Bytes& bytes, const Problem& problem) {
    Matrix& x = samples.x;
    const double shift = bytes.once_in(4) ? 100.0 * bytes.grid() : 0.0;
    const double noise = bytes.once_in(2) ? 1.0 : 0.02, height = noise < 1.0 ? 1.0 : 0.0;
    for (Index i = 0; i < x.cols(); ++i) {
        double wave = 0.0;
        for (Index c = 0; c < x.rows(); ++c) {
            const double place = bytes.grid();
            wave += std::sin(2.5 * place);
            x(c, i) = problem.x_unit * (shift + place);
        }
        if (i > 0 && bytes.once_in(8)) {
            const Index twin = bytes.choice(i);
            for (Index c = 0; c < x.rows(); ++c) x(c, i) = x(c, twin);
        }
        for (Index o = 0; o < samples.y.rows(); ++o) {
            const double value = height * wave + noise * bytes.grid();
            samples.y(o, i) =
                problem.loss.is_classification() ? (value < 0.0 ? -1.0 : 1.0) : problem.y_unit * value;
        }
    }
    if (bytes.once_in(16)) x(bytes.choice(x.rows()), bytes.choice(x.cols())) = bytes.extreme();
    if (bytes.once_in(16))
        samples.y(bytes.choice(samples.y.rows()), bytes.choice(x.cols())) = bytes.extreme();
}

inline void fill_optional(Samples& samples, Bytes& bytes, const Problem& problem) {
    const Index n = samples.x.cols();
    if (bytes.once_in(4)) {
        samples.weights.resize(bytes.once_in(32) ? n + 1 : n);
        const double spread = bytes.once_in(4) ? 1e3 : 1.0;
        for (Index i = 0; i < samples.weights.size(); ++i)
            samples.weights(i) = bytes.once_in(16) ? bytes.unit() : spread * bytes.usual();
        if (bytes.once_in(16)) samples.weights(0) = bytes.extreme();
    }
    if (bytes.once_in(6)) {
        samples.tolerances.resize(bytes.once_in(32) ? n + 1 : n);
        for (Index i = 0; i < samples.tolerances.size(); ++i)
            samples.tolerances(i) = bytes.once_in(8) ? 0.0 : problem.y_unit * bytes.usual();
        if (bytes.once_in(16)) samples.tolerances(0) = bytes.extreme();
    }
}

inline Options options_of(Bytes& bytes, const Samples& samples, double y_unit) {
    using kernelet::Scope;
    using kernelet::Trend;
    Options options;
    if (samples.tolerances.size() > 0)
        options.scope = bytes.once_in(16) ? Scope::aggregate : Scope::per_sample;
    else if (bytes.once_in(3))
        options.scope = Scope::per_sample;
    if (bytes.once_in(2)) options.tolerance = bytes.once_in(8) ? 0.0 : 0.1 * y_unit * bytes.usual();
    if (bytes.once_in(4)) options.max_kernels = bytes.between(1, 4);
    if (bytes.once_in(6)) options.gamma = y_unit * y_unit * bytes.usual() * bytes.unit();
    if (bytes.once_in(4)) options.sparsity = bytes.once_in(2) ? 0.0 : bytes.usual();
    if (bytes.once_in(4)) options.standardize = false;
    if (bytes.once_in(4)) options.center = false;
    if (bytes.once_in(3))
        options.trend = std::array{Trend::none, Trend::constant,
                                   Trend::linear}[static_cast<std::size_t>(bytes.choice(3))];
    if (bytes.once_in(8)) options.ridge = bytes.once_in(2) ? 0.0 : bytes.usual() * bytes.unit();
    if (bytes.once_in(8)) options.dual_samples = bytes.between(1, 8);
    if (bytes.once_in(8)) options.search.streams.held_samples = 100;
    options.seed = static_cast<std::uint64_t>(bytes.choice(4));
    options.search.candidates = bytes.between(0, 128);
    if (bytes.once_in(4)) options.search.evidence.max_rounds = bytes.choice(3);
    if (bytes.once_in(8)) options.search.max_parameters = bytes.between(2, 12);
    if (bytes.once_in(8)) options.search.first_order.max_second_order_work = 1.0;
    if (bytes.once_in(8)) options.search.levels.first_samples = options.search.levels.first_labels = 4;
    return options;
}

/// A domain by hand, or none; its arguments may make no sense, which its constructor refuses.
inline std::optional<AnyDomain> domain_of(Bytes& bytes, const Samples& samples, double x_unit) {
    const Index d = bytes.once_in(32) ? samples.x.rows() % 3 + 1 : samples.x.rows();
    const double width = x_unit * bytes.usual();
    const Interval widths{bytes.once_in(4) ? width : 0.05 * width, width};
    const Vector lo = Vector::Constant(d, -2.0 * x_unit), hi = Vector::Constant(d, 2.0 * x_unit);
    Matrix places = samples.x;
    if (d != samples.x.rows()) places = Matrix::Zero(d, 2);
    switch (bytes.choice(10)) {
        case 0:
            return kernelet::Box(lo, hi, widths);
        case 1:
            return kernelet::FixedWidth(lo, hi, width);
        case 2:
            return kernelet::CandidateCenters(places, widths);
        case 3:
            return kernelet::CandidateCenters(places, widths).released();
        case 4:
            return kernelet::AroundSamples(places, widths);
        case 5:
            return kernelet::Box(lo, lo, widths, kernelet::Spacing::uniform);
        default:
            return std::nullopt;
    }
}

/// For the words of a finding.
inline std::string words_of(const Problem& problem) {
    const Options& o = problem.options;
    std::ostringstream out;
    out << std::setprecision(17) << "loss " << problem.loss.held_name() << ", scope "
        << (o.scope == kernelet::Scope::aggregate ? "aggregate" : "per_sample") << ", trend "
        << static_cast<int>(o.trend) << ", sparsity " << o.sparsity << ", standardize " << o.standardize
        << ", center " << o.center << ", seed " << o.seed << ", candidates " << o.search.candidates
        << (problem.domain ? ", a domain" : ", no domain");
    if (o.tolerance) out << ", tolerance " << *o.tolerance;
    if (o.max_kernels) out << ", max_kernels " << *o.max_kernels;
    if (o.gamma) out << ", gamma " << *o.gamma;
    if (o.ridge) out << ", ridge " << *o.ridge;
    if (o.dual_samples) out << ", dual_samples " << *o.dual_samples;
    out << "\nx\n" << problem.samples.x << "\ny\n" << problem.samples.y << "\n";
    if (problem.samples.weights.size() > 0) out << "weights " << problem.samples.weights.transpose() << "\n";
    if (problem.samples.tolerances.size() > 0)
        out << "tolerances " << problem.samples.tolerances.transpose() << "\n";
    return out.str();
}

inline Problem problem_of(Bytes& bytes) {
    Problem problem;
    problem.x_unit = bytes.unit();
    problem.y_unit = bytes.unit();
    problem.loss = loss_of(bytes, problem.y_unit);
    const Index d = bytes.between(1, 3), q = bytes.once_in(6) ? 2 : 1;
    const Index n = bytes.once_in(2) ? bytes.between(1, 8) : bytes.between(1, 24);
    problem.samples.x.resize(d, n);
    problem.samples.y.resize(q, n);
    fill(problem.samples, bytes, problem);
    fill_optional(problem.samples, bytes, problem);
    problem.options = options_of(bytes, problem.samples, problem.y_unit);
    try {
        problem.domain = domain_of(bytes, problem.samples, problem.x_unit);
    } catch (const std::invalid_argument& error) {
        const std::string message = error.what();
        require_readable(message);
        require(contains_any(message,
                             {"kernelet: box", "kernelet: width", "kernelet: centers", "kernelet: samples"}),
                "a domain refuses something that was not passed", message);
    }
    return problem;
}

}  // namespace fuzz
