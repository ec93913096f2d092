#pragma once

#include <string>

/// The folder of the sources, whatever the folder a test runs in.
namespace support {

inline std::string source_folder() {
    const std::string here = __FILE__;
    const std::size_t at = here.rfind("tests/support/");
    return at == 0 ? "." : here.substr(0, at - 1);
}

}  // namespace support
