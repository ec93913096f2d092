// The two passes of a dual iteration: kernel values a second, as items_per_second.

#include "../support/signals.hpp"

#include <kernelet/detail/tiles.hpp>
#include <kernelet/kernels/gaussian.hpp>

#include <benchmark/benchmark.h>

namespace {

using namespace kernelet;

/// Widths as wide as the data: no kernel value can be skipped.
Matrix wide_nodes(Index d, Index count) {
    Matrix nodes = bench::regression(count, d + 1, 5).x;
    nodes.row(d).setConstant(4.0);
    return nodes;
}

void analyze_speed(benchmark::State& state) {
    const auto n = static_cast<Index>(state.range(0)), d = static_cast<Index>(state.range(1));
    const bench::Data data = bench::regression(n, d, 1);
    const detail::TiledPoints points(data.x);
    const Matrix nodes = wide_nodes(d, 512);
    for (auto _ : state)
        benchmark::DoNotOptimize(detail::analyze(Gaussian{}, points, Matrix(data.y.transpose()), nodes));
    state.SetItemsProcessed(state.iterations() * n * 512);
}

void synthesize_speed(benchmark::State& state) {
    const auto n = static_cast<Index>(state.range(0)), d = static_cast<Index>(state.range(1));
    const bench::Data data = bench::regression(n, d, 1);
    const detail::TiledPoints points(data.x);
    const Matrix nodes = wide_nodes(d, 512);
    const Matrix a = Matrix::Ones(1, 512);
    for (auto _ : state) benchmark::DoNotOptimize(detail::synthesize(Gaussian{}, points, nodes, a));
    state.SetItemsProcessed(state.iterations() * n * 512);
}

}  // namespace

BENCHMARK(analyze_speed)->Args({1000, 1})->Args({1000, 5})->Args({10000, 2});
BENCHMARK(synthesize_speed)->Args({1000, 1})->Args({1000, 5})->Args({10000, 2});
