#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelet {

struct SlideOptions {
    Index max_steps = 40;          ///< of Levenberg and Marquardt
    double least_progress = 1e-5;  ///< relative decrease of the squared error below which it has arrived
};

/// Kernels moved to where they fit best, with their coefficients.
struct SlideResult {
    Matrix nodes{};         ///< (d + p) x K
    Matrix coefficients{};  ///< K x q
    double cost{};          ///< Σ w ‖f − y‖² + ridge Σ w ‖a‖²
};

/// Moves all centers and parameters of Σ_j a_j k(x, z_j; θ_j) at once, the coefficients eliminated (variable
/// projection):
///     minimise over (z, log θ) of  min over a of  Σ w ‖Φ a − y‖² + ridge Σ w ‖a‖².
/// Levenberg–Marquardt with Kaufman's Jacobian −P⊥ (∂Φ) a, from Gram matrices summed a tile at a time: with B
/// = ∂Φ/∂(z/w, log θ) and M = B'(W − WΦ(Φ'WΦ + ρ)⁻¹Φ'W)B, J'J = M ∘ (a a') and J'r = a ∘ B'P⊥y, for any
/// number of outputs. Steps are in widths; the domain's mask and bounds are kept; the ridge keeps coincident
/// kernels safe. O(n (K (2 + d + p))²) a step, no n x K held.
template <KernelFamily Kernel, Domain Omega>
class Slide {
public:
    Slide(const Kernel& kernel, const detail::TiledPoints& points, const Omega& domain, const Matrix& y,
          const Vector& weights, double ridge)
        : kernel_(kernel),
          points_(points),
          domain_(domain),
          y_(y),
          weights_(weights),
          ridge_(ridge * weights.sum()),
          energy_(y.cwiseAbs2().colwise().sum().dot(weights.transpose())) {}

    SlideResult operator()(Matrix nodes, const SlideOptions& options = {}) const {
        Step now = assess(nodes);
        double damping = 1e-2;
        for (Index step = 0; step < options.max_steps && nodes.cols() > 0; ++step) {
            const Matrix moved = move(nodes, direction(nodes, now, damping));
            Step next = assess(moved);
            if (next.cost < now.cost) {
                const bool arrived = now.cost - next.cost <= options.least_progress * now.cost;
                nodes = moved;
                now = std::move(next);
                damping = std::max(1e-9, 0.3 * damping);
                if (arrived) break;
            } else {
                damping *= 5.0;
                if (damping > 1e6) break;
            }
        }
        return {std::move(nodes), std::move(now.coefficients), now.cost};
    }

private:
    /// Value, coefficients and the quadratic model at some nodes.
    struct Step {
        double cost{};
        Matrix coefficients{};  // K x q
        Matrix curvature{};     // J'J
        Vector gradient{};      // J'r: towards lower cost
    };

    Index rows() const { return domain_.rows(); }
    Index free_rows() const {
        Index count = 0;
        for (Index row = 0; row < rows(); ++row) count += domain_.free(row) ? 1 : 0;
        return count;
    }
    /// The length a step of one in z has at a node.
    double unit(const ConstVectorRef& node) const { return node.tail(rows() - domain_.dimension()).mean(); }

    Step assess(const Matrix& nodes) const {
        const Index k = nodes.cols(), f = free_rows(), q = y_.rows(), d = domain_.dimension();
        const Index columns = k + k * f + q;
        Matrix gram = Matrix::Zero(columns, columns);
        Matrix jet(detail::TiledPoints::tile, 1 + rows());
        Matrix tile(detail::TiledPoints::tile, columns);
        for (Index t = 0; t < points_.tiles(); ++t) {
            const Index m = points_.count(t);
            for (Index j = 0; j < k; ++j) {
                kernel_.jet(points_.rows(t), nodes.col(j), jet.topRows(m));
                tile.col(j).head(m) = jet.col(0).head(m);
                Index next = k + j * f;
                for (Index row = 0; row < rows(); ++row)
                    if (domain_.free(row))
                        tile.col(next++).head(m) =
                            (row < d ? unit(nodes.col(j)) : 1.0) * jet.col(1 + row).head(m);
            }
            tile.topRows(m).rightCols(q) = y_.middleCols(points_.first(t), m).transpose();
            tile.topRows(m).array().colwise() *= weights_.segment(points_.first(t), m).array().sqrt();
            gram.selfadjointView<Eigen::Lower>().rankUpdate(tile.topRows(m).transpose());
        }
        const Matrix full = gram.selfadjointView<Eigen::Lower>();
        Matrix phi = full.topLeftCorner(k, k);
        constexpr double rounding = 1e-13;  // of the sums above, relative
        phi.diagonal().array() += ridge_ + rounding * weights_.sum();
        const Eigen::LDLT<Matrix> factor(phi);
        const Matrix right = full.topRows(k).rightCols(k * f + q);  // Φ'W [B y]
        const Matrix solved = factor.solve(right);
        Step step;
        step.coefficients = solved.rightCols(q);
        step.cost = energy_ - right.rightCols(q).cwiseProduct(step.coefficients).sum();
        const Matrix m =
            full.block(k, k, k * f, k * f) - right.leftCols(k * f).transpose() * solved.leftCols(k * f);
        const Matrix pull =
            full.block(k, k + k * f, k * f, q) - right.leftCols(k * f).transpose() * step.coefficients;
        const Matrix outer = step.coefficients * step.coefficients.transpose();
        step.curvature.resize(k * f, k * f);
        step.gradient.resize(k * f);
        for (Index a = 0; a < k * f; ++a) {
            step.gradient(a) = pull.row(a).dot(step.coefficients.row(a / f));
            for (Index b = 0; b < k * f; ++b) step.curvature(a, b) = m(a, b) * outer(a / f, b / f);
        }
        return step;
    }

    /// (J'J + damping·diag) δ = J'r, without the coordinates that press against the boundary; at most one
    /// width a coordinate.
    Vector direction(const Matrix& nodes, const Step& now, double damping) const {
        constexpr double probe = 1e-3;
        Matrix system = now.curvature;
        Vector right = now.gradient;
        const Vector sign = right.unaryExpr([](double g) { return g > 0.0 ? 1.0 : g < 0.0 ? -1.0 : 0.0; });
        const Matrix probed = move(nodes, probe * sign);
        const double floor = 1e-12 * system.diagonal().maxCoeff() + std::numeric_limits<double>::min();
        const double blocked = system.diagonal().maxCoeff() + floor;  // any positive number of the right unit
        Index at = 0;
        for (Index j = 0; j < nodes.cols(); ++j)
            for (Index row = 0; row < rows(); ++row) {
                if (!domain_.free(row)) continue;
                if (probed(row, j) == nodes(row, j)) {
                    system.row(at).setZero();
                    system.col(at).setZero();
                    system(at, at) = blocked;
                    right(at) = 0.0;
                } else {
                    system(at, at) += damping * system(at, at) + floor;
                }
                ++at;
            }
        const Vector step = Eigen::LDLT<Matrix>(system).solve(right);
        return step.cwiseMax(-1.0).cwiseMin(1.0);
    }

    Matrix move(const Matrix& nodes, const Vector& step) const {
        Matrix moved = nodes;
        Index at = 0;
        for (Index j = 0; j < nodes.cols(); ++j) {
            for (Index row = 0; row < rows(); ++row) {
                if (!domain_.free(row)) continue;
                if (row < domain_.dimension())
                    moved(row, j) += unit(nodes.col(j)) * step(at);
                else
                    moved(row, j) *= std::exp(step(at));
                ++at;
            }
            Vector inside = moved.col(j);
            domain_.project(inside);
            for (Index row = 0; row < rows(); ++row)
                if (domain_.free(row)) moved(row, j) = inside(row);
        }
        return moved;
    }

    const Kernel& kernel_;
    const detail::TiledPoints& points_;
    const Omega& domain_;
    const Matrix& y_;
    const Vector& weights_;
    double ridge_;
    double energy_;  // Σ w ‖y‖²
};

}  // namespace kernelet
