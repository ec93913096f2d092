#pragma once

#include <stdexcept>

namespace kernelet {

/// Samples cannot be read, or are not those of an earlier pass. The message names them. Nothing was fitted.
class SourceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace kernelet
