// Models as C: how far the exported code is from the model, what its tables take, and what a call costs, for every stock
// kernel and both types of numbers, with the model itself and LIBSVM and dlib on the same data. Regression on
// 400 samples of a smooth function with noise, in 2 and in 8 dimensions; differences are the largest on 1e6 points, times
// the least of several runs, in user CPU nanoseconds per call on one thread.
// Usage: exported_c [reduced: on 1e5 points]

#include "../support/tables.hpp"

#ifdef KERNELET_BENCHMARKS_LIBSVM
#include "../support/libsvm.hpp"
#endif

#include <kernelet/kernelet.hpp>
#include <kernelet/model/export_c.hpp>

#include "support/compiled_c.hpp"

#ifdef KERNELET_BENCHMARKS_DLIB
#include <dlib/svm.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kernelet;

constexpr Index samples = 400, timed_points = 1024, points_per_block = 4096;
constexpr double noise = 0.05;

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

/// Nanoseconds per call: the least of several runs over all points.
double nanoseconds(Index calls, const std::function<double()>& run) {
    constexpr double shortest = 0.05;  // seconds, many ticks of the clock
    constexpr int runs = 7;
    volatile double sink = run();
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < runs; ++k) {
        const double start = user_seconds();
        double spent = 0.0;
        Index repeats = 0;
        for (; spent < shortest; spent = user_seconds() - start, ++repeats) sink = run();
        least = std::min(least, spent / static_cast<double>(repeats));
    }
    static_cast<void>(sink);
    return 1e9 * least / static_cast<double>(calls);
}

/// Uniform on [-1, 1]^d, each coordinate a float, so that both types of numbers get the same points.
Matrix points(Index d, Index n, std::uint64_t seed) {
    const detail::CounterRandom random(seed, 31);
    Matrix x(d, n);
    for (Index k = 0; k < x.size(); ++k)
        x(k) = static_cast<double>(
            static_cast<float>(2.0 * random.uniform(static_cast<std::uint64_t>(k)) - 1.0));
    return x;
}

double clean(const double* x, Index d) {
    double mean = 0.0;
    for (Index c = 0; c < d; ++c) mean += x[c] / static_cast<double>(d);
    return std::sin(3.0 * x[0]) + x[1] * x[1] + 0.5 * std::cos(4.0 * mean);
}
Vector clean(const Matrix& x) {
    Vector y(x.cols());
    for (Index i = 0; i < x.cols(); ++i) y(i) = clean(&x(0, i), x.rows());
    return y;
}

struct DataSet {
    Matrix x{};
    Vector y{};
    Matrix timed{};  // points of which calls are timed

    explicit DataSet(Index d) : x(points(d, samples, 1)), y(clean(x)), timed(points(d, timed_points, 2)) {
        const detail::CounterRandom random(3, 32);
        for (Index i = 0; i < y.size(); ++i) y(i) += noise * random.normal(static_cast<std::uint64_t>(i));
    }
    /// Root mean squared error against the function without noise.
    double error(const Vector& predicted) const {
        return std::sqrt((predicted - clean(timed)).squaredNorm() / timed_points);
    }
};

/// A library's function of the same data.
struct Other {
    std::string name{};
    double nanoseconds{}, error{};
    Index vectors{};
};

#ifdef KERNELET_BENCHMARKS_LIBSVM
/// ε-SVR with the width and the cost that predict the last quarter best from the others; ε is the noise.
Other of_libsvm(const DataSet& data) {
    const auto trained = [&](Index count, const bench::SvmSetting& setting) {
        return bench::SvmModel(bench::SvmModel::Task::regression, data.x.leftCols(count), data.y.head(count),
                               setting);
    };
    constexpr Index part = samples * 3 / 4;
    bench::SvmSetting best;
    double least = std::numeric_limits<double>::infinity();
    for (const double width : {0.25, 0.5, 1.0, 2.0, 4.0})
        for (const double cost : {1.0, 10.0, 100.0}) {
            const bench::SvmSetting setting{width, cost, noise};
            const double error = (trained(part, setting).predict(data.x.rightCols(samples - part)) -
                                  data.y.tail(samples - part))
                                     .norm();
            if (error < least) best = setting;
            least = std::min(least, error);
        }
    const bench::SvmModel model = trained(samples, best);
    const bench::SvmPoints at(data.timed);
    return {"LIBSVM epsilon-SVR", nanoseconds(timed_points, [&] { return model.predict(at).sum(); }),
            data.error(model.predict(data.timed)), model.kernels()};
}
#endif

#ifdef KERNELET_BENCHMARKS_DLIB
/// Kernel ridge regression of dlib, which chooses λ by leaving one out, and the width of least such error.
Other of_dlib(const DataSet& data) {
    using Point = dlib::matrix<double, 0, 1>;
    using Rbf = dlib::radial_basis_kernel<Point>;
    const auto points_of = [](const Matrix& x) {
        std::vector<Point> out;
        for (Index i = 0; i < x.cols(); ++i) {
            Point point(x.rows());
            for (Index c = 0; c < x.rows(); ++c) point(c) = x(c, i);
            out.push_back(point);
        }
        return out;
    };
    const std::vector<Point> x = points_of(data.x), at = points_of(data.timed);
    const std::vector<double> y(data.y.begin(), data.y.end());
    dlib::decision_function<Rbf> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double width : {0.25, 0.5, 1.0, 2.0, 4.0}) {
        dlib::krr_trainer<Rbf> trainer;
        trainer.set_kernel(Rbf(0.5 / (width * width)));
        std::vector<double> left_out;
        double lambda = 0.0;
        const auto function = trainer.train(x, y, left_out, lambda);
        double error = 0.0;
        for (std::size_t i = 0; i < y.size(); ++i) error += (left_out[i] - y[i]) * (left_out[i] - y[i]);
        if (error < least) best = function;
        least = std::min(least, error);
    }
    Vector predicted(timed_points);
    const auto predict = [&] {
        for (Index i = 0; i < timed_points; ++i) predicted(i) = best(at[static_cast<std::size_t>(i)]);
        return predicted.sum();
    };
    const double time = nanoseconds(timed_points, predict);
    return {"dlib krr", time, data.error(predicted), static_cast<Index>(best.basis_vectors.size())};
}
#endif

/// Exported code, compiled.
template <class Scalar>
class Exported {
public:
    template <class Model>
    Exported(const Model& model, CFunctions functions)
        : text_(text_of(model, functions)),
          library_({{"model", text_}}),
          function_(library_.function<Scalar(const Scalar*)>("model")) {}

    Scalar operator()(const Scalar* x) const { return function_(x); }
    /// The number of bytes of its tables, from the head of the file.
    std::string bytes() const {
        const std::size_t first = text_.find_first_not_of(' ', text_.find(" table ") + 7);
        return text_.substr(first, text_.find(' ', first) - first);
    }
    double time(const Matrix& x) const {
        const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> at = x.cast<Scalar>();
        return nanoseconds(at.cols(), [&] {
            Scalar sum = 0;
            for (Index i = 0; i < at.cols(); ++i) sum += function_(&at(0, i));
            return static_cast<double>(sum);
        });
    }

private:
    template <class Model>
    static std::string text_of(const Model& model, CFunctions functions) {
        std::ostringstream stream;
        export_c(
            stream, model,
            {.scalar = sizeof(Scalar) == 4 ? CScalar::float32 : CScalar::float64, .functions = functions});
        return stream.str();
    }

    std::string text_;
    support::CompiledC library_;
    Scalar (*function_)(const Scalar*);
};

/// The largest differences of exported code from predict().
struct Differences {
    double last_places = 0.0;  // in units of the last place of the largest partial sum of the point
    double absolute = 0.0;
};

template <class Scalar>
void grow(Differences& largest, const Exported<Scalar>& code, const Vector& x, double value, double partial) {
    const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> at = x.cast<Scalar>();
    const double difference = std::abs(static_cast<double>(code(at.data())) - value);
    largest.absolute = std::max(largest.absolute, difference);
    largest.last_places =
        std::max(largest.last_places, difference / (std::numeric_limits<double>::epsilon() * partial));
}

/// The largest of |Σ_{i ≤ j} a_i k_i(x)|, j = 1 ... K, and of the sums with the trend.
template <class Kernel>
Vector largest_partial_sums(const SparseKernelModel<Kernel>& model, const Matrix& x) {
    const Matrix u = model.scaling().to_internal(x), ut = u.transpose();
    Vector sum = Vector::Zero(x.cols()), largest = sum, k(x.cols());
    const auto add = [&](const Vector& part) {
        sum += part;
        largest = largest.cwiseMax(sum.cwiseAbs());
    };
    for (Index j = 0; j < model.size(); ++j) {
        model.kernel().values(ut, model.nodes().col(j), k);
        add(model.coefficients()(j, 0) * k);
    }
    for (Index c = 0; c < model.trend().slopes.rows(); ++c) add(model.trend().slopes(c, 0) * ut.col(c));
    add(Vector::Constant(x.cols(), model.offset()(0)));
    return largest;
}

template <class Kernel>
void print_rows(const DataSet& data, Index checked, const std::vector<Other>& others, const Kernel& kernel) {
    const SparseKernelEstimator<Kernel, SquaredLoss> estimator(Options{}, AutomaticSolver{}, kernel);
    const SparseKernelModel<Kernel> model = estimator.fit(data.x, data.y).model.without_statistics();
    const Exported<double> wide(model, CFunctions::library), own_wide(model, CFunctions::own);
    const Exported<float> narrow(model, CFunctions::library), own_narrow(model, CFunctions::own);
    Differences of_wide, of_own_wide, of_narrow, of_own_narrow;
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (Index first = 0; first < checked; first += points_per_block) {
        const Matrix x = points(model.dimension(), points_per_block, 100 + static_cast<std::uint64_t>(first));
        const Vector y = model.predict(x), partial = largest_partial_sums(model, x);
        lowest = std::min(lowest, y.minCoeff());
        highest = std::max(highest, y.maxCoeff());
        for (Index i = 0; i < x.cols(); ++i) {
            grow(of_wide, wide, x.col(i), y(i), partial(i));
            grow(of_own_wide, own_wide, x.col(i), y(i), partial(i));
            grow(of_narrow, narrow, x.col(i), y(i), partial(i));
            grow(of_own_narrow, own_narrow, x.col(i), y(i), partial(i));
        }
    }
    const double range = highest - lowest;
    const double own = nanoseconds(timed_points, [&] {
        double sum = 0.0;
        for (Index i = 0; i < timed_points; ++i) sum += model(data.timed.col(i));
        return sum;
    });
    const double error = data.error(model.predict(data.timed));
    const auto print = [&](const char* type, const std::string& difference, const auto& code,
                           const auto& own_code) {
        std::printf("| %s | %s | %ld | %.3f | %s | %s | %.0f | %.0f | %.0f |",
                    std::string(Kernel::name).c_str(), type, static_cast<long>(model.size()), error,
                    difference.c_str(), code.bytes().c_str(), code.time(data.timed),
                    own_code.time(data.timed), own);
        for (const Other& other : others) std::printf(" %.0f |", other.nanoseconds);
        std::printf("\n");
        std::fflush(stdout);
    };
    char text[64];
    std::snprintf(text, sizeof text, "%.1f / %.1f ulp", of_wide.last_places, of_own_wide.last_places);
    print("double", text, wide, own_wide);
    std::snprintf(text, sizeof text, "%.1e / %.1e", of_narrow.absolute / range,
                  of_own_narrow.absolute / range);
    print("float", text, narrow, own_narrow);
}

void print_table(Index d, Index checked) {
    const DataSet data(d);
    std::vector<Other> others;
#ifdef KERNELET_BENCHMARKS_LIBSVM
    others.push_back(of_libsvm(data));
#endif
#ifdef KERNELET_BENCHMARKS_DLIB
    others.push_back(of_dlib(data));
#endif
    std::printf(
        "\n%ld dimensions, %ld samples, %.0e points; differences and nanoseconds: <math.h> / own "
        "functions\n\n",
        static_cast<long>(d), static_cast<long>(samples), static_cast<double>(checked));
    std::printf(
        "| kernel | numbers | kernels | RMS error | largest difference | bytes | C, ns | C, own functions, "
        "ns "
        "| model(x), ns |");
    for (const Other& other : others)
        std::printf(" %s, %ld vectors, RMS error %.3f, ns |", other.name.c_str(),
                    static_cast<long>(other.vectors), other.error);
    std::printf("\n|---|---|---|---|---|---|---|---|---|%s\n", others.empty()       ? ""
                                                               : others.size() == 1 ? "---|"
                                                                                    : "---|---|");
    print_rows(data, checked, others, Gaussian{});
    print_rows(data, checked, others, AnisotropicGaussian{});
    print_rows(data, checked, others, Laplacian{});
    print_rows(data, checked, others, Matern32{});
    print_rows(data, checked, others, Matern52{});
    print_rows(data, checked, others, Sinc{});
    print_rows(data, checked, others, Polynomial{});
    print_rows(data, checked, others, Dictionary<Gaussian, Matern52>{});
}

}  // namespace

int main(int argc, char** argv) {
    const Index checked = bench::reduced(argc, argv) ? 100'000 : 1'000'000;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    if (!support::has_c_compiler()) {
        std::printf("skipped: no cc to compile the exported code with\n");
        return 0;
    }
    for (const Index d : {2, 8}) print_table(d, checked);
    return 0;
}
