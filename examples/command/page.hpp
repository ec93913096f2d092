#pragma once

#include "commands.hpp"
#include "svg.hpp"

#include <string>
#include <vector>

/// The parts of the page that `kernelet report` writes, each as HTML.
namespace command {

/// The table of a report: inputs, and what the model's predictions are compared with.
struct ReportData {
    Matrix x{};
    Vector y{};                         ///< of a regression; empty where the table has no target
    std::vector<std::string> labels{};  ///< of classes
};

/// An entry of the legend below a picture: a mark in a color of the style sheet, and what it stands for.
struct LegendEntry {
    std::string color{};  ///< the name of a CSS variable
    std::string text{};
    std::string shape = "dot";  ///< dot, line, swatch or ring
};
std::string figure(const Plot& plot, const std::vector<LegendEntry>& legend, const std::string& note = "");

/// Evenly chosen samples, as many as a page can show.
std::vector<Index> drawn_samples(Index n);
Vector entries(const Vector& values, const std::vector<Index>& which);

/// The centers of the cells of a grid over two axes, 2 x (cells * cells), by rows, the lowest row first.
Matrix grid_points(const Axis& across, const Axis& up, Index cells);
/// All inputs, or of many those in which the kernels are narrowest beside the range of the points, d x n.
std::vector<Index> candidate_inputs(const std::vector<Regression>& models, const Matrix& points);
void add_ellipses(Plot& plot, const Regression& model);

/// One input: the curve and its kernels; two: the surface; more: what the strongest inputs do; always the residuals.
std::string regression_pictures(const Regression& model, const ReportData& data, const Description& about);
/// Where each class is predicted, by one or two inputs, or by the strongest of several.
std::string class_pictures(const Classifier& model, const ReportData& data, const Description& about);

/// What is to be known before tables of kernels.
std::string kernel_note(const Regression& model);
std::string kernel_table(const Regression& model, const std::vector<std::string>& inputs);
std::string confusion_table(const Classifier& model, const ReportData& data);
/// The certificate in words, then everything that the fit reported, then the command line.
std::string certificate_section(const Description& about);

}  // namespace command
