#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/refit/node_steps.hpp>
#include <kernelet/refit/slid.hpp>
#include <kernelet/refit/smoothed_loss.hpp>
#include <kernelet/refit/width_prior.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelet {

struct SlideOptions {
    Index max_steps = 40;          ///< of Levenberg and Marquardt
    double least_progress = 1e-5;  ///< relative decrease of the cost below which it has arrived
    double damping = 0.1;          ///< to begin with
};

/// Moves all centers and parameters of Σ_j a_j k(x, z_j; θ_j) at once, the coefficients eliminated (variable
/// projection):
///     minimise over (z, log θ) of  min over a of  Σ w ℓ(Φ a + b, y) + ridge Σ w ‖a‖²  +  WidthPrior,
/// b = 0, or with an intercept eliminated likewise, which takes the weighted mean from every column. For
/// another loss than the squared one the minimum over (a, b) is found by Newton's method on SmoothedLoss, and
/// its last quadratic model is the one in which the kernels slide; a step counts only if it lowers the loss.
/// Levenberg–Marquardt with Kaufman's Jacobian −P⊥ (∂Φ) a, from Gram matrices: with B = ∂Φ/∂(z/w, log θ),
/// J'J = M ∘ (a a') and J'r = a ∘ B'P⊥y, for any number of outputs. Steps are in widths; the domain's mask
/// and bounds are kept; the ridge keeps coincident kernels safe. A step sums, tile by tile, over the kernels
/// that reach the tile: O(n (K̄ (1 + f))² + (K f)³), K̄ kernels in reach of a tile and f free rows. Held are,
/// for the squared loss, a tile, and for others Φ, n x K, while Newton's method runs.
template <KernelFamily Kernel, Domain Omega, ConvexLoss Loss = SquaredLoss>
class Slide {
public:
    /// y is q x n; `window` is that of SmoothedLoss, in the unit of a prediction. Holds references: lives no
    /// longer than what it was made of.
    Slide(const Kernel& kernel, const detail::TiledPoints& points, const Omega& domain, const Matrix& y,
          const Vector& weights, double ridge, bool intercept = false, Loss loss = Loss{},
          double window = 0.0)
        : kernel_(kernel),
          points_(points),
          domain_(domain),
          steps_(kernel, domain),
          loss_(std::move(loss), y, weights, window),
          ridge_(ridge * weights.sum()),
          intercept_(intercept) {
        if constexpr (squared) squares_ = loss_.linearize({});
        energy_ = assess(Matrix(domain.rows(), 0), {}).cost;
    }

    const Kernel& kernel() const { return kernel_; }
    const detail::TiledPoints& points() const { return points_; }
    const SmoothedLoss<Loss>& loss() const { return loss_; }
    /// Rows of a node that may move.
    Index free_rows() const { return steps_.size(); }
    /// The cost without kernels: for the squared loss Σ w ‖y‖², about the mean where there is an intercept.
    double energy() const { return energy_; }
    void set_ridge(double ridge) { ridge_ = ridge * loss_.weights().sum(); }
    void set_width_prior(const WidthPrior& prior) { width_prior_ = prior; }
    /// At the samples, q x n.
    Matrix prediction(const Slid& model) const {
        return values(model.nodes, model.at.coefficients, model.at.offset);
    }

    Slid operator()(Matrix nodes, const SlideOptions& options = {}) const {
        Assessment now = assess(nodes, {});
        return from({std::move(nodes), std::move(now)}, options);
    }

    /// Goes on where an earlier slide ended.
    Slid from(Slid now, const SlideOptions& options = {}) const {
        constexpr double less = 0.3, more = 5.0, least = 1e-9, most = 1e6;
        double damping = options.damping;
        for (Index step = 0; step < options.max_steps && now.size() > 0; ++step) {
            Matrix moved = steps_.move(now.nodes, direction(now.nodes, now.at, damping).step);
            Assessment next = assess(moved, now.at, now.at.cost);
            if (next.cost < now.at.cost) {
                const bool arrived = now.at.cost - next.cost <= options.least_progress * now.at.cost;
                now = {std::move(moved), std::move(next)};
                damping = std::max(least, less * damping);
                if (arrived) break;
            } else {
                damping *= more;
                if (damping > most) break;
            }
        }
        return now;
    }

    /// The cost predicted after kernel j leaves and the others make one damped step: all matrices are
    /// downdated, none is summed anew. O((K f)³).
    double predicted_without(const Slid& now, Index j, double damping) const {
        const Index k = now.size(), f = free_rows(), rest = (k - 1 - j) * f;
        const Vector g = now.at.inverse.col(j);
        // a ← a − g a_j/g_j; P⊥ gains the part of φ_j that the others do not span: M ← M + B'WΦg g'Φ'WB/g_j.
        const Matrix a = now.at.coefficients - g * (now.at.coefficients.row(j) / g(j));
        const Vector v = now.at.cross.transpose() * g;
        const Matrix m = now.at.reduced + v * v.transpose() / g(j);
        const Matrix pull = now.at.pull + v * (now.at.coefficients.row(j) / g(j));
        Assessment others;
        others.coefficients.resize(k - 1, a.cols());
        others.coefficients << a.topRows(j), a.bottomRows(k - 1 - j);
        others.pull.resize((k - 1) * f, a.cols());
        others.pull << pull.topRows(j * f), pull.bottomRows(rest);
        others.reduced.resize((k - 1) * f, (k - 1) * f);
        others.reduced << m.topLeftCorner(j * f, j * f), m.topRightCorner(j * f, rest),
            m.bottomLeftCorner(rest, j * f), m.bottomRightCorner(rest, rest);
        return now.at.cost + now.at.price(j) - width_cost(now.nodes.col(j)) -
               direction(without_column(now.nodes, j), others, damping).gain;
    }

private:
    /// Sums over a tile leave out kernels farther than this share of their reach: exp(−6²/2) = 1.5e-8 for a
    /// Gaussian, far below what a slide has to see. The final coefficients are fitted with nothing left out.
    static constexpr double share_of_reach = 0.7;

    struct Direction {
        Vector step{};
        double gain{};  // of the cost, in the quadratic model
    };

    static constexpr bool squared = SmoothedLoss<Loss>::is_squared;

    Matrix values(const Matrix& nodes, const Matrix& a, const Vector& offset) const {
        return detail::synthesize(kernel_, points_, nodes, a.transpose()).colwise() + offset;
    }

    bool beyond(Index t, const ConstVectorRef& node) const {
        if constexpr (detail::HasReach<Kernel>)
            return !points_.touches(t, node.head(points_.dimension()), share_of_reach * kernel_.reach(node));
        else
            return false;
    }

    /// The sums [Φ B t]'W[Φ B t], lower part, and [Φ B t]'W 1, kernel by kernel: columns j b ... of [φ_j,
    /// B_j], then t; b = 1 + f.
    Matrix sums(const Matrix& nodes, const WorkingSquares& working, Vector& totals) const {
        const Index k = nodes.cols(), q = working.target.cols(), b = 1 + free_rows();
        Matrix gram = Matrix::Zero(k * b + q, k * b + q), small(k * b + q, k * b + q);
        Matrix jet(detail::TiledPoints::tile, 1 + domain_.rows());
        Matrix packed(detail::TiledPoints::tile, k * b + q);
        totals = Vector::Zero(k * b + q);
        totals.tail(q) = working.target.transpose() * working.root;
        std::vector<Index> here;
        for (Index t = 0; t < points_.tiles(); ++t) {
            const Index m = points_.count(t), first = points_.first(t);
            const auto root = working.root.segment(first, m).array();
            here.clear();
            for (Index j = 0; j < k; ++j) {
                if (beyond(t, nodes.col(j))) continue;
                const Index column = static_cast<Index>(here.size()) * b;
                here.push_back(j);
                kernel_.jet(points_.rows(t), nodes.col(j), jet.topRows(m));
                packed.col(column).head(m) = jet.col(0).head(m).array() * root;
                for (Index c = 0; c < b - 1; ++c) {
                    const Index row = steps_.rows()[static_cast<std::size_t>(c)];
                    packed.col(column + 1 + c).head(m) =
                        steps_.unit(nodes.col(j), row) * jet.col(1 + row).head(m).array() * root;
                }
            }
            const auto count = static_cast<Index>(here.size());
            if (count == 0) continue;
            packed.middleCols(count * b, q).topRows(m) = working.target.middleRows(first, m);
            const Index width = count * b + q;
            auto part = small.topLeftCorner(width, width);
            part.setZero();
            part.template selfadjointView<Eigen::Lower>().rankUpdate(
                packed.topLeftCorner(m, width).transpose());
            const Vector column_sums =
                packed.topLeftCorner(m, width).transpose() * working.root.segment(first, m);
            for (Index u = 0; u < count; ++u) {
                const Index ju = here[static_cast<std::size_t>(u)];
                totals.segment(ju * b, b) += column_sums.segment(u * b, b);
                for (Index v = u; v < count; ++v)
                    gram.block(here[static_cast<std::size_t>(v)] * b, ju * b, b, b) +=
                        part.block(v * b, u * b, b, b);
                gram.block(k * b, ju * b, q, b) += part.block(count * b, u * b, q, b);
            }
        }
        return gram;
    }

    /// The sums [Φ t]'W[Φ t], lower part, and [Φ t]'W 1 of a Φ that is held. O(n K²).
    static Matrix held_sums(const Matrix& phi, const WorkingSquares& working, Vector& totals) {
        constexpr Index strip = 256;  // rows: with ten kernels, 20 KB
        const Index k = phi.cols(), q = working.target.cols();
        Matrix gram = Matrix::Zero(k + q, k + q), packed(strip, k + q);
        totals = Vector::Zero(k + q);
        for (Index first = 0; first < phi.rows(); first += strip) {
            const Index m = std::min(strip, phi.rows() - first);
            const auto root = working.root.segment(first, m);
            // An empty matrix has no rows to point to.
            if (k > 0) packed.topLeftCorner(m, k) = root.asDiagonal() * phi.middleRows(first, m);
            packed.topRightCorner(m, q) = working.target.middleRows(first, m);
            gram.template selfadjointView<Eigen::Lower>().rankUpdate(packed.topRows(m).transpose());
            totals.noalias() += packed.topRows(m).transpose() * root;
        }
        return gram;
    }

    /// The model on these nodes, its coefficients at their optimum; `start` may hold some to begin with. One
    /// that costs `worth` or more may come with its cost alone.
    Assessment assess(const Matrix& nodes, const Assessment& start,
                      double worth = std::numeric_limits<double>::infinity()) const {
        double prior = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j) prior += width_cost(nodes.col(j));
        if constexpr (squared) {
            Assessment out = minimum(nodes, squares_);
            out.cost += prior;
            return out;
        } else {
            return assess_by_newton(nodes, start, prior, worth);
        }
    }

    bool is_width(Index row) const { return row >= domain_.dimension(); }

    double width_cost(const ConstVectorRef& node) const {
        double cost = 0.0;
        for (const Index row : steps_.rows())
            if (is_width(row)) cost += width_prior_.cost(node(row));
        return cost;
    }

    /// Newton's method on (a, b), a step halved until the loss falls. O(n K²) a step, all on one Φ, and the
    /// full sums once. `prior` is what the widths cost.
    Assessment assess_by_newton(const Matrix& nodes, const Assessment& start, double prior,
                                double worth) const {
        constexpr int most_steps = 25;
        constexpr double settled = 1e-7;   // relative decrease of the cost
        constexpr double shortest = 1e-4;  // step
        const Index k = nodes.cols(), q = loss_.target().rows();
        const bool begun = start.coefficients.rows() == k && start.offset.size() == q;
        Matrix a = begun ? start.coefficients : Matrix::Zero(k, q);
        Vector offset = begun ? start.offset : Vector::Zero(q);
        Matrix phi(points_.size(), k);
        for (Index j = 0; j < k; ++j) detail::kernel_column(kernel_, points_, nodes.col(j), phi.col(j));
        const auto values_of = [&](const Matrix& coefficients, const Vector& shift) {
            return Matrix((coefficients.transpose() * phi.transpose()).colwise() + shift);
        };
        Matrix f = values_of(a, offset);
        double cost = loss_.cost(f) + ridge_ * a.squaredNorm();
        for (int step = 0; step < most_steps; ++step) {
            const WorkingSquares working = loss_.linearize(f);
            Vector totals;
            const Matrix gram = held_sums(phi, working, totals);
            const Assessment newton = minimum(gram, totals, working, k);
            if (!std::isfinite(newton.cost)) break;
            const Matrix change = newton.coefficients - a;
            const Vector shift = newton.offset - offset;
            const Matrix towards = values_of(newton.coefficients, newton.offset) - f;
            double length = 1.0, next = cost;
            for (; length > shortest; length *= 0.5) {
                next = loss_.cost(f + length * towards) + ridge_ * (a + length * change).squaredNorm();
                if (next < cost) break;
            }
            if (!(next < cost)) break;
            a += length * change;
            offset += length * shift;
            f += length * towards;
            const bool arrived = cost - next <= settled * cost;
            cost = next;
            if (arrived) break;
        }
        if (std::isfinite(worth) && !(cost + prior < worth)) return {.cost = cost + prior};
        Assessment out = minimum(nodes, loss_.linearize(f));
        // Its coefficients are one step further, which nobody has tried.
        if (k > 0) out.pull.noalias() += out.cross.transpose() * (out.coefficients - a);
        // Where the loss is flat it has no curvature, but data all the same.
        out.mass = Vector::Constant(k, static_cast<double>(points_.size()));
        out.coefficients = std::move(a);
        out.offset = std::move(offset);
        out.cost = cost + prior;
        return out;
    }

    /// The minimum over (a, b) of a quadratic loss.
    Assessment minimum(const Matrix& nodes, const WorkingSquares& working) const {
        Vector totals;
        const Matrix gram = sums(nodes, working, totals);
        return minimum(gram, totals, working, nodes.cols());
    }

    /// From the lower part of [Φ B t]'W[Φ B t] and [Φ B t]'W 1, b columns a kernel: with B or without.
    Assessment minimum(const Matrix& gram, const Vector& totals, const WorkingSquares& working,
                       Index k) const {
        const Index q = working.target.cols(), b = k > 0 ? (gram.cols() - q) / k : 1, f = b - 1;
        const double total = working.total;
        Assessment out;
        out.cost = working.target.squaredNorm();
        if (intercept_) out.cost -= (working.root.transpose() * working.target).squaredNorm() / total;
        out.coefficients = Matrix::Zero(k, q);
        out.offset = intercept_ ? Vector(working.target.transpose() * working.root / total) : Vector::Zero(q);
        if (k == 0) return out;
        const double energy = out.cost;
        Matrix full = gram.template selfadjointView<Eigen::Lower>();
        const Vector seen = full.diagonal();
        if (intercept_) full.noalias() -= totals * totals.transpose() / total;
        std::vector<Index> places, slopes;  // the columns of Φ and of B
        for (Index j = 0; j < k; ++j) {
            places.push_back(j * b);
            for (Index c = 0; c < f; ++c) slopes.push_back(j * b + 1 + c);
        }
        Matrix g = full(places, places);
        out.mass = seen(places) * (static_cast<double>(points_.size()) / total);
        constexpr double rounding = 1e-13;  // of the sums, relative
        g.diagonal().array() += ridge_ + rounding * total;
        const Eigen::LLT<Matrix> factor(g);
        if (factor.info() != Eigen::Success) {
            out.cost = std::numeric_limits<double>::infinity();
            out.inverse = Matrix::Identity(k, k);
            out.cross = Matrix::Zero(k, k * f);
            out.reduced = Matrix::Zero(k * f, k * f);
            out.pull = Matrix::Zero(k * f, q);
            return out;
        }
        const Matrix right = full(places, Eigen::lastN(q));  // Φ'Wy
        out.inverse = factor.solve(Matrix::Identity(k, k));
        out.coefficients = factor.solve(right);
        out.cost = energy - right.cwiseProduct(out.coefficients).sum();
        if (intercept_) out.offset = (totals.tail(q) - out.coefficients.transpose() * totals(places)) / total;
        if (f == 0) {
            out.cross = Matrix(k, 0);
            out.reduced = Matrix(0, 0);
            out.pull = Matrix(0, q);
            return out;
        }
        out.cross = full(places, slopes);
        const Matrix half = factor.matrixL().solve(out.cross);
        out.reduced = full(slopes, slopes);
        out.reduced.noalias() -= half.transpose() * half;
        out.pull = full(slopes, Eigen::lastN(q));
        out.pull.noalias() -= out.cross.transpose() * out.coefficients;
        return out;
    }

    /// (J'J + prior + damping·diag) δ = J'r − slope of the prior, without the coordinates that press against
    /// the boundary; at most one width a coordinate.
    Direction direction(const Matrix& nodes, const Assessment& now, double damping) const {
        constexpr double probe = 1e-3;
        const Index k = nodes.cols(), f = free_rows();
        const Matrix outer = now.coefficients * now.coefficients.transpose();
        Vector right(k * f);
        Matrix system(k * f, k * f);
        for (Index i = 0; i < k * f; ++i) {
            right(i) = now.pull.row(i).dot(now.coefficients.row(i / f));
            for (Index j = 0; j < k * f; ++j) system(j, i) = now.reduced(j, i) * outer(j / f, i / f);
        }
        if (k * f == 0) return {right, 0.0};
        for (Index j = 0, i = 0; j < k; ++j)
            for (const Index row : steps_.rows()) {
                if (is_width(row)) {
                    right(i) -= width_prior_.strength * width_prior_.excess(nodes(row, j));
                    system(i, i) += width_prior_.strength;
                }
                ++i;
            }
        const Vector sign = right.unaryExpr([](double g) { return g > 0.0 ? 1.0 : g < 0.0 ? -1.0 : 0.0; });
        const Matrix probed = steps_.move(nodes, probe * sign);
        const double floor = 1e-12 * system.diagonal().maxCoeff() + std::numeric_limits<double>::min();
        const double blocked = system.diagonal().maxCoeff() + floor;  // any positive number of the right unit
        Index at = 0;
        for (Index j = 0; j < k; ++j)
            for (const Index row : steps_.rows()) {
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
        return {step.cwiseMax(-1.0).cwiseMin(1.0), step.dot(right)};
    }

    const Kernel& kernel_;
    const detail::TiledPoints& points_;
    const Omega& domain_;
    NodeSteps<Kernel, Omega> steps_;
    SmoothedLoss<Loss> loss_;
    WorkingSquares squares_{};  // where the loss is the squared one: the same for every model
    double ridge_;              // ridge Σ w
    WidthPrior width_prior_{};
    double energy_{};
    bool intercept_;
};

}  // namespace kernelet
