#pragma once

#include <kernelet/detail/tiles.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

/// The matrices of Newton's system on an AugmentedDual, from the nodes that are on.
namespace kernelet::detail {

/// ρ_j h_j at the nodes that are on.
template <class Dual>
Vector slopes_of(const Dual& dual, const std::vector<Index>& on) {
    Vector slopes(static_cast<Index>(on.size()));
    for (Index c = 0; c < slopes.size(); ++c) {
        const Index j = on[static_cast<std::size_t>(c)];
        slopes(c) = dual.quadrature().weights(j) * dual.slope(dual.shifted_length(j));
    }
    return slopes;
}

/// ρ_j |a_j|/|b_j| at the nodes that are on.
template <class Dual>
Vector slopes_across(const Dual& dual, const std::vector<Index>& on) {
    Vector slopes(static_cast<Index>(on.size()));
    for (Index c = 0; c < slopes.size(); ++c) {
        const Index j = on[static_cast<std::size_t>(c)];
        slopes(c) = dual.quadrature().weights(j) * dual.slope_across(dual.shifted_length(j));
    }
    return slopes;
}

/// Kᵀ diag(w) K over the samples, of the nodes that are on, its lower triangle, a strip at a time. O(n m²).
template <class Dual>
Matrix node_gram(const Dual& dual, const std::vector<Index>& on, const Vector& w) {
    const Index n = dual.problem().samples(), m = static_cast<Index>(on.size());
    Matrix gram = Matrix::Zero(m, m), packed(strip_rows, m);
    Vector root(strip_rows);
    for (Index first = 0; first < n; first += strip_rows) {
        dual.problem().poll()();
        const Index count = std::min(strip_rows, n - first);
        for (Index i = 0; i < count; ++i) root(i) = std::sqrt(w(first + i));
        const Block strip = Block(packed).part(0, 0, count, m);
        for (Index c = 0; c < m; ++c)
            dual.kernel_values().strip(on[static_cast<std::size_t>(c)], first, strip.columns(c, 1));
        scale_rows(strip, root.data(), strip);
        rank_update_tn(gram, strip);
    }
    return gram;
}

/// K diag(slopes) Kᵀ, its lower triangle, a panel of columns at a time. O(n² |on|).
template <class Dual>
Matrix active_gram(const Dual& dual, const std::vector<Index>& on, const Vector& slopes) {
    constexpr Index panel_columns = 64;
    const Index n = dual.problem().samples(), m = static_cast<Index>(on.size());
    Matrix h = Matrix::Zero(n, n);
    Matrix panel(n, panel_columns);
    for (Index first = 0; first < m; first += panel_columns) {
        dual.problem().poll()();
        const Index count = std::min(panel_columns, m - first);
        // A rule lists narrow kernels side by side and the samples are in spatial order: the panel is
        // zero outside of a short range of rows.
        Index begin = n, end = 0;
        for (Index c = 0; c < count; ++c) {
            const Index j = on[static_cast<std::size_t>(first + c)];
            const auto [low, high] = dual.kernel_values().column(j, &panel(0, c));
            scale(Block(panel).columns(c, 1), std::sqrt(slopes(first + c)));
            begin = std::min(begin, low);
            end = std::max(end, high);
        }
        if (begin >= end) continue;
        rank_update(Block(h).part(begin, begin, end - begin, end - begin),
                    ConstBlock(panel).part(begin, 0, end - begin, count));
    }
    return h;
}

/// This matrix for q outputs, its lower triangle, nq x nq with the outputs of a sample side by side:
///     Σ_j ρ_j k_j k_jᵀ ⊗ (h uuᵀ + (|a|/|b|)(I − uuᵀ)) = G ⊗ I + Σ_j ρ_j (h − |a|/|b|) (k_j ⊗ u)(k_j ⊗ u)ᵀ,
/// G = K diag(ρ |a|/|b|) Kᵀ. Beyond (1 + δ)τ the map is linear and h = |a|/|b|: only the nodes that are
/// partly on, m' of them, add to the sum. O(n² q + (nq)² m').
template <class Dual>
Matrix output_gram(const Dual& dual, const std::vector<Index>& on, const Matrix& gram) {
    constexpr Index panel_columns = 64;
    constexpr double rounding = 1e-12;
    const Index n = gram.rows(), outputs = dual.problem().outputs();
    Matrix h = Matrix::Zero(n * outputs, n * outputs);
    for (Index k = 0; k < n; ++k)
        for (Index i = k; i < n; ++i)
            for (Index o = 0; o < outputs; ++o) h(i * outputs + o, k * outputs + o) = gram(i, k);
    Matrix panel(n * outputs, panel_columns);
    Vector values(n);
    Index filled = 0;
    const auto add_panel = [&] {
        dual.problem().poll()();
        rank_update(h, ConstBlock(panel).columns(0, filled));
        filled = 0;
    };
    for (const Index j : on) {
        const double length = dual.shifted_length(j), along = dual.slope(length);
        const double excess = along - dual.slope_across(length);
        if (!(excess > rounding * along)) continue;
        dual.kernel_values().column(j, values.data());
        Vector u = dual.shifted(j);
        scale(u, std::sqrt(dual.quadrature().weights(j) * excess) / length);
        for (Index i = 0; i < n; ++i)
            for (Index o = 0; o < outputs; ++o) panel(i * outputs + o, filled) = values(i) * u(o);
        if (++filled == panel_columns) add_panel();
    }
    add_panel();
    return h;
}

}  // namespace kernelet::detail
