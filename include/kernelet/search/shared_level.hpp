#pragma once

#include <kernelet/domains/box.hpp>
#include <kernelet/search/expansion_gradient.hpp>
#include <kernelet/search/pass_request.hpp>
#include <kernelet/sources/team.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// The sums over the samples that a fit holds, shared by the processes of a team: each has all of these samples, which are
/// few, and computes some parts of every sum. The root adds the parts in their order, so that the result has the bits of
/// one process. Squared loss only; the level of most samples takes half of the time of a search.
namespace kernelet {

namespace detail {

template <class Archive>
void visit(Archive& archive, GramMatrices& sums) {
    archive(sums.gram);
    archive(sums.cross);
    archive(sums.trend);
}

using NodeGradient = ExpansionGradient<double>::Gradient;

template <class Archive>
void visit(Archive& archive, NodeGradient& gradient) {
    archive(gradient.cost);
    archive(gradient.nodes);
    archive(gradient.a);
    archive(gradient.trend);
}

template <class T>
Team::Bytes packed_parts(std::vector<T> parts) {
    MessageWriter writer;
    writer(parts.size());
    for (T& part : parts) visit(writer, part);
    return writer.bytes();
}

/// The parts of all processes in their order: process r has parts r, r + R, r + 2R, ...
template <class T>
std::vector<T> parts_in_order(const std::vector<Team::Bytes>& answers) {
    std::vector<std::vector<T>> of_process(answers.size());
    std::size_t all = 0;
    for (std::size_t r = 0; r < answers.size(); ++r) {
        MessageReader reader(answers[r]);
        std::size_t count = 0;
        reader(count);
        of_process[r].resize(count);
        for (T& part : of_process[r]) visit(reader, part);
        all += count;
    }
    std::vector<T> parts;
    for (std::size_t part = 0; part < all; ++part)
        parts.push_back(std::move(of_process[part % answers.size()][part / answers.size()]));
    return parts;
}

/// The part of these sums that one process computes.
template <class Scalar = double>
class LevelShare {
public:
    /// From a request of Kind::level_samples.
    LevelShare(const PassRequest& request, AnyKernel kernel, const AnyLoss& loss, Watch* watch,
               PartShare share)
        : samples_(request.level),
          points_(samples_.x),
          problem_{std::move(kernel),
                   AnyDomain(
                       Box(Vector::Zero(points_.dimension()), Vector::Ones(points_.dimension()), {1.0, 1.0})),
                   points_,
                   {loss.adapted(request.noise_deviation), samples_.y, samples_.weights, request.window},
                   {},
                   Trend::none,
                   1,
                   watch},
          squares_(problem_.loss.linearize({})),
          share_(share) {}
    LevelShare(const LevelShare&) = delete;  // the problem refers to the samples
    LevelShare& operator=(const LevelShare&) = delete;

    Team::Bytes answer(const PassRequest& request) {
        if (!gradient_ || problem_.trend != request.level_trend) {
            problem_.trend = request.level_trend;
            gradient_ = std::make_unique<ExpansionGradient<Scalar>>(problem_);
        }
        if (request.kind == PassRequest::Kind::level_values) return packed_parts(values(request.model.nodes));
        if (request.kind == PassRequest::Kind::level_gradient) return packed_parts(gradient(request.model));
        const NodeUnits units(problem_.kernel, points_.dimension(), request.free_rows);
        return packed_parts(
            gram_parts<Scalar>(problem_, units, {request.model.nodes, request.moving}, squares_, share_));
    }

private:
    std::vector<GramMatrices> values(const Matrix& nodes) {
        const Index n = points_.size(), k = nodes.cols(), strips = strips_of(n);
        nodes_ = nodes;
        held_.assign(static_cast<std::size_t>(strips), 0);
        if (phi_.cols() < k)
            phi_.resize(n + 8, k);  // columns a power of two apart share their place in the cache
        const auto owned = [&](Index s) { return share_.owns(s % parts_of(strips)); };
        hold(owned);
        const auto fill = [&](Index first, const Block& to) {
            copy(ConstBlock(phi_).part(first, 0, to.rows, to.cols), to);
        };
        return value_gram_parts<Scalar>(problem_, k, squares_, fill, share_);
    }

    /// At the nodes of the last values().
    std::vector<NodeGradient> gradient(const KernelExpansion& model) {
        const Index n = points_.size();
        hold([&](Index s) {
            const Strip strip = equal_strip(s, n);
            for (Index chunk = 0; chunk < gradient_->chunks(); ++chunk) {
                const auto [first, end] = gradient_->rows_of(chunk);
                if (share_.owns(chunk) && strip.first < end && first < strip.first + strip.rows) return true;
            }
            return false;
        });
        return gradient_->parts(model, ConstBlock(phi_).part(0, 0, n, model.size()), share_);
    }

    /// Kernel values of the strips that are wanted and not there yet.
    template <class Wanted>
    void hold(const Wanted& wanted) {
        const Index n = points_.size(), k = nodes_.cols();
        parallel_for(
            strips_of(n),
            [&](Index s) {
                char& there = held_[static_cast<std::size_t>(s)];
                if (there != 0 || !wanted(s)) return;
                there = 1;
                const Strip strip = equal_strip(s, n);
                for (Index j = 0; j < k; ++j)
                    kernel_run(problem_.kernel, points_, column_ref(nodes_, j), strip.first,
                               Block(phi_).part(strip.first, j, strip.rows, 1));
            },
            n * k);
    }

    Samples samples_;
    TiledPoints points_;
    SearchProblem problem_;
    WorkingSquares squares_;
    PartShare share_;
    std::unique_ptr<ExpansionGradient<Scalar>> gradient_{};
    Matrix nodes_{}, phi_{};    // n x K
    std::vector<char> held_{};  // strips whose kernel values are there
};

}  // namespace detail

/// The root's side of these sums: sends the requests and joins the answers.
class SharedLevel {
public:
    using Ask = std::function<std::vector<detail::Team::Bytes>(detail::PassRequest&)>;

    explicit SharedLevel(Ask ask) : ask_(std::move(ask)) {}

    GramMatrices values(const Matrix& nodes, Trend trend) {
        detail::PassRequest request = at(detail::PassRequest::Kind::level_values, trend);
        request.model.nodes = nodes;
        return GramMatrices::joined(detail::parts_in_order<GramMatrices>(ask_(request)));
    }

    /// At the nodes of the last values().
    std::vector<detail::NodeGradient> gradient(const KernelExpansion& model, Trend trend) {
        detail::PassRequest request = at(detail::PassRequest::Kind::level_gradient, trend);
        request.model = model;
        return detail::parts_in_order<detail::NodeGradient>(ask_(request));
    }

    GramMatrices gram(const MovingKernels& kernels, const std::vector<Index>& free_rows, Trend trend) {
        detail::PassRequest request = at(detail::PassRequest::Kind::level_gram, trend);
        request.model.nodes = kernels.nodes;
        request.moving = kernels.moving;
        request.free_rows = free_rows;
        return GramMatrices::joined(detail::parts_in_order<GramMatrices>(ask_(request)));
    }

private:
    static detail::PassRequest at(detail::PassRequest::Kind kind, Trend trend) {
        detail::PassRequest request;
        request.kind = kind;
        request.level_trend = trend;
        return request;
    }

    Ask ask_;
};

}  // namespace kernelet
