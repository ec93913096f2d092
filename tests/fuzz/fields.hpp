#pragma once

#include <kernelet/dual/solver_options.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/point_mass_limit.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The fields of the option structs by the names that messages give them.
namespace fuzz {

/// A field, and where it is.
struct Field {
    std::string name;
    std::variant<double*, kernelet::Index*, std::optional<double>*, std::optional<kernelet::Index>*> at;
};
using Fields = std::vector<Field>;

inline void add_newton(Fields& to, kernelet::LevenbergMarquardtOptions& o, const std::string& name) {
    to.insert(to.end(), {{name + ".max_steps", &o.max_steps},
                         {name + ".min_decrease", &o.min_decrease},
                         {name + ".damping", &o.damping},
                         {name + ".damping_decrease", &o.damping_decrease},
                         {name + ".damping_increase", &o.damping_increase},
                         {name + ".max_damping", &o.max_damping},
                         {name + ".steps_per_curvature", &o.steps_per_curvature},
                         {name + ".race_steps", &o.race_steps},
                         {name + ".newton.max_steps", &o.newton.max_steps},
                         {name + ".newton.min_decrease", &o.newton.min_decrease}});
}

inline void add_priors(Fields& to, kernelet::PriorOptions& o) {
    const std::string name = "options.search.priors.";
    to.insert(to.end(), {{name + "coefficient_deviation", &o.coefficient_deviation},
                         {name + "decision_deviation", &o.decision_deviation},
                         {name + "typical_width_fraction", &o.typical_width_fraction},
                         {name + "log_width_deviation", &o.log_width_deviation},
                         {name + "learned_count", &o.learned_count},
                         {name + "metric_deviation", &o.metric_deviation},
                         {name + "max_coefficient_ratio", &o.max_coefficient_ratio},
                         {name + "ridge_increase", &o.ridge_increase},
                         {name + "max_ridge_increases", &o.max_ridge_increases},
                         {name + "min_noise_fraction", &o.min_noise_fraction},
                         {name + "wide_kernel_fraction", &o.wide_kernel_fraction}});
}

inline void add_choices(Fields& to, kernelet::SearchOptions& o) {
    const std::string criterion = "options.search.criterion.", evidence = "options.search.evidence.",
                      forward = "options.search.forward.", backward = "options.search.backward.";
    to.insert(to.end(), {{criterion + "label_price_fraction", &o.criterion.label_price_fraction},
                         {criterion + "label_information", &o.criterion.label_information},
                         {criterion + "min_mass", &o.criterion.min_mass},
                         {criterion + "min_gain", &o.criterion.min_gain},
                         {evidence + "max_rounds", &o.evidence.max_rounds},
                         {evidence + "gain_per_kernel", &o.evidence.gain_per_kernel},
                         {evidence + "price_decrease", &o.evidence.price_decrease},
                         {evidence + "min_price", &o.evidence.min_price},
                         {forward + "tries", &o.forward.tries},
                         {forward + "patience", &o.forward.patience},
                         {forward + "gain_samples", &o.forward.gain_samples},
                         {forward + "max_coherence", &o.forward.max_coherence},
                         {backward + "tries", &o.backward.tries},
                         {backward + "damping", &o.backward.damping}});
}

inline void add_sizes(Fields& to, kernelet::SearchOptions& o) {
    const std::string first = "options.search.first_order.", levels = "options.search.levels.",
                      streams = "options.search.streams.";
    to.insert(to.end(), {{first + "max_second_order_work", &o.first_order.max_second_order_work},
                         {first + "first_kernels", &o.first_order.first_kernels},
                         {first + "held_out_fraction", &o.first_order.held_out_fraction},
                         {first + "growing_samples", &o.first_order.growing_samples},
                         {first + "gain_samples", &o.first_order.gain_samples},
                         {first + "growing_steps", &o.first_order.growing_steps},
                         {first + "batch_steps", &o.first_order.batch_steps},
                         {first + "final_steps", &o.first_order.final_steps},
                         {first + "steps_per_scaling", &o.first_order.steps_per_scaling},
                         {first + "min_decrease", &o.first_order.min_decrease},
                         {levels + "first_samples", &o.levels.first_samples},
                         {levels + "first_labels", &o.levels.first_labels},
                         {levels + "growth", &o.levels.growth},
                         {streams + "held_samples", &o.streams.held_samples},
                         {streams + "max_columns", &o.streams.max_columns},
                         {streams + "arrival_fraction", &o.streams.arrival_fraction}});
}

inline void add_search(Fields& to, kernelet::SearchOptions& o) {
    add_priors(to, o.priors);
    add_choices(to, o);
    add_sizes(to, o);
    add_newton(to, o.evidence.trial, "options.search.evidence.trial");
    add_newton(to, o.streams.descent, "options.search.streams.descent");
    add_newton(to, o.trial, "options.search.trial");
    add_newton(to, o.polish, "options.search.polish");
    const std::string name = "options.search.";
    to.insert(to.end(), {{name + "moving_kernels", &o.moving_kernels},
                         {name + "careful_tries", &o.careful_tries},
                         {name + "settling_steps", &o.settling_steps},
                         {name + "candidates", &o.candidates},
                         {name + "max_parameters", &o.max_parameters},
                         {name + "min_start_kernels", &o.min_start_kernels},
                         {name + "label_window", &o.label_window},
                         {name + "noise_window", &o.noise_window}});
}

inline void add_peaks(Fields& to, kernelet::PeakOptions& o) {
    const std::string name = "options.peaks.";
    to.insert(to.end(), {{name + "merge_coherence", &o.merge_coherence},
                         {name + "seed_coherence", &o.seed_coherence},
                         {name + "seed_level", &o.seed_level},
                         {name + "max_seeds", &o.max_seeds},
                         {name + "max_steps", &o.max_steps}});
}

/// All numbers of Options.
inline Fields fields_of(kernelet::Options& o) {
    Fields to{{"options.tolerance", &o.tolerance},
              {"options.max_kernels", &o.max_kernels},
              {"options.gamma", &o.gamma},
              {"options.sparsity", &o.sparsity},
              {"options.noise_multiple", &o.noise_multiple},
              {"options.ridge", &o.ridge},
              {"options.dual_samples", &o.dual_samples}};
    add_peaks(to, o.peaks);
    add_search(to, o.search);
    return to;
}

inline void add_stopping(Fields& to, kernelet::StoppingOptions& o) {
    const std::string name = "solver.stopping.";
    to.insert(to.end(), {{name + "gap", &o.gap},
                         {name + "violation", &o.violation},
                         {name + "max_nodes", &o.max_nodes},
                         {name + "most_amplification", &o.most_amplification}});
}

inline Fields fields_of(kernelet::AugmentedNewtonOptions& o) {
    Fields to{{"solver.max_iterations", &o.max_iterations},
              {"solver.dense_samples", &o.dense_samples},
              {"solver.dense_nodes", &o.dense_nodes},
              {"solver.max_inner", &o.max_inner}};
    add_stopping(to, o.stopping);
    return to;
}

inline Fields fields_of(kernelet::CoordinateAscentOptions& o) {
    Fields to{{"solver.max_sweeps", &o.max_sweeps}, {"solver.block", &o.block}};
    add_stopping(to, o.stopping);
    return to;
}

inline Fields fields_of(kernelet::SampledAscentOptions& o) {
    return {{"solver.first_nodes", &o.first_nodes},
            {"solver.max_nodes", &o.max_nodes},
            {"solver.integration", &o.integration}};
}

inline Fields fields_of(kernelet::AutomaticSolverOptions& o) {
    Fields to{{"solver.blocks_from", &o.blocks_from}, {"solver.blocks_to", &o.blocks_to}};
    for (const Fields& inner : {fields_of(o.newton), fields_of(o.blocks), fields_of(o.sampling)})
        to.insert(to.end(), inner.begin(), inner.end());
    return to;
}

inline Fields fields_of(kernelet::PointMassLimitOptions& o) {
    Fields to{{"solver.gap", &o.gap},
              {"solver.max_exchanges", &o.max_exchanges},
              {"solver.max_nodes", &o.max_nodes}};
    add_peaks(to, o.peaks);
    return to;
}

inline Fields fields_of(kernelet::StochasticSupergradientOptions& o) {
    return {{"solver.eta_lambda", &o.eta_lambda},
            {"solver.eta_mu", &o.eta_mu},
            {"solver.batch", &o.batch},
            {"solver.iterations", &o.iterations},
            {"solver.initial_mu", &o.initial_mu},
            {"solver.evaluation_nodes", &o.evaluation_nodes},
            {"solver.gap", &o.gap},
            {"solver.violation", &o.violation},
            {"solver.integration", &o.integration},
            {"solver.max_batch", &o.max_batch},
            {"solver.rank", &o.rank}};
}

}  // namespace fuzz
