#pragma once

/// kernelet: functions learned as a small number of kernels, each with its own center and its own width.
///
/// Baselines, cross-validation, samples on several machines and what only predicts have headers of their own:
/// <kernelet/baselines.hpp>, <kernelet/validation.hpp>, <kernelet/mpi.hpp>, <kernelet/predict.hpp>. In compiled mode (KERNELET_COMPILED, set by the CMake function kernelet_add_compiled)
/// the stages of a fit are not included; include them by name where you call them.

#include <kernelet/concepts.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/domains/k_means.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/coordinate_ascent.hpp>
#include <kernelet/dual/dual_solver.hpp>
#include <kernelet/dual/sampled_ascent.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/losses/epsilon_insensitive.hpp>
#include <kernelet/losses/hinge.hpp>
#include <kernelet/losses/huber.hpp>
#include <kernelet/losses/logistic.hpp>
#include <kernelet/losses/quantile.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>
#include <kernelet/multiclass/export_c.hpp>
#include <kernelet/multiclass/one_vs_one.hpp>
#include <kernelet/multiclass/one_vs_rest.hpp>
#include <kernelet/multiclass/shared_kernels.hpp>
#include <kernelet/observers.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/point_mass_limit.hpp>
#include <kernelet/report.hpp>
#include <kernelet/search_options.hpp>
#include <kernelet/sources/callable_source.hpp>
#include <kernelet/sources/matrix_source.hpp>
#include <kernelet/sources/raw_file.hpp>
#include <kernelet/types.hpp>
#include <kernelet/version.hpp>

#ifndef KERNELET_COMPILED
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/dual_trend.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/search/final_model.hpp>
#include <kernelet/search/search.hpp>
#endif
