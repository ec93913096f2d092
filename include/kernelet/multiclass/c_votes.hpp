#pragma once

#include <string_view>

/// How the classifiers of an ensemble decide, and what that makes of probabilities: the C of EnsembleModel. Words of CText,
/// and CLASSES, CLASSIFIERS, ACCURACY (of the coupling) and BELOW_ONE (the number before 1).
namespace kernelet::detail {

inline constexpr std::string_view c_tally_one_vs_one = R"(
    for (int a = 0, m = 0; a < CLASSES; ++a)
        for (int b = a + 1; b < CLASSES; ++b, ++m) {
            votes[a] += f[m] > 0.0;
            votes[b] += f[m] < 0.0;
            score[a] += f[m];
            score[b] -= f[m];
        }
)";

inline constexpr std::string_view c_tally_one_vs_rest = R"(
    for (int a = 0; a < CLASSES; ++a) {
        votes[a] = f[a] > 0.0;
        score[a] = f[a];
    }
)";

inline constexpr std::string_view c_largest_tally = R"(
    for (int a = 1; a < CLASSES; ++a)
        if (votes[a] > votes[best] || (votes[a] == votes[best] && score[a] > score[best])) best = a;
    return best;
)";

/// See couple_pairs().
inline constexpr std::string_view c_couple = R"(
/* Probabilities p from those of the pairs, P(a given a or b) = 1 / (1 + exp(-f)): the minimum of p'Qp over sum p = 1
 * (Wu, Lin and Weng 2004, second method). */
static void NAME_couple(const real f[CLASSIFIERS], real p[CLASSES]) {
    real q[CLASSES][CLASSES] = {{0.0}}, qp[CLASSES];
    for (int a = 0, m = 0; a < CLASSES; ++a)
        for (int b = a + 1; b < CLASSES; ++b, ++m) {
            real ab = 1.0 / (1.0 + exp(-f[m]));
            ab = ab < 1e-7 ? 1e-7 : ab;
            ab = ab > 1.0 - 1e-7 ? 1.0 - 1e-7 : ab;
            q[a][a] += (1.0 - ab) * (1.0 - ab);
            q[b][b] += ab * ab;
            q[a][b] = q[b][a] = -(1.0 - ab) * ab;
        }
    for (int a = 0; a < CLASSES; ++a) p[a] = 1.0 / (real)CLASSES;
    for (int sweep = 0; sweep < 100 + CLASSES; ++sweep) {
        real pqp = 0.0, largest = 0.0;
        for (int a = 0; a < CLASSES; ++a) {
            qp[a] = 0.0;
            for (int b = 0; b < CLASSES; ++b) qp[a] += q[a][b] * p[b];
            pqp += p[a] * qp[a];
        }
        for (int a = 0; a < CLASSES; ++a) {
            const real error = qp[a] > pqp ? qp[a] - pqp : pqp - qp[a];
            if (error > largest) largest = error;
        }
        if (largest < ACCURACY) return;
        for (int a = 0; a < CLASSES; ++a) {
            const real change = (pqp - qp[a]) / q[a][a], all = 1.0 + change;
            p[a] += change;
            pqp = (pqp + change * (change * q[a][a] + 2.0 * qp[a])) / (all * all);
            for (int b = 0; b < CLASSES; ++b) {
                qp[b] = (qp[b] + change * q[b][a]) / all;
                p[b] /= all;
            }
        }
    }
}
)";

/// See EnsembleModel::normalize().
inline constexpr std::string_view c_normalize = R"(
/* 1 / (1 + exp(-f)) of each class over their sum, relative to the largest: each of them may be zero. */
static void NAME_normalize(const real f[CLASSES], real p[CLASSES]) {
    real largest = f[0], sum = 0.0;
    for (int a = 1; a < CLASSES; ++a)
        if (f[a] > largest) largest = f[a];
    for (int a = 0; a < CLASSES; ++a) {
        p[a] = largest > 0.0 ? 1.0 / (1.0 + exp(-f[a]))
                             : exp(f[a] - largest) * (1.0 + exp(largest)) / (1.0 + exp(f[a]));
        sum += p[a];
    }
    for (int a = 0; a < CLASSES; ++a) p[a] /= sum;
}
)";

/// See raise_chosen().
inline constexpr std::string_view c_raise_chosen = R"(
/* The nearest probabilities, by the sum of squares, of which none is above that of the chosen class. */
static void NAME_raise_chosen(real p[CLASSES], int chosen) {
    real above[CLASSES], sum = p[chosen], count = 1.0;
    int size = 0;
    for (int a = 0; a < CLASSES; ++a) {
        int i = size;
        if (!(p[a] > p[chosen])) continue;
        for (; i > 0 && above[i - 1] < p[a]; --i) above[i] = above[i - 1]; /* the largest first */
        above[i] = p[a];
        ++size;
    }
    if (size == 0) return;
    for (int i = 0; i < size && above[i] > sum / count; ++i) {
        sum += above[i];
        count += 1.0;
    }
    sum /= count;
    for (int a = 0; a < CLASSES; ++a)
        if (a != chosen && p[a] >= sum) p[a] = sum * BELOW_ONE;
    p[chosen] = sum;
}
)";

}  // namespace kernelet::detail
