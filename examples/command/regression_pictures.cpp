#include "page.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace command {

namespace {

constexpr std::size_t name_in_title = 22;  // characters

/// The model, the samples, and two standard deviations of the model.
std::string curve(const Regression& model, const ReportData& data, const Description& about) {
    constexpr Index count = 600;
    const double lo = data.x.minCoeff(), hi = data.x.maxCoeff();
    const Vector x = Vector::LinSpaced(count, lo, hi), f = model.predict(x.transpose());
    double least = f.minCoeff(), most = f.maxCoeff();
    if (data.y.size() > 0) {
        least = std::min(least, data.y.minCoeff());
        most = std::max(most, data.y.maxCoeff());
    }
    Plot plot(Axis::around(lo, hi, about.inputs.front()), Axis::around(least, most, about.target),
              data.y.size() > 0 ? "Samples and model" : "Model");
    std::vector<LegendEntry> legend{{"model", "model", "line"}};
    if (model.statistics().covariance.size() > 0) {
        const Vector twice = 2.0 * model.predict(x.transpose(), kernelet::with_deviation).deviation;
        plot.band(x, f - twice, f + twice, "band");
        legend.push_back({"band", "two standard deviations of the model", "swatch"});
    }
    if (data.y.size() > 0) {
        const std::vector<Index> some = drawn_samples(data.x.cols());
        plot.points(entries(data.x.row(0).transpose(), some), entries(data.y, some), "sample");
        legend.push_back({"sample", "samples"});
    }
    plot.line(x, f, "model");
    return figure(plot, legend);
}

/// Each kernel alone: a_j k(x, z_j; w_j), which may reach far beyond the range of the samples.
std::string contributions(const Regression& model, const ReportData& data, const Description& about) {
    if (model.size() == 0) return "";
    constexpr Index count = 600;
    const double lo = data.x.minCoeff(), hi = data.x.maxCoeff();
    const Vector x = Vector::LinSpaced(count, lo, hi);
    Matrix parts(count, model.size());
    for (Index j = 0; j < model.size(); ++j) {
        const Regression one(model.kernel(), model.scaling(), model.nodes().col(j),
                             model.coefficients().row(j), Vector(Vector::Zero(1)));
        parts.col(j) = one.predict(x.transpose());
    }
    Plot plot(Axis::around(lo, hi, about.inputs.front()),
              Axis::around(std::min(0.0, parts.minCoeff()), std::max(0.0, parts.maxCoeff()), about.target),
              "What each kernel contributes");
    for (Index j = 0; j < model.size(); ++j) plot.line(x, parts.col(j), "part");
    const double offset = model.offset().size() > 0 ? model.offset()(0) : 0.0;
    return figure(plot, {{"one", "coefficient times kernel", "line"}},
                  "The model is their sum, plus the constant " + number_text(offset, "%.4g") +
                      " and the linear trend, if it has one.");
}

std::string alpha_picture(const AlphaGrid& alpha, const Regression& model, const Description& about) {
    if (alpha.values.size() == 0) return "";
    Plot plot({alpha.z_lo, alpha.z_hi, "center z, " + about.inputs.front()},
              {alpha.w_lo, alpha.w_hi, "width w", true}, "α(z, w), the coefficient function");
    plot.cells(signed_cells(alpha.values, 0.5), alpha.values.cols());
    plot.points(model.centers().row(0).transpose(), model.widths().row(0).transpose(), "center", 3.0);
    return figure(
        plot,
        {{"positive", "α > 0", "swatch"}, {"negative", "α < 0", "swatch"}, {"ink", "kernels of the model"}},
        "The dual solution, which is zero below its threshold. The search for the kernels begins at "
        "its peaks.");
}

/// The model over two inputs as colored cells, and its kernels as ellipses of one width.
std::string surface(const Regression& model, const ReportData& data, const Description& about) {
    constexpr Index cells = 64;
    const Axis across = Axis::around(data.x.row(0).minCoeff(), data.x.row(0).maxCoeff(), about.inputs[0]);
    const Axis up = Axis::around(data.x.row(1).minCoeff(), data.x.row(1).maxCoeff(), about.inputs[1]);
    const Vector f = model.predict(grid_points(across, up, cells));
    const double middle = model.predict(data.x).mean();
    const Matrix values = (f.array() - middle).matrix().reshaped(cells, cells).transpose();
    Plot plot(across, up, "Model and kernels");
    plot.cells(signed_cells(values, 0.75), cells);
    const std::vector<Index> some = drawn_samples(data.x.cols());
    plot.points(entries(data.x.row(0).transpose(), some), entries(data.x.row(1).transpose(), some), "place",
                1.0);
    add_ellipses(plot, model);
    return figure(plot, {{"negative", "lowest " + number_text(f.minCoeff(), "%.4g"), "swatch"},
                         {"paper", "mean " + number_text(middle, "%.4g"), "swatch"},
                         {"positive", "highest " + number_text(f.maxCoeff(), "%.4g"), "swatch"},
                         {"place", "samples"},
                         {"ink", "kernels, at one width", "ring"}});
}

/// Of one input over that, else over the prediction.
std::string residual_picture(const Regression& model, const ReportData& data, const Description& about) {
    if (data.y.size() == 0) return "";
    const Vector f = model.predict(data.x), residual = data.y - f;
    const bool one = model.dimension() == 1;
    const Vector x = one ? Vector(data.x.row(0).transpose()) : f;
    const std::vector<Index> some = drawn_samples(f.size());
    Plot plot(Axis::around(x.minCoeff(), x.maxCoeff(), one ? about.inputs[0] : "predicted " + about.target),
              Axis::around(residual.minCoeff(), residual.maxCoeff(), "measured - predicted"), "Residuals");
    plot.points(entries(x, some), entries(residual, some), "sample");
    plot.line(Eigen::Vector2d(x.minCoeff(), x.maxCoeff()), Eigen::Vector2d(0.0, 0.0), "diagonal");
    return figure(plot, {{"sample", "samples"}});
}

std::string measured_picture(const Regression& model, const ReportData& data, const Description& about) {
    if (data.y.size() == 0) return "";
    const Vector f = model.predict(data.x);
    const double lo = std::min(f.minCoeff(), data.y.minCoeff()),
                 hi = std::max(f.maxCoeff(), data.y.maxCoeff());
    const std::vector<Index> some = drawn_samples(f.size());
    Plot both(Axis::around(lo, hi, "predicted " + about.target),
              Axis::around(lo, hi, "measured " + about.target), "Measured against predicted");
    const Eigen::Vector2d ends(lo, hi);
    both.points(entries(f, some), entries(data.y, some), "sample");
    both.line(ends, ends, "diagonal");
    return figure(both, {{"sample", "samples"}, {"ink", "measured = predicted", "line"}});
}

/// The mean of the model over the samples as one input varies and the others stay: the strongest inputs first.
std::string partial_dependence(const Regression& model, const ReportData& data, const Description& about) {
    constexpr Index steps = 40, most_samples = 300, most_inputs = 4;
    const Index n = std::min(most_samples, data.x.cols()), d = data.x.rows();
    Matrix some(d, n);
    for (Index i = 0; i < n; ++i) some.col(i) = data.x.col(i * data.x.cols() / n);
    std::vector<std::pair<double, Index>> order;
    Matrix means(steps, d), places(steps, d);
    for (const Index c : candidate_inputs({model}, some)) {
        places.col(c) = Vector::LinSpaced(steps, data.x.row(c).minCoeff(), data.x.row(c).maxCoeff());
        for (Index s = 0; s < steps; ++s) {
            Matrix moved = some;
            moved.row(c).setConstant(places(s, c));
            means(s, c) = model.predict(moved).mean();
        }
        order.emplace_back(means.col(c).minCoeff() - means.col(c).maxCoeff(), c);
    }
    std::sort(order.begin(), order.end());
    double least = means.col(order[0].second).minCoeff(), most = least;
    for (const auto& [range, c] : order) {
        least = std::min(least, means.col(c).minCoeff());
        most = std::max(most, means.col(c).maxCoeff());
    }
    const Axis scale = Axis::around(least, most, "mean " + about.target);
    std::string out;
    for (std::size_t k = 0; k < order.size() && static_cast<Index>(k) < most_inputs; ++k) {
        const Index c = order[k].second;
        const std::string& name = about.inputs[static_cast<std::size_t>(c)];
        Plot plot(Axis::around(places.col(c).minCoeff(), places.col(c).maxCoeff(), name), scale,
                  "Mean prediction by " + shortened(name, name_in_title));
        plot.line(places.col(c), means.col(c), "model");
        out += figure(plot, {});
    }
    return out;
}

}  // namespace

std::string regression_pictures(const Regression& model, const ReportData& data, const Description& about) {
    std::string out = "<h2>The fit</h2>\n<div class=\"pictures\">\n";
    if (model.dimension() == 1)
        out += curve(model, data, about) + contributions(model, data, about) +
               alpha_picture(about.alpha, model, about);
    if (model.dimension() == 2) out += surface(model, data, about);
    if (model.dimension() > 1) out += measured_picture(model, data, about);
    out += residual_picture(model, data, about) + "</div>\n";
    if (model.dimension() <= 2) return out;
    return out +
           "<h2>The strongest inputs</h2>\n<p>The mean of the model over the samples, each with one input "
           "replaced. The scale of the mean is the same in all pictures.</p>\n<div class=\"pictures\">\n" +
           partial_dependence(model, data, about) + "</div>\n";
}

}  // namespace command
