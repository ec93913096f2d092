#pragma once

#include <kernelet/detail/random.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>

/// Problems of any number of samples: sample i follows from its number, so that every process and file has the same.
namespace bench {

using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using kernelet::detail::CounterRandom;

/// The chirp sin(½πx²) on [−5, 5] with noise of variance 1e-3 (d = 1), or twelve Gaussians of random centers, widths of
/// 0.06 to 0.18 and heights of either sign on the unit cube with noise of deviation 0.1 (d = 2, 3).
class Regression {
public:
    Regression(const std::string& name, std::uint64_t seed)
        : dimension_(name == "chirp"    ? 1
                     : name == "bumps2" ? 2
                     : name == "bumps3" ? 3
                                        : 0),
          uniform_(seed, 3),
          normal_(seed, 4) {
        if (dimension_ == 0) throw std::invalid_argument("no problem of this name: " + name);
        const CounterRandom random(seed, 5);
        for (Index j = 0; j < bumps; ++j) {
            const auto at = static_cast<std::uint64_t>(10 * j);
            for (Index c = 0; c < 3; ++c) centers_(c, j) = random.uniform(at + static_cast<std::uint64_t>(c));
            heights_(j) = (j % 2 == 0 ? 1.0 : -1.0) * (0.5 + random.uniform(at + 3));
            widths_(j) = 0.06 + 0.12 * random.uniform(at + 4);
        }
    }

    static constexpr Index bumps = 12;
    Index dimension() const { return dimension_; }

    void x(Index i, double* to) const {
        for (Index c = 0; c < dimension_; ++c) {
            to[c] = uniform_.uniform(static_cast<std::uint64_t>(i * dimension_ + c));
            if (dimension_ == 1) to[c] = 10.0 * to[c] - 5.0;
        }
    }
    double clean(const double* x) const {
        if (dimension_ == 1) return std::sin(0.5 * std::numbers::pi * x[0] * x[0]);
        double sum = 0.0;
        for (Index j = 0; j < bumps; ++j) {
            double squares = 0.0;
            for (Index c = 0; c < dimension_; ++c)
                squares += (x[c] - centers_(c, j)) * (x[c] - centers_(c, j));
            sum += heights_(j) * std::exp(-0.5 * squares / (widths_(j) * widths_(j)));
        }
        return sum;
    }
    double noise(Index i) const {
        return (dimension_ == 1 ? std::sqrt(1e-3) : 0.1) * normal_.normal(static_cast<std::uint64_t>(i));
    }

private:
    Index dimension_;
    CounterRandom uniform_, normal_;
    Matrix centers_ = Matrix(3, bumps);
    Vector heights_ = Vector(bumps), widths_ = Vector(bumps);
};

/// Two spirals of one and a half turns around each other, with normal noise.
class Spirals {
public:
    explicit Spirals(std::uint64_t seed) : uniform_(seed, 6), normal_(seed, 7) {}

    static constexpr double noise = 0.07;

    static double label(Index i) { return i % 2 == 0 ? 1.0 : -1.0; }
    void x(Index i, double* to) const {
        const auto k = static_cast<std::uint64_t>(i);
        point(uniform_.uniform(k), label(i), to);
        to[0] += noise * normal_.normal(2 * k);
        to[1] += noise * normal_.normal(2 * k + 1);
    }

    /// Whether +1 is at least as probable as −1, by the densities themselves.
    static bool positive(const double* x) {
        constexpr int places = 400;
        double difference = 0.0;
        for (int k = 0; k < places; ++k)
            for (const double side : {1.0, -1.0}) {
                double on[2];
                point((k + 0.5) / places, side, on);
                const double squares = (x[0] - on[0]) * (x[0] - on[0]) + (x[1] - on[1]) * (x[1] - on[1]);
                difference += side * std::exp(-0.5 * squares / (noise * noise));
            }
        return difference >= 0.0;
    }

private:
    static void point(double u, double side, double* to) {
        const double radius = 0.15 + 0.85 * u, angle = 3.0 * std::numbers::pi * u;
        to[0] = side * radius * std::cos(angle);
        to[1] = side * radius * std::sin(angle);
    }

    CounterRandom uniform_, normal_;
};

}  // namespace bench
