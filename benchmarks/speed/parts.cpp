// The parts of a fit and their limits on the same core: exponentials, rank updates, memory. Items are kernel
// values, or multiplications where a rank update is the limit. Compare two versions with
//     parts --benchmark_out=old.json ...   and   ratios old.json new.json

#include "../support/signals.hpp"

#include <kernelet/dual/augmented_newton_impl.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/losses/feasible_set.hpp>
#include <kernelet/search/strategy.hpp>

#include <benchmark/benchmark.h>

#include <sstream>

namespace {

using namespace kernelet;

// ---- limits

void limit_exp_double(benchmark::State& state) {
    const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(256, -6.0, 0.0);
    Eigen::ArrayXd y(256);
    for (auto _ : state) {
        y = x.exp();
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * 256);
}

void limit_rank_update(benchmark::State& state) {
    const auto p = static_cast<Index>(state.range(0));
    const Matrix strip = Matrix::Random(264, p);
    Matrix gram = Matrix::Zero(p, p);
    for (auto _ : state) {
        detail::rank_update_tn(gram, detail::ConstBlock(strip).part(0, 0, 256, p));
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * 256 * p * p / 2);
}

void limit_memory(benchmark::State& state) {
    const Vector x = Vector::Ones(Index{1} << 23);
    for (auto _ : state) benchmark::DoNotOptimize(detail::sum(x));
    state.SetBytesProcessed(state.iterations() * x.size() * 8);
}

// ---- parts of a search: 1352 samples in five dimensions, kernels with a width per coordinate

struct Problem {
    Index kernels;
    bench::Data data = bench::regression(1352, 5, 1);
    Matrix y = data.y.transpose();
    Vector weights = Vector::Ones(1352);
    detail::TiledPoints points{data.x};
    SearchProblem problem{
        .kernel = AnisotropicGaussian{},
        .domain = AnyDomain(Box(Vector::Constant(5, -1.2), Vector::Constant(5, 1.2), {0.05, 4.0}))
                      .with_parameters(parameter_layout(AnisotropicGaussian{}, 5)),
        .points = points,
        .loss = {SquaredLoss{}, y, weights, 0.0},
        .priors = {.ridge = 1e-6}};
    Matrix nodes = Matrix::Constant(10, kernels, 0.8);

    explicit Problem(Index count) : kernels(count) { nodes.topRows(5) = bench::regression(count, 5, 2).x; }
};

void kernel_values(benchmark::State& state) {
    const auto d = static_cast<Index>(state.range(0));
    const detail::TiledPoints points(bench::regression(256, d, 1).x);
    Vector node = Vector::Constant(d + 1, 0.3), k(256);
    for (auto _ : state) {
        Gaussian{}.values(points.rows(0, 256), node, k);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * 256);
}

void evaluation(benchmark::State& state) {
    Problem p(state.range(0));
    Evaluation<> at(p.problem);
    for (auto _ : state) benchmark::DoNotOptimize(at.at(p.nodes).cost);
    state.SetItemsProcessed(state.iterations() * 1352 * p.kernels);
}

void gram(benchmark::State& state) {
    Problem p(state.range(0));
    const NodeSteps steps(p.problem.kernel, p.problem.domain);
    const WorkingSquares working = p.problem.loss.linearize({});
    const MovingKernels all = MovingKernels::all(p.nodes);
    for (auto _ : state) benchmark::DoNotOptimize(gram_matrices(p.problem, steps, all, working).gram.data());
    const Index columns = p.kernels * 11 + 1;
    state.SetItemsProcessed(state.iterations() * 1352 * columns * columns / 2);
}

void one_step(benchmark::State& state) {
    Problem p(state.range(0));
    LevenbergMarquardt<> lm(p.problem);
    FittedKernels start = lm.evaluate(p.nodes);
    lm.linearize(start);
    for (auto _ : state)
        benchmark::DoNotOptimize(lm.resume(start, {.max_steps = 1, .steps_per_curvature = 3}).cost);
}

void one_trial(benchmark::State& state) {
    Problem p(state.range(0));
    LevenbergMarquardt<> lm(p.problem);
    FittedKernels start = lm.evaluate(p.nodes);
    lm.linearize(start);
    const SearchOptions options;
    const std::vector<Index> moving = lm.neighbours(p.nodes, p.nodes.col(0), 1 + options.moving_kernels);
    for (auto _ : state)
        benchmark::DoNotOptimize(lm.resume(lm.without(start, 0, moving), options.trial).cost);
}

void dual_to_a_gap(benchmark::State& state) {
    const bench::Data data = bench::regression(200, 1, 1);
    const detail::TiledPoints points(data.x);
    const Gaussian kernel;
    const Box box(-5.5, 5.5, {0.05, 5.0});
    const FeasibleSet<SquaredLoss> set(SquaredLoss{}, data.y.transpose(), Scope::aggregate,
                                       Vector::Constant(200, 0.05), Vector::Ones(200));
    const DualProblem<Gaussian, SquaredLoss, Box> problem{kernel, box, points, set, 1e4, 1};
    for (auto _ : state) benchmark::DoNotOptimize(AugmentedNewton{}.solve(problem, {}).dual_value);
}

// ---- whole fits and models

void whole_fit(benchmark::State& state) {
    const bench::Data data = bench::regression(state.range(0), state.range(1), 1);
    for (auto _ : state) benchmark::DoNotOptimize(SparseKernelEstimator<>().fit(data.x, data.y).model.size());
}

SparseKernelModel<Gaussian> model_of(Index d, Index kernels) {
    Matrix nodes = Matrix::Constant(d + 1, kernels, 0.7);
    nodes.topRows(d) = bench::regression(kernels, d, 3).x;
    return {Gaussian{}, InputScaling{Vector::Constant(d, 0.1), Vector::Constant(d, 0.9)}, nodes,
            Matrix::Random(kernels, 1), Vector::Zero(1)};
}

template <class Scalar>
void predict_many(benchmark::State& state) {
    const auto d = static_cast<Index>(state.range(0)), kernels = static_cast<Index>(state.range(1));
    constexpr Index n = 20000;
    const auto model = model_of(d, kernels);
    const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> x =
        bench::regression(n, d, 4).x.template cast<Scalar>();
    for (auto _ : state) benchmark::DoNotOptimize(model.predict(x).data());
    state.SetItemsProcessed(state.iterations() * n * kernels);
}

// Beside predict_many<double> of the same arguments; sh cmake/run.sh travel prints the ratio.
void gradient_many(benchmark::State& state) {
    const auto d = static_cast<Index>(state.range(0)), kernels = static_cast<Index>(state.range(1));
    constexpr Index n = 20000;
    const auto model = model_of(d, kernels);
    const Matrix x = bench::regression(n, d, 4).x;
    for (auto _ : state) benchmark::DoNotOptimize(model.gradient(x).data());
    state.SetItemsProcessed(state.iterations() * n * kernels);
}

void predict_one(benchmark::State& state) {
    const auto model = model_of(state.range(0), state.range(1));
    const Vector x = Vector::Constant(state.range(0), 0.2);
    for (auto _ : state) benchmark::DoNotOptimize(model(x));
    state.SetItemsProcessed(state.iterations() * state.range(1));
}

void save_and_load(benchmark::State& state) {
    const auto model = model_of(2, 16);
    for (auto _ : state) {
        std::stringstream stream;
        save(stream, model);
        benchmark::DoNotOptimize(load<SparseKernelModel<Gaussian>>(stream).size());
    }
}

}  // namespace

BENCHMARK(limit_exp_double);
BENCHMARK(limit_rank_update)->Arg(17)->Arg(89)->Arg(221);
BENCHMARK(limit_memory);
BENCHMARK(kernel_values)->Arg(1)->Arg(2)->Arg(8);
BENCHMARK(evaluation)->Arg(8)->Arg(20);
BENCHMARK(gram)->Arg(8)->Arg(20);
BENCHMARK(one_step)->Arg(8)->Arg(20);
BENCHMARK(one_trial)->Arg(8)->Arg(20);
BENCHMARK(dual_to_a_gap);
BENCHMARK(whole_fit)->Args({201, 1})->Args({1000, 2})->Unit(benchmark::kMillisecond);
BENCHMARK(predict_many<double>)->ArgsProduct({{1, 2, 8}, {16, 64}});
BENCHMARK(predict_many<float>)->ArgsProduct({{1, 2, 8}, {16, 64}});
BENCHMARK(gradient_many)->ArgsProduct({{1, 2, 8}, {16, 64}});
BENCHMARK(predict_one)->Args({2, 16});
BENCHMARK(save_and_load);
