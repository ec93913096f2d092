#include "commands.hpp"

#include <charconv>

namespace command {

namespace {

void add_number(std::string& out, double value) {
    char buffer[32];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// A field, in quotes where it needs them.
void add_field(std::string& out, const std::string& field) {
    if (field.find_first_of(",\"\n\r") == std::string::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
    out += '"';
}

std::string predicted_numbers(const Regression& model, const Matrix& x, const PredictRequest& request) {
    const bool deviation = request.deviation || request.noise;
    kernelet::Prediction at;
    if (deviation)
        at = model.predict(x, request.noise ? kernelet::with_noise : kernelet::with_deviation);
    else
        at.mean = model.predict(x);
    const Index q = model.outputs();
    std::string out;
    for (Index o = 0; o < q; ++o) {
        const std::string which = q > 1 ? std::to_string(o + 1) : "";
        out += (o > 0 ? ",predicted" : "predicted") + which + (deviation ? ",deviation" + which : "");
    }
    out += '\n';
    for (Index i = 0; i < x.cols(); ++i)
        for (Index o = 0; o < q; ++o) {
            add_number(out, at.mean(i * q + o));
            if (deviation) add_number(out += ',', at.deviation(i * q + o));
            out += o + 1 < q ? ',' : '\n';
        }
    return out;
}

std::string predicted_labels(const Classifier& model, const Matrix& x, bool probabilities) {
    if (probabilities && model.loss() != "logistic")
        throw UserError("the model was fitted with the " + model.loss() +
                        " loss and has no probabilities; fit with --loss logistic");
    const std::vector<std::string> labels = model.predict(x);
    Matrix p;
    std::string out = "predicted";
    if (probabilities) {
        p = model.probability(x);
        for (const std::string& name : model.classes()) add_field(out += ',', "P(" + name + ")");
    }
    out += '\n';
    for (Index i = 0; i < x.cols(); ++i) {
        add_field(out, labels[static_cast<std::size_t>(i)]);
        for (Index c = 0; c < p.rows(); ++c) add_number(out += ',', p(c, i));
        out += '\n';
    }
    return out;
}

}  // namespace

int predict(const PredictRequest& request) {
    const StoredModel stored = load_model(request.model);
    const Matrix x = read_inputs(CsvFile(request.data, request.csv), stored);
    if (stored.regression() != nullptr && request.probabilities)
        throw UserError("--probabilities is for classes; this model predicts numbers");
    if (stored.classifier() != nullptr && (request.deviation || request.noise))
        throw UserError("--deviation is for numbers; this model predicts classes, see --probabilities");
    write_text(request.out, stored.regression() != nullptr
                                ? predicted_numbers(*stored.regression(), x, request)
                                : predicted_labels(*stored.classifier(), x, request.probabilities));
    return done;
}

}  // namespace command
