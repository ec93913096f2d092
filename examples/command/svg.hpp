#pragma once

#include <Eigen/Core>

#include <functional>
#include <string>
#include <vector>

namespace command {

using Eigen::Index;

/// For text inside HTML and SVG.
std::string html_text(const std::string& text);

/// An axis: from lo to hi, in a plot spaced evenly or in the logarithm.
struct Axis {
    double lo = 0.0, hi = 1.0;
    std::string title{};
    bool logarithmic = false;

    /// With some room, or around a value where there is only one.
    static Axis around(double lo, double hi, std::string title);
    double fraction(double value) const;
    std::vector<double> ticks() const;
};

/// A picture of two axes as inline SVG. Colors are classes of the page's style sheet, so that it follows light and dark.
class Plot {
public:
    Plot(Axis x, Axis y, std::string title);

    void line(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style);
    void points(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style,
                double radius = 2.0);
    void band(const Eigen::VectorXd& x, const Eigen::VectorXd& lo, const Eigen::VectorXd& hi,
              const std::string& style);
    /// Half axes in the units of the plot.
    void ellipse(double x, double y, double half_x, double half_y, const std::string& style);
    /// Cells of a matrix over the whole plot, row 0 at the bottom: blue below zero, red above, as strong as the value
    /// relative to the largest.
    void cells(const Eigen::MatrixXd& values);
    std::string svg() const;

private:
    double across(double x) const;
    double up(double y) const;

    Axis x_, y_;
    std::string title_;
    std::string body_;
};

}  // namespace command
