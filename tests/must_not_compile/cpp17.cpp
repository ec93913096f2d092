// expect: kernelet needs C++20
// flags: -std=c++17
#include <kernelet/kernelet.hpp>

int main() {}
