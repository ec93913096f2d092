#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/detail/spatial_order.hpp>
#include <kernelet/detail/watch.hpp>
#include <kernelet/losses/separable.hpp>
#include <kernelet/search/pass_request.hpp>
#include <kernelet/sources/sample_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace kernelet::detail {

/// Samples drawn from a source.
struct DrawnSamples {
    Samples samples{};
    std::vector<Index> numbers{};  ///< of each in the source, ascending
};

/// Samples that were drawn from parts of a source one after the other.
inline DrawnSamples joined_parts(const std::vector<DrawnSamples>& parts) {
    DrawnSamples out;
    Index count = 0, d = 0, q = 0;
    for (const DrawnSamples& part : parts) {
        count += part.samples.x.cols();
        d = std::max(d, part.samples.x.rows());
        q = std::max(q, part.samples.y.rows());
    }
    out.samples.x.resize(d, count);
    out.samples.y.resize(q, count);
    out.samples.weights.resize(count);
    Index at = 0;
    for (const DrawnSamples& part : parts) {
        const Samples& some = part.samples;
        if (some.x.cols() == 0) continue;
        copy(some.x, Block(out.samples.x).columns(at, some.x.cols()));
        copy(some.y, Block(out.samples.y).columns(at, some.x.cols()));
        std::copy_n(some.weights.data(), some.x.cols(), out.samples.weights.data() + at);
        out.numbers.insert(out.numbers.end(), part.numbers.begin(), part.numbers.end());
        at += some.x.cols();
    }
    return out;
}

/// The passes over those samples of a source that one process reads: block by block on several threads, each block
/// summed by itself, the totals joined in the order of BlockTree. What it holds are a few blocks and totals per thread.
template <class Scalar = double>
class SamplePasses {
public:
    /// Asked now and then by the thread that runs the pass, with the fraction that is done; throws to end the pass.
    using Poll = std::function<void(double)>;

    /// Holds references.
    SamplePasses(const AnyKernel& kernel, const AnyLoss& loss, SampleBlocks& blocks)
        : kernel_(kernel), loss_(loss), blocks_(blocks) {}

    const SampleBlocks& blocks() const { return blocks_; }

    /// The random part that `request` describes; every sample is read and checked.
    DrawnSamples draw(const PassRequest& request, const Poll& poll) {
        std::vector<DrawnSamples> parts(static_cast<std::size_t>(blocks_.end() - blocks_.begin()));
        for_blocks(poll, std::numeric_limits<Index>::max(), [&](Index block) {
            parts[static_cast<std::size_t>(block - blocks_.begin())] = drawn(blocks_.read(block), request);
        });
        return joined_parts(parts);
    }

    /// As draw(), but reads `blocks` of the blocks only.
    DrawnSamples draw_from(const PassRequest& request, Index blocks) {
        const Index all = blocks_.end() - blocks_.begin(), count = std::min(blocks, all);
        std::vector<DrawnSamples> parts;
        for (Index k = 0; k < count; ++k)
            parts.push_back(drawn(blocks_.read(blocks_.begin() + k * all / count), request));
        return joined_parts(parts);
    }

    /// The totals of a pass over the blocks of this process, as subtrees of BlockTree.
    BlockTree totals(const PassRequest& request, const Poll& poll) {
        const AnyLoss loss = loss_.adapted(request.noise_deviation);
        const PassTotals zero = shape_of(request);
        BlockTree tree;
        std::vector<PassTotals> batch;
        Index first = blocks_.begin();
        const auto flush = [&] {
            for (PassTotals& totals : batch) tree.add({0, first++, std::move(totals)});
            batch.clear();
        };
        const Index most = std::max<Index>(1, batch_bytes / (8 * std::max<Index>(1, zero.sums.size())));
        for_blocks(
            poll, most,
            [&](Index block) {
                PassTotals& to = batch[static_cast<std::size_t>(block - first)];
                to = zero;
                const SampleBlock samples = seen(blocks_.read(block), request);
                if (samples.size() > 0) add({samples, TiledPoints(samples.x), loss, request}, to);
            },
            [&](Index count) {
                flush();
                batch.resize(static_cast<std::size_t>(count));
            });
        flush();
        return tree;
    }

private:
    static constexpr Index batch_bytes = Index{1} << 25;  // of totals that wait for those before them
    static constexpr std::uint64_t stream = 61;

    /// A view of a block for a pass. Holds references.
    struct View {
        const SampleBlock& block;
        const TiledPoints& points;
        const AnyLoss& loss;
        const PassRequest& request;
    };

    /// body(block) for all blocks of this process, in batches of at most `most`, before each of which begin(count) is
    /// called. After an exception, later blocks that have not begun are left out: the exception of the first block that
    /// fails is the one that is thrown, on any number of threads.
    void for_blocks(const Poll& poll, Index most, const std::function<void(Index)>& body,
                    const std::function<void(Index)>& begin = {}) {
        constexpr Index blocks_per_batch = 64;
        blocks_.begin_pass();
        const std::thread::id caller = std::this_thread::get_id();
        const Index batch = std::clamp<Index>(most, 1, blocks_per_batch),
                    all = blocks_.end() - blocks_.begin();
        std::atomic<Index> failed = blocks_.end();
        for (Index block = blocks_.begin(); block < blocks_.end(); block += batch) {
            const Index count = std::min(batch, blocks_.end() - block);
            if (begin) begin(count);
            parallel_for(count, [&](Index k) {
                if (block + k > failed) return;
                try {
                    if (std::this_thread::get_id() == caller)
                        poll(static_cast<double>(block + k - blocks_.begin()) / static_cast<double>(all));
                    body(block + k);
                } catch (...) {
                    lower(failed, block + k);
                    throw;
                }
            });
        }
        poll(1.0);  // also where a pass is a block per thread, each of which begins at once
    }

    static void lower(std::atomic<Index>& least, Index value) {
        for (Index now = least; value < now && !least.compare_exchange_weak(now, value);) {
        }
    }

    /// The columns of a block that belong to the part. A hash of the sample's number decides, in every process.
    static std::vector<Index> chosen_of(const SampleBlock& block, const PassRequest& request) {
        const CounterRandom random(request.seed, stream);
        std::vector<Index> chosen;
        for (Index i = 0; i < block.size(); ++i)
            if (request.part >= 1.0 ||
                random.uniform(static_cast<std::uint64_t>(block.first + i)) < request.part)
                chosen.push_back(i);
        return chosen;
    }

    static DrawnSamples drawn(const SampleBlock& block, const PassRequest& request) {
        DrawnSamples out;
        const std::vector<Index> chosen = chosen_of(block, request);
        out.samples.x = columns_of<Scalar>(block.x, chosen);
        out.samples.y = columns_of<Scalar>(block.y, chosen);
        out.samples.weights = entries_of<Scalar>(block.weights, chosen);
        for (const Index i : chosen) out.numbers.push_back(block.first + i);
        return out;
    }

    /// The samples of a block that the pass uses: its part, in the units of the fit, y from its baseline.
    static SampleBlock seen(SampleBlock block, const PassRequest& request) {
        std::vector<Index> chosen = chosen_of(block, request);
        const bool whole = static_cast<Index>(chosen.size()) == block.size();
        if (!whole || request.ordered) {
            Matrix x = columns_of<Scalar>(block.x, chosen);
            if (request.ordered) {
                const std::vector<Index> order = spatial_order(request.scaling.to_internal(x));
                x = columns_of<Scalar>(x, order);
                std::vector<Index> reordered(order.size());
                for (std::size_t i = 0; i < order.size(); ++i)
                    reordered[i] = chosen[static_cast<std::size_t>(order[i])];
                chosen = std::move(reordered);
            }
            block.x = std::move(x);
            block.y = columns_of<Scalar>(block.y, chosen);
            block.weights = entries_of<Scalar>(block.weights, chosen);
        }
        block.x = request.scaling.to_internal(block.x);
        for (Index i = 0; i < block.size(); ++i)
            for (Index o = 0; o < block.y.rows(); ++o) block.y(o, i) -= request.baseline(o);
        return block;
    }

    PassTotals shape_of(const PassRequest& request) const {
        const Index k = request.model.size(), q = blocks_.source().outputs(), t = request.trend_size,
                    f = static_cast<Index>(request.free_rows.size());
        if (request.kind == PassRequest::Kind::normal_equations)
            return PassTotals::zero(PassSums::size(k * (1 + f) + q, t), 0);
        if (request.kind == PassRequest::Kind::losses) return PassTotals::zero(PassLosses::size(k, q, t), 2);
        return PassTotals::zero(2, 0);
    }

    void add(const View& view, PassTotals& to) const {
        if (view.request.kind == PassRequest::Kind::normal_equations)
            add_normal_equations(view, to);
        else if (view.request.kind == PassRequest::Kind::losses)
            add_losses(view, to);
        else
            add_projection(view, to);
    }

    void add_normal_equations(const View& view, PassTotals& to) const {
        const SampleBlock& block = view.block;
        const TrendBasis trend = view.request.trend();
        const NodeUnits units(kernel_, block.x.rows(), view.request.free_rows);
        const SmoothedLoss<AnyLoss> loss(view.loss, block.y, block.weights, view.request.window);
        PassSums sums{static_cast<double>(block.size()), sum<Scalar>(block.weights)};
        Matrix prediction;
        if (!loss.is_squared()) {
            prediction = expansion_values(kernel_, view.points, view.request.model);
            sums.cost = loss.cost(prediction);
        }
        const WorkingSquares working = loss.linearize(prediction);
        sums.total = working.total;
        sums.sums = gram_matrices<Scalar>(GramSamples{kernel_, view.points, trend}, units,
                                          MovingKernels::all(view.request.model.nodes), working);
        sums.add_to(to.sums);
    }

    void add_losses(const View& view, PassTotals& to) const {
        const SampleBlock& block = view.block;
        const KernelExpansion& model = view.request.model;
        const TrendBasis trend = view.request.trend();
        const Index k = model.size(), q = block.y.rows();
        PassLosses out = PassLosses::zero(k, q, trend.size());
        out.samples = static_cast<double>(block.size());
        const SmoothedLoss<AnyLoss> smoothed(view.loss, block.y, block.weights, view.request.window);
        Matrix values(strip_rows, k), functions(strip_rows, trend.size());
        const Vector ones = Vector::Ones(strip_rows);
        for (Index first = 0; first < block.size(); first += strip_rows) {
            const Index m = std::min(strip_rows, block.size() - first);
            const Block phi = Block(values).part(0, 0, m, k),
                        basis = Block(functions).part(0, 0, m, trend.size());
            for (Index j = 0; j < k; ++j) {
                kernel_run(kernel_, view.points, column_ref(model.nodes, j), first, phi.columns(j, 1));
                out.masses(j) += weighted_squares<Scalar>(phi.column(j), block.weights.data() + first, m);
            }
            const Matrix f = values_of(view, phi, first);
            const Matrix pull = transposed<Scalar>(smoothed.pull(f, first));
            add_product_tn<Scalar>(out.gradient, phi, pull);
            trend.fill(view.points, first, ones.data(), basis);
            if (trend.size() > 0) add_product_tn<Scalar>(out.trend, basis, pull);
            add_sample_losses(view, f, first, out);
        }
        out.add_to(to);
    }

    /// f at the samples first ..., q x m, from their kernel values.
    static Matrix values_of(const View& view, const ConstBlock& phi, Index first) {
        const KernelExpansion& model = view.request.model;
        Matrix f = transposed<Scalar>(product<Scalar>(phi, model.coefficients));
        add_to_rows(f, model.offset);
        const ConstBlock x =
            ConstBlock(view.points.transposed()).part(first, 0, phi.rows, view.points.dimension());
        if (model.slopes.size() > 0)
            add_scaled<Scalar>(f, 1.0, transposed<Scalar>(product<Scalar>(x, model.slopes)));
        return f;
    }

    static void add_sample_losses(const View& view, const Matrix& f, Index first, PassLosses& out) {
        for (Index i = 0; i < f.cols(); ++i) {
            const double w = view.block.weights(first + i);
            out.weight += w;
            for (Index o = 0; o < f.rows(); ++o) {
                const double y = view.block.y(o, first + i), value = view.loss.value(f(o, i), y);
                out.loss += w * value;
                out.squares(o) += w * (y - f(o, i)) * (y - f(o, i));
                out.largest_loss = std::max(out.largest_loss, value);
                const double nearest = view.loss.interval(y, view.request.tolerance).clamp(f(o, i));
                out.largest_distance = std::max(out.largest_distance, std::abs(f(o, i) - nearest));
            }
        }
    }

    /// Σ w ℓ(ŷ) and Σ (ŷ − f)² at ŷ = argmin of κwℓ + ½(ŷ − f)².
    void add_projection(const View& view, PassTotals& to) const {
        const SampleBlock& block = view.block;
        const Matrix f = expansion_values(kernel_, view.points, view.request.model);
        for (Index i = 0; i < block.size(); ++i)
            for (Index o = 0; o < f.rows(); ++o) {
                const double y = block.y(o, i), kappa = view.request.multiplier * block.weights(i);
                const double nearest = view.loss.is_squared() ? SquaredLoss().proximal(f(o, i), kappa, y)
                                                              : proximal(view.loss, f(o, i), kappa, y);
                to.sums(0) += block.weights(i) * view.loss.value(nearest, y);
                to.sums(1) += (nearest - f(o, i)) * (nearest - f(o, i));
            }
    }

    const AnyKernel& kernel_;
    const AnyLoss& loss_;
    SampleBlocks& blocks_;
};

}  // namespace kernelet::detail
