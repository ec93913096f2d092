// The chirp of 01_quickstart.cpp, with each stage of the fit called directly; estimator.hpp composes these
// stages. Everything is in the units of the data here: nothing is scaled, and the tolerance is chosen by
// hand.
#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>

namespace {

double chirp(double x) { return std::sin(0.5 * std::numbers::pi * x * x); }

}  // namespace

int main() {
    using kernelet::Index;
    using kernelet::Matrix;
    using kernelet::Vector;

    // samples: x is d x n, y is q x n and centered
    constexpr Index n = 201;
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0.0, std::sqrt(1e-3));
    const Matrix x = Eigen::RowVectorXd::LinSpaced(n, -5.0, 5.0);
    Matrix y = x.unaryExpr([&](double at) { return chirp(at) + noise(random); });
    const Vector offset = y.rowwise().mean();
    y.colwise() -= offset;
    const Vector weights = Vector::Ones(n);
    std::printf("samples   %td, mean %.4f\n", n, offset(0));

    // domain: centers in the samples' box and a tenth more, widths from the spacing to half the box
    const kernelet::Gaussian kernel;
    const kernelet::Box domain = kernelet::box_from_samples(x);
    std::printf("domain    centers in [%g, %g], widths in [%g, %g]\n", domain.lo()(0), domain.hi()(0),
                domain.widths().lo, domain.widths().hi);

    // loss: RMS residual ≤ 0.05, about 1.6 deviations of the noise
    constexpr double tolerance = 0.05;
    const kernelet::FeasibleSet<kernelet::SquaredLoss> feasible(
        kernelet::SquaredLoss{}, y, kernelet::Scope::aggregate, Vector::Constant(n, tolerance), weights);
    std::printf("loss      RMS residual <= %g; predicting the mean misses it by %.3f\n", tolerance,
                feasible.violation(Matrix::Zero(1, n)));

    // dual, first without sparsity: the height of ᾱ₀ sets the threshold √(2γ) = ½ max|ᾱ₀|
    const kernelet::TiledPoints points(x);
    kernelet::DualProblem problem(kernel, domain, points, feasible);
    const kernelet::AugmentedNewton solver;
    const kernelet::DualSolution dense = solver.solve(problem);
    const double highest = problem.field(dense.lambda, dense.quadrature.nodes).cwiseAbs().maxCoeff();
    std::printf("dual      gamma 0: D = %.2f, %td Newton steps on %td nodes, highest |alpha| %.1f\n",
                dense.dual_value, dense.iterations, dense.quadrature.nodes.cols(), highest);

    // dual, again with that γ, from where the first one ended
    const double threshold = 0.5 * highest;
    problem.gamma = 0.5 * threshold * threshold;
    problem.warm_start = &dense.lambda;
    const kernelet::DualSolution dual = solver.solve(problem);
    std::printf("dual      gamma %.0f: D = %.2f, P = %.2f, gap %.3f %%, %td Newton steps, %s\n",
                problem.gamma, dual.dual_value, dual.primal_value, 100.0 * dual.relative_gap(),
                dual.iterations, std::string(kernelet::to_string(dual.status)).c_str());

    // field: α(z, w) as a function
    const auto identity = kernelet::InputScaling::identity(1);
    const kernelet::CoefficientField field(kernel, x, dual.lambda, problem.gamma, identity);
    const Index on = (field.at(dual.quadrature.nodes).array() != 0.0).count();
    std::printf("field     threshold %.1f, alpha is not zero at %td of %td nodes\n", field.threshold(), on,
                dual.quadrature.nodes.cols());

    // peaks: the maxima of |ᾱ| above the threshold, off the grid
    const kernelet::ExtractedPeaks found =
        kernelet::extract_peaks(field, domain, points, dual.quadrature.nodes);
    const auto count = static_cast<Index>(found.peaks.size());
    Matrix nodes(domain.rows(), count);
    for (Index j = 0; j < count; ++j) nodes.col(j) = found.peaks[static_cast<std::size_t>(j)].node;
    std::printf("peaks     %td, from %td ascents; the highest at z = %.4f, w = %.4f\n", count,
                count + found.merged, nodes(0, 0), nodes(1, 0));

    // search: the fewest kernels within the tolerance, from the peaks, by forward selection, backward
    // elimination and Levenberg and Marquardt's method over all centers and widths
    const kernelet::SearchProblem search_problem{.kernel = kernel,
                                                 .domain = domain,
                                                 .points = points,
                                                 .loss = {kernelet::SquaredLoss{}, y, weights, 0.0},
                                                 .priors = {.ridge = 1e-5}};
    kernelet::LevenbergMarquardt<> lm(search_problem);
    const kernelet::Criterion criterion{.residuals = static_cast<double>(n),
                                        .energy = lm.energy(),
                                        .noise = 0.01,  // of the energy; not used where there is a tolerance
                                        .parameters = static_cast<double>(lm.free_rows() + 1),
                                        .max_kernels = n / 3,
                                        .violation = [&](const kernelet::KernelExpansion& trial) {
                                            return feasible.violation(search_problem.prediction(trial));
                                        }};
    const kernelet::SearchOptions search;
    const Matrix added_from = problem.nodes(search.candidates).nodes;
    kernelet::CandidateGains<> candidates(search_problem, added_from, search.forward.gain_samples);
    kernelet::SearchState<> state{lm, criterion, candidates, search};
    const kernelet::KernelExpansion few = kernelet::SearchStrategy<>(state, n / 3).run(nodes).fit;
    std::printf("search    %td kernels of %td meet the tolerance, largest coefficient %.3f\n", few.size(),
                count, few.coefficients.cwiseAbs().maxCoeff());

    // model
    const kernelet::SparseKernelModel model(kernel, identity, few.nodes, few.coefficients, offset);
    const Eigen::RowVectorXd fresh = Eigen::RowVectorXd::LinSpaced(1000, -4.995, 4.995);
    const double mse = (model.predict(fresh) - fresh.unaryExpr(&chirp).transpose()).squaredNorm() / 1000.0;
    const Matrix residual = model.predict(x).transpose() - (y.array() + offset(0)).matrix();
    std::printf("model     RMS residual %.4f on the samples, mean squared error %.5f at 1000 new points\n",
                residual.norm() / std::sqrt(static_cast<double>(n)), mse);

    constexpr double largest_mse = 0.005;
    return dual.status == kernelet::Status::converged && mse <= largest_mse ? 0 : 1;
}
