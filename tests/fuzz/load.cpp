// Model files: any text is a model, which predicts finite numbers and is saved as a text that reads back the same, or is refused
// by a FormatError. The first byte chooses the type of the model, the rest is the text.
#include "fuzz/bytes.hpp"
#include "support/sealed_text.hpp"

#include <kernelet/kernels/anisotropic_gaussian.hpp>
#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/matern.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/kernels/sinc.hpp>
#include <kernelet/model/export_c.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>
#include <kernelet/multiclass/export_c.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace kernelet;

/// Whether sums of products of these numbers are far from overflow and underflow.
bool is_moderate(const Matrix& values, double most) {
    return (values.array() == 0.0 || (values.array().abs() <= most && values.array().abs() >= 1.0 / most))
        .all();
}

template <class Kernel>
bool is_moderate(const SparseKernelModel<Kernel>& model) {
    const double most = std::string_view(Kernel::name) == "polynomial" ? 1e3 : 1e40;
    return is_moderate(model.nodes(), most) && is_moderate(model.coefficients(), most) &&
           is_moderate(model.offset(), most) && is_moderate(model.trend().slopes, most) &&
           is_moderate(model.scaling().shift, most) && is_moderate(model.scaling().scale, most) &&
           is_moderate(model.statistics().noise, most) && is_moderate(model.statistics().covariance, most) &&
           is_moderate(model.statistics().discrepancy, most);
}

/// Near the shift, where the kernels may be, and far away.
Matrix points_for(const InputScaling& scaling) {
    const Index d = scaling.shift.size();
    Matrix x(d, 6);
    for (Index i = 0; i < x.cols(); ++i)
        for (Index c = 0; c < d; ++c)
            x(c, i) =
                scaling.shift(c) +
                scaling.scale(c) * std::array{0.0, 0.25, -1.0, 1.5, 3.0, -1e3}[static_cast<std::size_t>(i)];
    return x;
}

template <class Model>
std::string saved(const Model& model) {
    std::ostringstream stream;
    save(stream, model);
    return stream.str();
}

template <class Model>
Model loaded(const std::string& text) {
    std::istringstream stream(text);
    return load<Model>(stream);
}

/// Probabilities, which only models of the logistic loss have.
template <class Model>
void require_probabilities(const Model& model, const Matrix& x, bool moderate) {
    try {
        const Matrix p = model.probability(x);
        fuzz::require(!moderate || (p.array() >= 0.0 && p.array() <= 1.0).all(),
                      "a probability outside [0, 1]");
        fuzz::require(model.loss() == "logistic", "probabilities of another loss");
    } catch (const std::invalid_argument& error) {
        fuzz::fail("a valid call of a loaded model is refused", error.what());
    } catch (const std::logic_error& error) {
        fuzz::require_readable(error.what());
        fuzz::require(model.loss() != "logistic", "no probabilities of the logistic loss", error.what());
    }
}

/// C source without control characters, or a refusal where a constant is no number.
template <class Model>
void require_c(const Model& model, bool moderate) {
    try {
        std::ostringstream code;
        export_c(code, model);
        for (const char c : code.str())
            fuzz::require(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'),
                          "a control character in C", code.str());
    } catch (const std::invalid_argument& error) {
        fuzz::require_readable(error.what());
        fuzz::require(!moderate, "a moderate model is not exported", error.what());
    }
}

template <class Kernel>
void use(const SparseKernelModel<Kernel>& model) {
    if (model.dimension() > 64) return;  // the rest would take long
    const Matrix x = points_for(model.scaling());
    const bool moderate = is_moderate(model);
    const Matrix values = model.predict(x);
    const Matrix slopes = model.gradient(x);
    const Matrix centers = model.centers(), widths = model.widths();
    if (moderate) {
        fuzz::require(values.allFinite(), "a prediction is not finite");
        fuzz::require(slopes.allFinite(), "a gradient is not finite");
        fuzz::require(centers.allFinite() && widths.allFinite(), "a center or a width is not finite");
        fuzz::require(model.local_width(x).allFinite(), "a local width is not finite");
    }
    if (model.outputs() == 1)
        for (Index i = 0; i < x.cols(); ++i) {
            const double value = model(x.col(i));
            fuzz::require(value == values(i) || (std::isnan(value) && std::isnan(values(i))),
                          "one point and many differ");
        }
    if (model.statistics().covariance.size() > 0) {
        const Prediction prediction = model.predict(x, with_noise);
        const Matrix errors = model.standard_errors();
        fuzz::require(!moderate || (prediction.deviation.allFinite() && errors.allFinite()),
                      "a deviation is not finite");
    }
    require_probabilities(model, x, moderate);
    require_c(model, moderate);
}

template <class Kernel, class Label>
void use(const EnsembleModel<Kernel, Label>& ensemble) {
    if (ensemble.dimension() > 64) return;
    const auto& groups = ensemble.kernels().groups();
    const Matrix x = points_for(groups.front().scaling);
    bool moderate = true;
    for (Index m = 0; m < ensemble.classifiers(); ++m) {
        const SparseKernelModel<Kernel> classifier = ensemble.classifier(m);
        moderate = moderate && is_moderate(classifier);
        const Matrix alone = classifier.predict(x);
        const Matrix margins = ensemble.margins(x).row(m);
        for (Index i = 0; i < x.cols(); ++i)
            fuzz::require(!moderate || margins(i) == alone(i),
                          "a classifier alone and in the ensemble differ");
    }
    fuzz::require(!moderate || ensemble.margins(x).allFinite(), "a margin is not finite");
    fuzz::require(ensemble.predict(x).size() == static_cast<std::size_t>(x.cols()), "not a label per point");
    require_probabilities(ensemble, x, moderate);
    require_c(ensemble, moderate);
}

template <class Model>
void read(const std::string& text) {
    try {
        const Model model = loaded<Model>(text);
        const std::string once = saved(model);
        try {
            fuzz::require(saved(loaded<Model>(once)) == once, "a model that was saved reads back another",
                          once);
        } catch (const FormatError& error) {
            fuzz::fail("a model that was saved is refused", once + error.what());
        }
        use(model);
    } catch (const FormatError& error) {
        fuzz::require_readable(error.what());
        fuzz::require(error.line() >= 1, "a line number below 1", error.what());
    }
}

using Read = void (*)(const std::string&);
struct Type {
    std::string_view what, family;
    Read read;
};

using Mixed = Dictionary<Gaussian, Laplacian>;
constexpr std::array types{
    Type{"model", Gaussian::name, read<SparseKernelModel<Gaussian>>},
    Type{"model", AnisotropicGaussian::name, read<SparseKernelModel<AnisotropicGaussian>>},
    Type{"model", Laplacian::name, read<SparseKernelModel<Laplacian>>},
    Type{"model", Matern32::name, read<SparseKernelModel<Matern32>>},
    Type{"model", Matern52::name, read<SparseKernelModel<Matern52>>},
    Type{"model", Sinc::name, read<SparseKernelModel<Sinc>>},
    Type{"model", Polynomial::name, read<SparseKernelModel<Polynomial>>},
    Type{"model", Mixed::name, read<SparseKernelModel<Mixed>>},
    Type{"ensemble", Gaussian::name, read<EnsembleModel<Gaussian, int>>},
    Type{"ensemble", Gaussian::name, read<EnsembleModel<Gaussian, std::string>>},
    Type{"ensemble", Laplacian::name, read<EnsembleModel<Laplacian, double>>}};

const Type& type_of(std::uint8_t byte) { return types[byte % types.size()]; }

/// A number as a file may hold it.
std::string any_number(std::minstd_rand& random) {
    constexpr std::array<std::string_view, 24> numbers{"0",
                                                       "1",
                                                       "2",
                                                       "3",
                                                       "-1",
                                                       "0.5",
                                                       "-0",
                                                       "1e40",
                                                       "1e-40",
                                                       "1e308",
                                                       "1e-308",
                                                       "4e-324",
                                                       "1e400",
                                                       "nan",
                                                       "inf",
                                                       "-1.7976931348623157e308",
                                                       "1e9",
                                                       "1000000000",
                                                       "99999999999999999999",
                                                       "0x1p3",
                                                       "1.",
                                                       ".5",
                                                       "1e",
                                                       "+1"};
    return std::string(numbers[random() % numbers.size()]);
}

/// One change of the lines that keeps the text one of lines.
void change_lines(std::vector<std::string>& lines, std::minstd_rand& random) {
    const auto any_line = [&] { return static_cast<std::ptrdiff_t>(random() % lines.size()); };
    std::string& line = lines[static_cast<std::size_t>(any_line())];
    switch (random() % 7) {
        case 0:
            lines.erase(lines.begin() + any_line());
            break;
        case 1: {
            const std::string copy = line;
            lines.insert(lines.begin() + any_line(), copy);
            break;
        }
        case 2:
            std::swap(lines[static_cast<std::size_t>(any_line())],
                      lines[static_cast<std::size_t>(any_line())]);
            break;
        case 3:
            line += " " + any_number(random);
            break;
        case 4:
            line.resize(random() % (line.size() + 1));
            break;
        default: {  // another number in the place of one
            std::vector<std::size_t> blanks;
            for (std::size_t i = 0; i < line.size(); ++i)
                if (line[i] == ' ') blanks.push_back(i);
            if (blanks.empty()) break;
            const std::size_t from = blanks[random() % blanks.size()] + 1;
            line.replace(from, std::min(line.find(' ', from), line.size()) - from, any_number(random));
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return -1;
    type_of(data[0]).read(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    return 0;
}

/// Changes the text and makes the checksum match it, so that the parser behind the checksum is reached; once in sixteen
/// cases the checksum stays as it was.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
    std::minstd_rand random(seed + 1);
    const unsigned kind = random() % 16;
    if (size < 2 || kind == 0) return LLVMFuzzerMutate(data, size, max_size);
    if (kind >= 9) size = 1 + LLVMFuzzerMutate(data + 1, size - 1, max_size - 1);
    std::vector<std::string> lines =
        support::lines_of(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    if (!lines.empty() && lines.back().substr(0, 8) == "checksum") lines.pop_back();
    if (kind == 1 && lines.size() > 1) {  // the same numbers of another type
        data[0] = static_cast<std::uint8_t>(random() % types.size());
        lines[0] = "kernelet " + std::string(type_of(data[0]).what) + " 3";
        lines[1] = "family " + std::string(type_of(data[0]).family);
    }
    for (unsigned changes = kind < 9 ? 1 + random() % 3 : 0; changes > 0 && !lines.empty(); --changes)
        change_lines(lines, random);
    const std::string text = support::resealed(lines);
    if (text.size() + 1 > max_size) return size;
    std::memcpy(data + 1, text.data(), text.size());
    return text.size() + 1;
}
