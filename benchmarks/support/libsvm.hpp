#pragma once

#include <kernelet/types.hpp>

#if __has_include(<libsvm/svm.h>)
#include <libsvm/svm.h>
#else
#include <svm.h>
#endif

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

/// LIBSVM with Gaussian kernels, as far as the benchmarks need it.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// Columns of a matrix in LIBSVM's format: pairs of a coordinate's number and its value, the last of number
/// −1. Models point into the samples they were trained on, so that these must outlive them.
class SvmPoints {
public:
    explicit SvmPoints(const Matrix& x) : nodes_(static_cast<std::size_t>((x.rows() + 1) * x.cols())) {
        svm_node* next = nodes_.data();
        for (Index i = 0; i < x.cols(); ++i) {
            columns_.push_back(next);
            for (Index c = 0; c < x.rows(); ++c) *next++ = {static_cast<int>(c) + 1, x(c, i)};
            *next++ = {-1, 0.0};
        }
    }

    std::size_t size() const { return columns_.size(); }
    svm_node** columns() { return columns_.data(); }
    const svm_node* operator[](std::size_t i) const { return columns_[i]; }

private:
    std::vector<svm_node> nodes_;
    std::vector<svm_node*> columns_{};
};

struct SvmSetting {
    double width = 1.0;    ///< w of exp(−r²/2w²)
    double cost = 1.0;     ///< C
    double epsilon = 0.1;  ///< half the width of the tube, regression only
};

/// Support vector classification (any number of classes, one against one) or regression. Moves, never copied.
class SvmModel {
public:
    enum class Task { classification, regression };

    SvmModel(Task task, const Matrix& x, Vector y, const SvmSetting& setting)
        : points_(std::make_unique<SvmPoints>(x)) {
        svm_set_print_string_function([](const char*) {});
        svm_problem problem{static_cast<int>(y.size()), y.data(), points_->columns()};
        svm_parameter parameter{};
        parameter.svm_type = task == Task::classification ? C_SVC : EPSILON_SVR;
        parameter.kernel_type = RBF;
        parameter.gamma = 0.5 / (setting.width * setting.width);
        parameter.C = setting.cost;
        parameter.p = setting.epsilon;
        parameter.cache_size = 200.0;  // megabytes; with eps and shrinking, the defaults of its svm-train
        parameter.eps = 1e-3;
        parameter.shrinking = 1;
        if (const char* complaint = svm_check_parameter(&problem, &parameter))
            throw std::runtime_error(complaint);
        model_.reset(svm_train(&problem, &parameter));
    }

    /// Labels or values.
    Vector predict(const SvmPoints& points) const {
        Vector values(static_cast<Index>(points.size()));
        for (std::size_t i = 0; i < points.size(); ++i)
            values(static_cast<Index>(i)) = svm_predict(model_.get(), points[i]);
        return values;
    }
    Vector predict(const Matrix& x) const { return predict(SvmPoints(x)); }

    /// Distinct kernels in all.
    Index kernels() const { return model_->l; }

    /// The mean number of kernels per classifier. A support vector of class a has one coefficient for each
    /// classifier of a against another class, sv_coef[other − (other > a)].
    double kernels_a_classifier() const {
        const bool regression = model_->param.svm_type == EPSILON_SVR;
        if (regression || model_->nr_class < 3) return static_cast<double>(model_->l);
        Index used = 0;
        for (int row = 0; row + 1 < model_->nr_class; ++row)
            for (int i = 0; i < model_->l; ++i)
                if (model_->sv_coef[row][i] != 0.0) ++used;
        return static_cast<double>(used) / (0.5 * model_->nr_class * (model_->nr_class - 1));
    }

private:
    struct Free {
        void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
    };
    std::unique_ptr<SvmPoints> points_;
    std::unique_ptr<svm_model, Free> model_{};
};

}  // namespace bench
