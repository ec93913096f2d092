// Centers and widths both chosen by the fit (PII) against widths alone (PII''): ten Gaussians of one width.
// How many kernels, and of which widths.

#include "../support/algorithm_one.hpp"
#include "../support/experiment.hpp"
#include "../support/outcomes.hpp"

#include "../../examples/support/plot.hpp"

#include <kernelet/kernelet.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

using namespace bench;

constexpr Index terms = 10;
constexpr double true_width = 0.453;
constexpr Index samples = 100;

struct Results {
    Outcomes free, fixed_centers, free_printed, fixed_centers_printed, free_chosen, fixed_centers_chosen;

    /// Realisations in which PII takes fewer kernels than PII'', between 0 and 1.
    double fewer() const {
        std::vector<double> difference(free.kernels.size());
        for (std::size_t k = 0; k < difference.size(); ++k)
            difference[k] = fixed_centers.kernels[k] - free.kernels[k];
        return share(difference, [](double d) { return d > 0.0; });
    }
};

Results run(const Experiment& experiment, Reading reading) {
    const int count = experiment.realisations(), few = experiment.algorithm_one();
    Results results{Outcomes("PII   defaults", count),
                    Outcomes("PII'' defaults, W = [0.1, 1]", count),
                    Outcomes("PII   Algorithm 1 as printed", few),
                    Outcomes("PII'' Algorithm 1 as printed", few),
                    Outcomes("PII   Algorithm 1, chosen steps", count),
                    Outcomes("PII'' Algorithm 1, chosen steps", count)};
    const auto make = [&](std::uint64_t seed) {
        return gaussians(terms, true_width, samples, seed, reading);
    };
    experiment.repeat("PII and PII''", count, [&](std::size_t slot, std::uint64_t seed) {
        const Realisation r = make(seed);
        const kernelet::SparseKernelEstimator<> estimator;
        results.free.set_with_widths(slot, estimator.fit(r.x, r.y).model, r);
        const kernelet::CandidateCenters candidates(r.x, mixture_widths);
        results.fixed_centers.set_with_widths(slot, estimator.fit(r.x, r.y, candidates).model, r);
        const kernelet::Box box(mixture_lo, mixture_hi, mixture_widths, kernelet::Spacing::uniform);
        results.free_chosen.set_with_widths(
            slot, algorithm_one_chosen(r, box, steps_of_centers_and_widths).model(), r);
        const kernelet::CandidateCenters uniform(r.x, mixture_widths, kernelet::Spacing::uniform);
        results.fixed_centers_chosen.set_with_widths(
            slot, algorithm_one_chosen(r, uniform, steps_of_widths).model(), r);
    });
    experiment.repeat("Algorithm 1", few, [&](std::size_t slot, std::uint64_t seed) {
        const Realisation r = make(seed);
        const kernelet::Box box(mixture_lo, mixture_hi, mixture_widths, kernelet::Spacing::uniform);
        const AlgorithmOneFit free = algorithm_one(r, box, steps_of_centers_and_widths);
        results.free_printed.set_with_widths(slot, free.model(), r);
        results.free_printed.diverged[slot] = free.diverged;
        const kernelet::CandidateCenters candidates(r.x, mixture_widths, kernelet::Spacing::uniform);
        const AlgorithmOneFit fixed = algorithm_one(r, candidates, steps_of_widths);
        results.fixed_centers_printed.set_with_widths(slot, fixed.model(), r);
        results.fixed_centers_printed.diverged[slot] = fixed.diverged;
    });
    print_header(to_string(reading));
    print_row(results.free);
    print_row(results.fixed_centers);
    print_row(results.free_printed);
    print_row(results.fixed_centers_printed);
    print_row(results.free_chosen);
    print_row(results.fixed_centers_chosen);
    return results;
}

void write(const Results& r, const std::string& suffix) {
    const std::vector<const Outcomes*> methods{&r.free, &r.fixed_centers, &r.free_printed,
                                               &r.fixed_centers_printed};
    const std::string columns = "free,fixed_centers,free_algorithm_one,fixed_centers_algorithm_one";
    // Bins of 0.05 whose middles are the multiples; beyond 1.5 all in the last.
    plot::write_csv("centers_and_widths_widths" + suffix + ".csv", "width," + columns,
                    histogram_table(methods, &Outcomes::all_widths, 0.075, 1.525, 29), 6);
    plot::write_csv("centers_and_widths_kernels" + suffix + ".csv", "kernels," + columns,
                    histogram_table(methods, &Outcomes::kernels, -0.5, 20.5, 21), 6);
}

void draw(const Results& r) {
    char title[200];
    std::snprintf(
        title, sizeof title,
        "Ten Gaussians: free centers and widths take %.1f kernels, widths alone at the samples %.1f",
        mean(r.free.kernels), mean(r.fixed_centers.kernels));
    plot::draw("centers_and_widths", plot::title(title) + plot::panel(0.075, 0.50) + R"gnuplot(
set multiplot
set boxwidth 0.42 relative
set style fill solid 0.75 noborder
set grid ytics lc rgb 0xececec lt 1
set xrange [0.05:1.55]
set xtics 0.2
set yrange [0:*]
set xlabel "width of a kernel; 1.5 and more in the last box" textcolor rgb ink
set ylabel "kernels a model" textcolor rgb ink
set object 1 rectangle from 0.384, graph 0 to 0.648, graph 1 fc rgb 0xf2f2f2 fs solid noborder behind
set arrow 1 from 0.453, graph 0 to 0.453, graph 1 nohead dt 3 lc rgb pale
set label 2 "true width" at 0.47, graph 0.97 textcolor rgb pale
plot "centers_and_widths_widths.csv" using ($1 - 0.0125):2 skip 1 with boxes fc rgb red title "PII, defaults", \
     "" using ($1 + 0.0125):4 skip 1 with boxes fc rgb amber title "PII, Algorithm 1", \
     NaN with boxes fc rgb 0xe0e0e0 title "the paper's [0.384, 0.648]"
unset object 1; unset arrow 1; unset label 1; unset label 2
)gnuplot" + plot::panel(0.58, 0.975) + R"gnuplot(
set xrange [0:20.5]
set xtics 2
set xlabel "kernels of a model" textcolor rgb ink
set ylabel "share of the realisations" textcolor rgb ink
plot "centers_and_widths_kernels.csv" using ($1 - 0.22):2 skip 1 with boxes fc rgb red title "PII: centers and widths", \
     "" using ($1 + 0.22):3 skip 1 with boxes fc rgb blue title "PII'': widths, at the samples"
unset multiplot
)gnuplot");
}

}  // namespace

int main(int argc, char** argv) {
    const Experiment experiment(
        argc, argv, "centers_and_widths: PII against PII'', m = 10 Gaussians of width 0.453, n = 100",
        {60, 8, 1000});
    std::printf("%s", unstated);
    const Results over = run(experiment, Reading::over_the_domain);
    const Results printed = run(experiment, Reading::as_printed);
    write(over, "");
    write(printed, "_as_printed");
    draw(over);
    std::printf(
        "paper: PII takes 6 kernels, 4 of width in [0.384, 0.648] and 1 to 2 of width 1, MSE 0.0588, where "
        "PII'' "
        "takes 14; here: defaults %.1f kernels, %.1f in [0.384, 0.648] and %.1f of width 1 and more, MSE "
        "%.1e, "
        "where PII'' takes %.1f, fewer than PII'' in %.0f %% (centers U(1, 2): %.1f kernels, %.1f); "
        "Algorithm 1 "
        "as printed %.1f kernels, %.1f in [0.384, 0.648] and %.1f of width 1, MSE %.1e, with chosen steps "
        "%.1f, %.1f, "
        "%.1f, %.1e\n",
        mean(over.free.kernels), over.free.near_truth(), over.free.widest(), mean(over.free.errors),
        mean(over.fixed_centers.kernels), 100.0 * over.fewer(), mean(printed.free.kernels),
        mean(printed.fixed_centers.kernels), mean(over.free_printed.kernels), over.free_printed.near_truth(),
        over.free_printed.widest(), mean(over.free_printed.errors), mean(over.free_chosen.kernels),
        over.free_chosen.near_truth(), over.free_chosen.widest(), mean(over.free_chosen.errors));
}
