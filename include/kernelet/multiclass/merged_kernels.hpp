#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelet {

/// Distinct kernels of models that share a scaling.
struct KernelGroup {
    InputScaling scaling{};
    Matrix nodes{};  ///< (d + p) x K in the scaling's internal units
};

/// a k(x, z_j; θ_j), j a kernel of the model's group.
struct KernelTerm {
    Index kernel{};
    double coefficient{};
};

/// One model of one output over the kernels of its group.
struct KernelSum {
    Index group{};
    double offset{};
    std::vector<KernelTerm> terms{};
    Vector slopes{};  ///< d, in the units of the group, of a linear trend; else empty
};

/// Several models of one output and the same kernel family, each kernel stored once: kernels are the same
/// where their nodes and scalings are, to the bit. A value. Thread safety: const members may be called from
/// many threads.
template <KernelFamily Kernel>
class MergedKernels {
public:
    /// Scalings and kernels in the order in which the models bring them.
    explicit MergedKernels(const std::vector<SparseKernelModel<Kernel>>& models)
        : MergedKernels(merged(models)) {}

    MergedKernels(Kernel kernel, std::vector<KernelGroup> groups, std::vector<KernelSum> sums)
        : kernel_(std::move(kernel)), groups_(std::move(groups)), sums_(std::move(sums)) {
        detail::require(!groups_.empty() && !sums_.empty(), "there are no models to merge");
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const KernelGroup& group = groups_[g];
            const Index k = group.nodes.cols();
            // has the checks of what makes a model
            const SparseKernelModel<Kernel> sound(kernel_, group.scaling, group.nodes, Matrix::Zero(k, 1),
                                                  Vector::Zero(1));
            detail::require(sound.dimension() == dimension(), "group ", g, " has ", sound.dimension(),
                            " inputs; the first has ", dimension());
        }
        for (std::size_t m = 0; m < sums_.size(); ++m) {
            const KernelSum& sum = sums_[m];
            detail::require(sum.group >= 0 && sum.group < static_cast<Index>(groups_.size()), "model ", m,
                            " is of group ", sum.group, "; there are ", groups_.size());
            detail::require(std::isfinite(sum.offset), "the offset of model ", m, " is ", sum.offset);
            detail::require(sum.slopes.size() == 0 || sum.slopes.size() == dimension(), "model ", m, " has ",
                            sum.slopes.size(), " slopes for ", dimension(), " inputs");
            detail::require_finite(sum.slopes, detail::text("the slopes of model ", m));
            for (const KernelTerm& term : sum.terms) {
                detail::require(term.kernel >= 0 && term.kernel < group_of(sum).nodes.cols(), "model ", m,
                                " uses kernel ", term.kernel, "; its group has ", group_of(sum).nodes.cols());
                detail::require(std::isfinite(term.coefficient), "a coefficient of model ", m, " is ",
                                term.coefficient);
            }
        }
    }

    Index dimension() const { return groups_.front().scaling.shift.size(); }
    Index models() const { return static_cast<Index>(sums_.size()); }
    const Kernel& kernel() const { return kernel_; }
    const std::vector<KernelGroup>& groups() const { return groups_; }
    const std::vector<KernelSum>& sums() const { return sums_; }

    /// The number of distinct kernels in all.
    Index size() const {
        Index sum = 0;
        for (const KernelGroup& group : groups_) sum += group.nodes.cols();
        return sum;
    }
    /// The number of kernels of one model.
    Index size_of(Index which) const { return static_cast<Index>(sum_of(which).terms.size()); }

    /// One of the models, with its kernels in their own order.
    SparseKernelModel<Kernel> model(Index which) const {
        const KernelSum& sum = sum_of(which);
        const KernelGroup& group = group_of(sum);
        const auto k = static_cast<Index>(sum.terms.size());
        Matrix nodes(group.nodes.rows(), k), coefficients(k, 1);
        for (Index j = 0; j < k; ++j) {
            const KernelTerm& term = sum.terms[static_cast<std::size_t>(j)];
            detail::copy(detail::ConstBlock(group.nodes).columns(term.kernel, 1),
                         detail::Block(nodes).columns(j, 1));
            coefficients(j, 0) = term.coefficient;
        }
        return {kernel_, group.scaling, std::move(nodes), std::move(coefficients),
                ModelTrend(Vector::Constant(1, sum.offset), sum.slopes)};
    }

    /// All models at x, d x n: models x n. Each distinct kernel is evaluated once per sample; each model then
    /// adds up its own in its own order, so that its values are those of model(which).predict(x).
    Matrix evaluate(const ConstMatrixRef& x) const {
        Matrix values = Matrix::Zero(x.cols(), models());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const Matrix internal = groups_[g].scaling.to_internal(x);
            if (groups_[g].nodes.cols() > 0)
                add_group(static_cast<Index>(g), detail::TiledPoints(internal), values);
            add_slopes(static_cast<Index>(g), internal, values);
        }
        Matrix out = detail::transposed(values);
        for (Index m = 0; m < models(); ++m)
            for (Index i = 0; i < x.cols(); ++i) out(m, i) += sum_of(m).offset;
        return out;
    }

private:
    void add_slopes(Index g, const Matrix& internal, Matrix& values) const {
        for (Index m = 0; m < models(); ++m)
            for (Index c = 0; sum_of(m).group == g && c < sum_of(m).slopes.size(); ++c)
                for (Index i = 0; i < internal.cols(); ++i)
                    values(i, m) += sum_of(m).slopes(c) * internal(c, i);
    }

    void add_group(Index g, const detail::TiledPoints& points, Matrix& values) const {
        const Matrix& nodes = groups_[static_cast<std::size_t>(g)].nodes;
        detail::parallel_for(
            points.tiles(),
            [&](Index t) {
                const Index m = points.count(t);
                Matrix columns(m, nodes.cols());
                std::vector<char> reached(static_cast<std::size_t>(nodes.cols()), 0);
                for (Index j = 0; j < nodes.cols(); ++j) {
                    const ConstVectorRef node = detail::column_ref(nodes, j);
                    if (!points.touches(t, node.data(), detail::reach_of(kernel_, node))) continue;
                    reached[static_cast<std::size_t>(j)] = 1;
                    kernel_.values(points.rows(t), node, detail::run_ref(&columns(0, j), m));
                }
                for (Index which = 0; which < models(); ++which) {
                    if (sum_of(which).group != g) continue;
                    const detail::Block part(&values(points.first(t), which), m, 1, m);
                    for (const KernelTerm& term : sum_of(which).terms)
                        if (reached[static_cast<std::size_t>(term.kernel)] && term.coefficient != 0.0)
                            detail::add_scaled(part, term.coefficient,
                                               detail::ConstBlock(columns).columns(term.kernel, 1));
                }
            },
            points.size() * nodes.cols());
    }

    const KernelSum& sum_of(Index which) const { return sums_.at(static_cast<std::size_t>(which)); }
    const KernelGroup& group_of(const KernelSum& sum) const {
        return groups_[static_cast<std::size_t>(sum.group)];
    }

    /// A key for maps: the bytes of the numbers, so that values with different bits have different keys.
    static std::string bytes_of(const double* numbers, Index count) {
        return {reinterpret_cast<const char*>(numbers), sizeof(double) * static_cast<std::size_t>(count)};
    }

    static MergedKernels merged(const std::vector<SparseKernelModel<Kernel>>& models) {
        detail::require(!models.empty(), "there are no models to merge");
        std::map<std::string, Index> known_groups;
        std::vector<std::map<std::string, Index>> known_kernels;
        std::vector<InputScaling> scalings;
        std::vector<std::vector<Vector>> nodes;
        std::vector<KernelSum> sums;
        for (const SparseKernelModel<Kernel>& model : models) {
            detail::require(model.outputs() == 1, "a model has ", model.outputs(),
                            " outputs; merged models have one");
            detail::require(model.dimension() == models.front().dimension(), "the models have ",
                            models.front().dimension(), " and ", model.dimension(),
                            " inputs; they must have the same");
            const InputScaling& scaling = model.scaling();
            const Index g = known_groups
                                .try_emplace(bytes_of(scaling.shift.data(), scaling.shift.size()) +
                                                 bytes_of(scaling.scale.data(), scaling.scale.size()),
                                             static_cast<Index>(scalings.size()))
                                .first->second;
            const auto group = static_cast<std::size_t>(g);
            if (group == scalings.size()) {
                scalings.push_back(scaling);
                known_kernels.emplace_back();
                nodes.emplace_back();
            }
            KernelSum sum{g, model.offset()(0), {}, {}};
            if (model.trend().slopes.size() > 0) sum.slopes = detail::column_ref(model.trend().slopes, 0);
            for (Index j = 0; j < model.size(); ++j) {
                const auto [known, fresh] =
                    known_kernels[group].try_emplace(bytes_of(&model.nodes()(0, j), model.nodes().rows()),
                                                     static_cast<Index>(nodes[group].size()));
                if (fresh) nodes[group].push_back(detail::column_ref(model.nodes(), j));
                sum.terms.push_back({known->second, model.coefficients()(j, 0)});
            }
            sums.push_back(std::move(sum));
        }
        std::vector<KernelGroup> groups;
        for (std::size_t g = 0; g < scalings.size(); ++g) {
            Matrix columns(models.front().nodes().rows(), static_cast<Index>(nodes[g].size()));
            for (std::size_t j = 0; j < nodes[g].size(); ++j)
                detail::copy(nodes[g][j], detail::Block(columns).columns(static_cast<Index>(j), 1));
            groups.push_back({scalings[g], std::move(columns)});
        }
        return {models.front().kernel(), std::move(groups), std::move(sums)};
    }

    Kernel kernel_;
    std::vector<KernelGroup> groups_;
    std::vector<KernelSum> sums_;
};

}  // namespace kernelet
