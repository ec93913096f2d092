#pragma once

#include <kernelet/types.hpp>

namespace kernelet {

/// What a fit knows about its model beside the model: all empty where nothing is known.
struct ModelStatistics {
    /// K: the size of each kernel's part over the samples, ‖a_j k_j‖ relative to the sum of all. They add up
    /// to one.
    Vector shares{};
    /// q: the deviation of what the model leaves over.
    Vector noise{};
    /// Of all parameters, linearised at the fit: the coefficients (output o, kernel j at o K + j), then
    /// each kernel's center and log parameter (row r of kernel j at q K + j (d + p) + r, in the units of the
    /// fit). Zero rows for what was not free to move.
    Matrix covariance{};
};

}  // namespace kernelet
