// A page that shows a model beside its data: one file, no scripts, nothing from the network.
#include "commands.hpp"
#include "page.css.hpp"
#include "svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>

namespace command {

namespace {

constexpr Index most_points = 3000;  // drawn; a page of more is slow to load

std::string shown(double value, const char* format = "%.5g") {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

/// The table of a report: inputs, and what the model is to be judged by.
struct Shown {
    Matrix x{};
    Vector y{};                         ///< of a regression; empty where the table has no target
    std::vector<std::string> labels{};  ///< of classes
};

/// Every so many-th of the samples.
std::vector<Index> drawn_samples(Index n) {
    std::vector<Index> out;
    const Index count = std::min(n, most_points);
    for (Index k = 0; k < count; ++k) out.push_back(k * n / count);
    return out;
}

Vector entries(const Vector& values, const std::vector<Index>& which) {
    Vector out(static_cast<Index>(which.size()));
    for (Index k = 0; k < out.size(); ++k) out(k) = values(which[static_cast<std::size_t>(k)]);
    return out;
}

Shown read_shown(const StoredModel& stored, const std::string& path, const CsvOptions& csv) {
    const CsvFile file(path, csv);
    Shown out;
    out.x = read_inputs(file, stored);
    std::string target = stored.about.target;
    if (!file.has_header() && target.rfind("column ", 0) == 0) target = target.substr(7);
    if (std::find(file.names().begin(), file.names().end(), target) == file.names().end()) return out;
    CsvColumns wanted;
    wanted.target = file.column(target);
    const CsvData data = file.read(wanted);
    if (stored.classifier() != nullptr) {
        out.labels.assign(data.target.begin(), data.target.end());
        return out;
    }
    out.y.resize(static_cast<Index>(data.target.size()));
    for (Index i = 0; i < out.y.size(); ++i) {
        const std::optional<double> value = parsed_number(data.target[static_cast<std::size_t>(i)]);
        if (!value)
            throw UserError(path + ": the target " + target + " is no number in row " +
                            std::to_string(i + 1));
        out.y(i) = *value;
    }
    return out;
}

// ---------------------------------------------------------------------------------------------- pictures

/// The model with its kernels' own parts, the samples, and two deviations of the function.
std::string curve(const Regression& model, const Shown& data, const Description& about) {
    constexpr Index count = 600;
    const double lo = data.x.minCoeff(), hi = data.x.maxCoeff();
    const Vector x = Vector::LinSpaced(count, lo, hi);
    const Vector f = model.predict(x.transpose());
    Vector deviation = Vector::Zero(count);
    if (model.statistics().covariance.size() > 0)
        deviation = model.predict(x.transpose(), kernelet::with_deviation).deviation;
    const Matrix centers = model.centers();
    double least = f.minCoeff(), most = f.maxCoeff();
    if (data.y.size() > 0) {
        least = std::min(least, data.y.minCoeff());
        most = std::max(most, data.y.maxCoeff());
    }
    Plot plot(Axis::around(lo, hi, about.inputs.front()), Axis::around(least, most, about.target),
              "samples, model, and two standard deviations of it");
    plot.band(x, f - 2.0 * deviation, f + 2.0 * deviation, "band");
    if (data.y.size() > 0) {
        const std::vector<Index> some = drawn_samples(data.x.cols());
        plot.points(entries(data.x.row(0).transpose(), some), entries(data.y, some), "sample");
    }
    plot.line(x, f, "model");
    std::string out = plot.svg();

    // Each kernel alone, whole: a_j k(x, z_j; w_j), which may reach far beyond the samples' range.
    Matrix parts(count, model.size());
    for (Index j = 0; j < model.size(); ++j) {
        const Regression one(model.kernel(), model.scaling(), model.nodes().col(j),
                             model.coefficients().row(j), Vector(Vector::Zero(1)));
        parts.col(j) = one.predict(x.transpose());
    }
    if (parts.size() == 0) return out;
    Plot kernels(Axis::around(lo, hi, about.inputs.front()),
                 Axis::around(std::min(0.0, parts.minCoeff()), std::max(0.0, parts.maxCoeff()), about.target),
                 "each kernel's own part, whole");
    for (Index j = 0; j < model.size(); ++j) kernels.line(x, parts.col(j), "part");
    return out + kernels.svg();
}

std::string alpha_picture(const AlphaGrid& alpha, const Regression& model, const Description& about) {
    if (alpha.values.size() == 0) return "";
    Plot plot({alpha.z_lo, alpha.z_hi, "center z, " + about.inputs.front()},
              {alpha.w_lo, alpha.w_hi, "width w", true},
              "alpha(z, w) of the dual, and where the kernels ended");
    plot.cells(alpha.values);
    plot.points(model.centers().row(0).transpose(), model.widths().row(0).transpose(), "center", 3.5);
    return plot.svg();
}

/// The model over two inputs as colored cells, its kernels as ellipses of one width.
std::string surface(const Regression& model, const Shown& data, const Description& about) {
    constexpr Index cells = 60;
    const Axis across = Axis::around(data.x.row(0).minCoeff(), data.x.row(0).maxCoeff(), about.inputs[0]);
    const Axis up = Axis::around(data.x.row(1).minCoeff(), data.x.row(1).maxCoeff(), about.inputs[1]);
    Matrix grid(2, cells * cells);
    for (Index i = 0; i < cells; ++i)
        for (Index j = 0; j < cells; ++j) {
            const double step = 1.0 / static_cast<double>(cells);
            grid(0, i * cells + j) =
                across.lo + (across.hi - across.lo) * step * (static_cast<double>(j) + 0.5);
            grid(1, i * cells + j) = up.lo + (up.hi - up.lo) * step * (static_cast<double>(i) + 0.5);
        }
    Vector f = model.predict(grid);
    const double middle = 0.5 * (f.minCoeff() + f.maxCoeff());
    Matrix values(cells, cells);
    for (Index i = 0; i < cells; ++i)
        for (Index j = 0; j < cells; ++j) values(i, j) = f(i * cells + j) - middle;
    Plot plot(across, up,
              "model: red above, blue below " + shown(middle, "%.4g") + "; ellipses: kernels at one width");
    plot.cells(values);
    const std::vector<Index> some = drawn_samples(data.x.cols());
    plot.points(entries(data.x.row(0).transpose(), some), entries(data.x.row(1).transpose(), some), "sample",
                1.2);
    const Matrix centers = model.centers(), widths = model.widths();
    for (Index j = 0; j < model.size() && widths.rows() > 0; ++j)
        plot.ellipse(centers(0, j), centers(1, j), widths(0, j),
                     widths(std::min<Index>(1, widths.rows() - 1), j), "kernel");
    return plot.svg();
}

std::string measured_and_residuals(const Regression& model, const Shown& data, const Description& about) {
    if (data.y.size() == 0) return "";
    const Vector f = model.predict(data.x), residual = data.y - f;
    const double lo = std::min(f.minCoeff(), data.y.minCoeff()),
                 hi = std::max(f.maxCoeff(), data.y.maxCoeff());
    const std::vector<Index> some = drawn_samples(f.size());
    Plot plot(Axis::around(lo, hi, "predicted " + about.target),
              Axis::around(lo, hi, "measured " + about.target), "predicted against measured");
    const Vector ends = Eigen::Vector2d(lo, hi);
    plot.line(ends, ends, "diagonal");
    plot.points(entries(f, some), entries(data.y, some), "sample");
    Plot left(Axis::around(f.minCoeff(), f.maxCoeff(), "predicted " + about.target),
              Axis::around(residual.minCoeff(), residual.maxCoeff(), "measured - predicted"), "residuals");
    left.line(Eigen::Vector2d(f.minCoeff(), f.maxCoeff()), Eigen::Vector2d(0.0, 0.0), "diagonal");
    left.points(entries(f, some), entries(residual, some), "sample");
    return plot.svg() + left.svg();
}

/// The mean of the model over the samples as one input moves and the others stay: the strongest inputs first.
std::string partial_dependence(const Regression& model, const Shown& data, const Description& about) {
    constexpr Index steps = 40, most_samples = 300, most_inputs = 4;
    const std::vector<Index> all = drawn_samples(data.x.cols());
    const Index n = std::min<Index>(most_samples, static_cast<Index>(all.size()));
    Matrix some(data.x.rows(), n);
    for (Index i = 0; i < n; ++i) some.col(i) = data.x.col(i * data.x.cols() / n);
    std::vector<std::pair<double, Index>> order;
    Matrix means(steps, data.x.rows()), places(steps, data.x.rows());
    for (Index c = 0; c < data.x.rows(); ++c) {
        places.col(c) = Vector::LinSpaced(steps, data.x.row(c).minCoeff(), data.x.row(c).maxCoeff());
        for (Index s = 0; s < steps; ++s) {
            Matrix moved = some;
            moved.row(c).setConstant(places(s, c));
            means(s, c) = model.predict(moved).mean();
        }
        order.emplace_back(-(means.col(c).maxCoeff() - means.col(c).minCoeff()), c);
    }
    std::sort(order.begin(), order.end());
    std::string out;
    for (std::size_t k = 0; k < order.size() && static_cast<Index>(k) < most_inputs; ++k) {
        const Index c = order[k].second;
        Plot plot(Axis::around(places.col(c).minCoeff(), places.col(c).maxCoeff(),
                               about.inputs[static_cast<std::size_t>(c)]),
                  Axis::around(means.minCoeff(), means.maxCoeff(), "mean " + about.target),
                  "as " + about.inputs[static_cast<std::size_t>(c)] + " moves and the other inputs stay");
        plot.line(places.col(c), means.col(c), "model");
        out += plot.svg();
    }
    return out;
}

/// Two inputs and two classes: the decision value; the samples in the colors of their classes.
std::string decision(const Classifier& model, const Shown& data, const Description& about) {
    if (model.dimension() != 2 || model.classes().size() != 2) return "";
    Shown samples = data;
    const std::string picture = surface(model.classifier(0), samples, about);
    return picture;
}

// ------------------------------------------------------------------------------------------------ tables

std::string row_of(const std::vector<std::string>& cells, const char* tag) {
    std::string out = "<tr>";
    for (const std::string& cell : cells)
        out += "<" + std::string(tag) + ">" + html_text(cell) + "</" + std::string(tag) + ">";
    return out + "</tr>\n";
}

std::string kernel_table(const Regression& model, const std::vector<std::string>& inputs) {
    constexpr Index most_rows = 200, most_inputs = 12;
    const Matrix centers = model.centers(), widths = model.widths();
    const Index d = std::min(model.dimension(), most_inputs), p = std::min(widths.rows(), most_inputs);
    const auto& known = model.statistics();
    std::vector<std::string> head{"kernel"};
    for (Index c = 0; c < d; ++c) head.push_back(inputs[static_cast<std::size_t>(c)]);
    for (Index r = 0; r < p; ++r) head.push_back(p > 1 ? "width " + std::to_string(r + 1) : "width");
    head.insert(head.end(), {"coefficient", "standard error", "share"});
    std::string out = "<div class=\"table\"><table>\n" + row_of(head, "th");
    for (Index j = 0; j < std::min(model.size(), most_rows); ++j) {
        std::vector<std::string> cells{std::to_string(j + 1)};
        for (Index c = 0; c < d; ++c) cells.push_back(shown(centers(c, j)));
        for (Index r = 0; r < p; ++r) cells.push_back(shown(widths(r, j)));
        cells.push_back(shown(model.coefficients()(j, 0)));
        cells.push_back(known.covariance.size() > 0 ? shown(model.standard_errors()(j, 0), "%.2g") : "-");
        cells.push_back(known.shares.size() > 0 ? shown(100.0 * known.shares(j), "%.1f %%") : "-");
        out += row_of(cells, "td");
    }
    out += "</table></div>\n";
    if (model.size() > most_rows)
        out += "<p class=\"note\">The first " + std::to_string(most_rows) + " of " +
               std::to_string(model.size()) + ".</p>\n";
    return out;
}

std::string confusion_table(const Classifier& model, const Shown& data) {
    if (data.labels.empty()) return "";
    const std::vector<std::string> predicted = model.predict(data.x);
    const std::vector<std::string>& classes = model.classes();
    Matrix counts = Matrix::Zero(static_cast<Index>(classes.size()), static_cast<Index>(classes.size()));
    Index right = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        const auto truth = std::find(classes.begin(), classes.end(), data.labels[i]);
        right += predicted[i] == data.labels[i];
        if (truth == classes.end()) continue;
        const auto guess = std::find(classes.begin(), classes.end(), predicted[i]);
        counts(truth - classes.begin(), guess - classes.begin()) += 1.0;
    }
    std::vector<std::string> head{"true \\ predicted"};
    head.insert(head.end(), classes.begin(), classes.end());
    std::string out =
        "<h2>Classes</h2>\n<p>" +
        shown(100.0 * static_cast<double>(right) / static_cast<double>(predicted.size()), "%.2f") +
        " % of the " + std::to_string(predicted.size()) +
        " rows are predicted right.</p>\n<div class=\"table\"><table>\n" + row_of(head, "th");
    for (std::size_t r = 0; r < classes.size(); ++r) {
        std::vector<std::string> cells{classes[r]};
        for (std::size_t c = 0; c < classes.size(); ++c)
            cells.push_back(shown(counts(static_cast<Index>(r), static_cast<Index>(c)), "%.0f"));
        out += row_of(cells, "td");
    }
    return out + "</table></div>\n";
}

std::string summary(const Regression& model, const Shown& data, const Description& about) {
    std::string out = "<p>" + html_text(about.target) + " of " + std::to_string(model.dimension()) +
                      (model.dimension() == 1 ? " input: " : " inputs: ") + std::to_string(model.size()) +
                      " " + std::string(model.kernel().held_name()) + " kernels, fitted with the " +
                      model.loss() + " loss.";
    if (data.y.size() > 0) {
        const Vector residual = data.y - Vector(model.predict(data.x));
        const double spread = std::sqrt((data.y.array() - data.y.mean()).square().mean());
        const double error = std::sqrt(residual.array().square().mean());
        out += " On the " + std::to_string(data.y.size()) +
               " rows of this table its root mean squared error is " + shown(error) + ", " +
               shown(spread > 0.0 ? 100.0 * error / spread : 0.0, "%.3g") +
               " % of the target's standard deviation. If the model was fitted to these rows, the error on "
               "new rows "
               "is larger; <code>kernelet cross-validate</code> measures it.";
    }
    return out + "</p>\n";
}

std::string certificate(const Description& about) {
    if (about.report.empty()) return "";
    std::string out = "<h2>What the fit says about itself</h2>\n<pre>";
    for (const std::string& line : about.report) out += html_text(line) + "\n";
    out +=
        "</pre>\n<p>D and P bound the cost of the best coefficient function that meets the tolerance: D from "
        "below, "
        "up to the error of the integrals, and P from above, where its function is within the tolerance. "
        "They say "
        "nothing about the number of kernels, which a local search has found, nor about the error on new "
        "data.</p>\n";
    if (!about.made_by.empty())
        out += "<p>The model was made by</p>\n<pre>" + html_text(about.made_by) + "</pre>\n";
    return out;
}

std::string body_of(const StoredModel& stored, const Shown& data) {
    const Description& about = stored.about;
    if (const Classifier* model = stored.classifier()) {
        std::string out = "<p>" + html_text(about.target) + ": " + std::to_string(model->classes().size()) +
                          " classes of " + std::to_string(model->dimension()) + " inputs; " +
                          std::to_string(model->classifiers()) + " classifiers share " +
                          std::to_string(model->size()) + " kernels, fitted with the " + model->loss() +
                          " loss.</p>\n";
        out += confusion_table(*model, data);
        const std::string picture = decision(*model, data, about);
        if (!picture.empty()) out += "<h2>Decision</h2>\n<div class=\"pictures\">\n" + picture + "</div>\n";
        for (Index k = 0; k < model->classifiers(); ++k) {
            const kernelet::Opponents& who = model->opponents()[static_cast<std::size_t>(k)];
            const std::string against =
                who.negative ? model->classes()[static_cast<std::size_t>(*who.negative)] : "the rest";
            out += "<h2>Kernels of " + html_text(model->classes()[static_cast<std::size_t>(who.positive)]) +
                   " against " + html_text(against) + "</h2>\n" +
                   kernel_table(model->classifier(k), about.inputs);
        }
        return out;
    }
    const Regression& model = *stored.regression();
    std::string out = summary(model, data, about) + "<h2>The fit</h2>\n<div class=\"pictures\">\n";
    if (model.dimension() == 1) out += curve(model, data, about) + alpha_picture(about.alpha, model, about);
    if (model.dimension() == 2) out += surface(model, data, about);
    if (model.dimension() > 1) out += measured_and_residuals(model, data, about);
    if (model.dimension() > 2) out += partial_dependence(model, data, about);
    out +=
        "</div>\n<h2>Kernels</h2>\n<p>By falling share of the fit. Centers and widths are in the units of "
        "the "
        "columns.</p>\n";
    return out + kernel_table(model, about.inputs);
}

}  // namespace

int report(const std::string& path, const std::string& table, const CsvOptions& csv, const std::string& out) {
    const StoredModel stored = load_model(path);
    if (stored.regression() != nullptr && stored.regression()->outputs() != 1)
        throw UserError("a report is of one output; this model has " +
                        std::to_string(stored.regression()->outputs()));
    const Shown data = read_shown(stored, table, csv);
    if (data.x.cols() == 0) throw UserError(table + " has no rows");
    const std::string title = "kernelet: " + html_text(stored.about.target);
    write_text(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" +
            title + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n<h1>" +
            html_text(stored.about.target) + "</h1>\n" + body_of(stored, data) + certificate(stored.about) +
            "</body>\n</html>\n");
    if (out != "-") std::cerr << "kernelet: wrote " << out << "\n";
    return done;
}

}  // namespace command
