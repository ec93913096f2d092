#pragma once

/// What a program needs to load a model and predict with it: kernels, models and their files, nothing of the fit.

#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/model/sparse_kernel_model.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>
#include <kernelet/sources/callable_source.hpp>
#include <kernelet/sources/matrix_source.hpp>
#include <kernelet/sources/raw_file.hpp>
