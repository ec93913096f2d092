// A page that shows a model beside its data: one file, no scripts, nothing from the network.
#include "page.css.hpp"
#include "page.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

namespace command {

namespace {

/// The inputs, and the target where the table has it.
ReportData read_report_data(const StoredModel& stored, const std::string& path, const CsvOptions& csv) {
    const CsvFile file(path, csv);
    ReportData out;
    out.x = read_inputs(file, stored);
    std::string target = stored.about.target;
    if (!file.has_header() && target.rfind("column ", 0) == 0) target = target.substr(7);
    if (std::find(file.names().begin(), file.names().end(), target) == file.names().end()) {
        std::cerr << "kernelet: " << path << " has no column '" << target
                  << "': the page shows the model without residuals\n";
        return out;
    }
    CsvColumns wanted;
    wanted.target = file.column(target);
    const CsvData data = file.read(wanted);
    if (stored.classifier() != nullptr)
        out.labels.assign(data.target.begin(), data.target.end());
    else
        out.y = target_numbers(file, data, *wanted.target);
    return out;
}

std::string summary(const Regression& model, const ReportData& data, const Description& about) {
    std::string out = "<p>" + html_text(about.target) + " as a function of " +
                      counted(model.dimension(), "input") + ": " +
                      counted(model.size(), html_text(std::string(model.kernel().held_name())) + " kernel") +
                      ", fitted with the " + html_text(model.loss()) + " loss.";
    if (data.y.size() > 0) {
        const Vector residual = data.y - Vector(model.predict(data.x));
        const double spread = std::sqrt((data.y.array() - data.y.mean()).square().mean());
        const double error = std::sqrt(residual.array().square().mean());
        out += " On the " + counted(data.y.size(), "row") + " of this table its root mean squared error is " +
               number_text(error, "%.4g");
        if (spread > 0.0)
            out += ", " + number_text(100.0 * error / spread, "%.3g") +
                   " % of the standard deviation of the target";
        out +=
            ". If the model was fitted to these rows, the error on new rows is larger; <code>kernelet "
            "cross-validate</code> measures it.";
    }
    return out + "</p>\n";
}

std::string classes_page(const Classifier& model, const ReportData& data, const Description& about) {
    std::string out =
        "<p>" + html_text(about.target) + " as one of " +
        counted(static_cast<long>(model.classes().size()), "class", "classes") + " by " +
        counted(model.dimension(), "input") + ": " +
        (model.classifiers() == 1 ? "one classifier with "
                                  : std::to_string(model.classifiers()) + " classifiers, which share ") +
        counted(model.size(), html_text(std::string(model.kernels().kernel().held_name())) + " kernel") +
        ", fitted with the " + html_text(model.loss()) + " loss.</p>\n";
    out += class_pictures(model, data, about) + confusion_table(model, data) + "<h2>Kernels</h2>\n" +
           kernel_note(model.classifier(0));
    constexpr Index most_classifiers = 45;
    for (Index k = 0; k < std::min(model.classifiers(), most_classifiers); ++k) {
        const kernelet::Opponents& pair = model.opponents()[static_cast<std::size_t>(k)];
        const std::string other =
            pair.negative ? model.classes()[static_cast<std::size_t>(*pair.negative)] : "the rest";
        out += "<h3>" + html_text(model.classes()[static_cast<std::size_t>(pair.positive)]) + " against " +
               html_text(other) + "</h3>\n" + kernel_table(model.classifier(k), about.inputs);
    }
    if (model.classifiers() > most_classifiers)
        out += "<p class=\"note\">The first " + std::to_string(most_classifiers) + " of " +
               std::to_string(model.classifiers()) + " classifiers.</p>\n";
    return out;
}

std::string regression_page(const Regression& model, const ReportData& data, const Description& about) {
    return summary(model, data, about) + regression_pictures(model, data, about) + "<h2>Kernels</h2>\n" +
           kernel_note(model) + kernel_table(model, about.inputs);
}

std::string page_of(const StoredModel& stored, const ReportData& data) {
    const Description& about = stored.about;
    const std::string target = html_text(about.target);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>" +
           target + " - kernelet report</title>\n<style>" + page_style +
           "</style>\n</head>\n<body>\n<h1>A model of " + target + "</h1>\n" +
           (stored.classifier() != nullptr ? classes_page(*stored.classifier(), data, about)
                                           : regression_page(*stored.regression(), data, about)) +
           certificate_section(about) + "</body>\n</html>\n";
}

}  // namespace

std::string figure(const Plot& plot, const std::vector<LegendEntry>& legend, const std::string& note) {
    std::string out = "<figure>\n" + plot.svg();
    if (!legend.empty() || !note.empty()) out += "<figcaption>";
    for (const LegendEntry& entry : legend)
        out += "<span class=\"key\"><i class=\"" + entry.shape + "\" style=\"color:var(--" + entry.color +
               ")\"></i>" + html_text(entry.text) + "</span> ";
    if (!note.empty()) out += "<span>" + html_text(note) + "</span>";
    if (!legend.empty() || !note.empty()) out += "</figcaption>\n";
    return out + "</figure>\n";
}

std::vector<Index> drawn_samples(Index n) {
    constexpr Index most_points = 3000;  // a page of more is slow to load
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

Matrix grid_points(const Axis& across, const Axis& up, Index cells) {
    Matrix out(2, cells * cells);
    const double step = 1.0 / static_cast<double>(cells);
    for (Index i = 0; i < cells; ++i)
        for (Index j = 0; j < cells; ++j) {
            out(0, i * cells + j) =
                across.lo + (across.hi - across.lo) * step * (static_cast<double>(j) + 0.5);
            out(1, i * cells + j) = up.lo + (up.hi - up.lo) * step * (static_cast<double>(i) + 0.5);
        }
    return out;
}

std::vector<Index> candidate_inputs(const std::vector<Regression>& models, const Matrix& points) {
    constexpr Index most = 30;
    std::vector<Index> out(static_cast<std::size_t>(points.rows()));
    std::iota(out.begin(), out.end(), Index{0});
    if (points.rows() <= most) return out;
    Vector steepness = Vector::Zero(points.rows());
    for (const Regression& model : models) {
        const Matrix widths = model.widths();
        for (Index c = 0; c < steepness.size() && widths.size() > 0; ++c)
            steepness(c) += (model.coefficients().col(0).cwiseAbs().transpose().array() /
                             widths.row(std::min(c, widths.rows() - 1)).array())
                                .sum();
    }
    const Vector change = steepness.cwiseProduct(points.rowwise().maxCoeff() - points.rowwise().minCoeff());
    std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) { return change(a) > change(b); });
    out.resize(static_cast<std::size_t>(most));
    return out;
}

void add_ellipses(Plot& plot, const Regression& model) {
    const Matrix centers = model.centers(), widths = model.widths();
    if (widths.rows() == 0) return;
    for (Index j = 0; j < model.size(); ++j)
        plot.ellipse(centers(0, j), centers(1, j), widths(0, j), widths(widths.rows() - 1, j), "kernel");
}

int report(const std::string& path, const std::string& table, const CsvOptions& csv, const std::string& out) {
    const StoredModel stored = load_model(path);
    if (stored.regression() != nullptr && stored.regression()->outputs() != 1)
        throw UserError("a report is of one output; this model has " +
                        std::to_string(stored.regression()->outputs()));
    check_writable(out);
    write_text(out, page_of(stored, read_report_data(stored, table, csv)));
    if (out != "-") std::cerr << "kernelet: wrote " << out << "\n";
    return done;
}

}  // namespace command
