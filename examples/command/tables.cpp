#include "page.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace command {

namespace {

/// Cells hold HTML.
std::string row_of(const std::vector<std::string>& cells, const char* tag) {
    std::string out = "<tr>";
    for (const std::string& cell : cells)
        out += "<" + std::string(tag) + ">" + cell + "</" + std::string(tag) + ">";
    return out + "</tr>\n";
}

std::string table_of(const std::string& rows) {
    return "<div class=\"table\" tabindex=\"0\"><table>\n" + rows + "</table></div>\n";
}

std::string error_of(const Regression& model, Index j) {
    if (model.statistics().covariance.size() == 0) return "";
    return number_text(model.standard_errors()(j, 0), "%.2g");
}

bool has_width_per_input(const Regression& model) {
    const Index widths = model.widths().rows();
    return widths == model.dimension() && widths > 1;
}

std::string percent(double value) { return number_text(100.0 * value, "%.3g") + " %"; }

std::string in_words(const Certificate& about) {
    std::string out = about.of.empty() ? "" : "<strong>" + html_text(about.of) + ".</strong> ";
    out += "Status: " + html_text(about.status) + ". ";
    if (!about.certified)
        return out +
               "The dual was stopped before it was solved, so that there is no certificate: the cost of this "
               "model's coefficient function is not bounded.";
    const double gap = kernelet::relative_gap(about.primal, about.dual);
    out += "No coefficient function that meets the tolerance " + number_text(about.tolerance, "%.3g") +
           " costs less than D = " + number_text(about.dual) +
           ", up to the error of the integrals (another quadrature moves D by " + percent(about.integration) +
           "). The solver's own costs P = " + number_text(about.primal) + ": " + percent(std::abs(gap)) +
           (gap < 0.0 ? " less than D, which is possible within that error. " : " more. ");
    out += about.violation > 0.0
               ? "It is outside the tolerance by " + number_text(about.violation, "%.2g") + ". "
               : "It meets the tolerance. ";
    return out + "It is non-zero on " + percent(about.support) +
           " of the domain of centers and widths; the search that began at its peaks ended with " +
           counted(about.kernels, "kernel") + ".";
}

std::string in_words_of_all(const std::vector<Certificate>& all) {
    std::size_t certified = 0;
    double widest = 0.0, integration = 0.0;
    for (const Certificate& one : all) {
        if (!one.certified) continue;
        ++certified;
        widest = std::max(widest, std::abs(kernelet::relative_gap(one.primal, one.dual)));
        integration = std::max(integration, one.integration);
    }
    return "<p>One certificate per classifier; " + std::to_string(certified) + " of " +
           std::to_string(all.size()) + " fits have one" +
           (certified < all.size() ? ", the others were stopped before" : "") +
           ". No coefficient function that meets the tolerance costs less than D, up to the error of the "
           "integrals (another quadrature moves D by at most " +
           percent(integration) + "). The solver's own costs P, which differs from D by at most " +
           percent(widest) + "; P may be less than D within that error.</p>\n";
}

std::string certificate_table(const std::vector<Certificate>& all) {
    std::string rows = row_of({"", "kernels", "mean loss", "D", "P", "gap", "integrals", "status"}, "th");
    constexpr std::size_t most_rows = 60;
    for (std::size_t k = 0; k < std::min(most_rows, all.size()); ++k) {
        const Certificate& one = all[k];
        std::vector<std::string> cells{html_text(one.of), std::to_string(one.kernels),
                                       number_text(one.residual, "%.3g")};
        if (one.certified)
            cells.insert(cells.end(),
                         {number_text(one.dual), number_text(one.primal),
                          percent(kernelet::relative_gap(one.primal, one.dual)), percent(one.integration)});
        else
            cells.insert(cells.end(), {"-", "-", "-", "-"});
        cells.push_back(html_text(one.status));
        rows += row_of(cells, "td");
    }
    return table_of(rows) + (all.size() > most_rows
                                 ? "<p class=\"note\">The first " + std::to_string(most_rows) + " of " +
                                       std::to_string(all.size()) + ".</p>\n"
                                 : "");
}

/// Lines of a report are a word, blanks up to column 18, and what they say; without the word they are prose.
std::string report_rows(const std::vector<std::string>& lines) {
    constexpr std::size_t column = 18;
    std::string out;
    for (const std::string& line : lines) {
        const std::size_t indent = line.find_first_not_of(' ');
        if (indent == std::string::npos) continue;
        const std::string text = line.substr(indent <= 2 ? indent : 0);
        const bool entry =
            text.size() > column && text.compare(column - 2, 2, "  ") == 0 && text[column] != ' ';
        const std::size_t end = entry ? text.find("  ") : 0;
        if (entry)
            out += "<dt>" + html_text(text.substr(0, end)) + "</dt><dd>" + html_text(text.substr(column)) +
                   "</dd>\n";
        else if (lines.size() > 1 && indent == 0 && text.find(" against ") != std::string::npos)
            out += "<dt class=\"of\">" + html_text(text) + "</dt>\n";
    }
    return out;
}

}  // namespace

std::string kernel_note(const Regression& model) {
    const bool per_input = has_width_per_input(model);
    return std::string("<p>") +
           (model.statistics().shares.size() > 0 ? "In the order of their share of the fit. " : "") +
           "Centers and widths are in the units of the columns" +
           (per_input ? "; under each input stands the center, and below it the width" : "") + ".</p>\n";
}

std::string kernel_table(const Regression& model, const std::vector<std::string>& inputs) {
    constexpr Index most_rows = 200, most_inputs = 12;
    const Matrix centers = model.centers(), widths = model.widths();
    const auto& known = model.statistics();
    const Index d = std::min(model.dimension(), most_inputs);
    const bool per_input = has_width_per_input(model), errors = known.covariance.size() > 0,
               shares = known.shares.size() > 0;
    std::vector<std::string> head{"kernel"};
    for (Index c = 0; c < d; ++c)
        head.push_back(html_text(shortened(inputs[static_cast<std::size_t>(c)], 24)));
    if (model.dimension() > d) head.push_back("…");
    if (!per_input && widths.rows() > 0) head.push_back("width");
    head.push_back("coefficient");
    if (errors) head.push_back("standard error");
    if (shares) head.push_back("share");
    std::string rows = row_of(head, "th");
    for (Index j = 0; j < std::min(model.size(), most_rows); ++j) {
        std::vector<std::string> cells{std::to_string(j + 1)};
        for (Index c = 0; c < d; ++c)
            cells.push_back(
                center_text(centers(c, j),
                            widths.rows() > 0 ? widths(std::min(c, widths.rows() - 1), j) : 1.0) +
                (per_input ? "<br><span class=\"width\">" + number_text(widths(c, j), "%.4g") + "</span>"
                           : ""));
        if (model.dimension() > d) cells.push_back("…");
        if (!per_input && widths.rows() > 0) cells.push_back(number_text(widths(0, j)));
        cells.push_back(number_text(model.coefficients()(j, 0)));
        if (errors) cells.push_back(error_of(model, j));
        if (shares) cells.push_back(number_text(100.0 * known.shares(j), "%.1f %%"));
        rows += row_of(cells, "td");
    }
    if (model.size() == 0) return "<p class=\"note\">None: the model has no kernels.</p>\n";
    std::string out = table_of(rows);
    if (model.size() > most_rows)
        out += "<p class=\"note\">The first " + std::to_string(most_rows) + " of " +
               std::to_string(model.size()) + ".</p>\n";
    return out;
}

std::string confusion_table(const Classifier& model, const ReportData& data) {
    if (data.labels.empty()) return "";
    constexpr Index most_classes = 30;
    const std::vector<Index> predicted = model.decide(data.x).classes;
    const std::vector<std::string>& classes = model.classes();
    const auto count = static_cast<Index>(classes.size());
    Matrix counts = Matrix::Zero(count, count);
    Index right = 0, unknown = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        const auto found = std::lower_bound(classes.begin(), classes.end(), data.labels[i]);
        const bool known = found != classes.end() && *found == data.labels[i];
        unknown += !known;
        if (!known) continue;
        const Index truth = found - classes.begin();
        right += predicted[i] == truth;
        counts(truth, predicted[i]) += 1.0;
    }
    std::string out =
        "<h2>Classes</h2>\n<p>" +
        number_text(100.0 * static_cast<double>(right) / static_cast<double>(predicted.size()), "%.2f") +
        " % of the " + std::to_string(predicted.size()) +
        " rows are predicted correctly. If the model was fitted to these rows, that is less on new rows; "
        "<code>kernelet cross-validate</code> measures it.";
    if (unknown > 0) out += " " + counted(unknown, "row") + " of a class that the model does not have.";
    out += "</p>\n";
    if (count > most_classes)
        return out + "<p class=\"note\">More than " + std::to_string(most_classes) +
               " classes: no table of confusions.</p>\n";
    std::vector<std::string> head{"true \\ predicted"};
    for (const std::string& name : classes) head.push_back(html_text(shortened(name, 20)));
    std::string rows = row_of(head, "th");
    for (Index r = 0; r < count; ++r) {
        std::vector<std::string> cells{head[static_cast<std::size_t>(r) + 1]};
        for (Index c = 0; c < count; ++c) cells.push_back(number_text(counts(r, c), "%.0f"));
        rows += row_of(cells, "td");
    }
    return out + table_of(rows);
}

std::string certificate_section(const Description& about) {
    if (about.report.empty()) return "";
    std::string out = "<h2>Certificate</h2>\n";
    const std::vector<Certificate>& all = about.certificates;
    if (all.size() == 1) out += "<p>" + in_words(all.front()) + "</p>\n";
    if (all.size() > 1) out += in_words_of_all(all) + certificate_table(all);
    out +=
        "<p>The cost of a coefficient function is half its squared norm plus γ times the measure of its "
        "support. D and P say nothing about the number of kernels, which a local search has found, nor about "
        "the error on new data.</p>\n<details" +
        std::string(all.size() > 1 ? "" : " open") +
        "><summary>Everything the fit reported</summary>\n<dl>\n" + report_rows(about.report) +
        "</dl>\n</details>\n";
    if (!about.made_by.empty())
        out += "<h2>Command</h2>\n<p>This command made the model:</p>\n<pre>" + html_text(about.made_by) +
               "</pre>\n";
    return out;
}

}  // namespace command
