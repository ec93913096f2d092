#include "algorithm_one.hpp"

#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/search/least_squares.hpp>

#include <algorithm>

namespace bench {

using namespace kernelet;

SparseKernelModel<Gaussian> AlgorithmOneFit::model(Index most) const {
    const Matrix chosen = nodes_.leftCols(std::min(most, size()));
    const detail::TiledPoints points(x_);
    const Vector weights = Vector::Ones(x_.cols());
    constexpr double ridge = 1e-7;  // nearly coincident peaks must not cancel each other
    const auto solved = least_squares({Gaussian{}, points, y_, weights, ridge}, chosen);
    return {Gaussian{}, InputScaling::identity(x_.rows()), chosen, solved.coefficients, Vector::Zero(1)};
}

AlgorithmOneFit solved(const Realisation& r, const AnyDomain& domain, double gamma,
                       const StochasticSupergradient& solver) {
    const Index n = r.x.cols();
    const Gaussian kernel;
    const detail::TiledPoints points(r.x);
    AlgorithmOneFit fit;
    fit.x_ = r.x;
    fit.y_ = r.y.transpose();
    const FeasibleSet<SquaredLoss> feasible(SquaredLoss{}, fit.y_, Scope::per_sample,
                                            Vector::Constant(n, unstated_tolerance), Vector::Ones(n));
    const DualProblem problem(kernel, domain, points, feasible, gamma);
    const DualSolution dual = solver.solve(problem);
    fit.diverged = dual.status == Status::diverged;
    const CoefficientField field(kernel, r.x, dual.lambda, gamma, InputScaling::identity(r.x.rows()));
    const ExtractedPeaks found = extract_peaks(field, domain, points, dual.quadrature.nodes);
    fit.nodes_.resize(domain.rows(), static_cast<Index>(found.peaks.size()));
    for (std::size_t j = 0; j < found.peaks.size(); ++j)
        fit.nodes_.col(static_cast<Index>(j)) = found.peaks[j].node;
    return fit;
}

AlgorithmOneFit algorithm_one(const Realisation& r, const AnyDomain& domain, const PrintedSteps& steps) {
    StochasticSupergradientOptions options;
    options.eta_lambda = steps.eta_lambda;
    options.eta_mu = steps.eta_mu;
    options.batch = unstated_batch;
    options.iterations = steps.iterations;
    return solved(r, domain, steps.gamma, StochasticSupergradient(options));
}

AlgorithmOneFit algorithm_one_chosen(const Realisation& r, const AnyDomain& domain,
                                     const PrintedSteps& steps) {
    return solved(r, domain, steps.gamma, StochasticSupergradient{});
}

}  // namespace bench
