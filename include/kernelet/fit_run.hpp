#pragma once

#include <kernelet/detail/watch.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/dual_stage.hpp>
#include <kernelet/erased_fit.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/prepared_samples.hpp>
#include <kernelet/search/final_model.hpp>
#include <kernelet/search/levels.hpp>
#include <kernelet/search/size_path.hpp>
#include <kernelet/search/streamed_search.hpp>

#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// The samples that the dual is solved on: a random part where they are very many.
template <class Scalar>
struct DualSamples {
    DualSamples(const PreparedSamples& data, Index count, std::uint64_t seed)
        : part(random_part(data.x.cols(), count, CounterRandom(seed, stream))),
          x(columns_of<Scalar>(data.x, part)),
          y(columns_of<Scalar>(data.y, part)),
          weights(entries_of<Scalar>(data.weights, part)),
          tolerance(entries_of<Scalar>(data.tolerance, part)),
          points(x) {
        for (const Index i : part) given.push_back(data.order[static_cast<std::size_t>(i)]);
    }

    std::vector<Index> part;
    std::vector<Index> given{};  ///< the part, in the numbers of the samples given
    Matrix x, y;
    Vector weights, tolerance;
    TiledPoints points;

private:
    static constexpr std::uint64_t stream = 41;
};

/// The dual, of which one is solved again and again along the path of γ.
using ErasedDualStage = DualStage<AnyKernel, AnyLoss, AnyDomain, ErasedSolver>;

/// The fraction of the dual stage that is done, for the observer alone: solves of about a dozen iterations each, the
/// first, without sparsity, the quickest, and more of them where the domain has no rule or the tolerance is relaxed.
class DualProgress {
public:
    /// Before and after the iteration that begins now.
    std::pair<double, double> next(Index iteration) {
        if (iteration == 0) ++solve_;
        return {at(iteration), at(iteration + 1)};
    }

private:
    double at(Index iteration) const {
        constexpr double usual = 12.0, least_left = 2.0, first_solve = 0.4, share = 2.0 / 3.0;
        const auto begun = [&](int solve) {
            return solve == 0 ? 0.0 : 1.0 - (1.0 - first_solve) * std::pow(share, solve - 1);
        };
        const auto done = static_cast<double>(iteration);
        const double within = done / (done + std::max(least_left, usual - done));
        return begun(solve_) + (begun(solve_ + 1) - begun(solve_)) * within;
    }

    int solve_ = -1;
};

/// A dual solution and the model found from it.
struct FoundModel {
    SolvedDual dual{};
    Index peaks{}, merged{};
    SearchResult search{};
    FinalModel finished{};
    double mean_loss{};                     ///< Σ w ℓ / (q Σ w) at the samples
    std::optional<StreamedModel> on_all{};  ///< where the samples are part of a source
    double violation{};                     ///< of the tolerance, on all of them
};

/// The samples of a source of which a fit holds a part.
template <class Scalar>
struct AllSamples {
    Index count{};
    typename StreamedSearch<Scalar>::Pass pass{};
    /// Hands the samples that are held to other processes, which then take part in their sums; none: there are none.
    std::function<SharedLevel*(const Samples&, PassRequest)> share{};
};

/// One fit, stage by stage: prepare, solve, extract, search, finish. Everything is in the units of the fit.
template <class Scalar>
class FitRun {
public:
    /// `all`: the samples that those of the fit were drawn from, where they are not all. Holds references.
    FitRun(const FitProblem& problem, const InputScaling& scaling, const AnyDomain& domain, Watch& watch,
           const AllSamples<Scalar>* all = nullptr)
        : problem_(problem),
          options_(problem.options),
          scaling_(scaling),
          domain_(domain.with_parameters(parameter_layout(problem.kernel, domain.dimension()))),
          watch_(watch),
          all_(all) {}

    ErasedFit operator()(const OrderedSamples& samples, const WarmStart& warm, bool wants_sizes = false) {
        const PreparedSamples data = prepare(samples);
        const AnyLoss loss = problem_.loss.adapted(data.noise.deviation);
        const TiledPoints points(data.x);
        DualSamples<Scalar> part(data, report_.dual_samples, options_.seed);
        const ErasedDualStage stage{problem_.kernel, loss,           domain_,         part.points, part.y,
                                    part.weights,    part.tolerance, problem_.solver, options_,    &watch_};
        candidates_ = stage.problem(stage.feasible(part.tolerance)).nodes(options_.search.candidates).nodes;
        require_finite_policies<Scalar>(problem_.kernel, loss, points, candidates_, data.y);
        scales_ = SampleScales::of(loss, {data.x, data.y, data.weights}, data.search_noise(),
                                   options_.search.priors);
        SearchProblem search_problem = this->search_problem(data, points, loss, part.x);
        if (all_ != nullptr && all_->share && loss.is_squared())
            search_problem.shared =
                all_->share({data.x, data.y, data.weights, {}}, {.kind = PassRequest::Kind::level_samples,
                                                                 .noise_deviation = data.noise.deviation,
                                                                 .window = search_problem.loss.window()});
        expect(search_problem);
        WarmStart from = warm;
        if (warm.lambda.size() > 0) from.lambda = columns_of<Scalar>(warm.lambda, part.given);
        const auto fitted = [&](const WarmStart& start) {
            FoundModel out;
            out.dual = solve(stage, start);
            const FeasibleSet<AnyLoss> allowed(loss, data.y, options_.scope,
                                               stage.relaxed(data.tolerance, out.dual), data.weights);
            const Matrix peaks = extract(part.x, points, out);
            search(search_problem, peaks, allowed, data.tolerance_given, out);
            return out;
        };
        FoundModel found = fitted(from);
        // Along the path of growing γ for the best model within max_kernels.
        for (int doubling = 0; doubling < path_doublings && path_is_worth_it(found); ++doubling) {
            from.lambda = found.dual.solution.lambda;
            from.gamma = 4.0 * found.dual.certificate.gamma;  // twice the threshold
            FoundModel next = fitted(from);
            if (!(next.mean_loss < found.mean_loss)) continue;
            next.dual.unsparse_height = found.dual.unsparse_height;
            found = std::move(next);
        }
        const double noise = found.search.scales.noise_deviation;
        if (noise_fell(data, found)) {
            // Once more from the last λ, at the tolerance that follows from the noise of the model.
            part.tolerance.setConstant(default_tolerance(loss, data.x, data.y, noise, options_));
            WarmStart again;
            again.lambda = found.dual.solution.lambda;
            SolvedDual dual = solve(stage, again);
            if (dual.solution.status == Status::converged && !dual.infeasible) {
                found.dual = std::move(dual);
                report_.noise_deviation = noise;
            }
        }
        if (all_ != nullptr)
            move_on_all_samples(search_problem, data, stage.relaxed(data.tolerance, found.dual), found);
        std::vector<SizedModel> sizes;
        if (wants_sizes) sizes = models_of_sizes(search_problem, data, found);
        ErasedFit fit = finish(data, points, loss, part, std::move(found));
        fit.sizes = std::move(sizes);
        return fit;
    }

private:
    static constexpr int path_doublings = 2;  // of the threshold, in search of a model within max_kernels
    static constexpr double peaks_per_dual =
        0.1;  // expected seconds of the peaks, relative to those of the dual

    /// Repetitions of dual and search that max_kernels is expected to cost, where nothing is known yet: between none
    /// and path_doublings.
    double repeats() const { return options_.max_kernels && !options_.gamma ? 0.5 * path_doublings : 0.0; }

    /// Whether the noise that the search estimated with its model is so much less than that of neighbouring samples that
    /// the dual was solved at a tolerance too wide.
    bool noise_fell(const PreparedSamples& data, const FoundModel& found) const {
        constexpr double much_less = 2.0 / 3.0;
        const double noise = found.search.scales.noise_deviation;
        return !data.tolerance_given && scales_.noise_is_bound && !watch_.stopped() &&
               !found.dual.infeasible && found.search.bound != Bound::observer && noise > 0.0 &&
               noise < much_less * data.noise.deviation;
    }

    void expect(const SearchProblem& problem) {
        if (watch_.watched() && !watch_.stopped() && scales_.energy > 0.0)
            expected_search_ = expected_search_seconds<Scalar>(
                problem, candidates_, options_.max_kernels.value_or(problem.points.size()));
    }

    bool path_is_worth_it(const FoundModel& found) const {
        return found.search.bound == Bound::max_kernels && !watch_.stopped() && !found.dual.infeasible &&
               !options_.gamma && found.search.repeatable;
    }

    PreparedSamples prepare(const OrderedSamples& samples) {
        PreparedSamples data = prepared<Scalar>(problem_, samples, scaling_, watch_);
        report_.noise_deviation = data.noise.deviation;
        report_.tolerance = max_abs(data.tolerance);
        report_.tolerance_given = data.tolerance_given;
        report_.samples = all_ != nullptr ? all_->count : data.x.cols();
        const bool asked = data.tolerance_given || options_.gamma;
        report_.dual_samples = std::min(data.x.cols(), options_.dual_samples.value_or(asked ? 2000 : 200));
        return data;
    }

    SolvedDual solve(const ErasedDualStage& stage, const WarmStart& from) {
        const double before = report_.seconds.dual > 0.0 ? watch_.seconds() : 0.0;
        ObserverFunction tell;
        DualProgress steps;
        if (watch_.watched())
            tell = [&](const Progress& progress) {
                const auto [done, next] = steps.next(progress.iteration);
                watch_.advance(done, next);
                return watch_.tell(progress);
            };
        watch_.begin("dual", expected_search_, (1.0 + repeats()) * expected_search_ + expected_passes());
        SolvedDual dual = stage.solve(from, tell);
        report_.seconds.dual += watch_.seconds() - before;
        return dual;
    }

    /// The peaks of the field of a dual solution, (d + p) x peaks.
    Matrix extract(const Matrix& x, const TiledPoints& points, FoundModel& found) {
        watch_.begin("peaks", peaks_per_dual * report_.seconds.dual,
                     (1.0 + repeats()) * expected_search_ + expected_passes());
        const double before = watch_.seconds();
        ExtractedPeaks extracted;
        const DualSolution& solution = found.dual.solution;
        const CoefficientField<AnyKernel> field(problem_.kernel, x, solution.lambda,
                                                found.dual.certificate.gamma,
                                                InputScaling::identity(x.rows()));
        try {
            extracted = extract_peaks(field, domain_, solution.quadrature.nodes,
                                      {points, options_.peaks, poll_of(&watch_)});
        } catch (const Interrupted&) {
            // no peaks: the search begins from the candidates
        }
        found.peaks = static_cast<Index>(extracted.peaks.size());
        found.merged = extracted.merged;
        Matrix peaks(domain_.rows(), found.peaks);
        for (Index j = 0; j < found.peaks; ++j)
            copy(extracted.peaks[static_cast<std::size_t>(j)].node, Block(peaks).columns(j, 1));
        report_.seconds.peaks = watch_.seconds() - before;
        return peaks;
    }

    SearchProblem search_problem(const PreparedSamples& data, const TiledPoints& points, const AnyLoss& loss,
                                 const Matrix& dual_x) {
        const SearchOptions& search = options_.search;
        const double window =
            loss.is_classification() ? search.label_window : search.noise_window * scales_.noise_deviation;
        return {.kernel = problem_.kernel,
                .domain = domain_,
                .points = points,
                .loss = {loss, data.y, data.weights, window},
                .priors = Priors::from(scales_, domain_, options_),
                .trend = fitted_trend(data, dual_x),
                .seed = options_.seed,
                .watch = &watch_};
    }

    /// From peaks to the fewest kernels.
    void search(const SearchProblem& problem, const Matrix& peaks, const FeasibleSet<AnyLoss>& allowed,
                bool tolerance_given, FoundModel& found) {
        found.finished.model = empty_expansion(domain_.rows(), problem.outputs());
        found.search.bound = tolerance_given ? Bound::tolerance : Bound::criterion;
        if (!(scales_.energy > 0.0)) return;
        const SearchRequest request{peaks, candidates_, scales_, tolerance_given ? &allowed : nullptr};
        watch_.begin("search", expected_search_,
                     repeats() * (report_.seconds.dual + report_.seconds.peaks + expected_search_) +
                         expected_passes());
        found.search = SearchInLevels<Scalar>(problem, request, held_options(problem.points.size())).run();
        found.finished = final_model<Scalar>(problem, found.search);
        found.mean_loss = allowed.mean_loss(problem.prediction(found.finished.model));
    }

    /// Options of the search on the held samples. If there are more samples, later passes over all of them move the
    /// kernels, so that this search may end earlier: a parameter that is off by a fraction of its standard error costs
    /// the square of that fraction, in units of σ², of a cost of about N σ².
    Options held_options(Index held) const {
        Options options = options_;
        const double fraction = options.search.streams.arrival_fraction;
        double& least = options.search.polish.min_decrease;
        if (all_ != nullptr) least = std::max(least, fraction * fraction / static_cast<double>(held));
        return options;
    }

    /// Seconds that the passes over all samples are expected to take, for the observer alone: of a model of so many
    /// kernels, or of a dozen before there is one. A kernel value is some ten nanoseconds, a multiplication of the sums a
    /// tenth of one.
    double expected_passes(Index kernels = 12) const {
        constexpr double passes = 3.0, value_seconds = 1e-8, product_seconds = 1e-10;
        if (all_ == nullptr) return 0.0;
        const auto k = static_cast<double>(kernels), columns = k * static_cast<double>(1 + domain_.rows());
        return passes * static_cast<double>(all_->count) *
               (k * value_seconds + columns * columns * product_seconds);
    }

    /// Moves the kernels found on the samples that are held on all of them. Where they then miss a tolerance, which holds
    /// for the samples that are held, the search goes on there at a tolerance that is tighter by as much.
    void move_on_all_samples(const SearchProblem& problem, const PreparedSamples& data, Vector tolerances,
                             FoundModel& found) {
        constexpr int most_rounds = 3;
        if (watch_.stopped() || found.search.bound == Bound::observer) return;
        const Scope scope = options_.scope;
        const double asked = max_abs(tolerances);
        if (found.search.model.offset.size() == 0) found.search.model = found.finished.model;  // no signal
        if (is_constant(found.search.model, problem.loss.loss()))
            found.search.model.offset = weighted_mean<Scalar>(data.y, data.weights);
        PassRequest units{.seed = options_.seed,
                          .scaling = scaling_,
                          .baseline = data.offset,
                          .noise_deviation = data.noise.deviation,
                          .window = problem.loss.window(),
                          .tolerance = asked};
        watch_.begin("passes", expected_passes(found.search.model.size()), 0.0);
        for (int round = 0;; ++round) {
            StreamedSearch<Scalar> streamed(problem, options_, units, all_->count, all_->pass);
            found.on_all = streamed.run(found.search);
            found.finished = found.on_all->finished;
            if (found.on_all->stopped) found.search.bound = Bound::observer;
            if (found.on_all->stopped || !data.tolerance_given) return;
            found.violation = streamed.violation(*found.on_all, asked, scope);
            if (!(found.violation > 0.0) || round == most_rounds || found.search.bound != Bound::tolerance)
                return;
            scale<Scalar>(tolerances,
                          asked / std::max(asked, residual_on_all(*found.on_all, problem.loss.loss())));
            const FeasibleSet<AnyLoss> tighter(problem.loss.loss(), data.y, scope, tolerances, data.weights);
            const SearchResult before = found.search;
            SearchRequest request{found.finished.model.nodes, candidates_, before.scales, &tighter,
                                  SearchEffort::refine,       true,        &before.model};
            found.search = Search<Scalar>(problem, request, held_options(problem.points.size())).run();
            found.search.scales = before.scales;
            found.search.hyper = before.hyper;
            found.search.trend = before.trend;
        }
    }

    /// The least tolerance that the model meets on all samples.
    double residual_on_all(const StreamedModel& model, const AnyLoss& loss) const {
        const PassLosses& losses = model.losses;
        const auto outputs = static_cast<double>(losses.squares.size());
        return tolerance_of_level(loss, options_.scope == Scope::per_sample
                                            ? losses.largest_loss
                                            : losses.loss / (losses.weight * outputs));
    }

    /// Whether a model is one number, which is the mean of y where no kernel is worth it.
    bool is_constant(const KernelExpansion& model, const AnyLoss& loss) const {
        return model.size() == 0 && model.slopes.size() == 0 && options_.center &&
               !options_.has_dual_trend() && !loss.is_classification();
    }

    /// The trend that is fitted with the kernels. By default no offset where a wide kernel can carry a change of it: a
    /// fitted offset may be far from all data, and shows in gaps.
    Trend fitted_trend(const PreparedSamples& data, const Matrix& x) const {
        if (options_.asked_trend() != Trend::automatic) return options_.asked_trend();
        const auto [lo, hi] = bounding_box(x);
        const double spread = std::sqrt(squared_distance(lo.data(), hi.data(), x.rows()));
        const bool narrow = domain_.widths().hi < options_.search.priors.wide_kernel_fraction * spread;
        return narrow && any_nonzero(data.offset) ? Trend::constant : Trend::none;
    }

    ErasedFit finish(const PreparedSamples& data, const TiledPoints& points, const AnyLoss& loss,
                     const DualSamples<Scalar>& part, FoundModel found) {
        ErasedFit fit;
        fit.scaling = scaling_;
        fit.field_x = part.x;
        fit.field_lambda = found.dual.solution.lambda;
        report_dual(found.dual, data, part.given);
        fit.multipliers = Matrix::Zero(data.y.rows(), data.y.cols());
        for (std::size_t i = 0; i < part.given.size(); ++i)
            copy(ConstBlock(found.dual.solution.lambda).columns(static_cast<Index>(i), 1),
                 Block(fit.multipliers).columns(part.given[i], 1));
        report_.prices = column_norms<Scalar>(fit.multipliers);
        report_model(loss, data, points, found);
        report_.seconds.search = watch_.seconds() - report_.seconds.dual - report_.seconds.peaks;
        static_cast<ErasedModel&>(fit) = with_baseline(std::move(found.finished), data.offset);
        fit.report = std::move(report_);
        watch_.finish();
        return fit;
    }

    /// A model of y instead of y − baseline.
    static ErasedModel with_baseline(FinalModel finished, const Vector& baseline) {
        KernelExpansion& model = finished.model;
        ErasedModel out{std::move(model.nodes), std::move(model.coefficients), baseline,
                        std::move(model.slopes), std::move(finished.statistics)};
        add_scaled<Scalar>(out.offset, 1.0, model.offset);
        return out;
    }

    /// The best models of other sizes, and the one that was found.
    std::vector<SizedModel> models_of_sizes(SearchProblem problem, const PreparedSamples& data,
                                            const FoundModel& found) {
        std::vector<SizedModel> out;
        if (found.search.model.offset.size() == 0 || watch_.stopped()) return out;
        watch_.begin("sizes", expected_search_, 0.0);
        problem.priors = Priors::from(found.search.scales, options_, found.search.hyper);
        problem.trend = found.search.trend;
        const FeasibleSet<AnyLoss> asked(problem.loss.loss(), data.y, options_.scope, data.tolerance,
                                         data.weights);
        for (KernelExpansion& model : SizePath<Scalar>(problem, candidates_, options_).run(found.search)) {
            SearchResult of_size = found.search;
            of_size.model = std::move(model);
            FinalModel finished = of_size.model.size() == found.search.model.size()
                                      ? found.finished
                                      : final_model<Scalar>(problem, of_size);
            if (is_constant(finished.model, problem.loss.loss()))
                finished.model.offset = weighted_mean<Scalar>(data.y, data.weights);
            const double residual = asked.residual(problem.prediction(finished.model));
            out.push_back({with_baseline(std::move(finished), data.offset), residual});
        }
        return out;
    }

    void report_dual(const SolvedDual& dual, const PreparedSamples& data, const std::vector<Index>& given) {
        static_cast<Certificate&>(report_) = dual.certificate;
        report_.unsparse_height = dual.unsparse_height;
        report_.solved_tolerance = max_abs(dual.tolerances);
        // A tolerance that was not given is the one that turned out to be feasible.
        if (!data.tolerance_given) report_.tolerance = report_.solved_tolerance;
        const bool infeasible = dual.infeasible && data.tolerance_given;
        report_.status = infeasible ? Status::infeasible : dual.solution.status;
        for (const Index i : infeasible ? dual.culprits : std::vector<Index>{})
            report_.culprits.push_back(given[static_cast<std::size_t>(i)]);
    }

    void report_model(const AnyLoss& loss, const PreparedSamples& data, const TiledPoints& points,
                      FoundModel& found) {
        KernelExpansion& model = found.finished.model;
        if (!found.on_all && is_constant(model, loss))
            model.offset = weighted_mean<Scalar>(data.y, data.weights);
        report_.peaks = found.peaks;
        report_.merged = found.merged + found.finished.redundant;
        report_.bound = found.search.bound;
        report_.kernels = model.size();
        if (found.on_all && !found.on_all->stopped) {
            report_.residual = residual_on_all(*found.on_all, loss);
            report_.model_violation = found.violation;
        } else {
            report_held(loss, data, expansion_values(problem_.kernel, points, model));
        }
        constexpr double rounding = 1e-9;
        if (report_.model_violation <= rounding * (report_.tolerance + max_abs(data.y)))
            report_.model_violation = 0.0;
        const bool missed = data.tolerance_given && report_.model_violation > 0.0;
        if (missed && report_.bound == Bound::tolerance && report_.status != Status::infeasible)
            report_.bound = Bound::exhausted;
        // That the dual has no answer matters more than what bound the search.
        const bool answered = report_.status != Status::infeasible && report_.status != Status::diverged;
        if (watch_.stopped())
            report_.status = Status::stopped;
        else if (report_.bound == Bound::max_kernels && answered)
            report_.status = Status::kernel_limit;
        else if (missed && report_.status == Status::converged)
            report_.status = Status::tolerance_missed;
    }

    /// Residual and violation on the samples that are held, of the tolerance that the report names.
    void report_held(const AnyLoss& loss, const PreparedSamples& data, const Matrix& prediction) {
        require(all_finite(prediction), "the kernel ", problem_.kernel.held_name(),
                " returned a value that is not finite");
        const Vector tolerance = data.tolerance_given
                                     ? data.tolerance
                                     : Vector(Vector::Constant(data.y.cols(), report_.tolerance));
        const FeasibleSet<AnyLoss> asked(loss, data.y, options_.scope, tolerance, data.weights);
        report_.residual = asked.residual(prediction);
        require(std::isfinite(report_.residual), "the ", loss.held_name(),
                " loss returned a value that is not finite");
        report_.model_violation = asked.violation(prediction);
    }

    const FitProblem& problem_;
    const Options& options_;
    const InputScaling& scaling_;
    AnyDomain domain_;
    Watch& watch_;
    const AllSamples<Scalar>* all_;
    Matrix candidates_{};  // from which kernels are added to a model
    SampleScales scales_{};
    double expected_search_ = 0.0;  // seconds, for the observer alone
    Report report_{};
};

/// The scaling and the domain that samples ask for, in the units of the fit where they are not given.
struct FitUnits {
    InputScaling scaling{};
    AnyDomain domain;

    static FitUnits of(const Options& options, const Matrix& given_x,
                       const std::optional<AnyDomain>& domain) {
        const Index d = given_x.rows();
        if (domain) {
            require(domain->dimension() == d, "the domain has ", domain->dimension(),
                    " coordinates but x has ", d, " rows");
            return {InputScaling::identity(d), *domain};
        }
        InputScaling scaling =
            options.standardize ? InputScaling::standard(given_x) : InputScaling::identity(d);
        const Matrix x = scaling.to_internal(given_x);
        AnyDomain own = d >= around_samples_from_dimension ? AnyDomain(around_samples(x))
                                                           : AnyDomain(box_from_samples(x));
        return {std::move(scaling), std::move(own)};
    }
};

}  // namespace kernelet::detail
