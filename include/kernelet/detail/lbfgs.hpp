#pragma once

#include <kernelet/detail/dense.hpp>
#include <kernelet/types.hpp>

#include <deque>
#include <vector>

namespace kernelet::detail {

struct LbfgsOptions {
    Index max_steps = 20;
    Index memory = 10;             ///< pairs of steps and changes of the gradient that stand for the Hessian
    double least_progress = 1e-6;  ///< relative decrease of the cost, in a step, at which it has arrived
    /// As least_progress, over `window` steps: one step may be short, and the first have no curvature yet.
    double least_window_progress = 0.0;
    Index window = 20;
};

/// Minimises cost(x, gradient), which fills the gradient, from x; x is left at the best point, whose cost is
/// returned. Limited-memory BFGS with steps halved until the cost falls. The variables should be scaled such
/// that the Hessian is near a multiple of one. O(memory · size) per step, besides the cost.
template <class Cost>
double lbfgs(Vector& x, const Cost& cost, const LbfgsOptions& options) {
    constexpr double armijo = 1e-4, shortest = 1e-6, least_curvature = 1e-10;
    struct Pair {
        Vector step, change;
        double inverse;  // 1/⟨step, change⟩
    };
    std::deque<Pair> pairs;
    Vector gradient(x.size()), next_gradient(x.size()), direction;
    double now = cost(x, gradient), window_began = now;
    for (Index step = 0; step < options.max_steps; ++step) {
        // Nocedal's two loops: direction = H gradient
        direction = gradient;
        std::vector<double> along(pairs.size());
        for (std::size_t k = pairs.size(); k-- > 0;) {
            along[k] = pairs[k].inverse * dot(pairs[k].step, direction);
            add_scaled(direction, -along[k], pairs[k].change);
        }
        if (!pairs.empty())
            scale(direction, 1.0 / (pairs.back().inverse * squared_norm(pairs.back().change)));
        for (std::size_t k = 0; k < pairs.size(); ++k)
            add_scaled(direction, along[k] - pairs[k].inverse * dot(pairs[k].change, direction),
                       pairs[k].step);
        const double slope = -dot(direction, gradient);
        if (!(slope < 0.0)) break;

        double length = 1.0, next = now;
        Vector to;
        for (; length > shortest; length *= 0.5) {
            to = x;
            add_scaled(to, -length, direction);
            next = cost(to, next_gradient);
            if (next <= now + armijo * length * slope) break;
        }
        if (!(next < now)) break;
        Pair pair{to - x, next_gradient - gradient, 0.0};
        const double curvature = dot(pair.step, pair.change);
        if (curvature > least_curvature * squared_norm(pair.change)) {
            pair.inverse = 1.0 / curvature;
            pairs.push_back(std::move(pair));
            if (static_cast<Index>(pairs.size()) > options.memory) pairs.pop_front();
        }
        bool arrived = now - next <= options.least_progress * now;
        if ((step + 1) % options.window == 0) {
            arrived = arrived || window_began - next <= options.least_window_progress * window_began;
            window_began = next;
        }
        x = std::move(to);
        gradient.swap(next_gradient);
        now = next;
        if (arrived) break;
    }
    return now;
}

}  // namespace kernelet::detail
