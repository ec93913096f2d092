#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/search/evidence.hpp>
#include <kernelet/search/search.hpp>

#include <cmath>

namespace kernelet {

/// The result of a search, and its evidence.
struct AssessedModel {
    SearchResult found{};
    ModelEvidence evidence{};
};

namespace detail {

/// A deviation as parameters show it (MacKay's update), s² = Σ (parameter − mean)²/Σ determined, where the deviation
/// that was given counts as `count` more of them.
class LearnedDeviation {
public:
    LearnedDeviation(double given, double count) : squares_(count * given * given), count_(count) {}

    void add(double excess, double determined) {
        squares_ += excess * excess;
        count_ += determined;
    }
    double value() const { return std::sqrt(squares_ / count_); }

private:
    double squares_, count_;
};

}  // namespace detail

/// The priors' parameters as a model shows them: the deviation of the coefficients; the metric, which is the mean of
/// the log-widths along each coordinate, the prior's own mean counting as one observation of deviation
/// `metric_deviation`; and the scatter of the log-widths about it, shared by all coordinates.
inline Hyperparameters learned_priors(const SearchProblem& problem, const AssessedModel& model,
                                      const PriorOptions& options) {
    const KernelExpansion& fit = model.found.model;
    const Hyperparameters& before = model.found.hyper;
    const Vector& determined = model.evidence.determined;
    const NodeSteps steps(problem.kernel, problem.domain);
    const Index d = problem.domain.dimension(), k = fit.size(), f = steps.size(),
                coefficients = fit.coefficients.size();
    Hyperparameters out = before;
    const bool labels = problem.loss.loss().is_classification();
    detail::LearnedDeviation of_coefficients(
        labels ? options.decision_deviation : options.coefficient_deviation, options.learned_count);
    for (Index i = 0; i < coefficients; ++i)
        of_coefficients.add(fit.coefficients(i) / std::sqrt(model.found.scales.target_variance),
                            determined(i));
    out.coefficient_deviation = of_coefficients.value();

    detail::LearnedDeviation of_widths(options.log_width_deviation, options.learned_count);
    const double typical = problem.priors.widths.typical,
                 variance = before.log_width_deviation * before.log_width_deviation,
                 own = 1.0 / (options.metric_deviation * options.metric_deviation);
    out.metric = Vector::Constant(problem.domain.rows() - d, typical);
    for (Index c = 0; c < f; ++c) {
        const Index row = steps.rows()[static_cast<std::size_t>(c)];
        if (!steps.is_width(row)) continue;
        const auto known = [&](Index j) { return determined(coefficients + j * f + c); };
        double sum = own * std::log(typical), weights = own;
        for (Index j = 0; j < k; ++j) {
            sum += known(j) / variance * std::log(fit.nodes(row, j));
            weights += known(j) / variance;
        }
        out.metric(row - d) = std::exp(sum / weights);
        for (Index j = 0; j < k; ++j) of_widths.add(std::log(fit.nodes(row, j)) - sum / weights, known(j));
    }
    out.log_width_deviation = of_widths.value();
    return out;
}

/// The centers of the candidates, with widths drawn from the prior where a kernel has several: candidates of one width
/// miss kernels that vary along few coordinates.
inline Matrix with_widths_of_prior(Matrix candidates, const SearchProblem& problem,
                                   const Hyperparameters& prior) {
    constexpr std::uint64_t stream = 61;
    if (Priors::free_widths(problem.domain) < 2 || prior.metric.size() == 0) return candidates;
    const detail::CounterRandom random(problem.seed, stream);
    const Index d = problem.domain.dimension(), rows = problem.domain.rows();
    for (Index j = 0; j < candidates.cols(); ++j) {
        Vector node = detail::column_ref(candidates, j);
        for (Index row = d; row < rows; ++row)
            if (problem.domain.free(row))
                node(row) = prior.metric(row - d) *
                            std::exp(prior.log_width_deviation *
                                     random.normal(static_cast<std::uint64_t>(j * rows + row)));
        problem.domain.project(node);
        detail::copy(node, detail::Block(candidates).columns(j, 1));
    }
    return candidates;
}

}  // namespace kernelet
