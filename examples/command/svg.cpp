#include "svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace command {

namespace {

constexpr double width = 640.0, height = 380.0, left = 68.0, right = 14.0, top = 30.0, bottom = 48.0;

std::string number(double value, const char* format = "%.2f") {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

/// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double tick_step(double range, double count) {
    const double rough = range / count, unit = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * unit >= rough) return factor * unit;
    return 10.0 * unit;
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

std::string html_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += static_cast<unsigned char>(c) < ' ' && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

Axis Axis::around(double lo, double hi, std::string title) {
    constexpr double room = 0.04;
    const double range = hi - lo, more = range > 0.0 ? room * range : std::max(1.0, std::abs(lo)) * 0.5;
    return {lo - more, hi + more, std::move(title)};
}

double Axis::fraction(double value) const {
    return logarithmic ? std::log(value / lo) / std::log(hi / lo) : (value - lo) / (hi - lo);
}

std::vector<double> Axis::ticks() const {
    std::vector<double> out;
    if (logarithmic) {
        for (double unit = std::pow(10.0, std::floor(std::log10(lo))); unit <= hi; unit *= 10.0)
            for (const double factor : {1.0, 2.0, 5.0})
                if (factor * unit >= lo && factor * unit <= hi) out.push_back(factor * unit);
        return out;
    }
    constexpr double count = 6.0;
    const double step = tick_step(hi - lo, count);
    for (double k = std::ceil(lo / step); k * step <= hi && out.size() < 20; ++k) out.push_back(k * step);
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

void Plot::cells(const Eigen::MatrixXd& values) {
    const double largest = values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0.0;
    const double w = (width - left - right) / static_cast<double>(values.cols()),
                 h = (height - top - bottom) / static_cast<double>(values.rows());
    constexpr double barely = 0.01, overlap = 0.5;
    for (Index i = 0; i < values.rows(); ++i)
        for (Index j = 0; j < values.cols(); ++j) {
            const double strength = largest > 0.0 ? values(i, j) / largest : 0.0;
            if (!(std::abs(strength) > barely)) continue;
            body_ += "<rect class=\"" + std::string(strength > 0.0 ? "above" : "below") + "\" x=\"" +
                     number(left + w * static_cast<double>(j)) + "\" y=\"" +
                     number(height - bottom - h * static_cast<double>(i + 1)) + "\" width=\"" +
                     number(w + overlap) + "\" height=\"" + number(h + overlap) + "\" fill-opacity=\"" +
                     number(std::sqrt(std::abs(strength))) + "\"/>\n";
        }
}

std::string Plot::svg() const {
    const std::string inside =
        "inside" + std::to_string(std::hash<std::string>()(title_ + x_.title + y_.title));
    std::string out = "<svg viewBox=\"0 0 640 380\" role=\"img\" aria-label=\"" + html_text(title_) + "\">\n";
    out += "<clipPath id=\"" + inside + "\"><rect x=\"" + number(left) + "\" y=\"" + number(top) +
           "\" width=\"" + number(width - left - right) + "\" height=\"" + number(height - top - bottom) +
           "\"/></clipPath>\n";
    out += "<g clip-path=\"url(#" + inside + ")\">\n" + body_ + "</g>\n";
    for (const double tick : x_.ticks()) {
        const double at = across(tick);
        out += segment(at, height - bottom, at, height - bottom + 5.0, "axis");
        out += text_at(at, height - bottom + 18.0, number(tick, "%.4g"), "text-anchor=\"middle\"");
    }
    for (const double tick : y_.ticks()) {
        const double at = up(tick);
        out += segment(left - 5.0, at, left, at, "axis");
        out += segment(left, at, width - right, at, "grid");
        out += text_at(left - 8.0, at + 4.0, number(tick, "%.4g"), "text-anchor=\"end\"");
    }
    out += segment(left, height - bottom, width - right, height - bottom, "axis");
    out += segment(left, top, left, height - bottom, "axis");
    out += text_at(0.5 * (left + width - right), height - 8.0, x_.title, "text-anchor=\"middle\"");
    out += text_at(0.0, 0.0, y_.title,
                   "text-anchor=\"middle\" transform=\"translate(14 " +
                       number(0.5 * (top + height - bottom)) + ") rotate(-90)\"");
    out += text_at(left, 18.0, title_, "class=\"title\"");
    return out + "</svg>\n";
}

}  // namespace command
