// Run by mpirun on any number of processes: fits to shards must be those of one process, and end together.
#include <kernelet/kernelet.hpp>
#include <kernelet/mpi.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace kernelet;

int failures = 0;
int rank = 0, ranks = 1;

void check(bool holds, const std::string& what) {
    if (holds) return;
    ++failures;
    std::printf("rank %d of %d: FAILED: %s\n", rank, ranks, what.c_str());
}

constexpr Index samples = 50000;  // four blocks

/// Sample i of a function of two inputs with noise; every process can make every sample.
void make(Index i, double* x, double& y) {
    const detail::CounterRandom random(5, 1), noise(5, 2);
    const auto k = static_cast<std::uint64_t>(i);
    x[0] = 2.0 * random.uniform(2 * k) - 1.0;
    x[1] = 2.0 * random.uniform(2 * k + 1) - 1.0;
    y = std::exp(-3.0 * (x[0] * x[0] + x[1] * x[1])) - 0.6 * std::exp(-5.0 * (x[0] - 0.5) * (x[0] - 0.5)) +
        0.1 * noise.normal(k);
}

/// A change of a block after it was made: (number of the read, first sample, y).
using Spoil = std::function<void(int, Index, MatrixRef)>;

auto part(Index begin, Index end, bool labels = false, Spoil spoil = {}) {
    int reads = 0;
    return CallableSource({end - begin, 2, 1}, [=](Index first, Index count, MatrixRef x, MatrixRef y,
                                                   VectorRef /*weights*/) mutable {
        for (Index i = 0; i < count; ++i) {
            make(begin + first + i, &x(0, i), y(0, i));
            if (labels) y(0, i) = y(0, i) > 0.2 ? 1.0 : -1.0;
        }
        if (spoil) spoil(reads++, begin + first, y);
    });
}

Options options() {
    Options out;
    out.search.streams.held_samples = 2000;
    return out;
}

template <class Model>
std::vector<double> numbers(const Model& model) {
    std::vector<double> out;
    for (const Matrix& part : {model.centers(), model.widths(), Matrix(model.coefficients()),
                               Matrix(model.statistics().covariance)})
        out.insert(out.end(), part.data(), part.data() + part.size());
    return out;
}

/// The ends of the shards: equal, one per line of `cuts` otherwise.
SampleRange shard(const std::vector<Index>& cuts) {
    const auto at = [&](int r) {
        return r == 0 ? 0 : r >= ranks ? samples : cuts[static_cast<std::size_t>(r - 1)];
    };
    return {at(rank), at(rank + 1)};
}

std::vector<Index> equal_cuts() {
    std::vector<Index> cuts;
    for (int r = 1; r < ranks; ++r) cuts.push_back(samples * r / ranks + 7);
    return cuts;
}

template <class Loss>
void same_as_one_process(const std::vector<Index>& cuts, bool labels) {
    const SparseKernelEstimator<Gaussian, Loss> estimator(options());
    const auto alone = estimator.fit(part(0, samples, labels));
    const auto [begin, end] = shard(cuts);
    const mpi::Shards shards(MPI_COMM_WORLD, part(begin, end, labels));
    check(shards.size() == samples, "size");
    const auto fit = estimator.fit(shards);
    check(fit.model.size() > 0 && numbers(fit.model) == numbers(alone.model), "the model of one process");
    check(fit.report.residual == alone.report.residual && fit.report.status == alone.report.status,
          "its report");
    // Predictions of the shards are those of all samples.
    Index seen = 0;
    fit.model.predict(shards, [&](Index first, const Matrix& values) {
        check(first == shards.owned().begin + seen, "blocks in order");
        seen += values.cols();
    });
    long all = static_cast<long>(seen);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(all == samples, "all samples are predicted once");
}

/// All processes must throw the same words, soon.
template <class Call>
void all_throw(const std::string& words, const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    std::string said;
    try {
        call();
    } catch (const std::exception& error) {
        said = error.what();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    check(said.find(words) != std::string::npos, "expected '" + words + "', got '" + said + "'");
    check(seconds < 5.0, "more than five seconds: " + words);
}

void failing_processes() {
    const SparseKernelEstimator<> estimator(options());
    const auto [begin, end] = shard(equal_cuts());
    const int culprit = ranks - 1;
    const auto fit = [&](const Spoil& spoil) {
        const mpi::Shards shards(MPI_COMM_WORLD, part(begin, end, false, rank == culprit ? spoil : Spoil{}));
        estimator.fit(shards);
    };
    all_throw("the disk is gone", [&] {
        fit([](int read, Index, MatrixRef) {
            if (read >= 6) throw std::runtime_error("the disk is gone");
        });
    });
    all_throw("is nan", [&] { fit([](int, Index, MatrixRef y) { y(0, 3) = std::nan(""); }); });
    all_throw("changed between two passes", [&] {
        fit([](int read, Index, MatrixRef y) {
            if (read >= 6) y(0, 0) += 1.0;
        });
    });
    all_throw("cannot be read at all",
              [&] { fit([](int, Index, MatrixRef) { throw std::runtime_error("cannot be read at all"); }); });
    if (ranks > 1)
        all_throw("inputs", [&] {
            const Matrix x = Matrix::Ones(rank == 0 ? 2 : 3, 5);
            const Vector y = Vector::Ones(5);
            const mpi::Shards shards(MPI_COMM_WORLD, MatrixSource(x, y));
        });
    all_throw("no rank has any samples", [&] { const mpi::Shards shards(MPI_COMM_WORLD, part(0, 0)); });
}

/// One process fails at once while the others still read: they end early, without reading the rest of their shards.
void others_end_early() {
    if (ranks < 2) return;
    const auto [begin, end] = shard(equal_cuts());
    int slow_reads = 0;
    const auto slow = [&](int, Index, MatrixRef) {
        ++slow_reads;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    };
    const auto fails = [](int, Index, MatrixRef) { throw std::runtime_error("fails at once"); };
    all_throw("fails at once", [&] {
        const mpi::Shards shards(MPI_COMM_WORLD,
                                 part(begin, end, false, rank == 0 ? Spoil(slow) : Spoil(fails)));
        SparseKernelEstimator<>(options()).fit(shards);
    });
}

/// The observer of rank 0 stops the fit; all get the same model.
void stops() {
    const auto [begin, end] = shard(equal_cuts());
    for (const char* stage : {"read", "search", "passes"}) {
        int told = 0;
        const mpi::Shards shards(MPI_COMM_WORLD, part(begin, end, false, [](int, Index, MatrixRef) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(25));
                                 }));
        const auto fit = SparseKernelEstimator<>(options()).fit(shards, [&](const Progress& progress) {
            ++told;
            return progress.stage == stage ? Verdict::stop : Verdict::proceed;
        });
        check(fit.report.status == Status::stopped, std::string("stopped in ") + stage);
        check((told > 0) == (rank == 0), "progress on rank 0 only");
        std::vector<double> own = numbers(fit.model), first = own;
        long count = static_cast<long>(own.size());
        MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        check(count == static_cast<long>(own.size()), "as many numbers");
        first.resize(static_cast<std::size_t>(count));
        MPI_Bcast(first.data(), static_cast<int>(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        check(first == own, "the same model after a stop");
    }
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    same_as_one_process<SquaredLoss>(equal_cuts(), false);
    same_as_one_process<LogisticLoss>(equal_cuts(), true);
    // Empty shards and one of a single sample: the ends are not in the order of the ranks' sizes.
    std::vector<Index> unequal;
    for (int r = 1; r < ranks; ++r) unequal.push_back(r == 1 ? 1 : samples);
    same_as_one_process<SquaredLoss>(unequal, false);
    for (Index& cut : unequal) cut = 0;
    same_as_one_process<SquaredLoss>(unequal, false);
    failing_processes();
    others_end_early();
    stops();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%d ranks: %d failures\n", ranks, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
