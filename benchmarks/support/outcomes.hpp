#pragma once

#include "realisation.hpp"
#include "summary.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The results of one method on each realisation, and their row of a table.
namespace bench {

// Where the paper finds the widths of Gaussians of width 0.453, and what it calls width 1, the end of W.
constexpr double truth_lo = 0.384, truth_hi = 0.648, widest_from = 0.99;

struct Outcomes {
    std::string method;
    std::vector<double> kernels{}, errors{};
    std::vector<std::vector<double>> widths{};
    std::vector<char> diverged{};

    Outcomes(std::string name, int realisations)
        : method(std::move(name)),
          kernels(static_cast<std::size_t>(realisations)),
          errors(kernels.size()),
          widths(kernels.size()),
          diverged(kernels.size(), 0) {}

    template <class Model>
    void set(std::size_t slot, const Model& model, const Realisation& r) {
        kernels[slot] = static_cast<double>(model.size());
        errors[slot] = mean_squared_error(model, r);
    }

    /// As set(), with the widths found: one per kernel.
    template <class Model>
    void set_with_widths(std::size_t slot, const Model& model, const Realisation& r) {
        set(slot, model, r);
        const Matrix found = model.widths();
        widths[slot].assign(found.data(), found.data() + found.size());
    }

    std::vector<double> all_widths() const {
        std::vector<double> all;
        for (const auto& one : widths) all.insert(all.end(), one.begin(), one.end());
        return all;
    }

    /// The mean number of kernels per model whose width lies in [lo, hi].
    double with_width(double lo, double hi) const {
        double count = 0.0;
        for (const double w : all_widths()) count += w >= lo && w <= hi ? 1.0 : 0.0;
        return count / static_cast<double>(widths.size());
    }
    double near_truth() const { return with_width(truth_lo, truth_hi); }
    double widest() const { return with_width(widest_from, std::numeric_limits<double>::infinity()); }
    /// The end of a row.
    void print_diverged() const {
        if (const auto count = std::count(diverged.begin(), diverged.end(), 1); count > 0)
            std::printf("  Algorithm 1 diverged in %td of %zu", count, diverged.size());
        std::printf("\n");
        std::fflush(stdout);
    }
};

inline void print_header(std::string_view of) {
    std::printf("\n%s\n%-38s %8s %16s %10s   %9s %9s %9s\n", std::string(of).c_str(), "method", "kernels",
                "in [.384, .648]", "1 and more", "MSE mean", "deviation", "median");
}

/// Means a model of kernels, of those whose width is near the truth, and of those of width 1 and more where
/// the widths were found and not given.
inline void print_row(const Outcomes& o) {
    std::printf("%-38s %8.2f ", o.method.c_str(), mean(o.kernels));
    if (o.all_widths().empty())
        std::printf("%16s %10s ", "-", "-");
    else
        std::printf("%16.2f %10.2f ", o.near_truth(), o.widest());
    std::printf("  %9.2e %9.2e %9.2e", mean(o.errors), deviation(o.errors), quantile(o.errors, 0.5));
    o.print_diverged();
}

/// A row a bin: its middle, then for each method how many of its values lie in it, a realisation.
template <class Values>
Matrix histogram_table(const std::vector<const Outcomes*>& methods, const Values& values, double lo,
                       double hi, std::size_t bins) {
    const double step = (hi - lo) / static_cast<double>(bins);
    Matrix table(static_cast<Index>(bins), 1 + static_cast<Index>(methods.size()));
    for (Index b = 0; b < table.rows(); ++b) table(b, 0) = lo + (static_cast<double>(b) + 0.5) * step;
    for (std::size_t m = 0; m < methods.size(); ++m) {
        const std::vector<double> counts = histogram(std::invoke(values, *methods[m]), lo, hi, bins);
        table.col(static_cast<Index>(m) + 1) = Eigen::Map<const Vector>(counts.data(), table.rows()) /
                                               static_cast<double>(methods[m]->kernels.size());
    }
    return table;
}

}  // namespace bench
