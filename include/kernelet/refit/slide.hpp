#pragma once

#include <kernelet/concepts.hpp>
#include <kernelet/detail/tiles.hpp>
#include <kernelet/refit/kernel_expansion.hpp>
#include <kernelet/refit/node_steps.hpp>
#include <kernelet/refit/slid.hpp>
#include <kernelet/refit/smoothed_loss.hpp>
#include <kernelet/refit/width_prior.hpp>

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
          ridge_(ridge * detail::sum(weights)),
          intercept_(intercept) {
        if (loss_.is_squared()) squares_ = loss_.linearize({});
        energy_ = assess(Matrix(domain.rows(), 0), {}).cost;
    }

    const Kernel& kernel() const { return kernel_; }
    const detail::TiledPoints& points() const { return points_; }
    const SmoothedLoss<Loss>& loss() const { return loss_; }
    /// Rows of a node that may move.
    Index free_rows() const { return steps_.size(); }
    /// The cost without kernels: for the squared loss Σ w ‖y‖², about the mean where there is an intercept.
    double energy() const { return energy_; }
    void set_ridge(double ridge) { ridge_ = ridge * detail::sum(loss_.weights()); }
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
        const Index k = now.size(), f = free_rows();
        const Vector g = detail::column_ref(now.at.inverse, j);
        const Matrix dropped = detail::rows_of(now.at.coefficients, {j});
        // a ← a − g a_j/g_j; P⊥ gains the part of φ_j that the others do not span: M ← M + B'WΦg g'Φ'WB/g_j.
        Matrix a = now.at.coefficients, m = now.at.reduced, pull = now.at.pull;
        const Matrix v = detail::product_tn(now.at.cross, g);
        detail::add_outer(a, -1.0 / g(j), g.data(), dropped.data());
        detail::add_outer(m, 1.0 / g(j), v.data(), v.data());
        detail::add_outer(pull, 1.0 / g(j), v.data(), dropped.data());
        std::vector<Index> kernels, slopes;  // the other kernels and the columns of B that are theirs
        for (Index i = 0; i < k; ++i) {
            if (i == j) continue;
            kernels.push_back(i);
            for (Index c = 0; c < f; ++c) slopes.push_back(i * f + c);
        }
        Assessment others;
        others.coefficients = detail::rows_of(a, kernels);
        others.pull = detail::rows_of(pull, slopes);
        others.reduced = detail::entries_of(m, slopes, slopes);
        return now.at.cost + now.at.price(j) - width_cost(&now.nodes(0, j)) -
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

    Matrix values(const Matrix& nodes, const Matrix& a, const Vector& offset) const {
        return expansion_values(kernel_, points_, {nodes, a, offset});
    }

    /// Sums over samples: [Φ B t]'W[Φ B t], lower part, and [Φ B t]'W 1.
    struct Sums {
        Matrix gram{};
        Vector totals{};
    };

    /// What the passes over tiles write to.
    struct TileScratch {
        Matrix jet{}, packed{};
        std::vector<Index> here{};  // the kernels within reach of the tile
        Vector reach{};             // of each kernel
    };

    /// One tile of √W [φ_j, B_j] for the kernels within reach, then √W t.
    void pack_tile(Index t, const Matrix& nodes, const WorkingSquares& working, TileScratch& scratch) const {
        const Index m = points_.count(t), first = points_.first(t);
        const double* root = working.root.data() + first;
        const detail::Block jet = detail::Block(scratch.jet).part(0, 0, m, scratch.jet.cols());
        const detail::Block packed = detail::Block(scratch.packed).part(0, 0, m, scratch.packed.cols());
        Index column = 0;
        scratch.here.clear();
        for (Index j = 0; j < nodes.cols(); ++j) {
            const ConstVectorRef node = detail::column_ref(nodes, j);
            if (!points_.touches(t, node.data(), scratch.reach(j))) continue;
            scratch.here.push_back(j);
            kernel_.jet(points_.rows(t), node, detail::matrix_ref(jet));
            detail::scale_rows(packed.columns(column++, 1), root, jet.columns(0, 1));
            for (const Index row : steps_.rows())
                detail::scale_rows(packed.columns(column++, 1), root, jet.columns(1 + row, 1),
                                   steps_.unit(node, row));
        }
        detail::copy(detail::ConstBlock(working.target).part(first, 0, m, working.target.cols()),
                     packed.columns(column, working.target.cols()));
    }

    /// Kernel by kernel: columns j b ... of [φ_j, B_j], then t; b = 1 + f.
    Sums sums(const Matrix& nodes, const WorkingSquares& working) const {
        const Index k = nodes.cols(), q = working.target.cols(), b = 1 + free_rows(), all = k * b + q;
        Sums out{Matrix::Zero(all, all), Vector::Zero(all)};
        Matrix small(all, all);
        TileScratch scratch{Matrix(detail::TiledPoints::tile, 1 + domain_.rows()),
                            Matrix(detail::TiledPoints::tile, all),
                            {},
                            Vector(k)};
        for (Index j = 0; j < k; ++j)
            scratch.reach(j) = share_of_reach * detail::reach_of(kernel_, detail::column_ref(nodes, j));
        detail::add_product_tn(detail::Block(out.totals).part(k * b, 0, q, 1), working.target, working.root);
        for (Index t = 0; t < points_.tiles(); ++t) {
            pack_tile(t, nodes, working, scratch);
            const std::vector<Index>& here = scratch.here;
            const auto count = static_cast<Index>(here.size());
            if (count == 0) continue;
            const Index m = points_.count(t), width = count * b + q;
            const detail::ConstBlock tile = detail::ConstBlock(scratch.packed).part(0, 0, m, width);
            const detail::Block part = detail::Block(small).part(0, 0, width, width);
            detail::fill(part, 0.0);
            detail::rank_update_tn(part, tile);
            Matrix column_sums = Matrix::Zero(count * b, 1);
            detail::add_product_tn(column_sums, tile.columns(0, count * b),
                                   detail::ConstBlock(working.root).part(points_.first(t), 0, m, 1));
            for (Index u = 0; u < count; ++u) {
                const Index ju = here[static_cast<std::size_t>(u)];
                for (Index c = 0; c < b; ++c) out.totals(ju * b + c) += column_sums(u * b + c);
                for (Index v = u; v < count; ++v)
                    add_small(out.gram, here[static_cast<std::size_t>(v)] * b, ju * b,
                              part.part(v * b, u * b, b, b));
                add_small(out.gram, k * b, ju * b, part.part(count * b, u * b, q, b));
            }
        }
        return out;
    }

    /// Adds a small block to a matrix, from (row, column) on.
    static void add_small(Matrix& to, Index row, Index column, const detail::ConstBlock& from) {
        for (Index j = 0; j < from.cols; ++j)
            for (Index i = 0; i < from.rows; ++i) to(row + i, column + j) += from(i, j);
    }

    /// The sums without B, of a Φ that is held. O(n K²).
    static Sums held_sums(const Matrix& phi, const WorkingSquares& working) {
        constexpr Index strip = 256;  // rows: with ten kernels, 20 KB
        const Index k = phi.cols(), q = working.target.cols();
        Sums out{Matrix::Zero(k + q, k + q), Vector::Zero(k + q)};
        Matrix packed(strip, k + q);
        for (Index first = 0; first < phi.rows(); first += strip) {
            const Index m = std::min(strip, phi.rows() - first);
            const double* root = working.root.data() + first;
            const detail::Block rows = detail::Block(packed).part(0, 0, m, k + q);
            detail::scale_rows(rows.columns(0, k), root, detail::ConstBlock(phi).part(first, 0, m, k));
            detail::copy(detail::ConstBlock(working.target).part(first, 0, m, q), rows.columns(k, q));
            detail::rank_update_tn(out.gram, rows);
            detail::add_product_tn(out.totals, rows, detail::ConstBlock(root, m, 1, m));
        }
        return out;
    }

    /// The model on these nodes, its coefficients at their optimum; `start` may hold some to begin with. One
    /// that costs `worth` or more may come with its cost alone.
    Assessment assess(const Matrix& nodes, const Assessment& start,
                      double worth = std::numeric_limits<double>::infinity()) const {
        double prior = 0.0;
        for (Index j = 0; j < nodes.cols(); ++j) prior += width_cost(nodes.data() + j * nodes.rows());
        if (!loss_.is_squared()) return assess_by_newton(nodes, start, prior, worth);
        Assessment out = minimum(nodes, squares_);
        out.cost += prior;
        return out;
    }

    bool is_width(Index row) const { return row >= domain_.dimension(); }

    /// Of a node's widths.
    double width_cost(const double* node) const {
        double cost = 0.0;
        for (const Index row : steps_.rows())
            if (is_width(row)) cost += width_prior_.cost(node[row]);
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
        for (Index j = 0; j < k; ++j)
            detail::kernel_column(kernel_, points_, detail::column_ref(nodes, j), &phi(0, j));
        const auto values_of = [&](const Matrix& coefficients, const Vector& shift) {
            Matrix f = detail::transposed(detail::product(phi, coefficients));
            detail::add_to_rows(f, shift);
            return f;
        };
        Matrix f = values_of(a, offset);
        double cost = loss_.cost(f) + ridge_ * detail::squared_norm(a);
        for (int step = 0; step < most_steps; ++step) {
            const WorkingSquares working = loss_.linearize(f);
            const Assessment newton = minimum(held_sums(phi, working), working, k);
            if (!std::isfinite(newton.cost)) break;
            const Matrix towards = values_of(newton.coefficients, newton.offset) - f;
            double length = 1.0, next = cost;
            Matrix next_a, next_f;
            for (; length > shortest; length *= 0.5) {
                next_a = a;
                detail::scale(next_a, 1.0 - length);
                detail::add_scaled(next_a, length, newton.coefficients);
                next_f = f;
                detail::add_scaled(next_f, length, towards);
                next = loss_.cost(next_f) + ridge_ * detail::squared_norm(next_a);
                if (next < cost) break;
            }
            if (!(next < cost)) break;
            a = std::move(next_a);
            f = std::move(next_f);
            detail::scale(offset, 1.0 - length);
            detail::add_scaled(offset, length, newton.offset);
            const bool arrived = cost - next <= settled * cost;
            cost = next;
            if (arrived) break;
        }
        if (std::isfinite(worth) && !(cost + prior < worth)) return {.cost = cost + prior};
        Assessment out = minimum(nodes, loss_.linearize(f));
        // minimum() returns the next, untested Newton iterate; shift the gradient back to the accepted one.
        if (k > 0) detail::add_product_tn(out.pull, out.cross, Matrix(out.coefficients - a));
        // Where the loss is flat it has no curvature, but data all the same.
        out.mass = Vector::Constant(k, static_cast<double>(points_.size()));
        out.coefficients = std::move(a);
        out.offset = std::move(offset);
        out.cost = cost + prior;
        return out;
    }

    /// The minimum over (a, b) of a quadratic loss.
    Assessment minimum(const Matrix& nodes, const WorkingSquares& working) const {
        return minimum(sums(nodes, working), working, nodes.cols());
    }

    /// Σ h t² of the model without kernels; with an intercept, about the weighted mean.
    Assessment without_kernels(const WorkingSquares& working) const {
        const Index q = working.target.cols();
        Assessment out;
        out.cost = detail::squared_norm(working.target);
        out.coefficients = Matrix::Zero(0, q);
        out.offset = Vector::Zero(q);
        if (!intercept_) return out;
        detail::add_product_tn(out.offset, working.target, working.root, 1.0 / working.total);
        out.cost -= working.total * detail::squared_norm(out.offset);
        return out;
    }

    /// From the sums with b columns per kernel: with B or without.
    Assessment minimum(const Sums& sums, const WorkingSquares& working, Index k) const {
        const Index q = working.target.cols(), b = k > 0 ? (sums.gram.cols() - q) / k : 1, f = b - 1;
        const double total = working.total;
        Assessment out = without_kernels(working);
        if (k == 0) return out;
        Matrix full = sums.gram;
        detail::mirror_lower(full);
        std::vector<Index> places, slopes, targets;  // the columns of Φ, B and t
        for (Index j = 0; j < k; ++j) {
            places.push_back(j * b);
            for (Index c = 0; c < f; ++c) slopes.push_back(j * b + 1 + c);
        }
        for (Index o = 0; o < q; ++o) targets.push_back(k * b + o);
        out.mass.resize(k);
        for (Index j = 0; j < k; ++j)
            out.mass(j) = full(j * b, j * b) * (static_cast<double>(points_.size()) / total);
        if (intercept_) detail::add_outer(full, -1.0 / total, sums.totals.data(), sums.totals.data());
        Matrix factor = detail::entries_of(full, places, places);
        constexpr double rounding = 1e-13;  // of the sums, relative
        detail::add_to_diagonal(factor, ridge_ + rounding * total);
        out.inverse = Matrix::Identity(k, k);
        if (!detail::cholesky(factor)) {
            out.cost = std::numeric_limits<double>::infinity();
            out.coefficients = Matrix::Zero(k, q);
            out.cross = Matrix::Zero(k, k * f);
            out.reduced = Matrix::Zero(k * f, k * f);
            out.pull = Matrix::Zero(k * f, q);
            return out;
        }
        const Matrix right = detail::entries_of(full, places, targets);  // Φ'Wy
        detail::cholesky_solve(factor, out.inverse);
        out.coefficients = right;
        detail::cholesky_solve(factor, out.coefficients);
        out.cost -= detail::dot(right, out.coefficients);
        if (intercept_)
            for (Index o = 0; o < q; ++o)
                for (Index j = 0; j < k; ++j)
                    out.offset(o) -= out.coefficients(j, o) * sums.totals(j * b) / total;
        out.cross = detail::entries_of(full, places, slopes);
        out.reduced = detail::entries_of(full, slopes, slopes);
        out.pull = detail::entries_of(full, slopes, targets);
        // M = B'WB − B'WΦ G⁻¹ Φ'WB through L⁻¹Φ'WB, G = LL', and B'W(y − Φa)
        Matrix half = out.cross;
        detail::solve_lower(factor, half);
        detail::add_product_tn(out.reduced, half, half, -1.0);
        detail::add_product_tn(out.pull, out.cross, out.coefficients, -1.0);
        return out;
    }

    /// (J'J + prior + damping·diag) δ = J'r − slope of the prior, without the coordinates that press against
    /// the boundary; at most one width a coordinate.
    Direction direction(const Matrix& nodes, const Assessment& now, double damping) const {
        constexpr double probe = 1e-3;
        const Index k = nodes.cols(), f = free_rows();
        const Matrix at = detail::transposed(now.coefficients);  // q x K
        const Matrix outer = detail::product_tn(at, at);
        Vector right(k * f);
        Matrix system(k * f, k * f);
        for (Index i = 0; i < k * f; ++i) {
            right(i) = 0.0;
            for (Index o = 0; o < at.rows(); ++o) right(i) += now.pull(i, o) * at(o, i / f);
            for (Index j = 0; j < k * f; ++j) system(j, i) = now.reduced(j, i) * outer(j / f, i / f);
        }
        if (k * f == 0) return {right, 0.0};
        for (Index j = 0, at_row = 0; j < k; ++j)
            for (const Index row : steps_.rows()) {
                if (is_width(row)) {
                    right(at_row) -= width_prior_.strength * width_prior_.excess(nodes(row, j));
                    system(at_row, at_row) += width_prior_.strength;
                }
                ++at_row;
            }
        Vector probing(k * f);
        double largest = system(0, 0);
        for (Index i = 0; i < k * f; ++i) {
            probing(i) = right(i) > 0.0 ? probe : right(i) < 0.0 ? -probe : 0.0;
            largest = std::max(largest, system(i, i));
        }
        const Matrix probed = steps_.move(nodes, probing);
        const double floor = 1e-12 * largest + std::numeric_limits<double>::min();
        const double blocked = largest + floor;  // any positive number of the right unit
        Index i = 0;
        for (Index j = 0; j < k; ++j)
            for (const Index row : steps_.rows()) {
                if (probed(row, j) == nodes(row, j)) {
                    for (Index other = 0; other < k * f; ++other) system(i, other) = system(other, i) = 0.0;
                    system(i, i) = blocked;
                    right(i) = 0.0;
                } else {
                    system(i, i) += damping * system(i, i) + floor;
                }
                ++i;
            }
        Vector step = right;
        detail::ldlt_solve(system, step);
        const double gain = detail::dot(step, right);
        for (Index row = 0; row < k * f; ++row) step(row) = std::clamp(step(row), -1.0, 1.0);
        return {std::move(step), gain};
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
