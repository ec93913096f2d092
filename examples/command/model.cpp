#include "model.hpp"

#include "csv.hpp"
#include "text.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <type_traits>

namespace command {

namespace {

using namespace kernelet;

/// Calls with the kernel family of a name.
template <class Visitor>
decltype(auto) with_kernel(std::string_view name, const Visitor& visit) {
    if (name == Gaussian::name) return visit(Gaussian{});
    if (name == AnisotropicGaussian::name) return visit(AnisotropicGaussian{});
    if (name == Laplacian::name) return visit(Laplacian{});
    if (name == Matern32::name) return visit(Matern32{});
    if (name == Matern52::name) return visit(Matern52{});
    if (name == Sinc::name) return visit(Sinc{});
    if (name == Polynomial::name) return visit(Polynomial{});
    std::string all;
    for (const std::string& known : kernel_names()) all += " " + known;
    throw UserError("no kernel is called '" + std::string(name) + "'; there are" + all);
}

/// The same model with its kernel as another type.
template <class To, class From>
SparseKernelModel<To> converted(const To& kernel, const SparseKernelModel<From>& model) {
    return SparseKernelModel<To>(kernel, model.scaling(), model.nodes(), model.coefficients(), model.trend(),
                                 model.statistics())
        .with_loss(model.loss());
}
template <class To, class From>
EnsembleModel<To, std::string> converted(const To& kernel, const EnsembleModel<From, std::string>& model) {
    return EnsembleModel<To, std::string>(
               model.scheme(), model.classes(),
               MergedKernels<To>(kernel, model.kernels().groups(), model.kernels().sums()))
        .with_loss(model.loss());
}

std::string_view family_of(const StoredModel& stored) {
    return stored.regression() != nullptr ? stored.regression()->kernel().held_name()
                                          : stored.classifier()->kernels().kernel().held_name();
}

/// On one line.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n')
            out += "\\n";
        else if (c == '\\')
            out += "\\\\";
        else if (c != '\r')
            out += c;
    }
    return out;
}
std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 1 < text.size();
        if (escape) ++i;
        out += escape && text[i] == 'n' ? '\n' : text[i];
    }
    return out;
}

std::string text_of(const Certificate& one) {
    std::string out = "certificate " + std::to_string(one.kernels) + (one.certified ? " 1" : " 0");
    for (const double value :
         {one.residual, one.tolerance, one.dual, one.primal, one.violation, one.support, one.integration})
        out += " " + number_text(value, "%.17g");
    return out + "\nof " + escaped(one.of) + "\nstatus " + escaped(one.status) + "\n";
}

std::string text_of(const Description& about) {
    std::string out = "kernelet description 1\ncommand " + escaped(about.made_by) + "\ntarget " +
                      escaped(about.target) + "\n";
    for (const std::string& name : about.inputs) out += "input " + escaped(name) + "\n";
    for (const std::string& line : about.report) out += "report " + escaped(line) + "\n";
    for (const Certificate& one : about.certificates) out += text_of(one);
    const AlphaGrid& alpha = about.alpha;
    if (alpha.values.size() > 0) {
        out += "alpha " + number_text(alpha.z_lo, "%.17g") + " " + number_text(alpha.z_hi, "%.17g") + " " +
               number_text(alpha.w_lo, "%.17g") + " " + number_text(alpha.w_hi, "%.17g") + "\n";
        for (Index i = 0; i < alpha.values.rows(); ++i) {
            out += "row";
            for (Index j = 0; j < alpha.values.cols(); ++j)
                out += " " + number_text(alpha.values(i, j), "%.4g");
            out += "\n";
        }
    }
    return out + "end\n";
}

std::vector<double> numbers_of(const std::string& rest) {
    std::istringstream stream(rest);
    std::vector<double> out;
    for (std::string word; stream >> word;) {
        const std::optional<double> value = parsed_number(word);
        if (!value)
            throw UserError("the description of the model has '" + word.substr(0, 40) + "' for a number");
        out.push_back(*value);
    }
    return out;
}

Certificate certificate_of(const std::string& rest) {
    const std::vector<double> values = numbers_of(rest);
    if (values.size() != 9)
        throw UserError("the description of the model needs nine numbers per certificate");
    return {{},
            {},
            static_cast<Index>(values[0]),
            values[1] != 0.0,
            values[2],
            values[3],
            values[4],
            values[5],
            values[6],
            values[7],
            values[8]};
}

/// One line of a description; rows of alpha are gathered.
void read_line(const std::string& line, Description& about, std::vector<std::vector<double>>& rows) {
    const std::size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank),
                      rest = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (word == "command") about.made_by = unescaped(rest);
    if (word == "target") about.target = unescaped(rest);
    if (word == "input") about.inputs.push_back(unescaped(rest));
    if (word == "report") about.report.push_back(unescaped(rest));
    if (word == "row") rows.push_back(numbers_of(rest));
    if (word == "certificate") about.certificates.push_back(certificate_of(rest));
    if (word == "of" && !about.certificates.empty()) about.certificates.back().of = unescaped(rest);
    if (word == "status" && !about.certificates.empty()) about.certificates.back().status = unescaped(rest);
    if (word != "alpha") return;
    const std::vector<double> ends = numbers_of(rest);
    if (ends.size() != 4) throw UserError("the description of the model needs four ends of alpha");
    about.alpha = {ends[0], ends[1], ends[2], ends[3], {}};
}

Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
    Matrix out(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows.front().size()));
    for (Index i = 0; i < out.rows(); ++i) {
        const std::vector<double>& row = rows[static_cast<std::size_t>(i)];
        if (row.size() != rows.front().size()) throw UserError("the rows of alpha differ in length");
        for (Index j = 0; j < out.cols(); ++j) out(i, j) = row[static_cast<std::size_t>(j)];
    }
    return out;
}

/// Everything after the model. A file without it is a model that another program saved.
Description description_of(std::istream& stream, Index dimension) {
    Description about;
    std::vector<std::vector<double>> rows;
    std::string line;
    std::getline(stream, line);
    const bool there = line == "kernelet description 1";
    bool ended = false;
    while (there && !ended && std::getline(stream, line)) {
        read_line(line, about, rows);
        ended = line == "end";
    }
    if (there && !ended) throw UserError("the description after the model is cut off");
    if (about.inputs.empty())
        for (Index c = 0; c < dimension; ++c) about.inputs.push_back("x" + std::to_string(c + 1));
    if (about.target.empty()) about.target = "y";
    if (static_cast<Index>(about.inputs.size()) != dimension)
        throw UserError("the description of the model names " + std::to_string(about.inputs.size()) +
                        " inputs; it has " + std::to_string(dimension));
    about.alpha.values = matrix_of(rows);
    return about;
}

/// The kernel family that a saved model or ensemble names, and which of the two it is.
struct Heading {
    std::string family{};
    bool ensemble = false;
};
Heading heading_of(const std::string& path, const std::string& text) {
    Heading heading;
    std::istringstream stream(text);
    std::string line;
    constexpr int first_lines = 6;
    for (int k = 0; k < first_lines && std::getline(stream, line); ++k) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.find("kernelet ensemble") == 0) heading.ensemble = true;
        if (line.rfind("family ", 0) == 0) heading.family = line.substr(7);
    }
    if (heading.family.empty()) throw UserError(path + " is no model of kernelet; `kernelet fit` writes one");
    return heading;
}

std::string read_text(const std::string& path) {
    std::ostringstream text;
    if (path == "-") {
        text << std::cin.rdbuf();
        return text.str();
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw UserError(path + " is a folder, not a model");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw UserError("cannot open " + path + ": " + std::strerror(errno));
    text << file.rdbuf();
    return text.str();
}

/// Where a file is written: beside its own place, to be renamed; a device or a pipe in its place. Links are followed.
struct Destination {
    std::string named{}, written{};

    explicit Destination(const std::string& path) : named(path) {
        namespace fs = std::filesystem;
        std::error_code ignored;
        if (fs::is_directory(path, ignored)) throw UserError("cannot write " + path + ": it is a folder");
        if (fs::is_symlink(path, ignored) && fs::exists(path, ignored))
            named = fs::canonical(path, ignored).string();
        const bool special = fs::exists(named, ignored) && !fs::is_regular_file(named, ignored);
        written = special ? named : named + "." + std::to_string(getpid()) + ".part";
    }
};

}  // namespace

Index StoredModel::dimension() const {
    return std::visit([](const auto& held) { return held.dimension(); }, model);
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const std::string_view name : {AnisotropicGaussian::name, Gaussian::name, Laplacian::name,
                                        Matern32::name, Matern52::name, Sinc::name, Polynomial::name})
        names.emplace_back(name);
    return names;
}

AnyKernel kernel_of(std::string_view name) {
    return with_kernel(name, [](const auto& kernel) { return AnyKernel(kernel); });
}

void write_text(const std::string& path, const std::string& text) {
    if (path == "-") {
        std::cout << text << std::flush;
        if (!std::cout) throw UserError("cannot write to the standard output");
        return;
    }
    const Destination to(path);
    {
        errno = 0;
        std::ofstream file(to.written, std::ios::binary);
        if (file) file << text << std::flush;
        if (!file) {
            const std::string why = std::strerror(errno);
            if (to.written != to.named) std::remove(to.written.c_str());
            throw UserError("cannot write " + path + ": " + why);
        }
    }
    if (to.written != to.named && std::rename(to.written.c_str(), to.named.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        std::remove(to.written.c_str());
        throw UserError("cannot write " + path + ": " + why);
    }
}

void check_writable(const std::string& path) {
    if (path == "-") return;
    const Destination to(path);
    if (to.written == to.named) return;
    errno = 0;
    if (!std::ofstream(to.written, std::ios::binary))
        throw UserError("cannot write " + path + ": " + std::strerror(errno));
    std::remove(to.written.c_str());
}

void save_model(const std::string& path, const StoredModel& stored) {
    std::ostringstream stream;
    with_kernel(family_of(stored), [&](const auto& kernel) {
        std::visit([&](const auto& model) { save(stream, converted(kernel, model)); }, stored.model);
    });
    write_text(path, stream.str() + text_of(stored.about));
}

StoredModel load_model(const std::string& path) {
    const std::string text = read_text(path);
    const Heading heading = heading_of(path, text);
    std::istringstream stream(text);
    StoredModel stored = with_kernel(heading.family, [&](const auto& kernel) -> StoredModel {
        using Kernel = std::remove_cvref_t<decltype(kernel)>;
        const AnyKernel any(kernel);
        try {
            if (heading.ensemble) return {converted(any, load<EnsembleModel<Kernel, std::string>>(stream))};
            return {converted(any, load<SparseKernelModel<Kernel>>(stream))};
        } catch (const FormatError& error) {
            const std::string what = error.what(), begin = "kernelet: model file, ";
            throw UserError(path + ", " + (what.rfind(begin, 0) == 0 ? what.substr(begin.size()) : what));
        }
    });
    stored.about = description_of(stream, stored.dimension());
    return stored;
}

void export_model(const std::string& path, const StoredModel& stored, const CExportOptions& options) {
    std::ostringstream stream;
    with_kernel(family_of(stored), [&](const auto& kernel) {
        std::visit([&](const auto& model) { export_c(stream, converted(kernel, model), options); },
                   stored.model);
    });
    write_text(path, stream.str());
}

}  // namespace command
