#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/detail/inputs.hpp>
#include <kernelet/detail/parallel.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/model/probabilities.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/multiclass/labels.hpp>
#include <kernelet/multiclass/merged_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelet {

/// Which classifiers an ensemble of C classes has.
enum class Scheme {
    one_vs_one,  ///< one for each pair: C (C − 1)/2, in the order (0, 1), (0, 2), ..., (1, 2), ...
    one_vs_rest  ///< one for each class against all others: C
};

constexpr std::string_view to_string(Scheme scheme) {
    return scheme == Scheme::one_vs_one ? "one_vs_one" : "one_vs_rest";
}

/// The classes that one classifier separates: decision values above zero mean `positive`.
struct Opponents {
    Index positive{};
    std::optional<Index> negative{};  ///< none: all other classes
};

/// The rule that decided a label; the rules before it in this list did not decide.
enum class SettledBy {
    votes,    ///< no other class has as many
    margins,  ///< among the classes with most votes, its margins sum to most
    order     ///< all rules left a tie: the first of the tied classes
};

/// One entry per sample.
struct Decisions {
    std::vector<Index> classes{};  ///< places in classes()
    std::vector<SettledBy> settled_by{};
};

template <ClassLabel Label>
struct Accuracy {
    Index right{};
    Index samples{};
    std::vector<Label> unseen{};  ///< labels, each once, of no class of the model: never right

    double share() const { return static_cast<double>(right) / static_cast<double>(samples); }
};

/// Classifiers of one output each that vote for labels. Kernels that several of them use are stored and
/// evaluated once. A value that owns all it needs. Thread safety: const members may be called from many
/// threads.
template <KernelFamily Kernel, ClassLabel Label>
class EnsembleModel {
public:
    using KernelType = Kernel;
    using LabelType = Label;

    /// classes ascending and distinct; a model for each of opponents(scheme, classes), whose decision values
    /// above zero mean the positive class.
    EnsembleModel(Scheme scheme, std::vector<Label> classes,
                  const std::vector<SparseKernelModel<Kernel>>& models)
        : EnsembleModel(scheme, std::move(classes), MergedKernels<Kernel>(models)) {
        loss_ = models.front().loss();
        for (const SparseKernelModel<Kernel>& model : models)
            if (model.loss() != loss_) loss_.clear();
    }

    EnsembleModel(Scheme scheme, std::vector<Label> classes, MergedKernels<Kernel> kernels)
        : scheme_(scheme),
          classes_(std::move(classes)),
          kernels_(std::move(kernels)),
          opponents_(opponents_of(scheme, static_cast<Index>(classes_.size()))) {
        detail::require(classes_.size() >= 2, "an ensemble needs at least two classes; there are ",
                        classes_.size());
        detail::require_ordered(classes_);
        for (std::size_t c = 1; c < classes_.size(); ++c)
            detail::require(classes_[c - 1] < classes_[c], "classes must be distinct and ascending; number ",
                            c, " is not above the one before");
        detail::require(kernels_.models() == classifiers(), "there are ", kernels_.models(), " models; ",
                        classifiers(), " are needed for ", classes_.size(), " classes");
    }

    Scheme scheme() const { return scheme_; }
    /// In ascending order. A label that no fit saw is never predicted.
    const std::vector<Label>& classes() const { return classes_; }
    Index dimension() const { return kernels_.dimension(); }
    Index classifiers() const { return static_cast<Index>(opponents_.size()); }
    /// The classes that each classifier separates.
    const std::vector<Opponents>& opponents() const { return opponents_; }

    /// The number of distinct kernels in all: what is stored, and evaluated for a prediction.
    Index size() const { return kernels_.size(); }
    /// The mean number of kernels per classifier.
    double mean_kernels() const {
        double sum = 0.0;
        for (Index m = 0; m < classifiers(); ++m) sum += static_cast<double>(kernels_.size_of(m));
        return sum / static_cast<double>(classifiers());
    }

    /// A copy of one classifier as a model, as it was fitted but without statistics().
    SparseKernelModel<Kernel> classifier(Index which) const {
        detail::require(which >= 0 && which < classifiers(), "classifier(", which, "): this ensemble has ",
                        classifiers(), ", from 0 on");
        return kernels_.model(which).with_loss(loss_);
    }
    /// The name of the loss that all classifiers were fitted with; empty where it is not known.
    const std::string& loss() const { return loss_; }
    EnsembleModel with_loss(std::string name) const {
        EnsembleModel copy = *this;
        copy.loss_ = std::move(name);
        return copy;
    }
    const MergedKernels<Kernel>& kernels() const { return kernels_; }

    /// Decision values, classifiers x n. x is d x n, any Eigen expression, float or double. n size() kernel
    /// values.
    template <Numbers X>
    Matrix margins(const X& x) const {
        return kernels_.evaluate(detail::checked_points(detail::input_matrix(x), dimension()));
    }

    /// classes x n: for how many classifiers the class is the more likely one. A margin of exactly zero, as far from
    /// all kernels, is a vote for neither.
    template <Numbers X>
    Matrix votes(const X& x) const {
        return votes_of(margins(x));
    }

    /// classes x n: margins summed, each with the sign that favours the class.
    template <Numbers X>
    Matrix scores(const X& x) const {
        return scores_of(margins(x));
    }

    /// The class with most votes; among several, that with the largest score; among several still, the first.
    /// For one_vs_rest that is the class of the largest decision value.
    template <Numbers X>
    Decisions decide(const X& x) const {
        return decided(margins(x));
    }

    /// The label of each column of x.
    template <Numbers X>
    std::vector<Label> predict(const X& x) const {
        std::vector<Label> labels;
        for (const Index c : decide(x).classes) labels.push_back(classes_[static_cast<std::size_t>(c)]);
        return labels;
    }

    /// classes x n, columns that add up to one: the largest is that of predict(x). Of classifiers that were fitted with the
    /// logistic loss; of others it throws std::logic_error. One against one by pairwise coupling, see
    /// detail::couple_pairs(), and the nearest probabilities that agree with the votes where they do not; one against the
    /// rest by the probability of each classifier, normalised.
    template <Numbers X>
    Matrix probability(const X& x) const {
        detail::require_logistic(loss_);
        const Matrix margins = this->margins(x);
        const Decisions decisions = decided(margins);
        const auto count = static_cast<Index>(classes_.size());
        Matrix p(count, margins.cols());
        for (Index i = 0; i < margins.cols(); ++i) {
            if (scheme_ == Scheme::one_vs_one)
                couple(&margins(0, i), &p(0, i));
            else
                normalize(&margins(0, i), &p(0, i));
            detail::raise_chosen(&p(0, i), count, decisions.classes[static_cast<std::size_t>(i)]);
        }
        return p;
    }

    /// How many of these labels are predicted, and which of them cannot be.
    template <Numbers X, class Labels>
    Accuracy<Label> accuracy(const X& x, const Labels& labels) const {
        const auto expected = detail::gathered_labels(labels);
        const Index n = detail::input_matrix(x).cols();
        detail::require(static_cast<Index>(expected.size()) == n, "labels has ", expected.size(),
                        " entries but x has ", n, " columns; one label per sample, x is d x n");
        const std::vector<Label> predicted = predict(x);
        Accuracy<Label> accuracy{0, n, {}};
        for (std::size_t i = 0; i < predicted.size(); ++i) {
            const Label label(expected[i]);
            if (predicted[i] == label) ++accuracy.right;
            if (detail::class_of(classes_, label) < 0) accuracy.unseen.push_back(label);
        }
        std::sort(accuracy.unseen.begin(), accuracy.unseen.end());
        accuracy.unseen.erase(std::unique(accuracy.unseen.begin(), accuracy.unseen.end()),
                              accuracy.unseen.end());
        return accuracy;
    }

    /// The classifiers that a scheme has for so many classes, in their order.
    static std::vector<Opponents> opponents_of(Scheme scheme, Index classes) {
        std::vector<Opponents> all;
        for (Index a = 0; a < classes; ++a) {
            if (scheme == Scheme::one_vs_rest) all.push_back({a, std::nullopt});
            for (Index b = a + 1; scheme == Scheme::one_vs_one && b < classes; ++b) all.push_back({a, b});
        }
        return all;
    }

private:
    Decisions decided(const Matrix& margins) const {
        const Matrix votes = votes_of(margins), scores = scores_of(margins);
        Decisions decisions;
        for (Index i = 0; i < margins.cols(); ++i) {
            Index best = 0;
            SettledBy by = SettledBy::votes;
            for (Index c = 1; c < votes.rows(); ++c) {
                const bool level = votes(c, i) == votes(best, i);
                if (votes(c, i) > votes(best, i)) {
                    best = c;
                    by = SettledBy::votes;
                } else if (level && scores(c, i) > scores(best, i)) {
                    best = c;
                    by = SettledBy::margins;
                } else if (level && scores(c, i) < scores(best, i)) {
                    by = std::max(by, SettledBy::margins);
                } else if (level) {
                    by = SettledBy::order;
                }
            }
            decisions.classes.push_back(best);
            decisions.settled_by.push_back(by);
        }
        return decisions;
    }

    /// Probabilities of the classes from the margins of one sample. A pair is never quite certain: its odds are at most
    /// 1e7.
    void couple(const double* margins, double* p) const {
        constexpr double least = 1e-7;
        Matrix r =
            Matrix::Constant(static_cast<Index>(classes_.size()), static_cast<Index>(classes_.size()), 0.5);
        for (std::size_t m = 0; m < opponents_.size(); ++m) {
            const Index a = opponents_[m].positive, b = *opponents_[m].negative;
            r(a, b) = std::clamp(detail::logistic(margins[m]), least, 1.0 - least);
            r(b, a) = 1.0 - r(a, b);
        }
        detail::couple_pairs(r, p);
    }
    /// σ(f_c)/Σ σ(f), relative to the largest f: far from all classes each σ may be zero.
    void normalize(const double* margins, double* p) const {
        const auto count = static_cast<Index>(classes_.size());
        const double largest = *std::max_element(margins, margins + count);
        double sum = 0.0;
        for (Index c = 0; c < count; ++c) {
            // σ(f)/σ(m) = e^{f − m} (1 + e^m)/(1 + e^f), without overflow
            p[c] = largest > 0.0 ? detail::logistic(margins[c])
                                 : std::exp(margins[c] - largest) * (1.0 + std::exp(largest)) /
                                       (1.0 + std::exp(margins[c]));
            sum += p[c];
        }
        for (Index c = 0; c < count; ++c) p[c] /= sum;
    }

    Matrix votes_of(const Matrix& margins) const {
        Matrix votes = Matrix::Zero(static_cast<Index>(classes_.size()), margins.cols());
        for (Index i = 0; i < margins.cols(); ++i)
            for (Index m = 0; m < margins.rows(); ++m) {
                const Opponents& who = opponents_[static_cast<std::size_t>(m)];
                if (margins(m, i) > 0.0) votes(who.positive, i) += 1.0;
                if (margins(m, i) < 0.0 && who.negative) votes(*who.negative, i) += 1.0;
            }
        return votes;
    }

    Matrix scores_of(const Matrix& margins) const {
        Matrix scores = Matrix::Zero(static_cast<Index>(classes_.size()), margins.cols());
        for (Index m = 0; m < margins.rows(); ++m) {
            const Opponents& who = opponents_[static_cast<std::size_t>(m)];
            for (Index i = 0; i < margins.cols(); ++i) {
                scores(who.positive, i) += margins(m, i);
                if (who.negative) scores(*who.negative, i) -= margins(m, i);
            }
        }
        return scores;
    }

    Scheme scheme_;
    std::vector<Label> classes_;
    MergedKernels<Kernel> kernels_;
    std::vector<Opponents> opponents_;
    std::string loss_{};
};

}  // namespace kernelet
