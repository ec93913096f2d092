#pragma once

#include <kernelet/detail/check.hpp>
#include <kernelet/types.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/// Probabilities from the decision values of models that were fitted with the logistic loss.
namespace kernelet::detail {

/// 1/(1 + e^−f).
inline double logistic(double f) { return 1.0 / (1.0 + std::exp(-f)); }

/// Throws std::logic_error unless the loss, by its name, is the logistic one: only its decision values are log odds.
inline void require_logistic(const std::string& loss) {
    if (loss == "logistic") return;
    throw std::logic_error(
        loss.empty()
            ? "kernelet: it is not known which loss this model was fitted with (made by hand, or a file of "
              "an "
              "early version); with_loss(\"logistic\") says that its decision values are log odds"
            : text("kernelet: probabilities need a model fitted with LogisticLoss; this one was fitted with "
                   "the ",
                   quoted_word(loss), " loss, whose decision values are no log odds"));
}

/// Probabilities of C classes from those of the pairs, r(a, b) = P(a given a or b), C x C: the minimum of
/// Σ_{a≠b} (r_ba p_a − r_ab p_b)² over Σ p = 1 (Wu, Lin and Weng 2004, second method), by their fixed point: with
/// Q_aa = Σ_{b≠a} r_ba², Q_ab = −r_ba r_ab, p_a ← (p'Qp − Σ_{b≠a} Q_ab p_b)/Q_aa, normalised after each. O(C²) per sweep.
inline void couple_pairs(const Matrix& r, double* p) {
    constexpr double accuracy = 1e-12;
    const Index classes = r.rows(), most_sweeps = 100 + classes;
    Matrix q = Matrix::Zero(classes, classes);
    for (Index a = 0; a < classes; ++a)
        for (Index b = 0; b < classes; ++b)
            if (a != b) {
                q(a, a) += r(b, a) * r(b, a);
                q(a, b) = -r(b, a) * r(a, b);
            }
    std::vector<double> qp(static_cast<std::size_t>(classes));
    std::fill_n(p, classes, 1.0 / static_cast<double>(classes));
    for (Index sweep = 0; sweep < most_sweeps; ++sweep) {
        double pqp = 0.0, largest = 0.0;
        for (Index a = 0; a < classes; ++a) {
            double sum = 0.0;
            for (Index b = 0; b < classes; ++b) sum += q(a, b) * p[b];
            qp[static_cast<std::size_t>(a)] = sum;
            pqp += p[a] * sum;
        }
        for (const double sum : qp) largest = std::max(largest, std::abs(sum - pqp));
        if (largest < accuracy) return;
        for (Index a = 0; a < classes; ++a) {
            const double change = (pqp - qp[static_cast<std::size_t>(a)]) / q(a, a), all = 1.0 + change;
            p[a] += change;
            pqp = (pqp + change * (change * q(a, a) + 2.0 * qp[static_cast<std::size_t>(a)])) / (all * all);
            for (Index b = 0; b < classes; ++b) {
                qp[static_cast<std::size_t>(b)] = (qp[static_cast<std::size_t>(b)] + change * q(b, a)) / all;
                p[b] /= all;
            }
        }
    }
}

/// The nearest probabilities, by the sum of squares, of which none is above that of `chosen`: this one and those above
/// their common mean become that mean, the others one unit in the last place less.
inline void raise_chosen(double* p, Index classes, Index chosen) {
    std::vector<double> above;
    for (Index c = 0; c < classes; ++c)
        if (c != chosen && p[c] > p[chosen]) above.push_back(p[c]);
    if (above.empty()) return;
    std::sort(above.begin(), above.end(), std::greater<>());
    double sum = p[chosen], count = 1.0;
    for (const double value : above) {
        if (value <= sum / count) break;
        sum += value;
        count += 1.0;
    }
    const double mean = sum / count;
    for (Index c = 0; c < classes; ++c)
        if (c == chosen || p[c] >= mean) p[c] = c == chosen ? mean : std::nextafter(mean, 0.0);
}

}  // namespace kernelet::detail
