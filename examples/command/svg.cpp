#include "svg.hpp"

#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace command {

namespace {

// Few units across, so that text of 12 units can be read where the picture is as narrow as a telephone.
constexpr double width = 480.0, height = 300.0, left = 76.0, right = 12.0, top = 28.0, bottom = 44.0;

std::string number(double value) { return std::isfinite(value) ? number_text(value, "%.2f") : "0"; }

/// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double tick_step(double range, double count) {
    const double rough = range / count, unit = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * unit >= rough) return factor * unit;
    return 10.0 * unit;
}

/// 1e+06 as 1e6, 1e-07 as 1e-7.
std::string compact(std::string number) {
    const std::size_t at = number.find('e');
    if (at == std::string::npos) return number;
    std::size_t digits = at + 2;
    while (digits + 1 < number.size() && number[digits] == '0') ++digits;
    return number.substr(0, at + 1) + (number[at + 1] == '-' ? "-" : "") + number.substr(digits);
}

/// Digits as the step needs them: 0.05, 20000, 1.5e7.
std::string tick_text(double value, double step, double largest) {
    constexpr double most_plain = 1e5, least_plain = 1e-4;
    if (std::abs(value) < 1e-9 * step) return "0";
    const double magnitude = std::floor(std::log10(step));
    if (largest < most_plain && step >= least_plain)
        return number_text(value, ("%." + number_text(std::max(0.0, -magnitude), "%.0f") + "f").c_str());
    const double digits = std::clamp(std::floor(std::log10(largest)) - magnitude + 1.0, 1.0, 15.0);
    return compact(number_text(value, ("%." + number_text(digits, "%.0f") + "g").c_str()));
}

std::string text_at(double x, double y, const std::string& text, const std::string& more) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + html_text(text) +
           "</text>\n";
}

std::string segment(double x1, double y1, double x2, double y2, const std::string& style) {
    return "<line class=\"" + style + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
           number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

}  // namespace

Axis Axis::around(double lo, double hi, std::string title) {
    constexpr double room = 0.04;
    const double range = hi - lo, more = range > 0.0 ? room * range : std::max(1.0, std::abs(lo)) * 0.5;
    return {lo - more, hi + more, std::move(title)};
}

double Axis::fraction(double value) const {
    return logarithmic ? std::log(value / lo) / std::log(hi / lo) : (value - lo) / (hi - lo);
}

std::vector<Axis::Tick> Axis::ticks() const {
    std::vector<Tick> out;
    if (logarithmic) {
        for (double unit = std::pow(10.0, std::floor(std::log10(lo))); unit <= hi; unit *= 10.0)
            for (const double factor : {1.0, 2.0, 5.0})
                if (factor * unit >= lo && factor * unit <= hi)
                    out.push_back({factor * unit, compact(number_text(factor * unit, "%.6g"))});
        return out;
    }
    if (!(hi > lo) || !std::isfinite(hi - lo)) return out;
    constexpr std::size_t longest = 7;  // characters that fit beside one another
    const double largest = std::max(std::abs(lo), std::abs(hi));
    for (const double count : {6.0, 3.0}) {
        out.clear();
        const double step = tick_step(hi - lo, count);
        for (double k = std::ceil(lo / step); k * step <= hi && out.size() < 20; ++k)
            out.push_back({k * step, tick_text(k * step, step, largest)});
        if (std::all_of(out.begin(), out.end(), [](const Tick& t) { return t.text.size() <= longest; }))
            break;
    }
    return out;
}

Plot::Plot(Axis x, Axis y, std::string title)
    : x_(std::move(x)), y_(std::move(y)), title_(std::move(title)) {}

double Plot::across(double x) const { return left + (width - left - right) * x_.fraction(x); }
double Plot::up(double y) const { return height - bottom - (height - top - bottom) * y_.fraction(y); }

void Plot::line(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style) {
    body_ += "<polyline class=\"" + style + "\" points=\"";
    for (Index i = 0; i < x.size(); ++i) body_ += number(across(x(i))) + "," + number(up(y(i))) + " ";
    body_ += "\"/>\n";
}

void Plot::points(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& style,
                  double radius) {
    body_ += "<g class=\"" + style + "\">\n";
    for (Index i = 0; i < x.size(); ++i)
        body_ += "<circle cx=\"" + number(across(x(i))) + "\" cy=\"" + number(up(y(i))) + "\" r=\"" +
                 number(radius) + "\"/>\n";
    body_ += "</g>\n";
}

void Plot::band(const Eigen::VectorXd& x, const Eigen::VectorXd& lo, const Eigen::VectorXd& hi,
                const std::string& style) {
    body_ += "<polygon class=\"" + style + "\" points=\"";
    for (Index i = 0; i < x.size(); ++i) body_ += number(across(x(i))) + "," + number(up(hi(i))) + " ";
    for (Index i = x.size(); i-- > 0;) body_ += number(across(x(i))) + "," + number(up(lo(i))) + " ";
    body_ += "\"/>\n";
}

void Plot::ellipse(double x, double y, double half_x, double half_y, const std::string& style) {
    const double rx = std::abs(across(x + half_x) - across(x)), ry = std::abs(up(y + half_y) - up(y));
    body_ += "<ellipse class=\"" + style + "\" cx=\"" + number(across(x)) + "\" cy=\"" + number(up(y)) +
             "\" rx=\"" + number(rx) + "\" ry=\"" + number(ry) + "\"/>\n";
}

void Plot::cells(const std::vector<Cell>& grid, Index columns) {
    constexpr double levels = 40.0;  // neighbours in a row of the same level are one rectangle
    const auto level = [&](const Cell& cell) { return std::round(levels * cell.strength); };
    const Index rows = static_cast<Index>(grid.size()) / columns;
    const double w = (width - left - right) / static_cast<double>(columns),
                 h = (height - top - bottom) / static_cast<double>(rows);
    body_ += "<g shape-rendering=\"crispEdges\">\n";
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0, next = 0; j < columns; j = next) {
            const Cell& cell = grid[static_cast<std::size_t>(i * columns + j)];
            const auto same = [&](Index k) {
                const Cell& other = grid[static_cast<std::size_t>(i * columns + k)];
                return other.style == cell.style && level(other) == level(cell);
            };
            for (next = j + 1; next < columns && same(next);) ++next;
            if (!(level(cell) > 0.0)) continue;
            body_ += "<rect class=\"" + cell.style + "\" x=\"" + number(left + w * static_cast<double>(j)) +
                     "\" y=\"" + number(height - bottom - h * static_cast<double>(i + 1)) + "\" width=\"" +
                     number(w * static_cast<double>(next - j)) + "\" height=\"" + number(h) +
                     "\" fill-opacity=\"" + number_text(level(cell) / levels, "%.3g") + "\"/>\n";
        }
    body_ += "</g>\n";
}

std::vector<Cell> signed_cells(const Eigen::MatrixXd& values, double power) {
    const double largest = values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0.0;
    std::vector<Cell> out;
    for (Index i = 0; i < values.rows(); ++i)
        for (Index j = 0; j < values.cols(); ++j) {
            const double strength = largest > 0.0 ? std::pow(std::abs(values(i, j)) / largest, power) : 0.0;
            out.push_back({values(i, j) > 0.0 ? "above" : "below", strength});
        }
    return out;
}

std::string Plot::axes() const {
    constexpr std::size_t longest_title = 42;
    constexpr double character = 9.0;  // at most
    std::string out;
    for (const Axis::Tick& tick : x_.ticks()) {
        const double at = across(tick.at);
        out += segment(at, height - bottom, at, height - bottom + 4.0, "axis");
        const double inside = width - 0.5 * character * static_cast<double>(tick.text.size());
        out += text_at(std::min(at, inside), height - bottom + 17.0, tick.text, "text-anchor=\"middle\"");
    }
    for (const Axis::Tick& tick : y_.ticks()) {
        const double at = up(tick.at);
        out += segment(left - 4.0, at, left, at, "axis");
        out += text_at(left - 7.0, at + 4.0, tick.text, "text-anchor=\"end\"");
    }
    out += segment(left, height - bottom, width - right, height - bottom, "axis");
    out += segment(left, top, left, height - bottom, "axis");
    out += text_at(0.5 * (left + width - right), height - 7.0, shortened(x_.title, longest_title),
                   "text-anchor=\"middle\"");
    out += text_at(0.0, 0.0, shortened(y_.title, 28),
                   "text-anchor=\"middle\" transform=\"translate(14 " +
                       number(0.5 * (top + height - bottom)) + ") rotate(-90)\"");
    return out + text_at(left, 17.0, title_, "class=\"title\"");
}

std::string Plot::svg() const {
    const std::string inside =
        "inside" + std::to_string(std::hash<std::string>()(title_ + x_.title + y_.title));
    std::string out = "<svg viewBox=\"0 0 480 300\" role=\"img\" aria-label=\"" + html_text(title_) + "\">\n";
    out += "<clipPath id=\"" + inside + "\"><rect x=\"" + number(left) + "\" y=\"" + number(top) +
           "\" width=\"" + number(width - left - right) + "\" height=\"" + number(height - top - bottom) +
           "\"/></clipPath>\n";
    for (const Axis::Tick& tick : y_.ticks())
        out += segment(left, up(tick.at), width - right, up(tick.at), "grid");
    return out + "<g clip-path=\"url(#" + inside + ")\">\n" + body_ + "</g>\n" + axes() + "</svg>\n";
}

}  // namespace command
