#include "support/catch.hpp"
#include "support/compiled_c.hpp"
#include "support/signals.hpp"

#include <kernelet/model/export_c.hpp>
#include <kernelet/multiclass/export_c.hpp>
#include <kernelet/predict.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace export_c_test {

using Catch::Matchers::ContainsSubstring;
using kernelet::CExportOptions;
using kernelet::CFunctions;
using kernelet::CScalar;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::ModelTrend;
using kernelet::SparseKernelModel;
using kernelet::Vector;
using support::CompiledC;
using support::refusal;
using Floats = Eigen::MatrixXf;

template <class Model>
std::string exported(const Model& model, const CExportOptions& options = {}) {
    std::ostringstream stream;
    kernelet::export_c(stream, model, options);
    return stream.str();
}

struct Shape {
    Index inputs = 1, kernels = 12, outputs = 1;
    bool linear = false;
};

/// Centers within 1.7 deviations of inputs whose means lie far from zero, widths of 0.3 to 1.2 deviations.
template <class Kernel>
SparseKernelModel<Kernel> random_model(const Kernel& kernel, const Shape& shape, std::uint64_t seed) {
    const Index d = shape.inputs, k = shape.kernels, q = shape.outputs;
    Matrix nodes(d + kernel.parameters(d), k);
    nodes.topRows(d) = support::uniforms(d, k, seed, -1.7, 1.7);
    // UndefinedBehaviorSanitizer counts rows of an empty matrix as an offset from a null pointer.
    if (k > 0)
        nodes.bottomRows(nodes.rows() - d) = support::uniforms(nodes.rows() - d, k, seed + 1, 0.3, 1.2);
    if constexpr (requires { kernel.shapes(); })
        for (Index j = 0; j < k; ++j)
            nodes(nodes.rows() - 1, j) =
                kernel.shapes()[static_cast<std::size_t>(j) % kernel.shapes().size()];
    const InputScaling scaling{1e3 * support::normals(d, 1, seed + 2),
                               support::uniforms(d, 1, seed + 3, 0.1, 10.0)};
    ModelTrend trend{Vector(support::normals(q, 1, seed + 4))};
    if (shape.linear) trend.slopes = support::normals(d, q, seed + 5);
    return {kernel, scaling, nodes, support::normals(k, q, seed + 6), trend};
}

/// Points within 2 deviations, each a float.
template <class Model>
Matrix points_around(const Model& model, Index n, std::uint64_t seed) {
    const Matrix inner = support::uniforms(model.dimension(), n, seed, -2.0, 2.0);
    return Floats(model.scaling().to_user(inner).template cast<float>()).template cast<double>();
}

/// The largest of |Σ_{i ≤ j} a_i k_i|, j = 1 ... K, and of the sums with the trend, input by input: what a sum in double is
/// to be judged by.
template <class Kernel>
Matrix largest_partial_sums(const SparseKernelModel<Kernel>& model, const Matrix& x) {
    const Index q = model.outputs();
    const Matrix u = model.scaling().to_internal(x);
    Matrix largest = Matrix::Zero(q, x.cols()), sum = largest;
    for (Index j = 1; j <= model.size(); ++j) {
        const SparseKernelModel<Kernel> part(model.kernel(), model.scaling(), model.nodes().leftCols(j),
                                             model.coefficients().topRows(j), Vector(Vector::Zero(q)));
        sum = part.predict(x);
        sum.resize(q, x.cols());
        largest = largest.cwiseMax(sum.cwiseAbs());
    }
    for (Index c = 0; c < model.trend().slopes.rows(); ++c) {
        sum += model.trend().slopes.row(c).transpose() * u.row(c);
        largest = largest.cwiseMax(sum.cwiseAbs());
    }
    return largest.cwiseMax((sum.colwise() + model.offset()).cwiseAbs());
}

/// A model and the library's values of it at some points, whatever its kernel.
struct Case {
    std::string name{};
    std::function<std::string(const CExportOptions&)> text{};
    Matrix x{}, values{}, partial{}, gradients{};  // d x n, q x n, q x n, d q x n
};

constexpr Index point_count =
    20480;  // whole strips: each of them meets every kernel, so that none is skipped

template <class Kernel>
Case case_of(const SparseKernelModel<Kernel>& model, std::string name) {
    const Matrix x = points_around(model, point_count, 40);
    Matrix values = model.predict(x);
    values.resize(model.outputs(), x.cols());
    return {std::move(name),
            [model](const CExportOptions& options) { return exported(model, options); },
            x,
            values,
            largest_partial_sums(model, x),
            model.gradient(x)};
}

/// The results of the C code at the points of a case: values q x n, gradients d q x n.
template <class Scalar>
std::pair<Matrix, Matrix> evaluated(const CompiledC& library, const Case& test) {
    using Columns = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    const Index d = test.x.rows(), q = test.values.rows(), n = test.x.cols();
    const Columns x = test.x.cast<Scalar>();
    Columns values(q, n), gradients(d * q, n);
    if (q == 1) {
        const auto value = library.function<Scalar(const Scalar*)>(test.name);
        for (Index i = 0; i < n; ++i) values(0, i) = value(&x(0, i));
    } else {
        const auto value = library.function<void(const Scalar*, Scalar*)>(test.name);
        for (Index i = 0; i < n; ++i) value(&x(0, i), &values(0, i));
    }
    const auto gradient = library.function<void(const Scalar*, Scalar*)>(test.name + "_gradient");
    for (Index i = 0; i < n; ++i) gradient(&x(0, i), &gradients(0, i));
    return {values.template cast<double>(), gradients.template cast<double>()};
}

/// Largest differences of values and gradients: in units of the last place of the largest partial sum for double and in
/// ranges of the function for float, and in the largest entry of the gradient.
struct Differences {
    double values{}, gradients{};
};

Differences differences(const CompiledC& library, const Case& test, CScalar scalar) {
    const bool narrow = scalar == CScalar::float32;
    const auto [values, gradients] =
        narrow ? evaluated<float>(library, test) : evaluated<double>(library, test);
    Differences out;
    for (Index o = 0; o < values.rows(); ++o) {
        const double range = test.values.row(o).maxCoeff() - test.values.row(o).minCoeff();
        for (Index i = 0; i < values.cols(); ++i) {
            const double unit =
                narrow ? range
                       : std::numeric_limits<double>::epsilon() * std::max(1e-300, test.partial(o, i));
            const double ratio = std::abs(values(o, i) - test.values(o, i)) / unit;
            out.values = std::isnan(ratio) ? ratio : std::max(out.values, ratio);
        }
    }
    for (Index k = 0; k < gradients.rows(); ++k)
        out.gradients =
            std::max(out.gradients, (gradients.row(k) - test.gradients.row(k)).cwiseAbs().maxCoeff() /
                                        test.gradients.row(k).cwiseAbs().maxCoeff());
    return out;
}

const std::vector<CExportOptions> variants{{.scalar = CScalar::float64, .functions = CFunctions::library},
                                           {.scalar = CScalar::float64, .functions = CFunctions::own},
                                           {.scalar = CScalar::float32, .functions = CFunctions::library},
                                           {.scalar = CScalar::float32, .functions = CFunctions::own}};

/// Whether there is no compiler; a test then warns.
bool without_compiler() {
    if (support::has_c_compiler()) return false;
    WARN("no cc: what is exported was not compiled");
    return true;
}

TEST_CASE("C code has the values and gradients of its model", "[export_c]") {
    if (without_compiler()) return;
    const Shape one{.linear = true}, plane{.inputs = 2}, space{.inputs = 3, .outputs = 2, .linear = true};
    const kernelet::Dictionary<Gaussian, kernelet::Matern52, kernelet::Sinc> dictionary;
    const std::vector<Case> cases{
        case_of(random_model(Gaussian{}, one, 10), "gaussian_1"),
        case_of(random_model(Gaussian{}, space, 20), "gaussian_3"),
        case_of(random_model(kernelet::AnisotropicGaussian{}, space, 30), "anisotropic"),
        case_of(random_model(kernelet::Laplacian{}, plane, 40), "laplacian"),
        case_of(random_model(kernelet::Matern32{}, plane, 50), "matern32"),
        case_of(random_model(kernelet::Matern52{}, plane, 60), "matern52"),
        case_of(random_model(kernelet::Sinc{}, plane, 70), "sinc"),
        case_of(random_model(kernelet::Polynomial{}, one, 80), "polynomial_1"),
        case_of(random_model(kernelet::Polynomial{}, space, 90), "polynomial_3"),
        case_of(random_model(dictionary, plane, 100), "dictionary")};
    for (CExportOptions options : variants) {
        options.gradient = true;
        std::string all;  // names differ, so that several models fit into one file
        for (const Case& test : cases) {
            options.name = test.name;
            all += test.text(options);
        }
        const CompiledC library({{"models", all}});
        const bool narrow = options.scalar == CScalar::float32;
        for (const Case& test : cases) {
            CAPTURE(test.name, narrow, options.functions == CFunctions::own);
            const Differences found = differences(library, test, options.scalar);
            UNSCOPED_INFO(found.values << " " << found.gradients);
            CHECK(found.values <= (narrow ? 1.5e-6 : 8.0));
            CHECK(found.gradients <= (narrow ? 1.5e-6 : 4e-15));
        }
    }
}

/// k = 1/(1 + ‖x − z‖²/w²), a family of a user's own.
struct Cauchy {
    static constexpr std::string_view name = "cauchy";
    static constexpr bool translation_invariant = true;  // slopes in x are those in z, reversed
    Index parameters(Index /*dimension*/) const { return 1; }
    kernelet::ParameterKind parameter_kind(Index /*row*/) const {
        return kernelet::ParameterKind::isotropic_scale;
    }
    void values(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
                kernelet::VectorRef values) const {
        for (Index i = 0; i < xt.rows(); ++i) {
            double s = 0.0;
            for (Index c = 0; c < xt.cols(); ++c) s += (xt(i, c) - node(c)) * (xt(i, c) - node(c));
            values(i) = 1.0 / (1.0 + s / (node(xt.cols()) * node(xt.cols())));
        }
    }
    void jet(const kernelet::ConstMatrixRef& xt, const kernelet::ConstVectorRef& node,
             kernelet::MatrixRef jet) const {
        values(xt, node, jet.col(0));
        const double w = node(xt.cols());
        for (Index c = 0; c < xt.cols(); ++c)
            jet.col(1 + c) = 2.0 / (w * w) * jet.col(0).array().square() * (xt.col(c).array() - node(c));
        jet.col(1 + xt.cols()) = 2.0 * jet.col(0).array() * (1.0 - jet.col(0).array());
    }
};

/// The C form by points or by differences, with equal values.
kernelet::CKernel cauchy_of(bool points) {
    const std::string difference = points ? "x[c] - z[c]" : "r[c]";
    const std::string sum = "real s = 1.0;\n for (int c = 0; c < d; ++c) { const real t = " + difference +
                            "; s += t * t * p[0]; }\n";
    return {
        .formula = "1/(1 + |x - z|^2/w^2); p = 1/w^2 */ not the end",
        .arguments = points ? kernelet::CArguments::point_and_center : kernelet::CArguments::difference,
        .value = sum + " return 1.0 / s;\n",
        .gradient = sum + " for (int c = 0; c < d; ++c) g[c] = -2.0 * p[0] * (" + difference + ") / (s * s);",
        .parameters = [](const kernelet::ConstVectorRef& node) {
            return std::vector<double>{1.0 / (node(node.size() - 1) * node(node.size() - 1))};
        }};
}
kernelet::CKernel c_kernel(const Cauchy&, Index /*dimension*/) { return cauchy_of(false); }

struct CauchyOfPoints : Cauchy {};
kernelet::CKernel c_kernel(const CauchyOfPoints&, Index /*dimension*/) { return cauchy_of(true); }

/// A kernel whose C form has a value but no gradient.
struct WithoutSlopes : Cauchy {};
kernelet::CKernel c_kernel(const WithoutSlopes&, Index /*dimension*/) {
    kernelet::CKernel kernel = cauchy_of(false);
    kernel.gradient.clear();
    return kernel;
}

TEST_CASE("a kernel of one's own becomes C by its c_kernel", "[export_c]") {
    if (without_compiler()) return;
    const kernelet::Dictionary<CauchyOfPoints, Gaussian> mixed;
    const std::vector<Case> cases{case_of(random_model(Cauchy{}, {.inputs = 2}, 110), "cauchy"),
                                  case_of(random_model(CauchyOfPoints{}, {.inputs = 2}, 120), "points"),
                                  case_of(random_model(mixed, {.inputs = 2}, 130), "mixed")};
    for (const CScalar scalar : {CScalar::float64, CScalar::float32}) {
        std::string all;
        for (const Case& test : cases)
            all += test.text({.scalar = scalar, .name = test.name, .gradient = true});
        const CompiledC library({{"models", all}});
        for (const Case& test : cases) {
            CAPTURE(test.name);
            const Differences found = differences(library, test, scalar);
            CHECK(found.values <= (scalar == CScalar::float32 ? 1.5e-6 : 8.0));
            CHECK(found.gradients <= (scalar == CScalar::float32 ? 1.5e-6 : 4e-15));
        }
    }
    const auto model = random_model(WithoutSlopes{}, {}, 140);
    CHECK_THAT(exported(model), ContainsSubstring("those of the kernels' formula"));
    CHECK_THAT(refusal([&] { exported(model, {.gradient = true}); }), ContainsSubstring("has no gradient"));
}

/// Decision values above zero where the first coordinate is the larger one.
SparseKernelModel<Gaussian> logistic_model(const Shape& shape, std::uint64_t seed) {
    return random_model(Gaussian{}, shape, seed).with_loss("logistic");
}

TEST_CASE("C code of a model fitted with the logistic loss has probabilities", "[export_c]") {
    if (without_compiler()) return;
    const auto one = logistic_model({.inputs = 2}, 150), two = logistic_model({.outputs = 2}, 160);
    const CompiledC library({{"one", exported(one, {.name = "one"})},
                             {"two", exported(two, {.name = "two", .functions = CFunctions::own})},
                             {"other", exported(one.with_loss("hinge"), {.name = "other"})}});
    const auto probability = library.function<double(const double*)>("one_probability");
    const auto probabilities = library.function<void(const double*, double*)>("two_probability");
    const Matrix x = points_around(one, 500, 1), v = points_around(two, 500, 2);
    const Matrix p = one.probability(x), r = two.probability(v);
    for (Index i = 0; i < x.cols(); ++i) {
        double pair[2];
        probabilities(&v(0, i), pair);
        CHECK(std::abs(probability(&x(0, i)) - p(i)) < 1e-14);
        CHECK(std::abs(pair[0] - r(0, i)) + std::abs(pair[1] - r(1, i)) < 1e-14);
    }
    CHECK(!library.has("other_probability"));
}

TEST_CASE("few kernels, none, many, and inputs that are no numbers", "[export_c]") {
    if (without_compiler()) return;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::string all;  // of functions none_0, none_1, ...
    int count = 0;
    const auto many = random_model(Gaussian{}, {.kernels = 700}, 170);
    for (const CExportOptions& variant : variants)
        for (const Index outputs : {1, 2})
            for (const bool linear : {false, true}) {
                CExportOptions options = variant;
                options.gradient = true;
                options.name = "none_" + std::to_string(count++);
                const Shape shape{.inputs = 2, .kernels = 0, .outputs = outputs, .linear = linear};
                all += exported(random_model(Gaussian{}, shape, 180), options);
            }
    all += exported(many, {.name = "many"});
    all += exported(many, {.scalar = CScalar::float32, .name = "narrow"});
    all += exported(many, {.name = "own", .functions = CFunctions::own});
    using Pair = kernelet::EnsembleModel<Gaussian, int>;
    for (const bool linear : {false, true}) {
        const auto constant = random_model(Gaussian{}, {.inputs = 2, .kernels = 0, .linear = linear}, 180);
        const SparseKernelModel<Gaussian> silent(Gaussian{}, constant.scaling(), Matrix::Ones(3, 2),
                                                 Matrix::Zero(2, 1), constant.trend());
        for (const auto& model : {constant, silent})
            for (const CExportOptions& variant : variants) {
                CExportOptions options = variant;
                options.name = "pair_" + std::to_string(count++);
                all += exported(Pair(kernelet::Scheme::one_vs_one, {0, 1}, {model}), options);
            }
    }
    const CompiledC library({{"models", all}});
    const auto empty = random_model(Gaussian{}, {.inputs = 2, .kernels = 0, .linear = true}, 180);
    const Matrix x = points_around(empty, 1, 3);
    CHECK(library.function<double(const double*)>("none_1")(x.data()) == Approx(empty(x)).epsilon(1e-14));
    double g[2];
    library.function<void(const double*, double*)>("none_1_gradient")(x.data(), g);
    CHECK(Vector(Eigen::Map<Vector>(g, 2)).isApprox(Vector(empty.gradient(x)), 1e-15));
    const Matrix points = points_around(many, 1000, 4);
    const Vector values = many.predict(points);
    const auto narrow = library.function<float(const float*)>("narrow");
    double largest = 0.0;
    for (Index i = 0; i < points.cols(); ++i) {
        const auto given = static_cast<float>(points(0, i));
        largest = std::max(largest, std::abs(static_cast<double>(narrow(&given)) - values(i)));
    }
    CHECK(largest < 3e-7 * (values.maxCoeff() - values.minCoeff()));  // the sum is compensated
    const double at = many.centers()(0, 350);
    for (const char* name : {"many", "own"}) {
        const auto value = library.function<double(const double*)>(name);
        CHECK(value(&at) == Approx(many(at)).epsilon(1e-12));
        CHECK(std::isnan(value(&nan)));
        for (const double far : {1e9, -1e300}) CHECK(value(&far) == many.offset()(0));
    }
}

// ensembles

/// Models of different scalings; every other one has the kernels of the first in another order, and its own.
template <class Kernel>
std::vector<SparseKernelModel<Kernel>> classifiers(Index count, bool linear, bool offsets) {
    std::vector<SparseKernelModel<Kernel>> models;
    for (Index m = 0; m < count; ++m) {
        auto model = random_model(Kernel{}, {.inputs = 2, .kernels = 8, .linear = linear},
                                  200 + 10 * static_cast<std::uint64_t>(m));
        Matrix nodes = model.nodes();
        InputScaling scaling =
            m == 0 ? InputScaling{Vector{{50.0, -3.0}}, Vector{{2.0, 0.3}}} : models[0].scaling();
        if (m == 2) scaling.scale(0) *= 1.1;
        if (m > 0 && m % 2 == 0) nodes.leftCols(4) = models[0].nodes().rowwise().reverse().leftCols(4);
        ModelTrend trend = model.trend();
        if (!offsets) trend.offset.setZero();
        models.emplace_back(Kernel{}, scaling, nodes, model.coefficients(), trend);
    }
    return models;
}

template <class Ensemble>
Matrix points_of(const Ensemble& ensemble, Index n) {
    Matrix inner = support::uniforms(2, n, 5, -3.0, 3.0);
    for (Index i = 0; i < n; i += 50) inner.col(i) *= 10.0;  // out of reach of all kernels, or of nearly all
    return Floats(ensemble.kernels().groups().front().scaling.to_user(inner).template cast<float>())
        .template cast<double>();
}

/// An ensemble, and the library's values of it at some points, each by itself: which kernels are skipped depends on the
/// points that are asked about together.
struct EnsembleCase {
    std::string name{};
    std::function<std::string(const CExportOptions&)> text{};
    Matrix x{}, margins{}, probabilities{};
    std::vector<Index> classes{};
};

template <class Ensemble>
EnsembleCase ensemble_case(const Ensemble& ensemble, std::string name) {
    EnsembleCase out{std::move(name),
                     [ensemble](const CExportOptions& options) { return exported(ensemble, options); },
                     points_of(ensemble, 3000),
                     {},
                     {},
                     {}};
    out.margins = ensemble.margins(out.x);
    out.probabilities.resize(static_cast<Index>(ensemble.classes().size()), out.x.cols());
    for (Index i = 0; i < out.x.cols(); ++i) {
        out.probabilities.col(i) = ensemble.probability(out.x.col(i));
        out.classes.push_back(ensemble.decide(out.x.col(i)).classes.front());
    }
    return out;
}

/// How many classes differ, and by how much margins (relative to the largest) and probabilities do.
struct EnsembleDifferences {
    Index classes{};
    double margins{}, probabilities{};
};

template <class Scalar>
EnsembleDifferences ensemble_differences(const CompiledC& library, const EnsembleCase& test) {
    using Columns = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    const Columns x = test.x.cast<Scalar>();
    Columns margins(test.margins.rows(), 1), p(test.probabilities.rows(), 1);
    const auto decide = library.function<int(const Scalar*)>(test.name);
    const auto write_margins = library.function<void(const Scalar*, Scalar*)>(test.name + "_margins");
    const auto write_probability = library.function<void(const Scalar*, Scalar*)>(test.name + "_probability");
    EnsembleDifferences out;
    const auto grow = [](double& largest, const Columns& own, const Matrix& expected) {
        largest = std::max(largest, (own.template cast<double>() - expected).cwiseAbs().maxCoeff());
    };
    for (Index i = 0; i < x.cols(); ++i) {
        const Index chosen = decide(&x(0, i));
        write_margins(&x(0, i), margins.data());
        write_probability(&x(0, i), p.data());
        grow(out.margins, margins, test.margins.col(i));
        if (p(chosen) < p.maxCoeff()) out.probabilities = 1.0;  // none is above that of the class
        if (chosen != test.classes[static_cast<std::size_t>(i)])
            ++out.classes;
        else
            grow(out.probabilities, p, test.probabilities.col(i));
    }
    out.margins /= test.margins.cwiseAbs().maxCoeff();
    return out;
}

TEST_CASE("C code of an ensemble decides as the ensemble does", "[export_c]") {
    if (without_compiler()) return;
    using kernelet::Scheme;
    const std::vector<std::string> words{"a \"quoted\" word", "b\\", "c */ \x41?\?/ 9", "d\t\xc3\xa9 1"};
    const auto pairs = kernelet::EnsembleModel<Gaussian, std::string>(Scheme::one_vs_one, words,
                                                                      classifiers<Gaussian>(6, true, true))
                           .with_loss("logistic");
    const auto votes = kernelet::EnsembleModel<kernelet::Matern32, long long>(
                           Scheme::one_vs_one, {std::numeric_limits<long long>::min(), -1, 7},
                           classifiers<kernelet::Matern32>(3, false, false))
                           .with_loss("logistic");
    const auto rest = kernelet::EnsembleModel<kernelet::Sinc, double>(
                          Scheme::one_vs_rest, {0.1, 2.5, 1e300}, classifiers<kernelet::Sinc>(3, true, true))
                          .with_loss("logistic");
    const std::vector<EnsembleCase> cases{ensemble_case(pairs, "pairs"), ensemble_case(votes, "votes"),
                                          ensemble_case(rest, "rest")};
    for (CExportOptions options : variants) {
        std::string all;
        for (const EnsembleCase& test : cases) {
            options.name = test.name;
            all += test.text(options);
        }
        const CompiledC library({{"ensembles", all}});
        const bool narrow = options.scalar == CScalar::float32;
        for (const EnsembleCase& test : cases) {
            CAPTURE(test.name, narrow);
            const EnsembleDifferences found = narrow ? ensemble_differences<float>(library, test)
                                                     : ensemble_differences<double>(library, test);
            UNSCOPED_INFO(found.classes << " " << found.margins << " " << found.probabilities);
            CHECK(found.classes <= (narrow ? 2 : 0));  // in float, margins within rounding of zero
            CHECK(found.margins <= (narrow ? 1e-6 : 2e-15));
            CHECK(found.probabilities <= (narrow ? 1e-5 : 1e-10));
        }
        for (std::size_t k = 0; k < words.size(); ++k)
            CHECK(library.function<const char*(int)>("pairs_label")(static_cast<int>(k)) == words[k]);
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(library.function<long long(int)>("votes_label")(static_cast<int>(k)) == votes.classes()[k]);
            CHECK(library.function<double(int)>("rest_label")(static_cast<int>(k)) == rest.classes()[k]);
        }
    }
}

TEST_CASE("labels become the narrowest C type that holds them", "[export_c]") {
    using kernelet::EnsembleModel;
    using kernelet::Scheme;
    const auto models = classifiers<Gaussian>(1, false, true);
    const auto text = [&](const auto& a, const auto& b) {
        using Label = std::decay_t<decltype(a)>;
        return exported(EnsembleModel<Gaussian, Label>(Scheme::one_vs_one, {a, b}, models));
    };
    CHECK_THAT(text(-1, 1), ContainsSubstring("long model_label(int which);"));
    CHECK_THAT(text('a', 'b'), ContainsSubstring("{97, 98}"));
    CHECK_THAT(text(1LL, 1LL << 40), ContainsSubstring("long long model_label(int which);"));
    CHECK_THAT(text(1ULL, ~0ULL), ContainsSubstring("{1ULL, 18446744073709551615ULL}"));
    CHECK_THAT(text(0.1F, 2.0F), ContainsSubstring("{0.10000000149011612, 2.0}"));
    CHECK_THAT(text(std::string("a"), std::string("b")),
               ContainsSubstring("const char *model_label(int which);"));
    CHECK_THAT(
        refusal([&] {
            exported(EnsembleModel<Gaussian, int>(Scheme::one_vs_one, {0, 1}, models), {.gradient = true});
        }),
        ContainsSubstring("gradient"));
}

// the text

TEST_CASE("an exported file includes no more than it says and asks for no memory", "[export_c]") {
    for (const CExportOptions& options : variants)
        for (const std::string& text : {exported(random_model(kernelet::Sinc{}, {}, 310), options),
                                        exported(random_model(kernelet::Polynomial{}, {}, 320), options)}) {
            std::vector<std::string> includes;
            std::istringstream stream(text);
            for (std::string line; std::getline(stream, line);)
                if (!line.empty() && line.front() == '#') includes.push_back(line);
            const bool own = options.functions == CFunctions::own,
                       functions = text.find("sinc") != std::string::npos;
            if (functions)
                CHECK(includes ==
                      std::vector<std::string>{own ? "#include <stdint.h>" : "#include <math.h>"});
            else
                CHECK(includes.empty());
            CHECK(text.find("alloc") == std::string::npos);
        }
}

TEST_CASE("the comment at the head counts kernels, bytes and operations", "[export_c]") {
    const auto model = random_model(Gaussian{}, {.inputs = 2, .kernels = 5}, 330);
    const std::string text = exported(model);
    CHECK_THAT(text, ContainsSubstring("family      gaussian"));
    CHECK_THAT(text, ContainsSubstring("kernels     5"));
    CHECK_THAT(text, ContainsSubstring("inputs      2"));
    CHECK_THAT(text, ContainsSubstring("outputs     1"));
    CHECK_THAT(text, ContainsSubstring("table       200 bytes"));  // 5 (2 + 1 + 1) + 2 (shift, rate) 2 + 1
    // 2 · 2 for u; of each kernel 2 for r, 2 · 2 + 1 for the exponent, 2 for its term; the offset
    CHECK_THAT(text, ContainsSubstring("a call      50 additions and multiplications, 5 exponentials"));
    CHECK_THAT(text, ContainsSubstring("cc -std=c99 -O2 -c model.c"));
}

struct CommaPunctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("neither flags nor the locale of the stream matter", "[export_c]") {
    const auto model = random_model(Gaussian{}, {.kernels = 1200}, 340);
    std::ostringstream stream;
    stream.imbue(std::locale(std::locale::classic(), new CommaPunctuation));
    stream << std::hex << std::showpos;
    stream.precision(2);
    kernelet::export_c(stream, model);
    CHECK((stream.str() == exported(model)));
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
    const std::string text = exported(model);
    std::locale::global(before);
    CHECK((text == exported(model)));  // in brackets, so that a failure does not print both
}

TEST_CASE("names that C cannot give a function are refused", "[export_c]") {
    const auto model = random_model(Gaussian{}, {}, 350);
    for (const char* name : {"", "9lives", "a-b", "a b", "double", "exp", "sqrtf", "main", "x", "\xc3\xa9"}) {
        CAPTURE(name);
        CHECK_THAT(refusal([&] { exported(model, {.name = name}); }),
                   ContainsSubstring("CExportOptions::name"));
    }
    for (const char* name : {"exponent", "_f", "F2", "d", "real"})
        CHECK_THAT(exported(model, {.name = name}),
                   ContainsSubstring(std::string("double ") + name + "(const double x[1])"));
}

TEST_CASE("what float cannot hold is refused", "[export_c]") {
    const InputScaling unit = InputScaling::identity(1);
    const auto model = [&](double z, double w, double a, const InputScaling& scaling) {
        return SparseKernelModel<Gaussian>(Gaussian{}, scaling, Matrix{{z}, {w}}, Matrix{{a}},
                                           Vector::Zero(1));
    };
    const CExportOptions narrow{.scalar = CScalar::float32};
    CHECK_NOTHROW(exported(model(1.0, 1e-14, 1e30, unit), narrow));
    CHECK_THAT(refusal([&] { exported(model(0.0, 1.0, 1e40, unit), narrow); }), ContainsSubstring("1e+40"));
    CHECK_THAT(refusal([&] { exported(model(1e39, 1.0, 1.0, unit), narrow); }), ContainsSubstring("float"));
    CHECK_THAT(refusal([&] { exported(model(0.0, 1e-20, 1.0, unit), narrow); }), ContainsSubstring("width"));
    CHECK_THAT(refusal([&] { exported(model(0.0, 1e-120, 1.0, unit)); }), ContainsSubstring("width"));
    const InputScaling tiny{Vector::Zero(1), Vector::Constant(1, 1e-40)};
    CHECK_THAT(refusal([&] { exported(model(0.0, 1.0, 1.0, tiny), narrow); }), ContainsSubstring("scale"));
    CHECK_NOTHROW(exported(model(0.0, 1.0, 1.0, tiny)));
}

}  // namespace export_c_test
