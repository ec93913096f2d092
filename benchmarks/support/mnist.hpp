#pragma once

#include "tables.hpp"

#include <Eigen/Eigenvalues>

#ifdef KERNELET_BENCHMARKS_ZLIB
#include <zlib.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Handwritten digits (MNIST) from their gzipped idx files, and the principal components of images.
namespace bench {

/// Images are columns of 28 x 28 pixels, row by row, from 0 (paper) to 1 (ink).
struct Digits {
    Matrix train{}, test{};
    std::vector<int> train_labels{}, test_labels{};
};

constexpr Index image_side = 28;

#ifdef KERNELET_BENCHMARKS_ZLIB
namespace detail {

using Bytes = std::vector<unsigned char>;

/// The data of a gzipped idx file after its header: magic number (0x0800 and the number of sizes), then the
/// sizes, all of four bytes, the highest first; nothing where these differ from `sizes`. A first size of
/// 0 stands for any number, and is filled in.
inline std::optional<Bytes> read_idx(const std::string& path, std::vector<std::size_t>& sizes) {
    constexpr std::size_t bytes_kind = 0x0800, most_items = 1'000'000;
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return std::nullopt;
    const auto number = [&]() -> std::size_t {
        unsigned char b[4] = {};
        if (gzread(file, b, sizeof b) != static_cast<int>(sizeof b)) return 0;
        return (std::size_t{b[0]} << 24) | (std::size_t{b[1]} << 16) | (std::size_t{b[2]} << 8) | b[3];
    };
    bool good = number() == bytes_kind + sizes.size();
    std::size_t count = 1;
    for (std::size_t& size : sizes) {
        const std::size_t found = good ? number() : 0;
        good = good && found > 0 && found <= most_items && (size == 0 || size == found);
        if (good) count *= size = found;
    }
    Bytes bytes(good ? count : 0);
    good = good && gzread(file, bytes.data(), static_cast<unsigned>(count)) == static_cast<int>(count);
    unsigned char beyond = 0;
    good = good && gzread(file, &beyond, 1) == 0;
    gzclose(file);
    if (!good) return std::nullopt;
    return bytes;
}

inline bool read_part(const std::string& folder, const std::string& part, Matrix& images,
                      std::vector<int>& labels) {
    constexpr auto side = static_cast<std::size_t>(image_side);
    constexpr double ink = 255.0;
    std::vector<std::size_t> image_sizes{0, side, side}, label_sizes{0};
    const auto pixels = read_idx(folder + "/" + part + "-images-idx3-ubyte.gz", image_sizes);
    const auto digits = read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz", label_sizes);
    if (!pixels || !digits || image_sizes[0] != label_sizes[0]) return false;
    using Pixels = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic>;
    images =
        Eigen::Map<const Pixels>(pixels->data(), image_side * image_side, static_cast<Index>(image_sizes[0]))
            .cast<double>() /
        ink;
    labels.assign(digits->begin(), digits->end());
    return true;
}

}  // namespace detail

/// From the folder named on the command line, or ../shared/data/mnist; prints where to get the files when
/// they are not there, and the program then ends with status 0.
inline std::optional<Digits> digits_or_skip(int argc, char** argv) {
    for (const std::string& folder : places(argc, argv, "mnist")) {
        Digits digits;
        if (detail::read_part(folder, "train", digits.train, digits.train_labels) &&
            detail::read_part(folder, "t10k", digits.test, digits.test_labels))
            return digits;
    }
    std::printf(
        "skipped: no MNIST; get its four .gz files from yann.lecun.com/exdb/mnist and give their "
        "folder\n");
    return std::nullopt;
}
#else
inline std::optional<Digits> digits_or_skip(int, char**) {
    std::printf("skipped: MNIST is gzipped, and this was built without zlib\n");
    return std::nullopt;
}
#endif

/// The images of two digits, in their order; labels +1 for the first and −1 for the second.
struct TwoDigits {
    Matrix images{};
    Vector labels{};
};

inline TwoDigits two_digits(const Matrix& images, const std::vector<int>& labels, int first, int second) {
    std::vector<Index> chosen;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] == first || labels[i] == second) chosen.push_back(static_cast<Index>(i));
    TwoDigits two{images(Eigen::all, chosen), Vector(static_cast<Index>(chosen.size()))};
    for (std::size_t k = 0; k < chosen.size(); ++k)
        two.labels(static_cast<Index>(k)) = labels[static_cast<std::size_t>(chosen[k])] == first ? 1.0 : -1.0;
    return two;
}

/// The mean and the leading eigenvectors of the covariance: the few numbers that represent a column best.
class PrincipalComponents {
public:
    PrincipalComponents(const Matrix& x, Index count) : mean_(x.rowwise().mean()) {
        // Without a centered copy of x: fine for columns whose mean is not far larger than their spread.
        Matrix covariance = Matrix::Zero(x.rows(), x.rows());
        covariance.selfadjointView<Eigen::Lower>().rankUpdate(x).rankUpdate(mean_,
                                                                            -static_cast<double>(x.cols()));
        const Eigen::SelfAdjointEigenSolver<Matrix> axes(covariance);
        axes_ = axes.eigenvectors().rightCols(count).rowwise().reverse();
    }

    /// count x n, the component of largest variance first.
    Matrix project(const Matrix& x) const { return axes_.transpose() * (x.colwise() - mean_); }
    /// The column that has these components and no others.
    Matrix back(const Matrix& z) const { return (axes_ * z).colwise() + mean_; }

private:
    Vector mean_;
    Matrix axes_;
};

}  // namespace bench
