#pragma once

/// kernelet: functions learned as a handful of kernels, each with its own center and its own width.

#include <kernelet/concepts.hpp>
#include <kernelet/domains/around_samples.hpp>
#include <kernelet/domains/box.hpp>
#include <kernelet/domains/candidate_centers.hpp>
#include <kernelet/domains/fixed_width.hpp>
#include <kernelet/domains/read_off.hpp>
#include <kernelet/dual/augmented_newton.hpp>
#include <kernelet/dual/automatic_solver.hpp>
#include <kernelet/dual/certificate.hpp>
#include <kernelet/dual/coordinate_ascent.hpp>
#include <kernelet/dual/dual_function.hpp>
#include <kernelet/dual/infeasibility.hpp>
#include <kernelet/dual/sampled_ascent.hpp>
#include <kernelet/dual/stochastic_supergradient.hpp>
#include <kernelet/estimator.hpp>
#include <kernelet/field/coefficient_field.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/losses/squared.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/model/statistics.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/observers.hpp>
#include <kernelet/options.hpp>
#include <kernelet/peaks/extract_peaks.hpp>
#include <kernelet/refit/complete.hpp>
#include <kernelet/refit/discretize.hpp>
#include <kernelet/refit/least_squares.hpp>
#include <kernelet/refit/prune.hpp>
#include <kernelet/refit/slide.hpp>
#include <kernelet/report.hpp>
#include <kernelet/types.hpp>
#include <kernelet/version.hpp>
