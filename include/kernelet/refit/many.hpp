#pragma once

#include <kernelet/refit/descent.hpp>
#include <kernelet/refit/explained.hpp>
#include <kernelet/refit/slide.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kernelet {

/// Whether fewest() over so many kernels would take minutes: a step of second order takes n (K f)² + (K f)³
/// multiplications, and a search takes hundreds of them.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
bool by_descent(const Slide<Kernel, Omega, Loss>& slide, Index kernels) {
    constexpr double most_work = 1e9;  // of a step: a fifth of a second
    const auto parameters = static_cast<double>(kernels * slide.free_rows());
    return parameters * parameters * (static_cast<double>(slide.points().size()) + parameters) > most_work;
}

struct ManyOptions {
    /// Kernels from which a model begins to double, where there are fewer peaks.
    Index first = 8;
    /// Of the samples, what is held out to tell whether more kernels were worth it.
    double held_out = 0.1;
    /// Samples on which it grows, at most, drawn at random: where kernels are worth it shows on a part.
    Index growing_samples = 12000;
    /// Between two sizes, and at the end, on all samples.
    DescentOptions growing{.max_steps = 40};
    DescentOptions finishing{};
};

/// What came of it.
struct ManyKernels {
    KernelExpansion model{};
    bool more_wanted = false;  ///< there are as many kernels as were allowed, and the last were worth it
};

/// For kernels by the hundred, each of many numbers, which cannot be tried one by one as fewest() does: a
/// model that doubles and descends while that is worth it. Worth it is what lowers the loss of samples held
/// out, a tenth of them, by more than its standard error (counting parameters, as Goal does, would stop at
/// two kernels where forty coordinates make 42 parameters each); or, where there is a tolerance, until it is
/// met. At last it descends on all samples. Holds references: lives no longer than what it was made of.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss>
class Many {
public:
    /// Whether a model meets the tolerance.
    using Met = std::function<bool(const KernelExpansion&)>;

    Many(const Kernel& kernel, const Omega& domain, const detail::TiledPoints& points,
         const SmoothedLoss<Loss>& loss, double ridge, bool intercept, ManyOptions options = {})
        : kernel_(kernel),
          domain_(domain),
          points_(points),
          loss_(loss),
          ridge_(ridge),
          intercept_(intercept),
          options_(options) {}

    /// From the peaks, by candidates, up to `most` kernels; `met` may be empty.
    ManyKernels operator()(const Matrix& peaks, const Matrix& candidates, Index most, const Met& met) const {
        const double share = met ? 0.0 : options_.held_out;
        const Part kept(points_, loss_, split(share, false)), held(points_, loss_, split(share, true));
        const Descent<Kernel, Omega, Loss> descent(kernel_, domain_, kept.points, kept.loss, ridge_,
                                                   intercept_);
        const Index q = loss_.target().rows();
        ManyKernels result;
        KernelExpansion& model = result.model;
        model = {detail::columns_of(peaks, first_columns(std::min(most, peaks.cols()))), {}, Vector::Zero(q)};
        model.a = Matrix::Zero(model.size(), q);
        if (model.size() > 0) model = descent(std::move(model), options_.growing);
        while (model.size() < most && candidates.cols() > 0 && !(met && met(model))) {
            KernelExpansion next = grown(kept, descent, model, candidates, next_size(model.size(), most));
            if (next.size() == model.size()) break;
            next = descent(std::move(next), options_.growing);
            if (!met && !worth(held, model, next)) return {finished(std::move(model)), false};
            model = std::move(next);
            result.more_wanted = model.size() == most;
        }
        model = finished(std::move(model));
        if (met) result.more_wanted = !met(model);
        return result;
    }

private:
    static constexpr std::uint64_t seed = 32;  // of the parts that are drawn

    /// Some of the samples.
    struct Part {
        Part(const detail::TiledPoints& all, const SmoothedLoss<Loss>& of, const std::vector<Index>& which)
            : points(all.some(which)),
              y(detail::columns_of(of.target(), which)),
              weights(detail::entries_of(of.weights(), which)),
              loss(of.on(y, weights)) {}
        Part(const Part&) = delete;  // the loss holds references to the others
        Part& operator=(const Part&) = delete;

        detail::TiledPoints points;
        Matrix y;
        Vector weights;
        SmoothedLoss<Loss> loss;
    };

    /// The samples held out, or all others, as many as it grows on. Drawn at random: every so manieth might
    /// be of one kind.
    std::vector<Index> split(double share, bool held) const {
        const Index n = points_.size();
        const std::vector<Index> out = detail::random_part(
            n, static_cast<Index>(share * static_cast<double>(n)), detail::CounterRandom(seed, 0));
        if (held) return out;
        std::vector<Index> rest, some;
        for (Index i = 0; i < n; ++i)
            if (!std::binary_search(out.begin(), out.end(), i)) rest.push_back(i);
        const auto count = static_cast<Index>(rest.size());
        for (const Index k : detail::random_part(count, std::min(count, options_.growing_samples),
                                                 detail::CounterRandom(seed, 2)))
            some.push_back(rest[static_cast<std::size_t>(k)]);
        return some;
    }

    Index next_size(Index now, Index most) const {
        constexpr double nearly = 0.7;  // of `most`: then all of them at once
        const Index size = std::min(most, std::max(options_.first, 2 * now));
        return static_cast<double>(size) > nearly * static_cast<double>(most) ? most : size;
    }

    Matrix values(const Part& part, const KernelExpansion& model) const {
        return expansion_values(kernel_, part.points, model);
    }

    /// Whether the loss of samples held out falls by more than its standard error.
    bool worth(const Part& held, const KernelExpansion& before, const KernelExpansion& after) const {
        const Matrix f = values(held, before), g = values(held, after);
        const auto m = static_cast<double>(f.cols());
        double sum = 0.0, squares = 0.0;
        for (Index i = 0; i < f.cols(); ++i) {
            const double gain =
                held.loss.cost(detail::columns_of(f, {i}), i) - held.loss.cost(detail::columns_of(g, {i}), i);
            sum += gain;
            squares += gain * gain;
        }
        const double mean = sum / m;
        return mean > std::sqrt(std::max(0.0, squares / m - mean * mean) / m);
    }

    /// The model with candidates more, those that explain most of what is left, to `size` kernels. By batches
    /// of half its size.
    KernelExpansion grown(const Part& part, const Descent<Kernel, Omega, Loss>& descent,
                          KernelExpansion model, const Matrix& candidates, Index size) const {
        constexpr Index batches_a_model = 2, steps_a_batch = 10, most_samples = 4096;
        const Index n = part.points.size();
        const Part some(part.points, part.loss,
                        detail::random_part(n, std::min(n, most_samples), detail::CounterRandom(seed, 1)));
        while (model.size() < size) {
            const Matrix prediction = values(some, model);
            const Vector explained =
                explained_by(kernel_, some.points, candidates, some.loss.pull(prediction),
                             some.loss.curvature(prediction));
            const Index count =
                std::min(size - model.size(), std::max(options_.first, model.size()) / batches_a_model);
            const std::vector<Index> batch = foremost(kernel_, some.points, candidates, explained, count);
            if (batch.empty()) break;
            model = with(model, detail::columns_of(candidates, batch));
            if (model.size() < size) model = descent(std::move(model), {.max_steps = steps_a_batch});
        }
        return model;
    }

    /// More kernels, begun at coefficients of zero.
    static KernelExpansion with(const KernelExpansion& model, const Matrix& more) {
        const Index k = model.size(), q = model.a.cols();
        KernelExpansion larger{detail::beside(model.nodes, more), Matrix::Zero(k + more.cols(), q),
                               model.offset};
        detail::copy(model.a, detail::Block(larger.a).part(0, 0, k, q));
        return larger;
    }

    /// 0 ... count − 1.
    static std::vector<Index> first_columns(Index count) {
        std::vector<Index> which(static_cast<std::size_t>(count));
        std::iota(which.begin(), which.end(), Index{0});
        return which;
    }

    KernelExpansion finished(KernelExpansion model) const {
        if (model.size() == 0) return model;
        return Descent<Kernel, Omega, Loss>(kernel_, domain_, points_, loss_, ridge_, intercept_)(
            std::move(model), options_.finishing);
    }

    const Kernel& kernel_;
    const Omega& domain_;
    const detail::TiledPoints& points_;
    const SmoothedLoss<Loss>& loss_;
    double ridge_;
    bool intercept_;
    ManyOptions options_;
};

}  // namespace kernelet
