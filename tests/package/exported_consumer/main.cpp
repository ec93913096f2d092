// The headers of kernelet, and Eigen with them, come with the library that links them.
#include <kernelet/types.hpp>
#include <kernelet/version.hpp>

#include <iostream>

int version_of_exported();

int main() {
    std::cout << KERNELET_VERSION_STRING
              << (version_of_exported() == KERNELET_VERSION ? "\n" : ", not the same\n");
}
