#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Random problems of extreme numbers, each made from (seed, number) alone.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;

/// 1/(1 + r²/w²): a kernel with none of the optional members but the gradient.
struct CauchyKernel {
    static constexpr std::string_view name = "cauchy";
    static constexpr bool translation_invariant = true;
    Index parameters(Index /*dimension*/) const { return 1; }
    kernelet::ParameterKind parameter_kind(Index /*row*/) const {
        return kernelet::ParameterKind::isotropic_scale;
    }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {
        for (Index i = 0; i < xt.rows(); ++i) k(i) = value(xt, node, i);
    }
    void jet(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
             kernelet::MatrixRef jet) const {
        const Index d = xt.cols();
        const double w = node(d);
        for (Index i = 0; i < xt.rows(); ++i) {
            const double k = value(xt, node, i);
            jet(i, 0) = k;
            for (Index c = 0; c < d; ++c) jet(i, 1 + c) = 2.0 * (k * ((xt(i, c) - node(c)) / w)) * k / w;
            jet(i, 1 + d) = 2.0 * k * (1.0 - k);
        }
    }

private:
    static double value(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node, Index i) {
        double squares = 0.0;
        for (Index c = 0; c < xt.cols(); ++c) {
            const double u = (xt(i, c) - node(c)) / node(xt.cols());
            squares += u * u;
        }
        return 1.0 / (1.0 + squares);
    }
};

using StressDictionary = kernelet::Dictionary<kernelet::Gaussian, kernelet::Laplacian, kernelet::Matern52>;
using StressKernel =
    std::variant<kernelet::Gaussian, kernelet::AnisotropicGaussian, kernelet::Laplacian, kernelet::Matern32,
                 kernelet::Matern52, kernelet::Sinc, kernelet::Polynomial, StressDictionary, CauchyKernel>;

/// A solver of any type, so that a fit is compiled once for all of them.
struct StressSolver {
    kernelet::detail::ErasedSolver run{};
    kernelet::DualSolution solve(const kernelet::ErasedDualProblem& problem,
                                 const kernelet::ObserverFunction& observer) const {
        return run(problem, observer);
    }
};

/// What is fitted, and with what.
struct StressProblem {
    std::uint64_t number{};
    std::string words{};  ///< for a person
    kernelet::Samples samples{};
    kernelet::Options options{};
    StressKernel kernel{};
    kernelet::AnyLoss loss{kernelet::SquaredLoss{}};
    std::optional<kernelet::AnyDomain> domain{};  ///< none: read off the samples
    StressSolver solver{};
    double gap{};        ///< at which the solver calls itself converged
    Index stop_after{};  ///< reports after which the observer stops the fit; 0: never
};

/// The random numbers of one problem, in the order in which they are drawn.
class Draw {
public:
    Draw(std::uint64_t seed, std::uint64_t number) : random_(seed, number) {}

    double uniform() { return random_.uniform(counter_++); }
    double between(double lo, double hi) { return lo + (hi - lo) * uniform(); }
    double power_of_ten(double lo, double hi) { return std::pow(10.0, between(lo, hi)); }
    bool chance(double probability) { return uniform() < probability; }
    /// 0 ... count − 1.
    Index index(Index count) {
        return std::min(count - 1, static_cast<Index>(uniform() * static_cast<double>(count)));
    }
    /// A unit of x or y.
    double unit() {
        const double kind = uniform();
        if (kind < 0.4) return 1.0;
        return kind < 0.7 ? power_of_ten(-6.0, 6.0) : power_of_ten(-150.0, 150.0);
    }

private:
    kernelet::detail::CounterRandom random_;
    std::uint64_t counter_ = 0;
};

/// Makes a problem, part after part.
class StressProblems {
public:
    static StressProblem make(std::uint64_t seed, std::uint64_t number) {
        StressProblems made(seed, number);
        made.problem_.number = number;
        made.choose_kernel();
        made.choose_loss();
        made.place_samples();
        made.set_targets();
        made.set_weights();
        made.set_options();
        made.set_tolerances();
        made.choose_domain();
        made.choose_solver();
        return std::move(made.problem_);
    }

private:
    StressProblems(std::uint64_t seed, std::uint64_t number) : draw_(seed, number) {}

    template <class... Parts>
    void say(const Parts&... parts) {
        problem_.words += kernelet::detail::text(parts...) + ", ";
    }

    void choose_kernel() {
        using namespace kernelet;
        switch (draw_.index(10)) {
            case 0:
                problem_.kernel = AnisotropicGaussian{};
                break;
            case 1:
                problem_.kernel = Laplacian{};
                break;
            case 2:
                problem_.kernel = Matern32{};
                break;
            case 3:
                problem_.kernel = Matern52{};
                break;
            case 4:
                problem_.kernel = Sinc{};
                break;
            case 5:
                problem_.kernel = Polynomial(1 + draw_.index(6));
                break;
            case 6:
                problem_.kernel = StressDictionary{};
                break;
            case 7:
                problem_.kernel = CauchyKernel{};
                break;
            default:
                problem_.kernel = Gaussian{};
                break;
        }
        std::visit([&](const auto& kernel) { say(kernel.name); }, problem_.kernel);
    }

    /// Also the unit of y, in which some losses have a scale.
    void choose_loss() {
        using namespace kernelet;
        y_unit_ = draw_.unit();
        const double scale = y_unit_ * draw_.power_of_ten(-3.0, 1.0);
        switch (draw_.index(10)) {
            case 0:
                problem_.loss = EpsilonInsensitiveLoss(draw_.chance(0.2) ? 0.0 : scale);
                break;
            case 1:
                problem_.loss = HuberLoss(scale);
                break;
            case 2:
                problem_.loss = HuberLoss();
                break;
            case 3:
                problem_.loss = QuantileLoss(draw_.between(0.02, 0.98));
                break;
            case 4:
                problem_.loss = HingeLoss{};
                break;
            case 5:
                problem_.loss = LogisticLoss{};
                break;
            default:
                problem_.loss = SquaredLoss{};
                break;
        }
        if (problem_.loss.is_classification()) y_unit_ = 1.0;
        say(problem_.loss.held_name());
    }

    /// Clusters, grids, constant and collinear coordinates, offsets and duplicates, each coordinate in its own unit.
    void place_samples() {
        const Index n = 2 + draw_.index(79), d = 1 + draw_.index(4);
        const double common = draw_.unit();
        const bool own_units = draw_.chance(0.15), on_grid = draw_.chance(0.1);
        Matrix& x = problem_.samples.x;
        x.resize(d, n);
        for (Index c = 0; c < d; ++c) {
            const double unit = own_units ? draw_.unit() : common * (draw_.chance(0.1) ? 1e-4 : 1.0);
            const double offset = draw_.chance(0.15) ? draw_.power_of_ten(0.0, 9.0) : 0.0;
            const double kind = draw_.uniform();
            for (Index i = 0; i < n; ++i) {
                double place = draw_.between(-1.0, 1.0);
                if (on_grid) place = std::round(3.0 * place);
                if (kind < 0.1) place = 0.3;
                if (kind > 0.9) place = std::copysign(std::pow(std::abs(place), 9.0), place);
                x(c, i) = unit * (place + offset);
            }
            const bool collinear = c > 0 && kind > 0.1 && kind < 0.2;
            if (collinear) x.row(c) = -2.5 * x.row(draw_.index(c));
        }
        const double duplicates = draw_.chance(0.3) ? draw_.uniform() : 0.0;
        for (Index i = 1; i < n; ++i)
            if (draw_.chance(duplicates)) x.col(i) = x.col(draw_.index(i)).eval();
        x_unit_ = (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).maxCoeff();
        if (!(x_unit_ > 0.0)) x_unit_ = common;
        say("n ", n, ", d ", d, ", x of ", x_unit_);
    }

    void set_targets() {
        const Matrix& x = problem_.samples.x;
        const Index n = x.cols(), q = draw_.chance(0.25) ? 2 + draw_.index(2) : 1;
        const bool classes = problem_.loss.is_classification();
        Matrix& y = problem_.samples.y;
        y.resize(q, n);
        const bool outliers = draw_.chance(0.15);
        for (Index o = 0; o < q; ++o) {
            const double kind = draw_.uniform(), noise = draw_.chance(0.3) ? 0.0 : draw_.power_of_ten(-4, 0);
            const double offset = draw_.chance(0.15) ? draw_.power_of_ten(0.0, 9.0) : 0.0;
            for (Index i = 0; i < n; ++i) {
                const double place = x(0, i) / x_unit_;
                double value = std::sin(5.0 * place) + noise * draw_.between(-1.0, 1.0);
                if (kind < 0.06) value = 0.0;
                if (kind > 0.94) value = 0.7;
                if (kind > 0.8 && kind < 0.9) value = draw_.between(-1.0, 1.0);
                if (outliers && draw_.chance(0.05)) value *= 1e6;
                y(o, i) = classes ? (value < 0.0 ? -1.0 : 1.0) : y_unit_ * (value + offset);
            }
        }
        if (q == 1 && draw_.chance(0.5)) y = y.transpose().eval();
        say("q ", q, ", y of ", y.cwiseAbs().maxCoeff());
    }

    void set_weights() {
        if (!draw_.chance(0.3)) return;
        const double lo = draw_.between(-12.0, 12.0), hi = draw_.between(lo, 12.0);
        Vector& weights = problem_.samples.weights;
        weights.resize(problem_.samples.x.cols());
        for (Index i = 0; i < weights.size(); ++i) weights(i) = draw_.power_of_ten(lo, hi);
        say("weights 1e", lo, " to 1e", hi);
    }

    void set_options() {
        using namespace kernelet;
        Options& options = problem_.options;
        if (draw_.chance(0.4)) options.scope = Scope::per_sample;
        if (draw_.chance(0.25)) options.max_kernels = 1 + draw_.index(6);
        if (draw_.chance(0.2)) options.gamma = clamped(y_unit_ * y_unit_ * draw_.power_of_ten(-8.0, 4.0));
        if (draw_.chance(0.3)) options.sparsity = draw_.chance(0.2) ? 0.0 : draw_.power_of_ten(-2.0, 0.5);
        if (draw_.chance(0.1)) options.standardize = false;
        if (draw_.chance(0.1)) options.center = false;
        if (draw_.chance(0.1)) options.ridge = draw_.chance(0.3) ? 0.0 : draw_.power_of_ten(-14.0, 1.0);
        if (draw_.chance(0.1)) options.dual_samples = 1 + draw_.index(40);
        if (draw_.chance(0.1)) options.noise_multiple = draw_.power_of_ten(-2.0, 2.0);
        if (draw_.chance(0.3))
            options.trend = std::array{Trend::none, Trend::constant, Trend::linear}.at(
                static_cast<std::size_t>(draw_.index(3)));
        options.seed = 1 + static_cast<std::uint64_t>(draw_.index(1000));
        if (draw_.chance(0.05)) problem_.stop_after = 1 + draw_.index(60);
        say(options.scope == Scope::per_sample ? "per sample" : "aggregate", ", trend ",
            static_cast<int>(options.trend), options.standardize ? "" : ", not standardized",
            options.center ? "" : ", not centered");
        if (options.max_kernels) say("max_kernels ", *options.max_kernels);
        if (options.gamma) say("gamma ", *options.gamma);
        if (options.ridge) say("ridge ", *options.ridge);
        if (options.sparsity != 0.5) say("sparsity ", options.sparsity);
        if (problem_.stop_after > 0) say("stopped after ", problem_.stop_after);
    }

    void set_tolerances() {
        if (draw_.chance(0.4)) return;
        const double unit = problem_.loss.is_classification() ? 1.0 : y_unit_;
        const double usual = draw_.chance(0.05) ? 0.0 : unit * draw_.power_of_ten(-7.0, 1.0);
        if (problem_.options.scope == kernelet::Scope::aggregate || draw_.chance(0.5)) {
            problem_.options.tolerance = std::min(usual, 1e150);
            say("tolerance ", usual);
            return;
        }
        Vector& tolerances = problem_.samples.tolerances;
        tolerances.resize(problem_.samples.x.cols());
        for (Index i = 0; i < tolerances.size(); ++i)
            tolerances(i) = draw_.chance(0.05) ? 0.0 : clamped(usual * draw_.power_of_ten(-2.0, 2.0));
        say("tolerances about ", usual);
    }

    void choose_domain() {
        using namespace kernelet;
        if (draw_.chance(0.45)) return;
        const Matrix& x = problem_.samples.x;
        const Index d = x.rows();
        auto [lo, hi] = detail::bounding_box(x, draw_.chance(0.2) ? 10.0 : 0.1);
        if (draw_.chance(0.1)) lo = hi;
        if (draw_.chance(0.1)) hi.array() += x_unit_ * draw_.power_of_ten(-2.0, 3.0);
        const double exponent = draw_.between(-4.0, 3.0);
        Interval widths{clamped(x_unit_ * std::pow(10.0, exponent)), 0.0};
        widths.hi = clamped(widths.lo * (draw_.chance(0.05) ? 1e120 : draw_.power_of_ten(0.0, 4.0)));
        const Spacing spacing = draw_.chance(0.2) ? Spacing::uniform : Spacing::logarithmic;
        const Index kind = draw_.index(5);
        if (kind == 0) problem_.domain = FixedWidth(Box(lo, hi, widths), widths.lo);
        if (kind == 1) problem_.domain = AroundSamples(x, widths, spacing);
        if (kind >= 3) problem_.domain = Box(lo, hi, widths, spacing);
        if (kind == 2) {
            const Index count = 1 + draw_.index(x.cols());
            Matrix centers(d, count);
            for (Index j = 0; j < count; ++j) centers.col(j) = x.col(draw_.index(x.cols()));
            const CandidateCenters candidates(centers, widths, spacing);
            problem_.domain = draw_.chance(0.3) ? candidates.released() : candidates;
        }
        say(std::array{"FixedWidth", "AroundSamples", "CandidateCenters", "Box", "Box"}.at(
                static_cast<std::size_t>(kind)),
            " with widths ", widths.lo, " to ", kind == 0 ? widths.lo : widths.hi);
    }

    template <class Solver>
    void use(const Solver& solver, double gap, std::string_view name) {
        problem_.solver.run = kernelet::detail::erase_solver(solver);
        problem_.gap = gap;
        say(name);
    }

    void choose_solver() {
        using namespace kernelet;
        const Index most_nodes = Index{256} << draw_.index(5);
        const bool for_one_output = problem_.samples.y.cols() == 1 || problem_.samples.y.rows() == 1;
        AugmentedNewtonOptions newton;
        newton.stopping.max_nodes = most_nodes;
        if (draw_.chance(0.2)) newton.dense_samples = 0;
        CoordinateAscentOptions blocks;
        blocks.stopping.max_nodes = most_nodes;
        blocks.block = 1 + draw_.index(128);
        StochasticSupergradientOptions supergradient;
        supergradient.batch = std::min<Index>(most_nodes, 1024);
        supergradient.iterations = 1 + draw_.index(400);
        switch (draw_.index(9)) {
            case 0:
                return use(AugmentedNewton(newton), newton.stopping.gap, "AugmentedNewton");
            case 1:
                if (!for_one_output || problem_.options.has_dual_trend()) break;
                return use(CoordinateAscent(blocks), blocks.stopping.gap, "CoordinateAscent");
            case 2:
                if (!for_one_output || problem_.options.has_dual_trend()) break;
                return use(SampledAscent<CoordinateAscent>{}, blocks.stopping.gap, "SampledAscent");
            case 3:
                return use(PointMassLimit{}, PointMassLimitOptions{}.gap, "PointMassLimit");
            case 4:
                return use(StochasticSupergradient(supergradient), supergradient.gap,
                           "StochasticSupergradient");
            case 5:
                supergradient.eta_lambda = draw_.power_of_ten(-4.0, 2.0);
                supergradient.eta_mu = draw_.power_of_ten(-4.0, 2.0);
                supergradient.iterations = std::min<Index>(supergradient.iterations, 200);
                return use(StochasticSupergradient(supergradient), supergradient.gap,
                           "StochasticSupergradient as printed");
            default:
                break;
        }
        use(AutomaticSolver{}, newton.stopping.gap, "AutomaticSolver");
    }

    static double clamped(double value) { return std::clamp(value, 1e-290, 1e290); }

    Draw draw_;
    StressProblem problem_{};
    double x_unit_ = 1.0, y_unit_ = 1.0;
};

}  // namespace bench
