#include "page.hpp"
#include "text.hpp"

#include <algorithm>

namespace command {

namespace {

constexpr Index most_colors = 8;  // of the style sheet; further classes share one more
constexpr std::size_t name_in_title = 22;

std::string color_of(Index rank) { return rank < most_colors ? "c" + std::to_string(rank) : "other"; }

/// A classifier and its table, with what every picture needs of them.
class ClassPictures {
public:
    ClassPictures(const Classifier& model, const ReportData& data, const Description& about)
        : model_(model), data_(data), about_(about), some_(drawn_samples(data.x.cols())) {
        const auto& classes = model.classes();
        for (const std::string& label : data.labels) {
            const auto found = std::lower_bound(classes.begin(), classes.end(), label);
            const bool known = found != classes.end() && *found == label;
            truth_.push_back(known ? found - classes.begin() : -1);
        }
    }

    std::string one_input() const {
        constexpr Index steps = 300;
        const double lo = data_.x.minCoeff(), hi = data_.x.maxCoeff();
        const Vector x = Vector::LinSpaced(steps, lo, hi);
        const Matrix p = shares(x.transpose());
        const Index lines = std::min(p.rows(), most_colors);
        constexpr double row_height = 0.05;
        Plot plot(Axis::around(lo, hi, about_.inputs.front()),
                  {truth_.empty() ? -0.04 : -row_height * static_cast<double>(lines + 1), 1.04, share_name()},
                  "Classes by " + shortened(about_.inputs.front(), name_in_title));
        for (Index c = 0; c < lines; ++c) {
            plot.line(x, p.row(c).transpose(), "line " + color_of(c));
            const std::vector<Index> own = samples_of(c);
            const Vector height =
                Vector::Constant(static_cast<Index>(own.size()), -row_height * static_cast<double>(c + 1));
            plot.points(entries(data_.x.row(0).transpose(), own), height, color_of(c), 1.5);
        }
        return figure(plot, legend(), truth_.empty() ? "" : "Below zero: the samples, a row per class.");
    }

    /// Cells in the colors of the predicted classes, stronger where the prediction is surer.
    std::string two_inputs() const {
        constexpr Index cells = 80;
        const Axis across = axis_of(0), up = axis_of(1);
        const Matrix points = grid_points(across, up, cells);
        const std::vector<Index> predicted = model_.decide(points).classes;
        Matrix p;
        if (has_probabilities()) p = model_.probability(points);
        const double even = 1.0 / static_cast<double>(model_.classes().size());
        constexpr double weakest = 0.08, strongest = 0.45, unknown = 0.25;
        std::vector<Cell> grid;
        for (Index i = 0; i < points.cols(); ++i) {
            const Index c = predicted[static_cast<std::size_t>(i)];
            const double sure = p.size() > 0 ? (p(c, i) - even) / (1.0 - even) : 0.0;
            grid.push_back({color_of(c),
                            p.size() > 0 ? weakest + (strongest - weakest) * std::max(0.0, sure) : unknown});
        }
        Plot plot(across, up, "Samples and predicted classes");
        plot.cells(grid, cells);
        add_samples(plot, 0, 1);
        std::vector<LegendEntry> entries = legend();
        if (model_.size() <= 40) {
            for (Index k = 0; k < model_.classifiers(); ++k) add_ellipses(plot, model_.classifier(k));
            entries.push_back({"ink", "kernels, at one width", "ring"});
        }
        return figure(plot, entries,
                      p.size() > 0
                          ? "The background has the color of the predicted class, stronger where its "
                            "probability is larger."
                          : "The background has the color of the predicted class.");
    }

    /// The samples over the two strongest inputs, then what the strongest inputs do one by one.
    std::string several_inputs() const {
        const Dependence all = dependence();
        const Index a = all.order[0], b = all.order[1];
        Plot plot(axis_of(a), axis_of(b), "Samples by the two strongest inputs");
        add_samples(plot, a, b);
        std::vector<LegendEntry> entries = legend();
        if (add_wrong_samples(plot, a, b)) entries.push_back({"ink", "predicted wrongly", "ring"});
        std::string out = figure(plot, entries);
        constexpr std::size_t most_inputs = 3;
        for (std::size_t k = 0; k < std::min(most_inputs, all.order.size()); ++k) {
            const Index input = all.order[k];
            const std::string& name = about_.inputs[static_cast<std::size_t>(input)];
            Plot one(axis_of(input), {-0.04, 1.04, "mean " + share_name()},
                     "Classes by " + shortened(name, name_in_title));
            const Matrix& means = all.means[static_cast<std::size_t>(input)];
            for (Index c = 0; c < std::min(means.cols(), most_colors); ++c)
                one.line(all.places.col(input), means.col(c), "line " + color_of(c));
            out += figure(one, legend(), "The mean over the samples, each with this input replaced.");
        }
        return out;
    }

private:
    bool has_probabilities() const { return model_.loss() == "logistic"; }
    std::string share_name() const { return has_probabilities() ? "probability" : "share predicted"; }

    /// classes x n: probabilities, or 1 for the predicted class where the loss has none.
    Matrix shares(const Matrix& x) const {
        if (has_probabilities()) return model_.probability(x);
        const std::vector<Index> predicted = model_.decide(x).classes;
        Matrix out = Matrix::Zero(static_cast<Index>(model_.classes().size()), x.cols());
        for (Index i = 0; i < x.cols(); ++i) out(predicted[static_cast<std::size_t>(i)], i) = 1.0;
        return out;
    }

    Axis axis_of(Index input) const {
        return Axis::around(data_.x.row(input).minCoeff(), data_.x.row(input).maxCoeff(),
                            about_.inputs[static_cast<std::size_t>(input)]);
    }

    std::vector<Index> samples_of(Index which) const {
        std::vector<Index> out;
        for (const Index i : some_)
            if (!truth_.empty() && truth_[static_cast<std::size_t>(i)] == which) out.push_back(i);
        return out;
    }

    void add_samples(Plot& plot, Index a, Index b) const {
        const Vector x = data_.x.row(a).transpose(), y = data_.x.row(b).transpose();
        if (truth_.empty()) plot.points(entries(x, some_), entries(y, some_), "place", 1.2);
        for (Index c = -1; c < static_cast<Index>(model_.classes().size()); ++c) {
            const std::vector<Index> own = samples_of(c);
            if (!own.empty())
                plot.points(entries(x, own), entries(y, own), color_of(c < 0 ? most_colors : c), 1.6);
        }
    }

    bool add_wrong_samples(Plot& plot, Index a, Index b) const {
        if (truth_.empty()) return false;
        const std::vector<Index> predicted = model_.decide(data_.x).classes;
        std::vector<Index> wrong;
        for (const Index i : some_)
            if (predicted[static_cast<std::size_t>(i)] != truth_[static_cast<std::size_t>(i)])
                wrong.push_back(i);
        plot.points(entries(data_.x.row(a).transpose(), wrong), entries(data_.x.row(b).transpose(), wrong),
                    "wrong", 3.5);
        return !wrong.empty();
    }

    std::vector<LegendEntry> legend() const {
        std::vector<LegendEntry> out;
        const auto& classes = model_.classes();
        for (std::size_t c = 0; c < classes.size() && static_cast<Index>(c) < most_colors; ++c)
            out.push_back({color_of(static_cast<Index>(c)), shortened(classes[c], 24)});
        if (static_cast<Index>(classes.size()) > most_colors)
            out.push_back({"other", counted(static_cast<long>(classes.size()) - most_colors, "more class",
                                            "more classes")});
        return out;
    }

    /// The mean shares of the classes as one input varies: places and means by input, and the strongest inputs first.
    struct Dependence {
        Matrix places{};              ///< steps x inputs
        std::vector<Matrix> means{};  ///< steps x classes, per input
        std::vector<Index> order{};
    };
    Dependence dependence() const {
        constexpr Index steps = 30, most_samples = 200;
        const Index n = std::min(most_samples, data_.x.cols()), d = data_.x.rows();
        Matrix some(d, n);
        for (Index i = 0; i < n; ++i) some.col(i) = data_.x.col(i * data_.x.cols() / n);
        std::vector<Regression> classifiers;
        constexpr Index most_classifiers = 20;
        for (Index k = 0; k < std::min(model_.classifiers(), most_classifiers); ++k)
            classifiers.push_back(model_.classifier(k));
        Dependence out{Matrix(steps, d), std::vector<Matrix>(static_cast<std::size_t>(d)),
                       candidate_inputs(classifiers, some)};
        std::vector<double> strength(static_cast<std::size_t>(d), 0.0);
        for (const Index c : out.order) {
            out.places.col(c) =
                Vector::LinSpaced(steps, data_.x.row(c).minCoeff(), data_.x.row(c).maxCoeff());
            Matrix means(steps, static_cast<Index>(model_.classes().size()));
            for (Index s = 0; s < steps; ++s) {
                Matrix moved = some;
                moved.row(c).setConstant(out.places(s, c));
                means.row(s) = shares(moved).rowwise().mean().transpose();
            }
            strength[static_cast<std::size_t>(c)] =
                (means.colwise().maxCoeff() - means.colwise().minCoeff()).sum();
            out.means[static_cast<std::size_t>(c)] = std::move(means);
        }
        std::stable_sort(out.order.begin(), out.order.end(), [&](Index a, Index b) {
            return strength[static_cast<std::size_t>(a)] > strength[static_cast<std::size_t>(b)];
        });
        return out;
    }

    const Classifier& model_;
    const ReportData& data_;
    const Description& about_;
    std::vector<Index> some_;
    std::vector<Index> truth_{};  ///< the true class per sample, -1 where the model has no such class
};

}  // namespace

std::string class_pictures(const Classifier& model, const ReportData& data, const Description& about) {
    const ClassPictures pictures(model, data, about);
    const std::string inside = model.dimension() == 1   ? pictures.one_input()
                               : model.dimension() == 2 ? pictures.two_inputs()
                                                        : pictures.several_inputs();
    return "<h2>The fit</h2>\n<div class=\"pictures\">\n" + inside + "</div>\n";
}

}  // namespace command
