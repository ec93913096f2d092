#include "support/catch.hpp"
#include "support/sealed_text.hpp"
#include "support/signals.hpp"
#include "support/source_folder.hpp"

#include <kernelet/kernels/dictionary.hpp>
#include <kernelet/kernels/gaussian.hpp>
#include <kernelet/kernels/polynomial.hpp>
#include <kernelet/model/text_io.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace text_io_test {

using kernelet::FormatError;
using kernelet::Gaussian;
using kernelet::Index;
using kernelet::InputScaling;
using kernelet::Matrix;
using kernelet::Vector;
using Model = kernelet::SparseKernelModel<Gaussian>;

Model random_model(Index d, Index kernels, Index outputs, std::uint64_t seed) {
    Matrix nodes(d + 1, kernels);
    if (kernels > 0) {
        nodes.topRows(d) = support::normals(d, kernels, seed);
        nodes.row(d) = support::uniforms(1, kernels, seed + 1, 1e-3, 0.9);
    }
    const InputScaling scaling{support::normals(d, 1, seed + 2),
                               support::uniforms(d, 1, seed + 3, 1e-3, 10.0)};
    const Matrix coefficients = 1e3 * support::normals(kernels, outputs, seed + 4);
    const Vector offset = support::normals(outputs, 1, seed + 5);
    kernelet::ModelStatistics known;
    if (seed % 2 == 0 && kernels < 10) {  // every other small model knows more than its kernels
        const Index parameters = kernels * (outputs + d + 1);
        const Matrix root = support::normals(parameters, parameters, seed + 6);
        known.shares = support::uniforms(kernels, 1, seed + 7) / static_cast<double>(kernels);
        known.noise = support::uniforms(outputs, 1, seed + 8);
        const Matrix product = root * root.transpose();
        known.covariance = product.selfadjointView<Eigen::Lower>();  // symmetric to the bit
    }
    return {Gaussian{}, scaling, nodes, coefficients, offset, known};
}

std::string saved(const Model& model) {
    std::ostringstream stream;
    kernelet::save(stream, model);
    return stream.str();
}

Model loaded(const std::string& text) {
    std::istringstream stream(text);
    return kernelet::load<Model>(stream);
}

bool equal(const Model& a, const Model& b) {
    return support::same_bits(a.nodes(), b.nodes()) &&
           support::same_bits(a.coefficients(), b.coefficients()) &&
           support::same_bits(a.offset(), b.offset()) &&
           support::same_bits(a.scaling().shift, b.scaling().shift) &&
           support::same_bits(a.scaling().scale, b.scaling().scale) &&
           support::same_bits(a.statistics().shares, b.statistics().shares) &&
           support::same_bits(a.statistics().noise, b.statistics().noise) &&
           support::same_bits(a.statistics().covariance, b.statistics().covariance);
}

/// The line at which a text is refused; 0 where it is read.
Index refused_line(const std::string& text) {
    try {
        loaded(text);
    } catch (const FormatError& error) {
        CHECK(std::string(error.what()).find("line " + std::to_string(error.line())) != std::string::npos);
        return error.line();
    }
    return 0;
}

TEST_CASE("save, load, predict: the same bits", "[text_io]") {
    for (const Index d : {1, 3})
        for (const Index outputs : {1, 2})
            for (const Index kernels : {0, 1, 25}) {
                const Model model = random_model(d, kernels, outputs, 10);
                const Model again = loaded(saved(model));
                CHECK(equal(model, again));
                const Matrix x = support::normals(d, 50, 20);
                CHECK(support::same_bits(model.predict(x), again.predict(x)));
                CHECK(saved(again) == saved(model));
            }
}

TEST_CASE("the hardest numbers survive", "[text_io]") {
    constexpr double least = std::numeric_limits<double>::denorm_min();
    constexpr double most = std::numeric_limits<double>::max();
    const std::vector<double> numbers{0.0,
                                      -0.0,
                                      least,
                                      -least,
                                      std::numeric_limits<double>::min(),
                                      most,
                                      -most,
                                      0.1,
                                      1.0 / 3.0,
                                      1e22,
                                      -1e-5,
                                      123456789.125,
                                      std::nextafter(1.0, 2.0)};
    const auto count = static_cast<Index>(numbers.size());
    Matrix nodes = Matrix::Ones(2, count);
    Vector coefficients(count);
    for (Index j = 0; j < count; ++j) {
        nodes(0, j) = numbers[static_cast<std::size_t>(j)];
        if (const double w = std::abs(nodes(0, j)); w > 0.0) nodes(1, j) = std::clamp(w, 1e-300, 1e300);
        coefficients(j) = std::abs(nodes(0, j)) == most ? 0.25 * nodes(0, j) : nodes(0, j);
    }
    const Model model(Gaussian{}, InputScaling::identity(1), nodes, coefficients, Vector::Zero(1));
    const Model again = loaded(saved(model));
    CHECK(equal(model, again));
    for (Index j = 0; j < count; ++j) {
        CHECK(std::signbit(again.nodes()(0, j)) == std::signbit(nodes(0, j)));  // −0 too
        CHECK(std::signbit(again.coefficients()(j)) == std::signbit(coefficients(j)));
    }
}

TEST_CASE("the file is text that a person can read", "[text_io]") {
    const auto lines = support::lines_of(saved(random_model(2, 3, 1, 30)));
    REQUIRE(lines.size() == 21 + 12);  // 3 (1 + 3) parameters
    CHECK(lines[12] == "shares 3");
    CHECK(lines[14] == "noises 1");
    CHECK(lines[16] == "discrepancies 0");
    CHECK(lines[18] == "covariances 12");
    CHECK(support::lines_of(saved(random_model(2, 3, 1, 30).without_statistics())).size() == 21);
    CHECK(lines[0] == "kernelet model 3");
    CHECK(lines[1] == "family gaussian");
    CHECK(lines[2] == "inputs 2");
    CHECK(lines[3] == "outputs 1");
    CHECK(lines[4] == "kernels 3");
    CHECK(lines[8] == "slopes 0");
    CHECK(lines[9].substr(0, 7) == "kernel ");
    CHECK(lines[31] == "loss ");
    CHECK(lines[32].substr(0, 9) == "checksum ");
}

/// Decimal commas and grouped thousands.
struct CommaPunctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("the stream's locale does not matter", "[text_io]") {
    const Model model = random_model(1, 1200, 1, 40);
    std::stringstream stream;
    stream.imbue(std::locale(std::locale::classic(), new CommaPunctuation));  // NOLINT: the locale owns it
    kernelet::save(stream, model);
    CHECK(stream.str() == saved(model));
    CHECK(equal(kernelet::load<Model>(stream), model));
}

TEST_CASE("several models follow each other in one stream", "[text_io]") {
    const Model first = random_model(1, 4, 1, 50), second = random_model(2, 3, 2, 51);
    std::stringstream stream;
    kernelet::save(stream, first);
    kernelet::save(stream, second);
    CHECK(equal(kernelet::load<Model>(stream), first));
    CHECK(equal(kernelet::load<Model>(stream), second));
}

TEST_CASE("statistics that no fit has are refused", "[text_io]") {
    auto body = support::lines_of(saved(random_model(2, 3, 1, 60)));
    body.pop_back();
    REQUIRE(body[12] == "shares 3");
    REQUIRE(body[16] == "discrepancies 0");
    body[16] = "discrepancies 1";
    body[17] = "discrepancy 0.5";
    REQUIRE(refused_line(support::resealed(body)) == 0);
    const auto with_first = [&](std::size_t line, const std::string& number) {
        auto changed = body;
        std::string& text = changed[line - 1];
        const std::size_t from = text.find(' ') + 1, to = std::min(text.find(' ', from), text.size());
        text.replace(from, to - from, number);
        return refused_line(support::resealed(changed));
    };
    for (const std::size_t line : {14U, 16U, 18U, 20U}) {  // share, noise, discrepancy, a variance
        CAPTURE(body[line - 1]);
        CHECK(with_first(line, "-0.1") > 0);
        CHECK(with_first(line, "0.1") == 0);
    }
    CHECK(with_first(14, "5") > 0);
}

TEST_CASE("what is wrong is refused at its line, even with a matching checksum", "[text_io]") {
    const auto good = support::lines_of(saved(random_model(2, 3, 1, 61)));
    auto body = good;
    body.pop_back();
    REQUIRE(refused_line(support::resealed(body)) == 0);
    const auto with = [&](std::size_t line, const std::string& text) {
        auto changed = body;
        changed[line - 1] = text;
        return refused_line(support::resealed(changed));
    };
    CHECK(refused_line("") == 1);
    CHECK(refused_line("\n") == 1);
    CHECK(refused_line("\n\n\n") == 1);
    CHECK(with(1, "kernelet model 4") == 1);
    CHECK(with(1, "kernelet model 10") == 1);
    CHECK(with(1, "kernelets model 1") == 1);
    CHECK(with(2, "family laplacian") == 2);  // another family
    CHECK(with(2, "family") == 2);
    for (const char* count : {"0", "-1", "1.5", "", " 2", "2 ", "0x2", "1e3", "999999999999999999999", "+2"})
        CHECK(with(3, std::string("inputs ") + count) == 3);
    CHECK(with(3, "inputs 1") == 6);  // shift then has one number too many
    CHECK(with(3, "inputs 1000000000") == 6);
    CHECK(with(4, "outputs 0") == 4);
    CHECK(with(4, "outputs 1000000000") == 8);
    CHECK(with(5, "kernels -1") == 5);
    CHECK(with(5, "kernels 2") == 12);
    CHECK(with(5, "kernels 4") == 13);
    CHECK(with(5, "kernels 1000000000") == 13);
    for (const std::size_t line : {3U, 4U, 5U}) {  // sums of such counts would overflow
        const std::string word = body[line - 1].substr(0, body[line - 1].find(' ') + 1);
        CHECK(with(line, word + "9223372036854775807") == static_cast<Index>(line));
    }
    CHECK(with(6, "shift 1 nan") == 6);
    CHECK(with(6, "shift inf 1") == 6);
    CHECK(with(6, "shift 1  2") == 6);
    CHECK(with(6, "shift 1 2 ") == 6);
    CHECK(with(6, "shift 1,5 2") == 6);
    CHECK(with(6, "shift 1e999 2") == 6);
    CHECK(with(6, "shifts 1 2") == 6);
    CHECK(with(7, "scale 1") == 7);
    CHECK(with(7, "scale 1 2\r\r") == 7);
    CHECK(with(8, "offset") == 8);
    CHECK(with(9, "slopes 2") == 9);
    CHECK(with(9, "slopes 1") == 10);
    CHECK(with(11, "kernel 1 2 3") == 11);
    CHECK(with(11, "kernel 1 2 3 4 5") == 11);
    CHECK(with(11, "") == 11);
    // What is known, of the wrong size: shares, noise, covariance.
    CHECK(with(14, "share 1") == 14);
    CHECK(with(13, "shares 1") == 14);
    CHECK(with(15, "noises 2") == 16);
    CHECK(with(17, "discrepancies 1") == 18);
    CHECK(with(19, "covariances 1") == 20);
    // Numbers that make no model: a width or a scale that is not positive.
    CHECK(with(7, "scale 1 0") > 0);
    CHECK(with(7, "scale -1 1") > 0);
    CHECK(with(11, "kernel 1 2 -0.5 4") > 0);
    CHECK(with(11, "kernel 1 2 0 4") > 0);
    // Numbers of which predictions would not be finite, or that no fit could have found.
    CHECK(with(7, "scale 1 5e-324") > 0);
    CHECK(with(11, "kernel 1 2 5e-324 4") > 0);
    CHECK(with(11, "kernel 1 2 1e-308 4") > 0);
    CHECK(with(11, "kernel 1 2 1e-299 4") == 0);
    auto huge = body;
    for (const std::size_t line : {11U, 12U, 13U}) huge[line - 1] = "kernel 1 2 0.5 1.7e308";
    CHECK(refused_line(support::resealed(huge)) > 0);
    // The checksum's own line, and a file cut before its end.
    auto sealed = good;
    sealed[20] = "checksum 0123456789abcdef";
    std::string text;
    for (const std::string& line : sealed) text += line + "\n";
    CHECK(refused_line(text) == 21);
    const std::string whole = saved(random_model(2, 3, 1, 61));
    CHECK(refused_line(whole.substr(0, whole.size() - 1)) == 21);
    CHECK(refused_line(whole.substr(0, whole.find("kernel "))) == 10);
}

TEST_CASE("lines may end as on Windows", "[text_io]") {
    const Model model = random_model(2, 3, 1, 62);
    std::string text;
    for (const std::string& line : support::lines_of(saved(model))) text += line + "\r\n";
    CHECK(equal(loaded(text), model));
}

std::string refusal(const std::string& text) {
    try {
        loaded(text);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("an unknown version is named, and a hostile word is shortened and escaped", "[text_io]") {
    CHECK(refusal("kernelet model 7\n").find("version '7'; this library reads versions 1 to 3") !=
          std::string::npos);
    const std::string said = refusal("kernelet model 3\nfamily \x1b[2J" + std::string(1000000, 'x') + "\n");
    CHECK(said.size() < 200);
    CHECK(said.find("\\x1b[2J") != std::string::npos);
}

TEST_CASE("files: whole or not at all", "[text_io]") {
    const Model model = random_model(1, 4, 1, 52).with_loss("huber");
    const std::string folder = (std::filesystem::temp_directory_path() / "kernelet_text_io_test").string();
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/model.txt";
    kernelet::save(path, model);
    CHECK(equal(kernelet::load<Model>(path), model));
    CHECK(kernelet::load<Model>(path).loss() == "huber");
    CHECK(!std::filesystem::exists(path + ".partial"));
    std::ofstream(path, std::ios::app) << "more";
    CHECK_THROWS_AS(kernelet::load<Model>(path), FormatError);
    const auto said = [](const auto& call) {
        try {
            call();
        } catch (const std::system_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(said([&] { kernelet::load<Model>(folder + "/none"); }) ==
          "kernelet: cannot open " + folder + "/none: No such file or directory");
    CHECK(said([&] { kernelet::load<Model>(folder); }).find("Is a directory") != std::string::npos);
    CHECK(said([&] { kernelet::save(folder + "/no/model.txt", model); }).find("cannot open") !=
          std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST_CASE("the stream's format does not matter, and a stream that fails is said", "[text_io]") {
    const Model model = random_model(1, 3, 1, 53);
    std::ostringstream stream;
    stream << std::setw(40) << std::setfill('*') << std::hex << std::showbase;
    kernelet::save(stream, model);
    CHECK(stream.str() == saved(model));
    if (std::ofstream full("/dev/full"); full)
        CHECK_THROWS_AS(kernelet::save(full, model), std::ios_base::failure);
}

TEST_CASE("a link is followed, and a device is not replaced by a file", "[text_io]") {
    namespace fs = std::filesystem;
    const Model model = random_model(1, 3, 1, 54);
    const fs::path folder = fs::temp_directory_path() / "kernelet_text_io_links";
    fs::remove_all(folder);
    fs::create_directories(folder / "models");
    fs::create_symlink(folder / "models" / "current.txt",
                       folder / "link.txt");  // to a file that is not there yet
    for (int time = 0; time < 2; ++time) {
        kernelet::save((folder / "link.txt").string(), model);
        CHECK(fs::is_symlink(folder / "link.txt"));
        CHECK(fs::is_regular_file(folder / "models" / "current.txt"));
        CHECK(saved(kernelet::load<Model>((folder / "link.txt").string())) == saved(model));
    }
    fs::remove_all(folder);
    if (fs::is_character_file("/dev/full")) {
        CHECK_THROWS_AS(kernelet::save("/dev/full", model), std::system_error);
        CHECK(fs::is_character_file("/dev/full"));
    }
}

/// A kernel with a member, which its files keep.
struct Periodic : Gaussian {
    static constexpr std::string_view name = "periodic";
    double period = 1.0;
    std::vector<double> save() const { return {period}; }
    static Periodic load(const std::vector<double>& numbers) {
        kernelet::detail::require(numbers.size() == 1 && numbers[0] > 0.0, "period must be > 0");
        Periodic out;
        out.period = numbers[0];
        return out;
    }
};

/// The same without save() and load().
struct Forgetful : Gaussian {
    double period = 1.0;
};

TEST_CASE("what a kernel holds is saved with the model", "[text_io]") {
    Periodic kernel;
    kernel.period = 7.0;
    const kernelet::SparseKernelModel<Periodic> model(kernel, InputScaling::identity(1), Matrix::Ones(2, 1),
                                                      Matrix::Ones(1, 1), Vector::Zero(1));
    std::stringstream stream;
    kernelet::save(stream, model);
    CHECK(kernelet::load<kernelet::SparseKernelModel<Periodic>>(stream).kernel().period == 7.0);
    std::istringstream bad(
        support::resealed({"kernelet model 3", "family periodic", "states 1", "state -1"}));
    CHECK_THROWS_AS(kernelet::load<kernelet::SparseKernelModel<Periodic>>(bad), FormatError);
    STATIC_REQUIRE(!kernelet::detail::Savable<Forgetful>);
    STATIC_REQUIRE(kernelet::detail::Savable<kernelet::Dictionary<Gaussian, Periodic>>);
    const kernelet::Dictionary<Gaussian, Periodic> both(Gaussian{}, kernel);
    CHECK(both.save() == std::vector<double>{0.0, 1.0, 7.0});
    CHECK(kernelet::Dictionary<Gaussian, Periodic>::load(both.save()).save() == both.save());
    CHECK_THROWS_AS((kernelet::Dictionary<Gaussian, Periodic>::load({0.0, 2.0, 7.0})), std::invalid_argument);
    CHECK(kernelet::Polynomial::load(kernelet::Polynomial(7).save()).shapes().size() == 7);
}

/// A file of each version of the format that was ever released.
TEST_CASE("old files are read", "[text_io]") {
    for (const char* version : {"1", "2", "3"}) {
        const auto model =
            kernelet::load<Model>(support::source_folder() + "/tests/files/model_" + version + ".txt");
        CHECK(model.size() == 2);
        CHECK(model(0.25) == Approx(0.5 + 2.0 - std::exp(-0.5)));
        CHECK(model.loss() == (version[0] == '3' ? "squared" : ""));
        const auto ensemble = kernelet::load<kernelet::EnsembleModel<Gaussian, int>>(
            support::source_folder() + "/tests/files/ensemble_" + version + ".txt");
        CHECK(ensemble.classes() == std::vector<int>{3, 5});
        CHECK(ensemble.predict(Matrix::Zero(1, 1)) == std::vector<int>{3});
        CHECK(ensemble.loss() == (version[0] == '3' ? "logistic" : ""));
    }
}

/// Another family with as many parameters.
struct Other : Gaussian {
    static constexpr std::string_view name = "other";
};

TEST_CASE("a model of another family is refused at the family's line", "[text_io]") {
    std::istringstream stream(saved(random_model(1, 2, 1, 70)));
    try {
        kernelet::load<kernelet::SparseKernelModel<Other>>(stream);
        FAIL("read");
    } catch (const FormatError& error) {
        CHECK(error.line() == 2);
        CHECK(std::string(error.what()).find("gaussian") != std::string::npos);
        CHECK(std::string(error.what()).find("other") != std::string::npos);
    }
}

/// Numbers drawn one after the other.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed, 77) {}
    std::size_t below(std::size_t bound) {
        return static_cast<std::size_t>(random_.bits(counter_++) % bound);
    }

private:
    kernelet::detail::CounterRandom random_;
    std::uint64_t counter_ = 0;
};

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

/// One of the ways in which a file goes bad. The checksum is mended for some, so that it is not the only
/// guard.
std::string mutated(const std::string& text, Dice& dice, bool& mended) {
    mended = false;
    std::string changed = text;
    std::vector<std::string> lines = support::lines_of(text);
    switch (dice.below(9)) {
        case 0:  // truncated
            return text.substr(0, dice.below(text.size()));
        case 1:  // bits flipped
            for (std::size_t k = 1 + dice.below(3); k > 0; --k)
                changed[dice.below(changed.size())] ^= static_cast<char>(1U << dice.below(8));
            return changed;
        case 2:  // bytes replaced
            for (std::size_t k = 1 + dice.below(4); k > 0; --k)
                changed[dice.below(changed.size())] = static_cast<char>(dice.below(256));
            return changed;
        case 3: {  // a count enlarged
            std::string& line = lines[2 + dice.below(3)];
            line += std::to_string(dice.below(10));
            if (dice.below(2) == 0) line += "00000000";
            break;
        }
        case 4:  // lines swapped
            std::swap(lines[dice.below(lines.size())], lines[dice.below(lines.size())]);
            break;
        case 5: {  // a line doubled
            const std::size_t line = dice.below(lines.size());
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), lines[line]);
            break;
        }
        case 6:  // a line lost
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(dice.below(lines.size())));
            break;
        case 7:  // a byte lost or doubled
            if (dice.below(2) == 0)
                changed.erase(dice.below(changed.size()), 1);
            else
                changed.insert(dice.below(changed.size()), 1, changed[dice.below(changed.size())]);
            return changed;
        default: {  // a word replaced
            static const std::vector<std::string> words{"nan", "inf",   "-inf", "1e400", "-",      "0x1p3",
                                                        "",    "9e999", "--1",  "1e",    "kernel", "\t"};
            std::string& line = lines[dice.below(lines.size())];
            const std::size_t space = line.find(' ');
            if (space != std::string::npos)
                line = line.substr(0, space + 1) + words[dice.below(words.size())];
        }
    }
    if (dice.below(2) == 0) return joined(lines);
    mended = true;
    if (!lines.empty()) lines.pop_back();
    return support::resealed(lines);
}

TEST_CASE("ten thousand damaged files: FormatError or an equal model", "[text_io]") {
    const std::vector<Model> models{random_model(1, 6, 1, 80), random_model(3, 4, 2, 81),
                                    random_model(2, 0, 1, 82)};
    std::vector<std::string> texts;
    for (const Model& model : models) texts.push_back(saved(model));
    Dice dice(1);
    int refused = 0, read = 0;
    for (int file = 0; file < 10000; ++file) {
        const auto which = static_cast<std::size_t>(file) % models.size();
        bool mended = false;
        const std::string text = mutated(texts[which], dice, mended);
        try {
            const Model model = loaded(text);
            ++read;
            // Only a mended checksum lets another model through (two kernels swapped, say): a sound one.
            if (!(mended ? equal(loaded(saved(model)), model) : equal(model, models[which]))) {
                CAPTURE(file, text);
                FAIL("read as another model");
            }
        } catch (const FormatError& error) {
            ++refused;
            if (error.line() < 1 || error.line() > static_cast<Index>(support::lines_of(text).size()) + 1) {
                CAPTURE(file, text, error.what());
                REQUIRE(error.line() == 1);
            }
        }
        // Anything else that is thrown fails this test.
    }
    CHECK(refused > 8000);
    CHECK(refused + read == 10000);
}

TEST_CASE("damage without a mended checksum never yields another model", "[text_io]") {
    const Model model = random_model(2, 5, 1, 90);
    const std::string text = saved(model);
    Dice dice(2);
    int refused = 0;
    for (int file = 0; file < 3000; ++file) {
        std::string changed = text;
        changed[dice.below(changed.size())] ^= static_cast<char>(1U << dice.below(8));
        bool same = true;
        try {
            same = equal(loaded(changed), model);
        } catch (const FormatError&) {
            ++refused;
        }
        REQUIRE(same);
    }
    CHECK(refused > 2900);
}

}  // namespace text_io_test
