#pragma once

#include <cmath>

namespace kernelet::detail {

/// A sum whose rounding errors are added up separately (Neumaier 1974): equal to the last bit, or nearly so,
/// whatever the order of its terms.
class CompensatedSum {
public:
    void add(double value) {
        const double next = sum_ + value;
        lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
        sum_ = next;
    }
    double total() const { return sum_ + lost_; }

private:
    double sum_ = 0.0, lost_ = 0.0;
};

}  // namespace kernelet::detail
