#pragma once

#include <kernelet/search/candidate_gains.hpp>
#include <kernelet/search/first_order_descent.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// Whether a second-order search over so many kernels would take minutes: a step takes n (K f)² + (K f)³
/// multiplications, and a search about a thousand steps.
inline bool needs_first_order(Index samples, Index free_rows, Index kernels,
                              const FirstOrderOptions& options) {
    const auto parameters = static_cast<double>(kernels * free_rows);
    return parameters * parameters * (static_cast<double>(samples) + parameters) >
           options.max_second_order_work;
}

/// The result of a first-order search.
struct FirstOrderResult {
    KernelExpansion model{};
    bool more_wanted = false;  ///< there are as many kernels as were allowed, and the last were worth it
};

/// For models of hundreds of kernels, which cannot be tried one by one: the model doubles and descends while that
/// is worth it. It is worth it while the loss of samples held out falls by more than its standard error (a price
/// per parameter, as Criterion has it, would stop at two kernels where forty coordinates make 42 parameters each);
/// or, where a tolerance is given, until it is met. At the end the model descends on all samples. Holds a reference
/// to the problem.
template <class Scalar = double>
class FirstOrderSearch {
public:
    /// Whether a model meets the tolerance.
    using StopPredicate = std::function<bool(const KernelExpansion&)>;

    FirstOrderSearch(const SearchProblem& problem, const SearchOptions& options, StopPredicate met = {})
        : problem_(problem), options_(options), met_(std::move(met)) {}

    /// From the peaks, by candidates, up to `max_kernels`.
    FirstOrderResult run(const Matrix& peaks, const Matrix& candidates, Index max_kernels) {
        const double share = met_ ? 0.0 : first_order().held_out_fraction;
        const PartialProblem kept(problem_, kept_samples(share)), held(problem_, held_samples(share));
        const FirstOrderDescent<Scalar> descent(kept.problem());
        CandidateGains<Scalar> gains(kept.problem(), candidates, first_order().gain_samples);
        KernelExpansion model = peak_model(peaks, max_kernels);
        if (model.size() > 0)
            model = descent.minimize(std::move(model), first_order().growing_steps, first_order());
        best_ = model;
        bool more_wanted = false;
        while (model.size() < max_kernels && candidates.cols() > 0 && !(met_ && met_(model))) {
            KernelExpansion next = grown(descent, gains, model, next_size(model.size(), max_kernels));
            if (next.size() == model.size()) break;
            next = descent.minimize(std::move(next), first_order().growing_steps, first_order());
            if (!met_ && !worth(held.problem(), model, next)) return {finished(std::move(model)), false};
            model = std::move(next);
            best_ = model;
            more_wanted = model.size() == max_kernels;
        }
        model = finished(std::move(model));
        if (met_) more_wanted = !met_(model);
        return {std::move(model), more_wanted};
    }

    /// The best model so far, where run() was interrupted; none before the first descent has ended.
    const std::optional<KernelExpansion>& best() const { return best_; }

private:
    // Streams of the generator: the samples held out, those that it grows on.
    static constexpr std::uint64_t held_stream = 32, growing_stream = 34;

    const FirstOrderOptions& first_order() const { return options_.first_order; }
    detail::CounterRandom random(std::uint64_t stream) const {
        return detail::CounterRandom(problem_.seed, stream);
    }

    /// Drawn at random: every so many-th might be of one kind.
    std::vector<Index> held_samples(double share) const {
        const Index n = problem_.points.size();
        return detail::random_part(n, static_cast<Index>(share * static_cast<double>(n)),
                                   random(held_stream));
    }
    /// All others, as many as the model grows on.
    std::vector<Index> kept_samples(double share) const {
        const std::vector<Index> out = held_samples(share);
        std::vector<Index> rest, some;
        for (Index i = 0; i < problem_.points.size(); ++i)
            if (!std::binary_search(out.begin(), out.end(), i)) rest.push_back(i);
        const auto count = static_cast<Index>(rest.size());
        for (const Index k : detail::random_part(count, std::min(count, first_order().growing_samples),
                                                 random(growing_stream)))
            some.push_back(rest[static_cast<std::size_t>(k)]);
        return some;
    }

    /// The first peaks with coefficients of zero.
    KernelExpansion peak_model(const Matrix& peaks, Index max_kernels) const {
        std::vector<Index> first(static_cast<std::size_t>(std::min(max_kernels, peaks.cols())));
        std::iota(first.begin(), first.end(), Index{0});
        const Index q = problem_.outputs();
        return {detail::columns_of<Scalar>(peaks, first), Matrix::Zero(static_cast<Index>(first.size()), q),
                Vector::Zero(q)};
    }

    Index next_size(Index now, Index max_kernels) const {
        constexpr double nearly = 0.7;  // of the limit: then all of them at once
        const Index size = std::min(max_kernels, std::max(first_order().first_kernels, 2 * now));
        return static_cast<double>(size) > nearly * static_cast<double>(max_kernels) ? max_kernels : size;
    }

    /// Whether the loss of samples held out falls by more than its standard error.
    static bool worth(const SearchProblem& held, const KernelExpansion& before,
                      const KernelExpansion& after) {
        const Matrix f = held.prediction(before), g = held.prediction(after);
        const auto m = static_cast<double>(f.cols());
        double sum = 0.0, squares = 0.0;
        for (Index i = 0; i < f.cols(); ++i) {
            const double gain = held.loss.cost(detail::columns_of<Scalar>(f, {i}), i) -
                                held.loss.cost(detail::columns_of<Scalar>(g, {i}), i);
            sum += gain;
            squares += gain * gain;
        }
        const double mean = sum / m;
        return mean > std::sqrt(std::max(0.0, squares / m - mean * mean) / m);
    }

    /// The model with more candidates, those of the largest gain, up to `size` kernels, by batches of half its size.
    KernelExpansion grown(const FirstOrderDescent<Scalar>& descent, CandidateGains<Scalar>& gains,
                          KernelExpansion model, Index size) const {
        constexpr Index batches_per_model = 2;
        while (model.size() < size) {
            const Index count = std::min(
                size - model.size(),
                std::max<Index>(1, std::max(first_order().first_kernels, model.size()) / batches_per_model));
            const std::vector<Index> batch =
                best_incoherent<Scalar>(problem_.kernel, problem_.points, gains.nodes(), gains(model),
                                        {count, options_.forward.max_coherence});
            if (batch.empty()) break;
            model = with_kernels(model, detail::columns_of<Scalar>(gains.nodes(), batch));
            if (model.size() < size)
                model = descent.minimize(std::move(model), first_order().batch_steps, first_order());
        }
        return model;
    }

    /// More kernels, with coefficients of zero.
    static KernelExpansion with_kernels(const KernelExpansion& model, const Matrix& nodes) {
        const Index k = model.size(), q = model.coefficients.cols();
        KernelExpansion larger{detail::beside<Scalar>(model.nodes, nodes), Matrix::Zero(k + nodes.cols(), q),
                               model.offset, model.slopes};
        detail::copy(model.coefficients, detail::Block(larger.coefficients).part(0, 0, k, q));
        return larger;
    }

    KernelExpansion finished(KernelExpansion model) {
        if (model.size() == 0) return model;
        best_ = model;
        return FirstOrderDescent<Scalar>(problem_).minimize(std::move(model), first_order().final_steps,
                                                            first_order());
    }

    const SearchProblem& problem_;
    const SearchOptions& options_;
    StopPredicate met_;
    std::optional<KernelExpansion> best_{};
};

}  // namespace kernelet
