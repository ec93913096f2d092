#pragma once

#include "support/catch.hpp"
#include "support/signals.hpp"

#include <kernelet/detail/check.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/search/criterion.hpp>
#include <kernelet/search/search_problem.hpp>

#include <Eigen/QR>

#include <cmath>
#include <string>
#include <utility>

namespace Catch {

template <>
struct StringMaker<kernelet::Score> {
    static std::string convert(const kernelet::Score& score) {
        return kernelet::detail::text("{excess ", score.excess, ", violation ", score.violation, ", value ",
                                      score.value, "}");
    }
};

}  // namespace Catch

namespace support {

/// The search problem of a Gaussian and the squared loss. Holds references to points, y and weights.
inline kernelet::SearchProblem squared_problem(kernelet::AnyDomain domain,
                                               const kernelet::detail::TiledPoints& points, const Matrix& y,
                                               const Vector& weights, const kernelet::Priors& priors) {
    return {.kernel = kernelet::Gaussian{},
            .domain = std::move(domain),
            .points = points,
            .loss = {kernelet::SquaredLoss{}, y, weights, 0.0},
            .priors = priors};
}

/// Kernels among data that they do not explain, all within reach of all samples, with uneven weights.
struct Unexplained {
    Matrix x{};
    Matrix y{};
    Matrix nodes{};
    Vector weights{};

    Unexplained(Index d, Index outputs, Index kernels)
        : x(uniforms(d, 70, 11, -3.0, 3.0)),
          y(normals(outputs, 70, 12)),
          nodes(d + 1, kernels),
          weights(uniforms(70, 1, 13, 0.2, 3.0)) {
        nodes.topRows(d) = uniforms(d, kernels, 14, -2.0, 2.0);
        nodes.bottomRows(1) = uniforms(1, kernels, 15, 1.0, 1.6);
    }
};

/// Ridge least squares of Gaussians from the definitions, dense, by QR, without a function of the library:
/// rows √w φ, and √(ridge Σ w) for the penalty.
struct DenseLeastSquares {
    Matrix phi{}, slopes{}, target{};  // (n + K) x K, x K(d + 1), x q
    Matrix a{}, residual{};
    double cost{};

    DenseLeastSquares(const Matrix& x, const Matrix& y, const Vector& weights, const Matrix& nodes,
                      double ridge) {
        const Index n = x.cols(), d = x.rows(), k = nodes.cols();
        phi = Matrix::Zero(n + k, k);
        slopes = Matrix::Zero(n + k, k * (d + 1));
        target = Matrix::Zero(n + k, y.rows());
        for (Index i = 0; i < n; ++i) {
            const double root = std::sqrt(weights(i));
            target.row(i) = root * y.col(i).transpose();
            for (Index j = 0; j < k; ++j) {
                const double w = nodes(d, j);
                const Vector u = (x.col(i) - nodes.col(j).head(d)) / w;
                const double value = root * std::exp(-0.5 * u.squaredNorm());
                phi(i, j) = value;
                slopes.row(i).segment(j * (d + 1), d) = value * u.transpose();  // in widths
                slopes(i, j * (d + 1) + d) = value * u.squaredNorm();
            }
        }
        phi.bottomRows(k).diagonal().setConstant(std::sqrt(ridge * weights.sum()));
        a = phi.colPivHouseholderQr().solve(target);
        residual = target - phi * a;
        cost = residual.squaredNorm();
    }

    /// The minimum of the damped quadratic model ‖r − Jδ‖² + damping Σ (J'J)_cc δ_c² of the projected
    /// residual, with Kaufman's J = P⊥ (∂Φ) a.
    double after_one_step(double damping) const {
        const Index count = slopes.cols(), per = count / phi.cols(), m = phi.rows();
        const Matrix projected = slopes - phi * phi.colPivHouseholderQr().solve(slopes);
        Matrix jacobian(m * target.cols(), count);
        Vector r(m * target.cols());
        for (Index o = 0; o < target.cols(); ++o) {
            r.segment(o * m, m) = residual.col(o);
            for (Index c = 0; c < count; ++c)
                jacobian.col(c).segment(o * m, m) = a(c / per, o) * projected.col(c);
        }
        Matrix damped(jacobian.rows() + count, count);
        damped << jacobian,
            Matrix((damping * jacobian.colwise().squaredNorm()).cwiseSqrt().transpose().asDiagonal());
        Vector right = Vector::Zero(damped.rows());
        right.head(r.size()) = r;
        const Vector step = damped.colPivHouseholderQr().solve(right);
        return (right - damped * step).squaredNorm();
    }

    /// The minimum where kernel `removed` leaves: its coefficients become zero, its node stays, and all
    /// other coefficients and nodes minimise
    ///     Σ_o ‖r_o − Φ δa_o − Σ_c a_co ∂Φ_c δ_c‖² + damping Σ (J'J)_cc δ_c²,   J of all kernels.
    double after_one_step_without(Index removed, double damping) const {
        const Index count = slopes.cols(), k = phi.cols(), per = count / k, m = phi.rows(), q = target.cols();
        const Matrix projected = slopes - phi * phi.colPivHouseholderQr().solve(slopes);
        const Index free = (k - 1) * q + (k - 1) * per;
        Matrix design = Matrix::Zero(m * q + count, free);
        Vector right = Vector::Zero(design.rows());
        for (Index o = 0; o < q; ++o) {
            right.segment(o * m, m) = residual.col(o) + a(removed, o) * phi.col(removed);
            Index column = o * (k - 1);
            for (Index j = 0; j < k; ++j)
                if (j != removed) design.col(column++).segment(o * m, m) = phi.col(j);
        }
        Index column = (k - 1) * q;
        for (Index c = 0; c < count; ++c) {
            if (c / per == removed) continue;
            double diagonal = 0.0;
            for (Index o = 0; o < q; ++o) {
                design.col(column).segment(o * m, m) = a(c / per, o) * slopes.col(c);
                diagonal += a(c / per, o) * a(c / per, o) * projected.col(c).squaredNorm();
            }
            design(m * q + c, column++) = std::sqrt(damping * diagonal);
        }
        const Vector step = design.colPivHouseholderQr().solve(right);
        return (right - design * step).squaredNorm();
    }
};

}  // namespace support
