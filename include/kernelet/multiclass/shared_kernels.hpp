#pragma once

#include <kernelet/multiclass/ensemble_fit.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kernelet {

/// The result of SharedKernels::fit.
template <KernelFamily Kernel, ClassLabel Label, class Report>
struct SharedFit {
    EnsembleModel<Kernel, Label> model;  ///< one_vs_rest: one decision value per class over the same kernels
    Report report{};
    std::vector<std::string> warnings{};
};

/// Labels of any kind from one fit with an output for each class, +1 for its samples and −1 for all others:
/// all classes share one set of kernels, K x C coefficients. One fit of all samples; each kernel is evaluated
/// once for all classes. The class with the largest decision value wins. A value; fit() is const and may be
/// called from many threads.
template <class Estimator>
class SharedKernels {
public:
    /// The type for load().
    template <ClassLabel Label>
    using Model = EnsembleModel<detail::BinaryKernel<Estimator>, Label>;

    explicit SharedKernels(Estimator estimator = Estimator{}) : estimator_(std::move(estimator)) {}

    const Estimator& estimator() const { return estimator_; }

    /// x is d x n, one sample per column, any Eigen expression, float or double; labels n of them, a
    /// std::vector or an Eigen vector, of at least two classes. What follows goes to the estimator's fit: a
    /// domain, an observer, or both.
    template <Numbers X, class Labels, class... More>
    auto fit(const X& x, const Labels& labels, const More&... more) const {
        return fit_shared(detail::input_matrix(x).template cast<double>(), detail::gathered_labels(labels),
                          more...);
    }

private:
    template <ClassLabel Label, class... More>
    auto fit_shared(const Matrix& x, const std::vector<Label>& given, const More&... more) const {
        using Kernel = detail::BinaryKernel<Estimator>;
        const detail::SortedLabels<Label> labels(given, x.cols());
        const auto classes = static_cast<Index>(labels.classes.size());
        Matrix y = Matrix::Constant(classes, x.cols(), -1.0);
        for (Index c = 0; c < classes; ++c)
            for (const Index i : labels.members[static_cast<std::size_t>(c)]) y(c, i) = 1.0;
        const auto fit = estimator_.fit(x, y, more...);
        std::vector<KernelSum> sums;
        for (Index c = 0; c < classes; ++c) {
            KernelSum sum{0, fit.model.offset()(c), {}, {}};
            if (fit.model.trend().slopes.size() > 0)
                sum.slopes = detail::column_ref(fit.model.trend().slopes, c);
            for (Index j = 0; j < fit.model.size(); ++j)
                sum.terms.push_back({j, fit.model.coefficients()(j, c)});
            sums.push_back(std::move(sum));
        }
        SharedFit<Kernel, Label, detail::BinaryReport<Estimator>> result{
            EnsembleModel<Kernel, Label>(
                Scheme::one_vs_rest, labels.classes,
                MergedKernels<Kernel>(fit.model.kernel(), {{fit.model.scaling(), fit.model.nodes()}},
                                      std::move(sums)))
                .with_loss(fit.model.loss()),
            fit.report, detail::lonely_classes(labels)};
        if (fit.model.size() == 0) result.warnings.push_back("no kernels: the decision is constant");
        return result;
    }

    Estimator estimator_;
};

}  // namespace kernelet
