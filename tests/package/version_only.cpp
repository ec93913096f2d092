// All headers and no fit, whose instantiation takes several times as long to compile.
#include <kernelet/kernelet.hpp>

#include <iostream>

#if KERNELET_VERSION < 200
#error "0.2.0 is 200, and later versions are larger"
#endif
static_assert(KERNELET_VERSION ==
              KERNELET_VERSION_MAJOR * 10000 + KERNELET_VERSION_MINOR * 100 + KERNELET_VERSION_PATCH);
static_assert(KERNELET_VERSION_MINOR < 100 && KERNELET_VERSION_PATCH < 100);

int main() {
    // KERNELET_VERSION_STRING is printed: the scripts compare it with the version of the CMake package.
    std::cout << KERNELET_VERSION_STRING << '\n';
}
