// A signal that is smooth in the middle and rough at the ends, sin(½πx²), at growing numbers of samples: how
// many kernels (PII), and the errors of both methods with as many.

#include "../support/algorithm_one.hpp"
#include "../support/experiment.hpp"
#include "../support/outcomes.hpp"
#include "../support/pursuit.hpp"

#include "../../examples/support/plot.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace bench;

constexpr Index sample_counts[] = {51, 101, 201, 301, 401, 501};
constexpr Index papers_kernels = 26;

/// At one number of samples.
struct Results {
    Outcomes ours, komp_as_ours, komp_as_paper, printed, komp_as_printed, chosen;

    explicit Results(const Experiment& e)
        : ours("PII defaults", e.realisations()),
          komp_as_ours("KOMP, as many kernels", e.realisations()),
          komp_as_paper("KOMP, 26 kernels", e.realisations()),
          printed("PII Algorithm 1", e.algorithm_one()),
          komp_as_printed("KOMP, as many as Algorithm 1", e.algorithm_one()),
          chosen("PII Algorithm 1, chosen steps", e.realisations()) {}
};

Results run(const Experiment& experiment, Index n) {
    Results results(experiment);
    experiment.repeat(
        "n = " + std::to_string(n), experiment.realisations(), [&](std::size_t slot, std::uint64_t seed) {
            const Realisation r = chirp(n, false, seed);
            const auto fit = kernelet::SparseKernelEstimator<>().fit(r.x, r.y);
            results.ours.set(slot, fit.model, r);
            const auto path = pursuit(r);
            results.komp_as_ours.set(slot, path.model(fit.model.size()), r);
            results.komp_as_paper.set(slot, path.model(papers_kernels), r);
            const kernelet::Box box(-chirp_edge, chirp_edge, chirp_widths, kernelet::Spacing::uniform);
            results.chosen.set(slot, algorithm_one_chosen(r, box, steps_of_smoothness).model(), r);
            if (slot >= results.printed.kernels.size()) return;
            const AlgorithmOneFit one = algorithm_one(r, box, steps_of_smoothness);
            results.printed.set(slot, one.model(), r);
            results.printed.diverged[slot] = one.diverged;
            results.komp_as_printed.set(slot, path.model(std::min(one.size(), n)), r);
        });
    std::printf("%4td   %5.1f  %8.1e   %8.1e   %8.1e   %5.1f  %8.1e   %8.1e   %5.1f  %8.1e", n,
                mean(results.ours.kernels), mean(results.ours.errors), mean(results.komp_as_ours.errors),
                mean(results.komp_as_paper.errors), mean(results.printed.kernels),
                mean(results.printed.errors), mean(results.komp_as_printed.errors),
                mean(results.chosen.kernels), mean(results.chosen.errors));
    results.printed.print_diverged();
    return results;
}

/// The least and the most kernels, each a mean at one n.
kernelet::Interval kernels_of(const std::vector<Results>& all) {
    std::vector<double> means;
    for (const Results& r : all) means.push_back(mean(r.ours.kernels));
    return {quantile(means, 0.0), quantile(means, 1.0)};
}

void draw(const std::vector<Results>& all, const kernelet::Interval& kernels) {
    const Outcomes &ours = all.back().ours, &theirs = all.back().komp_as_ours;
    char title[200];
    std::snprintf(title, sizeof title,
                  "sin(½πx²): %.1f to %.1f kernels at every n; at 501 KOMP with as many errs %.0f times more",
                  kernels.lo, kernels.hi, mean(theirs.errors) / mean(ours.errors));
    plot::draw("smoothness", plot::title(title) + plot::panel(0.075, 0.50) + R"gnuplot(
set multiplot
set grid ytics lc rgb 0xececec lt 1
set xrange [0:550]
set xtics 100
set logscale y
set format y "10^{%T}"
set xlabel "samples n" textcolor rgb ink
set ylabel "mean squared error against the clean signal" textcolor rgb ink
plot "smoothness.csv" using 1:4 skip 1 with linespoints pt 6 ps 1 lw 2 dt 2 lc rgb blue title "KOMP, as many", \
     "" using 1:5 skip 1 with linespoints pt 7 ps 0.9 lw 2 lc rgb blue title "KOMP, 26 kernels", \
     "" using 1:7 skip 1 with linespoints pt 5 ps 0.9 lw 2 lc rgb amber title "PII, Algorithm 1", \
     "" using 1:3 skip 1 with linespoints pt 7 ps 0.9 lw 2 lc rgb red title "PII, defaults"
unset logscale y
unset label 1
)gnuplot" + plot::panel(0.58, 0.975) +
                                 R"gnuplot(
set format y "%g"
set yrange [0:45]
set xlabel "samples n" textcolor rgb ink
set ylabel "kernels a model" textcolor rgb ink
plot "smoothness.csv" using 1:6 skip 1 with linespoints pt 5 ps 0.9 lw 2 lc rgb amber title "PII, Algorithm 1", \
     "" using 1:9 skip 1 with linespoints pt 4 ps 0.9 lw 2 dt 2 lc rgb amber title "the same, chosen steps", \
     "" using 1:2 skip 1 with linespoints pt 7 ps 0.9 lw 2 lc rgb red title "PII, defaults", \
     26 with lines dt 3 lc rgb pale title "the paper: 26"
unset multiplot
)gnuplot");
}

}  // namespace

int main(int argc, char** argv) {
    const Experiment experiment(
        argc, argv, "smoothness: sin(0.5 pi x^2) on [-5, 5], equispaced samples, PII against KOMP",
        {8, 2, 100});
    std::printf("%s", unstated);
    std::printf(
        "\nmean kernels, mean MSE; KOMP's MSE with as many kernels as ours, with 26, with as many as "
        "Algorithm 1\n"
        "   n    ours       MSE    KOMP as    KOMP 26  Alg. 1      MSE    KOMP as  chosen steps: MSE\n");
    std::vector<Results> all;
    for (const Index n : sample_counts) all.push_back(run(experiment, n));
    Matrix table(static_cast<Index>(all.size()), 10);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Results& r = all[k];
        table.row(static_cast<Index>(k)) << static_cast<double>(sample_counts[k]), mean(r.ours.kernels),
            mean(r.ours.errors), mean(r.komp_as_ours.errors), mean(r.komp_as_paper.errors),
            mean(r.printed.kernels), mean(r.printed.errors), mean(r.komp_as_printed.errors),
            mean(r.chosen.kernels), mean(r.chosen.errors);
    }
    plot::write_csv("smoothness.csv",
                    "n,kernels,mse,komp_as_many_mse,komp_26_mse,algorithm_one_kernels,algorithm_one_mse,"
                    "komp_as_algorithm_one_mse,chosen_kernels,chosen_mse",
                    table, 6);
    const kernelet::Interval kernels = kernels_of(all);
    draw(all, kernels);
    const double early = mean(all[1].komp_as_paper.errors), late = mean(all.back().komp_as_paper.errors);
    std::printf(
        "paper: 26 kernels at every n, an MSE that stays, KOMP's grows with n; here: defaults %.1f to %.1f "
        "kernels, MSE %.1e at n = 51 to %.1e at 501, KOMP's with 26 kernels %.1e at 101 and %.1e at 501, so "
        "that "
        "its growth is %s; Algorithm 1 as printed %.1f kernels at 51, %.1f at 501, with chosen steps %.1f "
        "and %.1f\n",
        kernels.lo, kernels.hi, mean(all.front().ours.errors), mean(all.back().ours.errors), early, late,
        late > early ? "reproduced" : "NOT reproduced", mean(all.front().printed.kernels),
        mean(all.back().printed.kernels), mean(all.front().chosen.kernels), mean(all.back().chosen.kernels));
}
