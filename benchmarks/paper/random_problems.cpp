// Random small problems (n 2 to 60, d 1 to 4, duplicated points, outliers a million times the scale, scales
// of x and y from 1e-6 to 1e6): each must end with a status, finite numbers and a certificate, and scale
// exactly with powers of two. Usage: random_problems [count]

#include <kernelet/kernelet.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char** argv) {
    using namespace kernelet;
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::map<std::string, int> endings;
    int not_finite = 0, not_scaled = 0, not_exact = 0;
    for (int k = 0; k < count; ++k) {
        const detail::CounterRandom random(static_cast<std::uint64_t>(k), 99);
        std::uint64_t counter = 0;
        const auto u = [&] { return random.uniform(counter++); };
        const Index n = 2 + static_cast<Index>(u() * 59.0), d = 1 + static_cast<Index>(u() * 4.0);
        const double sx = std::pow(10.0, -6.0 + 12.0 * u()), sy = std::pow(10.0, -6.0 + 12.0 * u());
        Matrix x(d, n);
        Vector y(n);
        for (Index i = 0; i < n; ++i) {
            for (Index c = 0; c < d; ++c) x(c, i) = sx * (2.0 * u() - 1.0);
            y(i) = sy * (std::sin(5.0 * x(0, i) / sx) + 0.1 * (u() - 0.5));
            if (i > 0 && u() < 0.15)
                x.col(i) = x.col(static_cast<Index>(u() * static_cast<double>(i))).eval();
            if (u() < 0.03) y(i) *= 1e6;
        }
        Options options;
        if (u() < 0.5) options.tolerance = sy * std::pow(10.0, -4.0 + 4.0 * u());
        if (u() < 0.4) options.scope = Scope::per_sample;
        if (u() < 0.3) options.sparsity = 2.0 * u();
        const auto fit = SparseKernelEstimator<>(options).fit(x, y);
        ++endings[std::string(to_string(fit.report.status))];
        const bool finite = fit.model.coefficients().allFinite() && std::isfinite(fit.report.dual_value) &&
                            std::isfinite(fit.report.primal_value) &&
                            std::isfinite(fit.report.integration_error);
        if (options.tolerance) options.tolerance = 8.0 * *options.tolerance;
        const auto scaled = SparseKernelEstimator<>(options).fit(0.25 * x, 8.0 * y);
        bool exact = scaled.model.size() == fit.model.size(), same = exact;
        if (exact) {
            const Matrix centers = 4.0 * scaled.model.centers() - fit.model.centers();
            const Matrix coefficients = 0.125 * scaled.model.coefficients() - fit.model.coefficients();
            exact = (centers.array() == 0.0).all() && (coefficients.array() == 0.0).all();
            same = centers.norm() <= 1e-9 * fit.model.centers().norm() &&
                   coefficients.norm() <= 1e-9 * fit.model.coefficients().norm();
        }
        not_exact += exact ? 0 : 1;
        not_finite += finite ? 0 : 1;
        not_scaled += same ? 0 : 1;
        if (!finite || !same)
            std::printf("problem %d: finite %d, scaled %d: %s\n", k, finite, same,
                        fit.report.brief().c_str());
    }
    for (const auto& [status, number] : endings) std::printf("%6d  %s\n", number, status.c_str());
    std::printf(
        "%d problems: %d with a number that is not finite, %d that did not scale to 1e-9, %d not to the "
        "bit\n",
        count, not_finite, not_scaled, not_exact);
    return not_finite + not_scaled == 0 ? 0 : 1;
}
