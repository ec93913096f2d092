// A user-defined kernel: a small class with five members, with which everything works. Here a Cauchy bump,
// 1/(1 + r²/w²), whose tails are heavier than a Gaussian's.
#include <kernelet/kernelet.hpp>

#include <cstdio>
#include <iostream>
#include <random>

// ------------------------------------------------------------------------------------------------------
struct Cauchy {
    static constexpr std::string_view name = "cauchy";
    kernelet::Index parameters(kernelet::Index) const { return 1; }
    kernelet::ParameterKind parameter_kind(kernelet::Index) const {
        return kernelet::ParameterKind::isotropic_scale;
    }
    void values(const kernelet::ConstMatrixRef& x, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef k) const {  // x: m x d, node: (z; w)
        k = ((x.rowwise() - node.head(x.cols()).transpose()) / node(x.cols())).rowwise().squaredNorm();
        k = (1.0 + k.array()).inverse();
    }
    void jet(
        const kernelet::ConstMatrixRef& x, const kernelet::ConstVectorRef& node,
        kernelet::MatrixRef jet) const {  // k, ∂k/∂z = 2k² (x − z)/w², ∂k/∂log w = 2k² r²/w² = 2k (1 − k)
        const double w = node(x.cols());
        values(x, node, jet.col(0));
        for (kernelet::Index c = 0; c < x.cols(); ++c)
            jet.col(1 + c) = 2.0 * jet.col(0).array().square() * (x.col(c).array() - node(c)) / (w * w);
        jet.col(1 + x.cols()) = 2.0 * jet.col(0).array() * (1.0 - jet.col(0).array());
    }
};
static_assert(kernelet::KernelFamily<Cauchy>);
// ------------------------------------------------------------------------------------------------------

int main() {
    // Two spectral lines and noise.
    const Eigen::RowVectorXd x = Eigen::RowVectorXd::LinSpaced(200, 0.0, 20.0);
    Eigen::VectorXd y =
        (3.0 / (1.0 + (x.array() - 6.3).square() / 0.25) + 1.5 / (1.0 + (x.array() - 13.2).square() / 2.25))
            .transpose();
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0.0, 0.02);
    for (Eigen::Index i = 0; i < y.size(); ++i) y(i) += noise(random);

    const kernelet::Box domain(-1.0, 21.0, {0.1, 10.0});
    const auto fit = kernelet::SparseKernelEstimator<Cauchy>().fit(x, y, domain);
    for (Eigen::Index j = 0; j < fit.model.size(); ++j)
        std::printf("line at %7.3f, half width %6.3f, height %6.3f +- %.3f\n", fit.model.centers()(0, j),
                    fit.model.widths()(0, j), fit.model.coefficients()(j), fit.model.standard_errors()(j));
    std::cout << fit.report.brief() << '\n';
    return fit.model.size() == 2 ? 0 : 1;
}
