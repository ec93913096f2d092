#pragma once

#include <kernelet/domains/bounding_box.hpp>
#include <kernelet/search/streamed_model.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelet {

/// A model fitted on all samples of a source.
struct StreamedModel {
    FinalModel finished{};
    detail::PassLosses losses{};
    bool stopped = false;  ///< by the observer, before the last pass: losses and statistics are missing
};

/// The end of a search over the samples of a source, of which only a part is held: the kernels that were found on that
/// part are moved on parts that grow and on all samples, by Levenberg and Marquardt's method with one pass per step. A
/// pass sums the normal equations [Φ t B]'W[Φ t B] at a model, from which cost, gradient and curvature follow: O(n P²),
/// P = K (1 + f) + q columns, and P² numbers to add up between processes. The steps end where what they gain is a
/// hundredth of what the noise of the estimates costs, see StreamOptions.
///
/// Normal equations square the condition of Φ: coefficients are right to κ(Φ)² ε. Kernels whose part orthogonal to the
/// others is below 1e-6 of their norm (κ² = 1e12) are left out as redundant, and what is left is checked: the gradient at
/// the coefficients, taken from residuals of a further pass, is solved for once more, and added where it changes the
/// predictions by more than a thousandth of the residual.
template <class Scalar = double>
class StreamedSearch {
public:
    using Pass = std::function<detail::PassTotals(const detail::PassRequest&)>;

    /// `held`: the problem on the samples that are held; `units`: a request with all but a model and a part filled in; n:
    /// all samples. Holds references.
    StreamedSearch(const SearchProblem& held, const Options& options, detail::PassRequest units,
                   Index samples, Pass pass)
        : held_(held),
          options_(options),
          steps_(held.kernel, held.domain),
          units_(std::move(units)),
          samples_(samples),
          pass_(std::move(pass)) {}

    /// From what was found on the samples that are held.
    StreamedModel run(const SearchResult& found) {
        set(found);
        LinearizedModel best;
        best.fit = found.model;
        StreamedModel out;
        try {
            for (const double part : parts()) minimize(best, part);
            out = finished(std::move(best), found);
        } catch (const Interrupted&) {
            out.finished = detail::by_share<Scalar>(held_, best.fit);
            out.stopped = true;
        }
        return out;
    }

    /// How far the predictions of a model are outside of the tolerance, as FeasibleSet::violation(): exactly per sample;
    /// of the aggregate, by the multiplier of the projection, one pass per step towards it.
    double violation(const StreamedModel& model, double tolerance, Scope scope) {
        const detail::PassLosses& losses = model.losses;
        if (scope == Scope::per_sample) return losses.largest_distance;
        const double allowed =
            held_.loss.loss().level(tolerance) * static_cast<double>(held_.outputs()) * losses.weight;
        if (losses.loss <= allowed) return 0.0;
        constexpr int most_passes = 20;
        constexpr double accuracy = 1e-7;
        const double mean_weight = losses.weight / losses.samples;
        detail::PassRequest request = units_;
        request.kind = detail::PassRequest::Kind::projection;
        request.model = model.finished.model;
        // The squared loss of equal weights falls by (1 + 2κw)²: exact for it, and a fixed point for others.
        double squares = 0.0, loss = losses.loss;
        for (int pass = 0; pass < most_passes && loss > (1.0 + accuracy) * allowed; ++pass) {
            const double ratio = std::sqrt(loss / std::max(allowed, accuracy * accuracy * losses.loss));
            request.multiplier =
                ((1.0 + 2.0 * request.multiplier * mean_weight) * ratio - 1.0) / (2.0 * mean_weight);
            const Vector sums = pass_(request).sums;
            loss = sums(0);
            squares = sums(1);
        }
        return std::sqrt(squares / (losses.samples * static_cast<double>(held_.outputs())));
    }

private:
    using LinearizedModel = detail::LinearizedModel;

    const StreamOptions& streams() const { return options_.search.streams; }
    bool squared() const { return held_.loss.is_squared(); }

    void set(const SearchResult& found) {
        const Index k = found.model.size(), q = held_.outputs();
        const detail::TrendBasis trend(found.trend, held_.points);
        units_.trend_size = trend.size();
        units_.trend_mean = trend.mean();
        units_.trend_inverse = trend.inverse_deviation();
        // Models too large for these sums keep their nodes, and only the coefficients are fitted on all samples.
        const bool moves = k * (1 + steps_.size()) + q <= streams().max_columns;
        units_.free_rows = moves ? steps_.rows() : std::vector<Index>{};
        scales_ = found.scales;
        priors_ = Priors::from(found.scales, options_, found.hyper);
        held_ridge_ = found.ridge * detail::sum<Scalar>(held_.loss.weights());
        units_.ordered = ordering_pays(found.model.nodes);
    }

    /// The fractions of all samples that the model is moved on, in steps of equal ratio from what is held.
    std::vector<double> parts() const {
        const double ratio = static_cast<double>(samples_) / static_cast<double>(held_.points.size());
        const double levels = std::max(
            1.0, std::ceil(std::log(ratio) / std::log(static_cast<double>(options_.search.levels.growth))));
        std::vector<double> out;
        for (double level = 1.0; level < levels; ++level)
            out.push_back(std::pow(ratio, level / levels - 1.0));
        out.push_back(1.0);
        return out;
    }

    /// Whether kernels reach so few samples that blocks in spatial order are less work: sums cost the square of the
    /// kernels in reach, ordering about as much as a quarter of the sums of ten kernels.
    bool ordering_pays(const Matrix& nodes) const {
        constexpr double most_reached = 0.6;
        const Matrix& xt = held_.points.transposed();
        if (xt.cols() > 3 || nodes.cols() == 0) return false;
        const auto [lo, hi] = detail::bounding_box(detail::transposed<Scalar>(xt));
        double reached = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j) {
            const double reach = detail::reach_of(held_.kernel, detail::column_ref(nodes, j));
            double share = 1.0;
            for (Index c = 0; c < xt.cols(); ++c) {
                const double extent = hi(c) - lo(c);
                const double inside =
                    std::min(hi(c), nodes(c, j) + reach) - std::max(lo(c), nodes(c, j) - reach);
                if (extent > 0.0) share *= std::clamp(inside / extent, 0.0, 1.0);
            }
            reached += share;
        }
        return reached < most_reached * static_cast<double>(nodes.cols());
    }

    /// The factor of ‖a‖²: a ridge that was given is relative to Σ w, a prior on coefficients is not.
    double ridge(double weight) const {
        constexpr double rounding = 1e-10;
        return options_.ridge ? *options_.ridge * weight : std::max(held_ridge_, rounding * weight);
    }

    double width_cost(const Matrix& nodes) const {
        double cost = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (const Index row : steps_.rows())
                if (steps_.is_width(row))
                    cost += priors_.widths.cost(row - held_.domain.dimension(), nodes(row, j));
        return cost;
    }

    /// One pass.
    LinearizedModel linearized(KernelExpansion fit, double part) {
        const Index k = fit.size(), q = held_.outputs(), t = units_.trend_size,
                    f = static_cast<Index>(units_.free_rows.size());
        detail::PassRequest request = units_;
        request.kind = detail::PassRequest::Kind::normal_equations;
        request.part = part;
        request.model = fit;
        const detail::PassTotals totals = pass_(request);
        detail::require(detail::all_finite(totals.sums), "the ", held_.loss.loss().held_name(),
                        " loss or the ", held_.kernel.held_name(),
                        " kernel returned a value that is not finite");
        detail::PassSums sums = detail::PassSums::from(totals.sums, k * (1 + f) + q, t);
        return completed(std::move(fit), std::move(sums));
    }

    /// The quantities that follow from the sums at a model.
    LinearizedModel completed(KernelExpansion fit, detail::PassSums pass) const {
        const Index k = fit.size(), q = held_.outputs();
        const detail::TrendBasis trend = units_.trend();
        const EliminationTerms terms{ridge(pass.weight), q};
        LinearizedModel out;
        std::vector<Index> values(static_cast<std::size_t>(k + q));
        std::iota(values.begin(), values.end(), Index{0});
        out.newton = eliminate_coefficients<Scalar>(detail::sums_of_columns<Scalar>(pass.sums, values),
                                                    pass.total, terms);
        out.samples = pass.samples;
        out.weight = pass.weight;
        if (squared()) {
            fit.coefficients = out.newton.coefficients;
            detail::set_trend(fit, trend, out.newton.trend);
            out.cost = out.newton.cost;
        } else {
            out.cost = pass.cost + terms.ridge * detail::squared_norm<Scalar>(fit.coefficients);
            out.coefficient_gain =
                detail::quadratic_cost<Scalar>(pass.sums, fit.coefficients,
                                               detail::trend_coefficients(trend, fit), terms.ridge) -
                out.newton.cost;
        }
        out.cost += width_cost(fit.nodes);
        if (k > 0) out.pull = detail::pull_of<Scalar>(pass.sums, fit.coefficients, out.newton);
        out.quadratic.kernels = MovingKernels::all(fit.nodes);
        out.quadratic.total = pass.total;
        out.quadratic.sums = std::move(pass.sums);
        if (k > 0) eliminate_coefficients<Scalar>(out.quadratic, terms);
        out.fit = std::move(fit);
        return out;
    }

    /// The gain below which a step is not worth a pass: parameters differ from those of the best fit by a fraction of
    /// their standard errors, whose sum of squares is their number.
    double arrival(const LinearizedModel& now) const {
        constexpr double rounding = 1e-13;
        const auto parameters = static_cast<double>(now.size() * (held_.outputs() + steps_.size()));
        const double mean_weight = now.weight / now.samples;
        double unit = scales_.loss_unit() * mean_weight, energy = 0.0;
        if (squared()) {
            unit = now.cost / (now.samples * static_cast<double>(held_.outputs()));
            for (Index o = 0; o < held_.outputs(); ++o)
                energy += now.quadratic.sums.gram(now.size() + o, now.size() + o);
        }
        const double fraction = streams().arrival_fraction;
        return std::max(fraction * fraction * parameters * unit, rounding * energy);
    }

    /// Moves a model on a part of the samples. What is best so far is kept in `now` where the observer stops it.
    void minimize(LinearizedModel& now, double part) {
        const LevenbergMarquardtOptions& options = streams().descent;
        now = linearized(now.fit, part);  // a copy: a stop leaves the model as it was
        const bool moves = now.size() > 0 && !units_.free_rows.empty();
        const DampedSteps<Scalar> steps(held_.domain, steps_, priors_.widths);
        double damping = options.damping, length = 1.0;
        for (Index pass = 1; pass < options.max_steps && now.size() > 0; ++pass) {
            StepDirection direction;
            if (moves)
                direction = steps.direction(steps.equations(now.fit, now.quadratic, now.pull), now.fit.nodes,
                                            damping);
            const double gain = direction.gain + now.coefficient_gain;
            if (!(gain > arrival(now)) || damping > options.max_damping) break;
            LinearizedModel next = linearized(stepped(now, direction.step, length), part);
            if (next.cost < now.cost) {
                damping = DampedSteps<Scalar>::next_damping(damping, (now.cost - next.cost) / gain, options);
                length = 1.0;
                now = std::move(next);
            } else {
                damping *= options.damping_increase;
                length *= 0.5;
            }
        }
    }

    /// The model after a step δ of the nodes. Coefficients of the squared loss follow from the next sums; others go to
    /// a⁺ − G⁻¹Φ'WB (a ∘ δ), or a part of the way.
    KernelExpansion stepped(const LinearizedModel& now, const Vector& step, double length) const {
        KernelExpansion next = now.fit;
        const bool moves = step.size() > 0;
        if (moves) next.nodes = steps_.move(now.fit.nodes, step);
        if (squared()) return next;
        const GramMatrices& sums = now.quadratic.sums;
        const Index k = now.size(), q = held_.outputs(), t = units_.trend_size, f = steps_.size();
        Matrix a = now.newton.coefficients, along(moves ? k * f : 0, q);
        for (Index o = 0; o < q; ++o)
            for (Index i = 0; i < along.rows(); ++i) along(i, o) = now.fit.coefficients(i / f, o) * step(i);
        if (moves)
            detail::add_product<Scalar>(a, now.quadratic.inverse,
                                        detail::product<Scalar>(now.quadratic.cross, along), -1.0);
        const detail::TrendBasis trend = units_.trend();
        Matrix b = detail::trend_beside<Scalar>(sums, now.quadratic.total, a);
        if (moves && t > 0) {
            Matrix carried = detail::product_tn<Scalar>(
                detail::ConstBlock(sums.cross).part(k + q, 0, along.rows(), t), along);
            detail::cholesky_solve<Scalar>(detail::gram_factor<Scalar>(sums.trend, 0.0, now.quadratic.total),
                                           carried);
            detail::add_scaled<Scalar>(b, -1.0, carried);
        }
        Matrix before = detail::trend_coefficients(trend, now.fit);
        detail::scale<Scalar>(next.coefficients, 1.0 - length);
        detail::add_scaled<Scalar>(next.coefficients, length, a);
        detail::scale<Scalar>(before, 1.0 - length);
        detail::add_scaled<Scalar>(before, length, b);
        detail::set_trend(next, trend, before);
        return next;
    }

    /// Some kernels of a model, in this order, with new coefficients.
    LinearizedModel chosen(const LinearizedModel& model, const std::vector<Index>& kernels) const {
        const auto f = static_cast<Index>(units_.free_rows.size());
        KernelExpansion fit{detail::columns_of<Scalar>(model.fit.nodes, kernels),
                            detail::rows_of<Scalar>(model.fit.coefficients, kernels), model.fit.offset,
                            model.fit.slopes};
        detail::PassSums sums{
            model.samples, model.weight, 0.0, model.quadratic.total,
            detail::sums_of_columns<Scalar>(
                model.quadratic.sums, detail::columns_of_kernels(kernels, model.size(), held_.outputs(), f))};
        return completed(std::move(fit), std::move(sums));
    }

    StreamedModel finished(LinearizedModel model, const SearchResult& found) {
        StreamedModel out;
        if (squared() && model.size() > 0) {
            const std::vector<Index> kept = independent(model);
            out.finished.redundant = model.size() - static_cast<Index>(kept.size());
            if (out.finished.redundant > 0) model = chosen(model, kept);
        }
        out.losses = losses_of(model);
        // By falling share.
        Vector shares(model.size());
        for (Index j = 0; j < model.size(); ++j)
            shares(j) =
                detail::row_norms<Scalar>(model.fit.coefficients)(j) * std::sqrt(out.losses.masses(j));
        if (const double all = detail::sum<Scalar>(shares); all > 0.0)
            detail::scale<Scalar>(shares, 1.0 / all);
        std::vector<Index> order(static_cast<std::size_t>(model.size()));
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(), [&](Index l, Index r) { return shares(l) > shares(r); });
        const KernelExpansion fit = model.fit;  // as corrected by losses_of()
        model = chosen(model, order);
        model.fit.coefficients = detail::rows_of<Scalar>(fit.coefficients, order);
        model.fit.offset = fit.offset;
        model.fit.slopes = fit.slopes;
        out.finished.statistics.shares = detail::entries_of<Scalar>(shares, order);
        out.finished.model = model.fit;
        if (squared()) add_statistics(model, out, found);
        return out;
    }

    /// The kernels that the others do not span up to what normal equations resolve.
    std::vector<Index> independent(const LinearizedModel& model) const {
        constexpr double resolved = 1e-6;
        const Index k = model.size();
        const Matrix full = detail::gram_without_trend<Scalar>(model.quadratic.sums, model.quadratic.total);
        Matrix factor = detail::gram_factor<Scalar>(detail::ConstBlock(full).part(0, 0, k, k).copied(), 0.0,
                                                    model.quadratic.total);
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < j; ++i) factor(i, j) = 0.0;
        return detail::independent_columns<Scalar>(detail::transposed<Scalar>(factor), resolved).first;
    }

    /// Losses and residuals of a model over all samples; its coefficients are corrected by what these show.
    detail::PassLosses losses_of(LinearizedModel& model) {
        constexpr int most_corrections = 2;
        constexpr double negligible = 1e-3;
        for (int pass = 0;; ++pass) {
            detail::PassRequest request = units_;
            request.kind = detail::PassRequest::Kind::losses;
            request.model = model.fit;
            const Index k = model.size(), q = held_.outputs();
            detail::PassLosses losses =
                detail::PassLosses::from(pass_(request), detail::PassLosses::zero(k, q, units_.trend_size));
            detail::require(std::isfinite(losses.loss), "the ", held_.loss.loss().held_name(),
                            " loss or the ", held_.kernel.held_name(),
                            " kernel returned a value that is not finite");
            if (!squared() || k == 0 || pass == most_corrections) return losses;
            const EliminatedCoefficients rest = correction(model, losses);
            const double change = detail::quadratic_change(model.quadratic.sums, rest);
            if (!(std::sqrt(std::max(0.0, change)) > negligible * std::sqrt(losses.loss))) return losses;
            detail::add_scaled<Scalar>(model.fit.coefficients, 1.0, rest.coefficients);
            Matrix b = detail::trend_coefficients(units_.trend(), model.fit);
            if (b.rows() > 0) detail::add_scaled<Scalar>(b, 1.0, rest.trend);
            detail::set_trend(model.fit, units_.trend(), b);
        }
    }

    /// The normal equations once more, with what the residuals leave of their right side.
    EliminatedCoefficients correction(const LinearizedModel& model, const detail::PassLosses& losses) const {
        const Index k = model.size(), q = held_.outputs();
        std::vector<Index> values(static_cast<std::size_t>(k + q));
        std::iota(values.begin(), values.end(), Index{0});
        GramMatrices sums = detail::sums_of_columns<Scalar>(model.quadratic.sums, values);
        const EliminationTerms terms{ridge(model.weight), q};
        for (Index o = 0; o < q; ++o) {
            for (Index j = 0; j < k; ++j)
                sums.gram(j, k + o) = sums.gram(k + o, j) =
                    losses.gradient(j, o) - terms.ridge * model.fit.coefficients(j, o);
            for (Index c = 0; c < units_.trend_size; ++c) sums.cross(k + o, c) = losses.trend(c, o);
        }
        return eliminate_coefficients<Scalar>(sums, model.quadratic.total, terms);
    }

    void add_statistics(const LinearizedModel& model, StreamedModel& out, const SearchResult& found) const {
        const detail::PassLosses& losses = out.losses;
        const Index q = held_.outputs(), functions = units_.trend_size;
        SearchResult all = found;
        all.scales.samples = samples_;
        const detail::ParameterTerms terms{
            held_.domain.dimension(), functions, static_cast<double>(samples_) * static_cast<double>(q),
            ridge(losses.weight) * losses.samples / losses.weight, detail::node_precisions(held_, all)};
        const std::vector<Index> moving = detail::free_parameters(held_.domain, model.fit, functions);
        const double free = detail::free_share(terms.residuals, static_cast<double>(moving.size()));
        ModelStatistics& statistics = out.finished.statistics;
        statistics.noise.resize(q);
        for (Index o = 0; o < q; ++o)
            statistics.noise(o) = std::sqrt(losses.squares(o) / (losses.weight * free));
        Matrix information;
        if (detail::has_covariance(model.fit) && !units_.free_rows.empty())
            information = detail::information_of<Scalar>(model, steps_, units_.trend(), statistics.noise);
        const Vector roots = detail::root_precisions(model.fit, terms, statistics.noise);
        detail::add_covariance<Scalar>(statistics, std::move(information), roots, moving, terms);
    }

    const SearchProblem& held_;
    const Options& options_;
    NodeSteps steps_;
    detail::PassRequest units_;
    Index samples_;
    Pass pass_;
    SampleScales scales_{};
    Priors priors_{};
    double held_ridge_ = 0.0;
};

}  // namespace kernelet
