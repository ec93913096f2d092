// Threads under ThreadSanitizer: header-only, with the standard library's threads as those of parallel_for, see
// KERNELET_STD_THREADS. Fails where a check does or where ThreadSanitizer reports a race.
// Argument: how many times all is done (1).
#include "support/signals.hpp"
#include "support/threads.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace kernelet;
using support::same_bits;
using support::Threads;

int wrong = 0;

void check(bool holds, const std::string& what) {
    if (holds) return;
    std::printf("wrong: %s\n", what.c_str());
    ++wrong;
}

/// What the exception of a call says; empty where there is none.
template <class Call>
std::string failure(const Call& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

/// call(k) on `count` threads of their own, all at once.
void at_once(int count, const std::function<void(int)>& call) {
    std::vector<std::thread> threads;
    for (int k = 0; k < count; ++k) threads.emplace_back(call, k);
    for (std::thread& thread : threads) thread.join();
}

/// Throws from the chosen one of the calls that come from threads other than the one that made it, and counts them.
class Fault {
public:
    explicit Fault(Index at) : at_(at) {}
    void pass(const char* whose) const {
        if (std::this_thread::get_id() != caller_ && ++calls_ == at_) throw std::runtime_error(whose);
    }
    Index calls() const { return calls_; }

private:
    Index at_;
    std::thread::id caller_ = std::this_thread::get_id();
    mutable std::atomic<Index> calls_{0};
};

/// A Gaussian of the user's own that may throw: by a fault, or for samples from `barrier` on.
struct OwnKernel {
    static constexpr std::string_view name = "own_kernel";
    const Fault* fault = nullptr;
    double barrier = 1e9;

    Index parameters(Index) const { return 1; }
    ParameterKind parameter_kind(Index) const { return ParameterKind::isotropic_scale; }
    void values(const ConstMatrixRef& x, const ConstVectorRef& node, VectorRef k) const {
        if (fault != nullptr) fault->pass("kernel");
        if (x(0, 0) >= barrier) throw std::runtime_error(std::to_string(x(0, 0)));
        Gaussian{}.values(x, node, k);
    }
    void jet(const ConstMatrixRef& x, const ConstVectorRef& node, MatrixRef jet) const {
        if (fault != nullptr) fault->pass("kernel");
        Gaussian{}.jet(x, node, jet);
    }
};

/// A squared loss of the user's own, without closed forms, that may throw.
struct OwnLoss {
    static constexpr std::string_view name = "own_loss";
    const Fault* fault = nullptr;

    double value(double prediction, double target) const {
        if (fault != nullptr) fault->pass("loss");
        return (prediction - target) * (prediction - target);
    }
    double derivative(double prediction, double target) const { return 2.0 * (prediction - target); }
    double level(double tolerance) const { return tolerance * tolerance; }
    Interval interval(double target, double tolerance) const {
        return {target - tolerance, target + tolerance};
    }
};

/// One solver, since each takes its time to compile.
template <class Kernel = Gaussian, class Loss = SquaredLoss>
using Estimator = SparseKernelEstimator<Kernel, Loss, AugmentedNewton>;

/// A problem of one input.
struct Problem {
    Matrix x{};
    Vector y{};
};

Problem wave(Index n, std::uint64_t seed) {
    Problem out{Vector::LinSpaced(n, -2.0, 2.0).transpose(), 0.05 * support::normals(n, 1, seed).col(0)};
    for (Index i = 0; i < n; ++i) out.y(i) += std::sin((2.0 + 0.3 * static_cast<double>(seed)) * out.x(0, i));
    return out;
}

struct Classes {
    Matrix x{};
    std::vector<int> labels{};
};

Classes three_classes(Index n) {
    Classes out{0.5 * support::normals(2, n, 5), {}};
    for (Index i = 0; i < n; ++i) {
        out.labels.push_back(static_cast<int>(i % 3));
        out.x(0, i) += i % 3 == 1 ? 2.0 : 0.0;
        out.x(1, i) += i % 3 == 2 ? 2.0 : 0.0;
    }
    return out;
}

Options few_kernels() { return {.max_kernels = 3}; }

template <class Fit>
bool same_fit(const Fit& a, const Fit& b) {
    return same_bits(a.model.nodes(), b.model.nodes()) &&
           same_bits(a.model.coefficients(), b.model.coefficients()) &&
           same_bits(a.multipliers, b.multipliers) && a.report.dual_value == b.report.dual_value;
}

void loops() {
    // All threads are there at once, before and after a loop that threw, and none in a loop within a loop.
    const Threads four(4);
    for (int repeat = 0; repeat < 2; ++repeat) {
        std::atomic<int> here{0};
        detail::parallel_for(4, [&](Index) {
            ++here;
            const auto start = std::chrono::steady_clock::now();
            while (here < 4 && std::chrono::steady_clock::now() - start < std::chrono::seconds(5))
                std::this_thread::yield();
            if (here < 4) here = -100;
            const std::thread::id outer = std::this_thread::get_id();
            detail::parallel_for(4, [&](Index) {
                if (std::this_thread::get_id() != outer) here = -100;
            });
        });
        check(here == 4, "four threads at once, and no more within");
        failure([] { detail::parallel_for(8, [](Index) { throw std::runtime_error("any"); }); });
    }
    for (const int count : {1, 2, 3, 16}) {
        const Threads threads(count);
        std::vector<int> visits(1000);
        const std::string said = failure([&] {
            detail::parallel_for(1000, [&](Index k) {
                ++visits[static_cast<std::size_t>(k)];
                // Of those that fail, the lowest is the last.
                if (k == 437) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                if (k >= 437) throw std::runtime_error(std::to_string(k));
            });
        });
        check(said == "437", "the exception of the lowest index is " + said);
        for (std::size_t k = 0; k < 437; ++k) check(visits[k] == 1, "each index is visited once");
    }
}

/// What sixteen threads ask of one fit and of one ensemble.
template <class Fit, class Ensemble>
Matrix answers(const Fit& fit, const Ensemble& ensemble, const Matrix& x, const Matrix& plane) {
    Matrix out(6, x.cols());
    out.row(0) = fit.model.predict(x).transpose();
    out.row(1) = fit.model.gradient(x);
    for (Index i = 0; i < x.cols(); ++i) out(2, i) = i < 50 ? fit.model(x(0, i)) : 0.0;
    for (Index i = 0; i < x.cols(); ++i) out(3, i) = i < 50 ? fit.field(x(0, i), 0.3) : 0.0;
    out.row(4) = fit.field.raw_at(x.replicate(2, 1).cwiseAbs() + Matrix::Constant(2, x.cols(), 0.1));
    out.row(5) = ensemble.model.probability(plane).row(1);
    return out;
}

void one_model_on_sixteen_threads(const auto& ensemble) {
    const Problem problem = wave(60, 1);
    const auto fit = Estimator<>(few_kernels()).fit(problem.x, problem.y);
    const Matrix x = support::uniforms(1, 6000, 2, -2.0, 2.0), plane = support::uniforms(2, 6000, 3);
    const Matrix alone = answers(fit, ensemble, x, plane);
    check(alone.row(0).norm() > 1.0 && alone.row(3).norm() > 0.0, "the model and its field are not zero");
    std::vector<Matrix> all(16);
    at_once(16, [&](int k) { all[static_cast<std::size_t>(k)] = answers(fit, ensemble, x, plane); });
    for (const Matrix& one : all) check(same_bits(one, alone), "sixteen threads see what one sees");
}

void fits_at_once() {
    const auto fit = [](int k) {
        const Problem problem = wave(40 + 4 * k, static_cast<std::uint64_t>(k));
        return Estimator<>(few_kernels()).fit(problem.x, problem.y);
    };
    std::vector<decltype(fit(0))> alone, together;
    for (int k = 0; k < 4; ++k) alone.push_back(fit(k));
    together = alone;
    for (auto& one : together) one = fit(0);
    at_once(4, [&](int k) { together[static_cast<std::size_t>(k)] = fit(k); });
    for (std::size_t k = 0; k < 4; ++k)
        check(same_fit(alone[k], together[k]), "four fits at once are those alone");
}

void same_bits_on_any_number() {
    const Problem problem = wave(60, 4);
    const Fault never(-1);
    using Own = Estimator<OwnKernel>;
    const auto fit = [&](int count) {
        const Threads threads(count);
        return Own(few_kernels(), AugmentedNewton{}, OwnKernel{&never}).fit(problem.x, problem.y);
    };
    const auto one = fit(1);
    check(never.calls() == 0, "one thread is the caller");
    for (const int count : {2, 3, 16}) check(same_fit(one, fit(count)), "the bits of a fit");
    check(never.calls() > 0, "a fit has other threads compute kernel values");
}

void observers_that_throw() {
    const Problem problem = wave(40, 5);
    for (const int chosen : {1, 2, 12}) {
        int calls = 0;
        std::set<std::thread::id> callers;
        const std::string said = failure([&] {
            Estimator<>(few_kernels()).fit(problem.x, problem.y, [&](const Progress&) {
                callers.insert(std::this_thread::get_id());
                if (++calls == chosen) throw std::runtime_error("observer");
                return Verdict::proceed;
            });
        });
        check(said == "observer" && calls == chosen, "the exception of an observer ends the fit");
        check(callers == std::set{std::this_thread::get_id()},
              "an observer is called by the thread that fits");
    }
}

void kernels_that_throw() {
    const Problem problem = wave(60, 6);
    for (const Index at : {1, 20, 300}) {
        const Fault fault(at);
        const Estimator<OwnKernel> estimator(few_kernels(), AugmentedNewton{}, OwnKernel{&fault});
        const std::string said = failure([&] { estimator.fit(problem.x, problem.y); });
        check(fault.calls() >= at && said == "kernel", "the exception of a kernel in a fit: " + said);
    }
    // Predictions at places in ascending order: the exception is that of the first.
    const Matrix x = Vector::LinSpaced(60000, 0.0, 6.0).transpose();
    const SparseKernelModel<OwnKernel> model(OwnKernel{nullptr, 2.0}, InputScaling::identity(1),
                                             Matrix::Ones(2, 4), Matrix::Ones(4, 1), Vector::Zero(1));
    std::set<std::string> said;
    for (const int count : {1, 2, 3, 16}) {
        const Threads threads(count);
        said.insert(failure([&] { (void)model.predict(x); }));
    }
    check(said.size() == 1 && said.begin()->substr(0, 2) == "2.",
          "the first exception of a kernel: " + *said.begin());
}

void losses_that_throw() {
    const Problem problem = wave(40, 7);
    // A single fit asks for losses on the caller's thread; fits in parallel do so on theirs.
    for (const Index at : {1, 1000}) {
        const Fault fault(at);
        const Estimator<Gaussian, OwnLoss> estimator(few_kernels(), AugmentedNewton{}, Gaussian{},
                                                     OwnLoss{&fault});
        const std::string said =
            failure([&] { cross_validate(estimator, problem.x, problem.y, time_blocks(40, 4)); });
        check(fault.calls() >= at && said == "loss", "the exception of a loss in parallel fits: " + said);
    }
}

/// Samples in blocks, which several threads read at once. All from `bad` on cannot be read.
struct OwnSource {
    Index bad;

    Index size() const { return 16384 + 4000; }
    Index dimension() const { return 1; }
    Index outputs() const { return 1; }
    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef) const {
        if (first + count > bad) {
            // The first that fails is the last to do so.
            if (first <= bad) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            throw std::runtime_error("gone");
        }
        for (Index i = 0; i < count; ++i) {
            x(0, i) = 1e-4 * static_cast<double>((first + i) * 7919 % 10007);
            y(0, i) = std::sin(6.0 * x(0, i));
        }
    }
};
static_assert(SampleSource<OwnSource>);

void sources() {
    Options options = few_kernels();
    options.search.streams.held_samples = 100;
    const Estimator<> estimator(options);
    for (const int count : {1, 2, 3, 16}) {
        const Threads threads(count);
        const std::string said = failure([&] { estimator.fit(OwnSource{16000}); });
        check(said.find("reading block 0 ") != std::string::npos,
              "the exception of the first block: " + said);
    }
    const auto fit = [&](int count) {
        const Threads threads(count);
        return estimator.fit(OwnSource{16384 + 4000});
    };
    check(same_fit(fit(1), fit(3)), "the bits of a fit to a source");
}

/// Fits nothing; fails on the folds from 2 on, of 30 samples x = 0, 1, ... in six blocks.
struct FailingEstimator {
    struct Fit {
        struct Model {
            Matrix predict(const Matrix& x) const { return Matrix::Zero(x.cols(), 1); }
            Index size() const { return 0; }
        } model{};
    };
    Fit fit(const Matrix& x, const Matrix&) const {
        const Index fold = (435 - static_cast<Index>(x.sum())) / 25;
        if (fold == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (fold >= 2) throw std::invalid_argument("no fit");
        return {};
    }
};

void cross_validations_that_throw() {
    const Matrix x = Vector::LinSpaced(30, 0.0, 29.0).transpose();
    for (const int count : {1, 2, 3, 16}) {
        const Threads threads(count);
        const std::string said =
            failure([&] { cross_validate(FailingEstimator{}, x, Vector::Zero(30), time_blocks(30, 6)); });
        check(said == "no fit (in the training part of fold 2)", "the exception of the first fold: " + said);
    }
    const Problem problem = wave(40, 8);
    std::atomic<int> calls{0};
    const std::string said = failure([&] {
        cross_validate(Estimator<>(few_kernels()), problem.x, problem.y, time_blocks(40, 4),
                       [&](const Progress&) -> Verdict {
                           if (++calls == 3) throw std::runtime_error("observer");
                           return Verdict::proceed;
                       });
    });
    check(said == "observer", "the exception of an observer of parallel fits: " + said);
}

void ensembles() {
    using Binary = Estimator<Gaussian, LogisticLoss>;
    const OneVsOne<Binary> estimator{Binary({.tolerance = 0.3, .max_kernels = 2})};
    const Classes data = three_classes(30);
    const Folds folds = stratified_folds(data.labels, 2);
    const auto run = [&](int count) {
        const Threads threads(count);
        std::set<std::thread::id> callers;
        const auto result = cross_validate(estimator, data.x, data.labels, folds, [&](const Progress&) {
            callers.insert(std::this_thread::get_id());  // one at a time, so that this needs no lock
            return Verdict::proceed;
        });
        check((callers.size() > 1) == (count > 1), "folds are fitted on several threads");
        return result.probabilities;
    };
    const Matrix one = run(1);
    check(one.size() == 90 && one.allFinite(), "probabilities of three classes");
    for (const int count : {2, 3, 16}) check(same_bits(run(count), one), "the bits of a cross-validation");
    one_model_on_sixteen_threads(estimator.fit(data.x, data.labels));
}

template <class Call>
void timed(const char* name, const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%6.2f s  %s\n", seconds, name);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int round = 0; round < rounds; ++round) {
        timed("loops", loops);
        timed("fits at once", fits_at_once);
        timed("the same bits", same_bits_on_any_number);
        timed("observers that throw", observers_that_throw);
        timed("kernels that throw", kernels_that_throw);
        timed("losses that throw", losses_that_throw);
        timed("sources", sources);
        timed("cross-validations that throw", cross_validations_that_throw);
        timed("ensembles, and one model on sixteen threads", ensembles);
    }
    std::printf("%d checks failed\n", wrong);
    return wrong == 0 ? 0 : 1;
}
