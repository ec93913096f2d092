#pragma once

/// How good a model is on samples that it has not seen: folds, cross-validation and scores.

#include <kernelet/validation/calibration.hpp>
#include <kernelet/validation/confusion_matrix.hpp>
#include <kernelet/validation/cross_validation.hpp>
#include <kernelet/validation/folds.hpp>
#include <kernelet/validation/leave_one_out.hpp>
#include <kernelet/validation/scores.hpp>
