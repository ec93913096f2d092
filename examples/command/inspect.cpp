#include "commands.hpp"
#include "text.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>

namespace command {

namespace {

std::string json_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : valid_utf8(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') out += '\\';
        if (byte < ' ') {
            char buffer[8];
            std::snprintf(buffer, sizeof buffer, "\\u%04x", byte);
            out += buffer;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string json_number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return std::isfinite(value) ? buffer : "null";
}

template <class Values, class Text>
std::string json_list(const Values& values, const Text& text) {
    std::string out = "[";
    for (const auto& value : values) out += (out.size() > 1 ? ", " : "") + text(value);
    return out + "]";
}

std::vector<double> column(const Matrix& matrix, Index j) {
    std::vector<double> out;
    for (Index i = 0; i < matrix.rows(); ++i) out.push_back(matrix(i, j));
    return out;
}

std::string json_kernels(const Regression& model) {
    const Matrix centers = model.centers(), widths = model.widths();
    std::string out = "[";
    for (Index j = 0; j < model.size(); ++j) {
        out += std::string(j > 0 ? ", " : "") + "{\"center\": " + json_list(column(centers, j), json_number) +
               ", \"width\": " + json_list(column(widths, j), json_number) +
               ", \"coefficient\": " + json_list(column(model.coefficients().transpose(), j), json_number);
        if (model.statistics().shares.size() > 0)
            out += ", \"share\": " + json_number(model.statistics().shares(j));
        if (model.statistics().covariance.size() > 0)
            out += ", \"standard_error\": " +
                   json_list(column(model.standard_errors().transpose(), j), json_number);
        out += "}";
    }
    return out + "]";
}

std::string json_certificate(const Certificate& one) {
    const auto field = [](const char* name, double value) {
        return std::string(", \"") + name + "\": " + json_number(value);
    };
    std::string out = "{\"of\": " + json_text(one.of) + ", \"status\": " + json_text(one.status) +
                      ", \"kernels\": " + std::to_string(one.kernels) + field("residual", one.residual) +
                      field("tolerance", one.tolerance) +
                      ", \"certified\": " + (one.certified ? "true" : "false");
    if (one.certified)
        out += field("dual_value", one.dual) + field("primal_value", one.primal) +
               field("relative_gap", kernelet::relative_gap(one.primal, one.dual)) +
               field("max_violation", one.violation) + field("support_measure", one.support) +
               field("integration_error", one.integration);
    return out + "}";
}

/// b of the trend b + s'x, in the units of the columns.
double trend_at_zero(const Regression& model) {
    double value = model.offset()(0);
    const Matrix slopes = model.slopes();
    for (Index c = 0; c < slopes.rows(); ++c) value -= slopes(c, 0) * model.scaling().shift(c);
    return value;
}

void print_json(const StoredModel& stored) {
    const Description& about = stored.about;
    std::string out = "{\"target\": " + json_text(about.target) +
                      ", \"inputs\": " + json_list(about.inputs, json_text) +
                      ", \"command\": " + json_text(about.made_by) +
                      ", \"certificate\": " + json_list(about.certificates, json_certificate) +
                      ", \"report\": " + json_list(about.report, json_text);
    if (const Regression* model = stored.regression()) {
        out += ", \"kernel\": " + json_text(std::string(model->kernel().held_name())) +
               ", \"loss\": " + json_text(model->loss()) +
               ", \"trend\": {\"constant\": " + json_number(trend_at_zero(*model)) + ", \"slopes\": " +
               json_list(model->slopes().size() > 0 ? column(model->slopes(), 0) : std::vector<double>{},
                         json_number) +
               "}" + ", \"kernels\": " + json_kernels(*model);
    } else {
        const Classifier& ensemble = *stored.classifier();
        out += ", \"loss\": " + json_text(ensemble.loss()) +
               ", \"classes\": " + json_list(ensemble.classes(), json_text) + ", \"classifiers\": [";
        for (Index k = 0; k < ensemble.classifiers(); ++k)
            out += std::string(k > 0 ? ", " : "") + json_kernels(ensemble.classifier(k));
        out += "]";
    }
    std::cout << out << "}\n";
}

/// What is added to the kernels, and what is left of the model far from all centers.
void print_trend(const Regression& model, const std::vector<std::string>& inputs) {
    const Matrix slopes = model.slopes();
    std::printf("plus the trend %.6g", trend_at_zero(model));
    for (Index c = 0; c < slopes.rows(); ++c)
        std::printf(" %+.6g x (%s)", slopes(c, 0), inputs[static_cast<std::size_t>(c)].c_str());
    std::printf("\n");
}

/// A row per kernel: its center and width in every input, its coefficient, error and share.
void print_kernels(const Regression& model, const std::vector<std::string>& inputs) {
    constexpr Index most_inputs = 8;
    const Index d = std::min(model.dimension(), most_inputs);
    const Matrix centers = model.centers(), widths = model.widths();
    const auto& known = model.statistics();
    std::printf("%6s", "kernel");
    for (Index c = 0; c < d; ++c) std::printf(" %14.14s", inputs[static_cast<std::size_t>(c)].c_str());
    std::printf("%s", model.dimension() > d ? "  ..." : "");
    for (Index r = 0; r < std::min(widths.rows(), d); ++r)
        std::printf(" %12s", widths.rows() > 1 ? ("width " + std::to_string(r + 1)).c_str() : "width");
    std::printf(" %12s %10s %7s\n", "coefficient", "error", "share");
    for (Index j = 0; j < model.size(); ++j) {
        std::printf("%6td", j + 1);
        for (Index c = 0; c < d; ++c)
            std::printf(" %14s",
                        center_text(centers(c, j),
                                    widths.rows() > 0 ? widths(std::min(c, widths.rows() - 1), j) : 1.0)
                            .c_str());
        std::printf("%s", model.dimension() > d ? "  ..." : "");
        for (Index r = 0; r < std::min(widths.rows(), d); ++r) std::printf(" %12.5g", widths(r, j));
        std::printf(" %12.5g", model.coefficients()(j, 0));
        if (known.covariance.size() > 0)
            std::printf(" %10.3g", model.standard_errors()(j, 0));
        else
            std::printf(" %10s", "-");
        if (known.shares.size() > 0)
            std::printf(" %6.1f%%\n", 100.0 * known.shares(j));
        else
            std::printf(" %7s\n", "-");
    }
    print_trend(model, inputs);
}

}  // namespace

int inspect(const std::string& path, bool json) {
    const StoredModel stored = load_model(path);
    if (json) {
        print_json(stored);
        return done;
    }
    const Description& about = stored.about;
    if (const Regression* model = stored.regression()) {
        const std::string kernel = std::string(model->kernel().held_name()) + " kernel";
        std::printf("%s as a function of %s: %s, %s loss\n\n", about.target.c_str(),
                    counted(model->dimension(), "input").c_str(), counted(model->size(), kernel).c_str(),
                    model->loss().c_str());
        print_kernels(*model, about.inputs);
    } else {
        const Classifier& ensemble = *stored.classifier();
        std::printf("%s as one of %zu classes by %s: %s with %s in all, %s loss\n", about.target.c_str(),
                    ensemble.classes().size(), counted(ensemble.dimension(), "input").c_str(),
                    counted(ensemble.classifiers(), "classifier").c_str(),
                    counted(ensemble.size(), "kernel").c_str(), ensemble.loss().c_str());
        for (Index k = 0; k < ensemble.classifiers(); ++k) {
            const kernelet::Opponents& pair = ensemble.opponents()[static_cast<std::size_t>(k)];
            std::printf("\n%s against %s\n",
                        ensemble.classes()[static_cast<std::size_t>(pair.positive)].c_str(),
                        pair.negative ? ensemble.classes()[static_cast<std::size_t>(*pair.negative)].c_str()
                                      : "the rest");
            print_kernels(ensemble.classifier(k), about.inputs);
        }
    }
    std::printf("\n");
    for (const std::string& line : about.report) std::printf("%s\n", line.c_str());
    if (!about.made_by.empty()) std::printf("\nmade by: %s\n", about.made_by.c_str());
    return done;
}

}  // namespace command
