#pragma once

#include <kernelet/fit_run.hpp>
#include <kernelet/search/sample_passes.hpp>
#include <kernelet/sources/team_calls.hpp>
#include <kernelet/target_unit.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

/// A fit to samples that are read in blocks: a survey of all samples, which draws those that are held; the fit to these;
/// passes over all samples that move its kernels. Where several processes share the samples, one of them, the root, fits,
/// and the others sum over their samples on its requests.
namespace kernelet::detail {

template <class Archive>
void visit(Archive& archive, DrawnSamples& drawn) {
    archive(drawn.samples.x);
    archive(drawn.samples.y);
    archive(drawn.samples.weights);
    archive(drawn.numbers);
}

template <class Archive>
void visit(Archive& archive, Report& report) {
    archive(report.dual_value);
    archive(report.primal_value);
    archive(report.max_violation);
    archive(report.support_measure);
    archive(report.integration_error);
    archive(report.gamma);
    archive(report.threshold_ratio);
    archive(report.nodes);
    archive(report.iterations);
    archive(report.certified);
    archive(report.status);
    archive(report.tolerance);
    archive(report.tolerance_given);
    archive(report.noise_deviation);
    archive(report.solved_tolerance);
    archive(report.samples);
    archive(report.dual_samples);
    archive(report.unsparse_height);
    archive(report.peaks);
    archive(report.merged);
    archive(report.kernels);
    archive(report.bound);
    archive(report.residual);
    archive(report.model_violation);
    archive(report.prices);
    archive(report.culprits);
    archive(report.seconds.dual);
    archive(report.seconds.peaks);
    archive(report.seconds.search);
}

template <class Archive>
void visit(Archive& archive, ErasedFit& fit) {
    visit(archive, fit.scaling);
    archive(fit.nodes);
    archive(fit.coefficients);
    archive(fit.offset);
    archive(fit.slopes);
    archive(fit.statistics.shares);
    archive(fit.statistics.noise);
    archive(fit.statistics.discrepancy);
    archive(fit.statistics.covariance);
    archive(fit.field_x);
    archive(fit.field_lambda);
    visit(archive, fit.report);
    archive(fit.multipliers);
}

template <class T>
Team::Bytes packed(T& value) {
    MessageWriter writer;
    visit(writer, value);
    return writer.bytes();
}

template <class T>
T unpacked(const Team::Bytes& bytes) {
    T value;
    MessageReader reader(bytes);
    visit(reader, value);
    return value;
}

/// The fraction of the passes of a stage that is done, for the observer alone. How many there will be is not known:
/// usually two on each part of the samples, and one more.
class PassProgress {
public:
    void begin(double part) {
        constexpr double reading = 0.03;  // of a whole pass
        done_ += now_;
        now_ = reading + part;
    }
    double at(double fraction) const {
        constexpr double usual = 3.0;
        const double before = done_ + fraction * now_;
        return before / std::max(usual, before + 1.0);
    }

private:
    double done_ = 0.0, now_ = 0.0;
};

template <class Scalar>
class SourceFit {
public:
    /// Holds references.
    SourceFit(const FitProblem& problem, const AnySource& source, FitRequest request)
        : problem_(problem),
          source_(source),
          request_(std::move(request)),
          watch_(is_worker(source) ? ObserverFunction{} : std::move(request_.observer)),
          blocks_(source, problem.loss.is_classification() ? std::string(problem.loss.held_name()) : ""),
          passes_(problem.kernel, problem.loss, blocks_) {}

    ErasedFit run() {
        if (source_.team() == nullptr) return fitted();
        Team& team = *source_.team();
        calls_.emplace(team,
                       [this](const Team::Bytes& bytes) { return answer(unpacked<PassRequest>(bytes)); });
        if (!team.is_root()) return unpacked<ErasedFit>(calls_->serve());
        ErasedFit fit;
        try {
            fit = fitted();
        } catch (...) {
            calls_->fail();
            throw;
        }
        calls_->finish(packed(fit));
        return fit;
    }

private:
    /// Whether this process is not the root of its team; such a process reports no progress.
    static bool is_worker(const AnySource& source) {
        return source.team() != nullptr && !source.team()->is_root();
    }

    Index held() const { return problem_.options.search.streams.held_samples; }

    ErasedFit fitted() {
        DrawnSamples drawn;
        try {
            drawn = draw();
        } catch (const Interrupted&) {
            drawn = draw_some();
        }
        require(TargetUnit::of(problem_, drawn.samples.y).is_one(),
                "y is below 2^-100 or above 2^100 in size; samples that are read in blocks need values in "
                "between: "
                "scale y");
        const OrderedSamples samples = ordered_samples<Scalar>(problem_, drawn.samples);
        drawn.samples = {};
        const FitUnits units = FitUnits::of(problem_.options, samples.samples.x, request_.domain);
        AllSamples<Scalar> all{blocks_.samples(), [this](const PassRequest& pass) { return totals(pass); }};
        if (calls_ && source_.team()->size() > 1)
            all.share = [this](const Samples& level, PassRequest request) {
                request.level = level;
                calls_->ask(packed(request));
                shared_.emplace([this](PassRequest& pass) { return calls_->ask(packed(pass)); });
                return &*shared_;
            };
        const bool part = blocks_.samples() > static_cast<Index>(drawn.numbers.size());
        WarmStart warm = request_.warm;
        if (warm.lambda.size() > 0) warm.lambda = columns_of<Scalar>(warm.lambda, drawn.numbers);
        ErasedFit fit = FitRun<Scalar>(problem_, units.scaling, units.domain, watch_, part ? &all : nullptr)(
            samples, warm);
        return in_numbers_of_source(std::move(fit), drawn.numbers);
    }

    /// All samples are read once; those that are held are returned.
    DrawnSamples draw() {
        PassRequest survey{.seed = problem_.options.seed};
        survey.part = std::min(1.0, static_cast<double>(held()) / static_cast<double>(blocks_.samples()));
        constexpr double later = 1e-6;  // seconds per sample of everything else, before anything is known
        watch_.begin("read", 0.0, later * static_cast<double>(blocks_.samples()));
        return drawn(survey);
    }

    /// After a stop during the survey: some samples that are quick to read, for the quick model of a fit that is stopped.
    DrawnSamples draw_some() {
        constexpr Index blocks = 4, samples = 4000;
        PassRequest survey{.seed = problem_.options.seed};
        const Index per_block = samples_per_block(source_.dimension(), source_.outputs());
        survey.part = static_cast<double>(samples) / static_cast<double>(blocks * per_block);
        DrawnSamples some = passes_.draw_from(survey, blocks);
        if (some.numbers.empty()) throw SourceError("kernelet: the fit was stopped before a sample was read");
        return some;
    }

    DrawnSamples drawn(const PassRequest& survey) {
        progress_ = {};
        progress_.begin(1.0);
        DrawnSamples out = surveyed(survey);
        progress_ = {};
        return out;
    }

    DrawnSamples surveyed(const PassRequest& survey) {
        if (!calls_) return passes_.draw(survey, poll());
        PassRequest request = survey;
        std::vector<DrawnSamples> parts;
        for (const Team::Bytes& bytes : calls_->ask(packed(request)))
            parts.push_back(unpacked<DrawnSamples>(bytes));
        return joined_parts(parts);
    }

    PassTotals totals(PassRequest request) {
        progress_.begin(request.part);
        if (!calls_) return std::move(passes_.totals(request, poll())).total();
        BlockTree tree;
        for (const Team::Bytes& bytes : calls_->ask(packed(request))) {
            MessageReader reader(bytes);
            std::size_t count = 0;
            reader(count);
            for (std::size_t k = 0; k < count; ++k) {
                BlockTree::Node node;
                visit(reader, node);
                tree.add(std::move(node));
            }
        }
        return std::move(tree).total();
    }

    /// What this process contributes to a pass.
    Team::Bytes answer(const PassRequest& request) {
        if (request.kind == PassRequest::Kind::level_samples) {
            const Team& team = *source_.team();
            level_.emplace(request, problem_.kernel, problem_.loss, &watch_,
                           PartShare{team.rank(), team.size()});
            return {};
        }
        if (request.kind > PassRequest::Kind::level_samples) return level_->answer(request);
        if (request.kind == PassRequest::Kind::survey) {
            DrawnSamples part = passes_.draw(request, poll());
            return packed(part);
        }
        BlockTree tree = passes_.totals(request, poll());
        MessageWriter writer;
        writer(tree.nodes().size());
        for (BlockTree::Node& node : tree.nodes()) visit(writer, node);
        return writer.bytes();
    }

    typename SamplePasses<Scalar>::Poll poll() {
        return [this](double fraction) {
            if (source_.team() != nullptr && source_.team()->others_raised()) throw Interrupted();
            if (!watch_.watched()) return;
            watch_.advance(progress_.at(fraction), progress_.at(std::min(1.0, fraction + 0.05)));
            watch_.poll();
        };
    }

    ErasedFit in_numbers_of_source(ErasedFit fit, const std::vector<Index>& numbers) const {
        for (Index& culprit : fit.report.culprits) culprit = numbers[static_cast<std::size_t>(culprit)];
        const Matrix of_held = std::move(fit.multipliers);
        fit.multipliers = {};
        fit.report.prices = {};
        if (!request_.keeps_multipliers) return fit;
        fit.multipliers = Matrix::Zero(of_held.rows(), blocks_.samples());
        for (std::size_t i = 0; i < numbers.size(); ++i)
            copy(ConstBlock(of_held).columns(static_cast<Index>(i), 1),
                 Block(fit.multipliers).columns(numbers[i], 1));
        fit.report.prices = column_norms<Scalar>(fit.multipliers);
        return fit;
    }

    const FitProblem& problem_;
    const AnySource& source_;
    FitRequest request_;
    Watch watch_;
    SampleBlocks blocks_;
    SamplePasses<Scalar> passes_;
    std::optional<TeamCalls> calls_{};
    std::optional<LevelShare<Scalar>>
        level_{};  // the part of this process in the sums over the samples that are held
    std::optional<SharedLevel> shared_{};  // these sums, on the root
    PassProgress progress_{};
};

template <class Scalar>
ErasedFit fit_source(const FitProblem& problem, const AnySource& source, FitRequest request) {
    return SourceFit<Scalar>(problem, source, std::move(request)).run();
}

}  // namespace kernelet::detail
