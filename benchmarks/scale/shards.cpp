// A fit to samples on several processes: mpirun -n <ranks> shards <problem> <n>. Prints from rank 0: wall seconds, from the
// construction of the shards on; the sum of the bits of the model; passes over the samples; broadcasts
// that rank 0 sent and messages that it received, and their bytes.

#include "../support/signals.hpp"
#include "problems.hpp"

#include <kernelet/kernelet.hpp>
#include <kernelet/mpi.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace kernelet;

/// Samples in matrices that count how many of them were read.
struct CountedSource {
    MatrixSource<double> samples;
    std::atomic<Index>* reads;

    Index size() const { return samples.size(); }
    Index dimension() const { return samples.dimension(); }
    Index outputs() const { return samples.outputs(); }
    void read(Index first, Index count, MatrixRef x, MatrixRef y, VectorRef weights) const {
        *reads += count;
        samples.read(first, count, x, y, weights);
    }
};

/// The messages of rank 0, counted by MPI's profiling interface.
struct Traffic {
    long calls = 0;
    double bytes = 0.0;
} traffic;

}  // namespace

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
    int size = 0;
    MPI_Type_size(type, &size);
    ++traffic.calls;
    traffic.bytes += static_cast<double>(count) * size;
    return PMPI_Bcast(buffer, count, type, root, communicator);
}

extern "C" int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                        MPI_Comm communicator, MPI_Status* status) {
    int size = 0;
    MPI_Type_size(type, &size);
    ++traffic.calls;
    traffic.bytes += static_cast<double>(count) * size;
    return PMPI_Recv(buffer, count, type, source, tag, communicator, status);
}

int main(int argc, char** argv) {
    int level = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 3) {
        const bench::Regression problem(argv[1], 1);
        const auto n = static_cast<Index>(std::atof(argv[2]));
        const Index begin = n * rank / ranks, end = n * (rank + 1) / ranks;
        Matrix x(problem.dimension(), end - begin);
        Vector y(end - begin);
        for (Index i = begin; i < end; ++i) {
            problem.x(i, &x(0, i - begin));
            y(i - begin) = problem.clean(&x(0, i - begin)) + problem.noise(i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = bench::seconds();
        std::atomic<Index> reads{0};
        const mpi::Shards shards(MPI_COMM_WORLD, CountedSource{MatrixSource<double>(x, y), &reads});
        const auto fit = SparseKernelEstimator<>().fit(shards);
        const double seconds = bench::seconds() - start;
        std::uint64_t bits = 0;
        for (const Matrix& part : {fit.model.centers(), fit.model.widths(), Matrix(fit.model.coefficients())})
            for (Index k = 0; k < part.size(); ++k) bits += std::bit_cast<std::uint64_t>(part(k));
        if (rank == 0)
            std::printf(
                "shards %s %ld ranks %d seconds %.3f kernels %ld bits %llx passes %.2f calls %ld megabytes "
                "%.2f\n",
                argv[1], static_cast<long>(n), ranks, seconds, static_cast<long>(fit.model.size()),
                static_cast<unsigned long long>(bits),
                static_cast<double>(reads) / static_cast<double>(end - begin), traffic.calls,
                traffic.bytes / 1048576.0);
    } else if (rank == 0) {
        std::printf("usage: mpirun -n <ranks> shards <chirp|bumps2|bumps3> <n>\n");
    }
    MPI_Finalize();
    return 0;
}
