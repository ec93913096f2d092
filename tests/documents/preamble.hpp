// Declarations that the code blocks of the documents use. Compiled, never linked.
#pragma once

#include <kernelet/baselines.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/validation.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numbers>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace given {

using Eigen::Index;
using Estimator = kernelet::SparseKernelEstimator<>;
using Classifier = kernelet::SparseKernelEstimator<kernelet::AnisotropicGaussian, kernelet::LogisticLoss>;
using Model = kernelet::SparseKernelModel<kernelet::Gaussian>;
using Fit = decltype(Estimator().fit(Eigen::MatrixXd(), Eigen::VectorXd()));

double chirp(double x);

extern Eigen::MatrixXd X, Z;        // d x n, d x m
extern Eigen::RowVectorXd x;        // one input
extern Eigen::VectorXd y, w, t, z;  // targets, weights, tolerances, a center
extern Eigen::VectorXd lo, hi;      // corners of a box
extern std::vector<std::string> labels;
extern kernelet::Options options;
extern const Estimator estimator, each;
extern const kernelet::SparseKernelEstimator<kernelet::Gaussian, kernelet::LogisticLoss> two_classes;
extern const kernelet::OneVsOne<Classifier> rooms;
extern const Fit fit;
extern const Model model;
extern std::ostringstream stream;
extern const std::string path_of_this_rank;
extern int argc;
extern char** argv;

}  // namespace given
