#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

namespace command {

using Eigen::Index;

/// An axis: from lo to hi, in a plot spaced evenly or in the logarithm.
struct Axis {
    double lo = 0.0, hi = 1.0;
    std::string title{};
    bool logarithmic = false;

    /// With some room, or around a value where there is only one.
    static Axis around(double lo, double hi, std::string title);
    double fraction(double value) const;
    /// Places of the marks and what is written at them.
    struct Tick {
        double at;
        std::string text;
    };
    std::vector<Tick> ticks() const;
};

/// A cell of a picture: a class of the style sheet, and how strong it is, from 0 to 1.
struct Cell {
    std::string style{};
    double strength = 0.0;
};

/// A picture of two axes as inline SVG. Colors are classes of the page's style sheet, so that it follows light and dark.
class Plot {
public:
    Plot(Axis x, Axis y, std::string title);

    void line(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style);
    void points(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style,
                double radius = 1.7);
    void band(const Eigen::VectorXd& x, const Eigen::VectorXd& lo, const Eigen::VectorXd& hi,
              const std::string& style);
    /// Half axes in the units of the plot.
    void ellipse(double x, double y, double half_x, double half_y, const std::string& style);
    /// A grid over the whole plot, by rows, the lowest row first.
    void cells(const std::vector<Cell>& grid, Index columns);
    std::string svg() const;

private:
    double across(double x) const;
    double up(double y) const;
    std::string axes() const;

    Axis x_, y_;
    std::string title_;
    std::string body_;
};

/// Below zero "below", above zero "above", as strong as the value relative to the largest, to a power.
std::vector<Cell> signed_cells(const Eigen::MatrixXd& values, double power);

}  // namespace command
