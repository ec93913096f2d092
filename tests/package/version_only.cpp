// All headers and no fit, whose instantiation takes several times as long to compile.
#include <kernelet/kernelet.hpp>

#include <iostream>

int main() {
    std::cout << KERNELET_VERSION_MAJOR << '.' << KERNELET_VERSION_MINOR << '.' << KERNELET_VERSION_PATCH
              << '\n';
}
