// What the fuzz targets found, one case each.
#include "support/catch.hpp"
#include "support/sealed_text.hpp"
#include "support/signals.hpp"

#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/laplacian.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/model/export_c.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fuzz_finds_test {

using namespace kernelet;
using Catch::Matchers::ContainsSubstring;
using support::refusal;

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

template <class Kernel = Gaussian>
SparseKernelModel<Kernel> one_kernel(const Kernel& kernel = Kernel{}, double shape = 1.0) {
    Matrix node(1 + kernel.parameters(1), 1);
    node.setOnes();
    node(node.rows() - 1) = shape;
    return {kernel, InputScaling::identity(1), node, Matrix::Ones(1, 1), Vector::Zero(1)};
}

/// The text of a model with one of its lines replaced, and a checksum that matches.
std::string with_line(const std::string& text, const std::string& before, const std::string& after) {
    std::vector<std::string> lines = support::lines_of(text);
    lines.pop_back();
    std::replace(lines.begin(), lines.end(), before, after);
    return support::resealed(lines);
}

TEST_CASE("texts that would not be read back as one line are not saved", "[fuzz_finds]") {
    for (const std::string& bad : {std::string("a\r"), std::string("a\nb")}) {
        using Ensemble = EnsembleModel<Gaussian, std::string>;
        const Ensemble ensemble(Scheme::one_vs_one, {"A", bad}, {one_kernel()});
        CHECK_THAT(refusal([&] { saved(ensemble); }), ContainsSubstring("line break"));
        CHECK_THAT(refusal([&] { saved(one_kernel().with_loss(bad)); }), ContainsSubstring("line break"));
    }
    const std::string text = saved(one_kernel());
    CHECK_NOTHROW(loaded<SparseKernelModel<Gaussian>>(with_line(text, "loss ", "loss a\rb")));
    CHECK_THROWS_AS(loaded<SparseKernelModel<Gaussian>>(with_line(text, "loss ", "loss a\r\r")), FormatError);
}

TEST_CASE("a count of a kernel's members is a whole number, and of none it is zero", "[fuzz_finds]") {
    using Mixed = Dictionary<Gaussian, Laplacian>;
    const std::string text = saved(one_kernel(Mixed{}));
    CHECK_NOTHROW(loaded<SparseKernelModel<Mixed>>(text));
    CHECK_THROWS_AS(loaded<SparseKernelModel<Mixed>>(with_line(text, "state 0 0", "state 0.5 0")),
                    FormatError);
    CHECK_THROWS_AS(loaded<SparseKernelModel<Mixed>>(
                        with_line(with_line(text, "states 2", "states 3"), "state 0 0", "state 1 7 0")),
                    FormatError);
    const std::string power = saved(one_kernel(Polynomial{}, 2.0));
    CHECK_THROWS_AS(loaded<SparseKernelModel<Polynomial>>(with_line(power, "state 5", "state 2.5")),
                    FormatError);
}

TEST_CASE("control characters of a file do not reach messages and C", "[fuzz_finds]") {
    const auto model = one_kernel().with_loss("a\x1b[31m*/");
    std::string message;
    try {
        model.probability(Matrix::Zero(1, 1));
    } catch (const std::logic_error& error) {
        message = error.what();
    }
    CHECK_THAT(message, ContainsSubstring("'a\\x1b[31m*/'"));
    std::ostringstream code;
    export_c(code, model);
    CHECK(code.str().find('\x1b') == std::string::npos);
}

}  // namespace fuzz_finds_test
